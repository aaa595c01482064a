package session

import (
	"slices"
	"sync"

	"ashlar/ingest"
)

// loading is a recording being loaded, shared by several sides. Reading the file again
// creates another loading with the next generation, whose tracks, functions and calls
// have ids of their own.
type loading struct {
	*ingest.Load
	generation int
	was        glance // the file, just before it was read

	mu    sync.Mutex
	looks []*Side
}

// open starts loading, with d as the first user.
func (d *Side) open(load func(ingest.Options) *ingest.Load) {
	l := &loading{looks: []*Side{d}, was: d.opened}
	l.mu.Lock()
	l.Load = load(ingest.Options{Notify: l.loaded})
	l.mu.Unlock()
	d.load.Store(l)
}

// loaded notifies all users of a new snapshot.
func (l *loading) loaded() {
	l.mu.Lock()
	looks := slices.Clone(l.looks)
	l.mu.Unlock()
	for _, d := range looks {
		d.loaded()
	}
}

// leave removes a user and closes the loading with the last one.
func (l *loading) leave(d *Side) {
	l.mu.Lock()
	l.looks = slices.DeleteFunc(l.looks, func(o *Side) bool { return o == d })
	last := len(l.looks) == 0
	l.mu.Unlock()
	if last {
		l.Load.Close()
	}
}

// join adds a user; it returns false if there are none left.
func (l *loading) join(d *Side) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.looks) > 0 {
		l.looks = append(l.looks, d)
	}
	return len(l.looks) > 0
}
