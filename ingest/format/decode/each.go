package decode

import (
	"context"
	"time"

	"ashlar/ingest/input/source"
	"ashlar/ingest/model/recording"
)

// quiet is the time without input after which the data read so far is published.
const quiet = 50 * time.Millisecond

// Each calls do with everything received from a channel, until the channel is closed or
// do fails, and calls b.Progress after each call. Once b is stopped, it discards the
// rest. It also calls b.Progress while nothing arrives, since a pipe may fall silent
// before the latest data was published. Each is for decoders whose builder is fed by
// another goroutine that reads the input; a decoder that does both uses
// [source.Input.OnSilence].
func Each[T any](b *recording.Builder, from <-chan T, do func(T) error) error {
	tick := time.NewTicker(quiet)
	defer tick.Stop()
	published := true
	for {
		select {
		case v, ok := <-from:
			if !ok {
				return nil
			}
			if b.Stopped() {
				continue // discard data that was read ahead
			}
			if err := do(v); err != nil {
				return err
			}
			published = b.Progress()
		case <-tick.C:
			published = published || b.Progress()
		}
	}
}

// scarceDepth is the maximum number of batches between two goroutines if memory is
// scarce.
const scarceDepth = 4

// Depth returns the number of batches that may wait between two goroutines that read an
// input: most, or only a few if memory is scarce. On a busy machine the queue is always
// full.
func Depth(in *source.Input, most int) int {
	if in.InPlace {
		return min(most, scarceDepth)
	}
	return most
}

// Beside runs read in a goroutine of its own. read reads the input and sends its results
// to out, in order; do handles them as in [Each]. The channel has room for ahead results,
// fewer if memory is scarce (see [Depth]). An error of read or do ends both; Beside
// returns the error of do, else the error of read. The ctx of read ends when no more
// results are handled.
func Beside[T any](ctx context.Context, in *source.Input, b *recording.Builder, ahead int, read func(ctx context.Context, out chan<- T) error, do func(T) error) error {
	ctx, cancel := context.WithCancel(ctx)
	out, failed := make(chan T, Depth(in, ahead)), make(chan error, 1)
	go func() {
		defer close(out)
		failed <- source.Protect(in.Path, func() error { return read(ctx, out) })
	}()
	taken := false
	defer func() {
		cancel()
		if !taken {
			in.Stop() // do failed, or panicked: reading may wait for a pipe
		}
		for range out { // let read finish
		}
	}()
	if err := source.Guard(in.Path, func() error { return Each(b, out, do) }); err != nil {
		return err
	}
	taken = true
	return <-failed
}
