package shell

import (
	"cmp"
	"image"
	"slices"
	"strings"

	"gioui.org/font"
	"gioui.org/io/event"
	"gioui.org/io/key"
	"gioui.org/io/pointer"
	"gioui.org/layout"
	"gioui.org/op"
	"gioui.org/op/clip"
	"gioui.org/op/paint"
	"gioui.org/unit"
	"gioui.org/widget"

	"ashlar/render/ui"
)

// line is an entry of a chooser.
type line struct {
	title, detail string
	dim           bool
	mark          mark // for what can be on and off
	// tab is what is typed when Tab completes it; "" for nothing.
	tab  string
	take func(s *Shell)
}

type mark uint8

const (
	markNone mark = iota
	markOff
	markOn
)

// chooser is a line of text with a list below it that follows what is typed:
// the palette of commands and the file opener are choosers. It stands over
// everything else and takes the keyboard.
type chooser struct {
	editor  widget.Editor
	focused bool
	hint    string
	text    string
	filled  bool
	lines   []line
	chosen  int
	clicks  []clickArea
	shield  int // a tag
	// rows is how many lines there is room for; 0 is many.
	rows int
	// fill gives the lines for a text.
	fill func(text string) []line
	// submit is called for Return; false leaves it to the chosen line.
	submit func(s *Shell, text string) bool
	keep   bool // the chosen line, when lines are filled anew
}

const chooserRows = 14

func newChooser(hint, text string, fill func(string) []line) *chooser {
	c := &chooser{hint: hint, fill: fill}
	c.editor.SingleLine, c.editor.Submit = true, true
	c.setText(text)
	return c
}

func (c *chooser) setText(t string) {
	c.editor.SetText(t)
	n := len([]rune(t))
	c.editor.SetCaret(n, n)
}

// refresh brings the lines in step with what is typed.
func (c *chooser) refresh() {
	text := c.editor.Text()
	if c.filled && text == c.text {
		return
	}
	if !c.keep {
		c.chosen = 0
	}
	c.text, c.filled, c.keep = text, true, false
	c.lines = c.fill(text)
	c.chosen = max(0, min(c.chosen, len(c.lines)-1))
}

func (c *chooser) take(s *Shell, i int) {
	if c.submit != nil && i < 0 {
		if c.submit(s, c.text) {
			return
		}
		i = c.chosen
	}
	if i < 0 {
		i = c.chosen
	}
	if i < len(c.lines) {
		c.lines[i].take(s)
	}
}

// layout draws the chooser over the middle of the window.
func (c *chooser) layout(s *Shell, u *ui.UI, size image.Point) {
	c.refresh()
	c.keys(s, u)
	if s.chooser != c {
		return
	}
	c.refresh()
	th := u.Theme
	full := image.Rectangle{Max: size}
	u.Fill(full, withAlpha(th.Background, .6))
	c.cover(s, u, full)
	h := u.Px(26)
	w := min(u.Px(720), size.X-u.Px(32))
	rows := chooserRows
	if c.rows > 0 {
		rows = min(rows, c.rows)
	}
	box := ui.Rect((size.X-w)/2, u.Px(72), w, u.Px(64)+h*rows)
	u.Round(box, 10, th.Raised)
	u.Border(box, 10, 1, th.Rule)
	field := ui.Rect(box.Min.X+u.Px(12), box.Min.Y+u.Px(12), w-u.Px(24), u.Px(32))
	u.Round(field, 6, th.Background)
	u.Border(field, 6, max(1, u.Px(1)), th.Accent)
	in := field.Inset(u.Px(7))
	if c.editor.Len() == 0 {
		u.Text(in, c.hint, ui.Style{Size: 13, Color: th.Faint})
	}
	editField(u, &c.editor, in)
	if !c.focused {
		takeKeyboard(u, &c.editor)
		u.Execute(opInvalidateAt(u.Now)) // the caret is seen with the next frame
		c.focused = true
	}
	y := field.Max.Y + u.Px(8)
	first := max(0, min(c.chosen-chooserRows/2, len(c.lines)-chooserRows))
	for len(c.clicks) < chooserRows {
		c.clicks = append(c.clicks, clickArea{})
	}
	for i := range min(chooserRows, len(c.lines)-first) {
		l := &c.lines[first+i]
		r := ui.Rect(field.Min.X, y+i*h, field.Dx(), h)
		clicked, hovered := c.clicks[i].clicked(u, r)
		if first+i == c.chosen {
			u.Round(r, 5, withAlpha(th.Accent, .2))
		} else if hovered {
			u.Round(r, 5, withAlpha(th.Text, .06))
		}
		st := ui.Style{Size: 12.5, Color: th.Text}
		if l.dim {
			st.Color = th.Dim
		}
		dw := u.Measure(l.detail, ui.Style{Size: 12}).X
		x := r.Min.X + u.Px(8)
		if l.mark != markNone {
			box := ui.Rect(x+u.Px(2), r.Min.Y+h/2-u.Px(5), u.Px(10), u.Px(10))
			u.Border(box, 3, 1, th.Dim)
			if l.mark == markOn {
				u.Round(box, 3, th.Accent)
			}
			x += u.Px(22)
		}
		u.Text(image.Rect(x, r.Min.Y, r.Max.X-dw-u.Px(16), r.Max.Y), l.title, st)
		u.Text(image.Rect(r.Max.X-dw-u.Px(10), r.Min.Y, r.Max.X-u.Px(8), r.Max.Y), l.detail, ui.Style{Size: 12, Color: th.Dim, Align: end})
		if clicked {
			c.take(s, first+i)
			s.wake()
			return
		}
	}
	if len(c.lines) == 0 {
		u.Text(ui.Rect(field.Min.X+u.Px(8), y, field.Dx(), h), "Nothing like that", ui.Style{Size: 12.5, Color: th.Faint})
	}
}

// takeKeyboard gives an editor the keyboard. The editor itself tells what is
// selected in it two frames later, and what is typed until then would go to the
// place of another text's selection.
func takeKeyboard(u *ui.UI, e *widget.Editor) {
	u.Execute(key.FocusCmd{Tag: e})
	from, to := e.Selection()
	u.Execute(key.SelectionCmd{Tag: e, Range: key.Range{Start: from, End: to}})
}

// editField lays an editor out in r.
func editField(u *ui.UI, e *widget.Editor, r image.Rectangle) {
	ui.Want(e.Text())
	u.Editing(e)
	u.At(r, func(u *ui.UI) {
		color := func(c colour) op.CallOp {
			m := op.Record(u.Ops)
			paint.ColorOp{Color: c}.Add(u.Ops)
			return m.Stop()
		}
		u.WriteDown(e.Text(), ui.Style{Size: 13, Color: u.Theme.Text})
		gtx := u.Context
		gtx.Constraints = layout.Constraints{Min: image.Pt(r.Dx(), 0), Max: r.Size()}
		e.Layout(gtx, u.Shaper, font.Font{Typeface: "Roboto"}, unit.Sp(13), color(u.Theme.Text), color(withAlpha(u.Theme.Accent, .35)))
	})
}

// keys moves in the list and takes from it; it must see them before the
// editor does.
func (c *chooser) keys(s *Shell, u *ui.UI) {
	for {
		ev, ok := u.Event(key.Filter{Focus: &c.editor, Name: key.NameUpArrow}, key.Filter{Focus: &c.editor, Name: key.NameDownArrow}, key.Filter{Focus: &c.editor, Name: key.NameTab})
		if !ok {
			break
		}
		k, ok := ev.(key.Event)
		if !ok || k.State != key.Press {
			continue
		}
		switch k.Name {
		case key.NameUpArrow:
			c.chosen = max(0, c.chosen-1)
		case key.NameDownArrow:
			c.chosen = max(0, min(len(c.lines)-1, c.chosen+1))
		case key.NameTab:
			if c.chosen < len(c.lines) && c.lines[c.chosen].tab != "" {
				c.setText(c.lines[c.chosen].tab)
			}
		}
	}
	for {
		ev, ok := c.editor.Update(u.Context)
		if !ok {
			break
		}
		if _, ok := ev.(widget.SubmitEvent); ok {
			c.refresh()
			c.take(s, -1)
			return
		}
	}
}

// cover keeps the pointer from what is below; a press beside the box closes.
func (c *chooser) cover(s *Shell, u *ui.UI, full image.Rectangle) {
	for {
		ev, ok := u.Event(pointer.Filter{Target: &c.shield, Kinds: pointer.Press})
		if !ok {
			break
		}
		if e, ok := ev.(pointer.Event); ok && e.Kind == pointer.Press {
			s.chooser = nil
			s.wake()
		}
	}
	defer clip.Rect(full).Push(u.Ops).Pop()
	event.Op(u.Ops, &c.shield)
}

// openPalette shows all commands to choose from.
func (s *Shell) openPalette() {
	s.choose(newChooser("What to do", "", func(text string) []line {
		var ls []line
		for _, c := range Commands {
			if c.needs && s.pane == nil || !likeWords(c.Title, text) {
				continue
			}
			keys := ""
			if len(c.Keys) > 0 {
				keys = c.Keys[0].String()
			}
			ls = append(ls, line{title: c.Title, detail: keys, take: func(s *Shell) {
				s.chooser = nil
				c.do(s)
			}})
		}
		slices.SortStableFunc(ls, func(a, b line) int { return cmp.Compare(titleRank(a.title, text), titleRank(b.title, text)) })
		return ls
	}))
}

// titleRank is 0 for the very title that was typed, 1 for one that begins with
// that, and 2 for others.
func titleRank(title, text string) int {
	title, text = strings.ToLower(title), strings.ToLower(strings.TrimSpace(text))
	switch {
	case title == text:
		return 0
	case strings.HasPrefix(title, text):
		return 1
	}
	return 2
}

// choose shows a chooser in place of other things that are open.
func (s *Shell) choose(c *chooser) {
	s.chooser = c
	s.help, s.menu = false, nil
	s.wake()
}

// likeWords reports whether every word of a text is in a title.
func likeWords(title, text string) bool {
	title = strings.ToLower(title)
	for _, w := range strings.Fields(strings.ToLower(text)) {
		if !strings.Contains(title, w) {
			return false
		}
	}
	return true
}
