package gotrace

import (
	"context"

	"golang.org/x/exp/trace"

	"ashlar/ingest/decode"
	"ashlar/ingest/source"
)

// batch has events as the library reads them, which is one goroutine's work, for the
// other one that adds them to the recording. The library goes on writing down names of
// tasks meanwhile, so that tasks are asked for before: tasks has those of events that
// begin or end one, in their order.
type batch struct {
	events []trace.Event
	tasks  []trace.Task
}

// batchLen is how many events are handed over at once.
const batchLen = 1024

// each hands all events to d, in order, until there are no more (io.EOF) or they cannot
// be read. It reads ahead a little.
func (d *decoder) each(ctx context.Context, in *source.Input, read *trace.Reader) error {
	ctx, cancel := context.WithCancel(ctx)
	out, free := make(chan *batch, 4), make(chan *batch, 6)
	failed := make(chan error, 1)
	go func() {
		defer close(out)
		failed <- source.Protect(in.Path, func() error { return ahead(ctx, read, out, free) })
	}()
	done := false
	defer func() {
		cancel()
		if !done {
			in.Stop() // the builder panicked: reading may wait for a pipe
		}
		for range out {
		}
	}()
	_ = decode.Each(d.b, out, func(x *batch) error {
		tasks := x.tasks
		for i := range x.events {
			ev := &x.events[i]
			d.records.Read++
			d.records.Kept++
			if k := ev.Kind(); k == trace.EventTaskBegin || k == trace.EventTaskEnd {
				d.named, tasks = tasks[0], tasks[1:]
			}
			d.event(ev)
		}
		select {
		case free <- x:
		default:
		}
		return nil
	})
	done = true
	return <-failed
}

// ahead reads events.
func ahead(ctx context.Context, read *trace.Reader, out chan<- *batch, free <-chan *batch) error {
	for {
		x := &batch{}
		select {
		case x = <-free:
			x.events, x.tasks = x.events[:0], x.tasks[:0]
		default:
			x.events = make([]trace.Event, 0, batchLen)
		}
		var err error
		for len(x.events) < batchLen && err == nil {
			var ev trace.Event
			if ev, err = next(read); err != nil {
				break
			}
			if k := ev.Kind(); k == trace.EventTaskBegin || k == trace.EventTaskEnd {
				x.tasks = append(x.tasks, ev.Task())
			}
			x.events = append(x.events, ev)
		}
		select {
		case out <- x:
		case <-ctx.Done():
			return ctx.Err()
		}
		if err != nil {
			return err
		}
	}
}
