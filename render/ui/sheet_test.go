package ui

import (
	"image"
	"image/color"
	"testing"

	"gioui.org/layout"
	"gioui.org/op"
	"gioui.org/unit"

	"ashlar/render/raster"
	"ashlar/render/theme"
)

// TestSheetIsPaintedWhenItChanges checks that a sheet with the same items reuses its
// picture, and that any change but of its position paints a new one.
func TestSheetIsPaintedWhenItChanges(t *testing.T) {
	u := &UI{Context: layout.Context{Ops: new(op.Ops), Metric: unit.Metric{PxPerDp: 1, PxPerSp: 1}}, Theme: theme.Dark, Faces: new(raster.Faces)}
	var s Sheet
	size, text, ground := image.Rect(0, 0, 100, 40), "12.4 ms", theme.Dark.Background
	show := func() *Picture {
		s.Fill(image.Rect(0, 0, 100, 20), 0, color.NRGBA{R: 255, A: 20})
		s.Text(image.Rect(0, 0, 100, 20), text, Style{Size: 12, Color: theme.Dark.Text})
		s.Show(u, size, ground)
		return s.shown
	}
	last := show()
	for range 2 {
		if show() == last {
			continue
		}
		t.Error("what has not changed is painted again")
	}
	for _, c := range []struct {
		what   string
		change func()
	}{
		{"a text", func() { text = "12.5 ms" }},
		{"the ground", func() { ground = theme.Dark.Raised }},
		{"the size", func() { size.Max.Y = 60 }},
		{"the place", func() { size = size.Add(image.Pt(0, 1)) }},
		{"the scale", func() { u.Metric.PxPerDp, u.Metric.PxPerSp = 2, 2 }},
	} {
		c.change()
		if changed := show() != last; changed != (c.what != "the place") {
			t.Errorf("when %s changes the picture does: %v", c.what, changed)
		}
		last = s.shown
	}
}

// TestSheetPlacesTexts checks that texts are drawn where their style aligns them, and
// nowhere else.
func TestSheetPlacesTexts(t *testing.T) {
	u := &UI{Context: layout.Context{Ops: new(op.Ops), Metric: unit.Metric{PxPerDp: 1, PxPerSp: 1}}, Theme: theme.Dark, Faces: new(raster.Faces)}
	ink := color.NRGBA{R: 255, G: 255, B: 255, A: 255}
	const w = 200
	for _, text := range []string{"12.4 ms", "a name that is far too long for the box it has to stand in"} {
		face := u.Faces.Regular(12)
		width := int(face.Measure(face.Cut(text, w-40)))
		for _, c := range []struct {
			st       Style
			from, to int
		}{
			{Style{Size: 12, Color: ink}, 20, 20 + width},
			{Style{Size: 12, Color: ink, Align: 1}, w - 20 - width, w - 20},
			{Style{Size: 12, Color: ink, Align: 2}, w/2 - width/2, w/2 + width/2},
		} {
			canvas := raster.NewCanvas(w, 24, 0)
			i := sheetItem{image.Rect(20, 0, w-20, 24), text, c.st.Color, c.st.Size, c.st.Align, c.st.Weight}
			i.paint(u, canvas, color.NRGBA{})
			first, last, top, bottom := w, 0, 24, 0
			for y := range 24 {
				for x := range w {
					if canvas.Img.RGBAAt(x, y).R > 60 {
						first, last, top, bottom = min(first, x), max(last, x), min(top, y), max(bottom, y)
					}
				}
			}
			if first < c.from-1 || first > c.from+3 || last > c.to+1 || last < c.to-12 {
				t.Errorf("%q, %v: from %d to %d, want %d to %d", text, c.st.Align, first, last, c.from, c.to)
			}
			if top < 4 || bottom > 20 {
				t.Errorf("%q lies from row %d to %d of 24", text, top, bottom)
			}
		}
	}
}
