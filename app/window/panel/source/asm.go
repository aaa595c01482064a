package source

import (
	"context"
	"fmt"
	"image"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gioui.org/io/pointer"

	"ashlar/app/core/assembly"
	"ashlar/app/core/session"
	"ashlar/app/core/tables"
	"ashlar/app/window/panel"
	"ashlar/ingest/format/program/disasm"
	"ashlar/ingest/model/order"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/render/theme"
	"ashlar/render/ui"
	"ashlar/render/units"
	"ashlar/render/widget"
)

// Assembly shows the instructions of a function.
type Assembly struct {
	widget.List
	bar widget.ScrollBar
	// quick makes listings without source lines, whole adds the lines: they take longer.
	quick, whole session.Async[asmKey, *listing]
	rows         []asmRow
	arrows       []arrow
	lanes        int
	made         *listing
	at           int // the clicked instruction, -1 for none
	of           asmKey
}

// Stop cancels the background work.
func (t *Assembly) Stop() {
	t.quick.Stop()
	t.whole.Stop()
}

// asmKey identifies a listing: the weights of the instructions, the function, and where
// binaries are.
type asmKey struct {
	weights     *analyze.Weights
	fn          recording.FuncID
	exe, beside string
	syntax      disasm.Syntax
}

// keyOf returns the key of the listing of a side's function.
func keyOf(p *panel.Side, w *analyze.Weights, fn recording.FuncID, syntax disasm.Syntax) asmKey {
	return asmKey{w, fn, p.Exe, p.Folder(), syntax}
}

// options returns how to make the listing from the recording at path.
func (k *asmKey) options(path string, withoutLines bool) assembly.Options {
	o := assembly.Options{Syntax: k.syntax, Beside: k.beside, Exe: k.exe, WithoutLines: withoutLines}
	if st, err := os.Stat(path); err == nil {
		o.Recorded = st.ModTime()
	}
	return o
}

// syntaxes are the titles of disasm.Syntaxes.
var syntaxes = []string{"GNU", "Go", "Intel"}

// chooseSyntax draws the switch of syntaxes to the left of right, and returns its left end and the
// chosen syntax in the form of [view.Display].
func chooseSyntax(g *widget.Segments, u *ui.UI, right, y int, now string) (left int, chosen string) {
	names := disasm.Syntaxes()
	left = right - g.Width(u, syntaxes)
	switch i := g.Layout(u, left, y, syntaxes, max(0, slices.Index(names, now))); i {
	case -1:
		return left, now
	case 0:
		return left, ""
	default:
		return left, names[i]
	}
}

// syntaxOf returns the syntax of a view.
func syntaxOf(name string) disasm.Syntax {
	s, _ := disasm.ParseSyntax(name) // checked where it was set
	return s
}

// listing is a listing, or the reason why there is none.
type listing struct {
	*assembly.Listing
	err   error
	event string
}

// asmRow is a visible line: an instruction, or a text above the instructions that follow.
type asmRow struct {
	inst int // -1 for a text
	part bool
	text string
	line int32
	file string
}

// arrow leads from a jump to its target, both rows, in a lane of the gutter.
type arrow struct{ from, to, lane int }

// Sizes of the view, in dp.
const (
	asmBar     = 46
	asmOffset  = 66
	asmAddress = 84
	asmLane    = 7
	mostLanes  = 6
)

// ask returns the listing of the selected function, nil while it is being made.
func (t *Assembly) ask(s *panel.Host, p *panel.Side, a *session.Answer) *listing {
	k := keyOf(p, a.Tree.Weights, p.Pick.Fn, syntaxOf(p.Syntax))
	rec, event, path := a.Rec, "", p.Path
	if a.Event < len(rec.Events) {
		event = rec.Events[a.Event].Name
	}
	make := func(without bool) func(context.Context) (*listing, error) {
		return func(ctx context.Context) (*listing, error) {
			l, err := assembly.Of(ctx, rec, k.weights, k.fn, k.options(path, without))
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			return &listing{l, err, event}, nil
		}
	}
	if l, of, ok := t.whole.Ask(k, s.Do.Wake, make(false)); ok && of == k {
		return l
	}
	if l, of, ok := t.quick.Ask(k, s.Do.Wake, make(true)); ok && of == k {
		return l
	}
	return nil
}

// layout draws the instructions in r. line is the marked line of file, and mark is called
// with the line of a clicked instruction.
func (t *Assembly) layout(s *panel.Host, p *panel.Side, u *ui.UI, a *session.Answer, r image.Rectangle, file string, text *sourceText, line int32, mark func(int32)) {
	l := t.ask(s, p, a)
	switch {
	case l == nil:
		return
	case l.err != nil:
		widget.Empty(u, r, "No instructions", upper(l.err.Error()))
		return
	}
	t.arrange(l, file, text)
	h := u.Px(sourceLine)
	body := image.Rect(r.Min.X, r.Min.Y+u.Px(52), r.Max.X-u.Px(12), r.Max.Y)
	if k := keyOf(p, a.Tree.Weights, p.Pick.Fn, ""); t.of != k { // another syntax keeps the place
		t.of, t.at = k, -1
		t.show(l.Ranked()[0], body.Dy()/h, h)
	}
	t.events(s, p, u, body, file, mark)
	t.head(u, a, l, image.Rect(r.Min.X, r.Min.Y, r.Max.X, body.Min.Y))
	u.At(body, func(u *ui.UI) {
		x := u.Px(sourceNumber + asmBar + asmOffset + asmAddress)
		if body.Dx() < u.Px(560) {
			x -= u.Px(asmAddress)
		}
		text := x + u.Px(float32(t.lanes*asmLane)) + u.Px(20)
		t.Rows(body, h, len(t.rows), func(i int, at image.Rectangle) { t.row(u, a, l, i, at, file, line, text) })
		t.drawArrows(u, body, x+u.Px(10), h)
	})
	t.Area(u, body, pointer.CursorDefault)
	t.bar.Layout(u, image.Rect(body.Max.X, body.Min.Y, r.Max.X, body.Max.Y), len(t.rows)*h+h, &t.Down, u.Theme.Rule, u.Theme.Faint)
}

func upper(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// show scrolls to an instruction; seen is the number of visible rows.
func (t *Assembly) show(inst, seen, h int) {
	for i := range t.rows {
		if t.rows[i].inst == inst {
			t.Down = max(0, (i-seen/3)*h)
		}
	}
}

// showLine scrolls to the heaviest instruction of a source line and selects it.
func (t *Assembly) showLine(file string, line int32, seen, h int) {
	if t.made == nil {
		return
	}
	best := -1
	for i := range t.made.Insts {
		in := &t.made.Insts[i]
		if in.Line == int(line) && in.File == file && (best < 0 || in.Self > t.made.Insts[best].Self) {
			best = i
		}
	}
	if t.at = best; best >= 0 {
		t.show(best, seen, h)
	}
}

// arrange makes the rows: the instructions, and between them the source lines.
func (t *Assembly) arrange(l *listing, file string, text *sourceText) {
	if t.made == l {
		return
	}
	t.made, t.rows = l, t.rows[:0]
	at := map[uint64]int{} // rows of instructions
	shown, line := "", 0
	for i := range l.Insts {
		in := &l.Insts[i]
		p := &l.Parts[in.Part]
		if i == p.First {
			t.rows = append(t.rows, asmRow{inst: -1, part: true, text: p.Title()})
			shown, line = "", 0
		}
		if in.Line > 0 && (in.File != shown || in.Line != line) {
			shown, line = in.File, in.Line
			row := asmRow{inst: -1, text: fmt.Sprintf("%s:%d", filepath.Base(shown), line), file: shown, line: int32(line)}
			if text != nil && shown == file && line <= len(text.lines) {
				row.text += "  " + strings.TrimSpace(text.lines[line-1])
			}
			t.rows = append(t.rows, row)
		}
		at[in.Addr] = len(t.rows)
		t.rows = append(t.rows, asmRow{inst: i, text: in.Text, file: in.File, line: int32(in.Line)})
	}
	t.arrows = t.arrows[:0]
	for i := range l.Insts {
		in := &l.Insts[i]
		if to, ok := at[in.Target]; ok && in.Jumps() {
			t.arrows = append(t.arrows, arrow{from: at[in.Addr], to: to})
		}
	}
	t.lanes = lanesOf(t.arrows)
}

// lanesOf gives each arrow a lane in which it overlaps no other, the shortest arrows
// nearest to the instructions, and returns the number of lanes. Arrows without room get
// the last lane.
func lanesOf(arrows []arrow) (lanes int) {
	order.By(arrows, func(a, b arrow) int { return a.length() - b.length() })
	var ends [mostLanes][]arrow
	for i := range arrows {
		a := &arrows[i]
		for a.lane = 0; a.lane < mostLanes-1; a.lane++ {
			if !slices.ContainsFunc(ends[a.lane], func(b arrow) bool { return a.low() <= b.high() && b.low() <= a.high() }) {
				break
			}
		}
		if len(ends[a.lane]) < 1000 { // a function of thousands of jumps needs no exact lanes
			ends[a.lane] = append(ends[a.lane], *a)
		}
		lanes = max(lanes, a.lane+1)
	}
	return lanes
}

func (a *arrow) low() int    { return min(a.from, a.to) }
func (a *arrow) high() int   { return max(a.from, a.to) }
func (a *arrow) length() int { return a.high() - a.low() }

// drawArrows draws the visible arrows to the left of the instructions, whose gutter begins
// at x.
func (t *Assembly) drawArrows(u *ui.UI, body image.Rectangle, x, h int) {
	first, last := t.Down/h, (t.Down+body.Dy())/h+1
	w := max(1, u.Px(1))
	right := x + u.Px(float32(t.lanes*asmLane))
	for _, a := range t.arrows {
		if a.high() < first || a.low() > last {
			continue
		}
		c := u.Theme.Faint
		if t.at >= 0 && (t.rows[a.from].inst == t.at || t.rows[a.to].inst == t.at) {
			c = u.Theme.Accent
		}
		y := func(row int) int { return row*h - t.Down + h/2 }
		lane := right - (a.lane+1)*u.Px(asmLane)
		top, bottom := max(y(a.low()), -h), min(y(a.high()), body.Dy()+h)
		u.Fill(image.Rect(lane, top, lane+w, bottom+w), c)
		u.Fill(image.Rect(lane, y(a.from), right, y(a.from)+w), c)
		u.Fill(image.Rect(lane, y(a.to), right, y(a.to)+w), c)
		for k := range u.Px(4) { // the arrowhead
			u.Fill(image.Rect(right-k, y(a.to)-k, right-k+1, y(a.to)+k+w), c)
		}
	}
}

func (t *Assembly) events(s *panel.Host, p *panel.Side, u *ui.UI, body image.Rectangle, file string, mark func(int32)) {
	t.Events(u, body, u.Px(sourceLine), len(t.rows), func(g widget.Gesture, i int) {
		if i < 0 || g != widget.Clicked && g != widget.MenuAsked {
			return
		}
		row := t.rows[i]
		t.at = row.inst
		if row.line > 0 && row.file == file {
			mark(row.line)
		}
		if g == widget.MenuAsked {
			items := []widget.Item{{Title: "Copy line", Do: func() { s.CopyLater(row.text) }}}
			if row.inst >= 0 {
				in := t.made.Insts[row.inst]
				items = append(items, widget.Item{Title: "Copy address", Do: func() { s.CopyLater(fmt.Sprintf("%#x", in.Addr)) }})
			}
			items = append(items, widget.Item{Title: "Copy all instructions", Do: func() { s.CopyLater(t.text()) }})
			s.Menu = widget.NewMenu(widget.Point(body.Min, t.Drag.At), items)
		}
	})
}

// text returns all rows as text.
func (t *Assembly) text() string {
	var b strings.Builder
	for _, r := range t.rows {
		if r.inst < 0 {
			fmt.Fprintf(&b, "%s\n", r.text)
			continue
		}
		in := &t.made.Insts[r.inst]
		fmt.Fprintf(&b, "%12d  %#x  +%#x  %s\n", in.Self, in.Addr, t.made.Offset(r.inst), r.text)
	}
	return b.String()
}

// head draws the binary, the precision of the samples, and the columns' names.
func (t *Assembly) head(u *ui.UI, a *session.Answer, l *listing, r image.Rectangle) {
	th := u.Theme
	line := image.Rect(r.Min.X+u.Px(16), r.Min.Y+u.Px(4), r.Max.X-u.Px(16), r.Min.Y+u.Px(28))
	said := panel.ShortFolder(l.Binary) + " · " + l.Machine + " · " + l.IDKind + " verified"
	if !l.Verified {
		said = panel.ShortFolder(l.Binary) + " · " + l.Machine + " · " + l.Doubt
	}
	if first, last, self := l.HotLoop(); self > 0 && l.Self > 0 {
		said += fmt.Sprintf(" · hot loop +%#x to +%#x: %s of self", l.Offset(first), l.Offset(last), units.Percent(self, l.Self))
	}
	u.Text(line, said, ui.Style{Size: 12, Color: th.Dim})
	heads := ui.Style{Size: 11.5, Weight: ui.Medium, Color: th.Dim, Align: ui.End}
	y0, y1 := line.Max.Y, r.Max.Y-u.Px(4)
	n := u.Px(sourceNumber)
	u.Text(image.Rect(r.Min.X, y0, r.Min.X+n, y1), "Self", heads)
	x := r.Min.X + n + u.Px(asmBar)
	u.Text(image.Rect(x, y0, x+u.Px(asmOffset), y1), "Offset", heads)
	if r.Dx()-u.Px(12) >= u.Px(560) {
		x += u.Px(asmOffset)
		u.Text(image.Rect(x, y0, x+u.Px(asmAddress), y1), "Address", heads)
	}
	skid := image.Rect(x+u.Px(asmAddress+16), y0, line.Max.X, y1)
	u.Text(skid, assembly.Skid(a.Rec, l.event), ui.Style{Size: 11.5, Color: th.Warn, Align: ui.End})
	u.HLine(r.Min.X, r.Max.X, r.Max.Y-u.Px(3), th.Rule)
}

// row draws row i; text is the x of the instruction's text.
func (t *Assembly) row(u *ui.UI, a *session.Answer, l *listing, i int, r image.Rectangle, file string, line int32, text int) {
	th := u.Theme
	row := &t.rows[i]
	marked := line > 0 && row.line == line && row.file == file
	code := ui.Style{Size: 12, Color: th.Text, Mono: true}
	if row.inst < 0 {
		if row.part {
			u.Text(image.Rect(u.Px(16), r.Min.Y, r.Max.X, r.Max.Y), row.text, ui.Style{Size: 12.5, Weight: ui.Medium, Color: th.Text})
			return
		}
		if marked {
			u.Fill(image.Rect(r.Min.X, r.Min.Y, r.Min.X+u.Px(3), r.Max.Y), th.Accent)
		}
		code.Color = th.Dim
		u.Text(image.Rect(text, r.Min.Y, r.Max.X, r.Max.Y), row.text, code)
		return
	}
	in := &l.Insts[row.inst]
	m := a.Metric()
	if in.Self > 0 && l.Most > 0 {
		share := math.Sqrt(float64(in.Self) / float64(l.Most))
		strongest := .14 // as for source lines
		if !th.Dark {
			strongest = .34
		}
		u.Fill(r, theme.WithAlpha(th.Warn, .02+(strongest-.02)*share))
	}
	if marked {
		u.Fill(image.Rect(r.Min.X, r.Min.Y, r.Min.X+u.Px(3), r.Max.Y), th.Accent)
	}
	if row.inst == t.at {
		u.Fill(r, theme.WithAlpha(th.Accent, .12))
	}
	n := u.Px(sourceNumber)
	num := ui.Style{Size: 12, Color: th.Text, Align: ui.End}
	if in.Self != 0 {
		u.Text(image.Rect(r.Min.X, r.Min.Y, r.Min.X+n, r.Max.Y), units.Value(in.Self, m), num)
		if w := float64(u.Px(asmBar-12)) * float64(in.Self) / float64(max(1, l.Most)); w > 0 {
			x := r.Min.X + n + u.Px(8)
			u.Fill(image.Rect(x, r.Min.Y+u.Px(6), x+max(1, int(w)), r.Max.Y-u.Px(6)), th.Warn)
		}
	}
	num.Color = th.Dim
	x := r.Min.X + n + u.Px(asmBar)
	u.Text(image.Rect(x, r.Min.Y, x+u.Px(asmOffset), r.Max.Y), fmt.Sprintf("+%#x", l.Offset(row.inst)), num)
	if r.Dx() >= u.Px(560) {
		if in.Self == 0 { // faint text is illegible on the tint of a row with costs
			num.Color = th.Faint
		}
		x += u.Px(asmOffset)
		u.Text(image.Rect(x, r.Min.Y, x+u.Px(asmAddress), r.Max.Y), fmt.Sprintf("%x", in.Addr), num)
	}
	if len(in.Inlined) > 0 {
		u.VLine(text-u.Px(5), r.Min.Y, r.Max.Y, th.Rule)
	}
	if in.Self == 0 {
		code.Color = th.Dim
	}
	u.Text(image.Rect(text, r.Min.Y, r.Max.X, r.Max.Y), row.text, code)
}

// grid returns a table of the instructions, nil if there are none.
func (t *Assembly) grid(a *session.Answer) *tables.Grid {
	l := t.made
	if l == nil || l.err != nil {
		return nil
	}
	type inst = assembly.Inst
	place := func(in *inst) string {
		if in.Line == 0 {
			return ""
		}
		return fmt.Sprintf("%s:%d", in.File, in.Line)
	}
	cs := []tables.Column[inst]{
		tables.Named("address", func(in *inst) string { return fmt.Sprintf("%#x", in.Addr) }),
		tables.Named("offset", func(in *inst) string { return fmt.Sprintf("+%#x", in.Addr-l.Parts[in.Part].Low) }),
	}
	cs = append(cs, tables.Amounts(a.Metric(), func(in *inst) (self, total, count int64) { return in.Self, in.Total, in.Count })...)
	cs = append(cs, tables.Named("instruction", func(in *inst) string { return in.Text }), tables.Named("source", place))
	return tables.NewGrid("assembly", cs, l.Insts)
}
