// Package doc is one open recording: how it loads, and the answers asked of it
// in the background. It draws nothing.
package doc

import (
	"context"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/klauspost/compress/zstd"

	"ashlar/assets"
	"ashlar/ingest"
	"ashlar/ingest/analyze"
	"ashlar/ingest/recording"
	"ashlar/ingest/source"
)

// Answer is what a question about a recording brought.
type Answer struct {
	Rec   *recording.Recording
	Query analyze.Query
	Tree  *analyze.Tree
	Rows  []analyze.Row
}

// Doc is an open recording.
type Doc struct {
	Name string
	load *ingest.Load

	mu     sync.Mutex
	want   analyze.Query
	asked  bool
	wake   chan struct{}
	stale  context.CancelFunc // ends the computation of an answer nobody wants
	ctx    context.Context
	cancel context.CancelFunc
	ended  chan struct{}
	notify func()

	answer atomic.Pointer[Answer]
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
func (d *Doc) Ask(q analyze.Query) {
	d.mu.Lock()
	same := d.asked && equal(d.want, q)
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

func equal(a, b analyze.Query) bool {
	if a.Event != b.Event || a.Metric != b.Metric || a.Ranged != b.Ranged || a.From != b.From || a.To != b.To || len(a.Tracks) != len(b.Tracks) {
		return false
	}
	for i := range a.Tracks {
		if a.Tracks[i] != b.Tracks[i] {
			return false
		}
	}
	return true
}

// Answer is the latest answer, nil before the first.
func (d *Doc) Answer() *Answer { return d.answer.Load() }

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
			if a := answer(ctx, d.load.Snapshot(), q); a != nil && !d.old(a) {
				d.answer.Store(a)
			}
			if d.notify != nil {
				d.notify()
			}
		}
		stale()
	}
}

// old reports whether the answer is the one that is there.
func (d *Doc) old(a *Answer) bool {
	b := d.answer.Load()
	return b != nil && b.Rec == a.Rec && equal(b.Query, a.Query)
}

func answer(ctx context.Context, rec *recording.Recording, q analyze.Query) *Answer {
	w, err := analyze.Weigh(ctx, rec, q)
	if err != nil {
		return nil
	}
	t := analyze.NewTree(rec, w)
	if ctx.Err() != nil {
		return nil
	}
	return &Answer{Rec: rec, Query: q, Tree: t, Rows: analyze.Table(rec, t, analyze.ByFunction)}
}

// Settle waits until loading has ended and the question is answered for the
// final recording: for pictures without a window.
func (d *Doc) Settle(q analyze.Query) error {
	if err := d.load.Wait(); err != nil {
		return err
	}
	d.Ask(q)
	if a := answer(d.ctx, d.load.Snapshot(), q); a != nil {
		d.answer.Store(a)
	}
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
