package distributed

import (
	"context"
	"errors"
	"strings"

	"ashlar/ingest/format/decode"
	"ashlar/ingest/input/jsonscan"
	"ashlar/ingest/input/source"
	"ashlar/ingest/model/recording"
)

// ReadJSON reads a JSON file from a tool into a recording; spans reads the stream and
// adds its spans to the collector. A file without spans is an error. If a file is cut or
// damaged, the part before the damage is kept.
func ReadJSON(ctx context.Context, in *source.Input, b *recording.Builder, tool string, spans func(*jsonscan.Stream, *Collector)) error {
	in.OnSilence(b.Progress)
	s := jsonscan.NewStream(in, func() error { return decode.Tick(ctx, b) })
	b.Source().Tool = tool
	c := NewCollector(b)
	spans(s, c)
	if err := s.Err(); err != nil && ctx.Err() != nil {
		return err
	}
	decode.WarnDamage(b, s.Damage, s.Cut)
	if err := c.Build(ctx); err != nil {
		return err
	}
	if c.Len() == 0 && s.Err() == nil {
		return errors.New("the file has no spans")
	}
	return s.Err()
}

// ID decodes the id of a span or trace; an id of only zeros becomes "".
func ID(raw []byte) string {
	s := jsonscan.Plain(raw)
	if strings.Trim(s, "0") == "" {
		return ""
	}
	return s
}
