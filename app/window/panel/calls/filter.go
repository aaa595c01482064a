package calls

import (
	"image"

	"gioui.org/io/key"
	gio "gioui.org/widget"

	"ashlar/app/window/panel"
	"ashlar/render/ui"
	"ashlar/render/widget"
)

// filter is the text field that reduces the list of calls, by conditions or by a text to
// search for.
type filter struct {
	editor gio.Editor
	clear  widget.ClickArea
}

func (f *filter) layout(p *panel.Side, u *ui.UI, r image.Rectangle) {
	f.editor.SingleLine = true
	leave := false
	for {
		ev, ok := u.Event(key.Filter{Focus: &f.editor, Name: key.NameReturn}, key.Filter{Focus: &f.editor, Name: key.NameEscape})
		if !ok {
			break
		}
		if k, ok := ev.(key.Event); ok && k.State == key.Press {
			if leave = true; k.Name == key.NameEscape {
				p.List.Only = ""
			}
		}
	}
	for {
		if _, ok := f.editor.Update(u.Context); !ok {
			break
		}
		p.List.Only = f.editor.Text()
	}
	if f.editor.Text() != p.List.Only { // changed by undo or elsewhere
		f.editor.SetText(p.List.Only)
	}
	if u.Item(&f.editor, r) {
		f.editor.SetCaret(f.editor.Len(), 0)
		widget.TakeKeyboard(u, &f.editor)
	}
	if leave {
		u.Execute(key.FocusCmd{})
	}
	th := u.Theme
	focused := u.Focused(&f.editor)
	border := th.Rule
	switch _, err := filtered(listed(p), p.List.Only); {
	case err != nil:
		border = th.Warn
	case focused:
		border = th.Accent
	}
	if focused || p.List.Only != "" {
		u.Round(r, 5, th.Raised)
	}
	u.Border(r, 5, 1, border)
	in := image.Rect(r.Min.X+u.Px(8), r.Min.Y+u.Px(4), r.Max.X-u.Px(6), r.Max.Y-u.Px(2))
	if p.List.Only != "" {
		x := image.Rect(r.Max.X-u.Px(20), r.Min.Y, r.Max.X, r.Max.Y)
		if clicked, _ := f.clear.Clicked(u, x); clicked {
			p.List.Only = ""
		}
		u.Text(x, "×", ui.Style{Size: 13, Color: th.Dim, Align: ui.Middle})
		in.Max.X = x.Min.X
	} else if !focused {
		u.Text(image.Rect(in.Min.X, r.Min.Y, in.Max.X, r.Max.Y), "Filter: 60ms.., key=value, text", ui.Style{Size: 12, Color: th.Faint})
	}
	widget.EditField(u, &f.editor, in)
}
