package jsonscan

import (
	"io"

	"ashlar/ingest/input/source"
)

// A Stream reads JSON of any size that comes in chunks, forward only: into arrays and
// objects, and from value to value. It holds only the current value in memory. Surplus
// commas are accepted. After unreadable input, all methods behave as at the end, and
// Damage is its offset.
type Stream struct {
	in   *source.Input
	size int // chunk size
	more func() error
	b    []byte
	p    int
	base int64 // offset of b in the content
	err  error // why nothing follows b

	// Damage is the offset of the first unreadable byte, -1 if there is none. Cut means
	// that it is the end of the content.
	Damage int64
	Cut    bool
}

// MaxValue is the maximum length in bytes of a value held in memory.
const MaxValue = 64 << 20

// NewStream returns a Stream over an input's content. It calls more before each chunk; an
// error from more ends the stream.
func NewStream(in *source.Input, more func() error) *Stream {
	return &Stream{in: in, size: max(in.ChunkSize, 0), more: more, Damage: -1}
}

// Err returns the error from reading the input, nil if there was none.
func (s *Stream) Err() error {
	if s.err == io.EOF {
		return nil
	}
	return s.err
}

// Offset returns the current offset in the content.
func (s *Stream) Offset() int64 { return s.base + int64(s.p) }

// fill reads the next chunk and drops the bytes before p. It reports whether there may be
// more after it.
func (s *Stream) fill() bool {
	if s.err != nil {
		return false
	}
	if err := s.more(); err != nil {
		s.err = err
		return false
	}
	rest := len(s.b) - s.p
	// The unread rest is read again, with at least as many bytes after it.
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

// Peek returns the next byte that is neither white space nor a comma, 0 at the end and
// after damage.
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

// Enter enters the next value if it is an array or object, and reports whether it is;
// open is '[' or '{'.
func (s *Stream) Enter(open byte) bool {
	if s.Peek() != open {
		return false
	}
	s.p++
	return true
}

// Next reports whether the entered array or object has another element or member. If not,
// it leaves the array or object.
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

// Members yields the decoded keys of the entered object. The loop body must read or skip
// the value of each. It ends at damage.
func (s *Stream) Members(yield func(key string) bool) {
	for s.Next() {
		if key, ok := s.Key(); !ok || !yield(key) {
			return
		}
	}
}

// Values yields the raw elements of the entered array and stops at damage. An element is
// valid as long as the input's chunks are.
func (s *Stream) Values(yield func(raw []byte) bool) {
	for s.Next() {
		if raw, ok := s.Value(); !ok || !yield(raw) {
			return
		}
	}
}

// Key returns the decoded key of the next member and advances to its value.
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

// Value returns the raw text of the next value. It is valid as long as the input's chunks
// are.
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

// Advance skips the next n bytes, which must be whole values.
func (s *Stream) Advance(n int) { s.p += n }

// Skip skips the next value, however long.
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
