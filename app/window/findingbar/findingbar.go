// Package findingbar implements the row of findings: sentences about what is unusual in a
// recording and what costs most, each a link to the view that shows it.
package findingbar

import (
	"image"
	"strings"

	"gioui.org/io/event"
	gio "gioui.org/widget"

	"ashlar/app/agent/findings"
	"ashlar/app/window/panel"
	"ashlar/ingest/input/safetext"
	"ashlar/render/ui"
	"ashlar/render/units"
	"ashlar/render/widget"
)

// Height is the height of the row in dp. The row is there before its findings are, so that
// nothing moves when they arrive.
const Height = 28

// Content holds the texts of the row and the actions of clicks on it.
type Content struct {
	// Found are the findings, the most important first: what is unusual before costs.
	Found []findings.Finding
	// Note is the text before the findings: they are being computed, or none is unusual.
	Note string
	// Show shows the evidence of a finding; Close closes the row.
	Show  func(f *findings.Finding)
	Close func()
}

// Bar draws the row and handles clicks on it.
type Bar struct {
	claims      [mostShown]gio.Clickable
	more, close gio.Clickable
	tip         *findings.Finding
	at          image.Point
	// Boxes are the positions of the sentences in the last frame.
	Boxes []image.Rectangle
}

const (
	mostShown   = 2   // maximum number of sentences in the row; the menu lists all
	mostLetters = 100 // maximum length of a sentence in the menu, in characters
	textSize    = 12
	dotRoom     = 14
	gap         = 22
)

// Tag is the row's area of the keyboard focus.
func (b *Bar) Tag() event.Tag { return &b.close }

// Layout draws the row in r.
func (b *Bar) Layout(h *panel.Host, u *ui.UI, r image.Rectangle, c Content) {
	th := u.Theme
	b.tip, b.Boxes = nil, b.Boxes[:0]
	u.Area(b.Tag(), nil)
	defer u.NoArea()
	u.Fill(r, th.Surface)
	u.HLine(r.Min.X, r.Max.X, r.Max.Y-1, th.Rule)
	x, end := r.Min.X+u.Px(14), r.Max.X-u.Px(12)
	cross := ui.Rect(end-u.Px(20), r.Min.Y+u.Px(4), u.Px(20), u.Px(20))
	u.Click(&b.close, cross, func(hovered bool) {
		color := th.Faint
		if hovered {
			color = th.Accent
		}
		u.Text(cross, "×", ui.Style{Size: 14, Color: color, Align: ui.Middle})
	})
	if b.close.Clicked(u.Context) {
		c.Close()
		h.Wake()
	}
	end = cross.Min.X - u.Px(8)
	note := ui.Style{Size: textSize, Color: th.Dim}
	u.Text(image.Rect(x, r.Min.Y, end, r.Max.Y), c.Note, note)
	if len(c.Found) == 0 {
		return
	}
	if c.Note != "" {
		x += u.Measure(c.Note, note).X + u.Px(gap)
	}
	shown := fit(u, c.Found, end-x)
	if rest := len(c.Found) - len(shown); rest > 0 {
		text := units.Count(int64(rest)) + " more"
		w := u.ChoiceWidth(nil, text, 0)
		shown = fit(u, c.Found, end-x-w-u.Px(gap))
		if left := len(c.Found) - len(shown); left != rest {
			text = units.Count(int64(left)) + " more"
		}
		at := image.Pt(end-w, r.Min.Y+u.Px(1))
		u.Choice(&b.more, at.X, at.Y, text, 0)
		if b.more.Clicked(u.Context) {
			h.Menu = widget.NewMenu(image.Pt(at.X, r.Max.Y), items(c))
			h.Wake()
		}
	}
	for i, text := range shown {
		w := min(need(u, text), end-x)
		b.claim(h, u, i, text, ui.Rect(x, r.Min.Y+u.Px(3), w, u.Px(22)), c)
		x += w + u.Px(gap)
	}
}

// fit returns the sentences shown in a row of a width: the first and, if there is room for
// a number of it, the second.
func fit(u *ui.UI, found []findings.Finding, room int) (shown []string) {
	in := func(room int, text string) (string, bool) {
		return brief(text, func(text string) bool { return need(u, text) <= room })
	}
	text := sentence(&found[0])
	first, whole := in(room, text)
	if len(found) == 1 || !whole {
		return []string{first}
	}
	second := sentence(&found[1])
	for _, text := range []string{first, shortest(text)} {
		if rest, whole := in(room-u.Px(gap)-need(u, text), second); whole {
			return []string{text, rest}
		}
	}
	left := room - u.Px(gap) - need(u, first)
	if rest, _ := in(left, second); need(u, rest) <= left && strings.ContainsAny(rest, "0123456789") {
		return []string{first, rest}
	}
	return []string{first}
}

// need returns the width of a sentence in the row.
func need(u *ui.UI, text string) int {
	return u.Measure(text, ui.Style{Size: textSize}).X + u.Px(dotRoom+2)
}

// sentence returns the claim of a finding on one line.
func sentence(f *findings.Finding) string { return safetext.Text(f.Claim) }

// claim draws the text of the ith finding in r.
func (b *Bar) claim(h *panel.Host, u *ui.UI, i int, text string, r image.Rectangle, c Content) {
	th, f := u.Theme, &c.Found[i]
	k := &b.claims[i]
	u.Click(k, r, func(hovered bool) {
		color := th.Text
		if hovered {
			color = th.Accent
		}
		if hovered || u.Focus.On(k) {
			b.tip, b.at = f, image.Pt(r.Min.X-u.Px(14), r.Max.Y-u.Px(10))
		}
		dot := u.Px(6)
		mark := th.Accent
		if f.Kind == findings.Cost {
			mark = th.Faint
		}
		u.Round(ui.Rect(r.Min.X, (r.Min.Y+r.Max.Y-dot)/2, dot, dot), 3, mark)
		in := image.Rect(r.Min.X+u.Px(dotRoom), r.Min.Y, r.Max.X, r.Max.Y)
		st := ui.Style{Size: textSize, Color: color}
		if u.Measure(text, st).X > in.Dx() {
			text = h.Fonts.Regular(textSize*u.Metric.PxPerSp).Cut(text, float32(in.Dx()-u.Px(2)))
		}
		u.Text(in, text, st)
	})
	if k.Clicked(u.Context) {
		c.Show(f)
		h.Wake()
	}
	b.Boxes = append(b.Boxes, r)
}

// items lists all findings in a menu, by kind.
func items(c Content) []widget.Item {
	list := func(title string, all []findings.Finding) (items []widget.Item) {
		if len(all) > 0 {
			items = append(items, widget.Item{Title: title, Head: true})
		}
		for i := range all {
			f := &all[i]
			title := []rune(sentence(f))
			if len(title) > mostLetters {
				title = append(title[:mostLetters-1:mostLetters-1], '…')
			}
			items = append(items, widget.Item{Title: string(title), Detail: f.Rule, Do: func() { c.Show(f) }})
		}
		return items
	}
	unusual, costs := findings.Split(c.Found)
	title := ""
	if len(costs) > 0 {
		title = findings.CostTitle(costs[0].Size.Unit)
	}
	return widget.Grouped(list("Unusual", unusual), list(title, costs))
}

// Tooltip shows the whole finding under the pointer or with the keyboard focus.
func (b *Bar) Tooltip(u *ui.UI) {
	if b.tip == nil {
		return
	}
	lines := widget.Wrapped(sentence(b.tip))
	title, harmless := "Unusual", "False alarm if "
	if b.tip.Kind == findings.Cost {
		title, harmless = "Cost", "Harmless if "
	}
	lines = append(lines, widget.Wrapped(harmless+b.tip.WrongWhen)...)
	widget.Tip(u, b.at, title, append(lines, "Click to show the evidence"))
}
