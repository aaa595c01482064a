package gotrace

import (
	"context"

	"ashlar/ingest/decode"
	"ashlar/ingest/gotrace/wire"
	"ashlar/ingest/source"
)

// reader gives events in order, as far as there is room behind those that there are, and
// says what ended them.
type reader interface {
	Read(to []wire.Event) ([]wire.Event, error)
}

// batchLen is how many events are handed over at once.
const batchLen = 512

// each hands all events to d, in order, until there are no more (io.EOF) or they cannot
// be read. Another goroutine reads ahead a little.
func (d *decoder) each(ctx context.Context, in *source.Input, from reader) error {
	ctx, cancel := context.WithCancel(ctx)
	const some = 8
	out, free := make(chan []wire.Event, some), make(chan []wire.Event, some+2)
	failed := make(chan error, 1)
	go func() {
		defer close(out)
		failed <- source.Protect(in.Path, func() error { return ahead(ctx, from, out, free) })
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
	_ = decode.Each(d.b, out, func(x []wire.Event) error {
		d.events(x)
		if cap(x)-len(x) > wire.Most {
			d.flush() // the next generation may come a second later
		}
		select {
		case free <- x[:0]:
		default:
		}
		return nil
	})
	done = true
	return <-failed
}

// ahead reads events.
func ahead(ctx context.Context, from reader, out chan<- []wire.Event, free <-chan []wire.Event) error {
	for {
		var x []wire.Event
		select {
		case x = <-free:
		default:
			x = make([]wire.Event, 0, batchLen)
		}
		x, err := from.Read(x)
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
