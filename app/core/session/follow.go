package session

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"time"

	"ashlar/ingest"
	"ashlar/render/units"
)

// How often a followed file is looked at, and how much time reading it again
// may take: at most two times a second, and never more than a fifth of the time.
const (
	lookEvery  = 100 * time.Millisecond
	leastPause = 500 * time.Millisecond
	restFor    = 4 // times as long as reading took
)

// Follow reads the file again whenever it has changed, until ctx ends or the
// document is closed. What is shown stays until the new content has been read
// as a whole; where it cannot be read, FollowNote says why, and what was there
// stays, as it does where the file has only been cut. It is called once at a time.
func (d *Side) Follow(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer context.AfterFunc(d.ctx, cancel)()
	defer cancel()
	d.following.Store(true)
	defer d.following.Store(false)
	d.announce()
	defer d.announce()
	seen, pause := d.opened, time.Duration(0)
	if now := readGlance(d.path); now.same(seen) {
		seen.readHead(d.path)
	}
	shown := seen
	select {
	case <-d.load.Load().Done():
	case <-ctx.Done():
		return
	}
	for {
		select {
		case <-time.After(max(lookEvery, pause)):
		case <-ctx.Done():
			return
		}
		pause = 0
		now := readGlance(d.path)
		if now.same(seen) {
			continue
		}
		was := seen
		if seen = now; now.err != nil || now.info.Size() == 0 {
			d.note(gone(now), true) // and what was shown stays: it may come back
			continue
		}
		seen.readHead(d.path)
		if seen.goesOn(shown) && seen.smaller(shown) && !was.smaller(seen) {
			d.note("file truncated from "+units.Plural(shown.info.Size(), "byte")+" to "+units.Count(seen.info.Size())+"; showing its previous contents", true)
			continue
		}
		anew := ""
		if !seen.goesOn(shown) || seen.smaller(shown) {
			anew = "file rewritten; showing the new contents"
		}
		began := time.Now()
		if d.again(ctx, anew) {
			shown = seen
		}
		pause = max(leastPause, restFor*time.Since(began))
	}
}

// CanFollow reports whether there is a file to follow.
func (d *Side) CanFollow() bool { return d.path != "" }

// Following reports whether the file is followed.
func (d *Side) Following() bool { return d.following.Load() }

// FollowNote describes the last event of the followed file other than growth, "" if there
// was none, and reports whether the view is outdated.
func (d *Side) FollowNote() (text string, wrong bool) {
	if n := d.followNote.Load(); n != nil {
		return n.text, n.wrong
	}
	return "", false
}

// followNote has the text of FollowNote.
type followNote struct {
	text  string
	wrong bool
}

func (d *Side) note(text string, wrong bool) {
	if was, _ := d.FollowNote(); was != text {
		d.followNote.Store(&followNote{text, wrong})
		d.announce()
	}
}

// again reads the file and shows it in place of what was read before, with a note.
func (d *Side) again(ctx context.Context, note string) bool {
	was := readGlance(d.path)
	l := ingest.Open(context.Background(), d.path, ingest.Options{Options: d.opts.Decode, Part: d.opts.Part, Scratch: d.opts.Scratch})
	defer context.AfterFunc(ctx, l.Cancel)()
	if err := l.Wait(); err != nil {
		l.Close()
		if ctx.Err() == nil {
			d.note("not reloaded: "+err.Error(), true)
		}
		return false
	}
	old := d.load.Load()
	d.load.Store(&loading{Load: l, generation: old.generation + 1, was: was, looks: []*Side{d}})
	d.note(note, false)
	d.asks.again() // the answer for it; until then the last one is shown
	d.announce()
	old.leave(d)
	return true
}

// headLen is how much of a file's beginning tells it from another one.
const headLen = 64 << 10

// glance has everything that a look at a file tells. head is how it begins, nil if nobody
// knows any more.
type glance struct {
	info fs.FileInfo
	err  error
	head []byte
}

func readGlance(path string) glance {
	info, err := os.Stat(path)
	return glance{info: info, err: err}
}

// readHead reads how the file begins.
func (g *glance) readHead(path string) {
	f, err := os.Open(path)
	if err != nil {
		return
	}
	defer f.Close()
	g.head, _ = io.ReadAll(io.LimitReader(f, headLen))
}

// goesOn reports whether a file may have come of another by being appended to or
// cut. One that was written again in its place begins otherwise.
func (g glance) goesOn(o glance) bool {
	n := min(len(g.head), len(o.head))
	return o.info != nil && os.SameFile(g.info, o.info) && bytes.Equal(g.head[:n], o.head[:n])
}

func (g glance) smaller(o glance) bool {
	return g.info == nil || o.info != nil && g.info.Size() < o.info.Size()
}

func (g glance) same(o glance) bool {
	if g.err != nil || o.err != nil || g.info == nil || o.info == nil {
		return (g.err != nil) == (o.err != nil) && g.info == nil && o.info == nil
	}
	return os.SameFile(g.info, o.info) && g.info.Size() == o.info.Size() && g.info.ModTime().Equal(o.info.ModTime())
}

func gone(g glance) string {
	switch {
	case errors.Is(g.err, fs.ErrNotExist):
		return "file deleted; showing its previous contents"
	case g.err != nil:
		return "cannot access the file (" + g.err.Error() + "); showing its previous contents"
	}
	return "file is empty now; showing its previous contents"
}
