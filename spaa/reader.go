package spaa

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// ReaderOptions limit what a [Reader] accepts. The zero value means the defaults.
type ReaderOptions struct {
	MaxLine  int // longest line in bytes; 0 is DefaultMaxLine
	MaxDepth int // deepest nesting of JSON values; 0 is DefaultMaxDepth
}

// A Reader reads the records of a SPAA file in one pass. It accepts a byte order mark, CR
// LF line ends and blank lines ([Validate] reports them).
type Reader struct {
	lines  *lineReader
	parser Parser
	text   string
	err    error
}

// NewReader returns a Reader of uncompressed SPAA text with the default options. For
// compressed files, use [Open].
func NewReader(r io.Reader) *Reader { return NewReaderOptions(r, ReaderOptions{}) }

// NewReaderOptions returns a Reader with options.
func NewReaderOptions(r io.Reader, opts ReaderOptions) *Reader {
	return &Reader{lines: newLineReader(r, opts.MaxLine), parser: Parser{MaxDepth: opts.MaxDepth, Extras: true, own: true}}
}

// Next returns the next record, which the caller may keep, or io.EOF after the last one.
//
// A *[LineError] concerns one line: the next call continues after it. Its cause is a
// *[SyntaxError], [ErrNotObject], [ErrNoType], [ErrLineTooLong], a *[MissingError], or
// [ErrCutLine] for a last line that was cut off. A header of another format ends the
// reading with a *[FormatError] inside the LineError. Every other error comes from the
// underlying reader and is final.
func (r *Reader) Next() (Record, error) {
	if r.err != nil {
		return nil, r.err
	}
	text, err := r.lines.read()
	for err == nil && r.lines.isBlank {
		text, err = r.lines.read()
	}
	if err != nil {
		var bad *LineError
		if !errors.As(err, &bad) {
			r.err = err
		}
		return nil, err
	}
	line := string(text)
	r.text = line
	rec, err := r.lines.parse(&r.parser, line)
	if err == nil && !utf8.ValidString(line) {
		rec, err = r.lines.parse(&r.parser, validText(line))
	}
	if err != nil {
		return nil, err
	}
	if p := &r.parser; p.lacks&kindPlans[p.kind].needed != 0 {
		return nil, &LineError{r.lines.line, r.lines.start, &MissingError{p.kind, p.Missing()}}
	}
	if h, ok := rec.(*Header); ok {
		if err := h.OtherFormat(); err != nil {
			r.err = &LineError{r.lines.line, r.lines.start, err}
			return nil, r.err
		}
	}
	return rec, nil
}

// Line returns the number of the line last read, from 1.
func (r *Reader) Line() int64 { return r.lines.line }

// Text returns the text of the line of the last record, without its line end.
func (r *Reader) Text() string { return r.text }

// MissingError is the error of a record that is useless because required keys are
// missing.
type MissingError struct {
	Kind Kind
	Keys []string
}

func (e *MissingError) Error() string {
	return fmt.Sprintf("the %s record has no usable %q", e.Kind, strings.Join(e.Keys, ", "))
}

// FormatError is the error of a file whose header names another format.
type FormatError struct{ Format string }

func (e *FormatError) Error() string {
	switch e.Format {
	case "heap-diff":
		return `this "heap-diff" file is a report of differences, not a SPAA recording`
	case "":
		return `the header has no "format"; SPAA files say "spaa"`
	}
	return "the header says format \"" + e.Format + "\", but SPAA files say \"spaa\""
}

// OtherFormat returns a *[FormatError] if the header is not of the format SPAA, else nil.
func (h *Header) OtherFormat() error {
	if h.Format != "spaa" {
		return &FormatError{h.Format}
	}
	return nil
}
