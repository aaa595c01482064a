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

// ReadJSON reads a file of JSON that a tool wrote: spans hands what it finds in the
// stream to the collector, and what was found becomes the recording. A file without
// spans is an error, one that is cut or damaged keeps what was before that.
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

// ID reads an id of a span or a trace; one of only zeros is none.
func ID(raw []byte) string {
	s := jsonscan.Plain(raw)
	if strings.Trim(s, "0") == "" {
		return ""
	}
	return s
}
