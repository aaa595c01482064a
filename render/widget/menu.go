package widget

import (
	"image"
	"strings"

	"gioui.org/io/event"
	"gioui.org/io/key"
	"gioui.org/io/pointer"
	"gioui.org/op/clip"

	"ashlar/render/icon"
	"ashlar/render/theme"
	"ashlar/render/ui"
)

// Item is a line of a menu; one without a title is a rule between groups, and one with Head the
// heading of a group, which cannot be chosen.
type Item struct {
	Title, Detail string
	On, Head      bool
	Do            func()
}

// chosen reports whether a line can be chosen.
func (it *Item) chosen() bool { return it.Title != "" && !it.Head }

// Menu is a list that is open above everything else.
type Menu struct {
	at    image.Point
	Items []Item
	area  []ClickArea
	// Chosen is the line selected by keys, -1 for none yet.
	Chosen int
}

// Grouped joins groups of lines with rules between them, and leaves out empty groups.
func Grouped(groups ...[]Item) (items []Item) {
	for _, g := range groups {
		if len(g) > 0 && len(items) > 0 {
			items = append(items, Item{})
		}
		items = append(items, g...)
	}
	return items
}

func NewMenu(at image.Point, items []Item) *Menu {
	return &Menu{at: at, Items: items, area: make([]ClickArea, len(items)), Chosen: -1}
}

// Layout draws the menu. over is true once the menu closes: do is the action of the line
// that was clicked, nil for a click elsewhere.
func (m *Menu) Layout(u *ui.UI, size image.Point) (over bool, do func()) {
	th := u.Theme
	st := ui.Style{Size: 12.5, Color: th.Text}
	w := u.Px(144)
	for _, it := range m.Items {
		w = max(w, u.Measure(it.Title, st).X+u.Measure(it.Detail, st).X+u.Px(70))
	}
	w = min(w, size.X-u.Px(16))
	line, rule, h := u.Px(28), u.Px(9), u.Px(10)
	lines := 0
	for _, it := range m.Items {
		if it.Title == "" {
			h += rule
		} else {
			lines++
		}
	}
	if lines > 0 { // in a low window, lines are lower, so that the last is in it
		line = max(u.Px(17), min(line, (size.Y-u.Px(12)-h)/lines))
	}
	h += lines * line
	x := max(u.Px(4), min(m.at.X, size.X-w-u.Px(8)))
	y := max(u.Px(4), min(m.at.Y, size.Y-h-u.Px(8)))
	for {
		ev, ok := u.Event(pointer.Filter{Target: m, Kinds: pointer.Press | pointer.Move})
		if !ok {
			break
		}
		if e, ok := ev.(pointer.Event); ok && e.Kind == pointer.Press {
			over = true
		}
	}
	all := clip.Rect(image.Rectangle{Max: size}).Push(u.Ops)
	event.Op(u.Ops, m)
	all.Pop()
	box := ui.Rect(x, y, w, h)
	u.Round(box.Add(image.Pt(0, u.Px(2))), 8, theme.WithAlpha(ui.Colour{}, .25))
	u.Round(box, 8, th.Raised)
	u.Border(box, 8, 1, th.Rule)
	y += u.Px(5)
	for i, it := range m.Items {
		if it.Title == "" {
			u.HLine(x, x+w, y+rule/2, th.Rule)
			y += rule
			continue
		}
		r := ui.Rect(x+u.Px(5), y, w-u.Px(10), line)
		y += line
		if it.Head {
			u.Text(image.Rect(r.Min.X+u.Px(8), r.Min.Y, r.Max.X, r.Max.Y), it.Title, ui.Style{Size: 12, Color: th.Dim})
			continue
		}
		if m.line(u, r, i) {
			over, do = true, it.Do
		}
	}
	return over, do
}

// line draws a line of the menu in r and reports whether it was clicked.
func (m *Menu) line(u *ui.UI, r image.Rectangle, i int) bool {
	th, it := u.Theme, &m.Items[i]
	clicked, hovered := m.area[i].Clicked(u, r)
	if hovered {
		u.Round(r, 5, theme.WithAlpha(th.Text, .08))
	}
	if i == m.Chosen {
		u.Round(r, 5, theme.WithAlpha(th.Accent, .22))
		u.Ring(r, 5)
	}
	if i := icon.Of(it.Title); i != nil {
		color := th.Dim
		if it.On {
			color = th.Accent
		}
		u.Icon(i, ui.Rect(r.Min.X+u.Px(3), r.Min.Y, u.Px(16), r.Dy()), color)
	} else if it.On {
		u.Round(ui.Rect(r.Min.X+u.Px(8), r.Min.Y+r.Dy()/2-u.Px(3), u.Px(6), u.Px(6)), 3, th.Accent)
	}
	end := r.Max.X
	if it.Detail != "" {
		end -= u.Measure(it.Detail, ui.Style{Size: 12}).X + u.Px(18)
	}
	u.Text(image.Rect(r.Min.X+u.Px(26), r.Min.Y, end, r.Max.Y), it.Title, ui.Style{Size: 12.5, Color: th.Text})
	u.Text(image.Rect(r.Min.X, r.Min.Y, r.Max.X-u.Px(10), r.Max.Y), it.Detail, ui.Style{Size: 12, Color: th.Dim, Align: ui.End})
	return clicked
}

// Key moves among the lines; the first letter of a line jumps to it. If the key takes a
// line, the menu closes and Key returns the line's action.
func (m *Menu) Key(k key.Event) (do func()) {
	n := len(m.Items)
	if n == 0 {
		return nil
	}
	switch k.Name {
	case key.NameDownArrow, key.NameRightArrow:
		m.move(1)
	case key.NameUpArrow, key.NameLeftArrow:
		m.move(n - 1)
	case key.NameTab:
		d := 1
		if k.Modifiers.Contain(key.ModShift) {
			d = n - 1
		}
		m.move(d)
	case key.NameHome:
		m.Chosen = n - 1
		m.move(1)
	case key.NameEnd:
		m.Chosen = 0
		m.move(n - 1)
	case key.NameReturn, key.NameSpace:
		if m.Chosen >= 0 {
			return m.Items[m.Chosen].Do
		}
	default:
		for d := 1; d <= n; d++ {
			i := (m.Chosen + d) % n
			if m.Items[i].chosen() && strings.HasPrefix(strings.ToUpper(m.Items[i].Title), string(k.Name)) {
				m.Chosen = i
				break
			}
		}
	}
	return nil
}

// move moves the selection by d lines, skipping rules and headings.
func (m *Menu) move(d int) {
	n := len(m.Items)
	if m.Chosen < 0 && d != 1 {
		m.Chosen = 0
	}
	for range n {
		if m.Chosen = (m.Chosen + d) % n; m.Items[m.Chosen].chosen() {
			return
		}
	}
}
