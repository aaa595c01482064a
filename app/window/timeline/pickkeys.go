package timeline

import (
	"ashlar/app/window/panel"
	"ashlar/ingest/model/recording"
	"ashlar/render/timeline"
)

// Picking bars of the timeline by keys: along a lane, up and down the stack,
// and from row to row.

// pickedRow returns the row of the selected item, -1 for none.
func (p *Timeline) pickedRow() int {
	switch p.Pick.Kind {
	case panel.PickBar, panel.PickWindow, panel.PickCounter, panel.PickInstant:
		return p.rowOf(&p.Pick.Hit)
	}
	return -1
}

// BarAt returns the span of a lane at a time, else the next one, else the last.
func BarAt(t *recording.Track, track, lane int, at int64) (timeline.Hit, bool) {
	l := t.Lane(lane)
	if l == nil || l.Len() == 0 {
		return timeline.Hit{}, false
	}
	return timeline.SpanBar(track, lane, min(l.Search(at), l.Len()-1), l), true
}

// SampleBarAt returns the bar that begins with sample i of a row's samples, at a depth of
// their stacks.
func (p *Timeline) SampleBarAt(track, depth, i int, s *recording.Samples) (timeline.Hit, bool) {
	if i < 0 || i >= s.Len() || depth < 0 {
		return timeline.Hit{}, false
	}
	h := timeline.SampleBar(p.Rec, s, depth, i)
	h.Track, h.Lane = track, len(p.Rec.Tracks[track].Lanes)+depth
	return h, h.Found
}

// inRow returns the item of a row at a time, or the nearest one.
func (p *Timeline) inRow(i int, at int64) (timeline.Hit, bool) {
	r := &p.Plan.Rows[i]
	none := timeline.Hit{Row: i, Span: -1, Window: -1}
	switch r.Kind {
	case timeline.TrackRow:
		t := p.Rec.Tracks[r.Index]
		if h, ok := BarAt(t, r.Index, 0, at); ok {
			return h, true
		}
		if s := r.Samples; s != nil && s.Len() > 0 {
			return p.SampleBarAt(r.Index, 0, min(max(0, s.Search(at+1)-1), s.Len()-1), s)
		}
		if h, ok := BarAt(t, r.Index, recording.StateLane, at); ok {
			return h, true
		}
		if len(t.Instants) > 0 {
			none.Track, none.Instant = r.Index, &t.Instants[0]
			none.Start, none.End = none.Instant.Time, none.Instant.Time
			return none, true
		}
	case timeline.CounterRow:
		c := p.Rec.Counters[r.Index]
		none.Value(c, max(0, c.Search(at)-1))
		return none, true
	case timeline.WindowRow:
		ws := p.Rec.Windows[r.Index].Windows
		for k := range ws {
			if ws[k].End > at || k == len(ws)-1 {
				none.Window, none.Start, none.End = k, ws[k].Start, ws[k].End
				return none, true
			}
		}
	}
	return none, false
}

// PickFirst picks an item if nothing is picked: the one in the middle of the view on the
// first visible row.
func (p *Timeline) PickFirst() bool {
	if p.pickedRow() >= 0 {
		return false
	}
	rows := p.Plan.Rows
	first := max(0, p.Plan.RowAt(0, p.View.Scroll))
	mid := p.View.From + p.View.Span()/2
	for i := first; i < len(rows); i++ {
		if h, ok := p.inRow(i, mid); ok {
			p.PickShown(h)
			return true
		}
	}
	return true
}

// PickShown picks something and brings it into view.
func (p *Timeline) PickShown(h timeline.Hit) {
	p.PickHit(h)
	p.reveal(&p.Pick.Hit)
}

// PickAlong goes to the next or previous bar of the lane.
func (p *Timeline) PickAlong(s *panel.Host, d int) {
	if !p.Timed() || p.PickFirst() {
		return
	}
	h := p.Pick.Hit
	var to timeline.Hit
	ok := false
	switch {
	case h.Counter != nil:
		if i := h.Point + d; i >= 0 && i < h.Counter.Len() {
			to, ok = h, true
			to.Value(h.Counter, i)
		}
	case h.Window >= 0:
		row := p.pickedRow()
		ws := p.Rec.Windows[p.Plan.Rows[row].Index].Windows
		if i := h.Window + d; i >= 0 && i < len(ws) {
			to, ok = h, true
			to.Window, to.Start, to.End = i, ws[i].Start, ws[i].End
		}
	case h.Instant != nil:
		list := p.Rec.Tracks[h.Track].Instants
		for i := range list {
			if k := i + d; &list[i] == h.Instant && k >= 0 && k < len(list) {
				to, ok = h, true
				to.Instant, to.Start, to.End = &list[k], list[k].Time, list[k].Time
			}
		}
	case h.Samples != nil:
		i, depth := h.Last, h.Lane-len(p.Rec.Tracks[h.Track].Lanes)
		if d < 0 {
			i = h.First - 1
		}
		// Find the next stack that reaches this depth.
		for i >= 0 && i < h.Samples.Len() && p.Rec.Calls.Depth(h.Samples.Call(i)) <= depth && depth > 0 {
			i += d
		}
		to, ok = p.SampleBarAt(h.Track, depth, i, h.Samples)
	case h.Span >= 0:
		l := p.Rec.Tracks[h.Track].Lane(h.Lane)
		if i := h.Span + d; i >= 0 && i < l.Len() {
			to, ok = timeline.SpanBar(h.Track, h.Lane, i, l), true
		}
	}
	if ok {
		p.PickShown(to)
	} else {
		s.Say("No more spans in this direction")
	}
}

// PickDeep goes to the first callee, or to the caller.
func (p *Timeline) PickDeep(down bool) {
	if !p.Timed() || p.PickFirst() || p.Pick.Kind != panel.PickBar {
		return
	}
	h := p.Pick.Hit
	t := p.Rec.Tracks[h.Track]
	d := -1
	if down {
		d = 1
	}
	if h.Samples != nil {
		depth := h.Lane - len(t.Lanes) + d
		for i := h.First; i < h.Last; i++ {
			if to, ok := p.SampleBarAt(h.Track, depth, i, h.Samples); ok && to.Call != recording.NoCall {
				p.PickShown(to)
				return
			}
		}
		return
	}
	if to, ok := BarAt(t, h.Track, h.Lane+d, h.Start); ok && to.Start < max(h.End, h.Start+1) && to.End >= h.Start {
		p.PickShown(to)
	}
}

// PickRow goes to the row below, or above, at the same time.
func (p *Timeline) PickRow(d int) {
	if !p.Timed() || p.PickFirst() {
		return
	}
	at := max(p.Pick.Hit.Start, p.View.From)
	for i := p.pickedRow() + d; i >= 0 && i < len(p.Plan.Rows); i += d {
		if h, ok := p.inRow(i, at); ok {
			p.PickShown(h)
			return
		}
	}
}

// SelectPicked selects the time of the selected item. For a bar it also selects the bar's
// thread, except in a comparison of two recordings.
func (p *Timeline) SelectPicked() {
	h := &p.Pick.Hit
	if !p.Timed() || p.pickedRow() < 0 || h.End <= h.Start {
		return
	}
	p.SelectRange(h.Start, h.End)
	if p.Pick.Kind == panel.PickBar && !p.Linkable {
		p.Scope.Tracks = []int{h.Track}
	}
}
