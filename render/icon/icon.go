// Package icon provides the icons of buttons and menus: Google's Material icons in IconVG,
// from golang.org/x/exp/shiny.
package icon

import (
	"fmt"
	"image"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/exp/shiny/iconvg"
)

// Icon is a picture of one colour on a square. Compare icons by their address.
type Icon struct {
	data []byte

	mu    sync.Mutex
	masks map[int]*image.Alpha
	path  string
}

// Box is the width and height of the square in the coordinates of [Icon.Path]; its middle
// is at 0, 0.
const Box = 48

// Mask returns the coverage of the icon on a square of px by px pixels, rasterised once
// per size. It must not be changed.
func (i *Icon) Mask(px int) *image.Alpha {
	i.mu.Lock()
	defer i.mu.Unlock()
	if m := i.masks[px]; m != nil {
		return m
	}
	m := image.NewAlpha(image.Rect(0, 0, px, px))
	var r iconvg.Rasterizer
	r.SetDstImage(m, m.Rect, 0)
	i.decode(&r)
	if i.masks == nil {
		i.masks = map[int]*image.Alpha{}
	}
	i.masks[px] = m
	return m
}

// Path returns the icon as SVG path data.
func (i *Icon) Path() string {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.path == "" {
		var w pathWriter
		i.decode(&w)
		i.path = w.String()
	}
	return i.path
}

func (i *Icon) decode(to iconvg.Destination) {
	if err := iconvg.Decode(to, i.data, nil); err != nil {
		panic("a built-in icon cannot be read: " + err.Error())
	}
}

// pathWriter converts IconVG path operators to the SVG path commands from which they
// derive. It writes the letter of each operator, a capital if coordinates are absolute.
type pathWriter struct{ strings.Builder }

func (w *pathWriter) step(letter string, v ...float32) {
	w.WriteString(letter)
	for i, x := range v {
		s := strconv.FormatFloat(float64(x), 'f', 3, 32)
		s = strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
		if s == "-0" {
			s = "0"
		}
		if i > 0 && s[0] != '-' {
			w.WriteByte(' ')
		}
		w.WriteString(s)
	}
}

func (w *pathWriter) arc(letter string, rx, ry, turn float32, large, sweep bool, x, y float32) {
	flag := map[bool]float32{true: 1}
	w.step(letter, rx, ry, turn*360, flag[large], flag[sweep], x, y)
}

func (w *pathWriter) StartPath(_ uint8, x, y float32)        { w.step("M", x, y) }
func (w *pathWriter) ClosePathEndPath()                      { w.step("z") }
func (w *pathWriter) ClosePathAbsMoveTo(x, y float32)        { w.step("zM", x, y) }
func (w *pathWriter) ClosePathRelMoveTo(x, y float32)        { w.step("zm", x, y) }
func (w *pathWriter) AbsHLineTo(x float32)                   { w.step("H", x) }
func (w *pathWriter) RelHLineTo(x float32)                   { w.step("h", x) }
func (w *pathWriter) AbsVLineTo(y float32)                   { w.step("V", y) }
func (w *pathWriter) RelVLineTo(y float32)                   { w.step("v", y) }
func (w *pathWriter) AbsLineTo(x, y float32)                 { w.step("L", x, y) }
func (w *pathWriter) RelLineTo(x, y float32)                 { w.step("l", x, y) }
func (w *pathWriter) AbsSmoothQuadTo(x, y float32)           { w.step("T", x, y) }
func (w *pathWriter) RelSmoothQuadTo(x, y float32)           { w.step("t", x, y) }
func (w *pathWriter) AbsQuadTo(x1, y1, x, y float32)         { w.step("Q", x1, y1, x, y) }
func (w *pathWriter) RelQuadTo(x1, y1, x, y float32)         { w.step("q", x1, y1, x, y) }
func (w *pathWriter) AbsSmoothCubeTo(x2, y2, x, y float32)   { w.step("S", x2, y2, x, y) }
func (w *pathWriter) RelSmoothCubeTo(x2, y2, x, y float32)   { w.step("s", x2, y2, x, y) }
func (w *pathWriter) AbsCubeTo(x1, y1, x2, y2, x, y float32) { w.step("C", x1, y1, x2, y2, x, y) }
func (w *pathWriter) RelCubeTo(x1, y1, x2, y2, x, y float32) { w.step("c", x1, y1, x2, y2, x, y) }
func (w *pathWriter) AbsArcTo(rx, ry, t float32, l, s bool, x, y float32) {
	w.arc("A", rx, ry, t, l, s, x, y)
}
func (w *pathWriter) RelArcTo(rx, ry, t float32, l, s bool, x, y float32) {
	w.arc("a", rx, ry, t, l, s, x, y)
}

// Icons have one colour, which the caller chooses, and one level of detail.
func (w *pathWriter) SetCSel(uint8)                     {}
func (w *pathWriter) SetNSel(uint8)                     {}
func (w *pathWriter) SetCReg(uint8, bool, iconvg.Color) {}
func (w *pathWriter) SetNReg(uint8, bool, float32)      {}
func (w *pathWriter) SetLOD(float32, float32)           {}
func (w *pathWriter) Reset(m iconvg.Metadata) {
	if m.ViewBox != (iconvg.Rectangle{Min: [2]float32{-Box / 2, -Box / 2}, Max: [2]float32{Box / 2, Box / 2}}) {
		panic(fmt.Sprintf("an icon is not on a square of %d: %v", Box, m.ViewBox))
	}
}
