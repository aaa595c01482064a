package timeline

import (
	"cmp"
	"slices"

	"ashlar/ingest/model/recording"
	"ashlar/render/raster"
)

// A closed process, or a closed recording of a joined one, is one row: its name and, beside it,
// a stripe for each of its busiest threads.

const (
	mostStripes = 3
	lowHeight   = 14 // of a closed row in dp, if there are more than manyTracks of them
	// mostOpen is the number of recordings above which all are closed by default.
	mostOpen = 4
)

// byRecording sorts processes so that those of one recording of a joined one are together. It
// returns the number of recordings.
func byRecording(rec *recording.Recording, order []int) ([]int, int) {
	place := map[string]int{}
	for _, pi := range order {
		name := rec.Processes[pi].Recording
		if _, ok := place[name]; !ok {
			place[name] = len(place)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(place[rec.Processes[a].Recording], place[rec.Processes[b].Recording])
	})
	return order, len(place)
}

// recording adds the row of the recording of a joined one to which the first of some processes
// belongs. It reports whether its processes are shown.
func (p *Plan) recording(l Layout, processes []int, byProcess, counters [][]int, recordings int) bool {
	name := p.rec.Processes[processes[0]].Recording
	if name == "" {
		return true
	}
	g, counts := Group{Process: processes[0], Name: name, Recording: true}, 0
	for _, pi := range processes {
		if p.rec.Processes[pi].Recording != name {
			break
		}
		g.Tracks = append(g.Tracks, byProcess[pi]...)
		counts += len(counters[pi])
	}
	if len(g.Tracks)+counts == 0 {
		return true
	}
	open, chosen := l.Groups[name]
	if !chosen {
		open = recordings <= mostOpen || l.Filter != ""
	}
	p.groups = append(p.groups, g)
	row := Row{Kind: GroupRow, Index: len(p.groups) - 1, Height: l.px(headerHeight)}
	if !open {
		row = p.closed(row, l, g.Tracks, recordings > manyTracks)
	}
	p.add(row)
	return open
}

// Headline reports whether a row is the head of a process or of a recording of a joined one.
func (p *Plan) Headline(r *Row) bool {
	return r.Kind == ProcessRow || r.Kind == GroupRow && p.groups[r.Index].Recording
}

// closed lays out the row of a closed process or recording with some tracks.
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

// folded draws the row of a closed process or recording.
func (p *Picture) folded(r *Row, y int) {
	t := p.Palette.Theme
	p.grounded, p.bottom = y, y+r.Height-1
	p.ground(p.bottom)
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
