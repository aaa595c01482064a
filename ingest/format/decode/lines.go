package decode

import (
	"bytes"
	"context"
	"io"

	"ashlar/ingest/input/source"
	"ashlar/ingest/model/recording"
)

// mostOfLine is how long a line may be for Lines, MaxLine how long for WholeLines.
const (
	mostOfLine = 1 << 20
	MaxLine    = 16 << 20
)

// Lines hands each line of an input to do, without its end and without white space
// around it, and calls b.Progress in between. A line of more than a megabyte is cut
// there. It ends with the input, with ctx, and with an error of do.
func Lines(ctx context.Context, in *source.Input, b *recording.Builder, do func(line []byte) error) error {
	in.OnSilence(b.Progress)
	next := func(rest int) ([]byte, error) {
		chunk, _, err := in.Next(rest)
		return chunk, err
	}
	return lines(ctx, next, b, mostOfLine, func(line []byte, _, _ bool) error {
		return do(bytes.TrimSpace(line[:min(len(line), mostOfLine)]))
	})
}

// WholeLines hands each line of what next gives, as [source.Input.Next] does, to do,
// without its end; ended says that it had one. In place of a line of more than MaxLine
// bytes it calls long. Else it is like Lines.
func WholeLines(ctx context.Context, next func(rest int) ([]byte, error), b *recording.Builder, long func(), do func(line []byte, ended bool)) error {
	return lines(ctx, next, b, MaxLine, func(line []byte, ended, over bool) error {
		if over {
			long()
		} else {
			do(line, ended)
		}
		return nil
	})
}

// lines calls do for each line; of one that is over most bytes do gets the beginning.
func lines(ctx context.Context, next func(rest int) ([]byte, error), b *recording.Builder, most int, do func(line []byte, ended, over bool) error) error {
	const stride = 1024 // lines between looks at the clock
	rest, skipping := 0, false
	for n := 1; ; {
		chunk, err := next(rest)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		for len(chunk) > 0 {
			line, after, ended := bytes.Cut(chunk, []byte{'\n'})
			over := len(line) > most
			if !ended && err == nil && !over {
				break
			}
			chunk = after
			if !skipping {
				if err := do(line, ended, over); err != nil {
					return err
				}
			}
			skipping = !ended && err == nil
			if n++; n%stride == 0 {
				b.Progress()
				if ctx.Err() != nil {
					return ctx.Err()
				}
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		rest = len(chunk)
		b.Progress()
	}
}
