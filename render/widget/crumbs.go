package widget

import (
	"image"

	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/render/ui"
)

// Crumbs is the breadcrumb line of a zoomed flamegraph: the functions from the root to
// the bar that fills the width. A click on a function zooms back to it.
type Crumbs struct {
	areas []ClickArea
	ends  [2]ClickArea // the root, and the button to leave the zoom
}

const (
	CrumbHeight = 24  // dp
	crumbMost   = 190 // maximum width of a name, in dp
)

// Trail is the path that a breadcrumb line shows.
type Trail struct {
	Rec   *recording.Recording
	Tree  *analyze.Tree
	Path  []int  // the nodes shown, the first next to the head
	Head  string // name of the root
	Arrow string
}

// Layout draws the line at the top of r. It returns the rest of r and, if a part was
// clicked, the node to go to: 0 for the head.
func (c *Crumbs) Layout(u *ui.UI, r image.Rectangle, of Trail) (rest image.Rectangle, to int, clicked bool) {
	line := image.Rect(r.Min.X, r.Min.Y, r.Max.X, r.Min.Y+u.Px(CrumbHeight))
	to, clicked = c.Line(u, line, of)
	return image.Rect(r.Min.X, line.Max.Y, r.Max.X, r.Max.Y), to, clicked
}

// fit chooses as many names of the path as fit, each with an arrow, from the end, because
// the innermost functions matter most. Nodes before first are left out.
func (t *Trail) fit(u *ui.UI, st ui.Style, room, arrow int) (first int, names []string, widths []int) {
	first, names, widths = len(t.Path), make([]string, len(t.Path)), make([]int, len(t.Path))
	for first > 0 {
		name := u.Faces.Label(t.Tree.Function(t.Rec, t.Path[first-1]).Name)
		w := min(u.Px(crumbMost), u.Measure(name, st).X+u.Px(2))
		if room -= w + arrow; room < 0 && first < len(t.Path) {
			break
		}
		first--
		names[first], widths[first] = name, w
	}
	return first, names, widths
}

// Line draws the breadcrumbs in a given line; see Layout.
func (c *Crumbs) Line(u *ui.UI, line image.Rectangle, of Trail) (to int, clicked bool) {
	path, th := of.Path, u.Theme
	for len(c.areas) < len(path) {
		c.areas = append(c.areas, ClickArea{})
	}
	st := ui.Style{Size: 12, Color: th.Text}
	arrow := u.Px(16)
	head := min(u.Px(crumbMost), u.Measure(of.Head, st).X+u.Px(2))
	first, names, widths := of.fit(u, st, line.Dx()-head-u.Px(14+70)-arrow, arrow)
	x := line.Min.X + u.Px(12)
	part := func(a *ClickArea, name string, w int, last bool) bool {
		box := image.Rect(x, line.Min.Y, x+w, line.Max.Y)
		clicked, hovered := a.Clicked(u, box)
		look := st
		switch {
		case last:
			look.Weight = ui.Medium
		case hovered:
			look.Color = th.Accent
		default:
			look.Color = th.Dim
		}
		u.Text(box, name, look)
		x += w
		if !last {
			u.Text(image.Rect(x, line.Min.Y, x+arrow, line.Max.Y), of.Arrow, ui.Style{Size: 12, Color: th.Faint, Align: ui.Middle})
			x += arrow
		}
		return clicked
	}
	if part(&c.ends[0], of.Head, head, false) {
		to, clicked = 0, true
	}
	if first > 0 {
		u.Text(image.Rect(x, line.Min.Y, x+arrow, line.Max.Y), "…", ui.Style{Size: 12, Color: th.Faint})
		x += arrow
	}
	for i := first; i < len(path); i++ {
		if part(&c.areas[i], names[i], widths[i], i == len(path)-1) {
			to, clicked = path[i], true
		}
	}
	box := image.Rect(line.Max.X-u.Px(34), line.Min.Y, line.Max.X-u.Px(8), line.Max.Y)
	out, hovered := c.ends[1].Clicked(u, box)
	look := ui.Style{Size: 13, Color: th.Dim, Align: ui.Middle}
	if hovered {
		look.Color = th.Text
	}
	u.Text(box, "×", look)
	if out {
		to, clicked = 0, true
	}
	return to, clicked
}
