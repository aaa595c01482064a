package spaa

import (
	"bytes"
	"context"
	"errors"
	"io"

	"ashlar/ingest/input/source"
	format "ashlar/spaa"
)

const (
	// pieceSize is the approximate number of bytes in a batch: small enough that the
	// batch stays in a core's cache, large enough that passing it on costs nothing.
	pieceSize = 1 << 20
	// headerWithin is the number of bytes to search for a header before stacks are read
	// without one.
	headerWithin = 1 << 20
)

// maxLine is the maximum length of a line in bytes. Longer lines are skipped without
// being kept in memory. It is a variable for tests.
var maxLine = format.DefaultMaxLine

// piece is some whole lines of the file.
type piece struct {
	data []byte
	at   int64 // offset of data in the content
	// last means that data may lack a line end.
	last bool
	// long stands for one line that was too long; data is empty.
	long bool
}

// splitter cuts an input into pieces at line ends.
type splitter struct {
	in    *source.Input
	begun bool
	// data is the rest of the last chunk; its first searched bytes have no line end.
	data     []byte
	at       int64 // offset of data in the content
	searched int
	skipping bool  // inside a line that is too long
	err      error // why the input ended
}

// next returns the next piece; after the last one it returns io.EOF or the reason why the
// input ended.
func (s *splitter) next() (p piece, err error) {
	err = source.Guard(s.in.Path, func() error {
		var err error
		p, err = s.cut()
		return err
	})
	return p, err
}

// cut returns the next piece. As far as line ends allow, it examines no bytes beyond the
// piece, because they may no longer be readable (see [source.Guard]).
func (s *splitter) cut() (piece, error) {
	for {
		if n := s.lineEnd(); n > 0 {
			p := piece{data: s.data[:n], at: s.at}
			s.drop(n)
			if !s.skipping {
				return p, nil
			}
			s.skipping = false // p is the end of the line that is skipped
			continue
		}
		if s.skipping {
			s.drop(len(s.data))
		} else if len(s.data) > maxLine {
			s.skipping = true
			return piece{long: true}, nil
		}
		if s.err == nil {
			s.fill()
			continue
		}
		// The rest is returned, whatever ended the input.
		if p := s.data; len(p) > 0 {
			s.data, s.searched = nil, 0
			return piece{data: p, at: s.at, last: true}, nil
		}
		return piece{}, s.err
	}
}

// drop removes the first n bytes of data.
func (s *splitter) drop(n int) { s.data, s.at, s.searched = s.data[n:], s.at+int64(n), 0 }

// lineEnd returns the length of a piece of whole lines, or of the rest of the line being
// skipped; 0 if data has no line end.
func (s *splitter) lineEnd() int {
	near := s.data[s.searched:min(len(s.data), s.searched+pieceSize)]
	i := -1
	if s.skipping {
		i = bytes.IndexByte(near, '\n')
	} else {
		i = bytes.LastIndexByte(near, '\n')
	}
	if i < 0 {
		s.searched += len(near)
		i = bytes.IndexByte(s.data[s.searched:], '\n')
	}
	if i < 0 {
		s.searched = len(s.data)
		return 0
	}
	return s.searched + i + 1
}

// fill reads the next chunk.
func (s *splitter) fill() {
	rest := len(s.data)
	s.data, s.at, s.err = s.in.Next(rest)
	if !s.begun && (len(s.data) >= len(bom) || s.err != nil) {
		s.begun = true
		if bytes.HasPrefix(s.data, bom) {
			s.drop(len(bom))
		}
	}
}

// prelude is the part that findHeader read.
type prelude struct {
	held   []piece
	header *format.Header
	line   int64 // line number of the header, from 1
}

// findHeader reads ahead to the header, which is the first line of a valid
// file, and at most headerWithin bytes.
func findHeader(ctx context.Context, s *splitter) (prelude, error) {
	var (
		pre  prelude
		p    format.Parser
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
				return pre, nil // read again after the buffered part
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
				rec, _ := p.Parse(string(text))
				h, ok := rec.(*format.Header)
				if !ok {
					continue
				}
				if h.Format == "heap-diff" {
					err := h.OtherFormat()
					return &source.Error{Path: s.in.Path, What: err.Error(), Err: err}
				}
				if h.OtherFormat() == nil {
					pre.header, pre.line = h, line
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

// rootFirst reports whether stacks list their outermost frame first.
func (p *prelude) rootFirst() bool {
	return p.header != nil && p.header.FrameOrder == format.RootToLeaf
}
