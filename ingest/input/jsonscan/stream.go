package jsonscan

import (
	"io"

	"ashlar/ingest/input/source"
)

// Stream walks through JSON of any size that comes in chunks, forwards only:
// into arrays and objects, over their values. It holds no more than the value at
// hand. Surplus commas are let pass. Where something can't be read, everything
// it is asked for from there on is not there, and Damage says where it is.
type Stream struct {
	in   *source.Input
	size int // of chunks
	more func() error
	b    []byte
	p    int
	base int64 // where in the content b begins
	err  error // why nothing follows b

	// Damage is where it could not go on, -1 for nowhere; Cut: that is the end
	// of the content.
	Damage int64
	Cut    bool
}

// MaxValue is how long a value may be that is held.
const MaxValue = 64 << 20

// NewStream returns a walk through an input's content. It calls more before
// each chunk; an error of that ends the walk.
func NewStream(in *source.Input, more func() error) *Stream {
	return &Stream{in: in, size: max(in.ChunkSize, 0), more: more, Damage: -1}
}

// Err is why reading the input failed, nil if it did not.
func (s *Stream) Err() error {
	if s.err == io.EOF {
		return nil
	}
	return s.err
}

// Offset is where in the content the walk is.
func (s *Stream) Offset() int64 { return s.base + int64(s.p) }

// fill reads on; what is before p is given up. It reports whether there is
// more.
func (s *Stream) fill() bool {
	if s.err != nil {
		return false
	}
	if err := s.more(); err != nil {
		s.err = err
		return false
	}
	rest := len(s.b) - s.p
	// What did not fit is read again with at least as much behind it.
	if s.in.ChunkSize = s.size; rest > s.size {
		s.in.ChunkSize = max(rest, 1<<20)
	}
	s.b, s.base, s.err = s.in.Next(rest)
	s.p = 0
	return s.err == nil
}

func (s *Stream) fail(cut bool) {
	if s.Damage < 0 {
		s.Damage, s.Cut = s.Offset(), cut
	}
}

// Peek is the next byte that is neither white space nor a comma, 0 at the end
// and behind damage.
func (s *Stream) Peek() byte {
	for s.Damage < 0 {
		for s.p < len(s.b) && (s.b[s.p] <= ' ' || s.b[s.p] == ',') {
			s.p++
		}
		if s.p < len(s.b) {
			return s.b[s.p]
		}
		if !s.fill() && s.p == len(s.b) {
			break
		}
	}
	return 0
}

// Enter goes into the array or object that is next and reports whether
// there is one: open is '[' or '{'.
func (s *Stream) Enter(open byte) bool {
	if s.Peek() != open {
		return false
	}
	s.p++
	return true
}

// Next reports whether the array or object that was entered has another element
// or member; it leaves it where it has not.
func (s *Stream) Next() bool {
	switch c := s.Peek(); {
	case c == ']' || c == '}':
		s.p++
		return false
	case c == 0:
		s.fail(true)
		return false
	}
	return true
}

// Members walks over the members of the object that was entered, each by its key,
// decoded: what is done with one must read its value, or skip it. At damage it ends.
func (s *Stream) Members(yield func(key string) bool) {
	for s.Next() {
		if key, ok := s.Key(); !ok || !yield(key) {
			return
		}
	}
}

// Values walks over the elements of the array that was entered, each as text that is valid
// for as long as the input's chunks are. At damage it ends.
func (s *Stream) Values(yield func(raw []byte) bool) {
	for s.Next() {
		if raw, ok := s.Value(); !ok || !yield(raw) {
			return
		}
	}
}

// Key returns the key of the member that stands next, decoded, and goes to its
// value.
func (s *Stream) Key() (key string, ok bool) {
	raw, ok := s.Value()
	if !ok {
		return "", false
	}
	if raw[0] != '"' {
		s.fail(false)
		return "", false
	}
	key = Plain(raw)
	if s.Peek() != ':' {
		s.fail(s.Damage < 0 && s.p == len(s.b))
		return "", false
	}
	s.p++
	return key, true
}

// Value returns the text of the value that is next, which is valid for as
// long as the input's chunks are.
func (s *Stream) Value() (raw []byte, ok bool) {
	if s.Peek() == 0 {
		s.fail(true)
		return nil, false
	}
	for {
		end, st := Value(s.b, s.p, s.err != nil)
		switch {
		case st == Good:
			raw = s.b[s.p:end]
			s.p = end
			return raw, true
		case st == More && s.err == nil && len(s.b)-s.p <= MaxValue:
			s.fill()
		default:
			if st == Bad {
				s.p = min(end, len(s.b))
			}
			s.fail(st == More)
			return nil, false
		}
	}
}

// Ahead returns the buffered bytes that come next, for a caller that parses common forms
// itself and calls Advance after them.
func (s *Stream) Ahead() []byte { return s.b[s.p:] }

// Advance goes on behind the next n bytes, which must be whole values.
func (s *Stream) Advance(n int) { s.p += n }

// Skip passes over the value that is next, however long.
func (s *Stream) Skip() {
	if s.Peek() == 0 {
		s.fail(true)
		return
	}
	var skip Skipper
	for {
		s.p += skip.Run(s.b[s.p:])
		switch {
		case skip.Done:
			return
		case !s.fill():
			if s.p += skip.Run(s.b[s.p:]); !skip.Done {
				s.fail(true)
			}
			return
		}
	}
}
