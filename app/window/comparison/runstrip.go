package comparison

import (
	"image"

	"ashlar/render/theme"
	"ashlar/render/ui"
	"ashlar/render/widget"
)

// Run describes a run of a side.
type Run struct {
	Name string
	// Total is the run's total in the comparison's units; Known is false before it is
	// computed.
	Total   int64
	Known   bool
	Off     bool // it does not count
	Outlier bool
	Err     error
}

// RunStrip draws the runs of a side as dots on a line, placed by their totals; both sides
// have one scale. A click on a dot takes the run off, or puts it back.
type RunStrip struct {
	areas []widget.ClickArea
	// Dots are the places of the dots in the last frame, the shown run first.
	Dots []image.Rectangle
	tip  int // the run under the pointer, -1 for none
	at   image.Point
}

// Width of the strip and radius of a dot, in dp.
const (
	StripWidth = 150
	dotRadius  = 4
)

// scaleOf returns the smallest and the largest total of the runs of both sides.
func scaleOf(runs [2][]Run) (low, high int64) {
	first := true
	for _, side := range runs {
		for _, r := range side {
			if !r.Known {
				continue
			}
			if first || r.Total < low {
				low = r.Total
			}
			if first || r.Total > high {
				high = r.Total
			}
			first = false
		}
	}
	return low, high
}

// Clear forgets the strip of the last frame.
func (s *RunStrip) Clear() { s.tip, s.Dots = -1, nil }

// Layout draws the strip of a side in r. It returns the index of a clicked run, -1 for
// none.
func (s *RunStrip) Layout(u *ui.UI, side int, both [2][]Run, r image.Rectangle) (clicked int) {
	th := u.Theme
	s.tip, s.Dots = -1, s.Dots[:0]
	runs := both[side]
	for len(s.areas) < len(runs) {
		s.areas = append(s.areas, widget.ClickArea{})
	}
	radius := u.Px(dotRadius)
	mid := (r.Min.Y + r.Max.Y) / 2
	low, high := scaleOf(both)
	place := func(total int64) int {
		if high == low {
			return (r.Min.X + r.Max.X) / 2
		}
		width := float64(r.Dx() - 2*radius)
		return r.Min.X + radius + int((float64(total)-float64(low))/(float64(high)-float64(low))*width+.5)
	}
	u.HLine(r.Min.X, r.Max.X, mid, th.Rule)
	color := th.Dim
	if side == 1 {
		color = th.Accent
	}
	sum, n := 0.0, 0
	for _, run := range runs {
		if run.Known && !run.Off && run.Err == nil {
			sum, n = sum+float64(run.Total), n+1
		}
	}
	if n > 1 {
		u.VLine(place(int64(sum/float64(n))), r.Min.Y+u.Px(6), r.Max.Y-u.Px(6), color)
	}
	clicked = -1
	for i, run := range runs {
		x := r.Max.X - radius
		if run.Known {
			x = place(run.Total)
		}
		dot := image.Rect(x-radius, mid-radius, x+radius, mid+radius)
		s.Dots = append(s.Dots, dot)
		pressed, hovered := s.areas[i].Clicked(u, dot.Inset(-u.Px(1)))
		if pressed {
			clicked = i
		}
		switch {
		case run.Err != nil:
			u.Border(dot, dotRadius, u.Px(1.5), th.Warn)
		case run.Off || !run.Known:
			u.Border(dot, dotRadius, 1, th.Faint)
		case run.Outlier:
			u.Round(dot, dotRadius, theme.WithAlpha(color, .7))
			u.Border(dot.Inset(-u.Px(2)), dotRadius+2, u.Px(1.5), th.Warn)
		default:
			u.Round(dot, dotRadius, theme.WithAlpha(color, .7))
		}
		if hovered {
			u.Border(dot.Inset(-u.Px(1)), dotRadius+1, 1, th.Text)
			s.tip, s.at = i, image.Pt(x, r.Max.Y)
		}
	}
	return clicked
}

// Tooltip names the run under the pointer; detail describes it.
func (s *RunStrip) Tooltip(u *ui.UI, side int, runs []Run, detail func(Run) string) {
	if s.tip < 0 || s.tip >= len(runs) { // no run is under the pointer
		return
	}
	r := runs[s.tip]
	does := "Click to exclude it from " + SideName(side)
	if r.Off {
		does = "Click to include it"
	}
	lines := []string{does}
	if text := detail(r); text != "" {
		lines = []string{text, does}
	}
	widget.Tip(u, s.at, r.Name, lines)
}
