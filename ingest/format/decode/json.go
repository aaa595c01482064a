package decode

import (
	"context"

	"ashlar/ingest/input/jsonscan"
	"ashlar/ingest/input/source"
	"ashlar/ingest/model/recording"
)

// JSON reads a file of JSON as it comes in: read takes from the stream what it knows.
// Meanwhile what has been read is published, and ctx ends it. A file that is cut or
// damaged has a warning, and what stands before is kept.
func JSON(ctx context.Context, in *source.Input, b *recording.Builder, read func(s *jsonscan.Stream)) error {
	in.OnSilence(b.Progress)
	s := jsonscan.NewStream(in, func() error { return Tick(ctx, b) })
	read(s)
	if err := s.Err(); err != nil {
		return err
	}
	WarnDamage(b, s.Damage, s.Cut)
	return nil
}

// Tick publishes what has been read so far, and returns why reading is to end, nil as
// long as it is not.
func Tick(ctx context.Context, b *recording.Builder) error {
	b.Progress()
	return ctx.Err()
}
