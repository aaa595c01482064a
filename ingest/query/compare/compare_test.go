package compare

import (
	"context"
	"maps"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/ingest/query/compare/match"
	"ashlar/testdata/rounds"
)

var bg = context.Background()

// checkSums checks what holds for every comparison: in every grouping, the rows and the
// tree add up to the totals exactly.
func checkSums(t *testing.T, c *Comparison, tables map[By]*Table) {
	t.Helper()
	a, b := c.A().Total, c.B().Total
	if root := &c.Tree.Nodes[0]; root.A.Total != a || root.B.Total != b {
		t.Errorf("the tree adds up to %d and %d, the totals are %d and %d", root.A.Total, root.B.Total, a, b)
	}
	for _, by := range allBy {
		var sa, sb, delta int64
		for i := range tables[by].Rows {
			r := &tables[by].Rows[i]
			sa, sb, delta = sa+r.ASelf, sb+r.BSelf, delta+r.DeltaSelf()
		}
		if sa != a || sb != b || delta != b-a {
			t.Errorf("by %s, self adds up to %d and %d, the differences to %d; the totals are %d and %d", by, sa, sb, delta, a, b)
		}
	}
}

// checkOneSide compares each side of a raw comparison with the analysis of that recording
// alone.
func checkOneSide(t *testing.T, c *Comparison, table *Table) {
	t.Helper()
	for r := range c.Runs {
		want := naiveTable(t, c.Runs[r].Rec, c.Runs[r].query)
		seen := 0
		for i := range table.Rows {
			row := &table.Rows[i]
			if row.Key < 0 {
				continue
			}
			self, total := row.ASelf, row.ATotal
			if r == 1 {
				self, total = row.BSelf, row.BTotal
			}
			var w analyze.Row
			if id := c.Matching.Funcs[row.Key].In[r]; id >= 0 {
				if got, ok := want[recording.FuncID(id)]; ok {
					w = got
					seen++
				}
			}
			k := c.Metric.times[r]
			if self != w.Self*k || total != w.Total*k {
				t.Errorf("%s has self %d, total %d; alone it has %d and %d times %d", row.Name, self, total, w.Self, w.Total, k)
			}
		}
		if seen != len(want) {
			t.Errorf("%d functions of recording %d have a row, of %d", seen, r, len(want))
		}
	}
}

// rowKey holds the parts of a row that are compared with the row of the opposite
// comparison.
type rowKey struct {
	name, nameB                     string
	status                          Status
	aSelf, bSelf, aTotal, bTotal, p int64 // p in millionths, -1 for none
}

func tableKey(r *Row, by By) rowKey {
	k := rowKey{r.Name, r.NameB, r.Status, r.ASelf, r.BSelf, r.ATotal, r.BTotal, -1}
	if by == ByStack { // named after A if both sides have the stack
		k.name, k.nameB = "", ""
	}
	if c := r.Confidence(); c != nil {
		k.p = int64(math.Round(c.P * 1e6))
	}
	return k
}

// mirrored returns the expected row of the opposite comparison, named after B.
func (k rowKey) mirrored() rowKey {
	k.aSelf, k.bSelf, k.aTotal, k.bTotal = k.bSelf, k.aSelf, k.bTotal, k.aTotal
	if k.nameB != "" {
		k.name, k.nameB = k.nameB, k.name
	}
	switch k.status {
	case New:
		k.status = Gone
	case Gone:
		k.status = New
	}
	return k
}

// checkMirror compares the tables of a comparison with those of the opposite comparison.
func checkMirror(t *testing.T, here, there map[By]*Table) {
	t.Helper()
	for _, by := range allBy {
		back := map[rowKey]int{}
		for i := range there[by].Rows {
			back[tableKey(&there[by].Rows[i], by)]++
		}
		for i := range here[by].Rows {
			m := tableKey(&here[by].Rows[i], by).mirrored()
			if back[m] == 0 {
				t.Errorf("by %s, nothing mirrors %+v", by, m)
			}
			back[m]--
		}
		if h, o := len(here[by].Rows), len(there[by].Rows); h != o {
			t.Errorf("by %s, there are %d rows one way and %d the other", by, h, o)
		}
	}
}

func checkEmpty(t *testing.T, rec *recording.Recording, o Options) {
	t.Helper()
	c := mustCompare(t, rec, rec, o)
	for _, by := range allBy {
		table := mustTable(t, c, by)
		for _, r := range table.Rows {
			if r.Status != Same || r.DeltaSelf() != 0 || r.DeltaTotal() != 0 {
				t.Errorf("compared with itself by %s, %s is %s by %d", by, r.Name, r.Status, r.DeltaSelf())
			}
			if conf := r.Confidence(); conf != nil && conf.P < .9 {
				t.Errorf("compared with itself by %s, %s differs with p %g", by, r.Name, conf.P)
			}
		}
	}
	for i := range c.Tree.Nodes {
		if s := c.Tree.Nodes[i].Status(); s != Same {
			t.Fatalf("compared with itself, node %d is %s", i, s)
		}
	}
}

func metricsOfEvent(rec *recording.Recording) (out []Options) {
	for e := range rec.Events {
		for m := range rec.Events[e].Metrics {
			out = append(out, Options{Event: rec.Events[e].NameOrKind(), Metric: rec.Events[e].Metrics[m].Name})
		}
	}
	return out
}

func TestRandomPairs(t *testing.T) {
	t.Parallel()
	for seed := range rounds.Of(uint64(40)) {
		a, b := random(seed, poolA), random(seed+1000, poolB)
		for _, o := range metricsOfEvent(a) {
			for _, n := range []Normalize{Raw, Total, Duration, Samples} {
				o.Normalize = n
				x, y := sides(a, b)
				c, err := Compare(bg, x, y, o)
				if err != nil {
					if strings.Contains(err.Error(), "cannot normalise") {
						continue
					}
					t.Fatal(err)
				}
				tables := mustTables(t, c, n == Raw)
				checkSums(t, c, tables)
				if n == Raw {
					checkOneSide(t, c, tables[ByFunction])
					checkMirror(t, tables, mustTables(t, mustCompare(t, b, a, o), true))
				}
				if n == Total && c.A().Total != c.B().Total {
					t.Errorf("normalised by total, the totals are %d and %d", c.A().Total, c.B().Total)
				}
				checkScaled(t, c)
				if t.Failed() {
					t.Fatalf("for seed %d, %+v", seed, o)
				}
			}
			o.Normalize = Raw
			checkEmpty(t, a, o)
		}
	}
}

// checkScaled compares the values of a normalised comparison with exact fractions: no
// subtree may be off by more than the last decimal.
func checkScaled(t *testing.T, c *Comparison) {
	t.Helper()
	x, y := sides(c.Runs[0].Rec, c.Runs[1].Rec)
	o := Options{Event: c.Runs[0].Rec.Events[c.Metric.Event[0]].NameOrKind(), Metric: c.Metric.Common.Name}
	d, err := Compare(bg, x, y, o)
	if err != nil {
		t.Fatal(err)
	}
	for r := range c.Runs {
		f := new(big.Rat).Quo(c.Runs[r].factor.rat, new(big.Rat).SetInt64(d.Metric.times[r]))
		for i := range d.Tree.Nodes {
			total := d.Tree.Nodes[i].A.Total
			got := c.Tree.Nodes[i].A.Total
			if r == 1 {
				total, got = d.Tree.Nodes[i].B.Total, c.Tree.Nodes[i].B.Total
			}
			by := new(big.Rat).Mul(f, new(big.Rat).SetInt64(total))
			by.Sub(by, new(big.Rat).SetInt64(got))
			if off, _ := by.Float64(); math.Abs(off) > 1 {
				t.Fatalf("node %d of recording %d is off by %g of its last decimal", i, r, off)
			}
		}
	}
}

// manyCalls is the number of calls from which a sample is large. Large samples are tested
// only once with each option, not in every combination.
const manyCalls = 100_000

func large(rec *recording.Recording) bool { return rec.Calls.Len() > manyCalls }

func TestSamplesWithThemselves(t *testing.T) {
	t.Parallel()
	for name, rec := range needSamples(t) {
		options := metricsOfEvent(rec)
		if large(rec) {
			options = options[:1]
		}
		for _, o := range options {
			checkEmpty(t, rec, o)
		}
		if t.Failed() {
			t.Fatal(name)
		}
	}
}

// TestSamplePairs compares each sample with the next one that has a metric in common. Large
// samples that were compared already are skipped.
func TestSamplePairs(t *testing.T) {
	t.Parallel()
	all := needSamples(t)
	names := slices.Sorted(maps.Keys(all))
	pairs, had := 0, map[string]bool{}
	for i, na := range names {
		for _, nb := range names[i+1:] {
			a, b := all[na], all[nb]
			if large(a) && had[na] {
				break
			}
			x, y := sides(a, b)
			c, err := Compare(bg, x, y, Options{})
			if err != nil {
				if !strings.Contains(err.Error(), "the recordings have no metric in common") {
					t.Errorf("%s and %s: %v", na, nb, err)
				}
				continue
			}
			pairs++
			had[nb] = true
			tables := mustTables(t, c, true)
			checkSums(t, c, tables)
			checkOneSide(t, c, tables[ByFunction])
			ev := &a.Events[c.Metric.Event[0]]
			if c.Metric.Rule == sameEvent {
				o := Options{Event: ev.NameOrKind(), Metric: ev.Metrics[c.Metric.Metric[0]].Name}
				checkMirror(t, tables, mustTables(t, mustCompare(t, b, a, o), true))
			}
			normalizes := []Normalize{Total, Duration, Samples}
			if large(a) || large(b) {
				normalizes = normalizes[:1]
			}
			for _, n := range normalizes {
				if c, err := Compare(bg, x, y, Options{Normalize: n}); err == nil {
					checkSums(t, c, mustTables(t, c, false))
				}
			}
			if t.Failed() {
				t.Fatalf("%s and %s", na, nb)
			}
			break
		}
	}
	if pairs < 20 {
		t.Errorf("only %d pairs could be compared", pairs)
	}
}

func TestSeveralRuns(t *testing.T) {
	var a, b []Input
	for i := range uint64(3) {
		a = append(a, Input{Rec: random(100+i, poolA)})
		b = append(b, Input{Rec: random(200+i, poolB)})
	}
	b = b[:2]
	for _, n := range []Normalize{Raw, Total, Samples} {
		c, err := Compare(bg, a, b, Options{Event: "cycles", Metric: "period", Normalize: n})
		if err != nil {
			t.Fatal(err)
		}
		checkSums(t, c, mustTables(t, c, false))
		if c.Method() != FromRuns {
			t.Errorf("the method is %q", c.Method())
		}
		if n != Raw {
			continue
		}
		// Compute the mean of the total and of each function by hand.
		var sum int64
		self := map[string]int64{}
		for _, in := range a {
			q := analyze.Query{Event: 1, Metric: 1}
			w, _ := analyze.Weigh(bg, in.Rec, q)
			sum += w.Sum
			for id, r := range naiveTable(t, in.Rec, q) {
				fn := in.Rec.Functions.At(int(id))
				self[fn.Name+"@"+fn.Module] += r.Self
			}
		}
		scale := math.Pow10(c.Metric.Common.Decimals)
		if got := float64(c.A().Total) / scale; math.Abs(got-float64(sum)/3) > 1e-3 {
			t.Errorf("the mean of A is %g, want %g", got, float64(sum)/3)
		}
		for _, r := range mustTable(t, c, ByFunction).Rows {
			if want := float64(self[r.Name+"@"+r.Module]) / 3; r.Status != New && r.Key >= 0 && math.Abs(float64(r.ASelf)/scale-want) > 1e-3 {
				t.Errorf("the mean of %s is %g, want %g", r.Name, float64(r.ASelf)/scale, want)
			}
		}
	}
}

func TestRangesOfOneFile(t *testing.T) {
	p := newProgram(1)
	p.b.AddEvent(recording.SpanEvent())
	tr := p.b.Track(recording.TrackKey{PID: 1, TID: 1})
	at := int64(0)
	for i := range 200 {
		d := int64(1000 + i%7)
		if i >= 100 {
			d += 500
		}
		tr.Begin(at, p.frame("work@app"), 0)
		tr.End(at + d)
		at += 2000
	}
	rec := p.b.Finish()
	a := []Input{{Rec: rec, Scope: recording.Between(0, 200_000)}}
	b := []Input{{Rec: rec, Scope: recording.Between(200_000, 400_000)}}
	c, err := Compare(bg, a, b, Options{})
	if err != nil {
		t.Fatal(err)
	}
	rows := mustTable(t, c, ByFunction).Rows
	if len(rows) != 1 || rows[0].DeltaSelf() < 49_980 || rows[0].DeltaSelf() > 50_020 {
		t.Fatalf("the rows are %+v", rows)
	}
	conf := rows[0].Self
	if conf == nil || conf.Method != FromDurations || conf.Level() < .99 || conf.Shift().By != 500 {
		t.Errorf("the confidence is %+v, %+v", conf, conf.Shift())
	}
	if n := conf.A + conf.B; n != 200 {
		t.Errorf("%d spans are behind it", n)
	}
}

func TestErrorsSayWhatThereIs(t *testing.T) {
	a, b := random(1, poolA), random(2, poolB)
	x, y := sides(a, b)
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{Metric: "bytes"}, "samples"},
		{Options{Event: "cycles", Metric: "none"}, "period"},
	} {
		if _, err := Compare(bg, x, y, c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: the error is %v", c.o, err)
		}
	}
	if _, err := Compare(bg, x, nil, Options{}); err == nil {
		t.Error("nothing can be compared with nothing")
	}
	if _, err := Compare(bg, x, y, Options{Match: match.Options{Hand: []match.Pair{{A: "no", B: "such"}}}}); err == nil || !strings.Contains(err.Error(), "no=such") {
		t.Errorf("the error about a pair is %v", err)
	}
	p := newProgram(3)
	p.b.AddEvent(recording.Event{Metrics: []recording.Metric{{Name: "cpu", Unit: "ns"}}})
	empty := p.b.Finish()
	if _, err := Compare(bg, []Input{{Rec: empty}}, []Input{{Rec: empty}}, Options{Normalize: Total}); err == nil || !strings.Contains(err.Error(), "normalise") {
		t.Errorf("the error about an empty total is %v", err)
	}
	if _, err := Compare(bg, []Input{{Rec: empty, Scope: recording.Between(0, 5)}}, []Input{{Rec: empty}}, Options{}); err == nil || !strings.Contains(err.Error(), "no times") {
		t.Errorf("the error about a range is %v", err)
	}
}
