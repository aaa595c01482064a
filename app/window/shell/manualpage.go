package shell

import (
	"image"
	"strings"

	"gioui.org/io/key"
	"gioui.org/io/pointer"

	"ashlar/app/core/manual"
	"ashlar/render/theme"
	"ashlar/render/ui"
	"ashlar/render/widget"
)

// manualPage is a page of the manual shown in the window.
type manualPage struct {
	widget.List
	bar   widget.ScrollBar
	at    int      // index in manual.Pages
	lines []string // wrapped to wide columns
	of    int      // number of the page in lines, from 1; 0 for none
	wide  int      // line length in characters
}

// openManual lists the manual's pages to choose from.
func (s *Shell) openManual() {
	pages := manual.Pages()
	s.OpenChooser(widget.NewChooser("Manual page", "", func(text string) (ls []widget.Line) {
		for i, p := range pages {
			if widget.HasWords(p.Title+" "+p.Line, text) {
				ls = append(ls, widget.Line{Title: p.Title, Detail: p.Line, Take: func() {
					s.Chooser, s.Help, s.reading = nil, true, &manualPage{at: i}
				}})
			}
		}
		return ls
	}))
}

// Sizes of the page, in dp.
const (
	manualWidth = 820
	manualLine  = 18
	manualText  = 12.5
)

// layout draws the page over everything else.
func (m *manualPage) layout(s *Shell, u *ui.UI, full image.Rectangle) {
	th := u.Theme
	u.Fill(full, theme.WithAlpha(th.Background, .6))
	s.shield(u, full)
	w, h := min(u.Px(manualWidth), full.Dx()-u.Px(32)), full.Dy()-u.Px(48)
	box := ui.Rect(full.Min.X+(full.Dx()-w)/2, full.Min.Y+(full.Dy()-h)/2, w, h)
	u.Round(box, 10, th.Raised)
	u.Border(box, 10, 1, th.Rule)
	head := image.Rect(box.Min.X+u.Px(24), box.Min.Y+u.Px(12), box.Max.X-u.Px(24), box.Min.Y+u.Px(38))
	pages := manual.Pages()
	u.Text(head, pages[m.at].Title, ui.Style{Size: 15, Weight: ui.Medium, Color: th.Text})
	u.Text(head, "Left, Right: other pages   F1: all   Esc: close", ui.Style{Size: 12, Color: th.Dim, Align: ui.End})
	u.HLine(box.Min.X, box.Max.X, head.Max.Y+u.Px(4), th.Rule)
	body := image.Rect(head.Min.X, head.Max.Y+u.Px(12), box.Max.X-u.Px(14), box.Max.Y-u.Px(10))
	st := ui.Style{Size: manualText, Color: th.Text, Mono: true}
	m.fill(pages[m.at].Blocks, body.Dx()*100/max(1, u.Measure(strings.Repeat("0", 100), st).X)-2)
	line := u.Px(manualLine)
	m.Events(u, body, line, len(m.lines), func(widget.Gesture, int) {})
	u.At(body, func(u *ui.UI) {
		m.Rows(body, line, len(m.lines), func(i int, at image.Rectangle) {
			look := st
			if i+1 < len(m.lines) && isRule(m.lines[i+1]) {
				look = ui.Style{Size: 13.5, Weight: ui.Medium, Color: th.Text}
			}
			if !isRule(m.lines[i]) {
				u.Text(at, m.lines[i], look)
			}
		})
	})
	m.Area(u, body, pointer.CursorDefault)
	m.bar.Layout(u, image.Rect(body.Max.X, body.Min.Y, box.Max.X-u.Px(2), body.Max.Y), (len(m.lines)+1)*line, &m.Down, th.Faint, th.Dim)
}

// fill wraps the page's text to a number of columns, without its title.
func (m *manualPage) fill(blocks []manual.Block, columns int) {
	if m.of == m.at+1 && m.wide == columns {
		return
	}
	if m.of != m.at+1 {
		m.Down = 0
	}
	m.of, m.wide = m.at+1, columns
	if len(blocks) > 0 && blocks[0].Kind == manual.Heading {
		blocks = blocks[1:]
	}
	m.lines = strings.Split(strings.TrimRight(manual.Plain(blocks, columns), "\n"), "\n")
}

// isRule reports whether a line is the rule under a heading.
func isRule(line string) bool { return line != "" && strings.Trim(line, "-") == "" }

// press scrolls, or turns to another page.
func (m *manualPage) press(k key.Event) bool {
	n := len(manual.Pages())
	switch {
	case k.Modifiers == 0 && k.Name == key.NameRightArrow:
		m.at = (m.at + 1) % n
	case k.Modifiers == 0 && k.Name == key.NameLeftArrow:
		m.at = (m.at + n - 1) % n
	default:
		return m.Turn(k)
	}
	return true
}
