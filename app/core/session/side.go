// Package session holds the open recordings, one or two under comparison, loads them, and
// answers questions about them in the background. It draws nothing.
package session

import (
	"context"
	"errors"
	"path/filepath"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"ashlar/app/core/demo"
	"ashlar/ingest"
	"ashlar/ingest/fetch"
	"ashlar/ingest/format/decode"
	"ashlar/ingest/input/memory"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/ingest/query/calls"
	"ashlar/ingest/query/search"
	"ashlar/ingest/query/spans"
	"ashlar/render/heatmap"
	"ashlar/render/histogram"
)

// Question asks everything that a pane shows.
type Question struct {
	analyze.Query
	Transforms []analyze.Transform
	// Search is looked for in the tree and, apart from it, on the timeline; nil
	// for nothing.
	Search *search.Pattern
	// Around asks for the callers and callees of a function, Stats for the
	// least, greatest and average duration of each function's spans.
	Around *analyze.Ref
	Stats  bool
	// By asks for a table of modules, files or threads in addition to that of functions.
	By analyze.By
	// Threads asks on which thread each function runs.
	Threads bool
	// Listed asks for the calls of a set one by one, as package calls writes it, and
	// ListedBy says in which order; "" for none.
	Listed, ListedBy string
	// Heat asks for the heatmap of the whole recording.
	Heat bool
	// Path asks for the critical path of the scope.
	Path bool
	// Source asks what the lines of a source file cost, which is named as the
	// recording names it.
	Source string
	// Generation is that of the recording whose numbers are in the question.
	Generation int
}

func (q *Question) equal(o *Question) bool { return reflect.DeepEqual(q, o) }

// Answer answers a Question.
type Answer struct {
	Rec *recording.Recording
	Question
	// Scope is the question's with its calls looked up.
	Scope   recording.Scope
	Tree    *analyze.Tree
	Rows    []analyze.Row
	Grouped []analyze.Row // for By
	// Ungrouped says why the recording has no such rows as By says.
	Ungrouped error
	States    []analyze.Row       // how long threads were in which state
	Matched   *analyze.Matched    // for a Search
	Found     *search.Hits        // for a Search that functions alone do not answer
	Near      *analyze.Neighbours // for Around
	// Above and Below are, for Around, the trees of the function's callers,
	// bottom-up, and of its callees.
	Above, Below *analyze.Tree
	Spans        []spans.Stat        // by function, for Stats
	ThreadOf     []int32             // by function, for Threads: see analyze.ThreadOf
	List         *CallList           // for Listed
	Grid         *heatmap.Grid       // for Heat
	Critical     *CriticalPath       // for Path
	Lines        *analyze.SourceCost // for Source
}

// CallList has calls one by one: in the scope's time and on its threads, whichever
// of them are selected.
type CallList struct {
	Rows      []calls.Row
	Longest   bool           // Rows are no more than the longest
	First     []calls.Detail // what the recording says of the first rows
	Durations *spans.Durations
	Dots      *histogram.Dots // of Rows, nil if these are the longest
	// Keys are the arguments that rows have, CPU says that some tell their time on a
	// processor.
	Keys []string
	CPU  bool
}

// Answers reports whether it is the answer to a question.
func (a *Answer) Answers(q *Question) bool { return a.equal(q) }

// ByFunction reports whether the table's rows stand for functions.
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

// Side is an open recording.
type Side struct {
	Name string
	load atomic.Pointer[loading]
	path string // of a file that can be followed, else ""
	// opts are how it is read, opened has what it was like just before.
	opts       Options
	opened     glance
	following  atomic.Bool
	followNote atomic.Pointer[followNote]

	work sync.Mutex // held while a question is answered

	asks      newest[Question]
	ctx       context.Context // of the side
	cancel    context.CancelFunc
	notify    func()
	announced atomic.Pointer[time.Time] // when it was called last

	mu         sync.Mutex // of the rest
	contexts   Async[contextsOf, []analyze.KeyValues]
	onCPU      Async[*analyze.Tree, *OnCPU]
	spansOnCPU Async[*recording.Recording, *recording.OnCPU]

	frozen  bool // it answers nothing any more; see Snapshot
	answer  atomic.Pointer[Answer]
	preview atomic.Pointer[Answer]
	hits    atomic.Pointer[search.Hits]
	short   atomic.Pointer[memory.Short] // of memory, for the latest question
}

// Options are how a file is opened.
type Options struct {
	Decode decode.Options
	Part   recording.Part
	Hold   <-chan struct{} // see [ingest.Options.Hold]
	Cache  ingest.Cache
	// Scratch: see [ingest.Options.Scratch].
	Scratch string
	// Read, if set, reads the file in place of the loader, while one waits.
	Read Reader
}

// Reader reads a part of a file, as a whole; exe is [decode.Options.Exe].
type Reader func(path, exe string, part recording.Part) (*recording.Recording, ingest.Stats, error)

// Open starts to load a file ("-" is standard input). notify is called from other
// goroutines whenever there is something new to show.
func Open(path string, notify func()) *Side { return OpenWith(path, Options{}, notify) }

// OpenWith is Open with options.
func OpenWith(path string, opts Options, notify func()) *Side {
	name := filepath.Base(path)
	switch {
	case path == "-":
		name = "standard input"
	case fetch.IsURL(path):
		name = fetch.Name(path)
	}
	d := newSide(name, notify)
	if path != "-" && !fetch.IsURL(path) {
		d.path, d.opts, d.opened = path, opts, readGlance(path)
		if d.opened.err != nil || !d.opened.info.Mode().IsRegular() {
			d.path = ""
		}
	}
	d.open(func(o ingest.Options) *ingest.Load {
		if opts.Read != nil {
			return ingest.Loaded(opts.Read(path, opts.Decode.Exe, opts.Part))
		}
		o.Options, o.Part, o.Hold, o.Cache, o.Scratch = opts.Decode, opts.Part, opts.Hold, opts.Cache, opts.Scratch
		return ingest.Open(context.Background(), path, o)
	})
	return d
}

// Demo opens the built-in recording.
func Demo(notify func()) *Side {
	d := newSide(demo.Name, notify)
	d.open(func(o ingest.Options) *ingest.Load { return ingest.OpenInput(context.Background(), demo.Input(), o) })
	return d
}

func newSide(name string, notify func()) *Side {
	d := &Side{Name: name, notify: notify}
	d.asks.do = d.think
	d.ctx, d.cancel = context.WithCancel(context.Background())
	return d
}

// Latest is the latest snapshot, never nil, and how often the file has been
// read again: numbers of tracks and functions are those of that time.
func (d *Side) Latest() (rec *recording.Recording, generation int) {
	l := d.load.Load()
	return l.Snapshot(), l.generation
}

// Recording is the latest snapshot, never nil.
func (d *Side) Recording() *recording.Recording { return d.load.Load().Snapshot() }

// Err says why nothing can be shown, nil while it is not known.
func (d *Side) Err() error { return d.load.Load().Err() }

// Progress says how far loading has come.
func (d *Side) Progress() ingest.Progress { return d.load.Load().Progress() }

// Ask sets the question. The answer comes by notify; until then Answer gives
// the last one.
func (d *Side) Ask(q Question) {
	if d.frozen {
		return
	}
	d.asks.ask(q, func(was Question, asked bool) (fresh, stale bool) {
		other := !asked || !was.equal(&q)
		return other, other
	})
}

// Answer is the latest answer, nil before the first.
func (d *Side) Answer() *Answer { return d.answer.Load() }

// Preview is a first answer while the latest question is being answered, nil when
// there is none: a tree that is exact for the calls it has, and has none deeper
// than its Depth. It has nothing but the tree.
func (d *Side) Preview() *Answer { return d.preview.Load() }

// Hits are the places that the latest search found, nil when there is none or
// it has not been answered yet. Those of a search that goes on are Partial.
func (d *Side) Hits() *search.Hits { return d.hits.Load() }

// loaded is called by the loader when there is a new snapshot. Once a question
// has been asked, the snapshot is announced together with its answer, one frame
// instead of two, unless that takes long: what loads is not to seem to be still.
func (d *Side) loaded() {
	if !d.asks.again() {
		d.announce()
		return
	}
	last, rest := d.announced.Load(), patience
	if last != nil {
		rest -= time.Since(*last)
	}
	time.AfterFunc(rest, func() {
		if d.announced.Load() == last && d.ctx.Err() == nil {
			d.announce()
		}
	})
}

// patience is the time that a snapshot waits for its answer after the last progress report:
// the interval between snapshots.
const patience = 100 * time.Millisecond

// think answers a question about the latest snapshot.
func (d *Side) think(ctx context.Context, q Question) (rest time.Duration) {
	rec, generation := d.Latest()
	if q.Generation != generation {
		d.announce() // it has to be asked again
		return 0
	}
	d.work.Lock()
	defer d.work.Unlock()
	if old := d.answer.Load(); old == nil || old.Rec != rec || !old.equal(&q) {
		d.reply(ctx, rec, q, old)
	} else {
		d.preview.Store(nil) // of a question that was taken back
	}
	d.announce()
	d.find(ctx, rec, q.Search)
	return 0
}

// reply answers a question, with something to show meanwhile where it is a new
// one that takes long. A recording that grows has the answer before.
func (d *Side) reply(ctx context.Context, rec *recording.Recording, q Question, old *Answer) {
	var first func(*Answer)
	if old == nil || !old.equal(&q) {
		first = func(a *Answer) {
			d.preview.Store(a)
			d.announce()
		}
	}
	if a := d.tried(answer(ctx, rec, q, old, first)); a != nil {
		d.give(a)
		d.preview.Store(nil)
	}
}

// tried keeps why there is no answer, where that is for want of memory.
func (d *Side) tried(a *Answer, err error) *Answer {
	var short *memory.Short
	switch {
	case err == nil:
		d.short.Store(nil)
	case errors.As(err, &short):
		d.short.Store(short)
	}
	return a
}

// Problem says why what is shown is not the answer to the latest question, "" if
// it is or will be.
func (d *Side) Problem() string {
	if short := d.short.Load(); short != nil {
		return short.Error()
	}
	return ""
}

// give shows an answer, unless another question has been asked meanwhile, or
// it has been answered.
func (d *Side) give(a *Answer) {
	want, _ := d.asks.newest()
	if old := d.answer.Load(); want.equal(&a.Question) && (old == nil || old.Rec != a.Rec || !old.equal(&a.Question)) {
		d.answer.Store(a)
	}
}

func (d *Side) announce() {
	now := time.Now()
	d.announced.Store(&now)
	if d.notify != nil {
		d.notify()
	}
}

// find looks for a pattern on the timeline, after the answer has been told: it
// takes longer.
func (d *Side) find(ctx context.Context, rec *recording.Recording, p *search.Pattern) {
	if p == nil {
		d.hits.Store(nil)
		return
	}
	if h := d.hits.Load(); h != nil && h.Pattern.Equal(p) && h.Of(rec) && !h.Partial {
		return
	}
	if a := d.answer.Load(); a != nil && a.Found != nil && a.Found.Pattern.Equal(p) && a.Found.Of(rec) {
		d.hits.Store(a.Found)
		d.announce()
		return
	}
	soon := func(h *search.Hits) {
		d.hits.Store(h)
		d.announce()
	}
	if h := d.hits.Load(); h != nil && h.Pattern.Equal(p) {
		soon = nil // the hits in the snapshot before stay until all are counted
	}
	if h, err := search.FindWithPreview(ctx, rec, p, soon); err == nil {
		d.hits.Store(h)
		d.announce()
	}
}

// Finish waits until loading has ended and the question is answered for the
// final recording: for pictures without a window.
func (d *Side) Finish(q Question) error {
	if err := d.load.Load().Wait(); err != nil {
		return err
	}
	d.Ask(q)
	d.work.Lock() // or an earlier question would have the last word
	defer d.work.Unlock()
	rec := d.load.Load().Snapshot()
	if old := d.answer.Load(); old == nil || old.Rec != rec || !old.equal(&q) {
		if a := d.tried(answer(d.ctx, rec, q, old, nil)); a != nil {
			d.give(a)
		}
	}
	d.find(d.ctx, rec, q.Search)
	d.spansOnCPUOf(rec, nil) // which bars are drawn with
	d.onCPUOf(d.answer.Load(), nil)
	return nil
}

// Snapshot is the document as it is now: it has the answers there are and gets no
// others but at once. It need not be closed, and says what it says after the other is.
func (d *Side) Snapshot() *Side {
	c := &Side{Name: d.Name, frozen: true}
	c.load.Store(d.load.Load())
	c.answer.Store(d.answer.Load())
	c.hits.Store(d.hits.Load())
	return c
}

// Wait waits until loading has ended.
func (d *Side) Wait() error { return d.load.Load().Wait() }

// Begun is closed when there is something to show, or there will be nothing.
func (d *Side) Begun() <-chan struct{} { return d.load.Load().Begun() }

// ReadAs is what was read of the file at an absolute path, as a whole and with these
// options, where the file is as it was then; ok is false for anything else. What the
// recording has in the file may be used until release, which must be called.
func (d *Side) ReadAs(path, exe string, part recording.Part) (rec *recording.Recording, stats ingest.Stats, release func(), ok bool) {
	if d.frozen || d.path == "" || d.opts.Decode.Exe != exe || !reflect.DeepEqual(d.opts.Part, part) {
		return nil, stats, nil, false
	}
	if abs, err := filepath.Abs(d.path); err != nil || abs != path {
		return nil, stats, nil, false
	}
	reader, l := newSide(d.Name, nil), d.load.Load()
	if !l.join(reader) {
		return nil, stats, nil, false
	}
	reader.load.Store(l)
	rec, stats = l.Snapshot(), l.Stats()
	if now := readGlance(path); !rec.Done || l.Err() != nil || stats.Full || now.err != nil || !now.same(l.was) {
		reader.Close()
		return nil, stats, nil, false
	}
	return rec, stats, reader.Close, true
}

// Full tells that reading stopped because there was no more memory.
func (d *Side) Full() bool { return d.load.Load().Stats().Full }

// Stop ends reading; what was read so far is shown.
func (d *Side) Stop() { d.load.Load().Stop() }

// Close stops loading and answering and lets go of the file.
func (d *Side) Close() {
	if d.frozen {
		return
	}
	d.cancel()
	d.asks.close()
	d.contexts.Close()
	d.onCPU.Close()
	d.spansOnCPU.Close()
	d.load.Load().leave(d)
}
