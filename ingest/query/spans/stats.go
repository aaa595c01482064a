package spans

import (
	"cmp"
	"context"
	"math"
	"math/big"
	"math/bits"
	"runtime"
	"slices"
	"sort"

	"ashlar/ingest/model/lanes"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/scan"
)

// Durations summarizes the durations of a function's spans, in picoseconds. A length is
// always the length of the whole span, even if the range cuts it. The length of an
// unfinished span is the length drawn.
type Durations struct {
	// Count is the number of spans that touch the selection, Unfinished the number of
	// these spans that never ended. Without spans, all other fields are zero.
	Count, Unfinished int64
	// WithoutCPU is the number of calls without a CPU time. If CPU or off-CPU time is
	// measured, Count does not include them.
	WithoutCPU int64
	// Sum is the sum of the lengths. Together is the sum for the outermost calls of a
	// set, nil if other spans than the calls of a set were measured.
	Sum, Together          *big.Int
	Min, Max               int64
	Median, P90, P99, P999 int64 // nearest rank
	Slowest                []SlowSpan
	Logarithmic, Linear    []Bin
	OverTime               []Moment
	Trend                  Trend
	From, To               int64 // the time range of the scope

	apart Mode // the calls that stand out from few others
}

// Mean returns the exact mean; nil without spans.
func (d *Durations) Mean() *big.Rat {
	if d.Count == 0 {
		return nil
	}
	return new(big.Rat).SetFrac(d.Sum, big.NewInt(d.Count))
}

// A SlowSpan is one of the longest spans. Duration is the time by which spans are ranked:
// in all, on CPU or off CPU.
type SlowSpan struct {
	Track, Lane, Span int
	Call              recording.CallID
	Start, Duration   int64
	Unfinished        bool
}

const (
	// slowestSpans is the number of longest spans to list.
	slowestSpans = 10
	// momentsOfTime is the number of parts into which the time is divided.
	momentsOfTime = 60
)

// DurationsOf summarizes the durations of the spans of some functions in a scope.
func DurationsOf(ctx context.Context, rec *recording.Recording, in recording.Scope, of []recording.FuncID) (*Durations, error) {
	return TimesOf(ctx, rec, in, of, recording.SpanTime)
}

// DurationsOfEach is DurationsOf for each of at most 255 functions, in one pass.
func DurationsOfEach(ctx context.Context, rec *recording.Recording, in recording.Scope, of []recording.FuncID) ([]*Durations, error) {
	number := make([]uint8, rec.Functions.Len())
	for k, f := range of {
		number[f] = uint8(k + 1)
	}
	call := make([]uint8, rec.Calls.Len())
	for c := 1; c < len(call); c++ {
		call[c] = number[rec.Func(recording.CallID(c))]
	}
	return durations(ctx, rec, in, scan.Lanes(rec, in), group{call, len(of)}, recording.SpanTime)
}

// TimesOf is DurationsOf for any of recording.SpanTime, recording.SpanCPU (time on CPU)
// and recording.SpanWaiting (time off CPU).
func TimesOf(ctx context.Context, rec *recording.Recording, in recording.Scope, of []recording.FuncID, metric int) (*Durations, error) {
	call := make([]uint8, rec.Calls.Len())
	for c, is := range scan.Calls(rec, of) {
		if is {
			call[c] = 1
		}
	}
	return one(durations(ctx, rec, in, scan.Lanes(rec, in), group{call, 1}, metric))
}

func one(all []*Durations, err error) (*Durations, error) {
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// DurationsIn summarizes the durations of the calls or states in a scope's set, without
// the calls inside them.
func DurationsIn(ctx context.Context, rec *recording.Recording, in recording.Scope) (*Durations, error) {
	d, err := one(durations(ctx, rec, in, scan.Picked(rec, in.Calls), group{nil, 1}, recording.SpanTime))
	if err != nil {
		return nil, err
	}
	var hi, lo uint64
	in.Calls.EachOuter(rec, func(_ int, l *lanes.Lane, i int) {
		var carry uint64
		lo, carry = bits.Add64(lo, uint64(l.End(i)-l.Start(i)), 0)
		hi += carry
	})
	d.Together = sum128(hi, lo)
	return d, nil
}

// sum128 returns a sum of 128 bits.
func sum128(hi, lo uint64) *big.Int {
	sum := new(big.Int).SetUint64(hi)
	return sum.Add(sum.Lsh(sum, 64), new(big.Int).SetUint64(lo))
}

// group divides spans by their calls: of is, by call, 1 + the number of its group, 0 for
// none. If of is nil, all spans belong to group 0.
type group struct {
	of     []uint8
	groups int
}

// durations summarizes the spans of lanes, by group.
func durations(ctx context.Context, rec *recording.Recording, in recording.Scope, lanes []scan.Stretch, by group, metric int) ([]*Durations, error) {
	var cpu *recording.OnCPU
	if metric >= recording.SpanCPU {
		var err error
		if cpu, err = scan.CPU(ctx, rec); err != nil {
			return nil, err
		}
	}
	from, to := in.Bounds(rec)
	items := scan.Cut(lanes...)
	edges := momentEdges(from, to)
	all := make([][]*gatherer, runtime.GOMAXPROCS(0))
	err := scan.Spread(ctx, len(items), func(worker, i int) {
		if all[worker] == nil {
			all[worker] = make([]*gatherer, by.groups)
			for k := range all[worker] {
				g := newGatherer(edges, rec.Counts.Unfinished > 0)
				g.cpu, g.waiting = cpu, metric == recording.SpanWaiting
				all[worker][k] = g
			}
		}
		gather(&items[i], by.of, all[worker])
	})
	if err != nil {
		return nil, err
	}
	out := make([]*Durations, by.groups)
	for k := range out {
		d := &Durations{Sum: new(big.Int), Min: math.MaxInt64, Max: math.MinInt64, From: from, To: to}
		values := make([]parts, len(edges)-1)
		for _, gs := range all {
			if gs != nil {
				d.take(gs[k], values)
			}
		}
		if out[k] = d; d.Count == 0 {
			out[k] = &Durations{Sum: d.Sum, WithoutCPU: d.WithoutCPU, From: from, To: to, Trend: TrendOf(nil)}
		} else if err := d.summarize(ctx, values, edges); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// momentEdges divides from..to into equal moments, at most one per picosecond.
func momentEdges(from, to int64) []int64 {
	span := max(1, to-from)
	n := min(momentsOfTime, span)
	edges := make([]int64, n+1)
	for i := range edges {
		k := int64(i)
		edges[i] = from + span/n*k + span%n*k/n
	}
	return edges
}

// gatherer collects the lengths of a function's spans from lanes, by moment.
type gatherer struct {
	edges      []int64
	moments    []growing
	count      int64
	sumHi, sum uint64
	min, max   int64
	slow       []SlowSpan // longest first
	unfinished int64
	open       bool // the recording has unfinished spans
	// cpu, if set, makes the gatherer measure times on CPU or, with waiting, times off
	// CPU.
	cpu     *recording.OnCPU
	waiting bool
	untold  int64
}

func newGatherer(edges []int64, open bool) *gatherer {
	return &gatherer{edges: edges, open: open, moments: make([]growing, len(edges)-1), min: math.MaxInt64, max: math.MinInt64}
}

// growing is a list of values that grows without copying.
type growing struct {
	full parts
	last []int64
}

func (g *growing) grow() {
	n := 64
	if g.last != nil {
		g.full = append(g.full, g.last)
		n = min(8*cap(g.last), 1<<13)
	}
	g.last = make([]int64, 0, n)
}

// gather adds the spans of a stretch to the gatherers of their groups; see group.
func gather(s *scan.Stretch, of []uint8, to []*gatherer) {
	edges := to[0].edges
	m := max(0, sort.Search(len(edges), func(k int) bool { return edges[k] > s.Lane.Start(s.First) })-1)
	m = min(m, len(edges)-2)
	until := edges[m+1]
	s.Each(func(i int, starts, ends []int64, calls []recording.CallID) {
		for k, c := range calls {
			g := to[0]
			if of != nil {
				if of[c] == 0 {
					continue
				}
				g = to[of[c]-1]
			}
			start := starts[k]
			for start >= until && m < len(edges)-2 {
				m++
				until = edges[m+1]
			}
			d := ends[k] - start
			if g.cpu != nil {
				ran := g.cpu.Spans[s.Track][s.Row][i+k]
				if ran == recording.Missing {
					g.untold++
					continue
				}
				if d -= ran; !g.waiting {
					d = ran
				}
			}
			into := &g.moments[m]
			if len(into.last) == cap(into.last) {
				into.grow()
			}
			into.last = append(into.last, d)
			var carry uint64
			g.sum, carry = bits.Add64(g.sum, uint64(d), 0)
			g.sumHi += carry
			g.count++
			g.min, g.max = min(g.min, d), max(g.max, d)
			if g.open && s.Lane.Unfinished(i+k) {
				g.unfinished++
			}
			if len(g.slow) < slowestSpans || d >= g.slow[slowestSpans-1].Duration {
				g.keep(s, i+k, start, d)
			}
		}
	})
}

// slower orders spans: longest first, then earliest, then by track and place.
func slower(a, b SlowSpan) int {
	return cmp.Or(cmp.Compare(b.Duration, a.Duration), cmp.Compare(a.Start, b.Start),
		cmp.Compare(a.Track, b.Track), cmp.Compare(a.Call, b.Call), cmp.Compare(a.Span, b.Span))
}

// keep adds a span to the longest ones if it is one of them.
func (g *gatherer) keep(s *scan.Stretch, span int, start, d int64) {
	x := SlowSpan{Track: s.Track, Lane: s.Row, Span: span, Call: s.Lane.Call(span), Start: start, Duration: d, Unfinished: s.Lane.Unfinished(span)}
	at, _ := slices.BinarySearchFunc(g.slow, x, slower)
	if at == slowestSpans {
		return
	}
	g.slow = slices.Insert(g.slow, at, x)
	g.slow = g.slow[:min(len(g.slow), slowestSpans)]
}

// take adds the results of one goroutine.
func (d *Durations) take(g *gatherer, values []parts) {
	d.Count += g.count
	d.Unfinished += g.unfinished
	d.WithoutCPU += g.untold
	d.Min, d.Max = min(d.Min, g.min), max(d.Max, g.max)
	d.Sum.Add(d.Sum, sum128(g.sumHi, g.sum))
	d.Slowest = append(d.Slowest, g.slow...)
	slices.SortFunc(d.Slowest, slower)
	d.Slowest = d.Slowest[:min(len(d.Slowest), slowestSpans)]
	for m := range g.moments {
		mo := &g.moments[m]
		values[m] = append(values[m], mo.full...)
		if len(mo.last) > 0 {
			values[m] = append(values[m], mo.last)
		}
	}
}

// summarize computes percentiles, histograms and the trend over time.
func (d *Durations) summarize(ctx context.Context, values []parts, edges []int64) error {
	var all parts
	for _, p := range values {
		all = append(all, p...)
	}
	n := d.Count
	ranks, err := atRanks(ctx, all, d.Min, d.Max, []int64{rankOf(n, 500), rankOf(n, 900), rankOf(n, 990), rankOf(n, 999)})
	if err != nil {
		return err
	}
	d.Median, d.P90, d.P99, d.P999 = ranks[0], ranks[1], ranks[2], ranks[3]
	d.findApart(all)
	if d.Logarithmic, d.Linear, err = histograms(ctx, all, d.Min, d.Max); err != nil {
		return err
	}
	d.OverTime = make([]Moment, len(values))
	err = scan.Spread(ctx, len(values), func(_, m int) {
		mo := Moment{From: edges[m], To: edges[m+1], Count: values[m].len()}
		if mo.Count > 0 {
			s := make([]int64, 0, mo.Count)
			for _, p := range values[m] {
				s = append(s, p...)
			}
			mo.Median = Nth(s, int(rankOf(mo.Count, 500)))
		}
		d.OverTime[m] = mo
	})
	d.Trend = TrendOf(d.OverTime)
	return err
}
