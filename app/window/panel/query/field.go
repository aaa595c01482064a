package query

import (
	"image"
	"strings"
	"unicode/utf8"

	"gioui.org/io/event"
	"gioui.org/io/key"
	"gioui.org/op"
	gio "gioui.org/widget"

	"ashlar/app/window/panel"
	"ashlar/ingest/query/sql"
	"ashlar/render/theme"
	"ashlar/render/ui"
	"ashlar/render/widget"
)

// field is the text field of the query, with a list of completions.
type field struct {
	gio.Editor
	seen    string // the view's query when the text last became the same
	changed bool   // text was typed since the last frame
	list    []sql.Candidate
	from    int // where the completed word begins, in bytes
	at      int // the caret for which the list was made, in runes
	chosen  int
	moved   bool // the user has moved in the list
	forced  bool // the list was asked for
	clicks  []widget.ClickArea
	focus   bool // take the keyboard in the next frame
}

// mostCompletions is the number of completions that are listed.
const mostCompletions = 8

// keys handles the keys that the text field does not handle itself. It reports whether to
// run the query.
func (f *field) keys(u *ui.UI) (run bool) {
	for {
		filters := []key.Filter{{Focus: &f.Editor, Name: key.NameReturn, Required: key.ModShortcut}, {Focus: &f.Editor, Name: key.NameEnter, Required: key.ModShortcut}, {Focus: &f.Editor, Name: key.NameSpace, Required: key.ModCtrl}}
		if len(f.list) > 0 {
			for _, n := range []key.Name{key.NameTab, key.NameEscape, key.NameUpArrow, key.NameDownArrow} {
				filters = append(filters, key.Filter{Focus: &f.Editor, Name: n})
			}
			if f.moved {
				filters = append(filters, key.Filter{Focus: &f.Editor, Name: key.NameReturn})
			}
		}
		ev, ok := next(u, filters)
		if !ok {
			return run
		}
		if k, ok := ev.(key.Event); !ok || k.State != key.Press {
			continue
		} else if f.press(k) {
			run = true
		}
	}
}

// press handles a key and reports whether to run the query.
func (f *field) press(k key.Event) bool {
	switch k.Name {
	case key.NameSpace:
		f.forced, f.changed = true, true
	case key.NameEscape:
		f.list = nil
	case key.NameUpArrow, key.NameDownArrow:
		step := 1
		if k.Name == key.NameUpArrow {
			step = -1
		}
		f.chosen, f.moved = max(0, min(f.chosen+step, min(len(f.list), mostCompletions)-1)), true
	case key.NameTab:
		f.take(f.chosen)
	default:
		if k.Modifiers.Contain(key.ModShortcut) {
			f.list = nil
			return true
		}
		f.take(f.chosen)
	}
	return false
}

// take puts a completion in the place of the word that ends at the caret.
func (f *field) take(i int) {
	text := f.Text()
	_, at := f.Selection()
	word := f.list[i].Text
	if f.inQuotes() && !strings.HasPrefix(text[byteAt(text, at):], "'") {
		word += "'"
	}
	f.SetCaret(utf8.RuneCountInString(text[:f.from]), at)
	f.Insert(word)
	f.list = nil
}

// inQuotes reports whether the completed word is a text in quotes.
func (f *field) inQuotes() bool {
	text := f.Text()
	return f.from > 0 && f.from <= len(text) && text[f.from-1] == '\''
}

// byteAt returns the byte at which a rune of a text begins.
func byteAt(text string, runes int) int {
	for i := range text {
		if runes == 0 {
			return i
		}
		runes--
	}
	return len(text)
}

// update reads the typed text, or shows a query that was changed elsewhere.
func (f *field) update(p *panel.Side, u *ui.UI) {
	for {
		ev, ok := f.Editor.Update(u.Context)
		if !ok {
			break
		}
		if _, ok := ev.(gio.ChangeEvent); ok {
			f.changed = true
		}
	}
	if p.SQL != f.seen {
		f.put(p.SQL)
		f.seen = p.SQL
	}
	f.complete(p, u)
}

// put replaces the text.
func (f *field) put(text string) {
	f.SetText(text)
	n := utf8.RuneCountInString(text)
	f.SetCaret(n, n)
	f.list, f.changed = nil, false
}

// selectText selects the first occurrence of a text without some characters at both ends, so
// that what is typed replaces it.
func (f *field) selectText(text string, ends int) {
	all := f.Text()
	if i := strings.Index(all, text); i >= 0 {
		from := utf8.RuneCountInString(all[:i]) + ends
		to := from + utf8.RuneCountInString(text) - 2*ends
		f.SetCaret(to, from)
	}
}

// complete lists completions after typing, and closes the list when the caret moves.
func (f *field) complete(p *panel.Side, u *ui.UI) {
	start, at := f.Selection()
	if !f.changed {
		if at != f.at || start != at || !u.Focused(&f.Editor) {
			f.list = nil
		}
		return
	}
	f.changed, f.at, f.chosen, f.moved, f.list = false, at, 0, false, nil
	forced := f.forced
	if f.forced = false; start != at {
		return
	}
	text := f.Text()
	end := byteAt(text, at)
	from, list := sql.Complete(text, end, func(part string) []string { return functionsWith(p, part) })
	typed := text[from:end]
	if typed == "" && !forced && (from == 0 || text[from-1] != '.' && text[from-1] != '\'') || len(list) == 0 || len(list) == 1 && list[0].Text == typed {
		return
	}
	f.from, f.list = from, list
}

// mostFunctions is the number of functions that are compared with typed text.
const mostFunctions = 200_000

// functionsWith returns names of functions of the recording: first those that begin with a
// text, then others that contain it.
func functionsWith(p *panel.Side, part string) (names []string) {
	var others []string
	part = strings.ToLower(part)
	for i := range min(mostFunctions, p.Rec.Functions.Len()) {
		name := p.Rec.Functions.Ref(i).Name
		switch k := strings.Index(strings.ToLower(name), part); {
		case k == 0:
			names = append(names, name)
		case k > 0 && len(others) < mostCompletions:
			others = append(others, name)
		}
		if len(names) >= mostCompletions {
			break
		}
	}
	return append(names, others...)
}

// Heights of the field in lines of text, and of a line in dp.
const (
	fewestLines, mostLines = 3, 10
	lineHeight             = 18
)

// next returns the next event of a key among the filters.
func next(u *ui.UI, filters []key.Filter) (event.Event, bool) {
	all := make([]event.Filter, len(filters))
	for i := range filters {
		all[i] = filters[i]
	}
	return u.Event(all...)
}

// height returns the height of the field in a panel.
func (f *field) height(u *ui.UI, panel int) int {
	lines := max(fewestLines, min(mostLines, 1+strings.Count(f.Text(), "\n")))
	return max(u.Px(lineHeight+10), min(lines*u.Px(lineHeight)+u.Px(10), panel*2/5))
}

// layout draws the field with the place of an error underlined.
func (f *field) layout(h *panel.Host, p *panel.Side, u *ui.UI, r image.Rectangle, wrong *sql.Error) {
	th := u.Theme
	if u.Item(&f.Editor, r) || f.focus {
		f.focus = false
		widget.TakeKeyboard(u, &f.Editor)
	}
	u.Round(r, 5, th.Raised)
	border := th.Rule
	switch {
	case wrong != nil && strings.TrimSpace(f.Text()) == p.SQL:
		border = th.Warn
	case u.Focused(&f.Editor):
		border = th.Accent
	}
	u.Border(r, 5, 1, border)
	in := image.Rect(r.Min.X+u.Px(10), r.Min.Y+u.Px(5), r.Max.X-u.Px(8), r.Max.Y-u.Px(4))
	if f.Len() == 0 {
		u.Text(image.Rect(in.Min.X, in.Min.Y, in.Max.X, in.Min.Y+u.Px(lineHeight)), "SELECT function, count(*) FROM spans GROUP BY function", ui.Style{Size: 13, Color: th.Faint, Mono: true})
	}
	widget.EditCode(u, &f.Editor, in)
	if wrong != nil && strings.TrimSpace(f.Text()) == wrong.Query {
		f.underline(u, in, wrong)
	}
	f.completions(h, u, in)
}

// underline marks the word at which a query is wrong.
func (f *field) underline(u *ui.UI, in image.Rectangle, wrong *sql.Error) {
	text := f.Text()
	lead := len(text) - len(strings.TrimLeft(text, " \t\r\n"))
	at := min(len(text), lead+wrong.At)
	end := at
	for end < len(text) && !strings.ContainsRune(" \t\r\n,();", rune(text[end])) {
		end++
	}
	if end == at {
		end = min(len(text), at+1)
	}
	from := utf8.RuneCountInString(text[:at])
	u.At(in, func(u *ui.UI) {
		for _, g := range f.Regions(from, from+utf8.RuneCountInString(text[at:end]), nil) {
			b := g.Bounds
			u.Fill(image.Rect(b.Min.X, b.Max.Y-u.Px(2), max(b.Max.X, b.Min.X+u.Px(6)), b.Max.Y), u.Theme.Warn)
		}
	})
}

// completions draws the list below the caret, over the rest of the window.
func (f *field) completions(h *panel.Host, u *ui.UI, in image.Rectangle) {
	if len(f.list) == 0 || !u.Focused(&f.Editor) {
		return
	}
	h.Completing = true
	th, n := u.Theme, min(len(f.list), mostCompletions)
	line := u.Px(22)
	caret := f.CaretCoords()
	w := min(u.Px(520), in.Dx())
	x := max(in.Min.X, min(in.Min.X+int(caret.X), in.Max.X-w))
	box := ui.Rect(x, min(in.Min.Y+int(caret.Y)+u.Px(6), in.Max.Y), w, n*line+u.Px(8))
	m := op.Record(u.Ops)
	u.Round(box.Add(image.Pt(0, u.Px(2))), 6, theme.WithAlpha(ui.Colour{}, .25))
	u.Round(box, 6, th.Raised)
	u.Border(box, 6, 1, th.Rule)
	for len(f.clicks) < n {
		f.clicks = append(f.clicks, widget.ClickArea{})
	}
	taken := -1
	for i := range n {
		at := ui.Rect(box.Min.X+u.Px(4), box.Min.Y+u.Px(4)+i*line, w-u.Px(8), line)
		clicked, hovered := f.clicks[i].Clicked(u, at)
		if clicked {
			taken = i
		}
		switch {
		case i == f.chosen:
			u.Round(at, 4, theme.WithAlpha(th.Accent, .2))
		case hovered:
			u.Round(at, 4, theme.WithAlpha(th.Text, .06))
		}
		st := ui.Style{Size: 12.5, Color: th.Text, Mono: true}
		word := f.list[i].Text
		if f.inQuotes() { // names of functions are long and differ at their ends
			st.Mono = false
			word = h.Fonts.Regular(12.5*u.Metric.PxPerDp).Fit(word, float32(at.Dx())*.8)
		}
		width := min(u.Measure(word, st).X, at.Dx()*4/5)
		u.Text(image.Rect(at.Min.X+u.Px(6), at.Min.Y, at.Min.X+u.Px(10)+width, at.Max.Y), word, st)
		u.Text(image.Rect(at.Min.X+u.Px(22)+width, at.Min.Y, at.Max.X-u.Px(6), at.Max.Y), f.list[i].Detail, ui.Style{Size: 12, Color: th.Dim})
	}
	op.Defer(u.Ops, m.Stop())
	if taken >= 0 {
		f.take(taken)
		f.focus = true
	}
}
