package decode

import (
	"context"

	"ashlar/ingest/input/jsonscan"
	"ashlar/ingest/input/source"
	"ashlar/ingest/model/recording"
)

// JSON reads a JSON file as it arrives: read takes the known parts from the stream.
// Meanwhile the data read so far is published, and the end of ctx stops reading. For a
// truncated or damaged file, it adds a warning and keeps the part before the damage.
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

// LeaveValue counts a value that is not a record of the expected kind as left out, and
// warns. noun names the kind, with its article; from is the offset of the value.
func LeaveValue(b *recording.Builder, t *recording.Tally, code string, from int64, noun string) {
	t.Read++
	t.Leave(Byte(from))
	b.Warn(code, Byte(from), "The value at byte %d is not %s and was left out", from, noun)
}

// Tick publishes the data read so far. It returns ctx's error once ctx has ended.
func Tick(ctx context.Context, b *recording.Builder) error {
	b.Progress()
	return ctx.Err()
}
