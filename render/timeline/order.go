package timeline

import (
	"cmp"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"

	"ashlar/ingest/recording"
)

// processOrder sorts processes as the file asks, then as they came.
func processOrder(rec *recording.Recording) []int {
	order := make([]int, len(rec.Processes))
	for i := range order {
		order[i] = i
	}
	sort.SliceStable(order, func(a, b int) bool { return rec.Processes[order[a]].Sort < rec.Processes[order[b]].Sort })
	return order
}

// byProcess lists the tracks of each process that are shown, in their order,
// and apart from them the pinned ones.
func byProcess(rec *recording.Recording, l Layout) (groups [][]int, pinned []int) {
	groups = make([][]int, len(rec.Processes))
	filter := newFilter(rec, l.Filter)
	for i, t := range rec.Tracks {
		switch {
		case l.Hidden[i], !filter.has(t.Process, TrackName(t), t.TID):
		case slices.Contains(l.Pinned, i):
		default:
			groups[t.Process] = append(groups[t.Process], i)
		}
	}
	for _, i := range l.Pinned {
		if i < len(rec.Tracks) && !l.Hidden[i] {
			pinned = append(pinned, i)
		}
	}
	rank := map[int]int{}
	for k, i := range l.Order {
		rank[i] = k - len(l.Order)
	}
	var load map[int]float64
	if l.Sort == SortBusy {
		load = map[int]float64{}
		for i := range rec.Tracks {
			load[i] = weight(rec, i, l.Event)
		}
	}
	for _, g := range groups {
		slices.SortStableFunc(g, func(a, b int) int {
			if c := cmp.Compare(rank[a], rank[b]); c != 0 {
				return c
			}
			x, y := rec.Tracks[a], rec.Tracks[b]
			if c := cmp.Compare(x.Kind, y.Kind); c != 0 {
				return c
			}
			switch l.Sort {
			case SortName:
				if c := strings.Compare(TrackName(x), TrackName(y)); c != 0 {
					return c
				}
				return cmp.Compare(x.TID, y.TID)
			case SortBusy:
				return cmp.Compare(load[b], load[a])
			}
			return cmp.Compare(x.Sort, y.Sort)
		})
	}
	return groups, pinned
}

// weight says how much there is on a track: the time its outermost spans
// cover, or the number of samples.
func weight(rec *recording.Recording, ti, event int) float64 {
	t := rec.Tracks[ti]
	if len(t.Lanes) > 0 {
		return covered(rec, t)
	}
	if s := t.SamplesOf(event); s != nil {
		return float64(s.Len())
	}
	return 0
}

// covered is how much time a track's outermost spans cover.
func covered(rec *recording.Recording, t *recording.Track) float64 {
	var sum float64
	t.Lanes[0].Walk(rec.Start, rec.End+1, math.MaxInt64, func(b *recording.Bar) bool {
		sum += float64(b.Busy)
		return true
	})
	return sum
}

// TrackName is the name of a track.
func TrackName(t *recording.Track) string {
	if t.Name != "" {
		return t.Name
	}
	if id := recording.IDText(t.TID); t.TID != 0 && id != "" {
		return "Thread " + id
	}
	return "Thread"
}

// nameFilter chooses rows by their names.
type nameFilter struct {
	words     []string
	processes []bool // whose own name has all the words
}

func newFilter(rec *recording.Recording, text string) *nameFilter {
	f := &nameFilter{words: strings.Fields(strings.ToLower(text))}
	if len(f.words) == 0 {
		return f
	}
	for i := range rec.Processes {
		p := &rec.Processes[i]
		f.processes = append(f.processes, f.in(p.Title(), p.PID))
	}
	return f
}

// has reports whether a row is shown: every word stands in its name or number, or
// in its process's.
func (f *nameFilter) has(process int, name string, id int64) bool {
	return len(f.words) == 0 || f.processes[process] || f.in(name, id)
}

func (f *nameFilter) in(name string, id int64) bool {
	name = strings.ToLower(name)
	for _, w := range f.words {
		if !strings.Contains(name, w) && strconv.FormatInt(id, 10) != w {
			return false
		}
	}
	return true
}
