package shell

import (
	"image"

	"gioui.org/io/event"
	"gioui.org/io/pointer"
	"gioui.org/op/clip"

	"ashlar/render/ui"
)

// item is a line of a menu.
type item struct {
	title, detail string
	on            bool
	do            func()
}

// menu is a list that is open over everything else.
type menu struct {
	at    image.Point
	items []item
	area  []clickArea
}

func newMenu(at image.Point, items []item) *menu {
	return &menu{at: at, items: items, area: make([]clickArea, len(items))}
}

// layout draws the menu; a click on a line runs it, a click elsewhere closes
// the menu.
func (m *menu) layout(s *Shell, u *ui.UI, size image.Point) {
	th := u.Theme
	st := ui.Style{Size: 12.5, Color: th.Text}
	w := u.Px(140)
	for _, it := range m.items {
		w = max(w, u.Measure(it.title, st).X+u.Measure(it.detail, st).X+u.Px(70))
	}
	w = min(w, size.X-u.Px(16))
	line := u.Px(28)
	h := len(m.items)*line + u.Px(10)
	x := max(u.Px(4), min(m.at.X, size.X-w-u.Px(8)))
	y := max(u.Px(4), min(m.at.Y, size.Y-h-u.Px(8)))
	for {
		ev, ok := u.Event(pointer.Filter{Target: m, Kinds: pointer.Press | pointer.Move})
		if !ok {
			break
		}
		if e, ok := ev.(pointer.Event); ok && e.Kind == pointer.Press {
			s.menu = nil
			s.wake()
		}
	}
	all := clip.Rect(image.Rectangle{Max: size}).Push(u.Ops)
	event.Op(u.Ops, m)
	all.Pop()
	box := ui.Rect(x, y, w, h)
	u.Round(box.Add(image.Pt(0, u.Px(2))), 8, withAlpha(colour{}, .25))
	u.Round(box, 8, th.Raised)
	u.Border(box, 8, 1, th.Rule)
	for i, it := range m.items {
		r := ui.Rect(x+u.Px(5), y+u.Px(5)+i*line, w-u.Px(10), line)
		clicked, hovered := m.area[i].clicked(u, r)
		if hovered {
			u.Round(r, 5, withAlpha(th.Text, .08))
		}
		if it.on {
			u.Round(ui.Rect(r.Min.X+u.Px(8), r.Min.Y+line/2-u.Px(3), u.Px(6), u.Px(6)), 3, th.Accent)
		}
		u.Text(image.Rect(r.Min.X+u.Px(22), r.Min.Y, r.Max.X, r.Max.Y), it.title, st)
		u.Text(image.Rect(r.Min.X, r.Min.Y, r.Max.X-u.Px(10), r.Max.Y), it.detail, ui.Style{Size: 12, Color: th.Dim, Align: end})
		if clicked {
			s.menu = nil
			it.do()
			s.wake()
		}
	}
}
