package synth

import "io"

const outputBuffer = 4 << 20

// An output is a buffered writer to which records are appended in place. It remembers its
// first error, so the generators keep writing and check for an error once, at the end.
type output struct {
	buf     []byte // not written yet; append to it, then call settle
	w       io.Writer
	flushed int64
	err     error
}

func newOutput(w io.Writer) *output {
	return &output{w: w, buf: make([]byte, 0, outputBuffer+64<<10)}
}

// settle writes the buffer when it is full.
func (o *output) settle() {
	if len(o.buf) >= outputBuffer {
		o.flush()
	}
}

func (o *output) flush() {
	if o.err == nil {
		_, o.err = o.w.Write(o.buf)
	}
	o.flushed += int64(len(o.buf))
	o.buf = o.buf[:0]
}

// bytes returns the number of bytes so far, written or not.
func (o *output) bytes() int64 { return o.flushed + int64(len(o.buf)) }

// Write appends b, for libraries that write to an [io.Writer] themselves.
func (o *output) Write(b []byte) (int, error) {
	o.buf = append(o.buf, b...)
	o.settle()
	return len(b), o.err
}
