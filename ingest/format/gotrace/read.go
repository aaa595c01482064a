package gotrace

import (
	"context"

	"ashlar/ingest/format/decode"
	"ashlar/ingest/format/gotrace/wire"
	"ashlar/ingest/input/source"
)

// A reader appends events in order while the slice has room, and returns the error that
// ended them.
type reader interface {
	Read(to []wire.Event) ([]wire.Event, error)
}

// batchLen is the number of events passed on at once.
const batchLen = 512

// each passes all events to d, in order, until the end (io.EOF) or an error. Another
// goroutine reads ahead.
func (d *decoder) each(ctx context.Context, in *source.Input, from reader) error {
	const some = 8
	free := make(chan []wire.Event, some+2)
	read := func(ctx context.Context, out chan<- []wire.Event) error { return ahead(ctx, from, out, free) }
	return decode.Beside(ctx, in, d.b, some, read, func(x []wire.Event) error {
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
}

// ahead reads events and sends them to out.
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
