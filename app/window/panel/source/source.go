// Package source implements the panel with the cost of each line of a source file, and of
// each instruction of a function.
package source

import (
	"context"
	"errors"
	"fmt"
	"image"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"gioui.org/io/pointer"
	gio "gioui.org/widget"

	"ashlar/app/core/bundle"
	"ashlar/app/core/session"
	"ashlar/app/core/sourcefile"
	"ashlar/app/core/tables"
	"ashlar/app/window/panel"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/render/theme"
	"ashlar/render/ui"
	"ashlar/render/units"
	"ashlar/render/widget"
)

// Panel shows the cost of each line of a source file, of each instruction, or both.
type Panel struct {
	Asm  Assembly
	kind widget.Segments
	form widget.Segments // of instructions
	widget.List
	bar widget.ScrollBar
	At  int32 // the clicked line, 0 for none
	// Of is the file and function that was last scrolled into view.
	Of   SourceSpot
	rows []sourceRow
	made sourceKey
	// Texts reads source files in the background.
	Texts session.Async[sourceName, *sourceText]
	show  gio.Clickable // permits a file
}

type SourceSpot struct {
	File string
	Fn   recording.FuncID
}

type sourceKey struct {
	cost *analyze.SourceCost
	text *sourceText
}

// sourceName identifies a file: its name in the recording, the recording's folder, and
// the number of roots, which may grow.
type sourceName struct {
	name, beside string
	roots        int
	recording    string // path of the recording, for source lines stored in a bundle
}

// sourceRow is a visible line: of the file, or a line with a cost if the file is missing.
type sourceRow struct {
	line int32
	text string
}

// sourceText is the text of a source file, if it was found.
type sourceText struct {
	path  string // "" if it was not found
	lines []string
	err   error
}

// text returns the text of a file named in the recording; nil while it is being read.
func (t *Panel) text(s *panel.Host, p *panel.Side, name string) *sourceText {
	k, roots := sourceName{name, p.Folder(), len(s.Roots), p.Path}, s.Roots
	text, of, _ := t.Texts.Ask(k, s.Do.Wake, func(context.Context) (*sourceText, error) {
		x := new(sourceText)
		if x.path, x.err = sourcefile.Find(k.name, roots, k.beside); x.path != "" {
			x.lines, x.err = sourcefile.Lines(x.path)
		} else if lines := bundle.Lines(k.recording, k.name); lines != nil {
			*x = sourceText{path: k.name, lines: lines}
		}
		return x, nil
	})
	if of != k {
		return nil
	}
	return text
}

// Sizes of the view, in dp.
const (
	sourceLine   = 19
	sourceNumber = 84 // width of a column of costs
)

// kinds are the words of the switch between source lines and instructions.
var kinds = []string{"Source", "Assembly", "Both"}

// leastBoth is the least width, in dp, in which source lines and instructions are shown
// beside each other.
const leastBoth = 760

func (t *Panel) Layout(s *panel.Host, p *panel.Side, u *ui.UI, r image.Rectangle) {
	if p.Pick.Kind == panel.PickNone {
		widget.Empty(u, r, "No function selected", "Select one to see the cost of each line")
		return
	}
	if !p.HasAddress() && !p.Assembly {
		t.source(s, p, u, r)
		return
	}
	top := r.Min.Y + u.Px(30)
	on := panel.Index(p.Assembly)
	if p.Assembly && p.Both {
		on = 2
	}
	if i := t.kind.Layout(u, r.Min.X+u.Px(16), r.Min.Y+u.Px(5), kinds, on); i >= 0 {
		p.Assembly, p.Both = i > 0, i == 2
	}
	if p.Assembly {
		_, p.Syntax = chooseSyntax(&t.form, u, r.Max.X-u.Px(16), r.Min.Y+u.Px(5), p.Syntax)
	}
	r.Min.Y = top
	switch file, _ := p.SourceFile(); {
	case !p.Assembly:
		t.source(s, p, u, r)
	case p.Both && file != "" && r.Dx() >= u.Px(leastBoth):
		middle := r.Min.X + r.Dx()*2/5
		t.source(s, p, u, image.Rect(r.Min.X, r.Min.Y, middle, r.Max.Y))
		u.VLine(middle, r.Min.Y, r.Max.Y, u.Theme.Rule)
		t.assembly(s, p, u, image.Rect(middle+1, r.Min.Y, r.Max.X, r.Max.Y))
	default:
		t.assembly(s, p, u, r)
	}
}

func (t *Panel) assembly(s *panel.Host, p *panel.Side, u *ui.UI, r image.Rectangle) {
	a := p.Doc.Answer()
	if a == nil || a.Rec != p.Rec || a.Tree == nil {
		return
	}
	file, _ := p.SourceFile()
	var text *sourceText
	if file != "" {
		if text = t.text(s, p, file); text == nil {
			return
		}
	}
	t.Asm.layout(s, p, u, a, r, file, text, t.At, func(line int32) {
		s.Wake() // the source lines are drawn already
		t.At = line
		for i := range t.rows {
			if t.rows[i].line == line {
				t.Into(i)
			}
		}
	})
}

// Stop cancels the background work.
func (t *Panel) Stop() {
	t.Texts.Stop()
	t.Asm.Stop()
}

func (t *Panel) source(s *panel.Host, p *panel.Side, u *ui.UI, r image.Rectangle) {
	a := p.Doc.Answer()
	file, line := p.SourceFile()
	switch {
	case file == "":
		hint := "This recording has no source file of the function"
		if HasAddresses(p.Rec) {
			hint += "; Assembly shows its instructions"
		}
		widget.Empty(u, r, "No source", hint)
		return
	case a == nil || a.Lines == nil || a.Lines.File != file:
		return
	}
	text := t.text(s, p, file)
	if text == nil {
		return
	}
	t.arrange(a, text)
	h := u.Px(sourceLine)
	body := image.Rect(r.Min.X, r.Min.Y+u.Px(52), r.Max.X-u.Px(12), r.Max.Y)
	t.follow(p, a, SourceSpot{file, p.Pick.Fn}, line, body.Dy()/h, h)
	t.events(s, p, u, body)
	t.head(s, p, u, a, file, text, image.Rect(r.Min.X, r.Min.Y, r.Max.X, body.Min.Y))
	u.At(body, func(u *ui.UI) {
		t.Rows(body, h, len(t.rows), func(i int, at image.Rectangle) { t.row(s, u, a, &t.rows[i], at) })
	})
	t.Area(u, body, pointer.CursorDefault)
	t.bar.Layout(u, image.Rect(body.Max.X, body.Min.Y, r.Max.X, body.Max.Y), len(t.rows)*h+h, &t.Down, u.Theme.Rule, u.Theme.Faint)
}

// arrange creates the rows: the lines of the file or, if it is missing, the lines with a
// cost.
func (t *Panel) arrange(a *session.Answer, text *sourceText) {
	k := sourceKey{a.Lines, text}
	if t.made == k {
		return
	}
	t.made, t.rows = k, t.rows[:0]
	for i, l := range text.lines {
		t.rows = append(t.rows, sourceRow{int32(i + 1), l})
	}
	for i := range a.Lines.Lines {
		l := &a.Lines.Lines[i]
		if int(l.Line) > len(text.lines) || len(text.lines) == 0 {
			var names []string
			for _, f := range l.Funcs {
				names = append(names, a.Rec.Functions.At(int(f)).Name)
			}
			t.rows = append(t.rows, sourceRow{l.Line, strings.Join(names, ", ")})
		}
	}
}

// follow scrolls to a newly selected function: to its hottest line, otherwise to the
// selected line.
func (t *Panel) follow(p *panel.Side, a *session.Answer, spot SourceSpot, line int32, seen, h int) {
	if t.Of == spot {
		return
	}
	t.Of, t.At = spot, 0
	best := analyze.SourceLine{Self: -1}
	for _, l := range a.Lines.Lines {
		for _, f := range l.Funcs {
			if f == p.Pick.Fn && l.Line > 0 && (l.Self > best.Self || l.Self == best.Self && l.Total > best.Total) {
				best = l
			}
		}
	}
	if best.Self >= 0 {
		line = best.Line
	}
	t.At = line
	for i := range t.rows {
		if t.rows[i].line == line {
			t.Down = max(0, (i-seen/3)*h)
		}
	}
}

func (t *Panel) events(s *panel.Host, p *panel.Side, u *ui.UI, body image.Rectangle) {
	t.Events(u, body, u.Px(sourceLine), len(t.rows), func(g widget.Gesture, i int) {
		if i < 0 || g != widget.Clicked && g != widget.DoubleClicked && g != widget.MenuAsked {
			return
		}
		t.At = t.rows[i].line
		if file, _ := p.SourceFile(); p.Both {
			h := u.Px(sourceLine)
			t.Asm.showLine(file, t.At, body.Dy()/h, h)
		}
		switch g {
		case widget.DoubleClicked:
			t.Edit(s, p)
		case widget.MenuAsked:
			row := t.rows[i]
			items := []widget.Item{
				{Title: "Open in editor", Detail: "Ctrl-E", Do: func() { t.Edit(s, p) }},
				{Title: "Copy file:line", Do: func() { s.CopyLater(fmt.Sprintf("%s:%d", t.place(p), row.line)) }},
				{Title: "Copy line", Do: func() { s.CopyLater(row.text) }},
			}
			if o := t.outside(p); o != nil {
				items = append(items, widget.Item{Title: "Use sources in " + o.Root.To, Do: func() { t.permit(s, o) }})
			}
			s.Menu = widget.NewMenu(widget.Point(body.Min, t.Drag.At), items)
		}
	})
}

// outside returns the location of the selected function's file if the file needs
// permission, otherwise nil.
func (t *Panel) outside(p *panel.Side) (o *sourcefile.Outside) {
	file, _ := p.SourceFile()
	if x, of, ok := t.Texts.Last(); ok && of.name == file {
		errors.As(x.err, &o)
	}
	return o
}

// permit allows showing source files below a file's root, from now on.
func (t *Panel) permit(s *panel.Host, o *sourcefile.Outside) {
	s.Roots, t.Of = append(slices.Clone(s.Roots), o.Root), SourceSpot{} // scrolls to the line again
	if s.Do.Permit != nil {
		s.Do.Permit(o.Root)
	}
	s.Wake()
}

// offer draws the button that shows a file which needs permission, at the left of r, and
// returns its width.
func (t *Panel) offer(s *panel.Host, u *ui.UI, o *sourcefile.Outside, r image.Rectangle) int {
	title := "Show " + filepath.Base(o.Path) + " (and other files in " + panel.ShortFolder(o.Root.To) + ")"
	if fit := s.Fonts.Regular(12*u.Metric.PxPerDp).Measure(title) + float32(u.Px(32)); fit > float32(r.Dx()) {
		title = "Show " + filepath.Base(o.Path)
	}
	w := u.Button(&t.show, r.Min.X, r.Min.Y-u.Px(1), 0, title, true)
	if t.show.Clicked(u.Context) {
		t.permit(s, o)
	}
	return w
}

// place returns the local path of the selected function's file, or else its name in the
// recording.
func (t *Panel) place(p *panel.Side) string {
	file, _ := p.SourceFile()
	if x, of, ok := t.Texts.Last(); ok && of.name == file && x.path != "" {
		return x.path
	}
	return file
}

func (t *Panel) head(s *panel.Host, p *panel.Side, u *ui.UI, a *session.Answer, file string, text *sourceText, r image.Rectangle) {
	th := u.Theme
	m := a.Metric()
	c := a.Lines
	sums := "self " + units.Value(c.Self, m) + "   total " + units.Value(c.Total, m) + "   " + units.Percent(c.Total, a.Tree.Nodes[0].Total)
	st := ui.Style{Size: 12, Color: th.Dim, Align: ui.End}
	w := u.Measure(sums, st).X
	line := image.Rect(r.Min.X+u.Px(16), r.Min.Y+u.Px(4), r.Max.X-u.Px(16), r.Min.Y+u.Px(28))
	u.Text(image.Rect(line.Max.X-w, line.Min.Y, line.Max.X, line.Max.Y), sums, st)
	name := panel.ShortFolder(text.path)
	if o := t.outside(p); o != nil {
		w := t.offer(s, u, o, image.Rect(line.Min.X, line.Min.Y, line.Max.X-w-u.Px(16), line.Max.Y))
		line.Min.X += w + u.Px(12)
		text = &sourceText{path: o.Path}
		name = panel.ShortFolder(o.Path)
	}
	switch {
	case text.path == "" && text.err == nil:
		name = file + " not found. Start with --source-root DIR or FROM=DIR"
	case text.path == "":
		name = text.err.Error()
	case text.err != nil:
		name = text.err.Error()
	}
	u.Text(image.Rect(line.Min.X, line.Min.Y, line.Max.X-w-u.Px(16), line.Max.Y), name, ui.Style{Size: 12.5, Weight: ui.Medium, Color: th.Text})
	heads := ui.Style{Size: 11.5, Weight: ui.Medium, Color: th.Dim, Align: ui.End}
	y0, y1 := line.Max.Y, r.Max.Y-u.Px(4)
	n := u.Px(sourceNumber)
	u.Text(image.Rect(r.Min.X, y0, r.Min.X+n, y1), "Self", heads)
	u.Text(image.Rect(r.Min.X+n, y0, r.Min.X+2*n, y1), "Total", heads)
	u.Text(image.Rect(r.Min.X+2*n, y0, r.Min.X+2*n+u.Px(60), y1), "Line", heads)
	u.HLine(r.Min.X, r.Max.X, r.Max.Y-u.Px(3), th.Rule)
}

// row draws a line; lines with a self cost have a heat-coloured background.
func (t *Panel) row(s *panel.Host, u *ui.UI, a *session.Answer, row *sourceRow, r image.Rectangle) {
	th := u.Theme
	m := a.Metric()
	cost := a.Lines.Line(row.line)
	if cost.Self > 0 && a.Lines.Most > 0 {
		share := math.Sqrt(float64(cost.Self) / float64(a.Lines.Most))
		strongest := .14 // light on dark stands out more than dark on light
		if !th.Dark {
			strongest = .34
		}
		u.Fill(r, theme.WithAlpha(th.Warn, .02+(strongest-.02)*share))
	}
	if row.line == t.At {
		u.Fill(image.Rect(r.Min.X, r.Min.Y, r.Min.X+u.Px(3), r.Max.Y), th.Accent)
	}
	n := u.Px(sourceNumber)
	num := ui.Style{Size: 12, Color: th.Text, Align: ui.End}
	if cost.Self != 0 {
		u.Text(image.Rect(r.Min.X, r.Min.Y, r.Min.X+n, r.Max.Y), units.Value(cost.Self, m), num)
	}
	if cost.Total != 0 {
		u.Text(image.Rect(r.Min.X+n, r.Min.Y, r.Min.X+2*n, r.Max.Y), units.Value(cost.Total, m), num)
	}
	if num.Color = th.Faint; cost.Total != 0 {
		num.Color = th.Dim
	}
	label := fmt.Sprint(row.line)
	if row.line == 0 {
		label = "?"
	}
	u.Text(image.Rect(r.Min.X+2*n, r.Min.Y, r.Min.X+2*n+u.Px(60), r.Max.Y), label, num)
	code := ui.Style{Size: 12, Color: th.Dim, Mono: true}
	if cost.Total != 0 {
		code.Color = th.Text
	}
	u.Text(image.Rect(r.Min.X+2*n+u.Px(76), r.Min.Y, r.Max.X, r.Max.Y), row.text, code)
}

// Edit opens the selected function's source in the user's editor.
func (t *Panel) Edit(s *panel.Host, p *panel.Side) {
	file, line := p.SourceFile()
	switch {
	case file == "":
		s.Say("This recording has no source files in this selection")
		return
	case s.Do.Edit == nil:
		return
	}
	if p.Tab == panel.Source && t.At > 0 {
		line = t.At
	}
	roots, beside := s.Roots, p.Folder()
	go func() {
		path, err := sourcefile.Find(file, roots, beside)
		switch {
		case path != "":
			err = s.Do.Edit(path, int(line))
		case err == nil:
			err = fmt.Errorf("%s not found. Start with --source-root DIR or FROM=DIR", file)
		}
		if err != nil {
			s.Later(func() { s.Say(err.Error()) })
		}
	}()
}

// grid returns a table of the lines of the shown file.
func grid(a *session.Answer) *tables.Grid {
	type line = analyze.SourceLine
	number := func(l *line) string {
		if l.Line <= 0 {
			return ""
		}
		return fmt.Sprint(l.Line)
	}
	names := func(l *line) string {
		var names []string
		for _, f := range l.Funcs {
			names = append(names, a.Rec.Functions.At(int(f)).Name)
		}
		return strings.Join(names, " | ")
	}
	cs := []tables.Column[line]{tables.Named("file", func(*line) string { return a.Lines.File }), tables.Numbered("line", number)}
	cs = append(cs, tables.Amounts(a.Metric(), func(l *line) (self, total, count int64) { return l.Self, l.Total, l.Count })...)
	return tables.NewGrid("source", append(cs, tables.Named("functions", names)), a.Lines.Lines)
}

// Ask requests the costs of the lines of the selected function's file.
func (t *Panel) Ask(p *panel.Side, q *session.Question) {
	if _, ok := p.PickedFunction(); ok {
		q.Source, _ = p.SourceFile()
	}
}

// Scroll returns the scroll position of the lines.
func (t *Panel) Scroll(p *panel.Side) *int {
	if p.Assembly && !p.Both {
		return &t.Asm.Down
	}
	return &t.Down
}

// Table returns the instructions if they are shown alone, otherwise the lines with a cost.
func (t *Panel) Table(p *panel.Side) func() *tables.Grid {
	if a := p.Doc.Answer(); a != nil && p.Assembly && !p.Both {
		if g := t.Asm.grid(a); g != nil {
			return func() *tables.Grid { return g }
		}
		return nil
	}
	if a := p.Doc.Answer(); a != nil && a.Lines != nil {
		return func() *tables.Grid { return grid(a) }
	}
	return nil
}
