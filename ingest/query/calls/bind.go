package calls

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"sync/atomic"

	"ashlar/ingest/model/lanes"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/model/sets"
	"ashlar/ingest/query/analyze"
	"ashlar/ingest/query/scan"
	"ashlar/ingest/query/search"
	"ashlar/ingest/query/spans"
	"ashlar/ingest/query/waits"
)

// Bind looks a scope up in a recording: the records that it excludes (see analyze.Apart)
// and its calls, limited to its range and tracks. If only async operations match the calls,
// or only idle waits, they are used although they do not count otherwise. It ends early with
// ctx.
func Bind(ctx context.Context, rec *recording.Recording, in recording.Scope) (recording.Scope, error) {
	idle := in.Idle
	in = analyze.Apart(rec, in)
	if in.Calls == nil {
		return in, nil
	}
	q, err := Parse(in.Calls.Text)
	if err != nil {
		return in, err
	}
	set, err := q.In(ctx, rec, in.Of(nil))
	if err == nil && set.Calls == 0 && in.Async == "" && in.Beside != nil {
		beside := analyze.Besides(rec, in.Of(nil))
		if found, err := q.In(ctx, rec, beside); err == nil && found.Calls > 0 {
			return beside.Of(found), nil
		}
	}
	if err == nil && set.Calls == 0 && idle == "" && in.Idle == recording.Out {
		counted := in.Of(nil)
		counted.Idle = recording.In
		if found, err := q.In(ctx, rec, counted); err == nil && found.Calls > 0 {
			return counted.Of(found), nil
		}
	}
	return in.Of(set), err
}

// Durations measures the spans of functions in a scope that Bind returned. If none of them
// count, it measures their async spans. metric is recording.SpanTime or another metric of
// the spans' time.
func Durations(ctx context.Context, rec *recording.Recording, in recording.Scope, of []recording.FuncID, metric int) (*spans.Durations, error) {
	d, err := spans.TimesOf(ctx, rec, in, of, metric)
	if err == nil && d.Count+d.WithoutCPU == 0 && in.Async == "" && in.Beside != nil {
		return spans.TimesOf(ctx, rec, analyze.Besides(rec, in), of, metric)
	}
	return d, err
}

// In returns the calls that the query selects in a scope of a recording.
func (q *Query) In(ctx context.Context, rec *recording.Recording, in recording.Scope) (*recording.CallSet, error) {
	l := newLookup(rec, in, q)
	if l.states {
		return l.statesIn(ctx)
	}
	items := l.items()
	if err := l.place(ctx, items); err != nil {
		return nil, err
	}
	pieces, slow, err := l.pick(ctx, items)
	if err != nil {
		return nil, err
	}
	all, chosen := l.lanes(), l.lanes()
	for i, s := range items {
		all[s.Track][s.Row] = append(all[s.Track][s.Row], pieces[i].all...)
		chosen[s.Track][s.Row] = append(chosen[s.Track][s.Row], pieces[i].chosen...)
	}
	for _, c := range slow {
		to := &chosen[items[c.item].Track][items[c.item].Row]
		*to = append(*to, sets.Run{First: int(c.span), Last: int(c.span) + 1})
	}
	err = scan.Spread(ctx, len(chosen), func(_, track int) {
		for row := range chosen[track] {
			chosen[track][row] = l.settled(all[track][row], chosen[track][row])
		}
	})
	if err != nil {
		return nil, err
	}
	return scan.Below(ctx, rec, q.String(), chosen)
}

// settled returns the chosen runs, or all other runs if the query asks for those.
func (l *lookup) settled(all, chosen []sets.Run) []sets.Run {
	chosen = sets.Joined(chosen)
	if l.q.Others {
		chosen = sets.Without(sets.Joined(all), chosen)
	}
	return chosen
}

// piece holds all calls of the query's functions in a stretch, and the selected ones.
type piece struct{ all, chosen []sets.Run }

// pick finds the calls that meet the query's conditions: by stretch, or the slowest ones
// of all stretches.
func (l *lookup) pick(ctx context.Context, items []scan.Stretch) ([]piece, []slowCall, error) {
	q := l.q
	pieces := make([]piece, len(items))
	slow := &longest{n: q.Slowest, items: items, of: make([][]slowCall, runtime.GOMAXPROCS(0))}
	err := scan.Spread(ctx, len(items), func(worker, i int) {
		p, s := &pieces[i], &items[i]
		l.each(s, func(k int, is bool, took int64) {
			if q.Others {
				p.all = grown(p.all, k)
			}
			switch {
			case !is:
			case q.Slowest > 0:
				slow.add(worker, slowCall{took, int32(i), int32(k)})
			default:
				p.chosen = grown(p.chosen, k)
			}
		})
	})
	return pieces, slow.cut(slices.Concat(slow.of...)), err
}

// grown adds span k, which follows all runs, to the runs.
func grown(runs []sets.Run, k int) []sets.Run {
	if n := len(runs); n > 0 && runs[n-1].Last == k {
		runs[n-1].Last++
		return runs
	}
	return append(runs, sets.Run{First: k, Last: k + 1})
}

// slowCall is a call with its duration: a span in the lane of an item.
type slowCall struct {
	took       int64
	item, span int32
}

// longest collects the n longest of many calls, separately for each worker. Now and then
// a worker keeps only its n longest calls; from then on, anything shorter is ignored.
type longest struct {
	n     int
	items []scan.Stretch
	of    [][]slowCall // by worker
	least atomic.Int64 // shorter calls are not among the longest
}

func (s *longest) add(worker int, c slowCall) {
	if c.took < s.least.Load() {
		return
	}
	all := s.of[worker]
	if all == nil {
		all = make([]slowCall, 0, min(2*s.n, 1<<20)+1024)
	}
	all = append(all, c)
	if len(all) >= 2*s.n+1024 {
		all = s.cut(all)
		least := all[0].took
		for i := range all {
			least = min(least, all[i].took)
		}
		for was := s.least.Load(); was < least && !s.least.CompareAndSwap(was, least); was = s.least.Load() {
		}
	}
	s.of[worker] = all
}

// cut returns the n longest; of equally long ones the earlier.
func (s *longest) cut(cs []slowCall) []slowCall {
	if len(cs) <= s.n {
		return cs
	}
	all := make([]int64, len(cs))
	for i := range cs {
		all[i] = cs[i].took
	}
	least := spans.Nth(all, len(cs)-s.n)
	var alike []slowCall
	longer := cs[:0]
	for _, c := range cs {
		switch {
		case c.took > least:
			longer = append(longer, c)
		case c.took == least:
			alike = append(alike, c)
		}
	}
	slices.SortFunc(alike, func(a, b slowCall) int {
		x, y := &s.items[a.item], &s.items[b.item]
		return cmp.Or(cmp.Compare(x.Lane.Start(int(a.span)), y.Lane.Start(int(b.span))), cmp.Compare(x.Track, y.Track), cmp.Compare(x.Row, y.Row), cmp.Compare(a.span, b.span))
	})
	return append(longer, alike[:s.n-len(longer)]...)
}

// lookup finds which spans of a scope the query selects.
type lookup struct {
	rec     *recording.Recording
	in      recording.Scope
	q       *Query
	is      []bool       // by call: whether it is one of the functions'
	depths  map[int]bool // depths at which the functions have calls
	args    func(text string) bool
	found   func(s *scan.Stretch, k int) bool
	at      map[int][]int64 // by track, in order
	below   map[*lanes.Lane]*lanes.Lane
	placed  [][]placedLane // by track and lane; nil if unknown
	anybody bool           // the query is for all functions
	when    bool           // the query has conditions that then checks
	states  bool           // all functions are states
	// apart means that idle waits are excluded or, with only, all other states.
	apart, only bool
	idle        *waits.Idle
}

func newLookup(rec *recording.Recording, in recording.Scope, q *Query) *lookup {
	l := &lookup{rec: rec, in: in, q: q, depths: map[int]bool{}, anybody: len(q.Functions) == 0}
	var of []recording.FuncID
	for _, f := range q.Functions {
		of = append(of, analyze.Named(f).Functions(rec)...)
	}
	l.states = len(of) > 0 && !slices.ContainsFunc(of, func(f recording.FuncID) bool { return rec.Functions.At(int(f)).State == recording.NoState })
	if l.states && (in.Idle == recording.Out || in.Idle == recording.Only) {
		l.apart, l.only, l.idle = true, in.Idle == recording.Only, waits.NewIdle(rec)
	}
	l.is = scan.Calls(rec, of)
	for c, is := range l.is {
		if is {
			l.depths[rec.Calls.Depth(recording.CallID(c))] = true
		}
	}
	if len(q.Args) > 0 {
		l.args = argTest(q.Args)
	}
	if q.Found != "" {
		l.found = finds(rec, q.Found)
	}
	if q.At != nil {
		l.at = map[int][]int64{}
		for ti, t := range rec.Tracks {
			for _, p := range q.At {
				if p.PID == t.PID && p.TID == t.TID && (p.Name == "" || p.Name == t.Name) {
					l.at[ti] = append(l.at[ti], rec.Start+p.Time)
				}
			}
			slices.Sort(l.at[ti])
		}
	}
	if q.Self.IsSet() {
		l.below = nextLanes(rec)
	}
	l.when = q.Started.IsSet() || l.at != nil || l.below != nil
	return l
}

// finds returns a test for spans: whether a search matches them.
func finds(rec *recording.Recording, text string) func(*scan.Stretch, int) bool {
	p, err := search.Parse(text)
	switch {
	case err != nil:
		return func(*scan.Stretch, int) bool { return false }
	case p.Field() == search.InThread:
		return func(s *scan.Stretch, _ int) bool { return p.MatchTrack(rec.Tracks[s.Track]) }
	case p.Field() == search.InArgs:
		return func(s *scan.Stretch, k int) bool {
			ref := s.Lane.Args(k)
			return ref != 0 && rec.Args != nil && p.Match(rec.Args(ref))
		}
	}
	is := make([]bool, rec.Functions.Len())
	for i := range is {
		f := rec.Functions.At(i)
		is[i] = p.MatchFunction(&f)
	}
	return func(s *scan.Stretch, k int) bool { return is[rec.Func(s.Lane.Call(k))] }
}

// items returns the stretches that may contain calls of the functions.
func (l *lookup) items() []scan.Stretch {
	lanes := l.reached(scan.Lanes(l.rec, l.in))
	return scan.Cut(slices.DeleteFunc(lanes, func(s scan.Stretch) bool {
		_, placed := l.at[s.Track]
		return l.at != nil && !placed && !l.q.Others
	})...)
}

// reached returns the lanes at depths where the functions have calls.
func (l *lookup) reached(lanes []scan.Stretch) []scan.Stretch {
	return slices.DeleteFunc(lanes, func(s scan.Stretch) bool {
		return !l.anybody && !l.depths[l.rec.Calls.Depth(s.Lane.Call(s.First))]
	})
}

// lanes returns empty runs for all lanes.
func (l *lookup) lanes() [][][]sets.Run {
	out := make([][][]sets.Run, len(l.rec.Tracks))
	for i, t := range l.rec.Tracks {
		out[i] = make([][]sets.Run, len(t.Lanes))
	}
	return out
}

// each visits the calls of the functions in a stretch, and reports which of them the
// query selects.
func (l *lookup) each(s *scan.Stretch, visit func(k int, is bool, took int64)) {
	if l.placed != nil {
		p := &l.placed[s.Track][s.Row]
		first, _ := slices.BinarySearch(p.spans, s.First)
		last, _ := slices.BinarySearch(p.spans, s.Last)
		for i := first; i < last; i++ {
			visit(p.spans[i], l.meant(s, p.spans[i], p.took[i]), p.took[i])
		}
		return
	}
	s.EachCall(func(i int, calls []recording.CallID) {
		for k, c := range calls {
			if (l.anybody || l.is[c]) && (!l.apart || l.idle.Is(s.Track, c) == l.only) {
				took := s.Lane.Duration(i + k)
				visit(i+k, l.meant(s, i+k, took), took)
			}
		}
	})
}

// meant reports whether span i, a call of one of the functions, meets all conditions of
// the query.
func (l *lookup) meant(s *scan.Stretch, i int, took int64) bool {
	return InRange(&l.q.Duration, took) && (!l.when || l.then(s, i, took)) &&
		(l.found == nil || l.found(s, i)) && (l.args == nil || l.args(l.text(s.Lane, i)))
}

// then reports whether a span's start and self time meet the query's conditions.
func (l *lookup) then(s *scan.Stretch, i int, took int64) bool {
	start, is := s.Lane.Start(i), true
	if l.at != nil {
		_, is = slices.BinarySearch(l.at[s.Track], start)
	}
	return is && InRange(&l.q.Started, start-l.rec.Start) &&
		(l.below == nil || InRange(&l.q.Self, took-inner(l.rec, l.below[s.Lane], start, start+took, s.Lane.Call(i))))
}

// InRange reports whether a duration is in a range, excluding the range's end.
func InRange(r *recording.Range, took int64) bool {
	return !(r.HasFrom && took < r.From) && !(r.HasTo && took >= r.To)
}

// text returns the text of a span's arguments.
func (l *lookup) text(lane *lanes.Lane, k int) string {
	if ref := lane.Args(k); ref != 0 && l.rec.Args != nil {
		return l.rec.Args(ref)
	}
	return ""
}

// nextLanes returns, for each lane, the lane with the children of its spans.
func nextLanes(rec *recording.Recording) map[*lanes.Lane]*lanes.Lane {
	below := map[*lanes.Lane]*lanes.Lane{}
	for _, t := range rec.Tracks {
		for _, lanes := range t.Columns(&rec.Calls) {
			for k := range lanes[1:] {
				below[&t.Lanes[lanes[k]]] = &t.Lanes[lanes[k+1]]
			}
		}
	}
	return below
}

// inner returns how much of a call its children cover. They are in the lane below, which
// is nil if there is none.
func inner(rec *recording.Recording, below *lanes.Lane, start, end int64, call recording.CallID) (sum int64) {
	if below == nil {
		return 0
	}
	for i := below.Search(start); i < below.Len() && below.Start(i) < end; i++ {
		if below.Start(i) >= start && below.End(i) <= end && rec.Calls.Parent(below.Call(i)) == call {
			sum += below.End(i) - below.Start(i)
		}
	}
	return sum
}

// Check returns an error of one sentence if a recording does not have a function of the
// query.
func (q *Query) Check(rec *recording.Recording) error {
	for _, f := range q.Functions {
		if ref := analyze.Named(f); len(ref.Functions(rec)) == 0 {
			return ref.Missing(rec)
		}
	}
	return nil
}
