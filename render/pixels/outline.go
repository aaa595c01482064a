package pixels

import (
	"fmt"
	"math"
	"strconv"

	"ashlar/render/svg"
)

// transform maps an outline's coordinates to the picture.
type transform struct{ x, y, scale float32 }

// outline is a set of closed or open polylines. Curves are split into enough straight
// pieces to look smooth.
type outline struct {
	at       transform
	lines    [][]svg.Point
	closed   []bool
	pen      svg.Point // in the outline's own coordinates
	from     svg.Point // where the line began
	handle   svg.Point // the last control point of a curve
	previous byte
}

func newOutline(at *transform) *outline {
	if at == nil {
		at = &transform{scale: 1}
	}
	return &outline{at: *at}
}

func (o *outline) moveTo(p svg.Point) {
	o.lines, o.closed = append(o.lines, nil), append(o.closed, false)
	o.from = p
	o.add(p)
}

func (o *outline) add(p svg.Point) {
	n := len(o.lines) - 1
	if n < 0 || o.closed[n] { // a line after a closed one begins where the closed one began
		o.lines, o.closed = append(o.lines, nil), append(o.closed, false)
		n++
		if p != o.from {
			o.lines[n] = append(o.lines[n], o.put(o.from))
		}
	}
	o.lines[n] = append(o.lines[n], o.put(p))
	o.pen = p
}

func (o *outline) put(p svg.Point) svg.Point {
	return svg.Point{X: o.at.x + p.X*o.at.scale, Y: o.at.y + p.Y*o.at.scale}
}

func (o *outline) close() {
	if n := len(o.lines) - 1; n >= 0 {
		o.closed[n] = true
	}
	o.pen = o.from
}

// steps is the number of straight pieces per curve.
const steps = 16

func (o *outline) cubeTo(b, c, d svg.Point) {
	a := o.pen
	for i := 1; i <= steps; i++ {
		t := float32(i) / steps
		u := 1 - t
		k0, k1, k2, k3 := u*u*u, 3*u*u*t, 3*u*t*t, t*t*t
		o.add(svg.Point{X: k0*a.X + k1*b.X + k2*c.X + k3*d.X, Y: k0*a.Y + k1*b.Y + k2*c.Y + k3*d.Y})
	}
	o.handle = c
}

func (o *outline) quadTo(b, c svg.Point) {
	a := o.pen
	mix := func(p svg.Point) svg.Point { return svg.Point{X: (p.X + 2*b.X) / 3, Y: (p.Y + 2*b.Y) / 3} }
	o.cubeTo(mix(a), mix(c), c)
	o.handle = b
}

// arcTo adds an arc of an unrotated ellipse; see SVG 1.1, F.6.5.
func (o *outline) arcTo(rx, ry float32, large, sweep bool, to svg.Point) {
	a := o.pen
	if rx == 0 || ry == 0 || a == to {
		o.add(to)
		return
	}
	x, y := float64(a.X-to.X)/2/float64(rx), float64(a.Y-to.Y)/2/float64(ry) // scaled to a circle of radius 1
	d := x*x + y*y
	if d > 1 { // radii too small: scale them up to fit
		grow := float32(math.Sqrt(d))
		rx, ry, x, y, d = rx*grow, ry*grow, x/float64(grow), y/float64(grow), 1
	}
	k := math.Sqrt(max(0, (1-d)/d))
	if large == sweep {
		k = -k
	}
	cx, cy := k*y, -k*x
	begin, end := math.Atan2(y-cy, x-cx), math.Atan2(-y-cy, -x-cx)
	switch {
	case sweep && end < begin:
		end += 2 * math.Pi
	case !sweep && end > begin:
		end -= 2 * math.Pi
	}
	midX, midY := float64(a.X+to.X)/2, float64(a.Y+to.Y)/2
	for i := 1; i < steps; i++ {
		t := begin + (end-begin)*float64(i)/steps
		o.add(svg.Point{X: float32(midX + (math.Cos(t)+cx)*float64(rx)), Y: float32(midY + (math.Sin(t)+cy)*float64(ry))})
	}
	o.add(to)
}

// round adds a rectangle with rounded corners.
func (o *outline) round(x, y, w, h, r float32) {
	r = max(0, min(r, w/2, h/2))
	pt := func(x, y float32) svg.Point { return svg.Point{X: x, Y: y} }
	o.moveTo(pt(x+r, y))
	o.add(pt(x+w-r, y))
	o.arcTo(r, r, false, true, pt(x+w, y+r))
	o.add(pt(x+w, y+h-r))
	o.arcTo(r, r, false, true, pt(x+w-r, y+h))
	o.add(pt(x+r, y+h))
	o.arcTo(r, r, false, true, pt(x, y+h-r))
	o.add(pt(x, y+r))
	o.arcTo(r, r, false, true, pt(x+r, y))
	o.close()
}

// operands is the number of operands of each path command.
var operands = map[byte]int{'M': 2, 'L': 2, 'H': 1, 'V': 1, 'C': 6, 'S': 4, 'Q': 4, 'T': 2, 'A': 7, 'Z': 0}

// read adds SVG path data.
func (o *outline) read(data string) error {
	var letter byte
	for i := 0; i < len(data); {
		switch c := data[i]; {
		case c == ' ' || c == ',':
			i++
			continue
		case c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z':
			letter = c
			i++
			if letter == 'z' || letter == 'Z' {
				o.step(letter, nil)
				continue
			}
		}
		n, ok := operands[letter&^0x20]
		if !ok || n == 0 {
			return fmt.Errorf("a path has %q", data[max(0, i-1):min(len(data), i+9)])
		}
		v := make([]float32, n)
		for k := range v {
			var err error
			if v[k], i, err = nextNumber(data, i); err != nil {
				return err
			}
		}
		o.step(letter, v)
		switch letter { // further pairs are lines
		case 'M':
			letter = 'L'
		case 'm':
			letter = 'l'
		}
	}
	return nil
}

func nextNumber(s string, i int) (float32, int, error) {
	for i < len(s) && (s[i] == ' ' || s[i] == ',') {
		i++
	}
	k, dot := i, false
	for ; k < len(s); k++ {
		c := s[k]
		if c == '.' && !dot {
			dot = true
		} else if !(c >= '0' && c <= '9' || k == i && (c == '-' || c == '+')) {
			break
		}
	}
	v, err := strconv.ParseFloat(s[i:k], 32)
	if err != nil {
		return 0, k, fmt.Errorf("a path has %q where a number should be", s[i:min(len(s), i+9)])
	}
	return float32(v), k, nil
}

// step runs one path command; lower case is relative to the pen.
func (o *outline) step(letter byte, v []float32) {
	base := svg.Point{}
	if letter >= 'a' {
		base = o.pen
	}
	pt := func(k int) svg.Point { return svg.Point{X: base.X + v[k], Y: base.Y + v[k+1]} }
	big := letter &^ 0x20
	// A smooth curve continues the direction of a preceding curve of its kind.
	mirrored := o.pen
	if (big == 'S' && (o.previous == 'C' || o.previous == 'S')) || (big == 'T' && (o.previous == 'Q' || o.previous == 'T')) {
		mirrored = svg.Point{X: 2*o.pen.X - o.handle.X, Y: 2*o.pen.Y - o.handle.Y}
	}
	switch big {
	case 'M':
		o.moveTo(pt(0))
	case 'L':
		o.add(pt(0))
	case 'H':
		o.add(svg.Point{X: base.X + v[0], Y: o.pen.Y})
	case 'V':
		o.add(svg.Point{X: o.pen.X, Y: base.Y + v[0]})
	case 'C':
		o.cubeTo(pt(0), pt(2), pt(4))
	case 'S':
		o.cubeTo(mirrored, pt(0), pt(2))
	case 'Q':
		o.quadTo(pt(0), pt(2))
	case 'T':
		o.quadTo(mirrored, pt(0))
	case 'A':
		o.arcTo(v[0], v[1], v[3] != 0, v[4] != 0, pt(5))
	case 'Z':
		o.close()
	}
	o.previous = big
}

// stroked returns polygons that cover the lines when drawn with a width. All have the
// same orientation, so that overlaps count once.
func (o *outline) stroked(width float32) (all [][]svg.Point) {
	half := float64(max(width, .1)) / 2
	for i, l := range o.lines {
		if o.closed[i] && len(l) > 0 {
			l = append(l[:len(l):len(l)], l[0])
		}
		for k := 1; k < len(l); k++ {
			a, b := l[k-1], l[k]
			dx, dy := float64(b.X-a.X), float64(b.Y-a.Y)
			n := math.Hypot(dx, dy)
			if n == 0 {
				continue
			}
			nx, ny := float32(-dy/n*half), float32(dx/n*half)
			all = append(all, []svg.Point{{X: a.X + nx, Y: a.Y + ny}, {X: a.X - nx, Y: a.Y - ny}, {X: b.X - nx, Y: b.Y - ny}, {X: b.X + nx, Y: b.Y + ny}})
			if k > 1 && half > .6 {
				all = append(all, joint(a, half))
			}
		}
	}
	return all
}

// joint returns a circle for the place where two pieces of a line meet.
func joint(at svg.Point, r float64) []svg.Point {
	const corners = 12
	l := make([]svg.Point, corners)
	for i := range l {
		a := 2 * math.Pi * float64(i) / corners
		l[i] = svg.Point{X: at.X + float32(r*math.Cos(a)), Y: at.Y + float32(r*math.Sin(a))}
	}
	return l
}
