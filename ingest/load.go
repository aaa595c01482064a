// Package ingest opens recordings in the background: it maps or reads the file, recognises
// its format, decodes it in goroutines and publishes snapshots of the growing recording.
package ingest

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"ashlar/ingest/fetch"
	"ashlar/ingest/fetch/ssh"
	"ashlar/ingest/format/codec"
	"ashlar/ingest/format/decode"
	"ashlar/ingest/format/parquet"
	"ashlar/ingest/input/memory"
	"ashlar/ingest/input/source"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/join"
)

// Options are options for loading; the zero value is valid.
type Options struct {
	decode.Options
	// ChunkSize is the maximum number of bytes that a decoder gets at a time; 0 stands
	// for the default of the source.
	ChunkSize int
	// MemoryLimit is the number of bytes that the recording may use; 0 stands for the
	// free memory of the system, within GOMEMLIMIT. At the limit, reading stops and a
	// warning is added.
	MemoryLimit int64
	// Scratch is a folder for an unnamed file with the columns of recordings larger than
	// memory; "" for none.
	Scratch string
	// Part is the part of the recording that is kept.
	Part recording.Part
	// Hold, if set, makes reading pause after the first snapshot until it is closed, at
	// most a quarter of a second: a window shows its first frame sooner if it has the
	// machine to itself. Small files, which are read completely by then, do not wait.
	Hold <-chan struct{}
	// Cache, if set, holds recordings read before and keeps new ones read from files.
	Cache Cache
	// Notify, if set, is called after each new snapshot and when loading has
	// ended, from a goroutine of the loader; it must not block.
	Notify func()
}

// WarnKept is the code of the note that a cached recording could not be used.
const WarnKept = "kept"

// A Cache holds recordings that were read before.
type Cache interface {
	// Look returns the recording of a file, or nil if the cache does not have it. If it
	// returns nil, keep, unless nil, is called with the recording once it has been read.
	// The function that keep returns runs in its own goroutine and ends when the context
	// does. remark is a sentence for the user, mostly "".
	Look(path string, o decode.Options) (rec *recording.Recording, keep func(context.Context, *recording.Recording) (work func()), remark string)
}

// Progress describes how far loading has got.
type Progress struct {
	// Bytes is the number of bytes of the file on disk read so far, Total its size, -1 if
	// unknown (a pipe).
	Bytes, Total int64
	// Records is the number of records in the latest snapshot.
	Records int64
	Elapsed time.Duration
	// Left is an estimate of the remaining time, negative if there is none yet.
	Left time.Duration
	Done bool
}

// Load is a recording that is being loaded, or has been. Its methods may be
// called from any goroutine.
type Load struct {
	path    string
	opts    Options
	cancel  context.CancelFunc
	reading context.Context         // cancelled early if there is a cause to stop reading
	stop    context.CancelCauseFunc // ends reading
	// finishing and enough are like reading and stop, for the work after reading.
	finishing context.Context
	enough    context.CancelCauseFunc
	began     time.Time
	quiet     bool // no snapshots are needed before everything is read
	file      bool // path is a file, here or on another machine, or a pipe
	keep      func(context.Context, *recording.Recording) (work func())
	keeping   context.Context // context of keep
	unkeep    context.CancelFunc
	kept      chan struct{} // closed when keep has ended
	remark    string
	whole     bool          // all was read
	begun     chan struct{} // closed when there is something to show
	done      chan struct{}

	parts *parts    // for a joined recording, otherwise nil
	first sync.Once // closes begun
	snap  atomic.Pointer[recording.Recording]
	in    atomic.Pointer[source.Input]
	err   error // set when done is closed
	stats Stats // set when done is closed
	full  bool  // memory ran out

	closing  sync.Once
	closeErr error
}

// Open starts to load the recording at path ("-" is standard input; http:// and https://
// URLs are fetched; for several files that are joined, see [join.IsName]) and returns at
// once. Wait and Err report all errors. Loading ends early if ctx does.
func Open(ctx context.Context, path string, opts Options) *Load {
	return open(ctx, path, opts, false)
}

func open(ctx context.Context, path string, opts Options, quiet bool) *Load {
	if join.IsName(path) {
		return openJoined(ctx, path, opts, quiet)
	}
	ctx, cancel := context.WithCancel(ctx)
	part := opts.Part
	if ssh.IsURL(path) {
		opts.Part = recording.Part{} // the part is cut on the other machine
	}
	l := newLoad(ctx, path, opts, cancel)
	l.quiet = quiet
	_, _, many := parquet.Partition(path) // a change of the other files would go unnoticed
	l.file = path != "-" && !fetch.IsURL(path) && !many || ssh.IsURL(path) && !part.IsSet()
	go l.run(ctx, l.from(func() (*source.Input, error) {
		if ssh.IsURL(path) {
			if err := Allowed(l.reading, path); err != nil {
				return nil, err
			}
			return there(l.reading, path, part, opts.Exe)
		}
		return OpenSource(l.reading, path)
	}))
	return l
}

// OpenInput is like Open, for an existing input, such as a built-in recording. The Load
// closes the input.
func OpenInput(ctx context.Context, in *source.Input, opts Options) *Load {
	ctx, cancel := context.WithCancel(ctx)
	l := newLoad(ctx, in.Path, opts, cancel)
	go l.run(ctx, l.from(func() (*source.Input, error) { return in, nil }))
	return l
}

func newLoad(ctx context.Context, path string, opts Options, cancel context.CancelFunc) *Load {
	l := &Load{path: path, opts: opts, cancel: cancel, began: time.Now(),
		begun: make(chan struct{}), done: make(chan struct{}), kept: make(chan struct{})}
	l.keeping, l.unkeep = context.WithCancel(context.WithoutCancel(ctx))
	l.reading, l.stop = context.WithCancelCause(ctx)
	l.finishing, l.enough = context.WithCancelCause(ctx)
	l.snap.Store(emptyRecording(path))
	return l
}

func emptyRecording(path string) *recording.Recording {
	b := recording.NewBuilder()
	b.Source().Path = path
	b.Source().Bytes = -1
	return b.Snapshot()
}

// from returns the function that loads an input, for run.
func (l *Load) from(open func() (*source.Input, error)) func(context.Context) (*recording.Recording, error) {
	return func(ctx context.Context) (*recording.Recording, error) { return l.load(ctx, open) }
}

func (l *Load) run(ctx context.Context, load func(context.Context) (*recording.Recording, error)) {
	defer close(l.done)
	defer l.cancel()
	defer l.enough(nil)
	defer l.stop(nil)
	rec, err := load(ctx)
	if ctx.Err() != nil && (err == nil || errors.Is(err, context.Canceled)) && !l.snap.Load().Done {
		err = ctx.Err()
	}
	l.err = err
	if rec != nil {
		l.snap.Store(rec)
	}
	l.stats = l.measure()
	l.notify()
	if l.keep != nil && l.whole && l.finishing.Err() == nil {
		work := l.keep(l.keeping, rec)
		go func() {
			defer close(l.kept)
			_ = source.Protect(l.path, func() error { // argument texts are in the mapped file
				work()
				return nil
			})
		}()
	} else {
		close(l.kept)
	}
}

// load decodes everything and returns the final recording, nil if there is nothing to show.
func (l *Load) load(ctx context.Context, open func() (*source.Input, error)) (*recording.Recording, error) {
	if c := l.opts.Cache; c != nil && l.file && !l.opts.Part.IsSet() {
		var rec *recording.Recording
		if err := Allowed(ctx, l.path); err != nil {
			return nil, err
		}
		if rec, l.keep, l.remark = c.Look(l.path, l.opts.Options); rec != nil {
			return rec, l.readArgs(rec, open)
		}
	}
	in, err := open()
	if err != nil {
		return nil, l.unread(err)
	}
	l.in.Store(in)
	in.ChunkSize, in.InPlace = l.opts.ChunkSize, scarce(&l.opts)
	if in.Bytes >= 0 && in.Bytes < smallFile {
		l.opts.Hold = nil
	}
	defer context.AfterFunc(l.reading, in.Stop)()
	format, err := l.recognise(in)
	if err != nil {
		return nil, unquoted(in, err)
	}
	return l.decode(ctx, in, format)
}

// recognise determines the format of the open input.
func (l *Load) recognise(in *source.Input) (format *codec.Format, err error) {
	err = source.Protect(in.Path, func() error {
		var cannot unread
		format, err = recognise(in)
		switch {
		case err != nil && l.reading.Err() != nil: // a cancelled input looks empty
			return l.reading.Err()
		case errors.As(err, &cannot):
			return l.unread(cannot.error)
		case err != nil:
			return l.named(err)
		}
		return nil
	})
	return format, err
}

// decode reads all of the input, or as much as fits in memory.
func (l *Load) decode(ctx context.Context, in *source.Input, format *codec.Format) (*recording.Recording, error) {
	b := recording.NewBuilder()
	b.Only(l.opts.Part)
	*b.Source() = recording.Source{Path: in.Path, Name: in.Name, Format: format.Name, Compression: in.Compression, Bytes: in.Bytes}
	if !l.quiet {
		b.OnPublish = func(r *recording.Recording) {
			l.snap.Store(r)
			l.notify()
			l.hold()
		}
	}
	g := newGuard(b, in, &l.opts, l.stop)
	b.OnProgress = g.look
	b.Until(l.reading)
	unwatch, halt := g.watch(), context.AfterFunc(ctx, b.Halt)
	err := source.Protect(in.Path, func() error { return format.Decode(l.reading, in, b, l.opts.Options) })
	unwatch()
	halt()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if cause := context.Cause(l.reading); cause != nil {
		err = cause
	}
	l.stop(nil) // later reasons to stop are only consequences
	b.OnProgress = nil
	g.done(errors.Is(err, errFull))
	if errors.Is(err, errFull) {
		err = g.full()
	}
	var short *memory.Short
	l.full = errors.As(err, &short)
	finishing, unwatch := memory.Watch(l.finishing, "laying out the spans", nil)
	defer unwatch()
	b.Until(finishing)
	return l.finish(b, err)
}

// readArgs makes a cached recording read its arguments from the original file.
func (l *Load) readArgs(rec *recording.Recording, open func() (*source.Input, error)) error {
	if rec.Args != nil || rec.ArgState == nil {
		return nil
	}
	in, err := open()
	if err != nil {
		return l.unread(err)
	}
	l.in.Store(in)
	in.Random()
	rec.Args = func(uint64) string { return "" } // the file is not mapped this time
	for i := range Formats {
		if f := &Formats[i]; f.Name == rec.Source.Format && f.Args != nil && in.Mapped() != nil {
			rec.Args, rec.CPU = f.Args(in, rec.ArgState())
		}
	}
	return nil
}

// smallFile is the size in bytes below which a file does not wait for Options.Hold.
const smallFile = 8 << 20

// hold waits as described at Options.Hold.
func (l *Load) hold() {
	if l.opts.Hold == nil {
		return
	}
	select {
	case <-l.opts.Hold:
	case <-l.reading.Done():
	case <-time.After(time.Second / 4):
	}
	l.opts.Hold = nil
}

// unread returns the error for a recording without any data read.
func (l *Load) unread(err error) error {
	if context.Cause(l.reading) == errStopped {
		return &source.Error{Path: l.path, What: "reading was stopped before any data arrived", Err: err}
	}
	return err
}

// finish completes the recording. If decoding failed part way, it keeps what was read and
// adds a warning.
func (l *Load) finish(b *recording.Builder, failed error) (rec *recording.Recording, err error) {
	failed = l.named(failed)
	err = source.Protect(l.path, func() error {
		if failed != nil {
			if !b.Shows() {
				return unquoted(l.in.Load(), failed)
			}
			b.Warn("failed", "", "reading stopped early: %v", failed)
		}
		if l.remark != "" {
			b.Remark(WarnKept, "", "%s", l.remark)
		}
		rec = b.Finish()
		l.whole = failed == nil
		return nil
	})
	return rec, err
}

// named puts the path before an error that does not begin with it.
func (l *Load) named(err error) error {
	if err == nil {
		return nil
	}
	var named *source.Error
	var bug *source.Bug
	if errors.As(err, &named) || errors.As(err, &bug) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return &source.Error{Path: l.path, What: err.Error(), Err: err}
}

func (l *Load) notify() {
	l.first.Do(func() { close(l.begun) })
	if l.opts.Notify != nil {
		l.opts.Notify()
	}
}

// Path returns the path given to Open.
func (l *Load) Path() string { return l.path }

// Snapshot returns the latest state of the recording. At first it is empty; it is never
// nil.
func (l *Load) Snapshot() *recording.Recording { return l.snap.Load() }

// Begun returns a channel that is closed when there is a first snapshot or loading has
// ended.
func (l *Load) Begun() <-chan struct{} { return l.begun }

// Done returns a channel that is closed when loading has ended, with or without success.
func (l *Load) Done() <-chan struct{} { return l.done }

// Wait waits until loading has ended and returns Err.
func (l *Load) Wait() error {
	<-l.done
	return l.err
}

// Err returns why nothing can be shown, in one sentence that names the file. It is nil
// during loading, and also if reading stopped early but something can be shown (a warning
// with the code "failed" then gives the reason).
func (l *Load) Err() error {
	select {
	case <-l.done:
		return l.err
	default:
		return nil
	}
}

// Stats returns statistics of loading, once it has ended.
func (l *Load) Stats() Stats {
	select {
	case <-l.done:
		return l.stats
	default:
		return Stats{}
	}
}

// Progress returns how far loading has got.
func (l *Load) Progress() Progress {
	p := Progress{Total: -1, Left: -1, Elapsed: time.Since(l.began)}
	if in := l.in.Load(); in != nil {
		p.Bytes, p.Total = in.Consumed(), in.Bytes
	}
	for _, t := range l.Snapshot().Ledger {
		p.Records += t.Read
	}
	if l.parts != nil {
		records := int64(0)
		p.Bytes, p.Total, records = l.parts.progress()
		p.Records = max(p.Records, records)
	}
	select {
	case <-l.done:
		p.Done, p.Left, p.Elapsed = true, 0, l.stats.Elapsed
		return p
	default:
	}
	const early = 50 * time.Millisecond // before that, an estimate would be a guess
	if p.Total > 0 && p.Bytes > 0 && p.Elapsed > early {
		p.Left = time.Duration(float64(p.Elapsed) * float64(max(0, p.Total-p.Bytes)) / float64(p.Bytes))
	}
	return p
}

// Cancel cancels loading; the latest snapshot stays as it is.
func (l *Load) Cancel() { l.cancel() }

// errStopped is the cause when the user stops a load.
var errStopped = errors.New("loading was cancelled")

// Stop ends reading. The input read so far becomes the recording, with a warning that it
// is incomplete. If reading is already over, Stop ends the layout of the spans in the same
// way and leaves out the rest of them.
func (l *Load) Stop() {
	if l.reading.Err() != nil {
		l.enough(errStopped)
	}
	l.stop(errStopped)
}

// Close stops loading, waits for its goroutines and releases the file. Snapshots stay
// valid, except for argument texts in the file. Close may be called any number of times.
func (l *Load) Close() error {
	l.closing.Do(func() {
		l.cancel()
		l.unkeep()
		<-l.done
		<-l.kept
		if in := l.in.Load(); in != nil {
			l.closeErr = in.Close()
		}
		if l.parts != nil {
			l.closeErr = l.parts.close()
		}
	})
	return l.closeErr
}

// ReadAll loads a whole recording. If reading stopped early but something can be shown,
// err is nil and a warning with the code "failed" gives the reason.
func ReadAll(ctx context.Context, path string, opts Options) (*recording.Recording, Stats, error) {
	l := open(ctx, path, opts, true)
	if err := l.Wait(); err != nil {
		l.Close()
		return nil, l.Stats(), err
	}
	// The file stays mapped for as long as the recording refers to it: see
	// source.Open.
	if in := l.in.Load(); in != nil && in.Mapped() == nil {
		<-l.kept
		l.Close()
	}
	return l.Snapshot(), l.Stats(), nil
}
