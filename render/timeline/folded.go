package timeline

import (
	"cmp"
	"slices"

	"ashlar/ingest/model/recording"
	"ashlar/render/raster"
)

// A closed process is one row: its name and, beside it, a stripe for each of its busiest
// threads.

const (
	mostStripes = 3
	lowHeight   = 14 // of a closed process in dp, if there are more than manyTracks processes
)

// closed lays out the row of a closed process or group with some tracks.
func (p *Plan) closed(r Row, l Layout, tracks []int, many bool) Row {
	r.Collapsed, r.Height = true, l.px(headerHeight)
	if many {
		r.Height = l.px(lowHeight)
	}
	shares := map[int]float64{}
	for _, ti := range tracks {
		if _, ok := stripeOf(p.rec.Tracks[ti]); ok {
			shares[ti], _ = busy(p.rec, l.OnCPU, ti)
			r.Stripes = append(r.Stripes, ti)
		}
	}
	if len(r.Stripes) > mostStripes {
		slices.SortStableFunc(r.Stripes, func(a, b int) int { return cmp.Compare(shares[b], shares[a]) })
		r.Stripes = r.Stripes[:mostStripes]
		slices.SortFunc(r.Stripes, func(a, b int) int { return cmp.Compare(slices.Index(tracks, a), slices.Index(tracks, b)) })
	}
	for _, ti := range r.Stripes {
		r.Busy = max(r.Busy, float32(shares[ti]))
	}
	return r
}

// stripeOf returns the lane that stands for a thread: its outermost spans or its states.
func stripeOf(t *recording.Track) (lane int, ok bool) {
	switch {
	case t.Kind != recording.ThreadTrack:
	case len(t.Lanes) > 0 && t.Lanes[0].Len() > 0:
		return 0, true
	case t.States.Len() > 0:
		return recording.StateLane, true
	}
	return 0, false
}

// folded draws the row of a closed process or group.
func (p *Picture) folded(r *Row, y int) {
	t := p.Palette.Theme
	p.c.Rect(p.Gutter, y, p.w, y+r.Height-1, p.lanes.bg)
	if n := len(r.Stripes); n > 0 {
		top, room := y+1, r.Height-3
		for i, ti := range r.Stripes {
			from, to := top+i*room/n, top+(i+1)*room/n
			if to-from > 3 && i < n-1 {
				to--
			}
			p.of = ti
			p.spans(from, max(1, to-from))
		}
	}
	p.c.Rect(0, y, p.Gutter, y+r.Height, raster.Pack(t.Surface))
	p.c.Rect(0, y+r.Height-1, p.w, y+r.Height, p.lanes.rule)
	p.arrow(p.px(12), y+r.Height/2, true)
	x, right := p.px(26), p.Gutter-p.px(8)
	f, base := p.Fonts.Name, y+p.px(15)
	if r.Height < p.px(headerHeight) {
		f, base = p.Fonts.Small, y+p.px(10.5)
	}
	name := f.FitText(p.Plan.Name(r), float32(right-x))
	f.Draw(p.c, float32(x), base, name, raster.Pack(t.Text), x, right)
	if x += int(f.Measure(name)) + p.px(8); x < right-p.px(20) {
		p.Fonts.Small.Draw(p.c, float32(x), base, p.Fonts.Small.FitText(p.Plan.note(r), float32(right-x)), raster.Pack(t.Dim), x, right)
	}
}
