package findings

import (
	"cmp"
	"math"
	"slices"

	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/ingest/query/spans"
)

// Another program that takes the processor prolongs the calls of all functions, each as often as
// it runs. So a function is to blame only if most others are not affected as much.

// leaves returns the functions of a trace other than one that spend at least half of their time
// themselves, and the durations of their calls.
func (l *look) leaves(without recording.FuncID) ([]*spans.Durations, error) {
	rows := l.functions(func(r *analyze.Row) bool {
		return r.Func != without && r.Count >= fewestCalls && 50*r.Total >= l.sum && 2*r.Self >= r.Total
	})
	slices.SortStableFunc(rows, func(a, b analyze.Row) int { return cmp.Compare(b.Total, a.Total) })
	rows = rows[:min(len(rows), mostFunctions)]
	if len(rows) == 0 {
		return nil, nil
	}
	ids := make([]recording.FuncID, len(rows))
	for i := range rows {
		ids[i] = rows[i].Func
	}
	return spans.DurationsOfEach(l.ctx, l.rec, l.query.Scope, ids)
}

// mostOf reports whether a disturbance affects at least half of some functions, which usually take
// at least half of their time.
func mostOf(all []*spans.Durations, affected func(*spans.Durations) bool) bool {
	n, has, time, sum := 0, 0, 0., 0.
	for _, d := range all {
		if d.Count == 0 {
			continue
		}
		usual := float64(d.Count) * float64(d.Median)
		sum += usual
		if n++; affected(d) {
			has, time = has+1, time+usual
		}
	}
	return has > 0 && 2*has >= n && 2*time >= sum
}

// disturbed reports whether the long calls of a function are no more than what other programs do
// to the functions of this one: most others, its callees among them, lose at least a third as
// much beyond their usual time. An interruption prolongs one of the callees; if much shorter ones
// are slow exactly as often as the function, all of them have more work in its slow calls.
func (l *look) disturbed(f recording.FuncID, d *spans.Durations) (bool, error) {
	often := func(d *spans.Durations) float64 { // the share of slow calls
		slow, _ := d.Slow()
		return float64(slow.Count) / float64(d.Count)
	}
	all, err := l.leaves(f)
	return mostOf(all, func(other *spans.Durations) bool {
		asOften := 2*other.Median <= d.Median && math.Abs(often(other)-often(d)) <= .05*often(d)
		return 3*spread(other) >= spread(d) && !asOften
	}), err
}

// quarters is the number of parts of the time whose durations are compared.
const quarters = 4

// growth returns the typical duration of calls in each quarter of the time, and how much it varies
// within the second most varied (interquartile range of the medians of moments): in the most
// varied one, calls may become slower. ok is false with too few moments.
func growth(d *spans.Durations) (typical [quarters]int64, varies int64, ok bool) {
	var medians []int64
	for _, m := range d.OverTime {
		if m.Count > 0 {
			medians = append(medians, m.Median)
		}
	}
	n := len(medians) / quarters
	if n == 0 {
		return typical, 0, false
	}
	var ranges [quarters]int64
	for k := range typical {
		part := slices.Sorted(slices.Values(medians[k*n : k*n+n]))
		ranges[k] = part[(3*n-1)/4] - part[n/4]
		typical[k] = part[(n-1)/2]
	}
	slices.Sort(ranges[:])
	return typical, ranges[quarters-2], true
}

// slowed reports whether it is not the calls of a function that become slower: they vary as much
// within a quarter of the time as they grow, so that a disturbance may explain it; or most other
// functions, callees among them, grow at least a third as much, and not bit by bit, as with more
// work, but at once, as on a machine that other programs begin to use.
func (l *look) slowed(f recording.FuncID, d *spans.Durations) (bool, error) {
	typical, varies, ok := growth(d)
	whole := typical[quarters-1] - typical[0]
	if !ok || whole <= varies {
		return true, nil
	}
	gradual := true
	for k := 1; k < quarters; k++ {
		gradual = gradual && 8*(typical[k]-typical[k-1]) >= whole
	}
	if gradual {
		return false, nil
	}
	grows := func(t *spans.Trend) float64 { return t.Last/t.First - 1 }
	all, err := l.leaves(f)
	return mostOf(all, func(other *spans.Durations) bool {
		return other.Trend.First > 0 && 3*grows(&other.Trend) >= grows(&d.Trend)
	}), err
}
