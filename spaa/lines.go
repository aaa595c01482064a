package spaa

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// DefaultMaxLine is the maximum line length, in bytes, if the options do not set one.
const DefaultMaxLine = 256 << 20

// ErrLineTooLong is the error of a line longer than the limit. The line is skipped
// without being held in memory.
var ErrLineTooLong = errors.New("the line is too long")

// ErrCutLine is the error of a last line that has no line end and stops in the middle of
// a record, as when the writer was killed.
var ErrCutLine = errors.New("the file ends in the middle of this record: it was cut")

// A LineError reports which line of a file could not be read, and why. Reading can
// continue with the next line.
type LineError struct {
	Line   int64 // from 1
	Offset int64 // position of the fault, in bytes from the start of the uncompressed text
	Err    error
}

func (e *LineError) Error() string {
	var syntax *SyntaxError
	if errors.As(e.Err, &syntax) && e.Err == error(syntax) {
		return fmt.Sprintf("line %d, %v", e.Line, e.Err)
	}
	return fmt.Sprintf("line %d: %v", e.Line, e.Err)
}

func (e *LineError) Unwrap() error { return e.Err }

var utf8BOM = []byte("\xef\xbb\xbf")

// lineReader splits a stream into lines of any length up to a cap.
type lineReader struct {
	r   *bufio.Reader
	max int
	buf []byte // a line too long for the bufio.Reader's buffer

	line  int64 // number of the line last returned, from 1
	start int64 // offset of that line
	next  int64 // offset after that line

	bom     bool
	crlf    int64 // lines that end in CR LF
	blank   int64 // lines with only white space
	ended   bool  // the last line returned had a line end
	isCRLF  bool  // the last line returned ended in CR LF
	isBlank bool
}

func newLineReader(r io.Reader, maxLine int) *lineReader {
	if maxLine <= 0 {
		maxLine = DefaultMaxLine
	}
	return &lineReader{r: bufio.NewReaderSize(r, 256<<10), max: maxLine}
}

// read returns the next line without its line end; it is valid until the next call. The
// error is io.EOF, a *LineError for a line that is too long, or the stream's own.
func (lr *lineReader) read() ([]byte, error) {
	lr.line++
	lr.start = lr.next
	if lr.line == 1 {
		if head, _ := lr.r.Peek(len(utf8BOM)); bytes.Equal(head, utf8BOM) {
			lr.bom = true
			lr.start = int64(len(utf8BOM))
			lr.next = lr.start
			_, _ = lr.r.Discard(len(utf8BOM)) // the bytes have been peeked at
		}
	}
	text, err := lr.raw()
	if err != nil {
		return nil, err
	}
	lr.isCRLF = lr.ended && len(text) > 0 && text[len(text)-1] == '\r'
	if lr.isCRLF {
		lr.crlf++
		text = text[:len(text)-1]
	}
	if lr.isBlank = len(bytes.TrimLeft(text, " \t\r\n")) == 0; lr.isBlank {
		lr.blank++
	}
	return text, nil
}

// raw reads up to the next line feed.
func (lr *lineReader) raw() ([]byte, error) {
	lr.buf = lr.buf[:0]
	var size int64
	var cause error // why the line is skipped
	for {
		part, err := lr.r.ReadSlice('\n')
		size += int64(len(part))
		lr.next += int64(len(part))
		full := errors.Is(err, bufio.ErrBufferFull)
		if err != nil && !full && !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("reading line %d failed: %w", lr.line, err)
		}
		lr.ended = err == nil
		if lr.ended {
			part = part[:len(part)-1]
		}
		if cause == nil && len(lr.buf)+len(part) > lr.max {
			cause = fmt.Errorf("%w: more than %d bytes", ErrLineTooLong, lr.max)
		}
		if cause == nil && full && len(lr.buf) == 0 && !startsObject(part) {
			cause = ErrNotObject // do not keep a long line that cannot be a record
		}
		if cause == nil && (full || len(lr.buf) > 0) {
			lr.buf = append(lr.buf, part...)
		}
		switch {
		case full:
			continue
		case size == 0:
			return nil, io.EOF
		case cause != nil:
			return nil, &LineError{lr.line, lr.start, cause}
		case len(lr.buf) > 0:
			return lr.buf, nil
		}
		return part, nil
	}
}

// startsObject reports whether a line that begins with part can be a JSON object.
func startsObject(part []byte) bool {
	part = bytes.TrimLeft(part, " \t\r\n")
	return len(part) == 0 || part[0] == '{'
}

// parse parses the line last returned and wraps the error.
func (lr *lineReader) parse(p *Parser, text string) (Record, error) {
	rec, err := p.Parse(text)
	if err == nil {
		return rec, nil
	}
	e := &LineError{lr.line, lr.start, err}
	var syntax *SyntaxError
	if errors.As(err, &syntax) {
		e.Offset += int64(syntax.Offset)
		if syntax.AtEnd && !lr.ended {
			e.Err = ErrCutLine
		}
	}
	return nil, e
}
