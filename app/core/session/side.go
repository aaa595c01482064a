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
	"ashlar/ingest/query/join"
	"ashlar/ingest/query/search"
	"ashlar/ingest/query/spans"
	"ashlar/render/heatmap"
	"ashlar/render/histogram"
)

// Question asks for everything that a pane shows.
type Question struct {
	analyze.Query
	Transforms []analyze.Transform
	// Search is the pattern to find in the tree and, separately, on the timeline; nil for
	// none.
	Search *search.Pattern
	// Around asks for the callers and callees of a function. Stats asks for the minimum,
	// maximum and average duration of each function's spans.
	Around *analyze.Ref
	Stats  bool
	// By asks for a table of modules, files or threads in addition to the table of
	// functions.
	By analyze.By
	// Threads asks for the thread on which each function runs.
	Threads bool
	// Listed asks for the single calls of a set, in the syntax of package calls, and
	// ListedBy sets their order; "" for none.
	Listed, ListedBy string
	// Heat asks for the heatmap of the whole recording.
	Heat bool
	// Path asks for the critical path of the scope. Blocked asks for its locks and the time
	// that threads waited for them.
	Path, Blocked bool
	// Source asks for the cost of the lines of a source file, named as in the recording.
	Source string
	// Generation is the generation of the recording to which the ids in the question
	// belong.
	Generation int
}

func (q *Question) equal(o *Question) bool { return reflect.DeepEqual(q, o) }

// Answer answers a Question.
type Answer struct {
	Rec *recording.Recording
	Question
	// Scope is the question's scope with its calls bound.
	Scope   recording.Scope
	Tree    *analyze.Tree
	Rows    []analyze.Row
	Grouped []analyze.Row // for By
	// Ungrouped is the reason why the recording has no rows by By.
	Ungrouped error
	States    []analyze.Row       // time of threads by state
	Matched   *analyze.Matched    // for a Search
	Found     *search.Hits        // for a Search that is not only about functions
	Near      *analyze.Neighbours // for Around
	// Above and Below, for Around, are the trees of the function's callers (bottom-up)
	// and callees.
	Above, Below *analyze.Tree
	Spans        []spans.Stat        // by function, for Stats
	ThreadOf     []int32             // by function, for Threads: see analyze.ThreadOf
	List         *CallList           // for Listed
	Grid         *heatmap.Grid       // for Heat
	Critical     *CriticalPath       // for Path
	Locks        *Locks              // for Blocked
	Lines        *analyze.SourceCost // for Source
}

// CallList lists single calls in the scope's time and threads, ignoring which of them are
// selected.
type CallList struct {
	Rows      []calls.Row
	Longest   bool           // Rows has only the longest calls
	First     []calls.Detail // details of the first rows
	Durations *spans.Durations
	Dots      *histogram.Dots // of Rows, nil if Longest
	// Keys are the names of the rows' arguments. CPU is true if some rows have CPU time.
	Keys []string
	CPU  bool
}

// Answers reports whether a is the answer to a question.
func (a *Answer) Answers(q *Question) bool { return a.equal(q) }

// ByFunction reports whether the rows of the table are functions.
func (a *Answer) ByFunction() bool { return a.By == "" || a.By == analyze.ByFunction }

// TableRows returns the rows of the table by By.
func (a *Answer) TableRows() []analyze.Row {
	if a.ByFunction() {
		return a.Rows
	}
	return a.Grouped
}

// Metric returns the metric of the answer.
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
	path string // path of a file that can be followed, else ""
	// opts are the options for reading the file; opened is the file's state just before
	// it was read.
	opts       Options
	opened     glance
	following  atomic.Bool
	followNote atomic.Pointer[followNote]

	work sync.Mutex // held while a question is answered

	asks      newest[Question]
	ctx       context.Context // lives as long as the side
	cancel    context.CancelFunc
	notify    func()
	announced atomic.Pointer[time.Time] // time of the last notify

	mu         sync.Mutex // guards the next three fields
	contexts   Async[contextsOf, []analyze.KeyValues]
	onCPU      Async[*analyze.Tree, *OnCPU]
	spansOnCPU Async[*recording.Recording, *recording.OnCPU]

	frozen  bool // answers no more questions; see Snapshot
	answer  atomic.Pointer[Answer]
	preview atomic.Pointer[Answer]
	hits    atomic.Pointer[search.Hits]
	short   atomic.Pointer[memory.Short] // memory ran short for the latest question
}

// Options are the options for opening a file.
type Options struct {
	Decode decode.Options
	Part   recording.Part
	Hold   <-chan struct{} // see [ingest.Options.Hold]
	Cache  ingest.Cache
	// Scratch: see [ingest.Options.Scratch].
	Scratch string
	// Read, if set, reads the file instead of the loader; OpenWith waits for it.
	Read Reader
}

// Reader reads a part of a file, as a whole; exe is [decode.Options.Exe].
type Reader func(path, exe string, part recording.Part) (*recording.Recording, ingest.Stats, error)

// Open starts to load a file ("-" is standard input). notify is called from other
// goroutines whenever there is something new to show.
func Open(path string, notify func()) *Side { return OpenWith(path, Options{}, notify) }

// OpenWith is like Open, with options.
func OpenWith(path string, opts Options, notify func()) *Side {
	name := ingest.NameOf(path)
	switch {
	case join.IsName(path):
		name = join.Title(path)
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

// Latest returns the latest snapshot, never nil, and the number of times the file was
// read again. The ids of tracks and functions are only valid in that generation.
func (d *Side) Latest() (rec *recording.Recording, generation int) {
	l := d.load.Load()
	return l.Snapshot(), l.generation
}

// Recording returns the latest snapshot, never nil.
func (d *Side) Recording() *recording.Recording { return d.load.Load().Snapshot() }

// Err returns the reason why nothing can be shown, nil if none is known.
func (d *Side) Err() error { return d.load.Load().Err() }

// Progress returns the progress of loading.
func (d *Side) Progress() ingest.Progress { return d.load.Load().Progress() }

// Ask sets the question. notify is called when it is answered; until then, Answer returns
// the last answer.
func (d *Side) Ask(q Question) {
	if d.frozen {
		return
	}
	d.asks.ask(q, func(was Question, asked bool) (fresh, stale bool) {
		other := !asked || !was.equal(&q)
		return other, other
	})
}

// Answer returns the latest answer, nil before the first.
func (d *Side) Answer() *Answer { return d.answer.Load() }

// Preview returns a first answer while the latest question is being answered, nil if
// there is none. Only its tree is set. The tree is exact, but contains no calls deeper
// than its Depth.
func (d *Side) Preview() *Answer { return d.preview.Load() }

// Hits returns the places that the latest search found, nil if there is no search or no
// result yet. While the search runs, they are Partial.
func (d *Side) Hits() *search.Hits { return d.hits.Load() }

// loaded is called by the loader for each new snapshot. If a question was asked, the
// snapshot is announced together with its answer, in one frame instead of two. If the
// answer takes long, the snapshot is announced first, so that loading does not seem to
// stall.
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

// think answers a question about the latest snapshot. While the recording is being read, it
// then leaves the processors to reading for some time, because the answer will soon be
// replaced: with millions of call paths each takes longer than reading until the next snapshot.
func (d *Side) think(ctx context.Context, q Question) (rest time.Duration) {
	l, began := d.load.Load(), time.Now()
	d.reason(ctx, q)
	select {
	case <-ctx.Done():
	case <-l.Done():
	case <-time.After(min(mostRest, restShare*time.Since(began))):
	}
	return 0
}

// The rest after an answer to a growing recording: as many times as long as the answer took,
// but at most mostRest.
const (
	restShare = 3
	mostRest  = time.Second
)

// reason answers a question and announces the answer.
func (d *Side) reason(ctx context.Context, q Question) {
	rec, generation := d.Latest()
	if q.Generation != generation {
		d.announce() // ask again with the new ids
		return
	}
	d.work.Lock()
	defer d.work.Unlock()
	if old := d.answer.Load(); old == nil || old.Rec != rec || !old.equal(&q) {
		d.reply(ctx, rec, q, old)
	} else {
		d.preview.Store(nil) // it belonged to a withdrawn question
	}
	d.announce()
	d.find(ctx, rec, q.Search)
}

// reply answers a question. If a new question takes long, a preview is shown meanwhile.
// While a recording grows, its last answer stays instead.
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

// tried records whether the answer failed for lack of memory.
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

// Problem returns the reason why the shown answer does not belong to the latest question;
// "" if it does or soon will.
func (d *Side) Problem() string {
	if short := d.short.Load(); short != nil {
		return short.Error()
	}
	return ""
}

// give shows an answer, unless the question has changed or is already answered.
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

// find searches the timeline for a pattern. Searching takes longer than answering, so it
// runs after the answer is announced.
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
		soon = nil // keep the last snapshot's hits until all are counted
	}
	if h, err := search.FindWithPreview(ctx, rec, p, soon); err == nil {
		d.hits.Store(h)
		d.announce()
	}
}

// Finish waits until loading has ended and answers the question for the final recording,
// for pictures without a window.
func (d *Side) Finish(q Question) error {
	if err := d.load.Load().Wait(); err != nil {
		return err
	}
	d.Ask(q)
	d.work.Lock() // or an earlier question could overwrite the answer
	defer d.work.Unlock()
	rec := d.load.Load().Snapshot()
	if old := d.answer.Load(); old == nil || old.Rec != rec || !old.equal(&q) {
		if a := d.tried(answer(d.ctx, rec, q, old, nil)); a != nil {
			d.give(a)
		}
	}
	d.find(d.ctx, rec, q.Search)
	d.spansOnCPUOf(rec, nil) // needed to draw the bars
	d.onCPUOf(d.answer.Load(), nil)
	return nil
}

// Snapshot returns a copy of the side that keeps its current answers. It ignores Ask, and computes
// the details that it can still be asked for while the caller waits. It need not be closed, and
// remains valid after the side is closed.
func (d *Side) Snapshot() *Side {
	c := &Side{Name: d.Name, frozen: true}
	c.load.Store(d.load.Load())
	c.answer.Store(d.answer.Load())
	c.hits.Store(d.hits.Load())
	return c
}

// Wait waits until loading has ended.
func (d *Side) Wait() error { return d.load.Load().Wait() }

// Begun returns a channel that is closed as soon as there is something to show, or it is
// certain that there will be nothing.
func (d *Side) Begun() <-chan struct{} { return d.load.Load().Begun() }

// ReadAs returns the recording if it was read completely from the file at the absolute
// path, with these options, and the file is still unchanged; otherwise ok is false. The
// caller must call release. Until then, data that the recording maps from the file is
// valid.
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

// Full reports whether reading stopped because memory was full.
func (d *Side) Full() bool { return d.load.Load().Stats().Full }

// Stop stops reading; the part read so far is shown.
func (d *Side) Stop() { d.load.Load().Stop() }

// Close stops loading and answering, and closes the file.
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
