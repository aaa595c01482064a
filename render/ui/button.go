package ui

import (
	"image"
	"image/color"

	"gioui.org/font"
	"gioui.org/io/pointer"
	"gioui.org/layout"
	"gioui.org/op"
	"gioui.org/op/clip"
	"gioui.org/text"
	"gioui.org/widget"

	"ashlar/render/icon"
)

// Button draws a button with a label and returns its width. If w is 0, the width fits the
// label.
func (u *UI) Button(b *widget.Clickable, x, y, w int, label string, active bool) int {
	return u.IconButton(b, x, y, w, nil, label, active)
}

// IconButton is like Button with an icon before the label, or the icon alone if the label
// is empty.
func (u *UI) IconButton(b *widget.Clickable, x, y, w int, i *icon.Icon, label string, active bool) int {
	st := Style{Size: 12.5, Weight: font.Medium, Color: u.Theme.Text, Align: text.Middle}
	bg := u.Theme.Raised
	if active {
		bg, st.Color = u.Theme.Accent, u.Theme.OnAccent
	}
	left := 0
	if i != nil {
		left = u.Px(iconSize + 10)
	}
	if w == 0 {
		w = left
		if label != "" {
			w = u.Measure(label, st).X + u.Px(20) + max(0, left-u.Px(4))
		}
	}
	r := Rect(x, y, w, u.Px(26))
	u.Click(b, r, func(hovered bool) {
		u.Round(r, 6, bg)
		if hovered && !active {
			u.Round(r, 6, tint(u.Theme.Text, 18))
		}
		if !u.Theme.Dark && !active {
			u.Border(r, 6, 1, u.Theme.Rule)
		}
		word := r
		if i != nil {
			place := r
			if label != "" {
				place.Max.X = r.Min.X + left + u.Px(8)
				word.Min.X += left - u.Px(4)
			}
			u.Icon(i, place, st.Color)
		}
		u.Text(word, label, st)
	})
	return w
}

func tint(c color.NRGBA, a uint8) color.NRGBA {
	c.A = a
	return c
}

// Click makes r clickable and calls draw to paint it.
func (u *UI) Click(b *widget.Clickable, r image.Rectangle, draw func(hovered bool)) {
	if u.Item(b, r) {
		b.Click()
	}
	gtx := u.Context
	gtx.Constraints = layout.Exact(r.Size())
	// Layout discards clicks that have not been polled yet, so they are saved and
	// restored for callers that poll later. This also updates whether the pointer is over
	// the button.
	clicks := 0
	for b.Clicked(gtx) {
		clicks++
	}
	draw(b.Hovered())
	defer op.Offset(r.Min).Push(u.Ops).Pop()
	defer func() {
		for range clicks {
			b.Click()
		}
	}()
	b.Layout(gtx, func(gtx layout.Context) layout.Dimensions {
		defer clip.Rect(image.Rectangle{Max: r.Size()}).Push(gtx.Ops).Pop()
		pointer.CursorPointer.Add(gtx.Ops)
		return layout.Dimensions{Size: r.Size()}
	})
}

// Choice draws a word with a small arrow that opens a menu, and returns its width.
func (u *UI) Choice(b *widget.Clickable, x, y int, label string, weight font.Weight) int {
	return u.IconChoice(b, x, y, nil, label, weight)
}

// IconChoice is Choice with an icon before its word.
func (u *UI) IconChoice(b *widget.Clickable, x, y int, i *icon.Icon, label string, weight font.Weight) int {
	r := Rect(x, y, u.ChoiceWidth(i, label, weight), u.Px(26))
	u.Click(b, r, func(hovered bool) {
		if hovered {
			u.Round(r, 6, tint(u.Theme.Text, 14))
		}
		left := r.Min.X + u.Px(6)
		if i != nil {
			u.Icon(i, Rect(left, r.Min.Y, u.Px(iconSize), r.Dy()), u.Theme.Dim)
			left += u.Px(iconSize + 6)
		}
		u.Text(image.Rect(left, r.Min.Y, r.Max.X, r.Max.Y), label, Style{Size: 12.5, Weight: weight, Color: u.Theme.Text})
		u.Arrow(r.Max.X-u.Px(10), (r.Min.Y+r.Max.Y)/2, u.Theme.Dim)
	})
	return r.Dx()
}

// ChoiceWidth returns the width of a choice; i may be nil.
func (u *UI) ChoiceWidth(i *icon.Icon, label string, weight font.Weight) int {
	w := u.Measure(label, Style{Size: 12.5, Weight: weight}).X + u.Px(26)
	if i != nil {
		w += u.Px(iconSize + 6)
	}
	return w
}

// Arrow draws a small triangle that points down, around x, y.
func (u *UI) Arrow(x, y int, c color.NRGBA) {
	n := u.Px(3)
	for i := range n + 1 {
		u.Fill(image.Rect(x-n+i, y-n/2+i, x+n-i+1, y-n/2+i+1), c)
	}
}
