// Package distribution implements the panel that compares the call durations of a function
// in A and B.
package distribution

import (
	"image"
	"strconv"

	"ashlar/app/window/comparison"
	"ashlar/app/window/panel"
	"ashlar/render/histogram"
	"ashlar/render/raster"
	"ashlar/render/ui"
	"ashlar/render/units"
)

// Panel shows the durations of the chosen function's calls in A and B.
type Panel struct {
	pic      histogram.Two
	canvases raster.Pool
}

// Layout draws both distributions and their statistics.
func (t *Panel) Layout(s *panel.Host, c *comparison.Comparison, u *ui.UI, r image.Rectangle) {
	th := u.Theme
	a := c.Answer()
	say := func(text string) {
		u.Text(r.Inset(u.Px(24)), text, ui.Style{Size: 13, Color: th.Dim, Align: ui.Middle, Lines: 4})
	}
	switch {
	case c.Chosen == nil:
		say("Select a function to compare the durations of its calls in A and B.")
		return
	case a.DistErr != nil:
		say(a.DistErr.Error())
		return
	case a.Dist == nil || a.Of == nil || *a.Of != *c.Chosen && t.pic.Of == nil:
		return
	}
	d := a.Dist
	u.Text(image.Rect(r.Min.X+u.Px(16), r.Min.Y+u.Px(6), r.Max.X-u.Px(16), r.Min.Y+u.Px(30)), a.Of.Name, ui.Style{Size: 13, Weight: ui.Medium, Color: th.Text})
	right := min(u.Px(330), r.Dx()/2)
	box := image.Rect(r.Min.X+u.Px(8), r.Min.Y+u.Px(34), r.Max.X-right, r.Max.Y-u.Px(6))
	px := u.Metric.PxPerDp
	t.pic = histogram.Two{Of: d, Theme: th, Font: s.Fonts.Regular(11 * px), Name: s.Fonts.Medium(11 * px), Scale: px}
	u.Draw(u.Paint(&t.canvases, box.Size(), t.pic.Paint), box.Min)
	x0, y := r.Max.X-right+u.Px(14), r.Min.Y+u.Px(38)
	line := u.Px(21)
	cell := func(k int) image.Rectangle {
		w := (right - u.Px(30)) / 4
		return image.Rect(x0+k*w, y, x0+(k+1)*w, y+line)
	}
	row := func(weight bool, texts ...string) {
		for k, text := range texts {
			st := ui.Style{Size: 12, Color: th.Text, Align: ui.End}
			if k == 0 {
				st.Color, st.Align = th.Dim, 0
			}
			if weight {
				st.Weight, st.Color = ui.Medium, th.Dim
			}
			u.Text(cell(k), text, st)
		}
		y += line
	}
	row(true, "", "A", "B", "change")
	calls := "Calls"
	if c.Sides[0].Scope.Ranged || c.Sides[1].Scope.Ranged {
		calls = "Calls fully inside" // calls that cross an end of the range are left out
	}
	row(false, calls, units.Count(d.A.N), units.Count(d.B.N), units.Change(d.A.N, d.B.N))
	for _, x := range []struct {
		name string
		a, b float64
	}{{"Median", d.A.Median, d.B.Median}, {"Mean", d.A.Mean, d.B.Mean}, {"p90", d.A.P90, d.B.P90}, {"p99", d.A.P99, d.B.P99}, {"Min", d.A.Min, d.B.Min}, {"Max", d.A.Max, d.B.Max}} {
		row(false, x.name, length(x.a, d.A.N), length(x.b, d.B.N), changeOf(x.a, x.b, d.A.N, d.B.N))
	}
	if sh := d.Shift; sh != nil {
		y += u.Px(6)
		text := "Typical call in B: " + units.Duration(int64(abs64(sh.By))) + " " + map[bool]string{true: "longer", false: "shorter"}[sh.By >= 0]
		u.Text(image.Rect(x0, y, r.Max.X-u.Px(16), y+line), text, ui.Style{Size: 12, Color: th.Text})
		y += line
		u.Text(image.Rect(x0, y, r.Max.X-u.Px(16), y+line), "95 % interval "+span(sh.Low)+" to "+span(sh.High)+" · rank test p = "+probability(d.P), ui.Style{Size: 12, Color: th.Dim})
	}
}

func abs64(v float64) float64 { return max(v, -v) }

// length formats a duration, or a dash if n, the number of calls, is 0.
func length(ps float64, n int64) string {
	if n == 0 {
		return "–"
	}
	return units.Duration(int64(ps))
}

func changeOf(a, b float64, na, nb int64) string {
	if na == 0 || nb == 0 {
		return ""
	}
	return units.Change(int64(a), int64(b))
}

// span formats a duration with a sign.
func span(ps float64) string {
	if ps < 0 {
		return "−" + units.Duration(int64(-ps))
	}
	return "+" + units.Duration(int64(ps))
}

// probability writes a p-value.
func probability(p float64) string {
	if p < .001 {
		return "<0.001"
	}
	return strconv.FormatFloat(p, 'f', 3, 64)
}
