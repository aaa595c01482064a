package distributed

import (
	"cmp"
	"fmt"

	"ashlar/ingest/model/recording"
)

// rows are the tracks of a service: the free ones, and the end time of each busy one.
type rows struct {
	free, tracks []int32
	busy         []turn
}

type turn struct {
	until int64
	row   int32
}

// take returns the uppermost row that is free at start, and marks it busy until end.
func (r *rows) take(start, end int64) (row int32) {
	for len(r.busy) > 0 && r.busy[0].until <= start {
		var t turn
		r.busy, t = pop(r.busy, sooner)
		r.free = push(r.free, t.row, cmp.Less[int32])
	}
	if len(r.free) > 0 {
		r.free, row = pop(r.free, cmp.Less[int32])
	} else {
		row = int32(len(r.busy))
	}
	r.busy = push(r.busy, turn{end, row}, sooner)
	return row
}

func sooner(a, b turn) bool { return a.until < b.until }

// push and pop keep a heap.
func push[T any](h []T, x T, before func(a, b T) bool) []T {
	h = append(h, x)
	for i := len(h) - 1; i > 0 && before(h[i], h[(i-1)/2]); i = (i - 1) / 2 {
		h[i], h[(i-1)/2] = h[(i-1)/2], h[i]
	}
	return h
}

func pop[T any](h []T, before func(a, b T) bool) ([]T, T) {
	top, n := h[0], len(h)-1
	h[0] = h[n]
	h = h[:n]
	for i := 0; ; {
		k := 2*i + 1
		if k+1 < n && before(h[k+1], h[k]) {
			k++
		}
		if k >= n || !before(h[k], h[i]) {
			return h, top
		}
		h[i], h[k] = h[k], h[i]
		i = k
	}
}

// lay puts the spans on tracks: each outermost span, with everything nested in it, on the
// first free track.
func (b *builder) lay() error {
	all := map[int32]*rows{}
	for _, i := range b.order {
		s := &b.spans[i]
		if s.inline {
			continue
		}
		r := all[b.serviceOf(i)]
		if r == nil {
			r = &rows{}
			all[b.serviceOf(i)] = r
		}
		k := int(r.take(s.start, s.end))
		if k == len(r.tracks) {
			r.tracks = append(r.tracks, b.track(b.serviceOf(i), k))
		}
		if err := b.put(i, r.tracks[k]); err != nil {
			return err
		}
	}
	return nil
}

// track adds a track to a service, for work that overlaps n other tracks.
func (b *builder) track(service int32, n int) int32 {
	name := "spans"
	if n > 0 {
		name = fmt.Sprintf("spans %d", n+1)
	}
	t := b.b.Track(recording.TrackKey{Kind: recording.AsyncTrack, PID: b.Services[service].PID, Name: name})
	t.SetName(name)
	t.SetSort(n)
	b.tracks = append(b.tracks, t)
	return int32(len(b.tracks) - 1)
}

// put adds a span and everything nested in it to a track.
func (b *builder) put(i, track int32) error {
	t := b.tracks[track]
	open := []int32{}
	for {
		s := &b.spans[i]
		if err := b.tick(); err != nil {
			return err
		}
		s.track = track
		frame := b.b.FunctionFrame(b.b.Function(recording.Function{Name: cmp.Or(s.name, "(no name)"), Module: b.Services[b.serviceOf(i)].Name}))
		t.Begin(b.at(s.start), frame, s.args)
		open = append(open, i)
		if b.first[i] >= 0 {
			i = b.first[i]
			continue
		}
		for {
			i = open[len(open)-1]
			open = open[:len(open)-1]
			t.End(b.at(b.spans[i].end))
			if len(open) == 0 {
				return nil
			}
			if b.next[i] >= 0 {
				i = b.next[i]
				break
			}
		}
	}
}

// arrows adds an arrow to each span that is not drawn inside its parent, and the links of
// the file.
func (b *builder) arrows() error {
	for _, i := range b.order {
		if s := &b.spans[i]; s.up >= 0 && !s.inline {
			if err := b.tick(); err != nil {
				return err
			}
			b.arrow("call", s.up, i)
		}
	}
	if len(b.links) == 0 {
		return nil
	}
	where := make(map[key]int32, len(b.order))
	for _, i := range b.order {
		if s := &b.spans[i]; s.id != "" {
			where[key{s.trace, s.id}] = i
		}
	}
	for k := range b.links {
		l := &b.links[k]
		from, ok := where[key{l.trace, l.id}]
		if !ok || b.spans[l.span].track < 0 {
			b.linked.Kept--
			b.linked.Leave(b.place(int(l.span)))
			b.b.Remark("link-missing", b.place(int(l.span)), "Spans have links to spans that are not in the file, first %s; the links were left out", b.place(int(l.span)))
			continue
		}
		b.arrow("link", from, l.span)
	}
	return b.tick()
}

// arrow adds an arrow to the beginning of a span. The arrow leaves the other span one
// picosecond earlier, before any child that begins at the same time.
func (b *builder) arrow(name string, from, to int32) {
	f, t := &b.spans[from], &b.spans[to]
	at := min(max(b.at(f.start), b.at(t.start)-1), b.at(f.end))
	b.b.AddFlow(recording.Flow{Name: name, Steps: []recording.FlowStep{
		{Track: b.tracks[f.track].Index(), Time: at},
		{Track: b.tracks[t.track].Index(), Time: b.at(t.start)},
	}})
}

// instants adds the events of spans as instants.
func (b *builder) instants() {
	for k := range b.events {
		e := &b.events[k]
		s := &b.spans[e.span]
		if s.track < 0 || !isNear(e.at, b.zero) {
			b.moments.Kept--
			b.moments.Leave(b.place(int(e.span)))
			if s.track >= 0 {
				b.b.Warn("event-too-far", b.place(int(e.span)), "Events are too far in time from the spans and were left out, the first in %s", b.place(int(e.span)))
			}
			continue
		}
		b.tracks[s.track].Instant(b.at(e.at), cmp.Or(e.name, "event"), e.args)
	}
}
