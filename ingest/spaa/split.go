package spaa

import (
	"bytes"
	"context"
	"errors"
	"io"

	"ashlar/ingest/source"
	format "ashlar/spaa"
)

const (
	// pieceSize is about how many bytes one batch covers: small enough that
	// the batch stays in a core's cache, large enough that handing it over
	// costs nothing.
	pieceSize = 1 << 20
	// headerWithin is how far into a file its header is looked for before
	// stacks are read without one.
	headerWithin = 1 << 20
)

// maxLine is the longest line that is read, in bytes; longer ones are skipped
// without being held. A variable for tests.
var maxLine = format.DefaultMaxLine

// piece is some whole lines of the file.
type piece struct {
	data []byte
	// last: there is no line end behind data.
	last bool
	// long stands for one line that was too long; data is empty.
	long bool
}

// splitter cuts an input into pieces at line ends.
type splitter struct {
	in       *source.Input
	begun    bool
	rest     int    // bytes of the last chunk that had no line end yet
	ready    []byte // whole lines not returned yet
	skipping bool   // inside a line that is too long
	long     bool   // that line is still to be returned
	err      error  // what ended the input
}

// next returns the next piece; io.EOF, or why the input ended, behind the last.
func (s *splitter) next() (p piece, err error) {
	err = source.Guard(s.in.Path, func() error {
		var err error
		p, err = s.cut()
		return err
	})
	return p, err
}

func (s *splitter) cut() (piece, error) {
	for len(s.ready) == 0 {
		if s.long {
			s.long = false
			return piece{long: true}, nil
		}
		if s.err != nil {
			return piece{}, s.err
		}
		chunk, _, err := s.in.Next(s.rest)
		if !s.begun && (len(chunk) >= len(bom) || err != nil) {
			s.begun = true
			if bytes.HasPrefix(chunk, bom) {
				chunk = chunk[len(bom):]
				s.rest = max(0, s.rest-len(bom))
			}
		}
		if err != nil {
			// What is left is shown, whatever ended the input.
			s.err = err
			s.rest = 0
			if len(chunk) > 0 && !s.skipping {
				return piece{data: chunk, last: true}, nil
			}
			return piece{}, err
		}
		if s.skipping {
			i := bytes.IndexByte(chunk, '\n')
			if i < 0 {
				s.rest = 0
				continue
			}
			s.skipping = false
			chunk = chunk[i+1:]
			s.rest = 0
		}
		whole := s.rest + bytes.LastIndexByte(chunk[s.rest:], '\n') + 1
		if whole == s.rest { // no line end in what is new
			whole = 0
		}
		s.ready, s.rest = chunk[:whole], len(chunk)-whole
		if s.rest > maxLine {
			s.skipping, s.long, s.rest = true, true, 0
		}
	}
	s.begun = true
	p := s.ready
	if len(p) > pieceSize {
		n := bytes.LastIndexByte(p[:pieceSize], '\n') + 1
		if n == 0 {
			n = bytes.IndexByte(p, '\n') + 1
		}
		p = p[:n]
	}
	s.ready = s.ready[len(p):]
	return piece{data: p}, nil
}

// prelude is what was read to find the header.
type prelude struct {
	held   []piece
	header *format.Header
	line   int64 // the header's, from 1
}

// findHeader reads ahead to the header, which is the first line of a valid
// file, and at most headerWithin bytes.
func findHeader(ctx context.Context, s *splitter) (prelude, error) {
	var (
		pre  prelude
		p    format.Parser
		l    format.Line
		off  int
		line int64
	)
	for off < headerWithin {
		pc, err := s.next()
		if ctx.Err() != nil {
			return pre, ctx.Err()
		}
		if err != nil {
			if errors.Is(err, io.EOF) {
				return pre, nil
			}
			if len(pre.held) > 0 {
				return pre, nil // met again behind what is held
			}
			return pre, err
		}
		pre.held = append(pre.held, pc)
		err = source.Guard(s.in.Path, func() error {
			for data := pc.data; len(data) > 0 && off < headerWithin; {
				text, rest, _ := bytes.Cut(data, []byte{'\n'})
				off += len(data) - len(rest)
				data = rest
				line++
				if p.Parse(text, &l) != nil || l.Kind != format.KindHeader {
					continue
				}
				rec, err := l.Record()
				var other *format.FormatError
				if errors.As(err, &other) && other.Format == "heap-diff" {
					return &source.Error{Path: s.in.Path, What: err.Error(), Err: err}
				}
				if err == nil {
					pre.header, pre.line = rec.(*format.Header), line
					return nil
				}
			}
			return nil
		})
		if err != nil || pre.header != nil {
			return pre, err
		}
		if pc.long {
			return pre, nil
		}
	}
	return pre, nil
}

// rootFirst tells whether stacks list their outermost frame first.
func (p *prelude) rootFirst() bool {
	return p.header != nil && p.header.FrameOrder == format.RootToLeaf
}
