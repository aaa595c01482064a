package shell

import (
	"reflect"
	"slices"
	"time"

	"ashlar/app/store"
	"ashlar/ingest/analyze"
	"ashlar/ingest/recording"
	"ashlar/render/timeline"
	"ashlar/render/ui"
)

// place is everything about a pane that a person chooses and may want back.
type place struct {
	View          timeline.View
	Moved         bool
	Sel           recording.Scope
	Event, Metric int
	Tab           int
	Zoom          []step
	Folds         map[int]timeline.Fold
	Closed        map[int]bool
	Hidden        map[int]bool
	Pinned, Order []int
	Sort          timeline.Sort
	Transforms    []analyze.Transform
	Filter        string
	Marks         []store.Mark
	Below         lowerPlace
}

// history is the list of places one has been at; at is the current one.
type history[T any] struct {
	places []T
	at     int
	seen   T
	since  time.Time
}

// settle is how long a place must stay as it is to be remembered: a wheel that
// turns passes many.
const settle = 400 * time.Millisecond

// mostPlaces bounds the history.
const mostPlaces = 500

func (p *pane) spot() place {
	pl := place{View: p.view, Moved: p.moved, Sel: p.sel, Event: p.event, Metric: p.metric, Tab: p.tab,
		Zoom: slices.Clone(p.flame.zoom), Folds: p.folds, Closed: p.closed, Hidden: p.hidden,
		Pinned: p.pinned, Order: p.order, Sort: p.sort, Filter: p.filter,
		Transforms: slices.Clone(p.transforms), Below: p.lowerPlace(), Marks: slices.Clone(p.marks.all)}
	if !pl.Moved { // it follows the recording, which grows while it loads
		pl.View.From, pl.View.To = 0, 0
	}
	return pl
}

func (p *pane) goTo(pl place) {
	p.view, p.moved, p.sel = pl.View, pl.Moved, pl.Sel
	if !p.moved {
		p.view = p.view.Fit(p.limits())
		p.view.Scroll = pl.View.Scroll
	}
	p.event, p.metric, p.tab = pl.Event, pl.Metric, pl.Tab
	p.flame.zoom = slices.Clone(pl.Zoom)
	p.folds, p.closed, p.hidden = pl.Folds, pl.Closed, pl.Hidden
	p.pinned, p.order = pl.Pinned, pl.Order
	p.sort, p.filter = pl.Sort, pl.Filter
	p.transforms = slices.Clone(pl.Transforms)
	p.marks.all = slices.Clone(pl.Marks)
	p.goToLower(pl.Below)
}

// remember adds the place to the history once it has settled.
func (p *pane) remember(u *ui.UI) { p.history.remember(u, p.spot()) }

func (h *history[T]) remember(u *ui.UI, now T) {
	if len(h.places) == 0 {
		h.places, h.seen = []T{now}, now
		return
	}
	if reflect.DeepEqual(now, h.places[h.at]) {
		h.seen = now
		return
	}
	if !reflect.DeepEqual(now, h.seen) {
		h.seen, h.since = now, u.Now
	}
	if u.Now.Sub(h.since) < settle {
		u.Execute(opInvalidateAt(h.since.Add(settle)))
		return
	}
	h.push(now)
}

func (h *history[T]) push(pl T) {
	h.places = append(h.places[:h.at+1], pl)
	if n := len(h.places) - mostPlaces; n > 0 {
		h.places = slices.Delete(h.places, 0, n)
	}
	h.at = len(h.places) - 1
	h.seen = pl
}

func (p *pane) step(d int) {
	if to, ok := p.history.step(d, p.spot()); ok {
		p.goTo(to)
		p.history.seen = p.spot()
	}
}

// step is the place to go to from now: d is -1 for back and 1 for on.
func (h *history[T]) step(d int, now T) (to T, ok bool) {
	if len(h.places) > 0 && !reflect.DeepEqual(now, h.places[h.at]) {
		h.push(now) // not settled yet, but left on purpose
	}
	if k := h.at + d; k >= 0 && k < len(h.places) {
		h.at = k
		return h.places[k], true
	}
	return now, false
}
