package timeline

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"ashlar/ingest/input/memory"
	"ashlar/ingest/model/lanes"
	"ashlar/ingest/model/recording"
)

// processOrder sorts processes in the order that the file asks for, else in file order;
// processes that have only instants come last. A system-wide profile lists its processes
// in no order, idle kernel threads first, so once it has been read, the processes with
// the most samples come first.
func processOrder(rec *recording.Recording) []int {
	order := make([]int, len(rec.Processes))
	bare := make([]int, len(rec.Processes))
	samples := make([]int, len(rec.Processes))
	for i := range order {
		order[i], bare[i] = i, 1
	}
	sampled := rec.Done && rec.Counts.Spans == 0
	for _, t := range rec.Tracks {
		if len(t.Lanes)+len(t.Open)+len(t.Samples)+t.States.Len() > 0 {
			bare[t.Process] = 0
		}
		for _, s := range t.Samples {
			if sampled {
				samples[t.Process] += s.Len()
			}
		}
	}
	for _, c := range rec.Counters {
		bare[c.Process] = 0
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(bare[a], bare[b]), cmp.Compare(rec.Processes[a].Sort, rec.Processes[b].Sort), cmp.Compare(samples[b], samples[a]))
	})
	return order
}

// rowBytes is the memory that a row takes during layout and drawing. If memory is too
// short for a row for each of very many threads, only the first fewRows are shown.
const (
	rowBytes = 256
	fewRows  = 1 << 15
)

// byProcess lists the visible tracks of each process in their order, and the pinned
// tracks separately; unseen is the number of tracks left out. It does not sort grouped
// tracks, because most groups are closed; order compares two tracks to sort them later.
func byProcess(rec *recording.Recording, l Layout) (groups [][]int, pinned []int, unseen int, order func(a, b int) int) {
	groups = make([][]int, len(rec.Processes))
	filter := newFilter(rec, l.Filter)
	most := len(rec.Tracks)
	if memory.NeedEach(most, rowBytes, "the timeline") != nil {
		most = fewRows
	}
	for i, t := range rec.Tracks {
		switch {
		case l.Hidden[i], most == 0, !filter.has(t.Process, t.TID, func() string { return TrackName(t) }):
			unseen++
		case slices.Contains(l.Pinned, i):
		default:
			groups[t.Process] = append(groups[t.Process], i)
			most--
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
	still := quiet(rec)
	var load []float64
	if l.Sort == SortBusy {
		load = make([]float64, len(rec.Tracks))
		for i := range rec.Tracks {
			load[i] = weight(rec, i, l.Event)
		}
	}
	order = func(a, b int) int {
		if len(rank) > 0 {
			if c := cmp.Compare(rank[a], rank[b]); c != 0 {
				return c
			}
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
		return cmp.Or(cmp.Compare(x.Sort, y.Sort), cmp.Compare(still[a], still[b]))
	}
	for pi, g := range groups {
		if !rec.Processes[pi].Grouped {
			sortTracks(g, order)
		}
	}
	return groups, pinned, unseen, order
}

// sortTracks sorts tracks unless they are sorted already, as hundreds of thousands of
// tracks usually are.
func sortTracks(tracks []int, order func(a, b int) int) {
	if !slices.IsSortedFunc(tracks, order) {
		slices.SortStableFunc(tracks, order)
	}
}

// quiet grades each thread by its samples of the default event: 0 for most threads, 1 for
// less than a tenth of the samples of the busiest thread, 2 for none. All grades are 0
// unless that event is sampled and the file has been read in full. Quiet threads are
// sorted last, because a Java recording, for example, begins with the threads of the
// garbage collector.
func quiet(rec *recording.Recording) []int8 {
	out := make([]int8, len(rec.Tracks))
	if !rec.Done || len(rec.Events) == 0 || rec.Events[rec.DefaultEvent()].Basis != recording.FromSamples {
		return out
	}
	samples, most := make([]int, len(rec.Tracks)), 0
	for i, t := range rec.Tracks {
		if s := t.SamplesOf(rec.DefaultEvent()); s != nil {
			samples[i] = s.Len()
			most = max(most, samples[i])
		}
	}
	for i, n := range samples {
		switch {
		case n == 0:
			out[i] = 2
		case n < most/10:
			out[i] = 1
		}
	}
	return out
}

// weight returns how much a track contains: the time its outermost spans cover, or the
// number of samples.
func weight(rec *recording.Recording, ti, event int) float64 {
	t := rec.Tracks[ti]
	if t.States.Len() > 0 {
		return float64(onProcessor(t))
	}
	if len(t.Lanes) > 0 {
		return covered(rec, t)
	}
	if s := t.SamplesOf(event); s != nil {
		return float64(s.Len())
	}
	return 0
}

// covered returns the time that a track's outermost spans cover.
func covered(rec *recording.Recording, t *recording.Track) float64 {
	var sum float64
	cover(rec, t).Walk(rec.Start, rec.End+1, math.MaxInt64, func(b *lanes.Bar) bool {
		sum += float64(b.Busy)
		return true
	})
	return sum
}

// TrackName returns the name of a track.
func TrackName(t *recording.Track) string {
	if t.Name != "" {
		return t.Name
	}
	if id := recording.IDText(t.TID); t.TID != 0 && id != "" {
		return "Thread " + id
	}
	return "Thread"
}

// NameAndID returns the name of a track followed by its id, which distinguishes it from
// other tracks of the same name.
func NameAndID(t *recording.Track) string {
	if t.Name != "" {
		return t.Label()
	}
	return TrackName(t)
}

// nameFilter selects rows whose names contain all words and none of the words marked with
// !.
type nameFilter struct {
	words, not []string
	processes  []bool // by process: whether its own name contains all words
}

func newFilter(rec *recording.Recording, text string) *nameFilter {
	f := &nameFilter{}
	for _, w := range strings.Fields(strings.ToLower(text)) {
		if no, ok := strings.CutPrefix(w, "!"); !ok {
			f.words = append(f.words, w)
		} else if no != "" {
			f.not = append(f.not, no)
		}
	}
	if len(f.words) == 0 {
		return f
	}
	for i := range rec.Processes {
		p := &rec.Processes[i]
		f.processes = append(f.processes, f.all(p.Title(), p.PID))
	}
	return f
}

// has reports whether a row is shown: every word must be in the row's name or id, or in
// its process's, and no excluded word may be in the row's own name.
func (f *nameFilter) has(process int, id int64, called func() string) bool {
	if len(f.words)+len(f.not) == 0 {
		return true
	}
	name := called()
	for _, w := range f.not {
		if hasWord(strings.ToLower(name), id, w) {
			return false
		}
	}
	return len(f.words) == 0 || f.processes[process] || f.all(name, id)
}

// all reports whether every word is part of a name or equals an id.
func (f *nameFilter) all(name string, id int64) bool {
	name = strings.ToLower(name)
	return !slices.ContainsFunc(f.words, func(w string) bool { return !hasWord(name, id, w) })
}

func hasWord(name string, id int64, w string) bool {
	return strings.Contains(name, w) || strconv.FormatInt(id, 10) == w
}
