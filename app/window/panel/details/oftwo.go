package details

import (
	"image"
	"strings"

	"gioui.org/io/event"

	"ashlar/app/core/session"
	"ashlar/app/core/verdict"
	"ashlar/app/window/comparison"
	"ashlar/app/window/panel"
	"ashlar/ingest/query/compare"
	"ashlar/render/theme"
	"ashlar/render/ui"
	"ashlar/render/units"
	"ashlar/render/widget"
)

// OfTwo is the details pane of a comparison.
type OfTwo struct {
	*comparison.Comparison
	lines   ui.Sheet
	largest [24]widget.ClickArea
}

// Tag identifies the area for the keyboard focus.
func (c *OfTwo) Tag() event.Tag { return &c.largest }

// Layout draws the details of the chosen function or of the whole comparison, and the
// largest differences.
func (c *OfTwo) Layout(s *panel.Host, u *ui.UI, r image.Rectangle) {
	th := u.Theme
	u.Fill(r, th.Surface)
	u.VLine(r.Min.X, r.Min.Y, r.Max.Y, th.Rule)
	a := c.Answer()
	x, right := r.Min.X+u.Px(16), r.Max.X-u.Px(14)
	y := r.Min.Y + u.Px(12)
	title, sub, ds := c.details(a)
	sz := u.Text(image.Rect(x, y, right, y+u.Px(54)), title, ui.Style{Size: 13, Weight: ui.Medium, Color: th.Text, Lines: 3})
	y += sz.Y + u.Px(2)
	u.Text(image.Rect(x, y, right, y+u.Px(18)), sub, ui.Style{Size: 11.5, Color: th.Dim})
	y += u.Px(28)
	first, line := y, u.Px(21)
	for _, d := range ds {
		if y > r.Max.Y-u.Px(18) {
			break
		}
		at := y - first
		c.lines.Text(ui.Rect(0, at, u.Px(96), u.Px(20)), d.Key, ui.Style{Size: 12, Color: th.Dim})
		c.lines.Text(image.Rect(u.Px(70), at, right-x, at+u.Px(20)), d.Value, ui.Style{Size: 12, Color: th.Text, Align: ui.End})
		y += line
	}
	c.lines.Show(u, image.Rect(x, first, right, y), th.Surface)
	if c.Chosen == nil && a != nil {
		c.largestDifferences(s, u, a, image.Rect(x, y+u.Px(6), right, r.Max.Y-u.Px(8)))
	}
	if p := c.Sides[c.Focus]; p.Copy {
		p.Copy = false
		s.CopyTo(u, "the details of "+title, copyText(title, sub, ds))
	}
}

// Rows returns the lines of details.
func (c *OfTwo) Rows() []Detail {
	_, _, ds := c.details(c.Answer())
	return ds
}

// details returns the details of the chosen function, or of the whole comparison.
func (c *OfTwo) details(a *session.CompareAnswer) (title, sub string, ds []Detail) {
	if a == nil {
		return "", "", nil
	}
	if c.Chosen != nil {
		return c.Chosen.Name, panel.ShortModule(c.Chosen.Module), c.ofChosen(a)
	}
	title = "Both recordings"
	if c.OneRecording {
		title = "A and B"
	}
	return title, c.MetricName() + ", " + strings.ToLower(comparison.NormalizeWords[a.Compared.Normalize]), ofWhole(a)
}

// amounts returns the lines for the costs in A and in B. Each key consists of the text
// before, the side's letter and the text behind.
func amounts(a *session.CompareAnswer, before, behind string, va, vb int64) []Detail {
	m := a.Compared.Metric
	exact := func(v int64) string { return units.Exact(v, &m.Common) }
	value := func(v int64) string { return units.Full(m.Readable(v)) }
	return []Detail{
		{Key: before + "A" + behind, Value: value(va), Exact: exact(va)},
		{Key: before + "B" + behind, Value: value(vb), Exact: exact(vb)},
		{Key: "Change", Value: verdict.Signed(m, vb-va) + "   " + units.Change(va, vb), Exact: exact(vb - va)},
	}
}

func ofWhole(a *session.CompareAnswer) (ds []Detail) {
	if a.Compared.Normalize == compare.Calls && !a.Compared.PerCall() {
		ds = amounts(a, "", " per call", a.A.Total, a.B.Total)
		ds = append(ds, Detail{Key: "Calls", Value: units.Count(a.A.Calls) + " of A, " + units.Count(a.B.Calls) + " of B"})
		return append(ds, amounts(a, "", " in total", a.A.RawTotal, a.B.RawTotal)...)
	}
	ds = amounts(a, "", "", a.A.RawTotal, a.B.RawTotal)
	if w := a.Functions.Whole; w != nil && a.Compared.Normalize == compare.Raw {
		ds = append(ds, Detail{Key: "Confidence", Value: units.Level(w.Level())})
	}
	return ds
}

func (c *OfTwo) ofChosen(a *session.CompareAnswer) []Detail {
	key := c.ChosenKey(a)
	if key < 0 {
		return nil
	}
	ds := c.callDetails(a, key)
	for i := range a.Functions.Rows {
		if row := &a.Functions.Rows[i]; row.Key == key {
			ds = append(ds, ofRow(a, row)...)
		}
	}
	return ds
}

func ofRow(a *session.CompareAnswer, row *compare.Row) (ds []Detail) {
	if row.NameB != "" {
		ds = append(ds, Detail{Key: "in B", Value: row.NameB})
	}
	each := ""
	if a.Compared.Normalize == compare.Calls && !a.Compared.PerCall() {
		each = " per call"
	}
	both := func(word string, va, vb int64, conf *compare.Confidence) {
		ds = append(ds, amounts(a, word+" ", each, va, vb)...)
		if conf != nil {
			ds = append(ds, Detail{Key: "Confidence", Value: comparison.ConfidenceText(a, conf)})
		}
	}
	both("Self", row.ASelf, row.BSelf, row.Self)
	both("Total", row.ATotal, row.BTotal, row.Total)
	switch row.Status {
	case compare.New:
		return append(ds, Detail{Key: "Status", Value: "New (only in B)"})
	case compare.Gone:
		return append(ds, Detail{Key: "Status", Value: "Gone (only in A)"})
	}
	return append(ds, Detail{Key: "Matched", Value: row.Rule.Words()})
}

// callDetails returns the details of the selected call and its counterpart.
func (c *OfTwo) callDetails(a *session.CompareAnswer, key int32) (ds []Detail) {
	if c.Link.Call == nil {
		return nil
	}
	t := c.Link.Twin
	lengths := [2]string{"no such call", "no such call"}
	var took [2]int64
	for i, p := range c.Sides {
		if p.Pick.Kind == panel.PickBar && (i == c.Link.Call.Side || t != nil) {
			took[i] = p.Pick.Hit.End - p.Pick.Hit.Start
			lengths[i] = units.Duration(took[i])
		}
	}
	name := "This call"
	if t != nil {
		name = "Call " + units.Count(int64(t.Number))
	}
	ds = append(ds, Detail{Key: name + " in A", Value: lengths[0]}, Detail{Key: name + " in B", Value: lengths[1]})
	if t != nil {
		ds = append(ds, Detail{Key: "Change", Value: units.Change(took[0], took[1])})
	}
	return append(ds, Detail{})
}

// largestDifferences lists the functions whose self changed most, noise dimmed.
func (c *OfTwo) largestDifferences(s *panel.Host, u *ui.UI, a *session.CompareAnswer, r image.Rectangle) {
	th := u.Theme
	m := a.Compared.Metric
	line := u.Px(22)
	y := r.Min.Y
	if r.Dy() < 3*line {
		return
	}
	title := "Largest change in self time"
	if a.Compared.Normalize == compare.Calls && !a.Compared.PerCall() {
		title += " per call"
	}
	if len(a.Functions.Rows) == 0 || a.Functions.Rows[0].DeltaSelf() == 0 { // the rows are sorted by the size of the change
		title = "No change in self time"
	}
	u.Text(image.Rect(r.Min.X, y, r.Max.X, y+line), title, ui.Style{Size: 12, Weight: ui.Medium, Color: th.Dim})
	y += line + u.Px(2)
	k := 0
	for i := range a.Functions.Rows {
		row := &a.Functions.Rows[i]
		if row.DeltaSelf() == 0 || k == len(c.largest) || y+line > r.Max.Y {
			break
		}
		box := image.Rect(r.Min.X-u.Px(6), y, r.Max.X+u.Px(6), y+line)
		clicked, hovered := c.largest[k].Clicked(u, box)
		k++
		if clicked && row.Key >= 0 {
			c.Choose(a, row.Key)
			c.Node = -1
		}
		if hovered {
			u.Round(box, 4, theme.WithAlpha(th.Text, .06))
		}
		text, change := th.Text, comparison.Amount{Sign: row.DeltaSelf()}.Color(th.Dim, th.More(), th.Less())
		if comparison.IsNoise(row.Self) {
			text, change = th.Faint, th.Faint
		}
		said := units.Change(row.ASelf, row.BSelf)
		if row.OneSided() {
			said = string(row.Status)
		}
		u.Text(image.Rect(r.Max.X-u.Px(66), y, r.Max.X, y+line), said, ui.Style{Size: 12, Color: change, Align: ui.End})
		u.Text(image.Rect(r.Max.X-u.Px(150), y, r.Max.X-u.Px(68), y+line), verdict.Signed(m, row.DeltaSelf()), ui.Style{Size: 12, Color: text, Align: ui.End})
		w := r.Dx() - u.Px(154)
		u.Text(image.Rect(r.Min.X, y, r.Min.X+w+u.Px(4), y+line), s.Fonts.Regular(12*u.Metric.PxPerDp).Fit(row.Name, float32(w)), ui.Style{Size: 12, Color: text})
		y += line
	}
}
