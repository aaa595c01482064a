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
)

// Button draws a button with a word on it and returns its width. The width
// comes from the word when w is 0.
func (u *UI) Button(b *widget.Clickable, x, y, w int, label string, active bool) int {
	st := Style{Size: 12.5, Weight: font.Medium, Color: u.Theme.Text, Align: text.Middle}
	bg := u.Theme.Raised
	if active {
		bg, st.Color = u.Theme.Accent, u.Theme.OnAccent
	}
	if w == 0 {
		w = u.Measure(label, st).X + u.Px(20)
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
		u.Text(r, label, st)
	})
	return w
}

func tint(c color.NRGBA, a uint8) color.NRGBA {
	c.A = a
	return c
}

// Click makes r clickable and calls draw with what it should look like.
func (u *UI) Click(b *widget.Clickable, r image.Rectangle, draw func(hovered bool)) {
	if u.Item(b, r) {
		b.Click()
	}
	draw(b.Hovered())
	defer op.Offset(r.Min).Push(u.Ops).Pop()
	gtx := u.Context
	gtx.Constraints = layout.Exact(r.Size())
	// Layout throws away the clicks that nobody has asked for yet: they are
	// kept for who asks for them afterwards.
	clicks := 0
	for b.Clicked(gtx) {
		clicks++
	}
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

// Choice is a word with a small arrow that opens a menu; it returns its width.
func (u *UI) Choice(b *widget.Clickable, x, y int, label string, weight font.Weight) int {
	st := Style{Size: 12.5, Weight: weight, Color: u.Theme.Text}
	w := u.Measure(label, st).X
	r := Rect(x, y, w+u.Px(26), u.Px(26))
	u.Click(b, r, func(hovered bool) {
		if hovered {
			u.Round(r, 6, tint(u.Theme.Text, 14))
		}
		u.Text(image.Rect(r.Min.X+u.Px(6), r.Min.Y, r.Max.X, r.Max.Y), label, st)
		u.Arrow(r.Max.X-u.Px(10), (r.Min.Y+r.Max.Y)/2, u.Theme.Dim)
	})
	return r.Dx()
}

// Arrow draws a small triangle that points down, around x, y.
func (u *UI) Arrow(x, y int, c color.NRGBA) {
	n := u.Px(3)
	for i := range n + 1 {
		u.Fill(image.Rect(x-n+i, y-n/2+i, x+n-i+1, y-n/2+i+1), c)
	}
}
