package timeline

import "math"

// alone finds the bars and columns that are thin and have nothing beside them. They are
// drawn in a deeper colour, and as wide as a pixel was before the picture was scaled.
func (p *Picture) alone(l *laneSpans) {
	thin, columns, wide := p.px(3), l.columns, l.wide
	for len(columns)+len(wide) > 0 {
		// Follow the bars that touch, from left to right.
		c, w, from := 0, 0, math.MaxInt
		if len(columns) > 0 {
			from = int(columns[0].x)
		}
		if len(wide) > 0 {
			from = min(from, wide[0].x0)
		}
		for to := from; ; {
			next := math.MaxInt
			if w < len(wide) {
				next = wide[w].x0
			}
			for ; c < len(columns) && int(columns[c].x) <= min(to+1, next); c++ {
				to = max(to, int(columns[c].x)+1)
			}
			if next > to+1 {
				if to-from < thin {
					mark(columns[:c], wide[:w])
				}
				break
			}
			to = max(to, wide[w].x1)
			w++
		}
		columns, wide = columns[c:], wide[w:]
	}
}

// mark makes bars and columns thin.
func mark(columns []column, wide []wideBar) {
	for i := range columns {
		columns[i].thin = true
	}
	for i := range wide {
		wide[i].thin = true
	}
}
