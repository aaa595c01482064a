// Package calls shows the calls of a function one by one: rows with their arguments,
// below a histogram. A drag over the histogram, and rows that are taken, make the set
// of calls that everything else answers for.
package calls

import (
	"image"
	"slices"
	"strings"

	"gioui.org/io/event"
	"gioui.org/io/key"
	"gioui.org/io/pointer"

	"ashlar/app/panel"
	"ashlar/app/session"
	"ashlar/app/view"
	"ashlar/ingest/analyze"
	"ashlar/ingest/calls"
	"ashlar/ingest/recording"
	"ashlar/ingest/search"
	"ashlar/ingest/spans"
	"ashlar/render/histogram"
	"ashlar/render/raster"
	"ashlar/render/theme"
	"ashlar/render/ui"
	"ashlar/render/units"
	"ashlar/render/widget"
)

// Panel shows the calls of the picked function.
type Panel struct {
	widget.List // of the rows
	brush       widget.Drag
	pic         histogram.Picture
	kept        widget.Kept[picKey]
	linear      bool
	scale       widget.Segments
	off         widget.ClickArea
	heads       [maxColumns]widget.ClickArea
	by          string // what rows are sorted by, as calls.List takes it
	last        int    // the row that was taken last
	sheet       ui.Sheet
}

const maxColumns = 12

// picKey is what the histogram depends on.
type picKey struct {
	of     *spans.Durations
	linear bool
	theme  *theme.Theme
	scale  float32
	size   image.Point
}

// asked is the function whose calls are listed, as it is written; "" for none.
func asked(p *panel.Side) string {
	if f, ok := p.PickedFunction(); ok {
		return analyze.RefTo(f).Typed(p.Rec)
	}
	return ""
}

// query is what is selected of the listed function, if it is of that.
func query(p *panel.Side) *calls.Query {
	if p.Scope.Calls == nil {
		return nil
	}
	q, err := calls.Parse(p.Scope.Calls.Text)
	if err != nil || q.Others || !slices.Equal(q.Functions, []string{asked(p)}) {
		return nil
	}
	return q
}

// choose makes a set of the listed function's calls the selection; without any
// condition it takes that away.
func choose(p *panel.Side, q calls.Query) {
	if q.Functions = []string{asked(p)}; !q.Duration.IsSet() && q.At == nil {
		p.Scope.Calls = nil
		return
	}
	p.Scope.Calls = &recording.CallSet{Text: q.String()}
}

// Ask asks for the rows and the histogram.
func (t *Panel) Ask(p *panel.Side, q *session.Question) {
	if f := asked(p); f != "" {
		q.Listed, q.ListedBy = (&calls.Query{Functions: []string{f}}).String(), t.by
	}
}

// Layout draws it.
func (t *Panel) Layout(s *panel.Host, p *panel.Side, u *ui.UI, r image.Rectangle) {
	a := p.Doc.Answer()
	f := asked(p)
	switch {
	case p.Rec.Counts.Spans == 0 && p.Rec.Done:
		widget.Empty(u, r, "No calls", "This recording has no spans: nothing says when a call began or ended")
		return
	case f == "":
		widget.Empty(u, r, "No function is selected", "Select one to see its calls one by one")
		return
	case a == nil || a.List == nil:
		return
	}
	l := a.List
	t.head(p, u, l, r)
	top := r.Min.Y + u.Px(32)
	if l.Durations.Count == 0 {
		widget.Empty(u, r, "No calls here", "There are none of this function in the selected time and threads")
		return
	}
	box := image.Rect(r.Min.X+u.Px(8), top, r.Max.X-u.Px(8), min(top+u.Px(150), r.Min.Y+r.Dy()*2/5))
	if box.Dy() >= u.Px(70) {
		t.histogram(s, p, u, l.Durations, box)
		top = box.Max.Y
	}
	t.table(s, p, u, l, image.Rect(r.Min.X, top+u.Px(4), r.Max.X, r.Max.Y))
}

// head says whose calls they are and how many, and which of them are selected.
func (t *Panel) head(p *panel.Side, u *ui.UI, l *session.CallList, r image.Rectangle) {
	th := u.Theme
	line := func(x0, x1 int) image.Rectangle { return image.Rect(x0, r.Min.Y+u.Px(6), x1, r.Min.Y+u.Px(30)) }
	words := []string{"Logarithmic", "Linear"}
	right := r.Max.X - u.Px(16) - t.scale.Width(u, words)
	if i := t.scale.Layout(u, right, r.Min.Y+u.Px(7), words, panel.Index(t.linear)); i >= 0 {
		t.linear = i == 1
	}
	name := units.Plural(l.Durations.Count, "call") + " of " + asked(p)
	st := ui.Style{Size: 13, Weight: ui.Medium, Color: th.Text}
	x := r.Min.X + u.Px(16)
	u.Text(line(x, right), name, st)
	if p.Scope.Calls == nil {
		return
	}
	x = min(x+u.Width(name, st)+u.Px(16), right)
	chip := "×  " + p.Scope.Calls.Text
	st = ui.Style{Size: 12, Color: th.Text}
	box := image.Rect(x, r.Min.Y+u.Px(7), min(right-u.Px(8), x+u.Width(chip, st)+u.Px(16)), r.Min.Y+u.Px(29))
	clicked, hovered := t.off.Clicked(u, box)
	alpha := .16
	if hovered {
		alpha = .3
	}
	u.Round(box, 11, theme.WithAlpha(th.Accent, alpha))
	u.Text(image.Rect(box.Min.X+u.Px(8), box.Min.Y, box.Max.X-u.Px(8), box.Max.Y), chip, st)
	if clicked {
		p.Scope.Calls = nil
	}
}

// histogram draws how long calls took; a drag over it selects those of the bins
// between, a click takes the selection away.
func (t *Panel) histogram(s *panel.Host, p *panel.Side, u *ui.UI, d *spans.Durations, box image.Rectangle) {
	for {
		g, _, ok := t.brush.Next(u, box.Min)
		if !ok {
			break
		}
		switch g {
		case widget.Dragged, widget.Dropped:
			if i, j := t.bin(d, t.brush.Start.X), t.bin(d, t.brush.At.X); i >= 0 && j >= 0 {
				bins := t.bins(d)
				choose(p, calls.Query{Duration: recording.Offsets(bins[min(i, j)].From, bins[max(i, j)].To)})
			}
		case widget.Clicked:
			choose(p, calls.Query{})
		}
	}
	k := picKey{d, t.linear, u.Theme, u.Metric.PxPerDp, box.Size()}
	u.Draw(t.kept.Get(u, k, box.Size(), func(on raster.Surface) {
		t.pic = histogram.Picture{Of: d, Linear: k.linear, Theme: k.theme, Font: s.Fonts.Regular(11 * k.scale), Name: s.Fonts.Medium(11 * k.scale), Scale: k.scale, Hover: -1}
		t.pic.Paint(on)
	}), box.Min)
	if q := query(p); q != nil && q.Duration.IsSet() {
		bins := t.bins(d)
		from, to := bins[0].From, bins[len(bins)-1].To
		if q.Duration.HasFrom {
			from = q.Duration.From
		}
		if q.Duration.HasTo {
			to = q.Duration.To
		}
		x0, x1 := box.Min.X+int(t.pic.X(max(from, bins[0].From))), box.Min.X+int(t.pic.X(to))
		u.Fill(image.Rect(x0, box.Min.Y+u.Px(36), max(x1, x0+1), box.Max.Y-u.Px(26)), theme.WithAlpha(u.Theme.Accent, .22))
	}
	t.brush.Area(u, box, pointer.CursorCrosshair)
}

func (t *Panel) bins(d *spans.Durations) []spans.Bin {
	if t.linear {
		return d.Linear
	}
	return d.Logarithmic
}

// bin is the one at a place across, the nearest where there is none; -1 before the
// picture was drawn.
func (t *Panel) bin(d *spans.Durations, x float32) int {
	n := len(t.bins(d))
	if t.pic.Of != d || n == 0 {
		return -1
	}
	x0, _, _, _ := t.pic.Box(0)
	_, _, x1, _ := t.pic.Box(n - 1)
	return max(0, min(n-1, int((x-float32(x0))*float32(n)/float32(max(1, x1-x0)))))
}

// column is one of the table.
type column struct {
	key, title string
	width      float32 // dp
	right      bool
	cell       func(r *calls.Row) string
}

func columns(p *panel.Side, l *session.CallList) []column {
	rec := p.Rec
	time := func(of func(*calls.Row) int64) func(*calls.Row) string {
		return func(r *calls.Row) string { return units.Duration(of(r)) }
	}
	cs := []column{
		{calls.ByStart, "start", 86, true, time(func(r *calls.Row) int64 { return r.Start - rec.Start })},
		{calls.ByDuration, "duration", 86, true, func(r *calls.Row) string {
			if r.Unfinished {
				return "≥ " + units.Duration(r.Duration)
			}
			return units.Duration(r.Duration)
		}},
		{calls.BySelf, "self", 86, true, time(func(r *calls.Row) int64 { return r.Self })},
	}
	if l.CPU {
		known := func(of func(*calls.Row) int64) func(*calls.Row) string {
			return func(r *calls.Row) string {
				if !r.HasCPU {
					return "–"
				}
				return units.Duration(of(r))
			}
		}
		cs = append(cs, column{calls.ByCPU, "CPU", 86, true, known(func(r *calls.Row) int64 { return r.CPU })},
			column{calls.ByWaiting, "waiting", 86, true, known((*calls.Row).Waiting)})
	}
	cs = append(cs, column{calls.ByThread, "thread", 170, false, func(r *calls.Row) string { return rec.Tracks[r.Track].Title() }})
	for _, k := range l.Keys {
		if len(cs) == maxColumns {
			break
		}
		cs = append(cs, column{k, k, 130, false, func(r *calls.Row) string { return r.Arg(k) }})
	}
	return cs
}

// table draws the table and takes what is done on it.
func (t *Panel) table(s *panel.Host, p *panel.Side, u *ui.UI, l *session.CallList, r image.Rectangle) {
	h := u.Px(widget.RowHeight)
	body := image.Rect(r.Min.X, r.Min.Y+h, r.Max.X, r.Max.Y)
	t.events(p, u, l, body, h)
	th := u.Theme
	cs := columns(p, l)
	x := r.Min.X + u.Px(16)
	boxes := make([]image.Rectangle, 0, len(cs))
	for _, c := range cs {
		box := image.Rect(x, r.Min.Y, min(x+u.Px(c.width), r.Max.X-u.Px(8)), r.Min.Y+h)
		if box.Dx() < u.Px(40) {
			break
		}
		boxes = append(boxes, box)
		x = box.Max.X + u.Px(12)
	}
	for i, box := range boxes {
		c := &cs[i]
		clicked, hovered := t.heads[i].Clicked(u, box)
		st := ui.Style{Size: 12, Color: th.Dim}
		if c.right {
			st.Align = ui.End
		}
		on := strings.TrimPrefix(t.by, "-") == c.key || t.by == "" && c.key == calls.ByDuration
		if hovered || on {
			st.Color = th.Text
		}
		u.Text(box, c.title, st)
		switch {
		case clicked && on && !strings.HasPrefix(t.by, "-"):
			t.by = "-" + c.key
		case clicked:
			t.by = c.key
		}
	}
	taken := t.taken(p)
	t.Rows(body, h, len(l.Rows), func(i int, line image.Rectangle) {
		row := &l.Rows[i]
		if c, ok := t.Ground(u, line, taken(row)); ok {
			t.sheet.Fill(line, 0, c)
		}
		for k, box := range boxes {
			st := ui.Style{Size: 12, Color: th.Text}
			if cs[k].right {
				st.Align = ui.End
			}
			to := image.Rect(box.Min.X-body.Min.X, line.Min.Y, box.Max.X-body.Min.X, line.Max.Y)
			t.sheet.Text(to, s.Fonts.Regular(12*u.Metric.PxPerDp).Fit(cs[k].cell(row), float32(to.Dx())), st)
		}
	})
	t.sheet.Show(u, body, th.Background)
	t.Area(u, body, pointer.CursorDefault)
}

// taken tells which rows belong to the selection.
func (t *Panel) taken(p *panel.Side) func(*calls.Row) bool {
	q := query(p)
	if q == nil {
		return func(*calls.Row) bool { return false }
	}
	at := map[calls.Place]bool{}
	for _, x := range q.At {
		at[x] = true
	}
	return func(r *calls.Row) bool {
		if q.At != nil && !at[place(p.Rec, r)] {
			return false
		}
		return !(q.Duration.HasFrom && r.Duration < q.Duration.From) && !(q.Duration.HasTo && r.Duration >= q.Duration.To)
	}
}

func place(rec *recording.Recording, r *calls.Row) calls.Place {
	th := view.ThreadOf(rec, r.Track)
	return calls.Place{PID: th.PID, TID: th.TID, Name: th.Name, Time: r.Start - rec.Start}
}

// events goes to the row that is clicked; with Ctrl it takes the row or leaves it,
// with Shift all rows from the last that was taken.
func (t *Panel) events(p *panel.Side, u *ui.UI, l *session.CallList, body image.Rectangle, h int) {
	t.Events(u, body, h, len(l.Rows), func(g widget.Gesture, i int) {
		switch {
		case g != widget.Clicked || i < 0:
		case t.Mods.Contain(key.ModShift):
			t.take(p, l, t.last, i)
		case t.Mods.Contain(key.ModShortcut):
			t.toggle(p, &l.Rows[i])
			t.last = i
		default:
			r := &l.Rows[i]
			t.last = i
			p.Acts.Show(search.Hit{Time: r.Start, Track: r.Track, Lane: r.Lane, Index: r.Span, Call: r.Call})
		}
	})
}

// mostTaken bounds how many calls are taken one by one: an address has them all.
const mostTaken = 1000

// take makes rows the selection.
func (t *Panel) take(p *panel.Side, l *session.CallList, from, to int) {
	from, to = min(from, to), max(from, to)
	var q calls.Query
	for i := max(0, from); i <= min(to, len(l.Rows)-1, from+mostTaken); i++ {
		q.At = append(q.At, place(p.Rec, &l.Rows[i]))
	}
	choose(p, q)
}

// toggle takes a row, or leaves it.
func (t *Panel) toggle(p *panel.Side, r *calls.Row) {
	var q calls.Query
	if old := query(p); old != nil {
		q.At = old.At
	}
	at := place(p.Rec, r)
	if i := slices.Index(q.At, at); i >= 0 {
		q.At = slices.Delete(slices.Clone(q.At), i, i+1)
	} else if len(q.At) < mostTaken {
		q.At = append(slices.Clone(q.At), at)
	}
	if len(q.At) == 0 {
		q.At = nil
	}
	choose(p, q)
}

// Scroll is how far rows are scrolled.
func (t *Panel) Scroll(*panel.Side) *int { return &t.Down }

// ScrollBy moves the rows up by some pixels where the pointer is on them.
func (t *Panel) ScrollBy(_ *panel.Side, px int) bool {
	if t.Inside {
		t.Down += px
	}
	return t.Inside
}

// Areas are where a press gives it the keyboard.
func (t *Panel) Areas() []event.Tag { return []event.Tag{&t.Drag, &t.brush} }
