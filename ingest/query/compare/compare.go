package compare

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"sync"

	"ashlar/ingest/input/memory"
	"ashlar/ingest/model/lanes"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/ingest/query/calls"
	"ashlar/ingest/query/compare/match"
)

// An Input is one recording of a side, or a scope of it.
type Input struct {
	Rec   *recording.Recording
	Scope recording.Scope
}

// Options configure a comparison. The zero value compares the default metric without
// scaling, with all matching rules.
type Options struct {
	Event, Metric string
	// MetricB names B's metric if it has another name; "" for the counterpart of A's.
	MetricB   string
	Normalize Normalize // Raw when empty
	Match     match.Options
	// Matching, if set, is an earlier result of Match for the same recordings in the same
	// order.
	Matching *match.Matching
	// Transforms are applied to the stacks of all recordings alike.
	Transforms []analyze.Transform
}

// Run is one recording of a comparison.
type Run struct {
	Input
	// Weights is the result for this recording, in its own units. Sum is their sum in the
	// common metric's units before normalising, Scaled after.
	Weights     *analyze.Weights
	Sum, Scaled int64
	// Samples is the number of samples, or of spans or records if the number of samples is
	// unknown (then Counted is false). Length is the duration of the compared part in
	// picoseconds, or the noted duration of a recording without timestamps; 0 if unknown.
	Samples int64
	Counted bool
	Length  int64
	// Calls is the number of outermost calls in the scope's set; 0 without a set.
	Calls int64

	// tells reports whether all calls that ended within the scope have a CPU time; onCPU
	// and waiting are their times on and off CPU, in the units of tables.
	tells          bool
	onCPU, waiting int64

	query  analyze.Query
	behind *analyze.Weights
	factor factor
}

// A Comparison is the result of Compare. Its methods may be called concurrently.
type Comparison struct {
	Metric    *Metric
	Normalize Normalize
	Matching  *match.Matching
	// Runs are the recordings, A's first; the first Sides of them are A's.
	Runs  []Run
	Sides int
	// Tree has the stacks of both sides.
	Tree *Tree
	// Renames are the functions that have other names in B, the costliest first.
	Renames []match.Rename

	calls [][]int64 // by recording and its functions; nil if unknown
	work  Work

	recs       []*recording.Recording
	match      match.Options
	transforms []analyze.Transform
	noise      func() *noise // for FromCounts
	pace       func() *pace  // for FromRuns
}

// Method is the statistical method behind a confidence.
type Method string

// Methods; see the package documentation.
const (
	NoMethod      Method = ""
	FromRuns      Method = "runs"
	FromCounts    Method = "counts"
	FromDurations Method = "durations"
)

// comparedBytes is roughly the memory, in bytes, that a comparison takes per call of the
// recordings.
const comparedBytes = 600

// Compare compares recordings of side A with recordings of side B. Errors are one
// sentence. It fails if a metric has no counterpart, if the recordings do not allow the
// normalisation, or if a manual pair names no function.
func Compare(ctx context.Context, a, b []Input, o Options) (*Comparison, error) {
	if len(a) == 0 || len(b) == 0 {
		return nil, errors.New("a comparison needs a recording on both sides")
	}
	c := &Comparison{Normalize: o.Normalize, Sides: len(a), match: o.Match, Matching: o.Matching, transforms: o.Transforms}
	if c.Normalize == "" {
		c.Normalize = Raw
	}
	for _, in := range append(append([]Input(nil), a...), b...) {
		c.Runs = append(c.Runs, Run{Input: in})
		c.recs = append(c.recs, in.Rec)
	}
	var err error
	if c.Metric, err = matchMetrics(c.recs, c.Sides, o); err != nil {
		return nil, err
	}
	if c.Matching == nil {
		if c.Matching, err = match.Functions(c.recs[:c.Sides], c.recs[c.Sides:], o.Match); err != nil {
			return nil, err
		}
	}
	c.Matching = c.Matching.Base() // renamed functions are matched again below
	calls := 0
	for _, rec := range c.recs {
		calls += rec.Calls.Len()
	}
	if err := memory.NeedEach(calls, comparedBytes, "the comparison"); err != nil {
		return nil, err
	}
	for r := range c.Runs {
		if err := c.weigh(ctx, r, o.Transforms); err != nil {
			return nil, err
		}
	}
	c.count()
	c.settle()
	if err := c.normalize(); err != nil {
		return nil, err
	}
	if c.Tree, err = c.grow(o.Transforms); err != nil {
		return nil, err
	}
	c.noise = sync.OnceValue(c.noiseOf)
	c.pace = sync.OnceValue(c.paceOf)
	return c, ctx.Err()
}

// weigh computes the weights of one recording.
func (c *Comparison) weigh(ctx context.Context, r int, ts []analyze.Transform) (err error) {
	run := &c.Runs[r]
	if run.Scope.Ranged && !run.Rec.HasTime {
		return fmt.Errorf("%s has no timestamps; remove the range", run.Rec.Source.Path)
	}
	if run.Scope.Outside && run.Scope.Calls != nil {
		return errors.New("the rest of a recording cannot be limited to calls; remove the call selection or the range")
	}
	if run.Scope, err = calls.Bind(ctx, run.Rec, run.Scope); err != nil {
		return err
	}
	run.query = analyze.Query{Event: c.Metric.Event[r], Metric: c.Metric.Metric[r], Scope: run.Scope}.With(run.Rec, ts)
	if run.Weights, err = analyze.Weigh(ctx, run.Rec, run.query); err != nil {
		return err
	}
	if run.Scope.Ranged && !run.Weights.Ranged {
		return fmt.Errorf("%s: %s has no timestamps; remove the range", run.Rec.Source.Path, c.Metric.Common.Name)
	}
	if run.Scope.Calls != nil && !run.Weights.Called {
		return fmt.Errorf("%s: %s is not recorded per call; remove the call selection", run.Rec.Source.Path, c.Metric.Common.Name)
	}
	if run.behind, err = SamplesBehind(ctx, run.Rec, run.query, run.Weights); err != nil {
		return err
	}
	run.Samples = run.Weights.Records
	if run.behind != nil {
		run.Samples, run.Counted = run.behind.Sum, true
	}
	if run.Rec.HasTime {
		run.Length = run.Rec.Duration()
	} else if notes := run.Rec.Source.NotesOf(recording.NoteDuration); len(notes) == 1 {
		if ns, ok := recording.NoteNanos(notes[0]); ok && ns < math.MaxInt64/1000 {
			run.Length = max(0, ns) * 1000
		}
	}
	if run.Weights.Ranged {
		run.Length = run.Weights.To - run.Weights.From
		if run.Scope.Outside {
			run.Length = run.Scope.Length(run.Rec)
		}
	}
	if run.Scope.Calls != nil {
		if err := run.calls(ctx); err != nil {
			return err
		}
	}
	f := newFactor(new(big.Rat).SetInt64(c.Metric.times[r]))
	if run.Sum, err = f.round(run.Weights.Sum); err != nil {
		return fmt.Errorf("%s: %w", run.Rec.Source.Path, err)
	}
	return nil
}

// calls counts the calls of a run's set and adds up their durations within its scope. If
// all calls that ended in the scope have a CPU time, it also adds up their times on and
// off CPU.
func (r *Run) calls(ctx context.Context) error {
	from, to := r.query.Scope.Bounds(r.Rec)
	chosen := r.query.Scope.TrackTest()
	r.tells = false
	ended, tell := int64(0), int64(0)
	r.Calls, r.Length = 0, 0
	r.query.Scope.Calls.EachOuter(r.Rec, func(track int, l *lanes.Lane, i int) {
		if !chosen(track) {
			return
		}
		r.Calls++
		recording.Add(&r.Length, max(0, min(l.End(i), to)-max(l.Start(i), from)))
		if l.Unfinished(i) || l.Start(i) < from || l.End(i) > to {
			return
		}
		ended++
		if _, ok := r.Rec.SpanCPU(l, i); ok {
			tell++
		}
	})
	e := &r.Rec.Events[r.query.Event]
	if r.tells = e.Basis == recording.FromSpans && tell > 0 && tell == ended; !r.tells {
		return nil
	}
	for metric, sum := range map[int]*int64{recording.SpanCPU: &r.onCPU, recording.SpanWaiting: &r.waiting} {
		q := r.query
		q.Metric = metric
		w, err := analyze.Weigh(ctx, r.Rec, q)
		if err != nil {
			return err
		}
		*sum = w.Sum
	}
	return nil
}

// Totals returns the totals of both sides in another normalisation, and the metric for
// their units.
func (c *Comparison) Totals(n Normalize) (a, b int64, m *Metric, err error) {
	o, metric := *c, *c.Metric
	metric.Common.Decimals, metric.Guard = metric.Common.Decimals-metric.Guard, 0
	o.Metric, o.Normalize, o.Runs = &metric, n, slices.Clone(c.Runs)
	for r := range o.Runs {
		run := &o.Runs[r]
		if run.Sum, err = newFactor(new(big.Rat).SetInt64(metric.times[r])).round(run.Weights.Sum); err != nil {
			return 0, 0, nil, err
		}
	}
	err = o.normalize()
	return o.A().Total, o.B().Total, &metric, err
}

// grow makes the tree of both sides, with unsorted children.
func (c *Comparison) grow(ts []analyze.Transform) (*Tree, error) {
	in := make([]grown, len(c.Runs))
	factors := make([]factor, len(c.Runs))
	for r := range c.Runs {
		run := &c.Runs[r]
		in[r] = grown{run.Rec, stacksOf(run.Rec, run.Weights, ts), stacksOf(run.Rec, run.behind, ts)}
		factors[r] = run.factor
	}
	t := merge(in, c.Sides, c.Matching)
	if c.Matching.MayRename(c.recs, c.Sides, c.match) { // by recorded values, before scaling
		raw := make([]factor, len(c.Runs))
		for r := range raw {
			_, n := c.sideOf(r)
			raw[r] = newFactor(new(big.Rat).Mul(c.own(r), big.NewRat(1, int64(n))))
			raw[r] = newFactor(raw[r].rat.Mul(raw[r].rat, new(big.Rat).SetInt(pow10(c.Metric.Common.Decimals))))
		}
		before := slices.Clone(t.runs)
		if err := t.scale(t.byFactor(raw)); err != nil {
			return nil, err
		}
		if c.Matching, c.Renames = c.Matching.Renamed(c.recs, c.Sides, c.match, c.costs(t)); len(c.Renames) > 0 {
			c.count()
			t = merge(in, c.Sides, c.Matching)
		} else {
			t.unscale(before)
		}
	}
	if !c.PerCall() {
		return t, t.scale(t.byFactor(factors))
	}
	before := slices.Clone(t.runs)
	if err := t.scale(func(r int) ([]int64, error) { return c.perCall(t, r) }); err != nil {
		return nil, err
	}
	for r := range c.Runs {
		if err := c.total(t, r, before[r]); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// costs returns the costs of a tree's functions, from which renames are found.
func (c *Comparison) costs(t *Tree) match.Costs {
	root := &t.Nodes[0]
	costs := match.Costs{Calls: true, Funcs: len(t.Funcs), Total: [2]int64{root.A.Total, root.B.Total}}
	for k := range c.Runs {
		costs.Calls = costs.Calls && c.Runs[k].Weights.Basis == analyze.Spans
		if side, _ := c.sideOf(k); c.Runs[k].Counted {
			costs.Samples[side] += c.Runs[k].Samples
		}
	}
	amount := func(x, above *Amount) match.Amount {
		return match.Amount{Here: x.Here, Self: x.Self, Total: x.Total, Count: x.Count, Above: above.Total}
	}
	costs.Nodes = func(yield func(match.Node) bool) {
		for i := 1; i < len(t.Nodes); i++ {
			n := &t.Nodes[i]
			p := &t.Nodes[n.Parent]
			if !yield(match.Node{Func: n.Func, Caller: p.Func, On: [2]match.Amount{amount(&n.A, &p.A), amount(&n.B, &p.B)}}) {
				return
			}
		}
	}
	return costs
}

// A Side summarizes the recordings of one side.
type Side struct {
	// Recordings is the number of recordings.
	Recordings int
	// Total is the value to compare, in the common metric's units: scaled, and averaged
	// over the recordings. RawTotal is the unscaled average.
	Total, RawTotal int64
	// Samples is the number of samples of all recordings; see Run.
	Samples int64
	Counted bool
	// Length is the mean duration in picoseconds, 0 if unknown. Calls is the number of
	// calls in the sets of all recordings.
	Length, Calls int64
	// OnCPU and Waiting are the times on and off CPU per call of the sets, in
	// picoseconds; nil if any finished call has no CPU time.
	OnCPU, Waiting *big.Rat
	// LeftOut sums up the excluded records of the recordings; idle samples are in the
	// units of their own metrics.
	LeftOut analyze.LeftOut
	// WithoutCPU is the number of spans left out of the metric because they have no CPU
	// time; see analyze.Weights.
	WithoutCPU int64
}

// A summarizes side A.
func (c *Comparison) A() Side { return c.sum(0, c.Sides) }

// B summarizes side B.
func (c *Comparison) B() Side { return c.sum(c.Sides, len(c.Runs)) }

func (c *Comparison) sum(from, to int) Side {
	s := Side{Recordings: to - from, Counted: true}
	raw, length, timed, tells := new(big.Int), new(big.Int), true, true
	onCPU, waiting := new(big.Int), new(big.Int)
	for _, run := range c.Runs[from:to] {
		recording.Add(&s.Total, run.Scaled)
		raw.Add(raw, big.NewInt(run.Sum))
		length.Add(length, big.NewInt(run.Length))
		timed = timed && run.Length > 0
		s.LeftOut.Add(&run.Weights.Left)
		s.WithoutCPU += run.Weights.WithoutCPU
		s.Samples += run.Samples
		s.Calls += run.Calls
		tells = tells && run.tells
		onCPU.Add(onCPU, big.NewInt(run.onCPU))
		waiting.Add(waiting, big.NewInt(run.waiting))
		s.Counted = s.Counted && run.Counted
	}
	if tells && s.Calls > 0 {
		n := big.NewInt(s.Calls)
		s.OnCPU, s.Waiting = new(big.Rat).SetFrac(onCPU, n), new(big.Rat).SetFrac(waiting, n)
	}
	n := big.NewInt(int64(to - from))
	s.RawTotal = raw.Quo(raw, n).Int64()
	if timed {
		s.Length = length.Quo(length, n).Int64()
	}
	return s
}

// Method returns the method behind the comparison's confidences.
func (c *Comparison) Method() Method {
	if c.Sides >= 2 && len(c.Runs)-c.Sides >= 2 {
		return FromRuns
	}
	counted, spans := true, true
	for r := range c.Runs {
		counted = counted && c.Runs[r].Counted
		spans = spans && c.Runs[r].Weights.Basis == analyze.Spans && !c.Runs[r].query.OfProcessors(c.Runs[r].Rec)
	}
	switch {
	case spans && !counted:
		return FromDurations
	case counted:
		return FromCounts
	}
	return NoMethod
}
