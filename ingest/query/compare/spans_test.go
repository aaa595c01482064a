package compare

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"ashlar/ingest/model/durations"
	"ashlar/ingest/model/recording"
	"ashlar/testdata/rounds"
)

// TestEachSpanSelf compares the self times of single spans with the recording's sums by
// call.
func TestEachSpanSelf(t *testing.T) {
	for seed := range uint64(30) {
		rec := random(seed, poolA)
		self, spans := map[recording.CallID]int64{}, 0
		for tr := range rec.Tracks {
			w := newSpanWalk(&Run{Input: Input{Rec: rec}}, true)
			for _, p := range w.pieces(func(track int) bool { return track == tr }) {
				if err := w.each(bg, &p, func(r *spanRun) {
					for j, c := range r.calls {
						self[c] += r.selfs[j]
						spans++
						if length := r.ends[j] - r.starts[j]; r.selfs[j] < 0 || r.selfs[j] > length {
							t.Fatalf("a span of %d has %d for itself", length, r.selfs[j])
						}
					}
				}); err != nil {
					t.Fatal(err)
				}
			}
		}
		want := map[recording.CallID]int64{}
		for c, v := range rec.SpanTime {
			want[recording.CallID(c)] += v
			if p := rec.Calls.Parent(recording.CallID(c)); c > 0 && p != 0 {
				want[p] -= v
			}
		}
		for c, v := range want {
			if self[c] != v {
				t.Errorf("call %d has %d for itself, want %d", c, self[c], v)
			}
		}
		if int64(spans) != rec.Counts.Spans {
			t.Errorf("%d spans were visited, of %d", spans, rec.Counts.Spans)
		}
	}
}

// TestOverlappingSpansHaveFewChildren checks that of the thousands of lanes of overlapping
// spans, only those that may hold children of a lane's spans are walked with it.
func TestOverlappingSpansHaveFewChildren(t *testing.T) {
	const n = 2000
	p := newProgram(1)
	p.b.AddEvent(recording.SpanEvent())
	tr := p.b.Track(recording.TrackKey{PID: 1, TID: 1})
	f, g := p.frame("f"), p.frame("g")
	for i := range int64(n) {
		tr.Span(10*i, 10*i+10*n, f, 0, false)
		tr.Span(10*i+1, 10*i+10*n-1, g, 0, false)
	}
	rec := p.b.Finish()
	w := newSpanWalk(&Run{Input: Input{Rec: rec}}, true)
	var walked int
	var self int64
	for _, p := range w.pieces(func(int) bool { return true }) {
		kids := w.cursors(&p)
		for _, k := range kids {
			rooms.Put(k.room)
		}
		walked += len(kids)
		if err := w.each(bg, &p, func(r *spanRun) {
			for _, s := range r.selfs {
				self += s
			}
		}); err != nil {
			t.Fatal(err)
		}
	}
	if len(rec.Tracks[0].Lanes) < n || walked > n {
		t.Errorf("%d lanes of children are walked with %d lanes", walked, len(rec.Tracks[0].Lanes))
	}
	want := int64(0)
	for c, v := range rec.SpanTime {
		if want += v; rec.Calls.Parent(recording.CallID(c)) != 0 {
			want -= v
		}
	}
	if self != want {
		t.Errorf("the self times add up to %d, want %d", self, want)
	}
}

// traced makes a trace of a loop that calls parse and render. The durations
// vary; slow makes parse slower by a factor.
func traced(seed uint64, n int, slow float64, calls int) *recording.Recording {
	p := newProgram(seed)
	p.b.AddEvent(recording.SpanEvent())
	tr := p.b.Track(recording.TrackKey{PID: 1, TID: 1})
	at := int64(0)
	length := func(mean float64) int64 { return int64(mean * math.Exp(.3*p.r.NormFloat64())) }
	for range n {
		tr.Begin(at, p.frame("frame@app"), 0)
		for range calls {
			tr.Begin(at, p.frame("parse@app"), 0)
			at += length(1e6 * slow)
			tr.End(at)
		}
		tr.Begin(at, p.frame("render@app"), 0)
		at += length(3e6)
		tr.End(at)
		at += length(2e5)
		tr.End(at)
	}
	return p.b.Finish()
}

func row(t *testing.T, table *Table, name string) *Row {
	t.Helper()
	for i := range table.Rows {
		if table.Rows[i].Name == name {
			return &table.Rows[i]
		}
	}
	t.Fatalf("there is no row %s", name)
	return nil
}

func TestSlowerSpans(t *testing.T) {
	c := mustCompare(t, traced(1, 400, 1, 1), traced(2, 400, 1.5, 1), Options{})
	table := mustTable(t, c, ByFunction)
	if c.Method() != FromDurations || table.Rows[0].Name != "parse" {
		t.Fatalf("by %s, the first row is %s", c.Method(), table.Rows[0].Name)
	}
	parse := table.Rows[0].Self
	if parse.Level() < .99 || parse.A != 400 || parse.B != 400 {
		t.Errorf("parse is %+v", parse)
	}
	if ratio := 1 + parse.Shift().By/parse.Shift().MedianA; ratio < 1.4 || ratio > 1.6 {
		t.Errorf("a typical parse is %g times as long, want 1.5", ratio)
	}
	if d := float64(table.Rows[0].DeltaSelf()); parse.Low > d || parse.High < d || parse.Low < 0 {
		t.Errorf("the difference of %g is in %g…%g", d, parse.Low, parse.High)
	}
	if l := row(t, table, "render").Self.Level(); l > .95 {
		t.Errorf("render is the same but %g sure", l)
	}
	if l := row(t, table, "frame").Self.Level(); l > .95 {
		t.Errorf("frame itself is the same but %g sure", l)
	}
}

// TestMoreSpans compares with a run that calls parse twice as often.
func TestMoreSpans(t *testing.T) {
	a, b := traced(1, 300, 1, 1), traced(2, 300, 1, 2)
	table := mustTable(t, mustCompare(t, a, b, Options{}), ByFunction)
	if l := row(t, table, "parse").Self.Level(); l < .999 {
		t.Errorf("twice as many calls of parse are %g sure", l)
	}
	if l := row(t, table, "render").Self.Level(); l > .95 {
		t.Errorf("render is %g sure", l)
	}
	// With Duration, a recording of twice the length shows no difference.
	table = mustTable(t, mustCompare(t, a, traced(3, 600, 1, 1), Options{Normalize: Duration}), ByFunction)
	for _, r := range table.Rows {
		if c := r.Confidence(); c.Level() > .95 {
			t.Errorf("by duration, %s is %g sure", r.Name, c.Level())
		}
	}
}

// TestSlowerMachine compares with a run in which everything takes twice as long: no function
// stands out. Normalising by total removes the difference.
func TestSlowerMachine(t *testing.T) {
	a := traced(1, 400, 1, 1)
	p := newProgram(5)
	p.b.AddEvent(recording.SpanEvent())
	tr := p.b.Track(recording.TrackKey{PID: 1, TID: 1})
	at := int64(0)
	for range 400 {
		tr.Begin(at, p.frame("frame@app"), 0)
		tr.Begin(at, p.frame("parse@app"), 0)
		at += int64(2e6 * math.Exp(.3*p.r.NormFloat64()))
		tr.End(at)
		tr.Begin(at, p.frame("render@app"), 0)
		at += int64(6e6 * math.Exp(.3*p.r.NormFloat64()))
		tr.End(at)
		at += int64(4e5 * math.Exp(.3*p.r.NormFloat64()))
		tr.End(at)
	}
	b := p.b.Finish()
	table := mustTable(t, mustCompare(t, a, b, Options{}), ByFunction)
	if table.Common < 1.9 || table.Common > 2.1 {
		t.Errorf("all functions changed by %g, want 2", table.Common)
	}
	if l := table.Whole.Level(); l < .999 {
		t.Errorf("the total is only %g sure", l)
	}
	for _, r := range table.Rows {
		if r.Self.Level() > .95 {
			t.Errorf("%s is as slow as the rest, but %g sure", r.Name, r.Self.Level())
		}
	}
	for _, r := range mustTable(t, mustCompare(t, a, b, Options{Normalize: Total}), ByFunction).Rows {
		if r.Self.Level() > .95 {
			t.Errorf("by total, %s is %g sure", r.Name, r.Self.Level())
		}
	}
}

// run makes a trace of ten functions with 300 calls each, whose durations vary by 5 % from
// call to call. each changes the duration, in picoseconds, of call i of function f.
func run(seed uint64, each func(f, i int, ps float64) float64) *recording.Recording {
	p := newProgram(seed)
	p.b.AddEvent(recording.SpanEvent())
	tr := p.b.Track(recording.TrackKey{PID: 1, TID: 1})
	at := int64(0)
	for i := range 300 {
		for f := range 10 {
			tr.Begin(at, p.frame(fmt.Sprintf("f%d@app", f)), 0)
			at += int64(each(f, i, 1e6*float64(1+f)*math.Exp(.05*p.r.NormFloat64())))
			tr.End(at)
		}
	}
	return p.b.Finish()
}

func unchanged(_, _ int, ps float64) float64 { return ps }

// TestFewSlowCalls checks that a function is named whose typical call is the same, but some
// calls are slow; a single slow call is chance.
func TestFewSlowCalls(t *testing.T) {
	for _, c := range []struct {
		every int
		sure  bool
	}{{20, true}, {300, false}} {
		b := run(2, func(f, i int, ps float64) float64 {
			if f == 3 && i%c.every == 7 {
				ps *= 10
			}
			return ps
		})
		table := mustTable(t, mustCompare(t, run(1, unchanged), b, Options{}), ByFunction)
		for _, r := range table.Rows {
			if l := r.Self.Level(); l >= .95 != (c.sure && r.Name == "f3") {
				t.Errorf("with a slow call in %d, %s is %g sure", c.every, r.Name, l)
			}
		}
	}
}

// TestRunsOfTraces compares runs in which all functions vary by 2 % and share a factor of up
// to a fifth. At most 5 % of the tables may have an alarm; a change of a quarter must show.
func TestRunsOfTraces(t *testing.T) {
	rounds.Unraced(t)
	const pairs = 100
	alarms, found := 0, 0
	for seed := range uint64(pairs) {
		noise := rand.New(rand.NewPCG(seed, 7))
		machine := math.Exp(.1 * noise.NormFloat64())
		var factors [10]float64
		for f := range factors {
			factors[f] = machine * math.Exp(.02*noise.NormFloat64())
		}
		vary := func(f, _ int, ps float64) float64 { return ps * factors[f] }
		a := run(2*seed, unchanged)
		alarm := false
		for _, r := range mustTable(t, mustCompare(t, a, run(2*seed+1, vary), Options{}), ByFunction).Rows {
			alarm = alarm || r.Self.Level() >= .95
		}
		if alarm {
			alarms++
		}
		slower := func(f, i int, ps float64) float64 {
			if f == 4 {
				ps *= 1.25
			}
			return vary(f, i, ps)
		}
		if row(t, mustTable(t, mustCompare(t, a, run(2*seed+1, slower), Options{}), ByFunction), "f4").Self.Level() >= .95 {
			found++
		}
	}
	t.Logf("%d of %d pairs with an alarm, %d changes found", alarms, pairs, found)
	if alarms > pairs/20 || found < pairs*3/4 {
		t.Errorf("%d of %d unchanged pairs have an alarm, %d of %d changes are found", alarms, pairs, found, pairs)
	}
}

// TestDrawnIsFairAndTheSame checks that the drawn spans do not depend on parts or order,
// and that every span has the same chance. The spans' durations are their places.
func TestDrawnIsFairAndTheSame(t *testing.T) {
	rounds.Unraced(t)
	const all, most = 100_000, 100
	rolled := func(track int) []durations.Draw {
		dice := make([]uint32, all)
		for first := 0; first < all; first += 1000 { // in runs, as spans are visited
			rollDice(track, 0, first, dice[first:first+1000])
		}
		out := make([]durations.Draw, all)
		for i, d := range dice {
			out[i] = durations.Draw{Dice: d, Total: float32(i), Self: float32(i) / 2}
		}
		return out
	}
	// The drawn spans must not depend on the parts or the order.
	spans := rolled(3)
	naive := slices.Clone(spans)
	slices.SortFunc(naive, byDice)
	want := drawnLengths(naive[:most])
	for seed := range uint64(5) {
		r := rand.New(rand.NewPCG(seed, 1))
		r.Shuffle(len(spans), func(i, k int) { spans[i], spans[k] = spans[k], spans[i] })
		parts := make([]part, 1+r.IntN(4))
		for i := range parts {
			parts[i].limit = limitOf(all, most, 1)
		}
		for _, s := range spans {
			parts[r.IntN(len(parts))].add(s.Dice, int64(s.Total), int64(s.Self))
		}
		for i := range parts {
			parts[i].kept = lowest(parts[i].kept, most)
		}
		d := draw([]source{{parts, 1}}, most, false, new(drawRoom))
		if got := durationsOf(d.kept); !slices.Equal(got, want) {
			t.Errorf("of %d parts other spans are drawn", len(parts))
		}
		if d.n != all || math.Abs(d.variance()-1e10/12)/1e10 > 1e-4 {
			t.Errorf("there are %d with variance %g", d.n, d.variance())
		}
	}
	// Every span must have the same chance: over many draws, each tenth of the spans gets a
	// tenth.
	var tenths [10]int
	const tracks = 200
	for track := range tracks {
		const low = 1 << 32 / all * most * 2 // about 200 spans have lower dice
		spans := slices.DeleteFunc(rolled(track), func(d durations.Draw) bool { return d.Dice >= low })
		slices.SortFunc(spans, byDice)
		for _, s := range spans[:most] {
			tenths[int(s.Total)/(all/10)]++
		}
	}
	for i, n := range tenths {
		mean := float64(tracks*most) / 10
		if math.Abs(float64(n)-mean) > 5*math.Sqrt(mean) {
			t.Errorf("in tenth %d lie %d spans, want about %g", i, n, mean)
		}
	}
}

func drawnLengths(spans []durations.Draw) (out []float64) {
	for _, s := range spans {
		out = append(out, float64(s.Total))
	}
	slices.Sort(out)
	return out
}

// TestDrawnTwice checks the second visit of the spans if the first one happens to keep too
// few.
func TestDrawnTwice(t *testing.T) {
	rec := traced(1, 6_000, 1, 1)
	want, err := SumDurations(bg, rec)
	if err != nil {
		t.Fatal(err)
	}
	defer func(was func(int) float64) { margin = was }(margin)
	margin = func(most int) float64 { return -.9 * float64(most) }
	got, err := SumDurations(bg, rec)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []*durations.Table{got, want} { // draws are in no fixed order
		at := 0
		for _, p := range d.Parts {
			slices.SortFunc(d.Draws[at:at+p.Drawn], byDice)
			at += p.Drawn
		}
	}
	if !reflect.DeepEqual(got, want) {
		t.Error("other spans are drawn")
	}
}

// TestStoredDurations checks that a comparison is the same with and without stored
// durations, in every grouping.
func TestStoredDurations(t *testing.T) {
	for seed := range rounds.Of(uint64(8)) {
		pairs := [][2]*recording.Recording{{random(seed, poolA), random(seed+100, poolB)}, {traced(seed, 3_000, 1, 2), traced(seed+9, 4_000, 1.1, 3)}}
		for _, pair := range pairs {
			var kept [2]*recording.Recording
			for i, rec := range pair {
				with := *rec
				var err error
				if with.Durations, err = SumDurations(bg, rec); err != nil {
					t.Fatal(err)
				}
				kept[i] = &with
			}
			for _, o := range []Options{{}, {Normalize: Total}, {Normalize: Duration}} {
				plain, stored := mustCompare(t, pair[0], pair[1], o), mustCompare(t, kept[0], kept[1], o)
				for _, by := range allBy {
					a, b := mustTable(t, plain, by), mustTable(t, stored, by)
					for i := range a.Rows {
						x, y := &a.Rows[i], &b.Rows[i]
						if !sameConfidence(x.Self, y.Self) || !sameConfidence(x.Total, y.Total) {
							t.Fatalf("seed %d, %s by %s: %+v and %+v", seed, x.Name, by, x.Self, y.Self)
						}
					}
					if !sameConfidence(a.Whole, b.Whole) {
						t.Fatalf("seed %d, by %s: the whole is %+v and %+v", seed, by, a.Whole, b.Whole)
					}
				}
			}
		}
	}
}

// TestStoredIsUsed checks that tables by function use the stored durations instead of
// visiting the spans.
func TestStoredIsUsed(t *testing.T) {
	rec := traced(1, 3_000, 1, 2)
	with := *rec
	var err error
	if with.Durations, err = SumDurations(bg, rec); err != nil {
		t.Fatal(err)
	}
	for i := range with.Durations.Parts {
		with.Durations.Parts[i].Total2.AddSquare(1 << 40) // to be able to tell
	}
	for by, used := range map[By]bool{ByFunction: true, ByThread: false} {
		a := mustTable(t, mustCompare(t, rec, rec, Options{}), by)
		b := mustTable(t, mustCompare(t, &with, &with, Options{}), by)
		if same := a.Rows[0].Total.High == b.Rows[0].Total.High; same == used {
			t.Errorf("by %s, what was stored is used: %v", by, !same)
		}
	}
}

// sameConfidence compares NaN as equal to NaN.
func sameConfidence(a, b *Confidence) bool {
	if a == nil || b == nil {
		return a == b
	}
	same := func(x, y float64) bool { return x == y || math.IsNaN(x) && math.IsNaN(y) }
	return a.Method == b.Method && same(a.P, b.P) && same(a.Q, b.Q) && same(a.Low, b.Low) && same(a.High, b.High) && same(a.Detectable, b.Detectable) &&
		a.A == b.A && a.B == b.B && slices.Equal(a.lengths[0], b.lengths[0]) && slices.Equal(a.lengths[1], b.lengths[1])
}

// TestSpanTable compares the durations by row with sums over single spans.
func TestSpanTable(t *testing.T) {
	rounds.Unraced(t)
	for seed := range uint64(20) {
		a, b := random(seed, poolA), random(seed+100, poolB)
		for _, ranged := range []bool{false, true} {
			x, y := Input{Rec: a}, Input{Rec: b}
			if ranged {
				x.Scope = recording.Between(a.Start+a.Duration()/4, a.Start+a.Duration()*3/4)
				y.Scope.Tracks = []int{0, 2}
			}
			c, err := Compare(bg, []Input{x}, []Input{y}, Options{})
			if err != nil {
				t.Fatal(err)
			}
			for _, by := range append([]By{byNode}, allBy...) {
				g, err := c.group(bg, by)
				if err != nil {
					t.Fatal(err)
				}
				tables, err := c.spans(bg, g)
				if err != nil {
					t.Fatal(err)
				}
				for side, rec := range []*recording.Recording{a, b} {
					self, total := naiveSpans(c, g, side, rec)
					for row := range g.rows {
						if by != byNode {
							sameSpans(t, &tables[0].self[side][row], self[row])
						}
						sameSpans(t, &tables[0].total[side][row], total[row])
					}
				}
			}
		}
	}
}

func sameSpans(t *testing.T, d *drawn, want []float64) {
	t.Helper()
	var sum, sum2 float64
	for _, v := range want {
		sum += v
		sum2 += v * v
	}
	slices.Sort(want)
	if d.n != int64(len(want)) || math.Abs(d.sum-sum) > 1e-9*sum || math.Abs(d.sum2-sum2) > 1e-9*sum2 || !slices.Equal(durationsOf(d.kept), want) {
		t.Fatalf("%d spans of %g, squared %g, %d kept; want %d, %g and %g", d.n, d.sum, d.sum2, len(d.kept), len(want), sum, sum2)
	}
}

// naiveSpans returns the durations by row, found from each span's stack.
func naiveSpans(c *Comparison, g *groups, side int, rec *recording.Recording) (self, total map[int][]float64) {
	self, total = map[int][]float64{}, map[int][]float64{}
	in := c.Runs[side].Input
	at := c.Tree.calls(rec, c.Matching.IDs[side])
	for ti, tr := range rec.Tracks {
		if in.Scope.Tracks != nil && !slices.Contains(in.Scope.Tracks, ti) {
			continue
		}
		for li := range tr.Lanes {
			l := &tr.Lanes[li]
			for i := range l.Len() {
				start, end, call := l.Start(i), l.End(i), l.Call(i)
				if in.Scope.Ranged && (start < in.Scope.From || end > in.Scope.To) {
					continue
				}
				alone := end - start
				for lj := range tr.Lanes {
					k := &tr.Lanes[lj]
					for j := range k.Len() {
						if lj != li && k.Start(j) >= start && k.End(j) <= end && rec.Calls.Parent(k.Call(j)) == call {
							alone -= k.End(j) - k.Start(j)
						}
					}
				}
				row, outer := int(g.rowOfCall(side, ti, at[call])), true
				for p := rec.Calls.Parent(call); p != 0 && !ofNodes(g.by); p = rec.Calls.Parent(p) {
					outer = outer && int(g.rowOfCall(side, ti, at[p])) != row
				}
				self[row] = append(self[row], float64(alone))
				if outer {
					total[row] = append(total[row], float64(end-start))
				}
			}
		}
	}
	return self, total
}

// rowOfCall returns the row of a span, given its track and the node of its call.
func (g *groups) rowOfCall(side, track int, node int32) int32 {
	switch {
	case g.by == ByThread:
		return g.track[side][track]
	case ofNodes(g.by):
		return node
	}
	return g.of[side][node]
}

func TestDistribution(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	build := func(n int, mean int64) (*recording.Recording, []float64) {
		p := newProgram(1)
		p.b.AddEvent(recording.SpanEvent())
		tr := p.b.Track(recording.TrackKey{PID: 1, TID: 1})
		var all []float64
		at := int64(0)
		for range n {
			d := mean + r.Int64N(mean)
			tr.Begin(at, p.frame("f@app"), 0)
			tr.End(at + d)
			at += d
			all = append(all, float64(d))
		}
		slices.Sort(all)
		return p.b.Finish(), all
	}
	a, da := build(500, 1000)
	b, db := build(700, 4000)
	c := mustCompare(t, a, b, Options{})
	d, err := c.Distribution(bg, 0, false, 20)
	if err != nil {
		t.Fatal(err)
	}
	if d.A.N != 500 || d.B.N != 700 || d.A.Min != da[0] || d.B.Max != db[699] || d.A.Median != da[249] || d.B.P99 != db[692] {
		t.Errorf("the distribution is %+v and %+v", d.A, d.B)
	}
	for i, side := range []Durations{d.A, d.B} {
		var sum float64
		for k, part := range side.Bins {
			n := 0
			for _, v := range [][]float64{da, db}[i] {
				if v >= d.Edges[k] && (v < d.Edges[k+1] || k == 19) {
					n++
				}
			}
			if math.Abs(part*float64(side.N)-float64(n)) > 1e-6 {
				t.Errorf("bin %d has a part of %g, want %d", k, part, n)
			}
			sum += part
		}
		if math.Abs(sum-1) > 1e-9 {
			t.Errorf("the bins add up to %g", sum)
		}
	}
	if d.P > 1e-9 || d.Shift.By < 3000 {
		t.Errorf("the shift is %+v with p %g", d.Shift, d.P)
	}
	s := mustCompare(t, random(1, poolA), random(2, poolA), Options{Event: "cycles", Metric: "period"})
	if _, err := s.Distribution(bg, 0, false, 5); err == nil {
		t.Error("samples have no durations")
	}
}
