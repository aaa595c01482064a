package spaa

import (
	"bufio"
	"errors"
	"fmt"
	"io"
)

// ErrOrder is the cause of every error of [Writer.Write] about the order of records (spec
// 2): the header first and only once, and dictionary records before the records that
// refer to them.
var ErrOrder = errors.New("record out of order")

// A Writer writes a SPAA file, record by record, in canonical form: the same records give
// the same bytes. See [AppendRecord] for the form.
//
// It enforces the order that the format requires, and keeps the ids of written records
// for that; it does not check what a record means, as [Validate] does.
type Writer struct {
	w     *bufio.Writer
	e     encoder
	count int64
	err   error // error of the underlying writer; final

	dsos    map[int64]struct{}
	frames  map[int64]struct{}
	threads map[int64]struct{} // by tid
	named   map[int64]struct{} // tids that a stack or sample named before their thread record
	stacks  map[ID]struct{}
	waiting map[ID]int64 // stacks referred to but not yet written, with the number of the referring record
}

// NewWriter returns a Writer to w. Call [Writer.Close] at the end.
func NewWriter(w io.Writer) *Writer {
	return &Writer{
		w:    bufio.NewWriterSize(w, 64<<10),
		dsos: map[int64]struct{}{}, frames: map[int64]struct{}{}, threads: map[int64]struct{}{},
		named: map[int64]struct{}{}, stacks: map[ID]struct{}{}, waiting: map[ID]int64{},
	}
}

// Write writes one record. A record that cannot be written leaves the file unchanged, and
// writing can continue; an error of the underlying writer is final.
func (w *Writer) Write(r Record) error {
	if w.err != nil {
		return w.err
	}
	if err := w.checkOrder(r); err != nil {
		return fmt.Errorf("record %d (%s): %w", w.count+1, r.RecordType(), err)
	}
	w.e.b, w.e.err = w.e.b[:0], nil
	w.e.record(r)
	if w.e.err != nil {
		return fmt.Errorf("record %d (%s): %w", w.count+1, r.RecordType(), w.e.err)
	}
	w.remember(r)
	w.count++
	w.e.b = append(w.e.b, '\n')
	_, w.err = w.w.Write(w.e.b)
	return w.err
}

// Count returns how many records were written.
func (w *Writer) Count() int64 { return w.count }

func order(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrOrder, fmt.Sprintf(format, args...))
}

func (w *Writer) checkOrder(r Record) error {
	_, isHeader := r.(*Header)
	if isHeader != (w.count == 0) {
		if isHeader {
			return order("this is a second header; a file must have exactly one")
		}
		return order("the header must be written first")
	}
	switch r := r.(type) {
	case *Header:
		return r.OtherFormat()
	case *DSO:
		if _, ok := w.dsos[r.ID]; ok {
			return order("dso %d was written before; ids of dsos are unique", r.ID)
		}
	case *Frame:
		if _, ok := w.frames[r.ID]; ok {
			return order("frame %d was written before; ids of frames are unique", r.ID)
		}
		if _, ok := w.dsos[r.DSO]; !ok {
			return order("frame %d names dso %d, which must be written before it", r.ID, r.DSO)
		}
	case *Thread:
		if _, ok := w.threads[r.TID]; ok {
			return order("thread %d was written before; tids are unique", r.TID)
		}
		if _, ok := w.named[r.TID]; ok {
			return order("thread %d must be written before the stacks and samples that name it", r.TID)
		}
	case *Stack:
		for _, f := range r.Frames {
			if _, ok := w.frames[f]; !ok {
				return order("stack %s names frame %d, which must be written before it", r.ID.quoted(), f)
			}
		}
	}
	return nil
}

// remember records the ids that a record defines and refers to.
func (w *Writer) remember(r Record) {
	switch r := r.(type) {
	case *DSO:
		w.dsos[r.ID] = struct{}{}
	case *Frame:
		w.frames[r.ID] = struct{}{}
	case *Thread:
		w.threads[r.TID] = struct{}{}
	case *Stack:
		w.stacks[r.ID] = struct{}{}
		delete(w.waiting, r.ID)
		w.nameThreadOf(r.Context)
	case *Sample:
		w.nameStack(r.StackID)
		w.nameThread(r.TID)
		w.nameThreadOf(r.Context)
	case *Window:
		for i := range r.ByStack {
			w.nameStack(r.ByStack[i].StackID)
		}
	}
}

func (w *Writer) nameThreadOf(c *Context) {
	if c != nil {
		w.nameThread(c.TID)
	}
}

func (w *Writer) nameThread(tid Opt[int64]) {
	if !tid.OK {
		return
	}
	if _, ok := w.threads[tid.V]; !ok {
		w.named[tid.V] = struct{}{}
	}
}

// nameStack notes a reference: samples and windows may come before the stacks that they
// name.
func (w *Writer) nameStack(id ID) {
	if _, ok := w.stacks[id]; ok {
		return
	}
	if _, ok := w.waiting[id]; !ok {
		w.waiting[id] = w.count + 1
	}
}

// Flush writes buffered data to the underlying writer.
func (w *Writer) Flush() error {
	if w.err == nil {
		w.err = w.w.Flush()
	}
	return w.err
}

// Close flushes and returns an error if the file is incomplete: it must have a header and
// every stack that a sample or window refers to. It does not close the underlying writer.
func (w *Writer) Close() error {
	if err := w.Flush(); err != nil {
		return err
	}
	if w.count == 0 {
		return order("the file has no header; write one first")
	}
	if len(w.waiting) == 0 {
		return nil
	}
	var first ID
	var by int64
	for id, n := range w.waiting {
		if by == 0 || n < by || n == by && id.text < first.text {
			first, by = id, n
		}
	}
	return fmt.Errorf("missing stacks: %d; record %d refers to stack %s, which was not written", len(w.waiting), by, first.quoted())
}
