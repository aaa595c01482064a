package decode

import (
	"time"

	"ashlar/ingest/recording"
)

// quiet is how long nothing may come before what came is shown.
const quiet = 50 * time.Millisecond

// Each hands everything that comes out of a channel to do, until the channel is
// closed or do fails, but for what is left once b is stopped, and calls b.Progress after each; also while nothing comes,
// since a pipe may have fallen silent before the latest was published. It is for
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
