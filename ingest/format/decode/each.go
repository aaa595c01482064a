package decode

import (
	"context"
	"time"

	"ashlar/ingest/input/source"
	"ashlar/ingest/model/recording"
)

// quiet is how long nothing may come before what came is shown.
const quiet = 50 * time.Millisecond

// Each hands everything that comes out of a channel to do, until the channel is
// closed or do fails, except for what is left once b is stopped, and calls b.Progress after
// each; also while nothing comes, since a pipe may have fallen silent before the latest was
// published. It is for
// decoders whose builder is fed by another goroutine, which reads the input; one
// that does both uses [source.Input.OnSilence].
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
				continue // what was read ahead
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

// scarceDepth is how many batches wait between two goroutines where memory is scarce.
const scarceDepth = 4

// Depth returns how many batches may wait between two goroutines that read an input: most
// of them, or a few where memory is scarce. On a busy machine the queue is always full.
func Depth(in *source.Input, most int) int {
	if in.InPlace {
		return min(most, scarceDepth)
	}
	return most
}

// Beside runs read in a goroutine of its own, which reads the input and hands what it made
// of it to out, in order; do takes that as [Each] says. The channel has room for ahead of
// them, which [Depth] bounds where memory is scarce. The first error ends both: do's, or else that of read, whose ctx ends when nothing
// is taken any more.
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
		for range out { // let it end
		}
	}()
	if err := source.Guard(in.Path, func() error { return Each(b, out, do) }); err != nil {
		return err
	}
	taken = true
	return <-failed
}
