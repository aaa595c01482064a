package shell

import (
	"image"
	"os"
	"path/filepath"
	"sort"
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

// opener lets the person choose a file: a line to type a path in and the list
// of what is there. It needs nothing of the desktop.
type opener struct {
	editor  widget.Editor
	focused bool
	read    string // the folder that entries lists
	entries []os.DirEntry
	shown   []os.DirEntry
	text    string
	chosen  int
	err     error
	clicks  []clickArea
	shield  int // a tag
}

const openerRows = 14

func newOpener(dir string) *opener {
	o := &opener{}
	o.editor.SingleLine, o.editor.Submit = true, true
	o.setText(strings.TrimSuffix(dir, string(filepath.Separator)) + string(filepath.Separator))
	return o
}

func (o *opener) setText(t string) {
	o.editor.SetText(t)
	n := len([]rune(t))
	o.editor.SetCaret(n, n)
}

// startDir is where choosing begins: beside the open file, else where the
// program was started.
func (s *Shell) startDir() string {
	if s.pane != nil {
		if p := s.pane.rec.Source.Path; p != "" && p != "-" {
			if abs, err := filepath.Abs(p); err == nil {
				return filepath.Dir(abs)
			}
		}
	}
	dir, err := os.Getwd()
	if err != nil {
		return string(filepath.Separator)
	}
	return dir
}

// list brings the entries in step with what is typed.
func (o *opener) list() {
	text := expandHome(o.editor.Text())
	if text == o.text && o.read != "" {
		return
	}
	o.text, o.chosen = text, 0
	dir, prefix := filepath.Split(text)
	if dir == "" {
		dir = "."
	}
	if dir != o.read {
		o.read = dir
		o.entries, o.err = os.ReadDir(dir)
		sort.SliceStable(o.entries, func(i, j int) bool { return o.entries[i].IsDir() && !o.entries[j].IsDir() })
	}
	o.shown = o.shown[:0]
	for _, e := range o.entries {
		if strings.HasPrefix(e.Name(), ".") && !strings.HasPrefix(prefix, ".") {
			continue
		}
		if strings.Contains(strings.ToLower(e.Name()), strings.ToLower(prefix)) {
			o.shown = append(o.shown, e)
		}
	}
}

func expandHome(path string) string {
	if rest, ok := strings.CutPrefix(path, "~"+string(filepath.Separator)); ok {
		if home, err := os.UserHomeDir(); err == nil {
			return filepath.Join(home, rest)
		}
	}
	return path
}

// take opens what is chosen or typed, or goes into it when it is a folder.
func (o *opener) take(s *Shell) {
	path := o.text
	if i, err := os.Stat(path); err != nil || i.IsDir() && len(o.shown) > 0 && !strings.HasSuffix(path, string(filepath.Separator)) || i.IsDir() {
		if o.chosen >= len(o.shown) {
			return
		}
		path = filepath.Join(o.read, o.shown[o.chosen].Name())
	}
	if i, err := os.Stat(path); err == nil && i.IsDir() {
		o.setText(path + string(filepath.Separator))
		return
	}
	s.opener = nil
	s.Open(path)
}

// layout draws the opener over the middle of the window.
func (o *opener) layout(s *Shell, u *ui.UI, size image.Point) {
	o.keys(s, u)
	if s.opener == nil {
		return
	}
	o.list()
	th := u.Theme
	full := image.Rectangle{Max: size}
	u.Fill(full, withAlpha(th.Background, .6))
	o.cover(s, u, full)
	line := u.Px(26)
	w := min(u.Px(720), size.X-u.Px(32))
	box := ui.Rect((size.X-w)/2, u.Px(72), w, u.Px(64)+line*openerRows)
	u.Round(box, 10, th.Raised)
	u.Border(box, 10, 1, th.Rule)
	field := ui.Rect(box.Min.X+u.Px(12), box.Min.Y+u.Px(12), w-u.Px(24), u.Px(32))
	u.Round(field, 6, th.Background)
	u.Border(field, 6, max(1, u.Px(1)), th.Accent)
	o.field(u, field.Inset(u.Px(7)))
	if !o.focused {
		u.Execute(key.FocusCmd{Tag: &o.editor})
		o.focused = true
	}
	y := field.Max.Y + u.Px(8)
	if o.err != nil {
		u.Text(ui.Rect(field.Min.X, y, field.Dx(), line), "This folder cannot be read", ui.Style{Size: 12.5, Color: th.Dim})
		return
	}
	first := max(0, min(o.chosen-openerRows/2, len(o.shown)-openerRows))
	for len(o.clicks) < openerRows {
		o.clicks = append(o.clicks, clickArea{})
	}
	for i := range min(openerRows, len(o.shown)-first) {
		e := o.shown[first+i]
		r := ui.Rect(field.Min.X, y+i*line, field.Dx(), line)
		clicked, hovered := o.clicks[i].clicked(u, r)
		if first+i == o.chosen {
			u.Round(r, 5, withAlpha(th.Accent, .2))
		} else if hovered {
			u.Round(r, 5, withAlpha(th.Text, .06))
		}
		name, st := e.Name(), ui.Style{Size: 12.5, Color: th.Text}
		if e.IsDir() {
			name += string(filepath.Separator)
			st.Color = th.Dim
		}
		u.Text(image.Rect(r.Min.X+u.Px(8), r.Min.Y, r.Max.X-u.Px(90), r.Max.Y), name, st)
		if clicked {
			o.text = filepath.Join(o.read, e.Name())
			o.chosen = first + i
			o.take(s)
			s.wake()
			return
		}
	}
}

func (o *opener) field(u *ui.UI, r image.Rectangle) {
	u.At(r, func(u *ui.UI) {
		color := func(c colour) op.CallOp {
			m := op.Record(u.Ops)
			paint.ColorOp{Color: c}.Add(u.Ops)
			return m.Stop()
		}
		gtx := u.Context
		gtx.Constraints = layout.Constraints{Min: image.Pt(r.Dx(), 0), Max: r.Size()}
		o.editor.Layout(gtx, u.Shaper, font.Font{Typeface: "Roboto"}, unit.Sp(13), color(u.Theme.Text), color(withAlpha(u.Theme.Accent, .35)))
	})
}

// keys moves in the list and takes from it; it must see them before the
// editor does.
func (o *opener) keys(s *Shell, u *ui.UI) {
	for {
		ev, ok := u.Event(key.Filter{Focus: &o.editor, Name: key.NameUpArrow}, key.Filter{Focus: &o.editor, Name: key.NameDownArrow}, key.Filter{Focus: &o.editor, Name: key.NameTab})
		if !ok {
			break
		}
		k, ok := ev.(key.Event)
		if !ok || k.State != key.Press {
			continue
		}
		switch k.Name {
		case key.NameUpArrow:
			o.chosen = max(0, o.chosen-1)
		case key.NameDownArrow:
			o.chosen = max(0, min(len(o.shown)-1, o.chosen+1))
		case key.NameTab:
			if o.chosen < len(o.shown) {
				t := filepath.Join(o.read, o.shown[o.chosen].Name())
				if o.shown[o.chosen].IsDir() {
					t += string(filepath.Separator)
				}
				o.setText(t)
			}
		}
	}
	for {
		ev, ok := o.editor.Update(u.Context)
		if !ok {
			break
		}
		if _, ok := ev.(widget.SubmitEvent); ok {
			o.list()
			o.take(s)
			return
		}
	}
}

// cover keeps the pointer from what is below; a press beside the box closes.
func (o *opener) cover(s *Shell, u *ui.UI, full image.Rectangle) {
	for {
		ev, ok := u.Event(pointer.Filter{Target: &o.shield, Kinds: pointer.Press})
		if !ok {
			break
		}
		if e, ok := ev.(pointer.Event); ok && e.Kind == pointer.Press {
			s.opener = nil
			s.wake()
		}
	}
	defer clip.Rect(full).Push(u.Ops).Pop()
	event.Op(u.Ops, &o.shield)
}
