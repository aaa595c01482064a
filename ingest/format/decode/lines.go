package decode

import (
	"bytes"
	"context"
	"io"

	"ashlar/ingest/input/source"
	"ashlar/ingest/model/recording"
)

// mostOfLine is the maximum length of a line for Lines, MaxLine the maximum for
// WholeLines, in bytes.
const (
	mostOfLine = 1 << 20
	MaxLine    = 16 << 20
)

// Lines calls do with each line of an input, without surrounding white space, and calls
// b.Progress in between. A line of more than a megabyte is truncated. Lines returns at
// the end of the input, when ctx ends, or if do fails.
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

// WholeLines calls do with each line of the input, without its newline; ended reports
// whether the line ended with one. next returns the input in chunks, like
// [source.Input.Next]. For a line of more than MaxLine bytes, WholeLines calls long
// instead. Otherwise it is like Lines.
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

// lines calls do for each line. For a line of more than most bytes, over is true and line
// holds only its beginning.
func lines(ctx context.Context, next func(rest int) ([]byte, error), b *recording.Builder, most int, do func(line []byte, ended, over bool) error) error {
	const stride = 1024 // number of lines between calls of b.Progress
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
