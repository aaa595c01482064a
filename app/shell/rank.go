package shell

import (
	"context"

	"ashlar/ingest/recording"
	"ashlar/ingest/spans"
	"ashlar/render/units"
)

// rankPart counts in the background how many spans of the picked one's function
// are longer.
type rankPart struct {
	want, have rankKey
	text       string
	cancel     context.CancelFunc
	answers    chan rankAnswer
}

type rankKey struct {
	rec      *recording.Recording
	fn       recording.FuncID
	duration int64
}

type rankAnswer struct {
	of          rankKey
	longer, all int64
}

// of says which place a span has among those of its function; "" until it is
// known.
func (r *rankPart) of(s *Shell, rec *recording.Recording, fn recording.FuncID, duration int64) string {
	if r.answers == nil {
		r.answers = make(chan rankAnswer, 8)
	}
	k := rankKey{rec, fn, duration}
	if k != r.want {
		if r.cancel != nil {
			r.cancel()
		}
		var ctx context.Context
		ctx, r.cancel = context.WithCancel(context.Background())
		r.want = k
		count := func() {
			if longer, all, err := spans.RankOf(ctx, rec, fn, duration); err == nil {
				select {
				case r.answers <- rankAnswer{k, longer, all}:
					s.wake()
				case <-ctx.Done():
				}
			}
		}
		if s.Do.Wake == nil {
			count()
		} else {
			go count()
		}
	}
	for {
		select {
		case a := <-r.answers:
			if a.of == k {
				r.have, r.text = k, rankText(a.longer+1, a.all)
			}
			continue
		default:
		}
		break
	}
	if r.have != k {
		return ""
	}
	return r.text
}

func rankText(place, all int64) string {
	switch {
	case all == 1:
		return "the only one"
	case place == 1:
		return "longest of " + units.Count(all)
	}
	return units.Count(place) + ordinal(place) + " longest of " + units.Count(all)
}

// ordinal is what follows a number that counts places: st, nd, rd or th.
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
