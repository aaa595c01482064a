package trend

import (
	"image"

	"gioui.org/f32"
	"gioui.org/io/pointer"

	"ashlar/app/core/series"
	"ashlar/app/window/panel"
	"ashlar/render/theme"
	"ashlar/render/ui"
	"ashlar/render/units"
	"ashlar/render/widget"
)

// chart is the line of the chosen row, with its changes.
type chart struct {
	widget.Drag
	plot   image.Rectangle   // the area of the runs, in the last frame
	box    image.Rectangle   // the whole chart
	titled int               // where the title ends
	marks  []image.Rectangle // the areas of the changes
	mark   int               // the change under the pointer, -1 for none
	run    int               // the run under the pointer, -1 for none
}

func (c *chart) clear() {
	c.plot, c.box, c.marks, c.mark, c.run = image.Rectangle{}, image.Rectangle{}, nil, -1, -1
}

// Marks returns the areas of the changes in the chart of the last frame.
func (v *view[S]) Marks() []image.Rectangle { return v.chart.marks }

// extent returns the smallest and the largest value of a row.
func (r *row) extent() (low, high int64) {
	first := true
	for i, v := range r.Values {
		if !r.Has[i] {
			continue
		}
		if first {
			low, high, first = v, v, false
		}
		low, high = min(low, v), max(high, v)
	}
	return low, high
}

// scale returns a function that places values between two heights.
func scale(low, high float64, top, bottom int) func(float64) int {
	return func(v float64) int {
		if high <= low {
			return (top + bottom) / 2
		}
		return bottom - int((v-low)/(high-low)*float64(bottom-top)+.5)
	}
}

// small draws a row's line on the sheet: a step for each run, or for the mean of several
// runs if there are many.
func (v *view[S]) small(u *ui.UI, x *row, box image.Rectangle) {
	n := len(x.Values)
	low, high := x.extent()
	y := scale(float64(low), float64(high), box.Min.Y+u.Px(5), box.Max.Y-u.Px(6))
	steps := max(1, min(n, box.Dx()/u.Px(2)))
	width := min(box.Dx(), steps*u.Px(24))
	at := func(i int) int { return box.Min.X + i*width/steps }
	thick := max(1, u.Px(1.5))
	last, known := 0, false
	for i := range steps {
		from := i * n / steps
		mean, ok := x.mean(from, (i+1)*n/steps)
		to := y(mean)
		if ok && known && last != to {
			v.sheet.Fill(image.Rect(at(i), min(last, to), at(i)+max(1, u.Px(1)), max(last, to)+thick), 0, v.tone(u.Theme, x, from))
		}
		if ok {
			v.sheet.Fill(image.Rect(at(i), to, at(i+1), to+thick), 0, v.tone(u.Theme, x, from))
		}
		last, known = to, ok
	}
}

// mean returns the mean of some runs, from..to-1; ok is false if none of them has the
// function.
func (r *row) mean(from, to int) (mean float64, ok bool) {
	n := 0
	for i := from; i < to; i++ {
		if r.Has[i] {
			mean, n = mean+float64(r.Values[i]), n+1
		}
	}
	return mean / float64(max(1, n)), n > 0
}

// layoutChart handles the pointer on the chart and draws it in r.
func (v *view[S]) layoutChart(h *panel.Host, u *ui.UI, r image.Rectangle) {
	c := &v.chart
	c.box = r
	v.chartEvents(h, u)
	x := &v.rows[v.chosen]
	low, high := x.extent()
	labels := [2]string{units.Value(high, &v.of.Metric), units.Value(low, &v.of.Metric)}
	axis := ui.Style{Size: 11, Color: u.Theme.Dim, Align: ui.End}
	wide := max(u.Width(labels[0], axis), u.Width(labels[1], axis)) + u.Px(10)
	c.plot = image.Rect(r.Min.X+wide, r.Min.Y+u.Px(26), r.Max.X-u.Px(10), r.Max.Y-u.Px(24))
	y := scale(float64(low), float64(high), c.plot.Min.Y, c.plot.Max.Y)
	title, face := ui.Style{Size: 12, Weight: ui.Medium, Color: u.Theme.Text}, h.Fonts.Medium(12*u.Metric.PxPerDp)
	name := face.Fit(x.name(), float32(r.Dx()/2))
	c.titled = r.Min.X + int(face.Measure(name)) + u.Px(10)
	u.Text(image.Rect(r.Min.X, r.Min.Y, r.Max.X, r.Min.Y+u.Px(20)), name, title)
	for i, val := range []int64{high, low} {
		if i == 1 && high == low {
			break
		}
		at := y(float64(val))
		u.HLine(c.plot.Min.X, c.plot.Max.X, at, u.Theme.Rule)
		u.Text(image.Rect(r.Min.X, at-u.Px(9), c.plot.Min.X-u.Px(6), at+u.Px(9)), labels[i], axis)
	}
	v.means(u, x, y)
	v.line(u, x, y)
	v.drawMarks(u, x)
	v.runNames(h, u, x, r)
	cursor := pointer.CursorDefault
	if c.mark >= 0 {
		cursor = pointer.CursorPointer
	}
	c.Area(u, r, cursor)
}

// at returns the x position of a run in the chart.
func (v *view[S]) at(run int) int {
	p := v.chart.plot
	return p.Min.X + int((float64(run)+.5)/float64(v.of.Len())*float64(p.Dx()))
}

// between returns the x position of a change: between its first run and the run before.
func (v *view[S]) between(run int) int {
	p := v.chart.plot
	return p.Min.X + int(float64(run)/float64(v.of.Len())*float64(p.Dx()))
}

// means draws the means before and after each change.
func (v *view[S]) means(u *ui.UI, x *row, y func(float64) int) {
	if !x.found {
		return
	}
	for i := range x.changes {
		c := &x.changes[i]
		bar := func(from, to int, mean float64) {
			at := y(mean)
			u.Fill(image.Rect(v.between(from), at-u.Px(3), v.between(to), at+u.Px(3)), theme.WithAlpha(v.tone(u.Theme, x, from), .2))
		}
		if i == 0 {
			bar(c.From, c.At, c.Before)
		}
		bar(c.At, c.To, c.After)
	}
}

// mostDots is the maximum number of runs that are drawn as dots on the line.
const mostDots = 150

// line draws the values and the line through them.
func (v *view[S]) line(u *ui.UI, x *row, y func(float64) int) {
	var path *ui.Line
	var colour ui.Colour
	end := func() {
		if path != nil {
			u.Stroke(path, float32(max(1, u.Px(1.5))), colour)
		}
		path = nil
	}
	last, known := f32.Point{}, false
	for i, val := range x.Values {
		if !x.Has[i] {
			end()
			known = false
			continue
		}
		to := f32.Pt(float32(v.at(i)), float32(y(float64(val))))
		if known && (path == nil || v.tone(u.Theme, x, i) != colour) {
			end()
			path, colour = ui.LineFrom(last), v.tone(u.Theme, x, i)
		}
		if path != nil {
			path.To(to)
		}
		last, known = to, true
	}
	end()
	if len(x.Values) > mostDots {
		return
	}
	for i, val := range x.Values {
		if x.Has[i] {
			radius := float32(2.5)
			if i == v.chart.run {
				radius = 4
			}
			d := u.Px(radius)
			u.Round(image.Rect(v.at(i)-d, y(float64(val))-d, v.at(i)+d, y(float64(val))+d), radius, v.tone(u.Theme, x, i))
		}
	}
}

// drawMarks draws a line with the size of the change at each change.
func (v *view[S]) drawMarks(u *ui.UI, x *row) {
	c := &v.chart
	c.marks = c.marks[:0]
	if c.mark >= len(x.changes) {
		c.mark = -1
	}
	for i := range x.changes {
		one := *x
		one.chosen = i
		colour := u.Theme.Less()
		if one.sign() > 0 {
			colour = u.Theme.More()
		}
		st := ui.Style{Size: 11.5, Weight: ui.Medium, Color: colour, Align: ui.Middle}
		text := one.size()
		w, at := u.Width(text, st)+u.Px(14), v.between(x.changes[i].At)
		left := max(c.titled, min(at-w/2, c.box.Max.X-w))
		pill := image.Rect(left, c.plot.Min.Y-u.Px(22), left+w, c.plot.Min.Y-u.Px(4))
		wide := u.Px(1)
		if i == x.chosen && len(x.changes) > 1 || i == c.mark {
			wide = u.Px(2)
		}
		u.Fill(image.Rect(at-wide/2, pill.Max.Y, at-wide/2+max(1, wide), c.plot.Max.Y), colour)
		if i == c.mark {
			u.Round(pill, 9, theme.WithAlpha(colour, .22))
		}
		u.Border(pill, 9, 1, colour)
		u.Text(pill, text, st)
		c.marks = append(c.marks, pill.Union(image.Rect(at-u.Px(5), pill.Max.Y, at+u.Px(5), c.plot.Max.Y)))
	}
}

// runNames labels the first run, the last run and the first run after each change.
func (v *view[S]) runNames(h *panel.Host, u *ui.UI, x *row, r image.Rectangle) {
	c := &v.chart
	face := h.Fonts.Regular(11 * u.Metric.PxPerDp)
	line := image.Rect(r.Min.X, c.plot.Max.Y+u.Px(5), r.Max.X, r.Max.Y)
	var taken []image.Rectangle
	write := func(run, from int, most int, colour ui.Colour) {
		name := face.Middle(v.of.names[run], float32(most))
		w := int(face.Measure(name)) + 2
		box := image.Rect(from, line.Min.Y, from+w, line.Max.Y)
		if box.Max.X > c.plot.Max.X {
			box = box.Sub(image.Pt(box.Max.X-c.plot.Max.X, 0))
		}
		for _, b := range taken {
			if box.Inset(-u.Px(8)).Overlaps(b) {
				return
			}
		}
		taken = append(taken, box)
		u.Text(box, name, ui.Style{Size: 11, Color: colour})
	}
	most := c.plot.Dx() / 3
	if y := x.change(); y != nil {
		write(y.At, v.between(y.At), most, u.Theme.Text)
	}
	write(0, c.plot.Min.X, most, u.Theme.Dim)
	write(v.of.Len()-1, c.plot.Max.X, most, u.Theme.Dim)
	for i := range x.changes {
		write(x.changes[i].At, v.between(x.changes[i].At), most, u.Theme.Dim)
	}
}

// chartEvents handles the pointer events on the chart.
func (v *view[S]) chartEvents(h *panel.Host, u *ui.UI) {
	c := &v.chart
	for {
		g, e, ok := c.Next(u, image.Point{})
		if !ok {
			break
		}
		v.look()
		x := &v.rows[v.chosen]
		switch g {
		case widget.Clicked, widget.DoubleClicked:
			if c.mark >= 0 && c.mark < len(x.changes) {
				x.chosen, v.open = c.mark, true
			}
		case widget.MenuAsked:
			v.menu(h, widget.Point(image.Point{}, c.At))
		case widget.Wheeled:
			v.Scrolls(u, g, e, &v.Down)
		}
	}
	v.look()
}

// look finds the run and the change under the pointer.
func (v *view[S]) look() {
	c := &v.chart
	c.mark, c.run = -1, -1
	p := widget.Point(image.Point{}, c.At)
	if !c.Inside {
		return
	}
	for i, m := range c.marks {
		if p.In(m) {
			c.mark = i
		}
	}
	if n := v.of.Len(); p.X >= c.plot.Min.X && p.X < c.plot.Max.X {
		c.run = min(n-1, (p.X-c.plot.Min.X)*n/max(1, c.plot.Dx()))
	}
}

// Tooltip describes the run or the change under the pointer.
func (v *view[S]) Tooltip(h *panel.Host, _ S, u *ui.UI) {
	c := &v.chart
	if len(v.rows) == 0 || h.Menu != nil || h.Help || !c.Inside || v.of.err != nil {
		return
	}
	at, x := widget.Point(image.Point{}, c.At), &v.rows[v.chosen]
	switch {
	case c.mark >= 0 && c.mark < len(x.changes):
		y := &x.changes[c.mark]
		before, after := series.Around(v.of.files, y)
		lines := []string{"Click: compare the " + units.Plural(int64(len(before)), "run") + " before with the " + units.Count(int64(len(after))) + " from here on"}
		title := x.name()
		if x.found {
			title += " " + series.From(v.of.Runs, v.of.names, y)
		} else {
			title += ": " + series.Only(x.Series, v.of.names)
		}
		widget.Tip(u, at, title, lines)
	case c.run >= 0:
		text := "unknown: no sample of this function"
		if x.Has[c.run] {
			text = units.Full(x.Values[c.run], &v.of.Metric)
		}
		widget.Tip(u, at, v.of.names[c.run], []string{text, "run " + units.Count(int64(c.run+1)) + " of " + units.Count(int64(v.of.Len()))})
	}
}
