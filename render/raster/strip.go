package raster

import "unsafe"

// A Strip is a lane of bars being drawn. All rows of pixels of a lane are equal, except
// those with the round corners of bars, so three rows are drawn and then copied: a
// canvas's memory is written once, whatever the number of bars. The zero value is ready to
// use; the vertical coordinates of shapes only give their height.
type Strip struct {
	// lines are the first and last row, the rows next to these, and the rows between.
	lines [3][]uint32
}

// Start begins a strip of w pixels. It returns the pixels, which have undefined content,
// for the caller to fill.
func (s *Strip) Start(w int) []Color {
	for i := range s.lines {
		if cap(s.lines[i]) < w {
			s.lines[i] = make([]uint32, w)
		}
		s.lines[i] = s.lines[i][:w]
	}
	if w == 0 {
		return nil
	}
	return unsafe.Slice((*Color)(unsafe.Pointer(&s.lines[2][0])), w)
}

// Filled is called when the caller has filled the pixels; shapes are drawn over them.
func (s *Strip) Filled() {
	copy(s.lines[0], s.lines[2])
	copy(s.lines[1], s.lines[2])
}

// Rect fills x0..x1.
func (s *Strip) Rect(x0, _, x1, _ int, col Color) {
	x0, x1 = max(0, x0), min(x1, len(s.lines[0]))
	if x0 >= x1 {
		return
	}
	for i := range s.lines {
		fill(s.lines[i][x0:x1], uint32(col))
	}
}

// Shade lays a colour over x0..x1 with opacity a of 255.
func (s *Strip) Shade(x0, _, x1, _ int, col Color, a uint32) {
	for x := max(0, x0); x < min(x1, len(s.lines[0])); x++ {
		for i := range s.lines {
			s.lines[i][x] = blend(s.lines[i][x], uint32(col), a)
		}
	}
}

// Bar fills x0..x1 and rounds the corners as [Canvas.Bar] does.
func (s *Strip) Bar(x0, y0, x1, y1 int, col Color, r int) {
	if r <= 0 || x1-x0 < 4*r || y1-y0 < 4*r {
		s.Rect(x0, y0, x1, y1, col)
		return
	}
	var keep [2][3]uint32
	for i, end := range [2]struct{ x, dx int }{{x0, 1}, {x1 - 1, -1}} {
		keep[i] = [3]uint32{s.at(0, end.x), s.at(0, end.x+end.dx), s.at(1, end.x)}
	}
	s.Rect(x0, y0, x1, y1, col)
	for i, end := range [2]struct{ x, dx int }{{x0, 1}, {x1 - 1, -1}} {
		if r == 1 {
			s.set(0, end.x, blend(uint32(col), keep[i][0], 150))
			continue
		}
		s.set(0, end.x, blend(uint32(col), keep[i][0], 235))
		s.set(0, end.x+end.dx, blend(uint32(col), keep[i][1], 90))
		s.set(1, end.x, blend(uint32(col), keep[i][2], 90))
	}
}

func (s *Strip) at(line, x int) uint32 {
	if x < 0 || x >= len(s.lines[line]) {
		return 0
	}
	return s.lines[line][x]
}

func (s *Strip) set(line, x int, v uint32) {
	if x >= 0 && x < len(s.lines[line]) {
		s.lines[line][x] = v
	}
}

// Strip copies the pixels of a strip from x0 on into the rows y0..y1.
func (c *Canvas) Strip(s *Strip, x0, y0, y1 int) {
	x0 = max(0, x0)
	for y := max(0, y0); y < min(y1, c.H); y++ {
		line := s.lines[min(y-y0, y1-1-y, 2)]
		if n := min(len(line), c.W); x0 < n {
			copy(c.pix[y*c.W+x0:y*c.W+n], line[x0:n])
		}
	}
}
