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
	"ashlar/ingest/input/source"
	"ashlar/render/units"
)

// How often to check a followed file, and limits on reading it again: at most twice a
// second, and at most a fifth of the time.
const (
	lookEvery  = 100 * time.Millisecond
	leastPause = 500 * time.Millisecond
	restFor    = 4 // multiple of the time that reading took
)

// Follow reads the file again whenever it changes, until ctx ends or the side is closed.
// The old content is shown until the new content has been read completely. If the file
// cannot be read or was only truncated, the old content stays and FollowNote gives the
// reason. Only one Follow may run at a time.
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
			d.note(gone(now), true) // keep the old content: the file may come back
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

// followNote holds the results of FollowNote.
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

// again reads the file again and shows it instead of the old content, with a note. It
// returns false if reading failed.
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
	d.asks.again() // answer for the new content; meanwhile the last answer is shown
	d.announce()
	old.leave(d)
	return true
}

// headLen is the number of bytes at a file's beginning that distinguish it from another
// file.
const headLen = 64 << 10

// glance is the observed state of a file. head is its beginning, nil if unknown.
type glance struct {
	info fs.FileInfo
	err  error
	head []byte
}

func readGlance(path string) glance {
	info, err := os.Stat(path)
	return glance{info: info, err: err}
}

// readHead reads the beginning of the file.
func (g *glance) readHead(path string) {
	f, err := source.OpenRegular(path)
	if err != nil {
		return
	}
	defer f.Close()
	g.head, _ = io.ReadAll(io.LimitReader(f, headLen))
}

// goesOn reports whether o may be the same file as g, before something was appended or
// cut off. A file that was rewritten in place begins differently.
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
