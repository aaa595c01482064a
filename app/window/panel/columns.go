package panel

import "ashlar/render/ui"

// Columns are the widths, in dp, of the threads' names and of the details; 0 stands for a
// width that grows with the window.
type Columns struct{ Gutter, Details float32 }

// Limits of the widths, in dp. On screen, a column takes at most half of the window.
const (
	LeastGutter, LeastDetails = 90, 160
	mostColumn                = 2000
	// wideWindow is the width above which the columns grow: by one dp for every
	// gutterGrowth or detailsGrowth dp of the window.
	wideWindow, gutterGrowth, detailsGrowth = 1400, 9, 7
)

// Clamped returns the widths within their limits; settings may contain any number.
func (c Columns) Clamped() Columns {
	within := func(v, least float32) float32 {
		if !(v > 0) {
			return 0
		}
		return max(least, min(v, mostColumn))
	}
	return Columns{within(c.Gutter, LeastGutter), within(c.Details, LeastDetails)}
}

// GutterWidth returns the width, in pixels, of the names of a timeline whose names and lanes
// together are width pixels wide. usual is the width in a narrow window, in dp.
func (c Columns) GutterWidth(u *ui.UI, usual float32, width int) int {
	if c.Gutter > 0 {
		return min(u.Px(c.Gutter), width/2)
	}
	return u.Px(usual) + max(0, width-u.Px(wideWindow))/gutterGrowth
}

// DetailsWidth returns the width of the details, in pixels, in a window width pixels wide. usual
// is the width in a narrow window, in dp.
func (c Columns) DetailsWidth(u *ui.UI, usual float32, width int) int {
	if c.Details > 0 {
		return min(u.Px(c.Details), width/2)
	}
	return min(u.Px(usual)+max(0, width-u.Px(wideWindow))/detailsGrowth, width/3)
}
