package widget

import (
	"cmp"
	"image"
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
	gio "gioui.org/widget"

	"ashlar/render/theme"
	"ashlar/render/ui"
)

// Line is an entry of a chooser.
type Line struct {
	Title, Detail string
	Dim           bool
	Mark          mark // for entries that can be on or off
	// Tab is the text that the Tab key completes the input to; "" for none.
	Tab  string
	Take func()
}

type mark uint8

const (
	markNone mark = iota
	MarkOff
	MarkOn
)

// A Chooser is a text field above a list that follows the input, such as the command
// palette or the file opener. It covers everything else and takes the keyboard.
type Chooser struct {
	Editor  gio.Editor
	focused bool
	Hint    string
	text    string
	Filled  bool
	Lines   []Line
	chosen  int
	clicks  []ClickArea
	shield  int // used as an event tag
	// Empty is the text shown if no line matches; "" for a default text.
	Empty string
	// Rows is the maximum number of visible lines; 0 means the default.
	Rows int
	// fill returns the lines for a text.
	fill func(text string) []Line
	// Submit is called with the text when Return is pressed; if it returns false, the
	// chosen line is taken.
	Submit func(text string) bool
	Keep   bool // keep the chosen line when the lines are next filled
	// Left is set when the user presses outside the chooser.
	Left bool
}

const chooserRows = 14

func NewChooser(hint, text string, fill func(string) []Line) *Chooser {
	c := &Chooser{Hint: hint, fill: fill}
	c.Editor.SingleLine, c.Editor.Submit = true, true
	c.SetText(text)
	return c
}

func (c *Chooser) SetText(t string) {
	c.Editor.SetText(t)
	n := len([]rune(t))
	c.Editor.SetCaret(n, n)
}

// Refresh updates the lines for the current input.
func (c *Chooser) Refresh() {
	text := c.Editor.Text()
	if c.Filled && text == c.text {
		return
	}
	if !c.Keep {
		c.chosen = 0
	}
	c.text, c.Filled, c.Keep = text, true, false
	c.Lines = c.fill(text)
	c.chosen = max(0, min(c.chosen, len(c.Lines)-1))
}

func (c *Chooser) Take(i int) {
	if c.Submit != nil && i < 0 {
		if c.Submit(c.text) {
			return
		}
		i = c.chosen
	}
	if i < 0 {
		i = c.chosen
	}
	if i < len(c.Lines) {
		c.Lines[i].Take()
	}
}

// Layout draws the chooser over the middle of the window. After a line was taken, open is
// called: it reports whether the chooser stays open. Layout reports whether a line was
// taken or the chooser was closed.
func (c *Chooser) Layout(u *ui.UI, size image.Point, open func() bool) (acted bool) {
	c.Refresh()
	if c.keys(u) && !open() {
		return true
	}
	c.Refresh()
	th := u.Theme
	full := image.Rectangle{Max: size}
	u.Fill(full, theme.WithAlpha(th.Background, .6))
	c.cover(u, full)
	h := u.Px(26)
	w := min(u.Px(720), size.X-u.Px(32))
	rows := chooserRows
	if c.Rows > 0 {
		rows = min(rows, c.Rows)
	}
	box := ui.Rect((size.X-w)/2, u.Px(72), w, u.Px(64)+h*rows)
	u.Round(box, 10, th.Raised)
	u.Border(box, 10, 1, th.Rule)
	field := ui.Rect(box.Min.X+u.Px(12), box.Min.Y+u.Px(12), w-u.Px(24), u.Px(32))
	u.Round(field, 6, th.Background)
	u.Border(field, 6, max(1, u.Px(1)), th.Accent)
	in := field.Inset(u.Px(7))
	if c.Editor.Len() == 0 {
		u.Text(in, c.Hint, ui.Style{Size: 13, Color: th.Faint})
	}
	EditField(u, &c.Editor, in)
	if !c.focused {
		TakeKeyboard(u, &c.Editor)
		u.Execute(op.InvalidateCmd{At: u.Now}) // the caret appears in the next frame
		c.focused = true
	}
	y := field.Max.Y + u.Px(8)
	first := max(0, min(c.chosen-chooserRows/2, len(c.Lines)-chooserRows))
	for len(c.clicks) < chooserRows {
		c.clicks = append(c.clicks, ClickArea{})
	}
	for i := range min(chooserRows, len(c.Lines)-first) {
		l := &c.Lines[first+i]
		r := ui.Rect(field.Min.X, y+i*h, field.Dx(), h)
		if c.line(u, r, &c.clicks[i], l, first+i == c.chosen) {
			c.Take(first + i)
			return true
		}
	}
	if len(c.Lines) == 0 {
		u.Text(ui.Rect(field.Min.X+u.Px(8), y, field.Dx(), h), cmp.Or(c.Empty, "No match"), ui.Style{Size: 12.5, Color: th.Faint})
	}
	return c.Left
}

// line draws an entry in r and reports whether it was clicked.
func (c *Chooser) line(u *ui.UI, r image.Rectangle, area *ClickArea, l *Line, chosen bool) bool {
	th := u.Theme
	clicked, hovered := area.Clicked(u, r)
	if chosen {
		u.Round(r, 5, theme.WithAlpha(th.Accent, .2))
	} else if hovered {
		u.Round(r, 5, theme.WithAlpha(th.Text, .06))
	}
	st := ui.Style{Size: 12.5, Color: th.Text}
	if l.Dim {
		st.Color = th.Dim
	}
	dw := u.Measure(l.Detail, ui.Style{Size: 12}).X
	x := r.Min.X + u.Px(8)
	if l.Mark != markNone {
		box := ui.Rect(x+u.Px(2), r.Min.Y+r.Dy()/2-u.Px(5), u.Px(10), u.Px(10))
		u.Border(box, 3, 1, th.Dim)
		if l.Mark == MarkOn {
			u.Round(box, 3, th.Accent)
		}
		x += u.Px(22)
	}
	u.Text(image.Rect(x, r.Min.Y, r.Max.X-dw-u.Px(16), r.Max.Y), l.Title, st)
	u.Text(image.Rect(r.Max.X-dw-u.Px(10), r.Min.Y, r.Max.X-u.Px(8), r.Max.Y), l.Detail, ui.Style{Size: 12, Color: th.Dim, Align: ui.End})
	return clicked
}

// TakeKeyboard gives an editor the keyboard. The editor reports its own selection only
// two frames later; until then, typed text would go to the range that is selected in
// another editor.
func TakeKeyboard(u *ui.UI, e *gio.Editor) {
	u.Execute(key.FocusCmd{Tag: e})
	from, to := e.Selection()
	u.Execute(key.SelectionCmd{Tag: e, Range: key.Range{Start: from, End: to}})
}

// EditField lays an editor out in r.
func EditField(u *ui.UI, e *gio.Editor, r image.Rectangle) {
	editField(u, e, r, font.Font{Typeface: "Roboto"}, 0)
}

// codeFace is the font of code.
const codeFace = "Go Mono"

// EditCode is EditField for several lines in a font whose characters have one width. A click
// below the last line counts, too.
func EditCode(u *ui.UI, e *gio.Editor, r image.Rectangle) {
	editField(u, e, r, font.Font{Typeface: codeFace}, r.Dy())
}

func editField(u *ui.UI, e *gio.Editor, r image.Rectangle, face font.Font, height int) {
	ui.Want(e.Text())
	u.Editing(e)
	u.At(r, func(u *ui.UI) {
		color := func(c ui.Colour) op.CallOp {
			m := op.Record(u.Ops)
			paint.ColorOp{Color: c}.Add(u.Ops)
			return m.Stop()
		}
		gtx := u.Context
		gtx.Constraints = layout.Constraints{Min: image.Pt(r.Dx(), height), Max: r.Size()}
		e.Layout(gtx, u.Shaper, face, unit.Sp(13), color(u.Theme.Text), color(theme.WithAlpha(u.Theme.Accent, .35)))
		if u.Shapes != nil {
			writeLines(u, e, ui.Style{Size: 13, Color: u.Theme.Text, Mono: face.Typeface == codeFace})
		}
	})
}

// writeLines exports the text of an editor, each line where the editor has it.
func writeLines(u *ui.UI, e *gio.Editor, st ui.Style) {
	var line strings.Builder
	var at image.Rectangle
	end := func() {
		u.At(at, func(u *ui.UI) { u.WriteDown(line.String(), st) })
		line.Reset()
	}
	for i, r := range []rune(e.Text()) {
		of := e.Regions(i, i+1, nil)
		if len(of) == 0 || r == '\n' {
			continue // out of sight
		}
		b := of[0].Bounds
		if line.Len() > 0 && b.Min.Y != at.Min.Y {
			end()
		}
		if line.Len() == 0 {
			at = image.Rect(b.Min.X, b.Min.Y, u.Constraints.Max.X, b.Max.Y)
		}
		line.WriteRune(r)
	}
	if line.Len() > 0 {
		end()
	}
}

// keys moves the selection in the list and takes lines by keys; it reports whether a line
// was taken. It must see the keys before the editor does.
func (c *Chooser) keys(u *ui.UI) (took bool) {
	for {
		ev, ok := u.Event(key.Filter{Focus: &c.Editor, Name: key.NameUpArrow}, key.Filter{Focus: &c.Editor, Name: key.NameDownArrow}, key.Filter{Focus: &c.Editor, Name: key.NameTab})
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
			c.chosen = max(0, min(len(c.Lines)-1, c.chosen+1))
		case key.NameTab:
			if c.chosen < len(c.Lines) && c.Lines[c.chosen].Tab != "" {
				c.SetText(c.Lines[c.chosen].Tab)
			}
		}
	}
	for {
		ev, ok := c.Editor.Update(u.Context)
		if !ok {
			break
		}
		if _, ok := ev.(gio.SubmitEvent); ok {
			c.Refresh()
			c.Take(-1)
			return true
		}
	}
	return false
}

// cover keeps pointer events from the content below. A press outside the box closes the
// chooser.
func (c *Chooser) cover(u *ui.UI, full image.Rectangle) {
	for {
		ev, ok := u.Event(pointer.Filter{Target: &c.shield, Kinds: pointer.Press})
		if !ok {
			break
		}
		if e, ok := ev.(pointer.Event); ok && e.Kind == pointer.Press {
			c.Left = true
		}
	}
	defer clip.Rect(full).Push(u.Ops).Pop()
	event.Op(u.Ops, &c.shield)
}

// HasWords reports whether every word of a text is in a title.
func HasWords(title, text string) bool {
	title = strings.ToLower(title)
	for _, w := range strings.Fields(strings.ToLower(text)) {
		if !strings.Contains(title, w) {
			return false
		}
	}
	return true
}
