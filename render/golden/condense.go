package golden

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"image"
	"image/color"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"ashlar/render/raster"
)

// dense is the number of bars from which a pasted picture is condensed.
const dense = 40

// cell is the width and height of the parts of a condensed picture, in pixels.
const cell = 16

var (
	pasted = regexp.MustCompile(`^<svg x="-?\d+" y="-?\d+" width="(\d+)" height="(\d+)">$`)
	// boxes and bar match the fills that a raster.Surface writes.
	boxes = regexp.MustCompile(`^<path fill="#(\w{6})"(?: fill-opacity="([\d.]+)")? d="([^"]*)"/>$`)
	box   = regexp.MustCompile(`M(-?\d+) (-?\d+)h(\d+)v(\d+)h-\d+z`)
	bar   = regexp.MustCompile(`^<rect x="(-?\d+)" y="(-?\d+)" width="(\d+)" height="(\d+)" rx="(\d+)" fill="#(\w{6})"/>$`)
	label = regexp.MustCompile(`<text x="(-?[\d.]+)" y="(-?[\d.]+)" font-size="([\d.]+)".* textLength="([\d.]+)"`)
	clip  = regexp.MustCompile(`^<svg x="(-?\d+)" y="(-?\d+)" `)

	outline   = regexp.MustCompile(`^(<path class="l" transform=.*) d="([^"]*)"/>`)
	textWidth = regexp.MustCompile(` textLength="([\d.]+)" lengthAdjust="spacingAndGlyphs"`)
)

// condense shortens a picture's text without hiding a change. Each line has one shape,
// and widths of texts are whole pixels. Pasted pictures with many bars, such as lanes
// with thousands of them, keep their texts; their bars are replaced by a hash, and by one
// letter per cell, which shows where a change is.
func condense(s string) string {
	lines := strings.SplitAfter(s, "\n")
	var out strings.Builder
	for i := 0; i < len(lines); i++ {
		out.WriteString(shorten(lines[i]))
		m := pasted.FindStringSubmatch(strings.TrimSuffix(lines[i], "\n"))
		if m == nil {
			continue
		}
		n := slices.Index(lines[i:], "</svg>\n")
		if n < 0 {
			continue
		}
		inner := lines[i+1 : i+n]
		if p := paint(number(m[1]), number(m[2]), inner); p != nil {
			out.WriteString(p.String())
			i += n - 1
		}
	}
	return out.String()
}

// shorten puts each of a path's boxes on a line of its own. It rounds the width of a
// text, removes the attributes that all texts share, and replaces an icon's outline by
// its hash.
func shorten(line string) string {
	if m := outline.FindStringSubmatch(line); m != nil {
		sum := sha256.Sum256([]byte(m[2]))
		return fmt.Sprintf("%s data-icon=\"%x\"/>\n", m[1], sum[:4])
	}
	if strings.HasPrefix(line, "<path") {
		return strings.ReplaceAll(line, "zM", "z\nM")
	}
	return textWidth.ReplaceAllStringFunc(line, func(s string) string {
		w, err := strconv.ParseFloat(textWidth.FindStringSubmatch(s)[1], 64)
		if err != nil {
			return s
		}
		return fmt.Sprintf(` textLength="%.0f"`, w)
	})
}

// painted is a pasted picture, with its texts kept apart.
type painted struct {
	*raster.Canvas
	bars  []image.Rectangle // in the order in which they were painted
	texts []writtenOn
}

// writtenOn is a text, and the number of bars painted before it.
type writtenOn struct {
	line string
	box  image.Rectangle
	bars int
}

// paint paints the lines of a picture of w by h pixels. It returns nil if there are few
// bars, or shapes other than bars and texts.
func paint(w, h int, lines []string) *painted {
	p := &painted{Canvas: raster.NewCanvas(w, h, 0)}
	for _, l := range lines {
		t := strings.TrimSuffix(l, "\n")
		if m := boxes.FindStringSubmatch(t); m != nil {
			p.boxes(colour(m[1]), m[2], m[3])
		} else if m := bar.FindStringSubmatch(t); m != nil {
			r := rect(m[1:])
			p.bars = append(p.bars, r)
			p.Bar(r.Min.X, r.Min.Y, r.Max.X, r.Max.Y, colour(m[6]), number(m[5]))
		} else if m := label.FindStringSubmatch(t); m != nil {
			p.texts = append(p.texts, writtenOn{shorten(l), textBox(t, m), len(p.bars)})
		} else {
			return nil
		}
	}
	if len(p.bars) < dense {
		return nil
	}
	return p
}

func (p *painted) boxes(c raster.Color, opacity, path string) {
	alpha := 1.0
	if opacity != "" {
		alpha, _ = strconv.ParseFloat(opacity, 64)
	}
	for _, m := range box.FindAllStringSubmatch(path, -1) {
		r := rect(m[1:])
		p.bars = append(p.bars, r)
		p.Shade(r.Min.X, r.Min.Y, r.Max.X, r.Max.Y, c, uint32(alpha*255+.5))
	}
}

// String returns the picture's hash, its cells and its texts. Each text has the number of
// bars painted over it later.
func (p *painted) String() string {
	var s strings.Builder
	fmt.Fprintf(&s, "<desc>%x\n", sha256.Sum256(p.Img.Pix))
	for y := 0; y < p.H; y += cell {
		var row []byte
		for x := 0; x < p.W; x += cell {
			row = append(row, p.letter(image.Rect(x, y, x+cell, y+cell).Intersect(p.Img.Rect)))
		}
		s.Write(append(row, '\n'))
	}
	s.WriteString("</desc>\n")
	for _, t := range p.texts {
		over := 0
		for _, b := range p.bars[t.bars:] {
			if b.Overlaps(t.box) {
				over++
			}
		}
		if over > 0 {
			t.line = strings.Replace(t.line, "<text ", fmt.Sprintf(`<text data-under="%d" `, over), 1)
		}
		s.WriteString(t.line)
	}
	return s.String()
}

// letter returns a letter of a cell's hash, or a point if the cell has only one colour.
func (p *painted) letter(r image.Rectangle) byte {
	h := sha256.New()
	first, plain := p.Img.RGBAAt(r.Min.X, r.Min.Y), true
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			c := p.Img.RGBAAt(x, y)
			plain = plain && c == first
			h.Write([]byte{c.R, c.G, c.B})
		}
	}
	if plain {
		return '.'
	}
	return base64.URLEncoding.EncodeToString(h.Sum(nil)[:1])[0]
}

// textBox returns the approximate box of a label in its picture.
func textBox(line string, m []string) image.Rectangle {
	v := [4]float64{}
	for i := range v {
		v[i], _ = strconv.ParseFloat(m[i+1], 64)
	}
	x, y, size, w := v[0], v[1], v[2], v[3]
	if m := clip.FindStringSubmatch(line); m != nil {
		x, y = x+float64(number(m[1])), y+float64(number(m[2]))
	}
	switch {
	case strings.Contains(line, `text-anchor="end"`):
		x -= w
	case strings.Contains(line, `text-anchor="middle"`):
		x -= w / 2
	}
	return image.Rect(int(x), int(y-size), int(x+w)+1, int(y+size/4)+1)
}

func rect(m []string) image.Rectangle {
	x, y := number(m[0]), number(m[1])
	return image.Rect(x, y, x+number(m[2]), y+number(m[3]))
}

func colour(hex string) raster.Color {
	v, _ := strconv.ParseUint(hex, 16, 32)
	return raster.Pack(color.NRGBA{R: uint8(v >> 16), G: uint8(v >> 8), B: uint8(v), A: 255})
}

func number(s string) int {
	n, _ := strconv.Atoi(s)
	return n
}
