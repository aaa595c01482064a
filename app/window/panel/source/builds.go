package source

import (
	"cmp"
	"context"
	"fmt"
	"image"
	"math"
	"slices"
	"strings"

	"gioui.org/io/pointer"

	"ashlar/app/core/assembly"
	"ashlar/app/core/session"
	"ashlar/app/window/comparison"
	"ashlar/app/window/panel"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/compare"
	"ashlar/render/theme"
	"ashlar/render/ui"
	"ashlar/render/units"
	"ashlar/render/widget"
)

// Builds shows the instructions of the chosen function in both builds of a comparison, aligned.
type Builds struct {
	widget.List
	bar  widget.ScrollBar
	form widget.Segments
	made session.Async[[2]asmKey, *builds]
	of   [2]asmKey
	at   int // the clicked row, -1 for none
}

// Stop cancels the background work.
func (t *Builds) Stop() { t.made.Stop() }

// builds is an alignment, or the reason why there is none.
type builds struct {
	*assembly.Alignment
	err     error
	said    [2]string // the change of the hot loop, "" for none; the second if the function's is noise
	loop    [2]int    // rows of the hot loop; equal if there is none
	most    int64     // the largest change of a row
	first   int       // the row to begin at
	metrics [2]*recording.Metric
	skid    string
}

// NoBuilds reports whether a side of a comparison has no addresses of instructions.
func NoBuilds(c *comparison.Comparison) bool {
	return !HasAddresses(c.Sides[0].Rec) || !HasAddresses(c.Sides[1].Rec)
}

// HasAddresses reports whether a recording may have the addresses of instructions.
func HasAddresses(rec *recording.Recording) bool {
	const most = 1000 // this runs in each frame
	for i := range min(rec.Frames.Len(), most) {
		if rec.Frames.Ref(i).Addr != 0 {
			return true
		}
	}
	return false
}

// ask returns the alignment of the chosen function, nil while it is being made.
func (t *Builds) ask(s *panel.Host, c *comparison.Comparison, a *session.CompareAnswer, key int32) *builds {
	var keys [2]asmKey
	var paths [2]string
	for i, p := range c.Sides {
		fn, ok := comparison.In(a, i, key)
		if !ok {
			return &builds{err: fmt.Errorf("%s does not have %s", comparison.SideName(i), c.Chosen.Name)}
		}
		keys[i] = keyOf(p, a.Compared.Runs[a.Compared.Lead(i)].Weights, fn, syntaxOf(c.Sides[0].Syntax))
		paths[i] = p.Path
	}
	recs, metric := a.Recs, a.Compared.Metric
	b, of, ok := t.made.Ask(keys, s.Do.Wake, func(ctx context.Context) (*builds, error) {
		b := &builds{loop: [2]int{-1, -1}}
		var of [2]*assembly.Listing
		for i, rec := range recs {
			k := keys[i]
			lead := i * a.Compared.Sides
			event := &rec.Events[metric.Event[lead]]
			b.metrics[i] = &event.Metrics[metric.Metric[lead]]
			b.skid = cmp.Or(b.skid, assembly.Skid(rec, event.Name))
			var err error
			if of[i], err = assembly.Of(ctx, rec, k.weights, k.fn, k.options(paths[i], true)); ctx.Err() != nil {
				return nil, ctx.Err()
			} else if err != nil {
				b.err = fmt.Errorf("%s: %w", comparison.SideName(i), err)
				return b, nil
			}
		}
		if x, y := b.metrics[0], b.metrics[1]; x.Unit != y.Unit || x.Decimals != y.Decimals {
			b.err = fmt.Errorf("metrics differ: A is in %s, B in %s; choose another metric", x.Unit, y.Unit)
			return b, nil
		}
		b.align(of[0], of[1])
		return b, nil
	})
	if !ok || of != keys {
		return nil
	}
	if t.of != keys {
		t.at = -1
	}
	return b
}

// align aligns both listings and finds what is shown first: the hot loop, otherwise the largest
// change.
func (b *builds) align(x, y *assembly.Listing) {
	b.Alignment = assembly.Align(x, y)
	b.said = [2]string{b.Sentence(false), b.Sentence(true)}
	for i := range b.Rows {
		if d := b.change(i); max(d, -d) > b.most {
			b.most, b.first = max(d, -d), i
		}
	}
	if l := b.HotLoop(); l != nil && b.Doubt == "" {
		for i, r := range b.Rows {
			if r.B == l.First {
				b.loop[0], b.first = i, i
			}
			if r.B == l.Last {
				b.loop[1] = i
			}
		}
	}
}

// self returns the self costs of a row.
func (b *builds) self(row int) (self [2]int64) {
	if r := b.Rows[row]; r.A >= 0 {
		self[0] = b.A.Insts[r.A].Self
	}
	if r := b.Rows[row]; r.B >= 0 {
		self[1] = b.B.Insts[r.B].Self
	}
	return self
}

func (b *builds) change(row int) int64 {
	self := b.self(row)
	return self[1] - self[0]
}

// Sizes of the view, in dp.
const (
	buildsCost   = 80
	buildsOffset = 64
	buildsHead   = 72 // with a sentence of one line
	buildsLine   = 18 // a second line of the sentence
	buildsBar    = 12
)

// Layout draws the aligned instructions.
func (t *Builds) Layout(s *panel.Host, c *comparison.Comparison, u *ui.UI, r image.Rectangle) {
	a := c.Answer()
	key := c.ChosenKey(a)
	if key < 0 {
		widget.Empty(u, r, "No function selected", "Select one to compare its instructions in A and B")
		return
	}
	b := t.ask(s, c, a, key)
	switch {
	case b == nil:
		return
	case b.err != nil:
		widget.Empty(u, r, "No instructions", upper(b.err.Error()))
		return
	}
	h := u.Px(sourceLine)
	said := t.sentence(a, key, b)
	head := u.Px(buildsHead)
	if width := r.Dx() - t.form.Width(u, syntaxes) - u.Px(16+12+16); u.Measure(said, buildsSentence).X > width {
		head += u.Px(buildsLine)
	}
	body := image.Rect(r.Min.X, r.Min.Y+head, r.Max.X-u.Px(buildsBar), r.Max.Y)
	if _, of, ok := t.made.Last(); ok && t.of != of {
		t.of, t.Down = of, max(0, (b.first-body.Dy()/h/4)*h)
	}
	t.events(s, u, b, body)
	t.head(c, u, a, said, b, image.Rect(r.Min.X, r.Min.Y, r.Max.X, body.Min.Y))
	u.At(body, func(u *ui.UI) {
		t.Rows(body, h, len(b.Rows), func(i int, at image.Rectangle) { t.row(u, b, i, at) })
	})
	t.Area(u, body, pointer.CursorDefault)
	t.bar.Layout(u, image.Rect(body.Max.X, body.Min.Y, r.Max.X, body.Max.Y), len(b.Rows)*h+h, &t.Down, u.Theme.Rule, u.Theme.Faint)
}

func (t *Builds) events(s *panel.Host, u *ui.UI, b *builds, body image.Rectangle) {
	t.Events(u, body, u.Px(sourceLine), len(b.Rows), func(g widget.Gesture, i int) {
		if i < 0 || g != widget.Clicked && g != widget.MenuAsked {
			return
		}
		if t.at = i; g == widget.MenuAsked {
			x, y := b.texts(i)
			s.Menu = widget.NewMenu(widget.Point(body.Min, t.Drag.At), []widget.Item{{Title: "Copy line", Do: func() { s.CopyLater(x + "\n" + y) }}})
		}
	})
}

// texts returns the instructions of a row, "" for a build without it.
func (b *builds) texts(row int) (x, y string) {
	if r := b.Rows[row]; r.A >= 0 {
		x = b.A.Insts[r.A].Text
	}
	if r := b.Rows[row]; r.B >= 0 {
		y = b.B.Insts[r.B].Text
	}
	return x, y
}

// buildsSentence is the style of the sentence that says what changed.
var buildsSentence = ui.Style{Size: 13, Weight: ui.Medium, Lines: 2}

// sentence says what changed.
func (t *Builds) sentence(a *session.CompareAnswer, key int32, b *builds) string {
	said := b.said[0]
	if i := slices.IndexFunc(a.Functions.Rows, func(r compare.Row) bool { return r.Key == key }); i >= 0 && comparison.IsNoise(a.Functions.Rows[i].Self) {
		said = b.said[1]
	}
	switch {
	case b.Doubt != "":
		return b.Doubt
	case said == "":
		return fmt.Sprintf("%s in both builds, %d only in A, %d only in B", units.Plural(int64(b.Matched), "instruction"), len(b.A.Insts)-b.Matched, len(b.B.Insts)-b.Matched)
	}
	return said
}

// head draws what changed, the binaries and the names of the columns.
func (t *Builds) head(c *comparison.Comparison, u *ui.UI, a *session.CompareAnswer, said string, b *builds, r image.Rectangle) {
	th := u.Theme
	left, chosen := chooseSyntax(&t.form, u, r.Max.X-u.Px(16), r.Min.Y+u.Px(4), c.Sides[0].Syntax)
	for _, p := range c.Sides {
		p.Syntax = chosen
	}
	height := r.Dy() - u.Px(buildsHead) + u.Px(22)
	line := image.Rect(r.Min.X+u.Px(16), r.Min.Y+u.Px(4), left-u.Px(12), r.Min.Y+u.Px(4)+height)
	st := buildsSentence
	if st.Color = th.Text; b.Doubt != "" {
		st.Color = th.Warn
	}
	if height < u.Px(22+buildsLine) {
		st.Lines = 1
	}
	u.Text(line, said, st)
	line.Min.Y, line.Max.Y, line.Max.X = line.Max.Y, line.Max.Y+u.Px(20), r.Max.X-u.Px(16)
	said = b.skid
	if len(a.Compared.Runs) > 2 {
		said = strings.TrimSpace("First run of each side. " + said)
	}
	u.Text(line, said, ui.Style{Size: 12, Color: th.Warn})
	y0, y1 := line.Max.Y, r.Max.Y-u.Px(4)
	heads := ui.Style{Size: 11.5, Weight: ui.Medium, Color: th.Dim, Align: ui.End}
	x := r.Min.X
	for _, name := range []string{"Self A", "Self B", "Change"} {
		u.Text(image.Rect(x, y0, x+u.Px(buildsCost), y1), name, heads)
		x += u.Px(buildsCost)
	}
	heads.Align = ui.Start
	half := (r.Max.X - u.Px(buildsBar) - x) / 2
	for i, l := range []*assembly.Listing{b.A, b.B} {
		check := l.Doubt
		if l.Verified {
			check = l.IDKind + " verified"
		}
		u.Text(image.Rect(x+i*half+u.Px(16), y0, x+(i+1)*half-u.Px(4), y1), comparison.SideName(i)+": "+panel.ShortFolder(l.Binary)+" · "+check, heads)
	}
	u.HLine(r.Min.X, r.Max.X, r.Max.Y-u.Px(3), th.Rule)
}

// row draws a row: A's instruction at the left, B's at the right.
func (t *Builds) row(u *ui.UI, b *builds, i int, r image.Rectangle) {
	th := u.Theme
	self, d := b.self(i), b.change(i)
	if d != 0 && b.most > 0 {
		weakest, strongest := .04, .42
		if th.Dark { // light colours over dark ones look stronger
			weakest, strongest = .01, .16
		}
		of := th.More()
		if d < 0 {
			of = th.Less()
		}
		u.Fill(r, theme.WithAlpha(of, weakest+(strongest-weakest)*math.Sqrt(float64(max(d, -d))/float64(b.most))))
	}
	if i == t.at {
		u.Fill(r, theme.WithAlpha(th.Accent, .12))
	}
	if i >= b.loop[0] && i <= b.loop[1] {
		u.Fill(image.Rect(r.Min.X, r.Min.Y, r.Min.X+u.Px(3), r.Max.Y), th.Accent)
	}
	num := ui.Style{Size: 12, Color: th.Text, Align: ui.End}
	x := r.Min.X
	change := ""
	if d != 0 {
		change = map[bool]string{true: "+", false: "−"}[d > 0] + units.Value(max(d, -d), b.metrics[1])
	}
	for k, text := range []string{value(self[0], b.metrics[0]), value(self[1], b.metrics[1]), change} {
		if num.Weight = 0; k == 2 {
			num.Weight = ui.Medium
		}
		u.Text(image.Rect(x, r.Min.Y, x+u.Px(buildsCost), r.Max.Y), text, num)
		x += u.Px(buildsCost)
	}
	code := ui.Style{Size: 12, Color: th.Dim, Mono: true}
	if num.Weight = 0; d == 0 {
		num.Color = th.Dim
	}
	half := (r.Max.X - x) / 2
	row := b.Rows[i]
	for k, l := range []*assembly.Listing{b.A, b.B} {
		at, other := row.A, row.B
		if k == 1 {
			at, other = other, at
		}
		side := image.Rect(x+k*half, r.Min.Y, x+(k+1)*half, r.Max.Y)
		u.VLine(side.Min.X+u.Px(8), r.Min.Y, r.Max.Y, th.Rule)
		if at < 0 {
			continue
		}
		u.Text(image.Rect(side.Min.X, r.Min.Y, side.Min.X+u.Px(buildsOffset), r.Max.Y), fmt.Sprintf("+%#x", l.Offset(at)), num)
		if code.Color = th.Text; other >= 0 && self == [2]int64{} {
			code.Color = th.Dim
		}
		text := l.Insts[at].Text
		if other < 0 {
			text = map[bool]string{true: "+ ", false: "- "}[k == 1] + text
		} else {
			text = "  " + text
		}
		u.Text(image.Rect(side.Min.X+u.Px(buildsOffset+10), r.Min.Y, side.Max.X-u.Px(4), r.Max.Y), text, code)
	}
}

// value formats a cost, "" for none.
func value(v int64, m *recording.Metric) string {
	if v == 0 {
		return ""
	}
	return units.Value(v, m)
}

// Scroll returns the scroll position.
func (t *Builds) Scroll(*comparison.Comparison) *int { return &t.Down }
