// Package pairing implements the panel that explains a comparison: the matched functions
// and the rules that matched them, and how certain the differences are.
package pairing

import (
	"image"
	"math"
	"strings"

	"gioui.org/io/key"
	"gioui.org/io/pointer"

	"ashlar/app/core/session"
	"ashlar/app/window/comparison"
	"ashlar/app/window/panel"
	"ashlar/ingest/query/compare"
	"ashlar/ingest/query/compare/match"
	"ashlar/render/theme"
	"ashlar/render/ui"
	"ashlar/render/units"
	"ashlar/render/widget"
)

// Panel explains the comparison: the matches and their rules and weights, the rows without
// a match, and the confidence.
type Panel struct {
	panel.List[*comparison.Comparison]
	// Kind selects the listed rows: an index in Kinds.
	Kind   int
	Kinds  []PairKind
	rows   []compare.Row
	of     *compare.Table
	ofKind PairKind
	picks  [12]widget.ClickArea
	rules  [5]widget.ClickArea
	// wantPair opens the chooser of pairs in the next frame.
	wantPair bool
}

// PairKind is how a function was matched: by a rule, or not at all because only one side
// has it.
type PairKind struct {
	rule   match.Rule
	status compare.Status // Changed, New or Gone
}

func kindOf(r *compare.Row) PairKind {
	if r.OneSided() {
		return PairKind{status: r.Status}
	}
	return PairKind{r.Rule, compare.Changed}
}

// Words describes a kind.
func (k PairKind) Words() string {
	switch k.status {
	case compare.New:
		return "Only in B (new)"
	case compare.Gone:
		return "Only in A (gone)"
	}
	if k.rule == match.Unmatched {
		return "Made by transforms"
	}
	return k.rule.Words()
}

// Refresh updates the rows for an answer.
func (t *Panel) Refresh(a *session.CompareAnswer) {
	if t.of != a.Functions {
		t.Kinds = t.Kinds[:0]
		for _, m := range a.Functions.Matched() {
			t.Kinds = append(t.Kinds, PairKind{m.Rule, m.Status})
		}
		was := t.ofKind
		t.Kind = 0
		for i, k := range t.Kinds {
			// Begin with guessed matches or functions without a match, because they need
			// checking.
			if k == was || was == (PairKind{}) && (k.status != compare.Changed || k.rule == match.RuleSimilar) {
				t.Kind = i
				break
			}
		}
	}
	kind := PairKind{}
	if t.Kind < len(t.Kinds) {
		kind = t.Kinds[t.Kind]
	}
	if t.of == a.Functions && t.ofKind == kind {
		return
	}
	t.of, t.ofKind, t.rows = a.Functions, kind, t.rows[:0]
	for i := range a.Functions.Rows {
		if r := &a.Functions.Rows[i]; kindOf(r) == kind {
			t.rows = append(t.rows, *r)
		}
	}
}

// Layout draws the rules, the statistics and the matched functions.
func (t *Panel) Layout(s *panel.Host, c *comparison.Comparison, u *ui.UI, r image.Rectangle) {
	a := c.Answer()
	t.Refresh(a)
	if t.wantPair {
		t.wantPair = false
		c.PairByHand(s)
	}
	w := min(u.Px(400), r.Dx()/2)
	left := image.Rect(r.Min.X+u.Px(16), r.Min.Y+u.Px(8), r.Min.X+w-u.Px(14), r.Max.Y)
	y := t.ruleSwitches(c, u, left)
	y = t.counts(u, a, image.Rect(left.Min.X, y, left.Max.X, left.Max.Y))
	t.words(c, u, a, image.Rect(left.Min.X, y+u.Px(6), left.Max.X, left.Max.Y))
	list := image.Rect(r.Min.X+w, r.Min.Y, r.Max.X, r.Max.Y)
	u.VLine(list.Min.X, r.Min.Y, r.Max.Y, u.Theme.Rule)
	t.list(s, c, u, a, list)
}

// ruleSwitches draws a switch for each rule; it returns their bottom.
func (t *Panel) ruleSwitches(c *comparison.Comparison, u *ui.UI, r image.Rectangle) int {
	th := u.Theme
	line := u.Px(22)
	y := r.Min.Y
	u.Text(image.Rect(r.Min.X, y, r.Max.X, y+line), "Matching rules, in order", ui.Style{Size: 12, Weight: ui.Medium, Color: th.Dim})
	y += line
	m := &c.Options.Match
	for i, rule := range []struct {
		word string
		off  *bool
	}{{"name and module", &m.NoModule}, {"name only", &m.NoName}, {"name without arguments, hashes, numbers", &m.NoSimilar}, {"threads in order", &m.NoOrder}, {"renamed: similar callers, callees and cost", &m.NoRenamed}} {
		box := image.Rect(r.Min.X-u.Px(4), y, r.Max.X, y+line)
		clicked, hovered := t.rules[i].Clicked(u, box)
		if clicked {
			*rule.off = !*rule.off
		}
		if hovered {
			u.Round(box, 4, theme.WithAlpha(th.Text, .06))
		}
		tick := ui.Rect(r.Min.X, y+u.Px(5), u.Px(12), u.Px(12))
		if *rule.off {
			u.Border(tick, 3, 1, th.Faint)
		} else {
			u.Round(tick, 3, th.Accent)
		}
		u.Text(image.Rect(r.Min.X+u.Px(20), y, r.Max.X, y+line), rule.word, ui.Style{Size: 12, Color: th.Text})
		y += line
	}
	return y + u.Px(8)
}

// counts lists the number and weight of matches by rule.
func (t *Panel) counts(u *ui.UI, a *session.CompareAnswer, r image.Rectangle) int {
	th := u.Theme
	line := u.Px(22)
	y := r.Min.Y
	cols := func(name, n, wa, wb string, c ui.Colour) {
		st := ui.Style{Size: 12, Color: c}
		u.Text(image.Rect(r.Min.X, y, r.Max.X, y+line), name, st)
		st.Align = ui.End
		u.Text(image.Rect(r.Min.X, y, r.Max.X-u.Px(130), y+line), n, st)
		u.Text(image.Rect(r.Min.X, y, r.Max.X-u.Px(66), y+line), wa, st)
		u.Text(image.Rect(r.Min.X, y, r.Max.X-u.Px(4), y+line), wb, st)
	}
	cols("Matched", "functions", "A share", "B share", th.Dim)
	y += line
	for i, m := range a.Functions.Matched() {
		if i == len(t.picks) {
			break
		}
		box := image.Rect(r.Min.X-u.Px(4), y, r.Max.X, y+line)
		clicked, hovered := t.picks[i].Clicked(u, box)
		if clicked {
			t.Kind, t.Down = i, 0
			t.Refresh(a)
		}
		switch {
		case i == t.Kind:
			u.Round(box, 4, theme.WithAlpha(th.Accent, .16))
		case hovered:
			u.Round(box, 4, theme.WithAlpha(th.Text, .06))
		}
		cols(PairKind{m.Rule, m.Status}.Words(), units.Count(int64(m.Count)), units.Percent(m.A, a.A.Total), units.Percent(m.B, a.B.Total), th.Text)
		y += line
	}
	return y
}

// words draws the sentences about the compared metrics and the basis of the confidences.
func (t *Panel) words(c *comparison.Comparison, u *ui.UI, a *session.CompareAnswer, r image.Rectangle) {
	th := u.Theme
	y := r.Min.Y
	for _, text := range howCompared(c, a) {
		if y > r.Max.Y-u.Px(16) {
			return
		}
		size := u.Text(image.Rect(r.Min.X, y, r.Max.X, r.Max.Y), text, ui.Style{Size: 12, Color: th.Dim, Lines: 6})
		y += size.Y + u.Px(6)
	}
}

// howCompared returns the sentences about metric, normalisation and confidence.
func howCompared(c *comparison.Comparison, a *session.CompareAnswer) []string {
	m := a.Compared.Metric
	ea, eb := &a.Recs[0].Events[m.Event[0]], &a.Recs[1].Events[m.Event[a.Compared.Sides]]
	what := "Compared: " + comparison.MetricTitle(ea, m.Metric[0])
	if other := comparison.MetricTitle(eb, m.Metric[a.Compared.Sides]); other != comparison.MetricTitle(ea, m.Metric[0]) {
		what += " in A with " + other + " of B, matched by " + m.Rule
	}
	out := []string{what + ", " + strings.ToLower(comparison.NormalizeWords[a.Compared.Normalize]) + "."}
	switch a.Method {
	case compare.FromCounts:
		out = append(out, "Confidence comes from sample counts (Poisson). It excludes variation between runs. To include it, compare several recordings per side (ashlar diff --a … --b …).")
	case compare.FromDurations:
		out = append(out, "Confidence comes from call durations (rank test) and call counts; it is unknown for functions with one call per side. It excludes variation between runs. To include it, compare several recordings per side (ashlar diff --a … --b …).")
	case compare.NoMethod:
		out = append(out, "Noise is unknown: these files have no sample counts.")
		return out
	}
	out = append(out, "Grey: less than 95 % sure. Expect at most one false alarm in twenty among the others.")
	if w := a.Functions.Whole; w != nil && !math.IsNaN(w.Detectable) {
		v := int64(math.Round(w.Detectable))
		out = append(out, "Smallest detectable change: "+units.Value(m.Readable(v))+", "+units.Percent(v, a.A.Total)+".")
	}
	return out
}

// list shows the pairs of the chosen kind.
func (t *Panel) list(s *panel.Host, c *comparison.Comparison, u *ui.UI, a *session.CompareAnswer, r image.Rectangle) {
	th := u.Theme
	h := u.Px(widget.RowHeight)
	body := image.Rect(r.Min.X+1, r.Min.Y+h+u.Px(2), r.Max.X, r.Max.Y)
	t.events(s, c, u, a, body)
	nums := u.Px(170)
	half := (body.Dx() - nums - u.Px(24)) / 2
	x := [4]int{u.Px(14), u.Px(14) + half, body.Dx() - nums, body.Dx() - nums/2}
	head := ui.Style{Size: 11.5, Weight: ui.Medium, Color: th.Dim}
	at := func(k int) int { return body.Min.X + x[k] }
	u.Text(image.Rect(at(0), r.Min.Y, at(1), r.Min.Y+h), "In A", head)
	u.Text(image.Rect(at(1), r.Min.Y, at(2), r.Min.Y+h), "In B", head)
	head.Align = ui.End
	u.Text(image.Rect(at(2), r.Min.Y, at(3)-u.Px(8), r.Min.Y+h), "A self", head)
	u.Text(image.Rect(at(3), r.Min.Y, body.Max.X-u.Px(12), r.Min.Y+h), "B self", head)
	u.HLine(r.Min.X, r.Max.X, body.Min.Y-1, th.Rule)
	face := s.Fonts.Regular(12 * u.Metric.PxPerDp)
	u.At(body, func(u *ui.UI) {
		t.Rows(body, h, len(t.rows), func(i int, line image.Rectangle) {
			row, y := &t.rows[i], line.Min.Y
			if col, ok := t.Ground(u, line, row.Key >= 0 && c.Chosen != nil && a.Compared.Tree.Funcs[row.Key].FuncName == *c.Chosen); ok {
				u.Fill(line, col)
			}
			names := namesOfRow(row)
			for k, name := range names {
				st := ui.Style{Size: 12, Color: th.Text}
				if name == "" {
					name, st.Color = "–", th.Faint
				}
				u.Text(ui.Rect(x[k], y, half, h), face.Fit(name, float32(half-u.Px(12))), st)
			}
			m := a.Compared.Metric
			st := ui.Style{Size: 12, Color: theme.Mix(th.Text, th.Dim, .5), Align: ui.End}
			u.Text(image.Rect(x[2], y, x[3]-u.Px(8), y+h), units.Value(m.Readable(row.ASelf)), st)
			u.Text(image.Rect(x[3], y, body.Dx()-u.Px(12), y+h), units.Value(m.Readable(row.BSelf)), st)
		})
	})
	t.Area(u, body, pointer.CursorDefault)
}

// namesOfRow returns the names of a row's function in A and in B, with modules
// where these differ.
func namesOfRow(r *compare.Row) [2]string {
	switch r.Status {
	case compare.Gone:
		return [2]string{r.Name, ""}
	case compare.New:
		return [2]string{"", r.Name}
	}
	names := [2]string{r.Name, r.Name}
	if r.NameB != "" {
		names[1] = r.NameB
	}
	if r.ModuleB != "" && r.ModuleB != r.Module {
		names[0] += "  " + panel.ShortModule(r.Module)
		names[1] += "  " + panel.ShortModule(r.ModuleB)
	}
	return names
}

func (t *Panel) events(s *panel.Host, c *comparison.Comparison, u *ui.UI, a *session.CompareAnswer, body image.Rectangle) {
	t.Events(u, body, u.Px(widget.RowHeight), len(t.rows), func(g widget.Gesture, i int) {
		if i < 0 {
			return
		}
		row := &t.rows[i]
		switch g {
		case widget.Clicked, widget.DoubleClicked:
			if c.Choose(a, row.Key); g == widget.DoubleClicked && row.Key >= 0 {
				c.PairByHand(s)
			}
		case widget.MenuAsked:
			c.Choose(a, row.Key)
			name := row.Name
			s.Menu = widget.NewMenu(widget.Point(body.Min, t.At), append([]widget.Item{{Title: "Copy name", Do: func() { s.CopyLater(name) }}}, c.PairItems(s)...))
		}
	})
}

// Key moves through the pairs; Return pairs the chosen function by hand.
func (t *Panel) Key(c *comparison.Comparison, k key.Event, _ int) bool {
	a := c.Answer()
	if a == nil || len(t.rows) == 0 {
		return false
	}
	at := comparison.RowAt(c, t.rows, func(r *compare.Row) int32 { return r.Key })
	if k.Name == key.NameReturn && k.Modifiers == 0 && at >= 0 {
		t.wantPair = true
		return true
	}
	to, ok := t.List.Key(k, at, len(t.rows))
	if ok {
		c.Choose(a, t.rows[to].Key)
	}
	return ok
}
