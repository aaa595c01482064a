package trend

import (
	"image"
	"slices"
	"strconv"
	"strings"

	"gioui.org/io/event"
	"gioui.org/io/key"
	"gioui.org/io/pointer"

	"ashlar/app/core/series"
	"ashlar/app/core/tables"
	"ashlar/app/window/panel"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/trend"
	"ashlar/render/theme"
	"ashlar/render/ui"
	"ashlar/render/units"
	"ashlar/render/widget"
)

// view draws a trend: a sentence, the chart of the chosen row, and a row for the total and
// for each function. S is as in [panel.Panel].
type view[S any] struct {
	panel.List[S]
	// Store computes the trends; it outlives the panel.
	Store  *Store
	of     *result
	owner  *owner
	rows   []row
	chosen int                // the row in the chart; 0 is the total
	was    recording.FuncName // the function of the chosen row of the last trend
	// picked is the function that was selected in the last frame, "" for none.
	picked recording.FuncName
	sheet  ui.Sheet
	chart  chart
	body   image.Rectangle // of the rows
	open   bool            // open the comparison of the chosen change in the next frame
}

// owner holds what a trend needs from the recordings that are shown.
type owner struct {
	// note tells the user which settings of the view the trend ignores, "" if it ignores none.
	note string
	// sides is true if the runs are those of A and B. Else the colours of A and B mark the
	// runs before and after a change.
	sides bool
	// picked returns the selected function; pick selects one, nil for none.
	picked func() (recording.Function, bool)
	pick   func(f *recording.FuncName)
	// compare opens the comparison of runs before a change with those after it.
	compare func(before, after []string, f *recording.FuncName)
	// items lists more actions for a function; f.Name is "" for the total.
	items func(f recording.Function) []widget.Item
}

// become copies another view and the trends that it has computed.
func (v *view[S]) become(of *view[S]) {
	v.Store.kept = slices.Clone(of.Store.kept)
	v.was, v.Down = of.name(), of.Down
}

// layoutOf draws the trend of the runs of one or two sides, or the progress of reading
// them.
func (v *view[S]) layoutOf(h *panel.Host, u *ui.UI, r image.Rectangle, event, metric string, o *owner, sides ...*panel.Side) {
	var files [2][]string
	var generations [2]int
	done := true
	for i, p := range sides {
		files[i], generations[i], done = p.Actions.Runs(), p.Generation, done && p.Rec.Done
	}
	k := questionOf(files, event, metric, generations)
	var of *result
	if done {
		of = v.Store.ask(k, files, h.Do.Wake, summing(k, files, sides...))
	}
	if of == nil {
		v.wait(u, r, v.Store.progress(k), len(files[0])+len(files[1]))
		return
	}
	o.note, o.sides = note(sides...), len(sides) == 2
	v.layout(h, u, r, of, o)
}

// itemsOf groups the actions for a function with those for every row.
func itemsOf(function []widget.Item, actions *panel.SideActions) []widget.Item {
	return widget.Grouped(function, append(actions.TableItems(), actions.CommandItem()))
}

// show sets the trend.
func (v *view[S]) show(of *result) {
	if v.of == of {
		return
	}
	if v.rows != nil {
		v.was = v.name()
	}
	v.of, v.rows, v.chosen = of, nil, 0
	if of == nil || of.err != nil {
		return
	}
	v.rows = append(v.rows, rowOf(&of.Total, of.Len()))
	for i := range of.functions {
		v.rows = append(v.rows, rowOf(&of.functions[i], of.Len()))
	}
	v.choose(v.was)
}

// name returns the function of the chosen row; it is empty for the total.
func (v *view[S]) name() recording.FuncName {
	if v.chosen < len(v.rows) {
		return v.rows[v.chosen].Function
	}
	return v.was
}

// choose chooses the row of a function, if it has one.
func (v *view[S]) choose(f recording.FuncName) {
	for i := range v.rows {
		if v.rows[i].Function == f {
			v.chosen = i
		}
	}
}

// wait draws the progress of reading the runs.
func (v *view[S]) wait(u *ui.UI, r image.Rectangle, done, all int) {
	v.show(nil)
	text := "Reading runs: " + units.Count(int64(done)) + " of " + units.Count(int64(all))
	mid := (r.Min.Y + r.Max.Y) / 2
	u.Text(image.Rect(r.Min.X, mid-u.Px(26), r.Max.X, mid-u.Px(4)), text, ui.Style{Size: 13, Color: u.Theme.Dim, Align: ui.Middle})
	w := min(u.Px(240), r.Dx()/2)
	bar := ui.Rect((r.Min.X+r.Max.X-w)/2, mid+u.Px(2), w, u.Px(3))
	u.Round(bar, 1.5, u.Theme.Rule)
	bar.Max.X = bar.Min.X + w*done/max(1, all)
	u.Round(bar, 1.5, u.Theme.Accent)
}

// Widths and heights, in dp.
const (
	margin     = 16
	sentence   = 24
	leastChart = 80
	mostChart  = 230
)

// layout draws a trend.
func (v *view[S]) layout(h *panel.Host, u *ui.UI, r image.Rectangle, of *result, o *owner) {
	v.owner = o
	v.show(of)
	if of.err != nil {
		hint := ""
		if len(of.out) > 0 {
			hint = of.out[0]
		}
		widget.Empty(u, r, "No trend: "+of.err.Error(), hint)
		return
	}
	v.follow()
	in := image.Rect(r.Min.X+u.Px(margin), r.Min.Y+u.Px(6), r.Max.X-u.Px(margin), r.Max.Y)
	y := v.head(h, u, in)
	height := r.Max.Y - y
	list := (len(v.rows) + 1) * u.Px(widget.RowHeight)
	if height = min(u.Px(mostChart), max(height*2/5, height-list-u.Px(4))); height >= u.Px(leastChart) {
		v.layoutChart(h, u, image.Rect(in.Min.X, y, in.Max.X, y+height))
		y += height + u.Px(4)
	} else {
		v.chart.clear()
	}
	v.list(h, u, image.Rect(r.Min.X, y, r.Max.X, r.Max.Y))
	if v.open {
		v.open = false
		v.compare(v.rows[v.chosen].change())
	}
}

// follow chooses the row of a function that was selected elsewhere.
func (v *view[S]) follow() {
	f, ok := v.owner.picked()
	if name := f.FuncName(); ok && name != v.picked {
		v.choose(name)
		v.picked = name
	} else if !ok {
		v.picked = recording.FuncName{}
	}
}

// take chooses a row and selects its function.
func (v *view[S]) take(i int) {
	if v.chosen = i; v.rows[i].total() {
		v.owner.pick(nil)
		v.picked = recording.FuncName{}
		return
	}
	v.owner.pick(&v.rows[i].Function)
	v.picked = v.rows[i].Function
}

// compare opens the comparison of the runs before a change with those from it on.
func (v *view[S]) compare(c *trend.Change) {
	if c == nil {
		return
	}
	var f *recording.FuncName
	if x := &v.rows[v.chosen]; !x.total() {
		f = new(x.Function)
	}
	before, after := series.Around(v.of.files, c)
	v.owner.compare(before, after, f)
}

// head draws the sentence and what is shown; it returns their bottom.
func (v *view[S]) head(h *panel.Host, u *ui.UI, r image.Rectangle) int {
	th, y := u.Theme, r.Min.Y
	said := ui.Style{Size: 13, Weight: ui.Medium, Color: th.Text, Lines: 3}
	y += max(u.Px(sentence-4), u.Text(image.Rect(r.Min.X, y+u.Px(2), r.Max.X, y+u.Px(3*sentence)), series.Verdict(v.of.Runs, v.of.functions, v.of.names), said).Y) + u.Px(4)
	parts := []string{series.Title(v.of.Runs, v.of.names)}
	if v.owner.note != "" {
		parts = append(parts, v.owner.note)
	}
	line := image.Rect(r.Min.X, y, r.Max.X, y+u.Px(18))
	face := h.Fonts.Regular(12 * u.Metric.PxPerDp)
	u.Text(line, face.FitText(strings.Join(parts, " · "), float32(line.Dx())), ui.Style{Size: 12, Color: th.Dim})
	y = line.Max.Y
	if n := len(v.of.out); n > 0 {
		line = image.Rect(r.Min.X, y, r.Max.X, y+u.Px(18))
		text := units.Plural(int64(n), "run") + " left out · " + v.of.out[0]
		u.Text(line, face.FitText(text, float32(line.Dx())), ui.Style{Size: 12, Color: th.Warn})
		y = line.Max.Y
	}
	return y + u.Px(4)
}

// Key moves through the rows and, with Left and Right, through the changes of a row;
// Return opens the comparison of the runs before and after the chosen change.
func (v *view[S]) Key(_ S, k key.Event, _ int) bool {
	if len(v.rows) == 0 || k.Modifiers != 0 {
		return false
	}
	x := &v.rows[v.chosen]
	switch k.Name {
	case key.NameReturn, key.NameEnter:
		v.open = x.chosen >= 0
		return true
	case key.NameLeftArrow:
		x.chosen = max(min(0, x.chosen), x.chosen-1)
		return true
	case key.NameRightArrow:
		x.chosen = min(len(x.changes)-1, x.chosen+1)
		return true
	}
	to, ok := v.List.Key(k, v.chosen, len(v.rows))
	if ok {
		v.take(to)
	}
	return ok
}

// Areas returns the areas that focus the panel when clicked.
func (v *view[S]) Areas() []event.Tag { return []event.Tag{&v.Drag, &v.chart.Drag} }

// list draws the rows in r, below the titles of their columns.
func (v *view[S]) list(h *panel.Host, u *ui.UI, r image.Rectangle) {
	th, line := u.Theme, u.Px(widget.RowHeight)
	v.body = image.Rect(r.Min.X, r.Min.Y+line, r.Max.X, r.Max.Y)
	v.Events(u, v.body, line, len(v.rows), func(g widget.Gesture, i int) {
		if i < 0 {
			return
		}
		switch g {
		case widget.Clicked:
			v.take(i)
		case widget.DoubleClicked:
			v.take(i)
			v.open = v.rows[i].chosen >= 0
		case widget.MenuAsked:
			v.take(i)
			v.menu(h, widget.Point(v.body.Min, v.At))
		}
	})
	cs := v.columns(u, r.Dx())
	u.HLine(r.Min.X, r.Max.X, r.Min.Y, th.Rule)
	for _, c := range cs {
		st := ui.Style{Size: 11.5, Weight: ui.Medium, Color: th.Dim}
		if c.right {
			st.Align = ui.End
		}
		u.Text(image.Rect(r.Min.X+c.from, r.Min.Y, r.Min.X+c.to, v.body.Min.Y), c.title, st)
	}
	face := h.Fonts.Regular(12 * u.Metric.PxPerDp)
	v.Rows(v.body, line, len(v.rows), func(i int, at image.Rectangle) {
		x := &v.rows[i]
		if colour, ok := v.Ground(u, at, i == v.chosen); ok {
			v.sheet.Fill(at, 0, colour)
		}
		if !x.total() {
			fn := recording.Function{Name: x.Function.Name, Module: x.Function.Module}
			v.sheet.Fill(ui.Rect(u.Px(margin), at.Min.Y+(at.Dy()-u.Px(8))/2, u.Px(8), u.Px(8)), 1, th.Bar(&fn, h.Mode))
		}
		for _, c := range cs {
			box := image.Rect(c.from, at.Min.Y, c.to, at.Max.Y)
			if c.draw != nil {
				c.draw(x, box)
				continue
			}
			st := ui.Style{Size: 12, Color: th.Text}
			text := c.text(x)
			if c.right {
				st.Align = ui.End
			} else {
				text = face.Fit(text, float32(box.Dx()))
			}
			if x.total() {
				st.Weight = ui.Medium
			}
			if c.colour != nil {
				st.Color = c.colour(x)
			}
			v.sheet.Text(box, text, st)
		}
	})
	v.sheet.Show(u, v.body, th.Background)
	v.Area(u, v.body, pointer.CursorDefault)
}

// column is a column of the list: its title and where it lies, in pixels from the left.
type column struct {
	title    string
	from, to int
	right    bool
	text     func(x *row) string
	colour   func(x *row) ui.Colour
	draw     func(x *row, box image.Rectangle)
}

// Widths of columns, in dp.
const (
	nameWidth   = 300
	meanWidth   = 84
	changeWidth = 84
	fromWidth   = 170
	chanceWidth = 92
	columnGap   = 14
)

// columns returns the columns that fit into a width.
func (v *view[S]) columns(u *ui.UI, width int) []column {
	th := u.Theme
	left, right := u.Px(margin+16), width-u.Px(margin)
	var cs []column
	add := func(dp float32, c column) {
		c.to = right
		c.from = right - u.Px(dp)
		right = c.from - u.Px(columnGap)
		cs = append(cs, c)
	}
	dim := func(*row) ui.Colour { return th.Dim }
	if width >= u.Px(720) {
		add(chanceWidth, column{title: "Chance", right: true, colour: dim, text: func(x *row) string {
			if !x.found {
				return ""
			}
			return series.Chance(x.change())
		}})
	}
	if width >= u.Px(600) {
		add(fromWidth, column{title: "From", colour: dim, text: func(x *row) string {
			if x.chosen < 0 {
				return ""
			}
			return v.of.names[x.change().At]
		}})
	}
	add(changeWidth, column{title: "Change", right: true, text: func(x *row) string { return x.size() }, colour: func(x *row) ui.Colour {
		switch {
		case x.chosen < 0:
			return th.Dim
		case x.sign() > 0:
			return th.More()
		}
		return th.Less()
	}})
	add(meanWidth, column{title: "Mean", right: true, text: func(x *row) string { return series.Value(v.of.Runs, x.Mean()) }})
	name := min(u.Px(nameWidth), (right-left)*11/20)
	title := "Self of functions"
	if v.of.more > 0 {
		title = units.Count(int64(len(v.rows)-1)) + " functions with most self of " + units.Count(int64(len(v.rows)-1+v.of.more))
	}
	return append(cs, column{title: title, from: left, to: left + name, text: (*row).name},
		column{title: "Over " + units.Plural(int64(v.of.Len()), "run"), from: left + name + u.Px(columnGap), to: right, draw: func(x *row, box image.Rectangle) { v.small(u, x, box) }})
}

// menu opens the menu of the chosen row.
func (v *view[S]) menu(h *panel.Host, at image.Point) {
	x := &v.rows[v.chosen]
	var items []widget.Item
	for i := range x.changes {
		c := &x.changes[i]
		before, after := series.Around(v.of.files, c)
		items = append(items, widget.Item{Title: "Compare before and from " + v.of.names[c.At], Detail: strconv.Itoa(len(before)) + " and " + units.Plural(int64(len(after)), "run"), Do: func() { v.compare(c) }})
	}
	copies := []widget.Item{{Title: "Copy name", Do: func() { h.CopyLater(x.name()) }}, {Title: "Copy values", Do: func() { h.CopyLater(v.values(x)) }}}
	h.Menu = widget.NewMenu(at, widget.Grouped(items, copies, v.owner.items(recording.Function{Name: x.Function.Name, Module: x.Function.Module})))
}

// values returns the exact values of a row, a line for each run.
func (v *view[S]) values(x *row) string {
	var b strings.Builder
	for i, name := range v.of.names {
		b.WriteString(name + "\t")
		if x.Has[i] {
			b.WriteString(recording.Decimal{Mantissa: x.Values[i], Scale: v.of.Metric.Decimals}.String())
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// Table returns the rows with the value of each run.
func (v *view[S]) Table(S) func() *tables.Grid {
	of, rows := v.of, v.rows
	if len(rows) == 0 {
		return nil
	}
	return func() *tables.Grid {
		cs := []tables.Column[row]{
			tables.Named("function", (*row).name),
			tables.Named("module", func(x *row) string { return x.Function.Module }),
			tables.Named("change", (*row).size),
			tables.Named("from", func(x *row) string { return of.names[x.change().At] }).Where(func(x *row) bool { return x.chosen >= 0 }),
			tables.Numbered("p", func(x *row) string { return strconv.FormatFloat(x.change().P, 'g', 4, 64) }).Where(func(x *row) bool { return x.found }),
		}
		for i, name := range of.names {
			cs = append(cs, tables.Value(name, &of.Metric, func(x *row) int64 { return x.Values[i] }).Where(func(x *row) bool { return x.Has[i] }))
		}
		return tables.NewGrid("trend", cs, rows)
	}
}

// tone returns the colour of a run in a row: that of its side, or of the runs before and
// after the row's chosen change.
func (v *view[S]) tone(th *theme.Theme, x *row, run int) ui.Colour {
	c := x.change()
	switch {
	case v.owner.sides && run >= v.of.first:
		return th.Accent
	case v.owner.sides || c == nil || run >= c.From && run < c.At:
		return th.Dim
	case run >= c.At && run < c.To:
		return th.Accent
	}
	return th.Faint
}
