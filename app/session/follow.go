package session

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"time"

	"ashlar/ingest"
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
// stays. It is called once at a time.
func (d *Side) Follow(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer context.AfterFunc(d.ctx, cancel)()
	defer cancel()
	d.following.Store(true)
	defer d.following.Store(false)
	d.tell()
	defer d.tell()
	seen, pause := d.opened, time.Duration(0)
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
		now := look(d.path)
		if now.same(seen) {
			continue
		}
		seen = now
		if now.err != nil || now.info.Size() == 0 {
			d.note(gone(now)) // and what was shown stays: it may come back
			continue
		}
		began := time.Now()
		d.again(ctx)
		pause = max(leastPause, restFor*time.Since(began))
	}
}

// CanFollow tells whether there is a file to follow.
func (d *Side) CanFollow() bool { return d.path != "" }

// Following tells whether the file is followed.
func (d *Side) Following() bool { return d.following.Load() }

// FollowNote says what is wrong with the followed file, "" when nothing is.
func (d *Side) FollowNote() string {
	if n := d.followNote.Load(); n != nil {
		return *n
	}
	return ""
}

func (d *Side) note(text string) {
	if d.FollowNote() != text {
		d.followNote.Store(&text)
		d.tell()
	}
}

// again reads the file and shows it in place of what was read before.
func (d *Side) again(ctx context.Context) {
	l := ingest.Open(context.Background(), d.path, ingest.Options{Options: d.opts.Decode, Part: d.opts.Part})
	defer context.AfterFunc(ctx, l.Cancel)()
	if err := l.Wait(); err != nil {
		l.Close()
		if ctx.Err() == nil {
			d.note("not read again: " + err.Error())
		}
		return
	}
	old := d.load.Load()
	d.load.Store(&loading{Load: l, generation: old.generation + 1, looks: []*Side{d}})
	d.note("")
	d.asks.again() // the answer for it; until then the last one is shown
	d.tell()
	old.leave(d)
}

// glance is what a look at a file tells.
type glance struct {
	info fs.FileInfo
	err  error
}

func look(path string) glance {
	info, err := os.Stat(path)
	return glance{info, err}
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
		return "the file is gone; this is what was in it"
	case g.err != nil:
		return "the file cannot be looked at (" + g.err.Error() + "); this is what was in it"
	}
	return "the file is empty now; this is what was in it"
}
