package perfetto

import (
	"cmp"
	"encoding/binary"
	"sync"

	"google.golang.org/protobuf/encoding/protowire"

	"ashlar/ingest/format/decode"
	"ashlar/ingest/input/source"
	"ashlar/ingest/model/recording"
)

const (
	// A reference says in its low bits where in the file the length of an event is,
	// and above them by which number its sequence's texts are known (see terms).
	offsetBits = 39
	mostTerms  = 1 << (62 - offsetBits)
	// pairRef marks a reference to the arguments of a begin and its end.
	pairRef = 1 << 62
	// textRef marks a reference to a text that was kept.
	textRef = 1 << 63
	// mostKept is how many texts of sequences are kept for arguments: beyond them, these
	// are written out when the event is read.
	mostKept = 1 << 22
)

// terms are the texts that a sequence's arguments name by number, as long as it does not
// begin again.
type terms struct {
	number         uint64
	names, strings words
}

func (t *terms) of(kind protowire.Number) *words {
	switch {
	case t == nil:
		return nil
	case kind == internString:
		return &t.strings
	}
	return &t.names
}

// argStore gives back the arguments of events. A mapped file is its own store: a
// reference is where the event stands, which is read again when someone asks. What
// streams by, or is packed, is kept as texts. Its methods may be called from any
// goroutine, but add and tell by one only, and pair by one only.
type argStore struct {
	in   *source.Input
	size int64 // of the mapped content; -1 for a stream

	mu    sync.RWMutex
	terms []*terms // by number less 1
	kept  int      // texts in them

	pairs   decode.Pairs
	texts   decode.Texts
	dropped bool // there are references to texts
	object  []byte
}

func newArgStore(in *source.Input) *argStore {
	a := &argStore{in: in, size: -1}
	if m := in.Mapped(); m != nil {
		a.size = int64(len(m))
	}
	return a
}

func (a *argStore) mapped() bool { return a.size >= 0 }

// setTerm notes that a sequence names something that arguments refer to; again: it had
// another text before, by which references know it.
func (s *sequence) setTerm(kind protowire.Number, iid uint64, text string, again bool) {
	a := s.args
	if !a.mapped() || s.renamed {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if again || a.kept >= mostKept || s.terms == nil && len(a.terms)+1 >= mostTerms {
		s.renamed = true
		return
	}
	if s.terms == nil {
		s.terms = &terms{number: uint64(len(a.terms) + 1)}
		a.terms = append(a.terms, s.terms)
	}
	a.kept++
	s.terms.of(kind).set(iid, text)
}

// add keeps the arguments of the event of a packet and returns a reference to them. It
// returns 0 when there is no room left.
func (a *argStore) add(s *sequence, b *batch, p *packet) uint64 {
	if at := b.base + int64(p.at); b.base >= 0 && at < 1<<offsetBits && !s.renamed {
		number := uint64(0)
		if s.terms != nil {
			number = s.terms.number
		}
		return number<<offsetBits | uint64(at)
	}
	names := namer{s.texts[internAnnotation], s.texts[internString], true}
	a.object = names.object(a.object[:0], b.body(p))
	a.dropped = true
	if ref := a.texts.Add(a.object); ref != 0 {
		return ref | textRef
	}
	return 0
}

// pair refers to the arguments of a begin and of its end together, either of which may
// have none.
func (a *argStore) pair(begin, end uint64) uint64 {
	if begin == 0 || end == 0 {
		return cmp.Or(begin, end)
	}
	return pairRef | a.pairs.Add(begin, end)
}

// text is the text of a reference: a JSON object. It is "" for no reference, once a
// mapped file is closed, and when it can't be read any more.
func (a *argStore) text(ref uint64) string {
	if ref&(textRef|pairRef) != pairRef {
		return a.one(ref)
	}
	begin, end, _ := a.pairs.At(ref &^ pairRef)
	return decode.JoinObjects(a.one(begin), a.one(end))
}

func (a *argStore) one(ref uint64) (s string) {
	switch {
	case ref == 0:
		return ""
	case ref&textRef != 0:
		return a.texts.Text(ref &^ textRef)
	}
	at := int64(ref & (1<<offsetBits - 1))
	var size uint64
	n := -1
	a.in.Look(at, int(max(0, min(10, a.size-at))), func(b []byte) { size, n = varint(b, 0) })
	if n < 0 || size > maxPacket {
		return ""
	}
	a.mu.RLock()
	defer a.mu.RUnlock()
	number := ref >> offsetBits
	if number > uint64(len(a.terms)) {
		return ""
	}
	var names namer
	if number > 0 {
		t := a.terms[number-1]
		names = namer{names: &t.names, strings: &t.strings}
	}
	a.in.Look(at+int64(n), int(size), func(b []byte) { s = string(names.object(nil, b)) })
	return s
}

// end stores the finished arguments in the recording.
func (a *argStore) end(b *recording.Builder) {
	a.texts.WarnDropped(b, "event")
	if a.mapped() && !a.dropped {
		b.SetArgState(a.state)
	}
}

// state packs the data that the file itself does not contain: names by number, and the
// pairs.
func (a *argStore) state() []byte {
	out := binary.AppendUvarint(nil, uint64(len(a.terms)))
	for _, t := range a.terms {
		for _, w := range []*words{&t.names, &t.strings} {
			out = binary.AppendUvarint(out, uint64(w.count()))
			for id, text := range w.all {
				out = binary.AppendUvarint(binary.AppendUvarint(out, id), uint64(len(text)))
				out = append(out, text...)
			}
		}
	}
	return a.pairs.Pack(out)
}

// argsOf is Format.Args.
func argsOf(in *source.Input, state []byte) (text func(uint64) string, cpu func(uint64) (int64, bool)) {
	a := newArgStore(in)
	next := func() uint64 {
		v, n := binary.Uvarint(state)
		state = state[max(n, 0):]
		return v
	}
	for n := next(); n > 0 && len(state) > 0; n-- {
		t := new(terms)
		for _, w := range []*words{&t.names, &t.strings} {
			for n := next(); n > 0 && len(state) > 0; n-- {
				id, size := next(), next()
				size = min(size, uint64(len(state)))
				w.set(id, string(state[:size]))
				state = state[size:]
			}
		}
		a.terms = append(a.terms, t)
	}
	a.pairs.Unpack(state)
	return a.text, nil
}
