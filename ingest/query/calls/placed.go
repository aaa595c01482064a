package calls

import (
	"context"
	"slices"
	"strings"
	"sync"
	"weak"

	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/scan"
)

// placed caches the places of the calls of some functions in a recording, and the
// duration of each. Drawing over a histogram asks about the same functions again and
// again, and most spans of a recording belong to other functions.
type placed struct {
	rec   weak.Pointer[recording.Recording]
	of    string
	lanes [][]placedLane // by track and lane
}

// placedLane holds the calls on one lane, in order, as columns.
type placedLane struct {
	spans []int
	took  []int64
}

// mostPlaced is the largest number of calls to cache; at 16 bytes each that is 64 MB.
const mostPlaced = 4 << 20

// lastPlaced holds the two most recent lookups, for example for the two sides of a
// comparison.
var lastPlaced struct {
	sync.Mutex
	all [2]*placed
}

// place finds the places of the calls of the functions. It uses the cache. If they are
// not cached, it looks at the whole recording only if the scope covers at least half of
// it: that costs little more than looking at the scope, and fills the cache.
func (l *lookup) place(ctx context.Context, items []scan.Stretch) error {
	var n int64
	for c, is := range l.is {
		if is && c < len(l.rec.SpanCount) {
			n += l.rec.SpanCount[c]
		}
	}
	if l.anybody || n > mostPlaced {
		return nil
	}
	of := strings.Join(l.q.Functions, "\x00")
	lastPlaced.Lock()
	defer lastPlaced.Unlock()
	k := slices.IndexFunc(lastPlaced.all[:], func(p *placed) bool { return p != nil && p.of == of && p.rec.Value() == l.rec })
	if k < 0 {
		whole := scan.Cut(l.reached(scan.Lanes(l.rec, recording.Scope{}))...)
		if 2*length(items) < length(whole) {
			return nil
		}
		p := &placed{weak.Make(l.rec), of, nil}
		var err error
		if p.lanes, err = l.allPlaced(ctx, whole); err != nil {
			return err
		}
		lastPlaced.all[1], k = p, 1
	}
	lastPlaced.all[0], lastPlaced.all[k] = lastPlaced.all[k], lastPlaced.all[0]
	l.placed = lastPlaced.all[0].lanes
	return nil
}

func length(items []scan.Stretch) (n int) {
	for i := range items {
		n += items[i].Len()
	}
	return n
}

// allPlaced looks at all spans that may be calls of the functions.
func (l *lookup) allPlaced(ctx context.Context, items []scan.Stretch) ([][]placedLane, error) {
	pieces := make([]placedLane, len(items))
	err := scan.Spread(ctx, len(items), func(_, i int) {
		s, p := &items[i], &pieces[i]
		s.EachCall(func(first int, calls []recording.CallID) {
			for k, c := range calls {
				if l.is[c] {
					p.spans = append(p.spans, first+k)
					p.took = append(p.took, s.Lane.Duration(first+k))
				}
			}
		})
	})
	lanes := make([][]placedLane, len(l.rec.Tracks))
	for i, t := range l.rec.Tracks {
		lanes[i] = make([]placedLane, len(t.Lanes))
	}
	for i := range items {
		to := &lanes[items[i].Track][items[i].Row]
		to.spans, to.took = append(to.spans, pieces[i].spans...), append(to.took, pieces[i].took...)
	}
	return lanes, err
}
