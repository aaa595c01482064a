package timeline

// Sticky returns the row of the open process whose header stays at the top while its rows are
// scrolled below it, and the y coordinate of that header in the picture. row is -1 if
// there is none.
func (p *Plan) Sticky(scroll int) (row, y int) {
	for i := p.At(scroll + p.Held); i >= 0; i-- {
		r := &p.Rows[i]
		if !p.Headline(r) {
			continue
		}
		if r.Kind != ProcessRow || r.Collapsed || r.Y < p.Held || r.Y >= scroll+p.Held {
			return -1, 0
		}
		y = p.Held
		for _, next := range p.Rows[i+1:] {
			if p.Headline(&next) {
				y = min(y, next.Y-scroll-r.Height)
				break
			}
		}
		return i, y
	}
	return -1, 0
}

// Holds reports whether a row stays at the top.
func (p *Plan) Holds(r *Row) bool { return r.Y < p.Held }

// Under reports whether a height of a row, in pixels of the picture, is hidden by the
// rows that stay at the top.
func (p *Plan) Under(r *Row, y int) bool { return !p.Holds(r) && y < p.Held }

// Top returns the y coordinate of the top of a row in the picture.
func (p *Plan) Top(r *Row, scroll int) int {
	if p.Holds(r) {
		return r.Y
	}
	return r.Y - scroll
}

// ScrollTo returns the scroll position that shows row i at the top, below its headers and
// below the header of its process, which stays at the top.
func (p *Plan) ScrollTo(i int) int {
	for i > 0 && (p.Rows[i-1].Kind == ProcessRow || p.Rows[i-1].Kind == GroupRow) {
		i--
	}
	y := p.Rows[i].Y - p.Held
	if head, at := p.Sticky(y); head >= 0 && head != i {
		y -= max(0, at-p.Held+p.Rows[head].Height)
	}
	return y
}

// RowAt returns the row at a pixel of the picture, -1 for none.
func (p *Plan) RowAt(y, scroll int) int {
	if y >= p.Held {
		y += scroll
	}
	return p.At(y)
}

// hold keeps the first rows at the top, as many as fit into room pixels.
func (p *Plan) hold(room int) {
	for i := range p.Rows {
		if r := &p.Rows[i]; r.Y+r.Height <= room && (r.Kind != ProcessRow || r.Collapsed) {
			p.Held = r.Y + r.Height
		}
	}
}
