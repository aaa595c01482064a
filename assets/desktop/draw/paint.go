package main

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"strings"

	"golang.org/x/image/vector"
)

// svg writes shapes as an SVG picture.
func svg(shapes []shape) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%[1]d\" viewBox=\"0 0 %[1]d %[1]d\">\n", side)
	for _, s := range shapes {
		if s.points != nil {
			var points []string
			for _, p := range s.points {
				points = append(points, number(p[0])+","+number(p[1]))
			}
			fmt.Fprintf(&b, "  <polygon points=\"%s\" fill=\"%s\"/>\n", strings.Join(points, " "), hex(s.fill))
			continue
		}
		fmt.Fprintf(&b, "  <rect x=\"%s\" y=\"%s\" width=\"%s\" height=\"%s\" rx=\"%s\" fill=\"%s\"/>\n",
			number(s.x0), number(s.y0), number(s.x1-s.x0), number(s.y1-s.y0), number(s.radius), hex(s.fill))
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}

func number(v float64) string {
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.2f", v), "0"), ".")
}

func hex(c color.NRGBA) string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }

// raster draws shapes into a picture n pixels wide and high.
func raster(shapes []shape, n int) *image.NRGBA {
	img := image.NewRGBA(image.Rect(0, 0, n, n))
	scale := float64(n) / side
	for _, s := range shapes {
		z := vector.NewRasterizer(n, n)
		at := func(x, y float64) (float32, float32) { return float32(x * scale), float32(y * scale) }
		if s.points != nil {
			for i, p := range s.points {
				x, y := at(p[0], p[1])
				if i == 0 {
					z.MoveTo(x, y)
				} else {
					z.LineTo(x, y)
				}
			}
			z.ClosePath()
		} else {
			rounded(z, s, at)
		}
		z.Draw(img, img.Bounds(), image.NewUniform(s.fill), image.Point{})
	}
	// PNG needs colours without premultiplied alpha.
	out := image.NewNRGBA(img.Bounds())
	draw.Draw(out, out.Bounds(), img, image.Point{}, draw.Src)
	return out
}

// rounded adds a rectangle with round corners.
func rounded(z *vector.Rasterizer, s shape, at func(x, y float64) (float32, float32)) {
	r := min(s.radius, (s.x1-s.x0)/2, (s.y1-s.y0)/2)
	const arc = .5522847498 // a quarter of a circle as a cubic curve
	k := r * (1 - arc)
	line := func(x, y float64) { z.LineTo(at(x, y)) }
	curve := func(ax, ay, bx, by, x, y float64) {
		x1, y1 := at(ax, ay)
		x2, y2 := at(bx, by)
		x3, y3 := at(x, y)
		z.CubeTo(x1, y1, x2, y2, x3, y3)
	}
	z.MoveTo(at(s.x0+r, s.y0))
	line(s.x1-r, s.y0)
	curve(s.x1-k, s.y0, s.x1, s.y0+k, s.x1, s.y0+r)
	line(s.x1, s.y1-r)
	curve(s.x1, s.y1-k, s.x1-k, s.y1, s.x1-r, s.y1)
	line(s.x0+r, s.y1)
	curve(s.x0+k, s.y1, s.x0, s.y1-k, s.x0, s.y1-r)
	line(s.x0, s.y0+r)
	curve(s.x0, s.y0+k, s.x0+k, s.y0, s.x0+r, s.y0)
	z.ClosePath()
}
