package analyze

import (
	"sort"

	"ashlar/ingest/model/recording"
)

// cover chooses windows for the range from..to. None overlaps another, so that nothing is
// counted twice if a file has windows of both seconds and minutes. Of all such choices it
// returns the one that covers most of the range, then the least time outside it, then the
// one with the finest windows, in order of time.
func cover(ws []recording.Window, from, to int64) []int {
	var touch []int
	for i := range ws {
		if ws[i].Start < to && ws[i].End > from {
			touch = append(touch, i)
		}
	}
	sort.SliceStable(touch, func(a, b int) bool {
		x, y := &ws[touch[a]], &ws[touch[b]]
		if x.End != y.End {
			return x.End < y.End
		}
		return x.Start < y.Start
	})
	// best[k] is the merit of the best choice among the first k windows; took[k] reports
	// whether that choice includes window k-1, and before[k] is the number of windows
	// that end by its start.
	best := make([]merit, len(touch)+1)
	took := make([]bool, len(touch)+1)
	before := make([]int, len(touch)+1)
	for k, i := range touch {
		w := &ws[i]
		p := sort.Search(k, func(j int) bool { return ws[touch[j]].End > w.Start })
		in := min(w.End, to) - max(w.Start, from)
		with := best[p].plus(merit{in, in - (w.End - w.Start), 1})
		best[k+1], before[k+1] = best[k], p
		if best[k].less(with) {
			best[k+1], took[k+1] = with, true
		}
	}
	var taken []int
	for k := len(touch); k > 0; {
		if took[k] {
			taken = append(taken, touch[k-1])
			k = before[k]
		} else {
			k--
		}
	}
	sort.Slice(taken, func(a, b int) bool {
		x, y := &ws[taken[a]], &ws[taken[b]]
		if x.Start != y.Start {
			return x.Start < y.Start
		}
		return taken[a] < taken[b]
	})
	return taken
}

// merit ranks a choice of windows: more time covered in the range is better, then less
// time covered outside it (beside is minus that time), then more windows.
type merit struct{ in, beside, n int64 }

func (a merit) plus(b merit) merit { return merit{a.in + b.in, a.beside + b.beside, a.n + b.n} }

func (a merit) less(b merit) bool {
	if a.in != b.in {
		return a.in < b.in
	}
	if a.beside != b.beside {
		return a.beside < b.beside
	}
	return a.n < b.n
}
