package headless

import (
	"bytes"
	"errors"
	"image"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"

	"ashlar/app/doc"
	"ashlar/app/shell"
	"ashlar/ingest/recording"
	"ashlar/render/flame"
	"ashlar/render/raster"
	"ashlar/render/svg"
	"ashlar/render/theme"
	"ashlar/render/timeline"
	"ashlar/render/units"
)

// Sizes in dp, as in the window.
const (
	overviewTop = 6
	rightEdge   = timeline.MapWidth + 4 // the window has the map of the rows there
	flamePad    = 8
)

// sheet is a picture of shapes: the timeline, the flamegraph, or both below
// each other.
type sheet struct {
	c      *svg.Canvas
	state  shell.State
	rec    *recording.Recording
	answer *doc.Answer
	pal    *theme.Palette
	scale  float32
	zoom   int // the node that fills the flamegraph's width
}

// SVG draws what a settled shell shows as shapes, w by h pixels: timeline and
// flamegraph as in the window, without what is around them.
func SVG(s *shell.Shell, w, h int, scale float32) (*svg.Canvas, error) {
	if s.Compares() {
		return nil, errors.New("two recordings are drawn into PNG files: the name should end in .png")
	}
	if s.Doc() == nil || s.Doc().Answer() == nil {
		return nil, errors.New("cannot draw: nothing is open")
	}
	a := s.Doc().Answer()
	sh := &sheet{
		c: svg.New(w, h, raster.Pack(s.Theme.Background)), state: s.State(), rec: a.Rec, answer: a,
		pal: s.Palette(), scale: scale, zoom: s.Zoomed(a.Tree),
	}
	plan := timeline.NewPlan(a.Rec, s.Rows(scale))
	top, bottom := image.Rect(0, 0, w, h), image.Rect(0, 0, w, h)
	if s.View == shell.Both {
		cut := sh.cut(plan, h)
		top.Max.Y, bottom.Min.Y = cut, cut
	}
	if s.View != shell.Flame {
		sh.timeline(plan, top)
	}
	if s.View != shell.Timeline {
		sh.flame(bottom)
	}
	return sh.c, nil
}

func (s *sheet) px(dp float32) int { return int(math.Round(float64(dp * s.scale))) }

func (s *sheet) theme() *theme.Theme { return s.pal.Theme }

// strips is the height of overview and ruler.
func (s *sheet) strips() int {
	return s.px(overviewTop) + s.px(timeline.OverviewHeight) + s.px(2) + s.px(timeline.RulerHeight)
}

// cut is where the timeline ends and the flamegraph begins: it gets what its
// rows need, up to half the height or what the flamegraph leaves.
func (s *sheet) cut(plan *timeline.Plan, h int) int {
	if plan.Empty != "" {
		return min(s.px(44), h/2)
	}
	want := s.strips() + plan.Height + s.px(8)
	left := h - flame.Height(s.answer.Tree, s.scale) - 2*s.px(flamePad)
	return min(want, max(h/2, left))
}

func (s *sheet) part(r image.Rectangle, draw func(c *svg.Canvas)) {
	s.c.Part(r.Min.X, r.Min.Y, r.Max.X, r.Max.Y, draw)
}

func (s *sheet) timeline(plan *timeline.Plan, r image.Rectangle) {
	th := s.theme()
	small := raster.Regular(11 * s.scale)
	if plan.Empty != "" {
		small.Draw(s.c, float32(s.px(14)), r.Min.Y+s.px(26), plan.Empty, raster.Pack(th.Dim), 0, r.Max.X)
		return
	}
	gutter := s.px(timeline.GutterWidth)
	right := r.Max.X - s.px(rightEdge)
	view := timeline.View{From: s.rec.Start + s.state.From, To: s.rec.Start + s.state.To}
	y := r.Min.Y + s.px(overviewTop)
	over := image.Rect(r.Min.X, y, right, y+s.px(timeline.OverviewHeight))
	s.part(over, func(c *svg.Canvas) { s.overview(c, view, gutter) })
	y = over.Max.Y + s.px(2)
	ruler := image.Rect(r.Min.X, y, right, y+s.px(timeline.RulerHeight))
	s.part(ruler, func(c *svg.Canvas) {
		timeline.PaintRuler(c, view, s.rec.Start, th, small, s.scale, gutter)
	})
	lanes := image.Rect(r.Min.X, ruler.Max.Y, right, r.Max.Y)
	s.part(lanes, func(c *svg.Canvas) {
		pic := timeline.Picture{
			Rec: s.rec, Plan: plan, View: view, Palette: s.pal, Gutter: gutter,
			Fonts: timeline.Fonts{Bar: raster.Regular(11.5 * s.scale), Name: raster.Medium(12.5 * s.scale), Small: raster.Regular(11.5 * s.scale)},
			Event: s.answer.Query.Event, Metric: s.answer.Query.Metric,
		}
		pic.Paint(c)
		s.selection(c, view, gutter)
	})
	s.pill(view, ruler, gutter)
}

// overview draws the whole recording with what lies outside the view veiled.
func (s *sheet) overview(c *svg.Canvas, v timeline.View, gutter int) {
	th := s.theme()
	w, h := c.Size()
	lanes := w - gutter
	timeline.PaintOverview(c, timeline.Density(s.rec, s.answer.Query.Event, s.answer.Query.Metric, lanes), th, s.scale, gutter, 1)
	x := func(t int64) int {
		f := float64(t-s.rec.Start) / float64(max(1, s.rec.Duration()))
		return gutter + int(math.Round(max(0, min(1, f))*float64(lanes)))
	}
	x0, x1 := x(v.From), x(v.To)
	x1 = max(x1, x0+s.px(3))
	bg, line := raster.Pack(th.Background), raster.Pack(th.Accent)
	c.Shade(gutter, 0, x0, h, bg, 158)
	c.Shade(x1, 0, w, h, bg, 158)
	if sel := s.state.Selected; sel[1] > sel[0] {
		a := x(s.rec.Start + sel[0])
		c.Shade(a, 0, max(a+1, x(s.rec.Start+sel[1])), h, line, 64)
	}
	one := max(1, s.px(1))
	c.Rect(x0, 0, x1, one, line)
	c.Rect(x0, h-one, x1, h, line)
	c.Rect(x0, 0, x0+one, h, line)
	c.Rect(x1-one, 0, x1, h, line)
}

// selection lays a band over the lanes where some time is selected.
func (s *sheet) selection(c *svg.Canvas, v timeline.View, gutter int) {
	x0, x1, ok := s.selected(c, v, gutter)
	if !ok {
		return
	}
	_, h := c.Size()
	col := raster.Pack(s.theme().Accent)
	c.Shade(max(x0, gutter), 0, x1, h, col, uint32(255*s.theme().Band*1.6))
	if x0 >= gutter {
		c.Rect(x0, 0, x0+1, h, col)
	}
	if x1 >= gutter {
		c.Rect(x1, 0, x1+1, h, col)
	}
}

// selected is where the selected time lies on a canvas.
func (s *sheet) selected(c raster.Surface, v timeline.View, gutter int) (x0, x1 int, ok bool) {
	sel := s.state.Selected
	if sel[1] <= sel[0] {
		return 0, 0, false
	}
	w, _ := c.Size()
	x := func(t int64) int {
		return gutter + int(math.Floor(max(-2, min(float64(w-gutter+2), v.X(s.rec.Start+t, w-gutter)))))
	}
	return x(sel[0]), x(sel[1]), true
}

// pill writes the length of the selected time on the ruler.
func (s *sheet) pill(v timeline.View, ruler image.Rectangle, gutter int) {
	s.part(ruler, func(c *svg.Canvas) {
		x0, x1, ok := s.selected(c, v, gutter)
		if !ok {
			return
		}
		w, _ := c.Size()
		f := raster.Medium(11 * s.scale)
		label := units.Duration(s.state.Selected[1] - s.state.Selected[0])
		wide := int(f.Measure(label)) + s.px(18)
		x := (max(x0, gutter)+min(x1, w))/2 - wide/2
		x = max(gutter, min(x, w-wide))
		c.Bar(x, s.px(3), x+wide, s.px(21), raster.Pack(s.theme().Accent), s.px(4))
		f.Draw(c, float32(x+s.px(9)), s.px(16), label, raster.Pack(s.theme().OnAccent), x, x+wide)
	})
}

func (s *sheet) flame(r image.Rectangle) {
	a, th := s.answer, s.theme()
	f := raster.Regular(12 * s.scale)
	if a.Tree.Nodes[0].Total == 0 && len(a.Tree.Nodes) == 1 {
		f.Draw(s.c, float32(s.px(14)), (r.Min.Y+r.Max.Y)/2, "Nothing was recorded here", raster.Pack(th.Dim), 0, r.Max.X)
		return
	}
	in := r.Inset(s.px(flamePad))
	in.Max.Y = r.Max.Y
	m := &a.Rec.Events[a.Query.Event].Metrics[a.Query.Metric]
	s.part(in, func(c *svg.Canvas) {
		pic := flame.Picture{Rec: a.Rec, Tree: a.Tree, Zoom: s.zoom, Bars: flame.Layout(a.Tree, s.zoom, in.Dx()), Palette: s.pal,
			Font: f, Scale: s.scale, Root: "all  " + units.Full(a.Tree.Nodes[0].Total, m)}
		pic.Paint(c)
	})
}

// WriteSVG writes a picture of shapes to a file ("-" is standard output), whole
// or not at all.
func WriteSVG(path string, c *svg.Canvas, title string, stdout io.Writer) error {
	if path == "-" {
		return c.Write(stdout, title)
	}
	var b bytes.Buffer
	if err := c.Write(&b, title); err != nil {
		return err
	}
	return writeWhole(path, func(f *os.File) error {
		_, err := f.Write(b.Bytes())
		return err
	})
}

// IsSVG tells whether a picture's file is to hold shapes.
func IsSVG(path string) bool { return strings.EqualFold(filepath.Ext(path), ".svg") }
