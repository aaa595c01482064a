package wire

import (
	"errors"
	"io"

	"ashlar/ingest/input/safetext"
	"ashlar/ingest/input/source"
)

// Maximum number of bytes that the runtime writes in a batch and in a string, and of
// frames in a stack.
const (
	maxBatch  = 64 << 10
	maxString = 1 << 10
	maxFrames = 128
)

// A batch holds consecutive events of one thread (M), or part of a table.
type batch struct {
	gen, m, time uint64
	at           int64 // position of data in the file
	data         []byte
	experiment   bool
	end          bool // the generation ends here
}

// is reports whether the batch is part of a table of the given type.
func (b *batch) is(typ byte) bool { return !b.experiment && len(b.data) > 0 && b.data[0] == typ }

// batches finds the batches of an input. They point into its chunks.
type batches struct {
	in    *source.Input
	chunk []byte
	at    int64 // position of chunk
	off   int   // position in chunk
	err   error // error that ended the input
}

// place returns the position up to which batches were read.
func (r *batches) place() int64 { return r.at + int64(r.off) }

// more reads the next chunk and keeps the unused rest. It returns false at the end.
func (r *batches) more() bool {
	if r.err != nil {
		return false
	}
	rest := len(r.chunk) - r.off
	r.chunk, r.at, r.err = r.in.Next(rest)
	r.off = 0
	return len(r.chunk) > rest || r.err == nil
}

// skip skips n bytes, or all that are left.
func (r *batches) skip(n int) {
	for len(r.chunk)-r.off < n && r.more() {
	}
	r.off = min(r.off+n, len(r.chunk))
}

// failed returns the error that ended the input or, if the input ended normally, an error
// with the text what.
func (r *batches) failed(what string) error {
	if r.err != nil && !errors.Is(r.err, io.EOF) {
		return r.err
	}
	return wrong(r.place(), "%s", what)
}

// next returns the next batch, io.EOF if there is none.
func (r *batches) next() (b batch, err error) {
	for {
		whole, err := r.parse(&b)
		if whole || err != nil {
			return b, err
		}
		if !r.more() {
			if r.off == len(r.chunk) && errors.Is(r.err, io.EOF) {
				return b, io.EOF
			}
			return b, r.failed("the trace ends within a batch of events")
		}
	}
}

// parse parses a batch if all of it is there.
func (r *batches) parse(b *batch) (whole bool, err error) {
	rest := r.chunk[r.off:]
	if len(rest) == 0 {
		return false, nil
	}
	head := 1
	switch rest[0] {
	case evEndOfGeneration:
		*b = batch{end: true}
		r.off++
		return true, nil
	case evEventBatch:
	case evExperimentalBatch:
		head++ // number of the experiment
	default:
		return false, wrong(r.place(), "byte %d does not start a batch of events", rest[0])
	}
	c := cut{data: rest, off: head}
	gen, m, time, size := c.number(), c.number(), c.number(), c.number()
	switch {
	case c.bad:
		return false, wrong(r.place(), "the header of a batch has a number that is too long")
	case c.short:
		return false, nil
	case size > maxBatch:
		return false, wrong(r.place(), "a batch of %s is too long", safetext.Plural(size, "byte"))
	case int(size) > len(rest)-c.off:
		return false, nil
	}
	end := c.off + int(size)
	*b = batch{gen: gen, m: m, time: time, at: r.place() + int64(c.off), data: rest[c.off:end:end], experiment: head == 2}
	r.off += end
	return true, nil
}

// cut reads numbers from a byte slice until it is empty.
type cut struct {
	data  []byte
	off   int
	short bool // bytes were missing
	bad   bool // a number has more than 64 bits
}

// number reads an integer of seven bits per byte, lowest bits first.
func (c *cut) number() (v uint64) {
	for shift := uint(0); !c.short && !c.bad; shift += 7 {
		if c.off >= len(c.data) {
			c.short = true
			break
		}
		x := c.data[c.off]
		c.off++
		if shift == 63 && x > 1 {
			c.bad = true
			break
		}
		v |= uint64(x&0x7f) << shift
		if x < 0x80 {
			return v
		}
	}
	return 0
}

// wrong reports whether a number could not be read.
func (c *cut) wrong() bool { return c.short || c.bad }
