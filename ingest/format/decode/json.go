package decode

import (
	"context"

	"ashlar/ingest/input/jsonscan"
	"ashlar/ingest/input/source"
	"ashlar/ingest/model/recording"
)

// JSON reads a file of JSON as it comes in: read takes from the stream what it knows.
// Meanwhile what has been read is published, and ctx ends it. A file that is cut or
// damaged has a warning, and what is before is kept.
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

// LeaveValue counts a value that is no record of a kind, which noun names with its
// article, and warns of it. from is the byte where it stands.
func LeaveValue(b *recording.Builder, t *recording.Tally, code string, from int64, noun string) {
	t.Read++
	t.Leave(Byte(from))
	b.Warn(code, Byte(from), "The value at byte %d is not %s and was left out", from, noun)
}

// Tick publishes what has been read so far, and returns why reading is to end, nil as
// long as it is not.
func Tick(ctx context.Context, b *recording.Builder) error {
	b.Progress()
	return ctx.Err()
}
