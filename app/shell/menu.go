package shell

import (
	"image"
	"strings"

	"gioui.org/io/event"
	"gioui.org/io/key"
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
	// chosen is the line that keys have moved to, -1 before they have.
	chosen int
}

func newMenu(at image.Point, items []item) *menu {
	return &menu{at: at, items: items, area: make([]clickArea, len(items)), chosen: -1}
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
		if i == m.chosen {
			u.Round(r, 5, withAlpha(th.Accent, .22))
			u.Ring(r, 5)
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

// key moves among the lines and runs one; the first letter of a line goes to it.
func (m *menu) key(s *Shell, k key.Event) {
	n := len(m.items)
	if n == 0 {
		return
	}
	switch k.Name {
	case key.NameDownArrow, key.NameRightArrow:
		m.chosen = (m.chosen + 1) % n
	case key.NameUpArrow, key.NameLeftArrow:
		m.chosen = (max(m.chosen, 0) + n - 1) % n
	case key.NameTab:
		d := 1
		if k.Modifiers.Contain(key.ModShift) {
			d = n - 1
		}
		m.chosen = (max(m.chosen, 0) + d) % n
	case key.NameHome:
		m.chosen = 0
	case key.NameEnd:
		m.chosen = n - 1
	case key.NameReturn, key.NameSpace:
		if m.chosen >= 0 {
			s.menu = nil
			m.items[m.chosen].do()
			s.wake()
		}
	default:
		for d := 1; d <= n; d++ {
			i := (m.chosen + d) % n
			if strings.HasPrefix(strings.ToUpper(m.items[i].title), string(k.Name)) {
				m.chosen = i
				return
			}
		}
	}
}
