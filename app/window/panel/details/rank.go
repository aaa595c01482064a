package details

import (
	"context"

	"ashlar/app/core/session"
	"ashlar/app/window/panel"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/spans"
	"ashlar/render/units"
)

// rankPart finds the rank of the selected span: how many spans of its function are
// longer.
type rankPart struct {
	session.Async[rankKey, string]
}

type rankKey struct {
	rec      *recording.Recording
	fn       recording.FuncID
	duration int64
}

// of describes the rank of a span among those of its function; "" until it is known.
func (r *rankPart) of(s *panel.Host, k rankKey) string {
	text, of, _ := r.Ask(k, s.Do.Wake, func(ctx context.Context) (string, error) {
		longer, all, err := spans.RankOf(ctx, k.rec, k.fn, k.duration)
		return rankText(longer+1, all), err
	})
	if of != k {
		return ""
	}
	return text
}

func rankText(place, all int64) string {
	switch {
	case all == 1:
		return "the only call"
	case place == 1:
		return "longest of " + units.Count(all)
	}
	return units.Count(place) + ordinal(place) + " longest of " + units.Count(all)
}

// ordinal returns the suffix of an ordinal number: st, nd, rd or th.
func ordinal(n int64) string {
	if n/10%10 != 1 {
		switch n % 10 {
		case 1:
			return "st"
		case 2:
			return "nd"
		case 3:
			return "rd"
		}
	}
	return "th"
}
