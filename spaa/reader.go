package spaa

import (
	"errors"
	"io"
)

// ReaderOptions bound what a [Reader] takes from a file. The zero value means
// the defaults.
type ReaderOptions struct {
	MaxLine  int // longest line in bytes; 0 is DefaultMaxLine
	MaxDepth int // deepest nesting of JSON values; 0 is DefaultMaxDepth
}

// Reader reads the records of a SPAA file in one pass. A byte order mark, CR LF
// line ends and blank lines are taken as they are ([Validate] reports them).
type Reader struct {
	lines  *lineReader
	parser Parser
	line   Line
	copier copier
	err    error
}

// NewReader returns a Reader of uncompressed SPAA text with the default
// options. [Open] sees through compression.
func NewReader(r io.Reader) *Reader { return NewReaderOptions(r, ReaderOptions{}) }

// NewReaderOptions returns a Reader with options.
func NewReaderOptions(r io.Reader, opts ReaderOptions) *Reader {
	rd := &Reader{lines: newLineReader(r, opts.MaxLine)}
	rd.parser.MaxDepth = opts.MaxDepth
	rd.copier.parser.MaxDepth = opts.MaxDepth
	return rd
}

// Next returns the next record, which is the caller's to keep, and io.EOF
// behind the last.
//
// A *[LineError] is about one line: the next call goes on behind it. Its cause
// is a *[SyntaxError], [ErrNotObject], [ErrNoType], [ErrLineTooLong],
// a *[MissingError], or [ErrCutLine] for a last line that was cut. A header of
// another format ends the reading with a *[FormatError] inside the LineError.
// Every other error is that of the underlying reader, and final.
func (r *Reader) Next() (Record, error) {
	l, err := r.NextLine()
	if err != nil {
		return nil, err
	}
	rec, err := r.copier.record(l)
	if err != nil {
		err = &LineError{r.lines.line, r.lines.start, err}
		var format *FormatError
		if errors.As(err, &format) {
			r.err = err
		}
		return nil, err
	}
	return rec, nil
}

// NextLine is Next without copying: the line and all its parts are valid until
// the next call.
func (r *Reader) NextLine() (*Line, error) {
	if r.err != nil {
		return nil, r.err
	}
	for {
		text, err := r.lines.read()
		if err != nil {
			var bad *LineError
			if !errors.As(err, &bad) {
				r.err = err
			}
			return nil, err
		}
		if r.lines.isBlank {
			continue
		}
		if err := r.lines.parse(&r.parser, text, &r.line); err != nil {
			return nil, err
		}
		return &r.line, nil
	}
}

// Line returns the number of the line last read, from 1.
func (r *Reader) Line() int64 { return r.lines.line }
