package shell

import (
	"image"
	"math"

	"gioui.org/io/pointer"

	"ashlar/app/panel"
	"ashlar/app/session"
	"ashlar/ingest/compare"
	"ashlar/ingest/recording"
	"ashlar/render/theme"
	"ashlar/render/ui"
	"ashlar/render/units"
	"ashlar/render/widget"
)

// pairingPart says how the two recordings were compared: what was matched with
// what, by which rule, how heavy that is, what was not, and how sure all is.
type pairingPart struct {
	widget.Drag
	scroll int
	// kind is which rows are listed: an index in kinds.
	kind   int
	kinds  []pairKind
	rows   []compare.Row
	of     *compare.Table
	ofKind pairKind
	picks  [12]widget.ClickArea
	rules  [4]widget.ClickArea
	// wantPair asks for the chooser of pairs with the next frame.
	wantPair bool
}

// pairKind is how something was matched: by a rule, or it is on one side only.
type pairKind struct {
	rule   compare.Rule
	status compare.Status // Changed, New or Gone
}

func kindOf(r *compare.Row) pairKind {
	if r.Status == compare.New || r.Status == compare.Gone {
		return pairKind{status: r.Status}
	}
	return pairKind{r.Rule, compare.Changed}
}

func (k pairKind) words() string {
	switch k.status {
	case compare.New:
		return "only in B: new"
	case compare.Gone:
		return "only in A: gone"
	}
	if k.rule == compare.Unmatched {
		return "made by transforms"
	}
	return ruleWords[k.rule]
}

func (t *pairingPart) refresh(a *session.CompareAnswer) {
	if t.of != a.Functions {
		t.kinds = t.kinds[:0]
		for _, m := range a.Functions.Matched() {
			t.kinds = append(t.kinds, pairKind{m.Rule, m.Status})
		}
		was := t.ofKind
		t.kind = 0
		for i, k := range t.kinds {
			// What was guessed or not matched at all is what one wants to see first.
			if k == was || was == (pairKind{}) && (k.status != compare.Changed || k.rule == compare.RuleSimilar) {
				t.kind = i
				break
			}
		}
	}
	kind := pairKind{}
	if t.kind < len(t.kinds) {
		kind = t.kinds[t.kind]
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

func (t *pairingPart) layout(s *Shell, c *comparison, u *ui.UI, r image.Rectangle) {
	a := c.answer()
	t.refresh(a)
	if t.wantPair {
		t.wantPair = false
		c.pairByHand(s)
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

// ruleSwitches let rules be left out; it returns where they end.
func (t *pairingPart) ruleSwitches(c *comparison, u *ui.UI, r image.Rectangle) int {
	th := u.Theme
	line := u.Px(22)
	y := r.Min.Y
	u.Text(image.Rect(r.Min.X, y, r.Max.X, y+line), "Match functions (each rule sees what those before left)", ui.Style{Size: 12, Weight: ui.Medium, Color: th.Dim})
	y += line
	m := &c.options.Match
	for i, rule := range []struct {
		word string
		off  *bool
	}{{"by name and module", &m.NoModule}, {"by name alone", &m.NoName}, {"by name without arguments, hashes, numbers", &m.NoSimilar}, {"threads that are left: by their order", &m.NoOrder}} {
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

// counts says how many were matched by what, and what they weigh.
func (t *pairingPart) counts(u *ui.UI, a *session.CompareAnswer, r image.Rectangle) int {
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
	cols("Matched", "functions", "of A", "of B", th.Dim)
	y += line
	for i, m := range a.Functions.Matched() {
		if i == len(t.picks) {
			break
		}
		box := image.Rect(r.Min.X-u.Px(4), y, r.Max.X, y+line)
		clicked, hovered := t.picks[i].Clicked(u, box)
		if clicked {
			t.kind, t.scroll = i, 0
			t.refresh(a)
		}
		switch {
		case i == t.kind:
			u.Round(box, 4, theme.WithAlpha(th.Accent, .16))
		case hovered:
			u.Round(box, 4, theme.WithAlpha(th.Text, .06))
		}
		cols(pairKind{m.Rule, m.Status}.words(), units.Count(int64(m.Count)), units.Percent(m.A, a.A.Total), units.Percent(m.B, a.B.Total), th.Text)
		y += line
	}
	return y
}

// words say which metrics were matched, and what the confidences are made from.
func (t *pairingPart) words(c *comparison, u *ui.UI, a *session.CompareAnswer, r image.Rectangle) {
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

// howCompared are the sentences about metric, normalisation and confidence.
func howCompared(c *comparison, a *session.CompareAnswer) []string {
	m := a.Compared.Metric
	ea, eb := &a.Recs[0].Events[m.Event[0]], &a.Recs[1].Events[m.Event[1]]
	what := "Compared: " + metricTitle(ea, m.Metric[0])
	if other := metricTitle(eb, m.Metric[1]); other != metricTitle(ea, m.Metric[0]) {
		what += " of A with " + other + " of B, matched by " + m.Rule
	}
	out := []string{what + "; " + normalizeWords[a.Normalize] + "."}
	switch a.Method {
	case compare.FromCounts:
		out = append(out, "How sure a difference is comes from the numbers of samples behind it, taken as counts of independent hits. That knows nothing of how much runs vary: several recordings a side (ashlar diff --a … --b …) do.")
	case compare.FromDurations:
		out = append(out, "How sure a difference is comes from the durations of single calls (a rank test) and their number. That knows nothing of how much runs vary: several recordings a side (ashlar diff --a … --b …) do.")
	case compare.NoMethod:
		out = append(out, "Nothing tells how many samples are behind the weights of both sides, so nothing says what is noise.")
		return out
	}
	out = append(out, "Grey is what is less than 95 % sure: of all differences that are not grey, at most one in twenty is expected to be a false alarm.")
	if w := a.Functions.Whole; w != nil && !math.IsNaN(w.Detectable) {
		v := int64(math.Round(w.Detectable))
		out = append(out, "The smallest change of the total that these recordings could show: "+units.Value(m.Readable(v))+", "+units.Percent(v, a.A.Total)+".")
	}
	return out
}

// list shows the pairs of the chosen kind.
func (t *pairingPart) list(s *Shell, c *comparison, u *ui.UI, a *session.CompareAnswer, r image.Rectangle) {
	th := u.Theme
	h := u.Px(widget.RowHeight)
	body := image.Rect(r.Min.X+1, r.Min.Y+h+u.Px(2), r.Max.X, r.Max.Y)
	t.events(s, c, u, a, body)
	t.scroll = max(0, min(t.scroll, len(t.rows)*h-body.Dy()+h))
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
		for i := t.scroll / h; i < len(t.rows) && i*h-t.scroll < body.Dy(); i++ {
			row := &t.rows[i]
			y := i*h - t.scroll
			line := ui.Rect(0, y, body.Dx(), h)
			if row.Key >= 0 && c.chosen != nil && a.Compared.Tree.Funcs[row.Key].FuncName == *c.chosen {
				u.Fill(line, theme.WithAlpha(th.Accent, .16))
			} else if t.Inside && int(t.At.Y) >= y && int(t.At.Y) < y+h {
				u.Fill(line, theme.WithAlpha(th.Text, .05))
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
		}
	})
	t.Area(u, body, pointer.CursorDefault)
}

// namesOfRow are what a row's function is called in A and in B, with modules
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

func (t *pairingPart) events(s *Shell, c *comparison, u *ui.UI, a *session.CompareAnswer, body image.Rectangle) {
	h := u.Px(widget.RowHeight)
	for {
		g, e, ok := t.Next(u, body.Min)
		if !ok {
			break
		}
		i := (int(t.At.Y) + t.scroll) / h
		switch g {
		case widget.Wheeled:
			_, y := widget.Notches(e)
			t.scroll += int(y * float32(u.Px(widget.RowsPerNotch)))
		case widget.Dragged:
			t.scroll += int(t.Start.Y - t.At.Y)
			t.Start = t.At
		case widget.Clicked, widget.DoubleClicked:
			if i >= 0 && i < len(t.rows) {
				c.choose(a, t.rows[i].Key)
				if g == widget.DoubleClicked && t.rows[i].Key >= 0 {
					c.pairByHand(s)
				}
			}
		case widget.MenuAsked:
			if i >= 0 && i < len(t.rows) {
				c.choose(a, t.rows[i].Key)
				name := t.rows[i].Name
				s.Menu = widget.NewMenu(widget.Point(body.Min, t.At), append([]widget.Item{{Title: "Copy name", Do: func() { s.CopyLater(name) }}}, c.pairItems(s)...))
			}
		}
	}
}

// pairItems are what can be done about how the chosen function was matched.
func (c *comparison) pairItems(s *Shell) []widget.Item {
	items := []widget.Item{{Title: "Pair it by hand…", Do: func() { c.pairByHand(s) }}}
	if c.chosen == nil {
		return items
	}
	for i, p := range c.options.Match.Hand {
		if p.A == c.chosen.String() || p.B == c.chosen.String() {
			items = append(items, widget.Item{Title: "Take the pair apart", Do: func() {
				c.options.Match.Hand = append(append([]compare.Pair(nil), c.options.Match.Hand[:i]...), c.options.Match.Hand[i+1:]...)
				if s.Paired != nil {
					s.Paired.SetPair(p, false)
				}
			}})
		}
	}
	return items
}

// pairByHand asks for what the chosen function is called on the other side: what
// is only there comes first.
func (c *comparison) pairByHand(s *Shell) {
	a := c.answer()
	key := c.chosenKey(a)
	if key < 0 || int(key) >= len(a.Compared.Matching.Funcs) {
		s.Say("Select a function first: click a bar or a row")
		return
	}
	f := &a.Compared.Matching.Funcs[key]
	here := 0
	if f.In[0] < 0 {
		here = 1
	}
	own := *c.chosen
	there := 1 - here
	s.OpenChooser(widget.NewChooser("What "+f.Name+" is called in "+sideName(there), "", func(text string) []widget.Line {
		var ls []widget.Line
		for _, alone := range []bool{true, false} {
			for i := range a.Functions.Rows {
				row := &a.Functions.Rows[i]
				if row.Key < 0 || int(row.Key) >= len(a.Compared.Matching.Funcs) {
					continue
				}
				g := &a.Compared.Matching.Funcs[row.Key]
				if g.In[there] < 0 || (g.In[here] < 0) != alone || !widget.HasWords(row.Name+" "+row.NameB, text) || len(ls) > 300 {
					continue
				}
				fn := a.Recs[there].Functions.At(int(g.In[there]))
				other := fn.FuncName()
				_, v := row.ASelf, row.BSelf
				if there == 0 {
					v = row.ASelf
				}
				ls = append(ls, widget.Line{Title: fn.Name, Detail: units.Value(a.Compared.Metric.Readable(v)), Dim: !alone, Take: func() {
					s.Chooser = nil
					c.pairUp(s, own, other, here)
				}})
			}
		}
		return ls
	}))
}

// pairUp says that two functions are one; pairs that either was in are taken
// apart.
func (c *comparison) pairUp(s *Shell, own, other recording.FuncName, here int) {
	p := compare.Pair{A: own.String(), B: other.String()}
	if here == 1 {
		p.A, p.B = p.B, p.A
	}
	hand := []compare.Pair{p}
	for _, q := range c.options.Match.Hand {
		if q.A != p.A && q.B != p.B {
			hand = append(hand, q)
		}
	}
	c.options.Match.Hand = hand
	if s.Paired != nil {
		s.Paired.SetPair(p, true)
	}
}

// keptPairs pairs functions as a person has done before, once it is known that
// both recordings have them.
func (c *comparison) keptPairs(s *Shell) {
	a, b := c.panes[0].Rec, c.panes[1].Rec
	if c.paired || s.Paired == nil || !a.Done || !b.Done {
		return
	}
	c.paired = true
	for _, p := range s.Paired.Pairs() {
		if compare.HasFunction(a, p.B) && compare.HasFunction(b, p.A) {
			p.A, p.B = p.B, p.A
		} else if !compare.HasFunction(a, p.A) || !compare.HasFunction(b, p.B) {
			continue
		}
		c.options.Match.Hand = append(c.options.Match.Hand, p)
	}
}
