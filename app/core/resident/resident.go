// Package resident keeps recordings loaded between questions, so that follow-up questions
// need no reading.
package resident

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"ashlar/app/core/subcommand"
	"ashlar/ingest"
	"ashlar/ingest/fetch"
	"ashlar/ingest/input/memory"
	"ashlar/ingest/input/source"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/join"
)

// Limits of the loaded recordings, in number and in bytes of their files, and the free
// memory below which recordings are unloaded.
const (
	most      = 32
	mostBytes = 4 << 30
	leastRoom = 256 << 20
)

// looks is the interval between checks for recordings to unload.
const looks = 2 * time.Second

// Recordings holds loaded recordings, most recently used first. A changed file is read
// again; downloads are kept as they are. It may be used by several goroutines.
type Recordings struct {
	from subcommand.Reader
	keep time.Duration

	mu     sync.Mutex
	all    []*one
	timer  *time.Timer // runs while any recording is loaded
	closed bool
	work   sync.WaitGroup
}

// one is a recording that is loaded or being read.
type one struct {
	key     string
	at      string
	info    fs.FileInfo // identity of the file when it was read, nil for downloads
	used    time.Time
	waiting int
	cancel  context.CancelFunc
	faults  int64        // number of faults in mapped files before it was read
	joined  atomic.Int64 // bytes of the files of a joined recording

	done  chan struct{} // closed when the fields below are set
	rec   *recording.Recording
	stats ingest.Stats
	err   error
}

// New returns empty Recordings that read with from. Recordings that are not used for the
// time keep are unloaded; 0 means no time limit.
func New(from subcommand.Reader, keep time.Duration) *Recordings {
	return &Recordings{from: from, keep: keep}
}

// In returns a [subcommand.Reader] that resolves relative paths against dir; "" is the
// working directory.
func (h *Recordings) In(dir string) subcommand.Reader {
	return func(ctx context.Context, path string, o ingest.Options) (*recording.Recording, ingest.Stats, error) {
		at := join.Each(path, func(f string) string {
			if dir == "" || fetch.IsURL(f) || filepath.IsAbs(f) {
				return f
			}
			return filepath.Join(dir, f)
		})
		relative := at != path
		rec, stats, err := h.read(ctx, at, o)
		if err == nil && relative {
			rec = Named(rec, path, dir)
		} else if err == nil {
			rec = Named(rec, path, "")
		}
		return rec, stats, err
	}
}

// Named returns the recording under the given path, relative to dir if dir is set,
// because answers quote the path.
func Named(rec *recording.Recording, path, dir string) *recording.Recording {
	was := rec.Source.Path
	if was == path && rec.Source.Dir == dir {
		return rec
	}
	c := *rec
	c.Source.Path, c.Source.Dir = path, dir
	c.Warnings = slices.Clone(rec.Warnings)
	for i := range c.Warnings {
		if rest, ok := strings.CutPrefix(c.Warnings[i].Text, was+": "); ok {
			c.Warnings[i].Text = path + ": " + rest
		}
	}
	return &c
}

func (h *Recordings) read(ctx context.Context, path string, o ingest.Options) (*recording.Recording, ingest.Stats, error) {
	if err := ingest.Allowed(ctx, path); err != nil {
		return nil, ingest.Stats{}, err
	}
	abs, info := path, fs.FileInfo(nil)
	if join.IsName(path) {
		var ok bool
		if abs, ok = stateOf(path); !ok {
			return h.from(ctx, path, o)
		}
	} else if !fetch.IsURL(path) {
		var err error
		if abs, err = filepath.Abs(path); err == nil {
			info, err = os.Stat(path)
		}
		if err != nil || !info.Mode().IsRegular() {
			return h.from(ctx, path, o)
		}
	}
	_, limited := source.LimitsOf(ctx) // in limited contexts, errors do not quote the input
	key := fmt.Sprintf("%s %q %+v %v", abs, o.Exe, o.Part, limited)
	h.mu.Lock()
	if h.closed {
		h.mu.Unlock()
		return nil, ingest.Stats{}, context.Canceled
	}
	x := h.find(key, info)
	if x == nil {
		x = h.begin(ctx, key, path, info, o)
	}
	x.waiting++
	x.used = time.Now()
	h.mu.Unlock()
	select {
	case <-x.done:
	case <-ctx.Done():
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if x.waiting--; x.waiting == 0 && ctx.Err() != nil {
		select {
		case <-x.done:
		default: // nobody waits for it any more
			h.drop(x)
		}
	}
	if err := context.Cause(ctx); err != nil {
		return nil, ingest.Stats{}, err
	}
	return x.rec, x.stats, x.err
}

// stateOf returns a text that changes with the files of a joined recording; false if they
// are not all regular files.
func stateOf(name string) (text string, ok bool) {
	files, err := join.Files(name)
	if err != nil {
		return "", false
	}
	for _, f := range files {
		abs, err := filepath.Abs(f)
		info, serr := os.Stat(f)
		if err != nil || serr != nil || !info.Mode().IsRegular() {
			return "", false
		}
		text += fmt.Sprintf("%q %d %d ", abs, info.Size(), info.ModTime().UnixNano())
	}
	return text, true
}

// Same reports whether a file is unchanged. A nil argument stands for an input that is
// not a file, such as a download.
func Same(a, b fs.FileInfo) bool {
	if a == nil || b == nil {
		return a == b
	}
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

// find returns the loaded recording of a file and makes it the most recently used; nil if
// there is none.
func (h *Recordings) find(key string, info fs.FileInfo) *one {
	i := slices.IndexFunc(h.all, func(x *one) bool { return x.key == key })
	if i < 0 {
		return nil
	}
	x := h.all[i]
	if !Same(x.info, info) || x.faults != source.Faults() { // after a fault, its mapped file may be damaged
		h.drop(x)
		return nil
	}
	copy(h.all[1:i+1], h.all[:i])
	h.all[0] = x
	return x
}

// begin starts reading a file. To make room, it unloads the least recently used
// recordings.
func (h *Recordings) begin(asked context.Context, key, path string, info fs.FileInfo, o ingest.Options) *one {
	x := &one{key: key, at: path, info: info, faults: source.Faults(), done: make(chan struct{})}
	sum := x.bytes()
	for i, y := range h.all {
		if sum += y.bytes(); i+1 >= most || sum > mostBytes {
			for _, y := range slices.Clone(h.all[i:]) {
				h.forget(y)
			}
			break
		}
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(asked)) // other callers may want the recording, too
	x.cancel = cancel
	h.all = append([]*one{x}, h.all...)
	h.work.Go(func() { h.load(ctx, x, o) })
	if h.timer == nil {
		h.timer = time.AfterFunc(looks, h.look)
	}
	return x
}

func (x *one) bytes() int64 {
	if x.info == nil {
		return x.joined.Load()
	}
	return x.info.Size()
}

// load reads a recording. If it does not fit in memory, load unloads all others and reads
// it again.
func (h *Recordings) load(ctx context.Context, x *one, o ingest.Options) {
	defer close(x.done)
	x.rec, x.stats, x.err = h.from(ctx, x.at, o)
	if x.err == nil && x.stats.Full && h.only(x) {
		debug.FreeOSMemory()
		x.rec, x.stats, x.err = h.from(ctx, x.at, o)
	}
	if x.err == nil && x.info == nil {
		x.joined.Store(max(0, x.rec.Source.Bytes))
	}
	keep := x.err == nil && !x.stats.Full && ctx.Err() == nil
	if keep && x.info != nil {
		now, err := os.Stat(x.at)
		keep = err == nil && Same(now, x.info) // the file may have changed meanwhile
	}
	if !keep {
		h.mu.Lock()
		h.forget(x)
		h.mu.Unlock()
	}
}

// only unloads all recordings except x; it returns false if there are no others.
func (h *Recordings) only(x *one) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := len(h.all)
	for _, y := range slices.Clone(h.all) {
		if y != x {
			h.forget(y)
		}
	}
	return n > 1
}

// forget unloads a recording; callers waiting for it still get it.
func (h *Recordings) forget(x *one) {
	h.all = slices.DeleteFunc(h.all, func(y *one) bool { return y == x })
}

// drop unloads a recording and, if nobody waits for it, stops reading it.
func (h *Recordings) drop(x *one) {
	if h.forget(x); x.waiting == 0 {
		x.cancel()
	}
}

// look unloads recordings that have not been used recently and, if memory is short, the
// least recently used ones.
func (h *Recordings) look() {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := len(h.all)
	for _, x := range slices.Clone(h.all) {
		if h.keep > 0 && x.waiting == 0 && time.Since(x.used) > h.keep {
			h.drop(x)
		}
	}
	if len(h.all) > 0 && short() {
		if x := h.all[len(h.all)-1]; x.waiting == 0 {
			h.drop(x)
		}
	}
	if len(h.all) < n {
		h.work.Go(debug.FreeOSMemory)
	}
	switch {
	case h.closed:
	case len(h.all) > 0:
		h.timer.Reset(looks)
	default:
		h.timer = nil
	}
}

// short reports whether little memory is left, after freeing garbage.
func short() bool {
	room, known := memory.Room()
	if !known || room >= leastRoom {
		return false
	}
	debug.FreeOSMemory()
	room, _ = memory.Room()
	return room < leastRoom
}

// Close unloads all recordings and waits until all reading has ended.
func (h *Recordings) Close() {
	h.mu.Lock()
	h.closed = true
	for _, x := range h.all {
		x.cancel()
	}
	h.all = nil
	if h.timer != nil {
		h.timer.Stop()
	}
	h.mu.Unlock()
	h.work.Wait()
}
