package workspace

import (
	"image"
	"slices"
	"strconv"
	"strings"

	gio "gioui.org/widget"

	"ashlar/app/core/session"
	"ashlar/app/core/verdict"
	"ashlar/app/window/comparison"
	"ashlar/app/window/panel"
	"ashlar/app/window/panel/functions"
	"ashlar/ingest/query/compare"
	"ashlar/ingest/query/compare/match"
	"ashlar/render/theme"
	"ashlar/render/ui"
	"ashlar/render/units"
	"ashlar/render/widget"
)

// compareButtons are the buttons for the settings of a comparison.
type compareButtons struct {
	normalize, width, by, what, view, metric gio.Clickable
}

// head draws a side's name and totals. Everywhere, A is grey and B has the accent colour.
func (c *Comparison) head(d *Workspace, u *ui.UI, i int) {
	th := u.Theme
	r := c.Bounds.Heads[i]
	p := c.Panes[i]
	u.Area(&c.Heads, nil)
	if clicked, _ := c.Heads[i].Clicked(u, r); clicked {
		c.FocusOn(d, i)
	}
	u.Fill(r, th.Background)
	start := r.Min.X + u.Px(12)
	if i == 1 && c.pilled() && !c.Above {
		start += u.Px(40)
	}
	badge := ui.Rect(start, r.Min.Y+u.Px(7), u.Px(16), u.Px(16))
	color, text := th.Dim, th.Background
	if i == 1 {
		color, text = th.Accent, th.OnAccent
	}
	u.Round(badge, 4, color)
	u.Text(badge, comparison.SideName(i), ui.Style{Size: 10.5, Weight: ui.Medium, Color: text, Align: ui.Middle})
	st := ui.Style{Size: 12.5, Weight: ui.Medium, Color: th.Text}
	if c.Focus != i {
		st.Color = th.Dim
	}
	said := c.Sums(i)
	right := r.Max.X - u.Px(14)
	switch { // leave room for the link pill
	case !c.pilled():
	case c.Above && i == 1:
		right -= u.Px(86)
	case !c.Above && i == 0:
		right -= u.Px(44)
	}
	for k := len(said) - 1; k >= 0; k-- {
		ss := ui.Style{Size: 12, Color: said[k].Color(th.Dim, th.More(), th.Less())}
		if k > 0 {
			ss.Weight = ui.Medium
		}
		w := u.Measure(said[k].Text, ss).X
		if right-w < badge.Max.X+u.Px(60) {
			continue
		}
		u.Text(image.Rect(right-w, r.Min.Y, right+1, r.Max.Y), said[k].Text, ss)
		right -= w + u.Px(10)
	}
	left := badge.Max.X + u.Px(8)
	c.Strips[i].Clear()
	if strip := u.Px(comparison.StripWidth); c.hasRuns() && right-strip-left > u.Px(60) {
		both := [2][]comparison.Run{c.RunsOf(0), c.RunsOf(1)}
		if k := c.Strips[i].Layout(u, i, both, image.Rect(right-strip, r.Min.Y, right, r.Max.Y)); k >= 0 {
			d.ToggleRun(i, k)
		}
		right -= strip + u.Px(10)
	}
	name := d.Fonts.Medium(12.5*u.Metric.PxPerDp).FileName(p.Doc.Name, c.Panes[1-i].Doc.Name, float32(right-left))
	u.Text(image.Rect(left, r.Min.Y, right, r.Max.Y), name, st)
	u.HLine(r.Min.X, r.Max.X, r.Max.Y-1, th.Rule)
	if c.Focus == i {
		u.Fill(image.Rect(r.Min.X, r.Max.Y-u.Px(2), r.Max.X, r.Max.Y), theme.WithAlpha(th.Accent, .8))
	}
}

// Sums returns a side's length and total, and for B its change from A.
func (c *Comparison) Sums(i int) []comparison.Amount {
	p := c.Panes[i]
	a := c.Answer()
	if a == nil {
		text := ""
		if p.Rec.HasTime {
			text = units.Duration(p.Rec.Duration())
		}
		return []comparison.Amount{{Text: text}}
	}
	sides := [2]compare.Side{a.A, a.B}
	text := ""
	if sides[i].Length > 0 {
		text = units.Duration(sides[i].Length) + " · "
	}
	m := a.Compared.Metric
	text += units.Full(m.Readable(sides[i].RawTotal))
	if sides[i].Recordings > 1 {
		text += " mean"
	}
	if w := a.Functions.Whole; w != nil {
		text += verdict.Spread(m, w, i)
	}
	if !a.Recs[i].Done {
		text = "so far " + text
	}
	if i == 0 || !a.Recs[0].Done || !a.Recs[1].Done { // no change while only a part is loaded
		return []comparison.Amount{{Text: text}}
	}
	raw := a.A.RawTotal
	out := []comparison.Amount{{Text: text}, {Text: units.Change(raw, sides[1].RawTotal), Sign: sides[1].RawTotal - raw}}
	if raw != 0 && sides[1].RawTotal != raw && !strings.Contains(out[1].Text, "×") {
		out[1].Text += "  ×" + strconv.FormatFloat(float64(sides[1].RawTotal)/float64(raw), 'f', 3, 64)
	}
	if a.Compared.Normalize != compare.Raw {
		out = append(out, comparison.Amount{Text: "scaled to " + units.Full(m.Readable(sides[1].Total))})
	}
	return out
}

// layout draws the settings buttons from the right edge of r leftwards and returns the x
// position where they begin.
func (cb *compareButtons) layout(d *Workspace, u *ui.UI, c *comparison.Comparison, r image.Rectangle, viewItems func() []widget.Item) int {
	y := r.Min.Y + u.Px(4)
	x := r.Max.X - u.Px(8)
	choice := func(b *gio.Clickable, label string, items func() []widget.Item) {
		w := u.Measure(label, ui.Style{Size: 12.5}).X + u.Px(26)
		x -= w + u.Px(2)
		u.Choice(b, x, y, label, 0)
		if b.Clicked(u.Context) {
			its := items()
			d.Menu = widget.NewMenu(image.Pt(x, r.Min.Y-u.Px(float32(len(its))*28+14)), its)
		}
	}
	o := &c.Options
	choice(&cb.normalize, c.NormalizeWord(), func() []widget.Item {
		var items []widget.Item
		for _, n := range c.Normalizations() {
			items = append(items, widget.Item{Title: comparison.NormalizeWords[n], Detail: comparison.NormalizeHelp[n], On: n == o.Normalize, Do: func() { o.Normalize = n }})
		}
		return items
	})
	switch c.Tab {
	case comparison.Difference:
		choice(&cb.width, comparison.WidthWords[o.Width], func() []widget.Item {
			var items []widget.Item
			for _, w := range []compare.Width{compare.WidthLarger, compare.WidthA, compare.WidthB} {
				items = append(items, widget.Item{Title: comparison.WidthWords[w], On: w == o.Width, Do: func() { o.Width = w }})
			}
			return items
		})
	case comparison.Table:
		choice(&cb.what, map[bool]string{false: "Self", true: "Total"}[o.Total], func() []widget.Item {
			return []widget.Item{{Title: "Self", On: !o.Total, Do: func() { o.Total = false }},
				{Title: "Total", On: o.Total, Do: func() { o.Total = true }}}
		})
		choice(&cb.by, "By "+string(o.By), func() []widget.Item {
			var items []widget.Item
			groups := append(slices.Clone(functions.Groups), functions.Group{By: compare.ByStack, Title: "Stacks"})
			for _, g := range groups {
				items = append(items, widget.Item{Title: "By " + string(g.By), On: g.By == o.By, Do: func() { o.By = g.By }})
			}
			return append(items, widget.Item{Title: "By label or argument…", Do: func() {
				recs := c.Recs()
				functions.ChooseGroup(&d.Host, append(groups, functions.OtherGroups(recs...)...), o.By, func(by compare.By) { o.By = by })
			}})
		})
	case comparison.Distribution:
		choice(&cb.what, map[bool]string{false: "Total time", true: "Self time"}[o.SelfTime], func() []widget.Item {
			return []widget.Item{{Title: "Total time", On: !o.SelfTime, Do: func() { o.SelfTime = false }},
				{Title: "Self time", On: o.SelfTime, Do: func() { o.SelfTime = true }}}
		})
	}
	if c.Tab == comparison.Difference || c.Tab == comparison.CallTree || c.Tab == comparison.Two || c.Tab == comparison.Table {
		choice(&cb.view, "View", viewItems)
	}
	return x
}

// nextMetric switches to the next metric that both sides have. If event is true, it skips
// to the next event.
func (c *Comparison) nextMetric(d *Workspace, event bool) {
	items := c.MetricItems()
	if len(items) < 2 {
		d.Say("The recordings share no other metric")
		return
	}
	at := 0
	for i := range items {
		if items[i].On {
			at = i
		}
	}
	was := c.Options
	for k := 1; k <= len(items); k++ {
		items[(at+k)%len(items)].Do()
		if !event || c.Options.Event != was.Event {
			return
		}
	}
}

// Status returns the status line: the matches, their confidence, damage in a file that
// affects the numbers, and failures to follow a file.
func (c *Comparison) Status() (left, right string, warned, wrong bool) {
	for i, p := range c.Panes {
		if text := panel.Summary(p.Rec); text != "" {
			left += comparison.SideName(i) + " " + text + "   "
		}
	}
	for i, p := range c.Panes {
		if text, changes := p.Rec.Warned(); changes {
			right += text + " in " + comparison.SideName(i) + " · "
			warned = true
		}
	}
	if i := c.Outside(); i >= 0 {
		right += comparison.SideName(i) + " has no data at the selected time (it lasts " + units.Duration(c.Panes[i].Rec.Duration()) + ") · "
	}
	follows := c.followText()
	right += follows
	wrong = follows != "" && follows != following
	if a := c.Answer(); a != nil && (follows == "" || follows == following) {
		right += matchedText(a)
	}
	return left, strings.TrimSuffix(right, " · "), warned, wrong
}

// Reading returns a side that is still being read, preferring the one with the focus; -1
// if both are complete.
func (c *Comparison) Reading() int {
	for _, i := range []int{c.Focus, 1 - c.Focus} {
		if d := c.Panes[i].Doc; !d.Progress().Done && d.Err() == nil {
			return i
		}
	}
	return -1
}

// matchedText sums up what was matched: matched 309 functions, 4 by similar name
// · 2 new · 1 gone.
func matchedText(a *session.CompareAnswer) string {
	both, fresh, gone, parts := 0, 0, 0, ""
	for _, m := range a.Functions.Matched() {
		switch {
		case m.Status == compare.New:
			fresh += m.Count
		case m.Status == compare.Gone:
			gone += m.Count
		default:
			both += m.Count
			if m.Rule == match.RuleHand || m.Rule == match.RuleSimilar || m.Rule == match.RuleName {
				parts += ", " + units.Count(int64(m.Count)) + " " + m.Rule.Words()
			}
		}
	}
	return "matched " + units.Plural(int64(both), "function") + parts + " · " + units.Count(int64(fresh)) + " new · " + units.Count(int64(gone)) + " gone"
}
