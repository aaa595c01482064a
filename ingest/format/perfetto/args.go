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
	// The low bits of a reference are the position in the file of the event's length; the
	// bits above are the number of the sequence's terms.
	offsetBits = 39
	mostTerms  = 1 << (62 - offsetBits)
	// pairRef marks a reference to the arguments of a begin and its end.
	pairRef = 1 << 62
	// textRef marks a reference to a stored text.
	textRef = 1 << 63
	// mostKept is the maximum number of interned texts kept for arguments. Beyond it,
	// arguments are stored as text when their event is read.
	mostKept = 1 << 22
)

// terms are the texts that a sequence's annotations refer to by number. A sequence that
// restarts gets new terms.
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

// argStore returns the arguments of events. For a mapped file a reference is the position
// of the event, which is read again on demand. Arguments from streams and compressed
// packets are stored as text. Any goroutine may call its methods, but setTerm and add
// must be called by only one, and pair by only one.
type argStore struct {
	in   *source.Input
	size int64 // size of the mapped content; -1 for a stream

	mu    sync.RWMutex
	terms []*terms // by number less 1
	kept  int      // number of texts in terms

	pairs   decode.Pairs
	texts   decode.Texts
	dropped bool // some references are to stored texts
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

// setTerm records the text that a sequence's arguments refer to by a number. again means
// that the number had another text before, which earlier references still use.
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

// add stores the arguments of a packet's event and returns a reference to them, 0 if
// there is no room left.
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

// pair returns a reference to the arguments of a begin and its end together; either may
// be 0.
func (a *argStore) pair(begin, end uint64) uint64 {
	if begin == 0 || end == 0 {
		return cmp.Or(begin, end)
	}
	return pairRef | a.pairs.Add(begin, end)
}

// text returns the arguments of a reference as a JSON object. It returns "" for no
// reference and if the mapped file is closed or can't be read any more.
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

// state packs the data that is not in the file itself: texts by number, and the pairs.
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

// argsOf implements Format.Args.
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
