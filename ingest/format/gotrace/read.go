package gotrace

import (
	"context"

	"ashlar/ingest/format/decode"
	"ashlar/ingest/format/gotrace/wire"
	"ashlar/ingest/input/source"
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
