package calls_test

import (
	"context"
	"math"
	"math/big"
	"slices"
	"testing"

	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/ingest/query/calls"
	"ashlar/ingest/query/compare"
	"ashlar/ingest/query/spans"
)

// TestMeansPerCallAgainstNaive compares, per call, a set of calls of each recording with
// all other calls of the function. The totals must equal sums over the spans and samples in
// the calls, divided by the number of outermost calls, and the rows must add up to the
// totals.
func TestMeansPerCallAgainstNaive(t *testing.T) {
	ctx := context.Background()
	timed, sampled, clocked := 0, 0, 0
	recordings(t, func(path string, rec *recording.Recording) {
		all := spansOf(rec)
		names := some(rec, all)
		if len(names) == 0 {
			return
		}
		for _, q := range questions(rec, all, names[0]) {
			if q.q.Others || q.q.Duration.IsSet() == false && q.q.Slowest == 0 {
				continue
			}
			rest := q.q
			rest.Others = true
			others := question{rest, q.of, q.is, q.most}
			sync := func(s *bar) bool { return !s.async }
			sides := [2]*set{others.picked(all, sync), q.picked(all, sync)}
			if len(sides[0].all) == 0 || len(sides[1].all) == 0 {
				continue
			}
			var in [2]recording.Scope
			var outer [2][]*bar
			for i, text := range []string{rest.String(), q.q.String()} {
				in[i] = recording.Scope{Calls: &recording.CallSet{Text: text}}
				outer[i] = outermost(sides[i])
			}
			for e := range rec.Events {
				for m := range rec.Events[e].Metrics {
					c, err := compare.Compare(ctx, []compare.Input{{Rec: rec, Scope: in[0]}}, []compare.Input{{Rec: rec, Scope: in[1]}},
						compare.Options{Event: rec.Events[e].NameOrKind(), Metric: rec.Events[e].Metrics[m].Name, Normalize: compare.Calls})
					if err != nil {
						continue // stacks without times, or a side without the metric
					}
					table, err := c.Table(ctx, compare.ByFunction, false)
					if err != nil {
						t.Fatal(err)
					}
					var sums [2]int64
					for _, r := range table.Rows {
						sums[0], sums[1] = sums[0]+r.ASelf, sums[1]+r.BSelf
					}
					for i, s := range []compare.Side{c.A(), c.B()} {
						bound, err := calls.Bind(ctx, rec, in[i])
						if err != nil {
							t.Fatal(err)
						}
						w, err := analyze.Weigh(ctx, rec, analyze.Query{Event: e, Metric: m, Scope: bound})
						if err != nil {
							t.Fatal(err)
						}
						want := new(big.Rat).SetFrac64(w.Sum, int64(len(outer[i])))
						want.Mul(want, new(big.Rat).SetInt64(int64(math.Pow10(c.Metric.Guard))))
						if s.Calls != int64(len(outer[i])) || s.Total != rounded(want) || sums[i] != s.Total {
							t.Errorf("%s: %s: %s per call of side %d is %d in %d calls, the rows add up to %d; want %s in %d", path, q.q.String(), rec.Events[e].Metrics[m].Name, i, s.Total, s.Calls, sums[i], want.FloatString(2), len(outer[i]))
						}
						switch {
						case rec.Events[e].Basis != recording.FromSpans:
							sampled++
						case m == recording.SpanTime:
							timed++
							var took int64
							for _, b := range outer[i] {
								took += b.end - b.start
							}
							if took != w.Sum {
								t.Errorf("%s: %s: %d in the calls of side %d, want %d", path, q.q.String(), w.Sum, i, took)
							}
						case m >= recording.SpanCPU:
							clocked += onProcessors(t, path, rec, outer[i], m, w.Sum, s)
						}
					}
				}
			}
		}
	})
	t.Logf("%d means of time, %d of samples, %d on processors or waiting", timed, sampled, clocked)
	if timed == 0 {
		t.Fatal("nothing was compared")
	}
}

// onProcessors compares a table's sum of CPU or off-CPU time with the calls' own times, and
// returns 1. If a call has no CPU time, it compares nothing and returns 0.
func onProcessors(t *testing.T, path string, rec *recording.Recording, outer []*bar, metric int, sum int64, s compare.Side) int {
	t.Helper()
	var want int64
	for _, b := range outer {
		cpu, ok := rec.SpanCPU(b.lane, b.index)
		if !ok {
			return 0
		}
		if metric == recording.SpanWaiting {
			cpu = b.end - b.start - cpu
		}
		want += cpu
	}
	each := s.OnCPU
	if metric == recording.SpanWaiting {
		each = s.Waiting
	}
	if each == nil || each.Cmp(new(big.Rat).SetFrac64(want, int64(len(outer)))) != 0 || sum != want {
		t.Errorf("%s: metric %d is %d in %d calls and %v each, want %d", path, metric, sum, len(outer), each, want)
	}
	return 1
}

// outermost returns the calls of a set that are inside no other call of the set.
func outermost(of *set) (outer []*bar) {
	var within func(b *bar) bool
	within = func(b *bar) bool { return b != nil && (of.has(b) || within(b.up) || within(b.also)) }
	for _, b := range of.all {
		if !within(b.up) && !within(b.also) {
			outer = append(outer, b)
		}
	}
	return outer
}

// rounded returns the nearest integer, halves away from 0.
func rounded(r *big.Rat) int64 {
	n := new(big.Int).Mul(r.Num(), big.NewInt(2))
	if n.Sign() < 0 {
		n.Sub(n, r.Denom())
	} else {
		n.Add(n, r.Denom())
	}
	return n.Quo(n, new(big.Int).Mul(r.Denom(), big.NewInt(2))).Int64()
}

// TestModesAgainstNaive checks the modes of every recording's functions against all
// durations: each call is in one mode, neighbouring modes are separated by a valley as the
// manual defines it, and no mode contains another valley.
func TestModesAgainstNaive(t *testing.T) {
	ctx := context.Background()
	several, one := 0, 0
	recordings(t, func(path string, rec *recording.Recording) {
		byFunc := map[recording.FuncID][]int64{}
		for _, s := range spansOf(rec) {
			if !s.async {
				byFunc[rec.Func(s.call)] = append(byFunc[rec.Func(s.call)], s.end-s.start)
			}
		}
		for f, took := range byFunc {
			if len(took) < 20 {
				continue
			}
			in, err := calls.Bind(ctx, rec, recording.Scope{})
			if err != nil {
				t.Fatal(err)
			}
			d, err := spans.DurationsOf(ctx, rec, in, []recording.FuncID{f})
			if err != nil {
				t.Fatal(err)
			}
			hs := d.Modes()
			bins := naiveBins(took, d.Logarithmic, d)
			name := rec.Functions.At(int(f)).Name
			for i, h := range hs {
				n := count(took, h.From, h.To)
				if n != h.Count || i > 0 && hs[i-1].To != h.From {
					t.Errorf("%s: %s: mode %d of %v has %d calls", path, name, i, hs, n)
				}
				if i > 0 && !valleyBetween(bins, hs[i-1], h) {
					t.Errorf("%s: %s: there is no valley between %v and %v", path, name, hs[i-1], h)
				}
				for _, border := range bins {
					if border.From <= h.From || border.From >= h.To {
						continue
					}
					left, right := spans.Mode{From: h.From, To: border.From}, spans.Mode{From: border.From, To: h.To}
					left.To = meeting(bins, left, right)
					right.From = left.To
					if valleyBetween(bins, left, right) && (i == 0 || valleyBetween(bins, hs[i-1], left)) && (i+1 == len(hs) || valleyBetween(bins, right, hs[i+1])) {
						t.Errorf("%s: %s: mode %v of %v has a valley at %d", path, name, h, hs, border.From)
						break
					}
				}
			}
			if len(hs) > 0 && (hs[0].From > slices.Min(took) || hs[len(hs)-1].To <= slices.Max(took)) {
				t.Errorf("%s: %s: the modes %v leave calls of %d to %d out", path, name, hs, slices.Min(took), slices.Max(took))
			}
			if one++; len(hs) > 1 {
				several++
			}
		}
	})
	t.Logf("%d functions, %d with several modes", one, several)
	if one == 0 || several == 0 {
		t.Fatal("there are no modes")
	}
}

// count returns the number of durations in from..to, to excluded.
func count(took []int64, from, to int64) (n int64) {
	for _, d := range took {
		if d >= from && d < to {
			n++
		}
	}
	return n
}

// naiveBins counts durations in the bins of a histogram. It joins bins until each is at
// least ten clock ticks wide; the tick is the greatest common divisor of a few of the
// durations.
func naiveBins(took []int64, of []spans.Bin, d *spans.Durations) (bins []spans.Bin) {
	step := new(big.Int)
	for _, v := range []int64{d.Min, d.Median, d.P90, d.P99, d.P999, d.Max} {
		step.GCD(nil, nil, step, big.NewInt(v))
	}
	for _, b := range of {
		if n := len(bins); n > 0 && (bins[n-1].To-bins[n-1].From)/10 < step.Int64() {
			bins[n-1].To = b.To
		} else {
			bins = append(bins, b)
		}
	}
	for i := range bins {
		bins[i].Count = count(took, bins[i].From, bins[i].To)
	}
	return bins
}

// inMode returns the counts of the bins of a mode, and the index of the first fullest one.
func inMode(bins []spans.Bin, h spans.Mode) (peak int, cs []int64) {
	peak = -1
	for i, b := range bins {
		if b.From < h.From || b.To > h.To {
			continue
		}
		if cs = append(cs, b.Count); peak < 0 || b.Count > bins[peak].Count {
			peak = i
		}
	}
	return peak, cs
}

// meeting returns the border of two modes: the middle of the first emptiest bins between
// their fullest ones.
func meeting(bins []spans.Bin, a, b spans.Mode) int64 {
	pa, _ := inMode(bins, a)
	pb, _ := inMode(bins, b)
	from := pa + 1
	for i := pa + 1; i < pb; i++ {
		if bins[i].Count < bins[from].Count {
			from = i
		}
	}
	to := from
	for to+1 < pb && bins[to+1].Count == bins[from].Count {
		to++
	}
	return bins[(from+to+1)/2].From
}

// valleyBetween reports whether a valley separates two modes: one to five neighbouring bins
// between their fullest bins with at most half as many calls as the fullest run of that
// width in the lower mode, and fewer by three standard deviations.
func valleyBetween(bins []spans.Bin, a, b spans.Mode) bool {
	best := func(cs []int64, w int, most bool) (v int64) {
		v = -1
		if len(cs) < w && most {
			w = len(cs)
		}
		for i := 0; i+w <= len(cs); i++ {
			var sum int64
			for _, c := range cs[i : i+w] {
				sum += c
			}
			if v < 0 || most && sum > v || !most && sum < v {
				v = sum
			}
		}
		return v
	}
	pa, ca := inMode(bins, a)
	pb, cb := inMode(bins, b)
	var between []int64
	for i := pa + 1; i < pb; i++ {
		between = append(between, bins[i].Count)
	}
	for w := 1; w <= 5; w++ {
		low, high := best(between, w, false), min(best(ca, w, true), best(cb, w, true))
		if low >= 0 && high > 0 && 2*low <= high && float64(high-low) >= 3*math.Sqrt(float64(high+low)) {
			return true
		}
	}
	return false
}
