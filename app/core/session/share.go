package session

import (
	"slices"
	"sync"

	"ashlar/ingest"
)

// loading is a recording that loads, with all who look at it. Reading the file
// again makes another, whose tracks, functions and calls have numbers of their
// own: a generation.
type loading struct {
	*ingest.Load
	generation int
	was        glance // the file, just before it was read

	mu    sync.Mutex
	looks []*Side
}

// open begins to load for the first who looks.
func (d *Side) open(load func(ingest.Options) *ingest.Load) {
	l := &loading{looks: []*Side{d}, was: d.opened}
	l.mu.Lock()
	l.Load = load(ingest.Options{Notify: l.loaded})
	l.mu.Unlock()
	d.load.Store(l)
}

// loaded tells all who look that there is a new snapshot.
func (l *loading) loaded() {
	l.mu.Lock()
	looks := slices.Clone(l.looks)
	l.mu.Unlock()
	for _, d := range looks {
		d.loaded()
	}
}

// leave ends the loading with the last who looked.
func (l *loading) leave(d *Side) {
	l.mu.Lock()
	l.looks = slices.DeleteFunc(l.looks, func(o *Side) bool { return o == d })
	last := len(l.looks) == 0
	l.mu.Unlock()
	if last {
		l.Load.Close()
	}
}

// join adds one who looks; false if nobody does any more.
func (l *loading) join(d *Side) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.looks) > 0 {
		l.looks = append(l.looks, d)
	}
	return len(l.looks) > 0
}
