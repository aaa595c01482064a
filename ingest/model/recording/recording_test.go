package recording

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"
	"sync"
	"testing"

	"ashlar/ingest/model/lanes"
	"ashlar/testdata/rounds"
)

func random(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 99)) }

func (b *Builder) frameOf(name string) FrameID {
	return b.FunctionFrame(b.Function(Function{Name: name}))
}

// span is a span with the path of its function names instead of a call.
type span struct {
	start, end int64
	path       string
	unfinished bool
	args       uint64
}

func pathOf(r *Recording, c CallID) string {
	var names []string
	for c != NoCall {
		names = append(names, r.FuncName(c))
		c = r.Calls.Parent(c)
	}
	slices.Reverse(names)
	return strings.Join(names, ";")
}

// laneSpans returns a lane's spans and checks that they are in order and do not overlap.
func laneSpans(t *testing.T, r *Recording, l *lanes.Lane) []span {
	t.Helper()
	var out []span
	for i := range l.Len() {
		if l.End(i) < l.Start(i) || i > 0 && l.Start(i) < l.End(i-1) {
			t.Fatalf("span %d is %d..%d after one that ends at %d", i, l.Start(i), l.End(i), l.End(max(0, i-1)))
		}
		out = append(out, span{l.Start(i), l.End(i), pathOf(r, l.Call(i)), l.Unfinished(i), l.Args(i)})
	}
	var room lanes.Room
	for i := 0; i < l.Len(); {
		starts, ends, calls := l.Columns(i, l.Len(), &room)
		if len(starts) == 0 || len(starts) != len(ends) || len(ends) != len(calls) {
			t.Fatalf("columns of %d, %d and %d", len(starts), len(ends), len(calls))
		}
		for k := range starts {
			if starts[k] != l.Start(i+k) || ends[k] != l.End(i+k) || calls[k] != l.Call(i+k) {
				t.Fatalf("columns differ at span %d", i+k)
			}
		}
		i += len(starts)
	}
	return out
}

// all returns the spans of all lanes of a track, sorted.
func all(t *testing.T, r *Recording, tr *Track) []span {
	t.Helper()
	var out []span
	for i := range tr.Lanes {
		out = append(out, laneSpans(t, r, &tr.Lanes[i])...)
	}
	sortSpans(out)
	return out
}

func sortSpans(s []span) {
	sort.Slice(s, func(i, j int) bool {
		a, b := s[i], s[j]
		if a.start != b.start {
			return a.start < b.start
		}
		if a.path != b.path {
			return a.path < b.path
		}
		if a.end != b.end {
			return a.end < b.end
		}
		return a.args < b.args
	})
}

// nested adds a random tree of calls and returns its spans. Some times run backwards, some
// ends match no begin, some spans stay open.
func nested(rng *rand.Rand, b *Builder, tb *TrackBuilder, n int) (spans []span, backward, unmatched int) {
	var open []int
	var now, last int64
	for i := range n {
		now += rng.Int64N(4)
		at := now
		if rng.IntN(40) == 0 {
			at -= 5
		}
		want := max(at, last)
		forward := true
		if rng.IntN(100) < 49 {
			name := fmt.Sprint("f", rng.IntN(9))
			path := name
			if len(open) > 0 {
				path = spans[open[len(open)-1]].path + ";" + name
			}
			args := uint64(rng.IntN(3) / 2 * (i + 1))
			forward = tb.Begin(at, b.frameOf(name), args)
			open = append(open, len(spans))
			spans = append(spans, span{start: want, path: path, args: args, unfinished: true})
		} else {
			var matched bool
			matched, forward = tb.End(at)
			if !matched {
				unmatched++
			} else {
				spans[open[len(open)-1]].end = want
				spans[open[len(open)-1]].unfinished = false
				open = open[:len(open)-1]
			}
		}
		if !forward {
			backward++
			if i > 0 && at >= last {
				panic("a good time is called backward")
			}
		}
		last = want
	}
	for _, i := range open {
		spans[i].end = last
	}
	return spans, backward, unmatched
}

func TestNestedSpans(t *testing.T) {
	rounds.Unraced(t)
	for seed := range uint64(20) {
		rng := random(seed)
		b := NewBuilder()
		b.AddEvent(SpanEvent())
		tb := b.Track(TrackKey{PID: 1, TID: 2})
		want, backward, _ := nested(rng, b, tb, 200+int(seed)*700)
		r := b.Finish()
		tr := r.Tracks[0]
		for d := range tr.Lanes {
			for _, s := range laneSpans(t, r, &tr.Lanes[d]) {
				if strings.Count(s.path, ";") != d {
					t.Fatalf("%s lies in lane %d", s.path, d)
				}
			}
		}
		got := all(t, r, tr)
		sortSpans(want)
		if !slices.Equal(got, want) {
			t.Fatalf("seed %d: %d spans, want %d", seed, len(got), len(want))
		}
		if backward == 0 {
			t.Error("no time ran backwards: the test is too weak")
		}
		totals(t, r, want)
	}
}

// totals compares the sums by call and the event's totals with sums over spans.
func totals(t *testing.T, r *Recording, spans []span) {
	t.Helper()
	time, count := map[string]int64{}, map[string]int64{}
	var outer, unfinished int64
	for _, s := range spans {
		time[s.path] += s.end - s.start
		count[s.path]++
		if !strings.Contains(s.path, ";") {
			outer += s.end - s.start
		}
		if s.unfinished {
			unfinished++
		}
	}
	for c, n := range r.SpanCount {
		p := pathOf(r, CallID(c))
		if n != count[p] || r.SpanTime[c] != time[p] {
			t.Errorf("%s: %d spans of %d ps, want %d of %d", p, n, r.SpanTime[c], count[p], time[p])
		}
		delete(count, p)
	}
	for p, n := range count {
		if n != 0 {
			t.Errorf("%s is missing from the sums", p)
		}
	}
	if m := r.Events[0].Metrics; m[SpanTime].Total != outer || m[SpanCount].Total != int64(len(spans)) {
		t.Errorf("totals %+v, want %d ps and %d", m, outer, len(spans))
	}
	if r.Counts.Spans != int64(len(spans)) || r.Counts.Unfinished != unfinished {
		t.Errorf("counts %+v, want %d spans, %d unfinished", r.Counts, len(spans), unfinished)
	}
}

// Snapshots do not change while the recording grows. The race detector checks that reading
// them is safe.
func TestSnapshotsStay(t *testing.T) {
	b := NewBuilder()
	b.AddEvent(SpanEvent())
	rng := random(7)
	nestedTrack, looseTrack := b.Track(TrackKey{TID: 1}), b.Track(TrackKey{TID: 2})
	var wg sync.WaitGroup
	picture := func(r *Recording) string {
		var s strings.Builder
		fmt.Fprintln(&s, r.Counts, r.SpanTime, r.SpanCount, r.Warnings, r.Ledger, r.Events)
		for _, tr := range r.Tracks {
			fmt.Fprintln(&s, tr.Name, tr.Open, tr.Instants)
			for i := range tr.Lanes {
				fmt.Fprintln(&s, laneSpans(t, r, &tr.Lanes[i]))
				tr.Lanes[i].Walk(r.Start, r.End+1, (r.End-r.Start)/50+1, func(b *lanes.Bar) bool {
					fmt.Fprintln(&s, *b)
					return true
				})
			}
			for _, sm := range tr.Samples {
				sm.Walk(r.Start, r.End+1, 100, func(b *lanes.Bar) bool { fmt.Fprintln(&s, *b); return true })
			}
		}
		return s.String()
	}
	var now int64
	for round := range 15 {
		for range 300 {
			now += rng.Int64N(5)
			if rng.IntN(2) == 0 {
				nestedTrack.Begin(now, b.frameOf(fmt.Sprint("f", rng.IntN(30))), uint64(rng.IntN(2)))
			} else {
				nestedTrack.End(now)
			}
			start := now - rng.Int64N(200)
			looseTrack.Span(start, start+rng.Int64N(100), b.frameOf(fmt.Sprint("g", rng.IntN(30))), 0, false)
			nestedTrack.Sample(0, now-rng.Int64N(50), b.Call(NoCall, b.frameOf("s")), -1, nil)
		}
		b.Warn("code", "here", "%d", round)
		b.Tally("x").Read++
		r := b.Snapshot()
		before := picture(r)
		wg.Go(func() {
			for range 3 {
				if picture(r) != before {
					t.Error("a snapshot changed")
				}
			}
		})
	}
	wg.Wait()
	b.Finish()
}

// For spans that arrive in any order and overlap freely, none is lost, spans of a lane do
// not overlap, and every parent contains its children.
func TestLooseLayout(t *testing.T) {
	for seed := range uint64(12) {
		rng := random(seed)
		b := NewBuilder()
		b.AddEvent(SpanEvent())
		tb := b.Track(TrackKey{})
		var want []span
		for i := range 250 {
			start := rng.Int64N(2000)
			end := start + rng.Int64N(1+rng.Int64N(300))
			name := fmt.Sprint("f", rng.IntN(5))
			tb.Span(start, end, b.frameOf(name), uint64(i+1), rng.IntN(20) == 0)
			want = append(want, span{start, end, name, false, uint64(i + 1)})
			if i == 120 {
				b.Snapshot() // a layout in between must do no harm
			}
		}
		r := b.Finish()
		got := all(t, r, r.Tracks[0])
		totals(t, r, got)
		got = slices.DeleteFunc(got, func(s span) bool { return strings.HasSuffix(s.path, Overlapping) })
		for _, s := range got {
			leaf := s.path[strings.LastIndex(s.path, ";")+1:]
			w := want[s.args-1]
			if w.args == 0 || s.start != w.start || s.end != w.end || leaf != w.path {
				t.Fatalf("%+v is not the span that was added, %+v", s, w)
			}
			want[s.args-1].args = 0
			// Each ancestor must contain the span.
			for p := s.path; strings.Contains(p, ";"); {
				p = p[:strings.LastIndex(p, ";")]
				if !slices.ContainsFunc(got, func(o span) bool { return o.path == p && o.start <= s.start && o.end >= s.end }) {
					t.Fatalf("%+v has no %s around it", s, p)
				}
			}
		}
		if len(got) != len(want) {
			t.Fatalf("%d spans of %d", len(got), len(want))
		}
	}
}

// Complete spans give the same result as their begins and ends.
func TestSpanAndBeginEndAgree(t *testing.T) {
	for seed := range uint64(10) {
		rng := random(seed)
		b := NewBuilder()
		b.AddEvent(SpanEvent())
		nest, loose, mixed := b.Track(TrackKey{TID: 1}), b.Track(TrackKey{TID: 2}), b.Track(TrackKey{TID: 3})
		type opened struct {
			start int64
			frame FrameID
		}
		var open []opened
		type ended struct {
			opened
			end int64
		}
		var spans []ended
		var now int64
		for i := 0; i < 600 || len(open) > 0; i++ {
			now += 1 + rng.Int64N(5)
			if i < 600 && rng.IntN(2) == 0 {
				f := b.frameOf(fmt.Sprint("f", rng.IntN(6)))
				open = append(open, opened{now, f})
				nest.Begin(now, f, 0)
				if i < 300 {
					mixed.Begin(now, f, 0)
				}
			} else if n := len(open); n > 0 {
				nest.End(now)
				if i < 300 || mixed.Depth() >= n {
					mixed.End(now)
				} else {
					mixed.Span(open[n-1].start, now, open[n-1].frame, 0, false)
				}
				spans = append(spans, ended{open[n-1], now})
				open = open[:n-1]
			}
		}
		rng.Shuffle(len(spans), func(i, j int) { spans[i], spans[j] = spans[j], spans[i] })
		for _, s := range spans {
			loose.Span(s.start, s.end, s.frame, 0, false)
		}
		r := b.Finish()
		for k := 1; k < 3; k++ {
			if len(r.Tracks[k].Lanes) != len(r.Tracks[0].Lanes) {
				t.Fatalf("seed %d: %d lanes and %d", seed, len(r.Tracks[0].Lanes), len(r.Tracks[k].Lanes))
			}
			for d := range r.Tracks[0].Lanes {
				if a, b := laneSpans(t, r, &r.Tracks[0].Lanes[d]), laneSpans(t, r, &r.Tracks[k].Lanes[d]); !slices.Equal(a, b) {
					t.Fatalf("seed %d: lane %d of track %d differs", seed, d, k)
				}
			}
		}
	}
}

func TestOpenSpans(t *testing.T) {
	b := NewBuilder()
	b.AddEvent(SpanEvent())
	tb := b.Track(TrackKey{TID: 4})
	tb.Begin(10, b.frameOf("outer"), 7)
	tb.Begin(20, b.frameOf("inner"), 0)
	r := b.Snapshot()
	tr := r.Tracks[0]
	if len(tr.Open) != 2 || tr.Open[0] != (OpenSpan{10, 1, 7}) || tr.Open[1].Start != 20 || r.Start != 10 || r.End != 20 || tr.Spans() != 0 {
		t.Errorf("%+v %d..%d", tr.Open, r.Start, r.End)
	}
	b.Cover(0, 100)
	r = b.Finish()
	want := []span{{10, 100, "outer", true, 7}, {20, 100, "outer;inner", true, 0}}
	if got := all(t, r, r.Tracks[0]); !slices.Equal(got, want) || r.Counts.Unfinished != 2 || len(r.Tracks[0].Open) != 0 || !r.Done {
		t.Errorf("%+v %+v", got, r.Counts)
	}
}

func TestSamples(t *testing.T) {
	rng := random(11)
	b := NewBuilder()
	b.AddEvent(Event{Metrics: []Metric{{Name: "n", PerSample: SampleOne}, {Name: "v", PerSample: SampleColumn}, {Name: "none"}}})
	tb := b.Track(TrackKey{})
	call := b.Call(NoCall, b.frameOf("f"))
	type sample struct {
		at, value int64
		cpu       int
	}
	var want []sample
	for i := range 5000 {
		s := sample{rng.Int64N(100_000), int64(i), rng.IntN(4) - 1}
		if i%3 == 0 { // many samples at nearly the same time
			s.at = s.at/20_000*20_000 + s.at%500
		}
		want = append(want, s)
		tb.Sample(0, s.at, call, s.cpu, []int64{1, s.value, 5})
	}
	sort.SliceStable(want, func(i, j int) bool { return want[i].at < want[j].at })
	r := b.Finish()
	s := r.Tracks[0].SamplesOf(0)
	m := r.Events[0].Metrics
	for i, w := range want {
		if s.Time(i) != w.at || s.Value(i, &m[1], 1) != w.value || s.CPU(i) != w.cpu || s.Call(i) != call || s.Value(i, &m[0], 0) != 1 || s.Value(i, &m[2], 2) != Missing {
			t.Fatalf("sample %d is at %d with %d on %d, want %+v", i, s.Time(i), s.Value(i, &m[1], 1), s.CPU(i), w)
		}
		if i+1 < len(want) && s.End(i) > want[i+1].at || s.End(i) < w.at {
			t.Fatalf("sample %d at %d ends at %d", i, w.at, s.End(i))
		}
	}
	for range 500 {
		from := rng.Int64N(100_000)
		to := from + rng.Int64N(100_000)
		res := int64(math.Exp(rng.Float64() * 11))
		next := -1
		s.Walk(from, to, res, func(b *lanes.Bar) bool {
			if next >= 0 && b.Index != next && s.End(next) >= from {
				t.Fatalf("samples %d..%d are left out", next, b.Index-1)
			}
			if next < 0 && b.Index > 0 && s.Time(b.Index-1) >= from {
				t.Fatalf("the first sample reported, %d, is not the first in range", b.Index)
			}
			if b.N > 1 && s.Time(b.Index+b.N-1)-b.Start >= res || b.Start != s.Time(b.Index) {
				t.Fatalf("a bar of %d samples reaches from %d to %d, pixels are %d", b.N, b.Start, s.Time(b.Index+b.N-1), res)
			}
			next = b.Index + b.N
			if b.N > 1 && next < len(want) && s.Time(next) < b.Start+res {
				t.Fatalf("a bar of %d samples from %d leaves out the one at %d, pixels are %d", b.N, b.Start, s.Time(next), res)
			}
			return true
		})
		if next >= 0 && next < len(want) && s.Time(next) < to {
			t.Fatalf("stops at sample %d before %d", next, to)
		}
	}
}

// TestLateSamples checks that every snapshot has all samples so far, sorted stably by time,
// and that later samples do not change it.
func TestLateSamples(t *testing.T) {
	type sample struct{ at, value int64 }
	rng := random(12)
	for _, late := range []int64{10, 3000, 200_000} {
		b := NewBuilder()
		b.AddEvent(Event{Metrics: []Metric{{Name: "v", PerSample: SampleColumn}}})
		tb := b.Track(TrackKey{})
		call := b.Call(NoCall, b.frameOf("f"))
		var came []sample
		var shown []*Recording
		var want [][]sample
		for i := range int64(20_000) {
			s := sample{10 * i, Missing}
			if rng.IntN(20) == 0 {
				s.at = max(0, s.at-rng.Int64N(late))
			}
			cpu := -1
			if i > 9000 { // columns that exist only from some sample on
				s.value, cpu = i, 3
				tb.Sample(0, s.at, call, cpu, []int64{i})
			} else {
				tb.Sample(0, s.at, call, cpu, nil)
			}
			if came = append(came, s); rng.IntN(1000) == 0 || i == 19_999 {
				shown = append(shown, b.Snapshot())
				want = append(want, slices.Clone(came))
			}
		}
		for k, r := range shown {
			slices.SortStableFunc(want[k], func(a, b sample) int { return cmp.Compare(a.at, b.at) })
			s := r.Tracks[0].SamplesOf(0)
			if s.Len() != len(want[k]) {
				t.Fatalf("snapshot %d has %d samples, want %d", k, s.Len(), len(want[k]))
			}
			for i, w := range want[k] {
				if got := (sample{s.Time(i), s.Value(i, &r.Events[0].Metrics[0], 0)}); got != w || (s.CPU(i) == 3) != (w.value != Missing) {
					t.Fatalf("snapshot %d of %d: sample %d is %v on %d, want %v", k, len(shown), i, got, s.CPU(i), w)
				}
			}
		}
	}
}

func TestSetDecimals(t *testing.T) {
	b := NewBuilder()
	b.AddEvent(Event{Metrics: []Metric{{Name: "a", PerSample: SampleColumn}, {Name: "b"}}})
	call := b.Call(NoCall, b.frameOf("f"))
	b.AddStack(0, call, NoTrack, 0, []int64{15, 2})
	b.AddStack(0, call, NoTrack, 0, []int64{Missing, 3})
	b.AddWindow(0, "w", 0, 10)
	b.AddWindowStack(0, call, NoTrack, 0, []int64{4, 5})
	b.Track(TrackKey{}).Sample(0, 5, call, -1, []int64{6, 7})
	before := b.Snapshot()
	if !b.SetDecimals(0, 0, 1) || !b.SetDecimals(0, 0, 3) {
		t.Fatal("does not fit")
	}
	check := func(r *Recording, f int64, decimals int) {
		t.Helper()
		s, w, sm := r.Stacks[0], &r.Windows[0].Rows, r.Tracks[0].SamplesOf(0)
		m := &r.Events[0].Metrics[0]
		if s.Value(0, 0) != 15*f || s.Value(1, 0) != Missing || w.Value(0, 0) != 4*f || sm.Value(0, m, 0) != 6*f || m.Total != 15*f || m.Decimals != decimals {
			t.Errorf("%d %d %d %d %+v", s.Value(0, 0), s.Value(1, 0), w.Value(0, 0), sm.Value(0, m, 0), m)
		}
		if s.Value(0, 1) != 2 || w.Value(0, 1) != 5 || r.Events[0].Metrics[1].Total != 5 {
			t.Error("another metric was changed")
		}
	}
	check(b.Snapshot(), 1000, 3)
	check(before, 1, 0)
	b.AddStack(0, call, NoTrack, 0, []int64{math.MaxInt64 / 20, 1})
	if b.SetDecimals(0, 0, 5) {
		t.Error("what does not fit was raised")
	}
	if got := b.Snapshot().Events[0].Metrics[0]; got.Decimals != 3 {
		t.Errorf("%+v", got)
	}
}

func TestInterning(t *testing.T) {
	b := NewBuilder()
	rng := random(5)
	seen := map[string]CallID{}
	for range 20_000 {
		var frames []FrameID
		var key strings.Builder
		for range rng.IntN(12) {
			n := rng.IntN(8)
			frames = append(frames, b.frameOf(fmt.Sprint(n)))
			fmt.Fprint(&key, n, ";")
		}
		id := b.Stack(frames)
		if old, ok := seen[key.String()]; ok && old != id {
			t.Fatalf("%s is call %d and %d", key.String(), old, id)
		}
		seen[key.String()] = id
	}
	r := b.Snapshot()
	ids := map[CallID]bool{}
	for key, id := range seen {
		if ids[id] {
			t.Fatalf("call %d stands for two stacks", id)
		}
		ids[id] = true
		var got strings.Builder
		calls := r.Calls.Path(nil, id)
		for d, c := range calls {
			fmt.Fprint(&got, r.FuncName(c), ";")
			if r.Calls.Depth(c) != d+1 || r.Calls.Ancestor(id, d+1) != c {
				t.Fatalf("depth of call %d", c)
			}
		}
		if got.String() != key {
			t.Fatalf("call %d is %s, not %s", id, got.String(), key)
		}
	}
	a := b.Context([]Attr{{"b", "2"}, {"a", "1"}})
	if a != b.Context([]Attr{{"a", "1"}, {"b", "2"}}) || a == 0 || b.Context(nil) != 0 || a == b.Context([]Attr{{"a", "1b"}, {"", "2"}}) {
		t.Error("contexts")
	}
}

func TestClockText(t *testing.T) {
	for _, c := range []struct {
		clock Clock
		ps    int64
		want  string
	}{
		{Clock{Unit: "us", PerUnit: 1e6}, 1500000, "1.5"},
		{Clock{Unit: "us", PerUnit: 1e6, Origin: Decimal{Mantissa: 100, Scale: 0}}, 1, "100.000001"},
		{Clock{Unit: "ns", PerUnit: 1e3, Origin: Decimal{Mantissa: -25, Scale: 1}}, 1000, "-1.5"},
		{Clock{Unit: "seconds", PerUnit: 1e12, Origin: Decimal{Mantissa: 1700000000123456789, Scale: 9}}, 0, "1700000000.123456789"},
		{Clock{}, 42, "42"},
	} {
		if got := c.clock.Text(c.ps); got != c.want {
			t.Errorf("%+v at %d: %s, want %s", c.clock, c.ps, got, c.want)
		}
	}
}

func TestWarningsAndLedger(t *testing.T) {
	b := NewBuilder()
	b.Warn("a", "line 1", "first %d", 1)
	b.Warn("a", "line 2", "second")
	b.WarnMore("a", 5)
	b.Warn("b", "", "other")
	b.Tally("x").Read = 3
	b.Tally("y").Read = 1
	b.Tally("x").Read++
	r := b.Snapshot()
	if want := []Warning{{Code: "a", Text: "first 1", Count: 7, First: "line 1", Error: true}, {Code: "b", Text: "other", Count: 1, Error: true}}; !slices.Equal(r.Warnings, want) {
		t.Errorf("%+v", r.Warnings)
	}
	if len(r.Ledger) != 2 || r.Ledger[0].Read != 4 || r.Ledger[1].Read != 1 {
		t.Errorf("%+v", r.Ledger)
	}
}

// TestTrackKinds checks the counts of tracks by kind, with async tracks last.
func TestTrackKinds(t *testing.T) {
	b := NewBuilder()
	b.ProcessInfo(b.Process(9)).Member = ProcessorWord
	b.ProcessInfo(b.Process(1)).Member = "goroutine"
	for i, k := range []TrackKey{{PID: 9}, {PID: 1, TID: 1}, {Kind: AsyncTrack, PID: 1, Name: "tasks"}, {PID: 2, TID: 1}, {PID: 1, TID: 2}, {Kind: AsyncTrack, PID: 2, Name: "io"}, {PID: 2, TID: TextID}} {
		b.Track(k).Instant(int64(i), "x", 0)
	}
	b.Track(TrackKey{PID: 2, TID: TextID}).SetName(WholeTrace)
	rec := b.Finish()
	want := []KindCount{{"processor", 1}, {"goroutine", 2}, {"thread", 1}, {"async track", 2}}
	if got := rec.TrackKinds(); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := rec.ThreadWord(NoTrack) + ", " + rec.ThreadWord(len(rec.Tracks)); got != "goroutine, goroutine" {
		t.Errorf("of no track: %s", got)
	}
}
