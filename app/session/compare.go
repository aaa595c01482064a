package session

import (
	"context"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"ashlar/ingest/analyze"
	"ashlar/ingest/compare"
	"ashlar/ingest/recording"
)

// What is everything that decides a comparison's numbers.
type What struct {
	// Event and Metric are names as compare.MatchMetric takes them.
	Event, Metric string
	Normalize     compare.Normalize
	Match         compare.MatchOptions
	Transforms    []analyze.Transform
	Scopes        [2]recording.Scope
}

// CompareQuestion is what is to be known of two recordings.
type CompareQuestion struct {
	What
	Width compare.Width
	By    compare.By
	// Of asks for the distribution of the durations of a function's spans, whole
	// or of themselves alone.
	Of   *recording.FuncName
	Self bool
	// Call asks for the call of the other side that goes with this one.
	Call *compare.Occurrence
	// Generations are those of the recordings whose numbers are in the question.
	Generations [2]int
}

// CompareAnswer is what a question brought. Parts of it come later than others.
type CompareAnswer struct {
	CompareQuestion
	Recs [2]*recording.Recording
	// Err is why the recordings cannot be compared; nothing below is set then.
	Err      error
	Compared *compare.Comparison
	Method   compare.Method
	A, B     compare.Side
	Shape    *compare.Shape
	// Functions is the table by functions, Table the one that was asked for.
	Functions, Table *compare.Table
	// Threads says which tracks go together.
	Threads *compare.Matching
	// Nodes is by node how sure its difference is, nil until it is known; Sure
	// tells that all confidences are there. Those of spans come once both
	// recordings are read.
	Nodes []*compare.Confidence
	Sure  bool
	// Dist and DistErr answer Of, Twin answers Call.
	Dist    *compare.Distribution
	DistErr error
	Twin    *compare.Place
}

// Comparing answers questions about two recordings together.
//
// One goroutine answers what is quickly known; confidences, which take a look at
// every span, come from another (see certainty), so that neither waits for the
// other.
type Comparing struct {
	notify func()

	mu    sync.Mutex
	want  CompareQuestion
	asked bool
	recs  [2]*recording.Recording // that the last question was asked of
	// stale ends what is being computed for other numbers than are wanted,
	// distracted what is being computed for another detail.
	stale, distracted context.CancelFunc

	wake   chan struct{}
	ctx    context.Context
	cancel context.CancelFunc
	ended  sync.WaitGroup

	sure   certainty
	memory thrift
	answer atomic.Pointer[CompareAnswer]
}

// Compare begins to compare. notify is called from another goroutine whenever
// there is something new to show.
func Compare(notify func()) *Comparing {
	c := newComparing(notify)
	c.ended.Add(2)
	go c.run()
	go c.ascertain()
	return c
}

func newComparing(notify func()) *Comparing {
	c := &Comparing{notify: notify, wake: make(chan struct{}, 1)}
	c.sure.wake = make(chan struct{}, 1)
	c.ctx, c.cancel = context.WithCancel(context.Background())
	return c
}

// Ask sets the question about the snapshots that are shown. What is being computed
// for other numbers ends; what is being computed for an older snapshot goes on,
// so that there is something to see while a file loads, unless all is read now.
func (c *Comparing) Ask(q CompareQuestion, recs [2]*recording.Recording) {
	c.mu.Lock()
	same := c.asked && reflect.DeepEqual(c.want, q)
	fresh := recs != c.recs
	complete := fresh && recs[0].Done && recs[1].Done
	if c.stale != nil && (complete || !same && !reflect.DeepEqual(c.want.What, q.What)) {
		c.stale()
	}
	if c.distracted != nil && !same {
		c.distracted()
	}
	c.want, c.asked, c.recs = q, true, recs
	c.mu.Unlock()
	if !same || fresh {
		poke(c.wake)
	}
}

func poke(wake chan struct{}) {
	select {
	case wake <- struct{}{}:
	default:
	}
}

// Answer is the latest answer, nil before the first.
func (c *Comparing) Answer() *CompareAnswer { return c.answer.Load() }

// Still is a comparison that answers no more questions than it has: for pictures.
func (c *Comparing) Still() *Comparing {
	s := newComparing(func() {})
	s.answer.Store(c.answer.Load())
	return s
}

// Close ends the comparison; it waits for what is being computed.
func (c *Comparing) Close() {
	c.cancel()
	c.ended.Wait()
	c.memory.end()
}

// While recordings grow they are compared anew at most every growPause, and never
// for more than a third of the time.
const growPause = 400 * time.Millisecond

func (c *Comparing) run() {
	defer c.ended.Done()
	for {
		select {
		case <-c.ctx.Done():
			return
		case <-c.wake:
		}
		c.mu.Lock()
		q, recs := c.want, c.recs
		ctx, stale := context.WithCancel(c.ctx)
		detail, distracted := context.WithCancel(ctx)
		c.stale, c.distracted = stale, distracted
		c.mu.Unlock()
		began := time.Now()
		a := c.compute(ctx, detail, q, recs, c.publish)
		if a != nil && !a.whole() {
			select {
			case <-ctx.Done():
			case <-time.After(max(growPause, 2*time.Since(began))):
			}
		}
		stale()
	}
}

func (c *Comparing) publish(a *CompareAnswer) {
	c.answer.Store(a)
	c.memory.save(a)
	c.sure.want(a)
	c.notify()
}

// whole tells whether the answer is about recordings that are read.
func (a *CompareAnswer) whole() bool { return a.Recs[0].Done && a.Recs[1].Done }

// Settle answers a question, all of it: for pictures without a window.
func (c *Comparing) Settle(q CompareQuestion, recs [2]*recording.Recording) {
	a := c.compute(c.ctx, c.ctx, q, recs, c.answer.Store)
	for a != nil && a.Err == nil && !a.Sure && c.sure.find(c.ctx, a) {
		b := *a
		c.sure.fill(&b)
		a = &b
		c.answer.Store(a)
	}
}

// compute answers a question step by step; what was computed before is used
// again where it still holds. It returns what it published last, nil where it
// was ended before.
func (c *Comparing) compute(ctx, detail context.Context, q CompareQuestion, recs [2]*recording.Recording, publish func(*CompareAnswer)) *CompareAnswer {
	old := c.answer.Load()
	a := &CompareAnswer{CompareQuestion: q, Recs: recs}
	same := old != nil && old.Recs == a.Recs
	opts := compare.Options{Event: q.Event, Metric: q.Metric, Normalize: q.Normalize, Match: q.Match, Transforms: q.Transforms}
	if same && reflect.DeepEqual(old.What, q.What) {
		if old.Err != nil && reflect.DeepEqual(old.CompareQuestion, q) {
			return old
		}
		b := *old
		b.CompareQuestion = q
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
	if a.Err != nil {
		publish(a)
		return a
	}
	c.sure.fill(a)
	if old == nil || !a.shows(old) {
		publish(a)
	}
	if !a.wantsDistribution() {
		return a
	}
	b := *a
	b.Dist, b.DistErr = a.Compared.Distribution(detail, a.Compared.Find(a.Of), a.Self, 60)
	if detail.Err() != nil {
		return a
	}
	publish(&b)
	return &b
}

// shows tells whether there is nothing new in an answer.
func (a *CompareAnswer) shows(old *CompareAnswer) bool {
	return a.Compared == old.Compared && a.Functions == old.Functions && a.Table == old.Table && a.Shape == old.Shape && a.Twin == old.Twin &&
		a.Sure == old.Sure && reflect.DeepEqual(a.CompareQuestion, old.CompareQuestion)
}

// wantsDistribution tells whether there is one to be made.
func (a *CompareAnswer) wantsDistribution() bool {
	return a.Dist == nil && a.DistErr == nil && a.Compared.Find(a.Of) >= 0
}

// begin makes the comparison.
func (a *CompareAnswer) begin(ctx context.Context, o compare.Options) {
	var inputs [2][]compare.Input
	for side, in := range a.Scopes {
		inputs[side] = []compare.Input{{Rec: a.Recs[side], Scope: in}}
	}
	if a.Compared, a.Err = compare.Compare(ctx, inputs[0], inputs[1], o); a.Err != nil {
		return
	}
	a.A, a.B, a.Method = a.Compared.A(), a.Compared.B(), a.Compared.Method()
	if a.Threads == nil {
		a.Threads = compare.MatchThreads(a.Recs[:], a.Match)
	}
	a.Functions, a.Err = a.Compared.Table(ctx, compare.ByFunction, false)
}

// present makes what is quickly made.
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

// by is what the rows of the table stand for.
func (a *CompareAnswer) by() compare.By {
	if a.By == "" {
		return compare.ByFunction
	}
	return a.By
}
