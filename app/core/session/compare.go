package session

import (
	"context"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/ingest/query/compare"
	"ashlar/ingest/query/compare/match"
)

// What holds the parts of a question that determine a comparison's numbers.
type What struct {
	// Event and Metric are names as in compare.MatchMetric; MetricB is as in
	// compare.Options.
	Event, Metric string
	MetricB       string
	Normalize     compare.Normalize
	Match         match.Options
	Transforms    []analyze.Transform
	Scopes        [2]recording.Scope
}

// CompareQuestion asks for everything shown of a comparison.
type CompareQuestion struct {
	What
	Width compare.Width
	By    compare.By
	// Of asks for the distribution of the durations of a function's spans or, with Self,
	// of their self times.
	Of   *recording.FuncName
	Self bool
	// Call asks for the matching call in the other recording.
	Call *compare.Occurrence
	// Generations are the generations of the recordings to which the ids in the question
	// belong.
	Generations [2]int
}

// CompareAnswer answers a CompareQuestion. Slow parts are filled in later.
type CompareAnswer struct {
	CompareQuestion
	// Recs are the recordings that the window shows, More the additional recordings of each
	// side.
	Recs [2]*recording.Recording
	More [2][]compare.Input
	// Err is the reason why the recordings cannot be compared; the fields below are then
	// not set.
	Err      error
	Compared *compare.Comparison
	Method   compare.Method
	A, B     compare.Side
	Shape    *compare.Shape
	// Functions is the table by functions, Table the table by the question's By.
	Functions, Table *compare.Table
	// Threads tells which tracks match.
	Threads *match.Matching
	// Nodes are the confidences of the differences by node, nil until known.
	// ConfidencesDone is true once all confidences are known. Confidences of spans are
	// found only after both recordings have been read completely.
	Nodes           []*compare.Confidence
	ConfidencesDone bool
	// Dist and DistErr answer Of, Twin answers Call.
	Dist    *compare.Distribution
	DistErr error
	Twin    *compare.Place
}

// Comparing answers questions about two recordings together.
//
// Fast parts of an answer come first. Slow ones are added to the shown answer later, so
// that nothing waits for them: confidences, which need a pass over all spans (see
// certainty), and distributions.
type Comparing struct {
	notify      func()
	asks        newest[compared]
	confidences certainty
	dist        Async[distributionOf, distribution]
	memory      thrift
	more        [2][]compare.Input // of the next question; see With

	mu     sync.Mutex // guards changes of answer
	answer atomic.Pointer[CompareAnswer]
}

// compared is a question together with the snapshots that it is about.
type compared struct {
	CompareQuestion
	recs [2]*recording.Recording
	more [2][]compare.Input
}

// distributionOf is the key of a distribution.
type distributionOf struct {
	compared *compare.Comparison
	name     recording.FuncName
	self     bool
}

type distribution struct {
	*compare.Distribution
	err error
}

// Compare starts a comparison. notify is called from another goroutine whenever there is
// something new to show.
func Compare(notify func()) *Comparing {
	c := &Comparing{notify: notify}
	c.asks.do, c.confidences.asks.do = c.work, c.ascertain
	c.dist.init()
	return c
}

// With sets the additional recordings of each side, from the next question on.
func (c *Comparing) With(more [2][]compare.Input) { c.more = more }

// Ask sets the question about the given snapshots. It cancels the running computation if
// the numbers change (see [What]) or if both recordings are now complete. Otherwise a
// computation for older snapshots goes on, so that there is something to show while files
// load.
func (c *Comparing) Ask(q CompareQuestion, recs [2]*recording.Recording) {
	more := c.more
	c.asks.ask(compared{q, recs, more}, func(was compared, asked bool) (fresh, stale bool) {
		other, grown := !asked || !reflect.DeepEqual(was.CompareQuestion, q), recs != was.recs || !sameRuns(more, was.more)
		if other {
			c.dist.Cancel()
		}
		complete := grown && recs[0].Done && recs[1].Done
		return other || grown, complete || other && !reflect.DeepEqual(was.What, q.What)
	})
}

// Answer returns the latest answer, nil before the first.
func (c *Comparing) Answer() *CompareAnswer { return c.answer.Load() }

// Snapshot returns a comparison with the current answer that answers no further
// questions, for pictures.
func (c *Comparing) Snapshot() *Comparing {
	s := Compare(func() {})
	s.answer.Store(c.answer.Load())
	return s
}

// Close ends the comparison and waits for running computations.
func (c *Comparing) Close() {
	c.asks.close()
	c.confidences.asks.close()
	c.dist.Close()
	c.memory.end()
}

// growPause is the minimum pause between comparisons while recordings grow; comparing
// also takes at most a third of the time.
const growPause = 400 * time.Millisecond

// work answers a question.
func (c *Comparing) work(ctx context.Context, q compared) (rest time.Duration) {
	began := time.Now()
	a := c.compute(ctx, q)
	if a == nil {
		return 0
	}
	a = c.show(a)
	c.memory.save(a)
	c.confidences.want(a)
	c.distribute(a, func() { c.show(nil) })
	if a.whole() {
		return 0
	}
	return max(growPause, 2*time.Since(began))
}

// show completes an answer, or the shown one if a is nil, with all details known so far,
// and shows it. It calls notify if anything is new, and returns the answer that is shown
// now.
func (c *Comparing) show(a *CompareAnswer) *CompareAnswer {
	c.mu.Lock()
	old := c.answer.Load()
	if a == nil {
		a = old
	}
	b := *a
	c.confidences.fill(&b)
	if d, of, ok := c.dist.Last(); ok && b.wantsDistribution() && of == b.distribution() {
		b.Dist, b.DistErr = d.Distribution, d.err
	}
	if old != nil && b.shows(old) {
		c.mu.Unlock()
		return old
	}
	c.answer.Store(&b)
	c.mu.Unlock()
	c.notify()
	return &b
}

// distribute starts computing the distribution that an answer needs; wake is as in
// [Async.Ask].
func (c *Comparing) distribute(a *CompareAnswer, wake func()) {
	if a.wantsDistribution() {
		c.dist.Ask(a.distribution(), wake, func(ctx context.Context) (d distribution, err error) {
			d.Distribution, d.err = a.Compared.Distribution(ctx, a.Compared.Find(a.Of), a.Self, 60)
			return d, ctx.Err()
		})
	}
}

// whole reports whether both recordings have been read completely.
func (a *CompareAnswer) whole() bool { return a.Recs[0].Done && a.Recs[1].Done }

// Finish answers a question completely before it returns, for pictures without a window.
func (c *Comparing) Finish(q CompareQuestion, recs [2]*recording.Recording) {
	ctx := context.Background()
	a := c.show(c.compute(ctx, compared{q, recs, c.more}))
	c.distribute(a, nil)
	for a = c.show(nil); a.Err == nil && !a.ConfidencesDone && c.confidences.find(ctx, a); {
		a = c.show(nil)
	}
}

// compute computes the fast parts of an answer, reusing earlier results that still apply.
// It returns nil if cancelled.
func (c *Comparing) compute(ctx context.Context, q compared) *CompareAnswer {
	old := c.answer.Load()
	a := &CompareAnswer{CompareQuestion: q.CompareQuestion, Recs: q.recs, More: q.more}
	same := old != nil && old.Recs == a.Recs && sameRuns(old.More, a.More)
	opts := compare.Options{Event: q.Event, Metric: q.Metric, MetricB: q.MetricB, Normalize: q.Normalize, Match: q.Match, Transforms: q.Transforms}
	if same && reflect.DeepEqual(old.What, q.What) {
		b := *old
		b.CompareQuestion = q.CompareQuestion
		a = &b
	} else {
		if same && old.Err == nil && reflect.DeepEqual(old.Match, q.Match) {
			opts.Matching, a.Threads = old.Compared.Matching, old.Threads
		}
		a.begin(ctx, opts)
	}
	if a.Err == nil && ctx.Err() == nil {
		a.present(ctx, old)
	}
	if ctx.Err() != nil {
		return nil
	}
	return a
}

// shows reports whether a contains nothing that old lacks.
func (a *CompareAnswer) shows(old *CompareAnswer) bool {
	return a.Err == old.Err && a.Recs == old.Recs && sameRuns(a.More, old.More) && a.Compared == old.Compared && a.Functions == old.Functions && a.Table == old.Table &&
		a.Shape == old.Shape && a.Twin == old.Twin && a.ConfidencesDone == old.ConfidencesDone && a.Dist == old.Dist && a.DistErr == old.DistErr &&
		reflect.DeepEqual(a.CompareQuestion, old.CompareQuestion)
}

// wantsDistribution reports whether the answer still needs a distribution.
func (a *CompareAnswer) wantsDistribution() bool {
	return a.Err == nil && a.Dist == nil && a.DistErr == nil && a.Compared.Find(a.Of) >= 0
}

func (a *CompareAnswer) distribution() distributionOf {
	return distributionOf{a.Compared, *a.Of, a.Self}
}

// sameRuns reports whether two lists of additional recordings are the same.
func sameRuns(a, b [2][]compare.Input) bool {
	for side := range a {
		if !slices.EqualFunc(a[side], b[side], func(x, y compare.Input) bool { return x.Rec == y.Rec && x.Scope.Equal(y.Scope) }) {
			return false
		}
	}
	return true
}

// begin compares the recordings.
func (a *CompareAnswer) begin(ctx context.Context, o compare.Options) {
	var inputs [2][]compare.Input
	for side, in := range a.Scopes {
		inputs[side] = append([]compare.Input{{Rec: a.Recs[side], Scope: in}}, a.More[side]...)
	}
	if a.Compared, a.Err = compare.Compare(ctx, inputs[0], inputs[1], o); a.Err != nil {
		return
	}
	a.A, a.B, a.Method = a.Compared.A(), a.Compared.B(), a.Compared.Method()
	if a.Threads == nil {
		a.Threads = match.Threads(a.Recs[:], a.Match)
	}
	a.Functions, a.Err = a.Compared.Table(ctx, compare.ByFunction, false)
}

// present computes the fast parts that depend on how the comparison is shown.
func (a *CompareAnswer) present(ctx context.Context, old *CompareAnswer) {
	again := old != nil && old.Compared == a.Compared && old.Err == nil
	if !again || old.Width != a.Width {
		a.Shape = a.Compared.Tree.Shape(a.Width)
	}
	switch {
	case a.by() == compare.ByFunction:
		a.Table = a.Functions
	case !again || old.By != a.By:
		a.Table, a.Err = a.Compared.Table(ctx, a.By, false)
	}
	if !again || !reflect.DeepEqual(old.Of, a.Of) || old.Self != a.Self {
		a.Dist, a.DistErr = nil, nil
	}
	if !again || !reflect.DeepEqual(old.Call, a.Call) {
		a.Twin = nil
		if a.Call != nil {
			a.Twin = a.Compared.Twin(ctx, a.Threads, *a.Call)
		}
	}
}

// by returns the grouping of the table's rows.
func (a *CompareAnswer) by() compare.By {
	if a.By == "" {
		return compare.ByFunction
	}
	return a.By
}
