package synth

import (
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"io"

	"google.golang.org/protobuf/encoding/protowire"
)

// fieldsOf returns a message's fields: the varints, and the length-delimited fields as
// bytes.
func fieldsOf(b []byte) (numbers map[protowire.Number]uint64, texts map[protowire.Number][]byte, err error) {
	numbers, texts = map[protowire.Number]uint64{}, map[protowire.Number][]byte{}
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			return nil, nil, protowire.ParseError(n)
		}
		switch b = b[n:]; typ {
		case protowire.VarintType:
			numbers[num], n = protowire.ConsumeVarint(b)
		case protowire.BytesType:
			if texts[num] != nil && num == 1 {
				return numbers, texts, nil // only the first of several entries
			}
			texts[num], n = protowire.ConsumeBytes(b)
		default:
			n = -1
		}
		if n < 0 {
			return nil, nil, errors.New("a field is wrong")
		}
		b = b[n:]
	}
	return numbers, texts, nil
}

func readPerfetto(b []byte) (*counted, error) {
	type sequence struct {
		now    int64
		thread string
		names  map[uint64]string
	}
	c, open, sequences := newCounted(), stackOf{}, map[uint64]*sequence{}
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeTag(b)
		if num != 1 || typ != protowire.BytesType {
			return nil, errors.New("no packet")
		}
		packet, m := protowire.ConsumeBytes(b[n:])
		if m < 0 {
			return nil, errors.New("a packet is cut")
		}
		b = b[n+m:]
		p, parts, err := fieldsOf(packet)
		if err != nil {
			return nil, err
		}
		if packed := parts[50]; packed != nil {
			r, err := zlib.NewReader(bytes.NewReader(packed))
			if err != nil {
				return nil, err
			}
			more, err := io.ReadAll(r)
			if err != nil {
				return nil, err
			}
			b = append(more, b...)
			continue
		}
		s := sequences[p[10]]
		if s == nil {
			s = &sequence{names: map[uint64]string{}}
			sequences[p[10]] = s
		}
		if clocks := parts[6]; clocks != nil {
			_, all, _ := fieldsOf(clocks)
			first, _, _ := fieldsOf(all[1])
			s.now = int64(first[2])
			continue
		}
		if track := parts[60]; track != nil {
			_, of, _ := fieldsOf(track)
			if of[4] != nil {
				ids, _, _ := fieldsOf(of[4])
				s.thread = fmt.Sprintf("%d/%d", ids[1], ids[2])
				c.records++
			}
			continue
		}
		// Of the interned data (field 12), only event names matter here.
		named, err := internedOf(parts[12])
		if err != nil {
			return nil, err
		}
		for id, name := range named {
			s.names[id] = name
		}
		c.records++
		s.now += int64(p[8])
		e, texts, err := fieldsOf(parts[11])
		name := s.names[e[10]]
		if written := texts[23]; written != nil {
			name = string(written)
		}
		switch {
		case err != nil:
			return nil, err
		case e[9] == 1 && name == "":
			return nil, errors.New("a slice has a name that was not told")
		case e[9] == 1:
			c.begin(open, s.thread, name, s.now)
		case e[9] == 2:
			if err := c.finish(open, s.thread, s.now); err != nil {
				return nil, err
			}
		default:
			return nil, fmt.Errorf("an event of type %d", e[9])
		}
	}
	return c, open.empty()
}

// internedOf returns the event names that a packet defines, by id.
func internedOf(b []byte) (names map[uint64]string, err error) {
	names = map[uint64]string{}
	for len(b) > 0 {
		num, _, k := protowire.ConsumeTag(b)
		entry, m := protowire.ConsumeBytes(b[k:])
		if m < 0 {
			return nil, errors.New("what is named is cut")
		}
		b = b[k+m:]
		if num == 2 {
			id, text, err := fieldsOf(entry)
			if err != nil {
				return nil, err
			}
			names[id[1]] = string(text[2])
		}
	}
	return names, nil
}
