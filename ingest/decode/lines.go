package decode

import (
	"bytes"
	"context"
	"io"

	"ashlar/ingest/recording"
	"ashlar/ingest/source"
)

// maxLine is how long a line may be; what is longer is cut there.
const maxLine = 1 << 20

// Lines hands each line of an input to do, without its end and without white space
// around it, and calls b.Progress in between. It ends with the input, with ctx, and
// with an error of do.
func Lines(ctx context.Context, in *source.Input, b *recording.Builder, do func(line []byte) error) error {
	in.OnSilence(b.Progress)
	rest, skipping := 0, false
	for {
		chunk, _, err := in.Next(rest)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		for n := 0; len(chunk) > 0; n++ {
			line, after, found := bytes.Cut(chunk, []byte{'\n'})
			long := len(chunk) > maxLine && len(line) > maxLine
			if !found && err == nil && !long {
				break
			}
			chunk = after
			if !skipping {
				if long {
					line = line[:maxLine]
				}
				if err := do(bytes.TrimSpace(line)); err != nil {
					return err
				}
			}
			skipping = !found && err == nil
			if n%8192 == 0 {
				b.Progress()
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		rest = len(chunk)
	}
}
