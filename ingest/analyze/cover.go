package analyze

import (
	"sort"

	"ashlar/ingest/recording"
)

// cover chooses the windows that answer for from..to: the finest ones that
// touch it, none overlapping another, so that nothing is counted twice where a
// file has both seconds and minutes. They come back in order of time.
func cover(ws []recording.Window, from, to int64) []int {
	var touch []int
	for i := range ws {
		if ws[i].Start < to && ws[i].End > from {
			touch = append(touch, i)
		}
	}
	sort.SliceStable(touch, func(a, b int) bool {
		x, y := &ws[touch[a]], &ws[touch[b]]
		if dx, dy := x.End-x.Start, y.End-y.Start; dx != dy {
			return dx < dy
		}
		return x.Start < y.Start
	})
	// Taken windows never overlap, so in order of start they are also in
	// order of end, and only the neighbours of a place can be in the way.
	var taken []int
	for _, i := range touch {
		at := sort.Search(len(taken), func(k int) bool { return ws[taken[k]].Start >= ws[i].Start })
		if at < len(taken) && ws[taken[at]].Start < ws[i].End {
			continue
		}
		if at > 0 && ws[taken[at-1]].End > ws[i].Start {
			continue
		}
		taken = append(taken, 0)
		copy(taken[at+1:], taken[at:])
		taken[at] = i
	}
	return taken
}
