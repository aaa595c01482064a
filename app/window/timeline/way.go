package timeline

import (
	"image"
	"math"
	"sort"

	"ashlar/app/core/session"
	"ashlar/app/window/panel"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/criticalpath"
	"ashlar/render/theme"
	"ashlar/render/timeline"
	"ashlar/render/ui"
)

// way is the critical path as drawn through the rows while its panel is shown: along the
// states or spans of each step, and vertically between them.
type way struct {
	of    wayKey
	rows  map[int]int // row by track index
	lines []image.Rectangle
}

type wayKey struct {
	path *session.CriticalPath
	plan *timeline.Plan
	view timeline.View
	size image.Point
}

// draw draws the critical path, with a rim that sets it off from the bars it crosses.
func (w *way) draw(p *Timeline, u *ui.UI) {
	a := p.Doc.Answer()
	if p.Tab != panel.Path || !p.Counts(a) || a.Critical == nil {
		return
	}
	b := &p.Bounds
	k := wayKey{a.Critical, p.Plan, p.View, b.Lanes.Size()}
	if w.of != k {
		if w.of.plan != k.plan {
			w.rows = map[int]int{}
			for i := range p.Plan.Rows {
				if r := &p.Plan.Rows[i]; r.Kind == timeline.TrackRow {
					w.rows[r.Index] = i
				}
			}
		}
		w.of, w.lines = k, w.lines[:0]
		for i := range a.Critical.Paths {
			w.add(p, a.Critical.Paths[i].Steps)
		}
	}
	u.At(image.Rect(b.Lanes.Min.X+b.Gutter, b.Lanes.Min.Y, b.Lanes.Max.X, b.Lanes.Max.Y), func(u *ui.UI) {
		for _, wide := range []bool{true, false} {
			by, c := max(1, u.Px(1)), u.Theme.Text
			if wide {
				by, c = by+max(1, u.Px(1)), theme.WithAlpha(u.Theme.Background, .8)
			}
			for _, r := range w.lines {
				u.Fill(image.Rect(r.Min.X-by+1, r.Min.Y-by, r.Max.X+by, r.Max.Y+by), c)
			}
		}
	})
}

// add adds the visible lines of a path. Steps within one pixel become one vertical line.
func (w *way) add(p *Timeline, steps []criticalpath.Step) {
	width := p.LaneWidth()
	x := func(at int64) int { return int(math.Max(-8, math.Min(float64(width+8), p.View.X(at, width)))) }
	first := sort.Search(len(steps), func(i int) bool { return steps[i].To > p.View.From })
	upright, last := image.Rectangle{}, -1
	join := func(at, y int) { // draws a vertical line from the last step to y
		if last >= 0 && y != last {
			r := image.Rect(at, min(last, y), at+1, max(last, y)+1)
			if upright.Min.X == r.Min.X {
				r = r.Union(upright)
				w.lines = w.lines[:len(w.lines)-1]
			}
			upright = r
			w.lines = append(w.lines, r)
		}
		last = y
	}
	for i := max(0, first-1); i < len(steps) && steps[i].From < p.View.To; i++ {
		s := &steps[i]
		row, ok := w.rows[s.Track]
		if s.Track == recording.NoTrack || !ok {
			continue
		}
		lane := min(max(s.LaneOf(p.Rec), recording.StateLane), max(0, p.Plan.Rows[row].SpanLanes-1))
		_, _, _, y1 := p.Plan.Box(p.View, row, lane, s.From, s.To, p.Bounds.Lanes.Dx(), p.Bounds.Gutter)
		x0, x1, y := x(s.From), x(s.To), y1-1
		hidden := p.Plan.Under(&p.Plan.Rows[row], y)
		if hidden { // the row is behind the held rows: draw at their edge
			y = p.Plan.Held
		}
		join(x0, y)
		if x1 > x0 && !hidden {
			w.lines = append(w.lines, image.Rect(x0, y, x1, y+1))
			upright = image.Rectangle{}
		}
	}
}
