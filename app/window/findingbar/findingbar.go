// Package findingbar implements the row of findings: sentences about what is unusual in a
// recording, each a link to the view that shows it.
package findingbar

import (
	"image"

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
	// Found are the findings, the most important first.
	Found []findings.Finding
	// Note is the text shown without findings: they are being computed, or there are none.
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
	leastRoom   = 360 // dp; a second sentence is shown only if it has at least this width
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
	if len(c.Found) == 0 {
		u.Text(image.Rect(x, r.Min.Y, end, r.Max.Y), c.Note, ui.Style{Size: textSize, Color: th.Dim})
		return
	}
	widths := b.fit(u, c.Found, end-x)
	if rest := len(c.Found) - len(widths); rest > 0 {
		text := units.Count(int64(rest)) + " more"
		w := u.ChoiceWidth(nil, text, 0)
		widths = b.fit(u, c.Found, end-x-w-u.Px(gap))
		if left := len(c.Found) - len(widths); left != rest {
			text = units.Count(int64(left)) + " more"
		}
		at := image.Pt(end-w, r.Min.Y+u.Px(1))
		u.Choice(&b.more, at.X, at.Y, text, 0)
		if b.more.Clicked(u.Context) {
			h.Menu = widget.NewMenu(image.Pt(at.X, r.Max.Y), items(c))
			h.Wake()
		}
	}
	for i, w := range widths {
		b.claim(h, u, i, ui.Rect(x, r.Min.Y+u.Px(3), w, u.Px(22)), c)
		x += w + u.Px(gap)
	}
}

// fit returns the widths of the sentences that are shown in a row of a width: two if the
// second has enough room, else the first.
func (b *Bar) fit(u *ui.UI, found []findings.Finding, room int) (widths []int) {
	need := func(i int) int { return u.Measure(sentence(&found[i]), ui.Style{Size: textSize}).X + u.Px(dotRoom+2) }
	first := need(0)
	if least := u.Px(leastRoom); len(found) > 1 {
		second := need(1)
		if left := room - u.Px(gap) - first; left >= min(second, least) {
			return []int{first, min(second, left)}
		}
		if room >= 2*least+u.Px(gap) {
			second = min(second, least)
			return []int{min(first, room-u.Px(gap)-second), second}
		}
	}
	return []int{min(first, room)}
}

// sentence returns the claim of a finding on one line.
func sentence(f *findings.Finding) string { return safetext.Text(f.Claim) }

// claim draws a sentence in r, the ith in the row.
func (b *Bar) claim(h *panel.Host, u *ui.UI, i int, r image.Rectangle, c Content) {
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
		u.Round(ui.Rect(r.Min.X, (r.Min.Y+r.Max.Y-dot)/2, dot, dot), 3, th.Accent)
		in := image.Rect(r.Min.X+u.Px(dotRoom), r.Min.Y, r.Max.X, r.Max.Y)
		st := ui.Style{Size: textSize, Color: color}
		text := sentence(f)
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

// items lists all findings in a menu.
func items(c Content) (all []widget.Item) {
	for i := range c.Found {
		f := &c.Found[i]
		title := []rune(sentence(f))
		if len(title) > mostLetters {
			title = append(title[:mostLetters-1:mostLetters-1], '…')
		}
		all = append(all, widget.Item{Title: string(title), Detail: f.Rule, Do: func() { c.Show(f) }})
	}
	return all
}

// Tooltip shows the whole finding under the pointer or with the keyboard focus.
func (b *Bar) Tooltip(u *ui.UI) {
	if b.tip == nil {
		return
	}
	lines := widget.Wrapped(sentence(b.tip))
	lines = append(lines, widget.Wrapped("False alarm if "+b.tip.WrongWhen)...)
	widget.Tip(u, b.at, "Finding", append(lines, "Click to show the evidence"))
}
