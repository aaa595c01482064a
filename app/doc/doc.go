// Package doc is one open recording: how it loads, and the answers asked of it
// in the background. It draws nothing.
package doc

import (
	"context"
	"path/filepath"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/klauspost/compress/zstd"

	"ashlar/assets"
	"ashlar/ingest"
	"ashlar/ingest/analyze"
	"ashlar/ingest/recording"
	"ashlar/ingest/source"
	"ashlar/render/heatmap"
)

// Question is what a pane wants to know.
type Question struct {
	analyze.Query
	Transforms []analyze.Transform
	// Search is looked for in the tree and, apart from it, on the timeline; nil
	// for nothing.
	Search *analyze.Pattern
	// Around asks for the callers and callees of a function, Stats for the
	// least, greatest and average duration of each function's spans.
	Around *analyze.Ref
	Stats  bool
	// By asks for a table of modules, files or threads beside that of functions.
	By analyze.By
	// Threads asks on which thread each function runs.
	Threads bool
	// Durations asks for the statistics of these functions' spans.
	Durations []recording.FuncID
	// Heat asks for the heatmap of the whole recording.
	Heat bool
}

func (q *Question) equal(o *Question) bool { return reflect.DeepEqual(q, o) }

// Answer is what a question about a recording brought.
type Answer struct {
	Rec *recording.Recording
	Question
	Tree    *analyze.Tree
	Rows    []analyze.Row
	Grouped []analyze.Row       // for By
	Matched *analyze.Matched    // for a Search
	Found   *analyze.Hits       // for a Search that functions alone do not answer
	Near    *analyze.Neighbours // for Around
	// Above and Below are, for Around, the trees of the function's callers,
	// bottom-up, and of its callees.
	Above, Below *analyze.Tree
	Spans        []analyze.SpanStat // by function, for Stats
	ThreadOf     []int32            // by function, for Threads: see analyze.ThreadOf
	// Durations is nil where there are no spans.
	Durations *analyze.Durations
	Grid      *heatmap.Grid // for Heat
}

// ByFunction tells whether the table's rows stand for functions.
func (a *Answer) ByFunction() bool { return a.By == "" || a.By == analyze.ByFunction }

// TableRows are the rows of the table that By asks for.
func (a *Answer) TableRows() []analyze.Row {
	if a.ByFunction() {
		return a.Rows
	}
	return a.Grouped
}

// Metric is the metric the answer is about.
func (a *Answer) Metric() *recording.Metric {
	if a.Event < len(a.Rec.Events) {
		if ms := a.Rec.Events[a.Event].Metrics; a.Question.Metric < len(ms) {
			return &ms[a.Question.Metric]
		}
	}
	return &recording.Metric{}
}

// Doc is an open recording.
type Doc struct {
	Name string
	load *ingest.Load

	mu     sync.Mutex
	want   Question
	asked  bool
	wake   chan struct{}
	stale  context.CancelFunc // ends the computation of an answer nobody wants
	ctx    context.Context
	cancel context.CancelFunc
	ended  chan struct{}
	notify func()

	answer atomic.Pointer[Answer]
	hits   atomic.Pointer[analyze.Hits]
}

// DemoName is the name of the built-in recording.
const DemoName = "demo.spaa.zst"

// Open starts to load a file ("-" is standard input). notify is called from
// other goroutines whenever there is something new to show.
func Open(path string, notify func()) *Doc {
	name := filepath.Base(path)
	if path == "-" {
		name = "standard input"
	}
	d := newDoc(name, notify)
	d.load = ingest.Open(d.ctx, path, ingest.Options{Notify: d.loaded})
	go d.run()
	return d
}

// Demo opens the built-in recording.
func Demo(notify func()) *Doc {
	d := newDoc(DemoName, notify)
	in := source.FromBytes(DemoName, demo())
	in.Compression = "zstd"
	d.load = ingest.OpenInput(d.ctx, in, ingest.Options{Notify: d.loaded})
	go d.run()
	return d
}

// demo is the built-in recording, decompressed.
func demo() []byte {
	z, err := zstd.NewReader(nil)
	if err != nil {
		panic("the built-in recording cannot be read: " + err.Error())
	}
	defer z.Close()
	b, err := z.DecodeAll(assets.Demo(), nil)
	if err != nil {
		panic("the built-in recording cannot be read: " + err.Error())
	}
	return b
}

func newDoc(name string, notify func()) *Doc {
	d := &Doc{Name: name, wake: make(chan struct{}, 1), ended: make(chan struct{}), notify: notify}
	d.ctx, d.cancel = context.WithCancel(context.Background())
	return d
}

// Recording is the latest snapshot, never nil.
func (d *Doc) Recording() *recording.Recording { return d.load.Snapshot() }

// Err says why nothing can be shown, nil while it is not known.
func (d *Doc) Err() error { return d.load.Err() }

// Progress says how far loading has come.
func (d *Doc) Progress() ingest.Progress { return d.load.Progress() }

// Ask sets the question. The answer comes by notify; until then Answer gives
// the last one.
func (d *Doc) Ask(q Question) {
	d.mu.Lock()
	same := d.asked && d.want.equal(&q)
	if !same {
		d.want, d.asked = q, true
		if d.stale != nil {
			d.stale()
		}
	}
	d.mu.Unlock()
	if !same {
		d.poke()
	}
}

// Answer is the latest answer, nil before the first.
func (d *Doc) Answer() *Answer { return d.answer.Load() }

// Hits are the places that the latest search found, nil when there is none or
// it has not been answered yet.
func (d *Doc) Hits() *analyze.Hits { return d.hits.Load() }

func (d *Doc) poke() {
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

// loaded is called by the loader when there is a new snapshot. Once a question
// has been asked, the snapshot is announced together with its answer: one frame
// instead of two.
func (d *Doc) loaded() {
	d.mu.Lock()
	asked := d.asked
	d.mu.Unlock()
	d.poke()
	if !asked && d.notify != nil {
		d.notify()
	}
}

// run answers the latest question about the latest snapshot, again and again.
func (d *Doc) run() {
	defer close(d.ended)
	for {
		select {
		case <-d.ctx.Done():
			return
		case <-d.wake:
		}
		d.mu.Lock()
		q, asked := d.want, d.asked
		ctx, stale := context.WithCancel(d.ctx)
		d.stale = stale
		d.mu.Unlock()
		if asked {
			rec := d.load.Snapshot()
			if old := d.answer.Load(); old == nil || old.Rec != rec || !old.equal(&q) {
				if a := answer(ctx, rec, q, old); a != nil {
					d.answer.Store(a)
				}
			}
			d.tell()
			d.find(ctx, rec, q.Search)
		}
		stale()
	}
}

func (d *Doc) tell() {
	if d.notify != nil {
		d.notify()
	}
}

// find looks for a pattern on the timeline, after the answer has been told: it
// takes longer.
func (d *Doc) find(ctx context.Context, rec *recording.Recording, p *analyze.Pattern) {
	if p == nil {
		d.hits.Store(nil)
		return
	}
	if h := d.hits.Load(); h != nil && h.Pattern == p && h.Of(rec) {
		return
	}
	if a := d.answer.Load(); a != nil && a.Found != nil && a.Found.Pattern == p && a.Found.Of(rec) {
		d.hits.Store(a.Found)
		d.tell()
		return
	}
	if h, err := analyze.Find(ctx, rec, p); err == nil {
		d.hits.Store(h)
		d.tell()
	}
}

// answer answers a question, with what the last answer has already.
func answer(ctx context.Context, rec *recording.Recording, q Question, last *Answer) *Answer {
	a := &Answer{Rec: rec, Question: q}
	if last != nil && last.Rec == rec && reflect.DeepEqual(last.Query, q.Query) && slices.Equal(last.Transforms, q.Transforms) {
		a.Tree, a.Rows = last.Tree, last.Rows
	} else {
		w, err := analyze.Weigh(ctx, rec, q.Query)
		if err != nil {
			return nil
		}
		a.Tree = analyze.NewTree(rec, w, q.Transforms...)
		if ctx.Err() != nil {
			return nil
		}
		a.Rows = analyze.Table(rec, a.Tree, analyze.ByFunction)
	}
	w := a.Tree.Weights
	var err error
	switch {
	case a.ByFunction():
	case q.By == analyze.ByThread:
		if a.Grouped, err = analyze.ByTrack(ctx, rec, q.Query, q.Transforms...); err != nil {
			return nil
		}
	default:
		a.Grouped = analyze.Table(rec, a.Tree, q.By)
	}
	if q.Threads {
		if last != nil && last.Rec == rec && last.ThreadOf != nil {
			a.ThreadOf = last.ThreadOf
		} else if a.ThreadOf, err = analyze.ThreadOf(ctx, rec); err != nil {
			return nil
		}
	}
	if err = a.search(ctx, last); err != nil {
		return nil
	}
	if q.Around != nil {
		n := analyze.Around(rec, a.Tree, *q.Around)
		a.Near = &n
		a.Above, a.Below = around(rec, w, q)
	}
	if q.Stats && w.Basis == analyze.Spans {
		if a.Spans, err = analyze.SpanStats(ctx, rec, q.Query); err != nil {
			return nil
		}
	}
	if q.Heat {
		whole := q.Query
		whole.Ranged = false
		if a.Grid, err = heatmap.NewGrid(ctx, rec, whole, nil); err != nil {
			return nil
		}
	}
	if q.Durations != nil && w.Basis == analyze.Spans {
		if a.Durations, err = analyze.DurationsOf(ctx, rec, q.Query, q.Durations); err != nil {
			return nil
		}
	}
	return a
}

// search finds what is looked for in the tree. Where it runs must be known for
// that when functions alone do not tell.
func (a *Answer) search(ctx context.Context, last *Answer) (err error) {
	switch {
	case a.Search == nil:
		return nil
	case a.Search.OfFunctions():
		a.Matched = analyze.Match(a.Rec, a.Tree, a.Search)
		return nil
	case last != nil && last.Found != nil && last.Found.Pattern == a.Search && last.Found.Of(a.Rec):
		a.Found = last.Found
	default:
		if a.Found, err = analyze.Find(ctx, a.Rec, a.Search); err != nil {
			return err
		}
	}
	a.Matched, err = analyze.MatchHits(ctx, a.Rec, a.Tree, a.Query, a.Found)
	return err
}

// around makes the trees on both sides of a function. They are looked at from
// the function on, however the whole is.
func around(rec *recording.Recording, w *analyze.Weights, q Question) (above, below *analyze.Tree) {
	ts := slices.DeleteFunc(slices.Clone(q.Transforms), func(t analyze.Transform) bool { return t.Op == analyze.OpInvert })
	side := func(t analyze.Transform) *analyze.Tree { return analyze.NewTree(rec, w, append(slices.Clip(ts), t)...) }
	return side(analyze.CallersOf(*q.Around)), side(analyze.CalleesOf(*q.Around))
}

// Settle waits until loading has ended and the question is answered for the
// final recording: for pictures without a window.
func (d *Doc) Settle(q Question) error {
	if err := d.load.Wait(); err != nil {
		return err
	}
	d.Ask(q)
	rec := d.load.Snapshot()
	if a := answer(d.ctx, rec, q, nil); a != nil {
		d.answer.Store(a)
	}
	d.find(d.ctx, rec, q.Search)
	return nil
}

// Wait waits until loading has ended.
func (d *Doc) Wait() error { return d.load.Wait() }

// Close stops loading and answering and lets go of the file.
func (d *Doc) Close() {
	d.cancel()
	<-d.ended
	d.load.Close()
}
