package shell

import (
	"image"
	"strconv"
	"strings"

	"gioui.org/io/pointer"
	gio "gioui.org/widget"

	"ashlar/app/session"
	"ashlar/ingest/analyze"
	"ashlar/ingest/compare"
	"ashlar/ingest/recording"
	"ashlar/render/theme"
	"ashlar/render/ui"
	"ashlar/render/units"
	"ashlar/render/widget"
)

// compareButtons are the choices of a comparison.
type compareButtons struct {
	normalize, width, by, what, view, metric gio.Clickable
}

func sideName(i int) string { return "AB"[i : i+1] }

// head draws a side's name and totals: A is grey and B has the accent,
// everywhere.
func (c *comparison) head(s *Shell, u *ui.UI, i int) {
	th := u.Theme
	r := c.bounds.heads[i]
	p := c.panes[i]
	u.Area(&c.heads, nil)
	if clicked, _ := c.heads[i].Clicked(u, r); clicked {
		c.focusOn(s, i)
	}
	u.Fill(r, th.Background)
	start := r.Min.X + u.Px(12)
	if i == 1 && c.pilled() && !c.above {
		start += u.Px(40)
	}
	badge := ui.Rect(start, r.Min.Y+u.Px(7), u.Px(16), u.Px(16))
	color, text := th.Dim, th.Background
	if i == 1 {
		color, text = th.Accent, th.OnAccent
	}
	u.Round(badge, 4, color)
	u.Text(badge, sideName(i), ui.Style{Size: 10.5, Weight: ui.Semibold, Color: text, Align: ui.Middle})
	st := ui.Style{Size: 12.5, Weight: ui.Medium, Color: th.Text}
	if c.focus != i {
		st.Color = th.Dim
	}
	said := c.sums(i)
	right := r.Max.X - u.Px(14)
	switch { // room for the pill
	case !c.pilled():
	case c.above && i == 1:
		right -= u.Px(86)
	case !c.above && i == 0:
		right -= u.Px(44)
	}
	for k := len(said) - 1; k >= 0; k-- {
		ss := ui.Style{Size: 12, Color: said[k].color(th.Dim, th.More(), th.Less())}
		if k > 0 {
			ss.Weight = ui.Medium
		}
		w := u.Measure(said[k].text, ss).X
		if right-w < badge.Max.X+u.Px(60) {
			continue
		}
		u.Text(image.Rect(right-w, r.Min.Y, right+1, r.Max.Y), said[k].text, ss)
		right -= w + u.Px(10)
	}
	left := badge.Max.X + u.Px(8)
	name := s.Fonts.Medium(12.5*u.Metric.PxPerDp).Cut(p.Doc.Name, float32(right-left))
	u.Text(image.Rect(left, r.Min.Y, right, r.Max.Y), name, st)
	u.HLine(r.Min.X, r.Max.X, r.Max.Y-1, th.Rule)
	if c.focus == i {
		u.Fill(image.Rect(r.Min.X, r.Max.Y-u.Px(2), r.Max.X, r.Max.Y), theme.WithAlpha(th.Accent, .8))
	}
}

// amount is a text that says there is more or less, or neither.
type amount struct {
	text string
	sign int64
}

func (a amount) color(same, more, less ui.Colour) ui.Colour {
	switch {
	case a.sign > 0:
		return more
	case a.sign < 0:
		return less
	}
	return same
}

// sums are a side's length and total, and for B by how much it is more or less.
func (c *comparison) sums(i int) []amount {
	p := c.panes[i]
	a := c.answer()
	if a == nil {
		text := ""
		if p.Rec.HasTime {
			text = units.Duration(p.Rec.Duration())
		}
		return []amount{{text: text}}
	}
	sides := [2]compare.Side{a.A, a.B}
	text := ""
	if sides[i].Length > 0 {
		text = units.Duration(sides[i].Length) + " · "
	}
	m := a.Compared.Metric
	text += units.Full(m.Readable(sides[i].RawTotal))
	if !a.Recs[i].Done {
		text = "so far " + text
	}
	if i == 0 || !a.Recs[0].Done || !a.Recs[1].Done { // of a part nothing follows
		return []amount{{text: text}}
	}
	raw := a.A.RawTotal
	out := []amount{{text: text}, {units.Change(raw, sides[1].RawTotal), sides[1].RawTotal - raw}}
	if raw != 0 && sides[1].RawTotal != raw && !strings.HasPrefix(out[1].text, "×") {
		out[1].text += "  ×" + strconv.FormatFloat(float64(sides[1].RawTotal)/float64(raw), 'f', 3, 64)
	}
	if a.Normalize != compare.Raw && a.Normalize != "" {
		out = append(out, amount{text: "scaled to " + units.Full(m.Readable(sides[1].Total))})
	}
	return out
}

// tabBar draws the tabs and, at the right, how it was compared: always the
// normalisation, and what the tab lets one choose.
func (c *comparison) tabBar(s *Shell, u *ui.UI) {
	r := c.bounds.tabs
	th := u.Theme
	u.Fill(r, th.Surface)
	u.HLine(r.Min.X, r.Max.X, r.Min.Y, th.Rule)
	if c.timed() {
		u.Round(ui.Rect((r.Min.X+r.Max.X)/2-u.Px(18), r.Min.Y-u.Px(1), u.Px(36), u.Px(3)), 1.5, th.Faint)
	}
	right := c.choices(s, u)
	x := r.Min.X + u.Px(14)
	for i := range compareTabs {
		name, is := compareTabs[i].title, compareTabs[i].name == c.tab
		st := ui.Style{Size: 12.5, Color: th.Dim}
		if is {
			st.Color, st.Weight = th.Text, ui.Medium
		}
		w := u.Measure(name, ui.Style{Size: 12.5, Weight: ui.Medium}).X
		if x+w > right {
			break // the palette has them all
		}
		tab := image.Rect(x-u.Px(6), r.Min.Y+1, x+w+u.Px(10), r.Max.Y)
		clicked, hovered := c.tabKeys[i].Clicked(u, tab)
		if clicked {
			c.tab = compareTabs[i].name
		}
		if hovered && !is {
			st.Color = th.Text
		}
		u.Text(image.Rect(x, r.Min.Y, x+w+u.Px(8), r.Max.Y), name, st)
		if is {
			u.Round(image.Rect(x, r.Max.Y-u.Px(3), x+w, r.Max.Y), 1.5, th.Accent)
		}
		x += w + u.Px(24)
	}
	f := c.panes[c.focus]
	f.Bounds.Tabs = r
	f.chips(u, x, right-u.Px(8))
}

// choices draws from the right edge what can be chosen and returns where it
// begins.
func (c *comparison) choices(s *Shell, u *ui.UI) int {
	r := c.bounds.tabs
	y := r.Min.Y + u.Px(4)
	x := r.Max.X - u.Px(8)
	choice := func(b *gio.Clickable, label string, items func() []widget.Item) {
		w := u.Measure(label, ui.Style{Size: 12.5}).X + u.Px(26)
		x -= w + u.Px(2)
		u.Choice(b, x, y, label, 0)
		if b.Clicked(u.Context) {
			its := items()
			s.Menu = widget.NewMenu(image.Pt(x, r.Min.Y-u.Px(float32(len(its))*28+14)), its)
		}
	}
	o := &c.options
	choice(&c.buttons.normalize, normalizeWords[o.Normalize], func() []widget.Item {
		var items []widget.Item
		for _, n := range []compare.Normalize{compare.Raw, compare.Total, compare.Duration, compare.Samples} {
			items = append(items, widget.Item{Title: normalizeWords[n], Detail: normalizeHelp[n], On: n == o.Normalize, Do: func() { o.Normalize = n }})
		}
		return items
	})
	switch c.tab {
	case compareFlame:
		choice(&c.buttons.width, widthWords[o.Width], func() []widget.Item {
			var items []widget.Item
			for _, w := range []compare.Width{compare.WidthLarger, compare.WidthA, compare.WidthB} {
				items = append(items, widget.Item{Title: widthWords[w], On: w == o.Width, Do: func() { o.Width = w }})
			}
			return items
		})
	case compareTable:
		choice(&c.buttons.what, map[bool]string{false: "self", true: "total"}[o.Total], func() []widget.Item {
			return []widget.Item{{Title: "self: of the function alone", On: !o.Total, Do: func() { o.Total = false }},
				{Title: "total: with all it calls", On: o.Total, Do: func() { o.Total = true }}}
		})
		choice(&c.buttons.by, "by "+string(o.By), func() []widget.Item {
			var items []widget.Item
			for _, b := range []compare.By{compare.ByFunction, compare.ByModule, compare.ByFile, compare.ByThread, compare.ByStack} {
				items = append(items, widget.Item{Title: "by " + string(b), On: b == o.By, Do: func() { o.By = b }})
			}
			return items
		})
	case compareDistribution:
		choice(&c.buttons.what, map[bool]string{false: "whole calls", true: "self time"}[o.SelfTime], func() []widget.Item {
			return []widget.Item{{Title: "whole calls", On: !o.SelfTime, Do: func() { o.SelfTime = false }},
				{Title: "self time, without what they call", On: o.SelfTime, Do: func() { o.SelfTime = true }}}
		})
	}
	if c.tab == compareFlame || c.tab == compareTwo || c.tab == compareTable {
		choice(&c.buttons.view, "View", func() []widget.Item { return c.panes[c.focus].viewItems() })
	}
	return x
}

var normalizeWords = map[compare.Normalize]string{
	compare.Raw: "not normalised", compare.Total: "normalised by total", compare.Duration: "normalised by duration", compare.Samples: "normalised by samples",
}

var normalizeHelp = map[compare.Normalize]string{
	compare.Raw: "what the files say", compare.Total: "both totals become A's", compare.Duration: "per time recorded", compare.Samples: "per sample or span",
}

var widthWords = map[compare.Width]string{compare.WidthLarger: "the larger's widths", compare.WidthA: "A's widths", compare.WidthB: "B's widths"}

// layoutSplitter lets the border between the halves be dragged.
func (c *comparison) layoutSplitter(u *ui.UI, whole image.Rectangle) {
	d := &c.splitter
	at := c.bounds.tabs.Min.Y
	for {
		g, _, ok := d.Next(u, image.Point{})
		if !ok {
			break
		}
		switch g {
		case widget.Pressed:
			c.dragged = float32(at-whole.Min.Y) - d.At.Y
		case widget.Dragged:
			c.split = max(.1, min(.9, (d.At.Y+c.dragged)/float32(whole.Dy())))
		case widget.DoubleClicked:
			c.split = 0
		}
	}
	d.Area(u, image.Rect(whole.Min.X, at-u.Px(4), whole.Max.X, at+u.Px(4)), pointer.CursorRowResize)
}

// metricItems are the metrics that both sides have, with what they are called in
// B.
func (c *comparison) metricItems() []widget.Item {
	a, b := c.panes[0].Rec, c.panes[1].Rec
	var items []widget.Item
	for e := range a.Events {
		for k := range a.Events[e].Metrics {
			event, metric := analyze.EventName(&a.Events[e]), a.Events[e].Metrics[k].Name
			m, err := compare.MatchMetric(c.recs(), event, metric)
			if err != nil {
				continue
			}
			detail := ""
			if m.Rule != "event and metric" {
				detail = "with " + metricTitle(&b.Events[m.Event[1]], m.Metric[1])
			}
			on := false
			if ans := c.answer(); ans != nil {
				on = ans.Compared.Metric.Event[0] == e && ans.Compared.Metric.Metric[0] == k
			}
			items = append(items, widget.Item{Title: metricTitle(&a.Events[e], k), Detail: detail, On: on, Do: func() {
				c.options.Event, c.options.Metric = event, metric
			}})
		}
	}
	return items
}

func (c *comparison) recs() []*recording.Recording {
	return []*recording.Recording{c.panes[0].Rec, c.panes[1].Rec}
}

// metricTitle names a metric with its event.
func metricTitle(e *recording.Event, metric int) string {
	return e.Title() + " · " + e.Metrics[metric].Name
}

// metricName is what is compared now.
func (c *comparison) metricName() string {
	a := c.answer()
	if a == nil {
		return c.panes[0].MetricOf().Name
	}
	m := a.Compared.Metric
	name := metricTitle(&a.Recs[0].Events[m.Event[0]], m.Metric[0])
	if other := metricTitle(&a.Recs[1].Events[m.Event[1]], m.Metric[1]); other != name {
		name += " with " + other
	}
	return name
}

// nextMetric compares the next metric that both have; whole events are skipped
// where only the event is to change.
func (c *comparison) nextMetric(s *Shell, event bool) {
	items := c.metricItems()
	if len(items) < 2 {
		s.Say("There is no other metric that both recordings have")
		return
	}
	at := 0
	for i := range items {
		if items[i].On {
			at = i
		}
	}
	was := c.options
	for k := 1; k <= len(items); k++ {
		items[(at+k)%len(items)].Do()
		if !event || c.options.Event != was.Event {
			return
		}
	}
}

// unanswered says why there is no comparison.
func (c *comparison) unanswered() string {
	for i, p := range c.panes {
		if p.Doc.Err() != nil && !p.Rec.Done {
			return sideName(i) + " cannot be read, so there is nothing to compare " + sideName(1-i) + " with. Open another file in its place, or close the comparison."
		}
	}
	for i, p := range c.panes {
		if !p.Rec.Done {
			return "Reading " + sideName(i) + ", " + p.Doc.Name + "…"
		}
	}
	if a := c.pair.Answer(); a != nil && a.Err != nil {
		return "Cannot compare: " + a.Err.Error() + "."
	}
	return ""
}

// status is what stands in the status line: what was matched, how sure it is,
// and whether something was wrong with a file.
func (c *comparison) status() (left, right string, wrong bool) {
	for i, p := range c.panes {
		if text := summary(p.Rec); text != "" {
			left += sideName(i) + " " + text + "   "
		}
	}
	for i, p := range c.panes {
		if text, first := warned(p.Rec); first != nil {
			right += text + " in " + sideName(i) + " · "
			wrong = true
		}
	}
	if i := c.outside(); i >= 0 {
		right += sideName(i) + " has nothing at the selected time: it lasts " + units.Duration(c.panes[i].Rec.Duration()) + " · "
	}
	follows := c.followText()
	right += follows
	wrong = wrong || follows != "" && follows != following
	if a := c.answer(); a != nil && (follows == "" || follows == following) {
		right += matchedText(a)
	}
	return left, strings.TrimSuffix(right, " · "), wrong
}

// reading is the side that is still being read, the one with the focus first;
// -1 where both have been.
func (c *comparison) reading() int {
	for _, i := range []int{c.focus, 1 - c.focus} {
		if d := c.panes[i].Doc; !d.Progress().Done && d.Err() == nil {
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
			if m.Rule == compare.RuleHand || m.Rule == compare.RuleSimilar || m.Rule == compare.RuleName {
				parts += ", " + units.Count(int64(m.Count)) + " " + ruleShort[m.Rule]
			}
		}
	}
	return "matched " + units.Plural(int64(both), "function") + parts + " · " + units.Count(int64(fresh)) + " new · " + units.Count(int64(gone)) + " gone"
}

var ruleShort = map[compare.Rule]string{compare.RuleHand: "by hand", compare.RuleSimilar: "by similar name", compare.RuleName: "by name alone"}
