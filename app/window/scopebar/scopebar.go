// Package scopebar implements the scope bar: one chip for each limit on the scope.
// Clicking a chip shows or edits the limit, and its cross removes it.
package scopebar

import (
	"image"
	"math"
	"strconv"
	"strings"

	"ashlar/app/window/panel"
	"ashlar/render/ui"
	"ashlar/render/units"
	"ashlar/render/widget"
)

// Height is the height of the bar in dp. The bar is always visible, so that nothing moves
// when chips come and go.
const Height = 26

// A Chip is one limit on the scope, or something else that affects the numbers below.
type Chip struct {
	// Kind is the kind of limit, and Text its value.
	Kind, Text string
	// More are more lines of its tooltip.
	More []string
	// Go shows or edits the limit, nil for nothing; Off removes it.
	Go, Off func()
	// Adds marks a chip that offers something, such as excluded data: it is not a limit and
	// has no cross.
	Adds bool
}

func (c *Chip) words() string { return strings.TrimSpace(c.Kind + " " + c.Text) }

// A Group is the chips of one side of a comparison, or of both.
type Group struct {
	Side  string // A or B; "" for chips of both
	Chips []Chip
}

// Last removes the last limit, and reports whether there was one.
func Last(groups []Group) bool {
	for i := len(groups) - 1; i >= 0; i-- {
		for k := len(groups[i].Chips) - 1; k >= 0; k-- {
			if c := &groups[i].Chips[k]; !c.Adds {
				c.Off()
				return true
			}
		}
	}
	return false
}

// Texts returns the limits as text, for the frame log.
func Texts(groups []Group) (texts []string) {
	for _, g := range groups {
		for _, c := range g.Chips {
			if !c.Adds {
				texts = append(texts, strings.TrimSpace(g.Side+" "+c.words()))
			}
		}
	}
	return texts
}

// whole reports whether no chip is a limit.
func (g *Group) whole() bool {
	for i := range g.Chips {
		if !g.Chips[i].Adds {
			return false
		}
	}
	return true
}

// Switch is a choice of scopes at the left of the row. It is not drawn without titles.
type Switch struct {
	Titles   []string
	On       int // -1 for none
	Set      func(int)
	segments widget.Segments
}

// width returns the width of the switch with the space after it.
func (s *Switch) width(u *ui.UI) int {
	if len(s.Titles) == 0 {
		return 0
	}
	return s.segments.Width(u, s.Titles) + u.Px(10)
}

func (s *Switch) layout(h *panel.Host, u *ui.UI, x, y int) {
	if i := s.segments.Layout(u, x, y, s.Titles, s.On); i >= 0 {
		s.Set(i)
		h.Wake()
	}
}

// Bar draws the row and handles clicks on it.
type Bar struct {
	Switch          Switch
	bodies, crosses []widget.ClickArea
	others          widget.ClickArea // the count of chips that do not fit
	tip             *Chip
	at              image.Point
	// Boxes are the positions of the chips in the last frame, in order. Rest is the
	// position of the count of chips that did not fit; empty if all did.
	Boxes []image.Rectangle
	Rest  image.Rectangle
}

const (
	textSize  = 11.5
	leastChip = 64 // dp: a narrower chip is unreadable
	crossRoom = 18
	badgeRoom = 22
	countRoom = 40 // width of the count of chips that do not fit
)

// Layout draws the row in r. If there is room, it draws the text right at the right end.
func (b *Bar) Layout(h *panel.Host, u *ui.UI, r image.Rectangle, groups []Group, right string) {
	th := u.Theme
	b.tip, b.Boxes, b.Rest = nil, b.Boxes[:0], image.Rectangle{}
	u.Fill(r, th.Surface)
	u.HLine(r.Min.X, r.Max.X, r.Max.Y-1, th.Rule)
	x, end := r.Min.X+u.Px(14), r.Max.X-u.Px(12)
	if w := b.Switch.width(u); w > 0 {
		b.Switch.layout(h, u, x-u.Px(8), r.Min.Y+u.Px(2))
		x += w
	}
	widths, all := b.measure(u, groups)
	rs := ui.Style{Size: textSize, Color: th.Dim, Align: ui.End}
	if w := u.Measure(right, rs).X; w > 0 && x+all+u.Px(16)+w <= end {
		u.Text(image.Rect(end-w, r.Min.Y, end+1, r.Max.Y), right, rs)
		end -= w + u.Px(16)
	}
	most := narrowed(widths, all-(end-x), u.Px(leastChip))
	if least := all - sum(widths) + sumAtMost(widths, most); least > end-x {
		end -= u.Px(countRoom)
	}
	n := 0
	for gi := range groups {
		g := &groups[gi]
		if g.Side != "" {
			b.badge(u, ui.Rect(x, r.Min.Y+u.Px(6), u.Px(14), u.Px(14)), g.Side)
			x += u.Px(badgeRoom)
		}
		if text := b.wholeText(g, groups); text != "" {
			st := ui.Style{Size: textSize, Color: th.Dim}
			w := u.Measure(text, st).X
			u.Text(image.Rect(x, r.Min.Y, x+w+u.Px(2), r.Max.Y), text, st)
			x += w + u.Px(10)
		}
		for i := range g.Chips {
			w := min(widths[n], most)
			if x+w > end {
				b.rest(h, u, ui.Rect(x, r.Min.Y+u.Px(3), u.Px(countRoom-6), u.Px(20)), groups, n)
				return
			}
			b.chip(h, u, n, ui.Rect(x, r.Min.Y+u.Px(3), w, u.Px(20)), &g.Chips[i])
			x += w + u.Px(6)
			n++
		}
		x += u.Px(8)
	}
}

// wholeText returns the text for a group without limits. It is "" if the group has
// limits, or if the bar has a switch, which shows the scope itself.
func (b *Bar) wholeText(g *Group, groups []Group) string {
	if len(b.Switch.Titles) > 0 || !g.whole() || g.Side == "" && len(groups) > 1 {
		return ""
	}
	return "Whole recording"
}

// measure returns the widths of the chips and of the whole row.
func (b *Bar) measure(u *ui.UI, groups []Group) (widths []int, all int) {
	for i := range groups {
		g := &groups[i]
		if g.Side != "" {
			all += u.Px(badgeRoom)
		}
		if text := b.wholeText(g, groups); text != "" {
			all += u.Measure(text, ui.Style{Size: textSize}).X + u.Px(10)
		}
		for k := range g.Chips {
			c := &g.Chips[k]
			w := u.Measure(c.Text, ui.Style{Size: textSize}).X + u.Px(22)
			if c.Kind != "" {
				w += u.Measure(c.Kind, ui.Style{Size: textSize}).X + u.Px(5)
			}
			if !c.Adds {
				w += u.Px(crossRoom - 8)
			}
			widths = append(widths, w)
			all += w + u.Px(6)
		}
		all += u.Px(8)
	}
	return widths, all
}

// narrowed returns the width to which chips must be limited to save some pixels. The
// widest chips shrink first, and no limit is below least.
func narrowed(widths []int, save, least int) int {
	most := least
	for _, w := range widths {
		most = max(most, w)
	}
	for ; save > 0 && most > least; most-- {
		for _, w := range widths {
			if w >= most {
				save--
			}
		}
	}
	return most
}

// sum adds up widths; sumAtMost counts each as at most most.
func sum(widths []int) (all int) { return sumAtMost(widths, math.MaxInt) }

func sumAtMost(widths []int, most int) (all int) {
	for _, w := range widths {
		all += min(w, most)
	}
	return all
}

// badge draws the letter of a side: A is grey and B has the accent, everywhere.
func (b *Bar) badge(u *ui.UI, r image.Rectangle, side string) {
	color, text := u.Theme.Dim, u.Theme.Background
	if side == "B" {
		color, text = u.Theme.Accent, u.Theme.OnAccent
	}
	u.Round(r, 4, color)
	u.Text(r, side, ui.Style{Size: 10, Weight: ui.Medium, Color: text, Align: ui.Middle})
}

// rest draws the count of the chips from the nth on, which do not fit. Its tooltip names
// them, and a click lists the actions for each.
func (b *Bar) rest(h *panel.Host, u *ui.UI, r image.Rectangle, groups []Group, n int) {
	th := u.Theme
	all := &Chip{Adds: true, More: []string{"Click for actions"}}
	var items []widget.Item
	var named []string
	for i := range groups {
		for k := range groups[i].Chips {
			if n--; n >= 0 {
				continue
			}
			c := &groups[i].Chips[k]
			words := strings.TrimSpace(groups[i].Side + " " + c.words())
			named = append(named, words)
			var own []widget.Item
			if c.Go != nil {
				own = append(own, widget.Item{Title: short(words), Detail: c.More[len(c.More)-1], Do: c.Go})
			}
			if !c.Adds {
				own = append(own, widget.Item{Title: short(words), Detail: "Remove", Do: c.Off})
			}
			items = widget.Grouped(items, own)
		}
	}
	all.Text, all.More = units.Plural(int64(len(named)), "more filter"), append(named, all.More...)
	clicked, hovered := b.others.Clicked(u, r)
	border, text := th.Rule, th.Dim
	if hovered {
		border, text = th.Accent, th.Text
		b.tip, b.at = all, image.Pt(r.Min.X-u.Px(14), r.Max.Y-u.Px(10))
	}
	u.Border(r, 10, 1, border)
	u.Text(r, "+"+strconv.Itoa(len(named)), ui.Style{Size: textSize, Color: text, Align: ui.Middle})
	b.Rest = r
	if clicked {
		h.Menu = widget.NewMenu(image.Pt(r.Min.X, r.Max.Y), items)
		h.Wake()
	}
}

// short cuts a chip's text to fit in a menu.
func short(s string) string {
	const most = 60
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}

// chip draws a chip in r, the nth of all, and handles clicks on it.
func (b *Bar) chip(h *panel.Host, u *ui.UI, n int, r image.Rectangle, c *Chip) {
	for len(b.bodies) <= n {
		b.bodies, b.crosses = append(b.bodies, widget.ClickArea{}), append(b.crosses, widget.ClickArea{})
	}
	th := u.Theme
	body, cross := r, image.Rectangle{}
	if !c.Adds {
		body.Max.X -= u.Px(crossRoom)
		cross = image.Rect(body.Max.X, r.Min.Y, r.Max.X, r.Max.Y)
	}
	clicked, hovered := b.bodies[n].Clicked(u, body)
	var off, over bool
	if !c.Adds {
		off, over = b.crosses[n].Clicked(u, cross)
	}
	border, text := th.Rule, th.Text
	if c.Adds {
		text = th.Dim
	} else {
		u.Round(r, 10, th.Raised)
	}
	if hovered || over {
		border, text = th.Accent, th.Text
		b.tip, b.at = c, image.Pt(r.Min.X-u.Px(14), r.Max.Y-u.Px(10))
	}
	u.Border(r, 10, 1, border)
	x := body.Min.X + u.Px(10)
	if c.Kind != "" {
		w := u.Measure(c.Kind, ui.Style{Size: textSize}).X
		u.Text(image.Rect(x, r.Min.Y, min(x+w+1, body.Max.X), r.Max.Y), c.Kind, ui.Style{Size: textSize, Color: th.Dim})
		x += w + u.Px(5)
	}
	in := image.Rect(x, r.Min.Y, r.Max.X-u.Px(9), r.Max.Y)
	if !c.Adds {
		in.Max.X = body.Max.X
		color := th.Faint
		if over {
			color = th.Accent
		}
		u.Text(cross.Sub(image.Pt(u.Px(2), 0)), "×", ui.Style{Size: 12.5, Color: color, Align: ui.Middle})
	}
	u.Text(in, h.Fonts.Regular(textSize*u.Metric.PxPerDp).Middle(c.Text, float32(in.Dx())), ui.Style{Size: textSize, Color: text})
	b.Boxes = append(b.Boxes, r)
	switch {
	case off:
		c.Off()
	case clicked && c.Go != nil:
		c.Go()
	default:
		return
	}
	h.Wake()
}

// Tooltip shows the full text of the chip under the pointer.
func (b *Bar) Tooltip(u *ui.UI) {
	c := b.tip
	if c == nil {
		return
	}
	lines := widget.Wrapped(c.words())
	title := lines[0]
	if lines = append(lines[1:], c.More...); !c.Adds {
		lines = append(lines, "× removes it")
	}
	widget.Tip(u, b.at, title, lines)
}
