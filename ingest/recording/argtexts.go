package recording

import (
	"encoding/binary"
	"slices"

	"ashlar/ingest/column"
)

// The texts of arguments are packed into blocks, one after the other, and a reference
// to one is its block and its place in it. Before a text stand its length and, in
// recordings that know it, 1 + how long the span ran on a processor, or 0.

// textBlock is the length of a block; one of a text that is longer has no other. A
// reference has its block above and its place below textBits, and one more.
const (
	textBits  = 20
	textBlock = 1 << textBits
)

// argTexts are those of a recording that is packed.
type argTexts struct {
	of     *Recording
	to     *column.Archive
	beside bool // texts stay in the file
	blocks []argBlock
	block  []byte            // the last one
	known  map[uint64]uint64 // references before to those after, of a few
}

type argBlock struct{ At, Len int64 }

// mostKnown bounds the texts that are told to be the same.
const mostKnown = 1 << 16

// add packs a text and returns its reference.
func (t *argTexts) add(ref uint64) uint64 {
	if t.beside {
		return ref
	}
	if ref == 0 || t.of.Args == nil {
		return 0
	}
	if now, ok := t.known[ref]; ok {
		return now
	}
	text := t.of.Args(ref)
	if len(t.block) > 0 && len(t.block)+len(text)+2*binary.MaxVarintLen64 > textBlock {
		t.flush()
	}
	now := 1 + uint64(len(t.blocks))<<textBits + uint64(len(t.block))
	t.block = binary.AppendUvarint(t.block, uint64(len(text)))
	if t.of.CPU != nil {
		cpu, known := t.of.CPU(ref)
		if known {
			cpu++
		} else {
			cpu = 0
		}
		t.block = binary.AppendUvarint(t.block, uint64(cpu))
	}
	t.block = append(t.block, text...)
	if t.known == nil || len(t.known) >= mostKnown {
		t.known = map[uint64]uint64{}
	}
	t.known[ref] = now
	return now
}

// flush ends a block. The chunks before and behind it lie next to each other.
func (t *argTexts) flush() {
	if len(t.block) == 0 {
		return
	}
	t.blocks = append(t.blocks, argBlock{t.to.Put(t.block), int64(len(t.block))})
	t.block = t.block[:0]
}

// storedTexts are those of a recording that was unpacked.
type storedTexts struct {
	blocks [][]byte
	cpus   bool
	shelf  *column.Shelf
}

func textsOf(a *column.Archive, s *stored) *storedTexts {
	t := &storedTexts{cpus: s.CPU, shelf: a.Shelf()}
	for _, b := range s.Blocks {
		t.blocks = append(t.blocks, slices.Clip(a.Get(b.At, b.Len)))
	}
	return t
}

// at is where a text begins, nil for what is no reference.
func (t *storedTexts) at(ref uint64) (b []byte, length uint64) {
	block, off := (ref-1)>>textBits, (ref-1)&(textBlock-1)
	if ref == 0 || block >= uint64(len(t.blocks)) || off > uint64(len(t.blocks[block])) {
		return nil, 0
	}
	b = t.blocks[block][off:]
	length, n := binary.Uvarint(b)
	return b[max(n, 0):], length
}

func (t *storedTexts) text(ref uint64) string {
	b, length := t.at(ref)
	if t.cpus {
		_, n := binary.Uvarint(b)
		b = b[max(n, 0):]
	}
	if length > uint64(len(b)) {
		return ""
	}
	return string(b[:length])
}

func (t *storedTexts) cpu(ref uint64) (ps int64, known bool) {
	b, _ := t.at(ref)
	v, _ := binary.Uvarint(b)
	return int64(v) - 1, v > 0
}
