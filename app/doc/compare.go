package doc

import (
	"context"
	"reflect"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"ashlar/ingest/analyze"
	"ashlar/ingest/compare"
	"ashlar/ingest/recording"
)

// Part is what of a recording is compared.
type Part struct {
	Ranged   bool
	From, To int64
	Tracks   []int
}

// What is everything that decides a comparison's numbers.
type What struct {
	// Event and Metric are names as compare.MatchMetric takes them.
	Event, Metric string
	Normalize     compare.Normalize
	Match         compare.MatchOptions
	Transforms    []analyze.Transform
	Parts         [2]Part
}

// CompareQuestion is what is to be known of two recordings.
type CompareQuestion struct {
	What
	Width compare.Width
	By    compare.By
	// Of asks for the distribution of the durations of a function's spans, whole
	// or of themselves alone.
	Of   *compare.FuncName
	Self bool
	// Call asks for the call of the other side that goes with this one.
	Call *compare.Occurrence
}

// CompareAnswer is what a question brought. Parts of it come later than others.
type CompareAnswer struct {
	CompareQuestion
	Recs [2]*recording.Recording
	// Err is why the recordings cannot be compared; nothing below is set then.
	Err error
	// Compared may only be read: its methods belong to who makes answers.
	Compared *compare.Comparison
	Method   compare.Method
	A, B     compare.Side
	Shape    *compare.Shape
	// Functions is the table by functions, Table the one that was asked for.
	Functions, Table *compare.Table
	// Threads says which tracks go together.
	Threads *compare.Matching
	// Nodes is by node how sure its difference is, nil until it is known; Sure
	// tells that all confidences are there.
	Nodes []*compare.Confidence
	Sure  bool
	// Dist and DistErr answer Of, Twin answers Call.
	Dist    *compare.Distribution
	DistErr error
	Twin    *compare.Place
}

// Comparing is two open recordings, and the answers asked of both together.
type Comparing struct {
	docs   [2]*Doc
	notify func()

	mu    sync.Mutex
	want  CompareQuestion
	asked bool
	recs  [2]*recording.Recording // that the last question was asked of
	stale context.CancelFunc

	wake   chan struct{}
	ctx    context.Context
	cancel context.CancelFunc
	ended  chan struct{}

	answer atomic.Pointer[CompareAnswer]
	tidied bool // of the goroutine that answers
}

// Compare begins to compare. The documents stay the caller's. notify is called
// from another goroutine whenever there is something new to show.
func Compare(a, b *Doc, notify func()) *Comparing {
	c := &Comparing{docs: [2]*Doc{a, b}, notify: notify, wake: make(chan struct{}, 1), ended: make(chan struct{})}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	go c.run()
	return c
}

// Ask sets the question about the latest snapshots. What is being computed for
// another question ends; what is being computed for an older snapshot goes on,
// so that there is something to see while a file loads, unless all is read now.
func (c *Comparing) Ask(q CompareQuestion) {
	recs := [2]*recording.Recording{c.docs[0].Recording(), c.docs[1].Recording()}
	c.mu.Lock()
	same := c.asked && reflect.DeepEqual(c.want, q)
	fresh := recs != c.recs
	complete := fresh && recs[0].Done && recs[1].Done
	c.want, c.asked, c.recs = q, true, recs
	if (!same || complete) && c.stale != nil {
		c.stale()
	}
	c.mu.Unlock()
	if !same || fresh {
		select {
		case c.wake <- struct{}{}:
		default:
		}
	}
}

// Answer is the latest answer, nil before the first.
func (c *Comparing) Answer() *CompareAnswer { return c.answer.Load() }

// Still is a comparison that answers no more questions than it has: for pictures.
func (c *Comparing) Still() *Comparing {
	s := &Comparing{docs: [2]*Doc{c.docs[0].Still(), c.docs[1].Still()}, notify: func() {}, wake: make(chan struct{}, 1), ended: make(chan struct{})}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.answer.Store(c.answer.Load())
	close(s.ended)
	return s
}

// Close ends the comparison; it waits for what is being computed.
func (c *Comparing) Close() {
	c.cancel()
	<-c.ended
}

func (c *Comparing) run() {
	defer close(c.ended)
	for {
		select {
		case <-c.ctx.Done():
			return
		case <-c.wake:
		}
		c.mu.Lock()
		q := c.want
		ctx, stale := context.WithCancel(c.ctx)
		c.stale = stale
		c.mu.Unlock()
		c.compute(ctx, q, func(a *CompareAnswer) {
			c.answer.Store(a)
			c.notify()
		})
		stale()
	}
}

// Settle answers a question for the final recordings, all of it: for pictures
// without a window.
func (c *Comparing) Settle(q CompareQuestion) {
	c.compute(c.ctx, q, func(a *CompareAnswer) { c.answer.Store(a) })
}

// compute answers a question step by step; what was computed before is used
// again where it still holds.
func (c *Comparing) compute(ctx context.Context, q CompareQuestion, publish func(*CompareAnswer)) {
	old := c.answer.Load()
	a := &CompareAnswer{CompareQuestion: q, Recs: [2]*recording.Recording{c.docs[0].Recording(), c.docs[1].Recording()}}
	same := old != nil && old.Recs == a.Recs
	opts := compare.Options{Event: q.Event, Metric: q.Metric, Normalize: q.Normalize, Match: q.Match, Transforms: q.Transforms}
	if same && reflect.DeepEqual(old.What, q.What) {
		if reflect.DeepEqual(old.CompareQuestion, q) && (old.Err != nil || old.Sure) {
			return
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
	switch {
	case ctx.Err() != nil:
		return
	case a.Err != nil:
		publish(a)
		return
	}
	publish(a)
	if a = a.later(ctx, old); a != nil {
		publish(a)
		if a.Recs[0].Done && a.Recs[1].Done {
			c.tidy(a)
		}
	}
}

// tidySpans is from how many spans on memory is given back early.
const tidySpans = 1 << 20

// tidy gives back what answers about the growing recordings have left, once: of
// large recordings it is as much as some hundred megabytes.
func (c *Comparing) tidy(a *CompareAnswer) {
	if c.tidied || a.Recs[0].Counts.Spans+a.Recs[1].Counts.Spans < tidySpans {
		return
	}
	c.tidied = true
	debug.FreeOSMemory()
}

// begin makes the comparison.
func (a *CompareAnswer) begin(ctx context.Context, o compare.Options) {
	var in [2][]compare.Input
	for side, p := range a.Parts {
		in[side] = []compare.Input{{Rec: a.Recs[side], Ranged: p.Ranged, From: p.From, To: p.To, Tracks: p.Tracks}}
	}
	if a.Compared, a.Err = compare.Compare(ctx, in[0], in[1], o); a.Err != nil {
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
	case a.By == compare.ByFunction || a.By == "":
		a.Table = a.Functions
	case !again || old.By != a.By:
		a.Table, a.Err = a.Compared.Table(ctx, a.By, false)
	}
	if !again || !reflect.DeepEqual(old.Call, a.Call) {
		a.Twin = nil
		if a.Call != nil {
			a.Twin = a.Compared.Twin(ctx, a.Threads, *a.Call)
		}
	}
}

// later makes what may take a while: confidences and the distribution. It
// returns nil when the question has changed meanwhile.
func (a *CompareAnswer) later(ctx context.Context, old *CompareAnswer) *CompareAnswer {
	b := *a
	again := old != nil && old.Compared == a.Compared && old.Err == nil && old.Sure
	var err error
	if !again {
		if b.Functions, err = b.Compared.Table(ctx, compare.ByFunction, true); err != nil {
			return nil
		}
		if b.Nodes, err = b.Compared.Nodes(ctx); err != nil {
			return nil
		}
	}
	switch {
	case b.By == compare.ByFunction || b.By == "":
		b.Table = b.Functions
	case !again || old.By != b.By:
		if b.Table, err = b.Compared.Table(ctx, b.By, true); err != nil {
			return nil
		}
	}
	if !again || !reflect.DeepEqual(old.Of, b.Of) || old.Self != b.Self {
		b.Dist, b.DistErr = nil, nil
		if f := b.Compared.Find(b.Of); f >= 0 {
			b.Dist, b.DistErr = b.Compared.Distribution(ctx, f, b.Self, 60)
		}
	}
	b.Sure = true
	if ctx.Err() != nil {
		return nil
	}
	return &b
}
