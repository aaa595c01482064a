package pathreport

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"ashlar/app/core/tabular"
	"ashlar/ingest/input/safetext"
	"ashlar/ingest/model/lanes"
	"ashlar/ingest/model/order"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/repeat"
	"ashlar/render/units"
)

// Candidate is a function on another thread that runs during waits on the paths whose end is not
// recorded or, for a thread without states, during the calls themselves. Of Waits such periods,
// Overlaps overlap it; of Others, periods of the same length elsewhere, Elsewhere do. Covered is
// the fraction of the waits in which it ran. This is an association, not a proof.
type Candidate struct {
	Function  string      `json:"function"`
	Thread    string      `json:"thread"`
	TID       string      `json:"tid"`
	Overlaps  int         `json:"overlaps"`
	Waits     int         `json:"waits"`
	Elsewhere int         `json:"elsewhere"`
	Others    int         `json:"others"`
	Covered   json.Number `json:"covered"`

	covered float64
	track   int
}

// mostCandidates is the maximum number of candidates.
const mostCandidates = 5

// findCandidates sets Candidates from the waits on the track with the most.
func (a *Answer) findCandidates(ctx context.Context, in recording.Scope) error {
	a.Candidates = []Candidate{}
	track, times, others := a.waits(in)
	if len(times) == 0 {
		return nil
	}
	all, err := repeat.Overlaps(ctx, a.rec, func(t int) bool { return t != track && !a.rec.IsProcessor(t) }, times, others)
	if err != nil {
		return err
	}
	for _, o := range all[:min(len(all), mostCandidates)] {
		a.Candidates = append(a.Candidates, Candidate{a.rec.Functions.At(int(o.Function)).Name, Thread(a.rec, o.Track), tid(a.rec, o.Track), o.Hits, o.Times, o.Elsewhere, o.Others,
			json.Number(fmt.Sprintf("%.4f", o.Covered)), o.Covered, o.Track})
	}
	return nil
}

// waits returns the unexplained waits on the track that has the most, and for comparison the
// times when that track did not wait. If there are none, waits look like work, as on tracks
// without states: then it returns the requested calls and the other calls of the same
// functions.
func (a *Answer) waits(in recording.Scope) (track int, times, others []repeat.Range) {
	by := map[int][]repeat.Range{}
	for i := range a.paths {
		p := &a.paths[i]
		for k := range p.Steps {
			if s := &p.Steps[k]; s.Track != recording.NoTrack && !s.Sent && (s.Index < 0 || s.State == recording.Blocked) {
				by[s.Track] = append(by[s.Track], repeat.Range{From: s.From, To: s.To})
			}
		}
	}
	track = recording.NoTrack
	for t, of := range by {
		if n := len(by[track]); len(of) > n || len(of) == n && t < track {
			track = t
		}
	}
	if track == recording.NoTrack {
		if in.Calls == nil {
			return track, nil, nil
		}
		return a.calls(in)
	}
	times = by[track]
	from, to := in.Bounds(a.rec)
	t := a.rec.Tracks[track]
	l := &t.States
	if l.Len() == 0 {
		if outer := t.Outermost(&a.rec.Calls); len(outer) > 0 {
			l = outer[0]
		}
	}
	for k := l.Search(from); k < l.Len() && l.Start(k) < to; k++ {
		if a.rec.State(l.Call(k)) != recording.Blocked {
			others = append(others, repeat.Range{From: l.Start(k), To: l.End(k)})
		}
	}
	byStart(times)
	return track, times, others
}

// calls returns the calls of the scope on the track that has the most, and the other calls of
// the same functions there.
func (a *Answer) calls(in recording.Scope) (track int, times, others []repeat.Range) {
	count := map[int]int{}
	in.Calls.EachOuter(a.rec, func(t int, _ *lanes.Lane, _ int) { count[t]++ })
	track = recording.NoTrack
	for t, n := range count {
		if n > count[track] || n == count[track] && t < track {
			track = t
		}
	}
	taken, of, rows := map[[2]int64]bool{}, map[recording.FuncID]bool{}, map[*lanes.Lane]bool{}
	in.Calls.EachOuter(a.rec, func(t int, l *lanes.Lane, i int) {
		if t == track {
			times = append(times, repeat.Range{From: l.Start(i), To: l.End(i)})
			taken[[2]int64{l.Start(i), l.End(i)}], of[a.rec.Func(l.Call(i))], rows[l] = true, true, true
		}
	})
	for l := range rows {
		for i := range l.Len() {
			if of[a.rec.Func(l.Call(i))] && !taken[[2]int64{l.Start(i), l.End(i)}] {
				others = append(others, repeat.Range{From: l.Start(i), To: l.End(i)})
			}
		}
	}
	byStart(times)
	byStart(others)
	return track, times, others
}

func byStart(times []repeat.Range) {
	order.By(times, func(a, b repeat.Range) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To)) })
}

// candidates writes the candidates as a table.
func (a *Answer) candidates(b *strings.Builder) {
	if len(a.Candidates) == 0 {
		return
	}
	b.WriteString("\noverlaps more often than by chance (correlation; no wake-up is recorded)\n")
	rows := [][]string{}
	for i := range a.Candidates {
		c := &a.Candidates[i]
		rows = append(rows, []string{fmt.Sprintf("%d of %d", c.Overlaps, c.Waits), fmt.Sprintf("for %.1f %% of their time", 100*c.covered), fmt.Sprintf("elsewhere %s", units.Percent(int64(c.Elsewhere), int64(max(1, c.Others)))), safetext.Short(c.Function) + " on " + safetext.Short(Label(a.rec, c.track))})
	}
	tabular.Columns(b, "  ", "rrrl", rows)
}
