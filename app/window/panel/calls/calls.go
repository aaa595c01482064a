// Package calls implements the panel that lists single calls with their arguments, below a
// picture of their durations. Dragging over the picture or selecting rows limits the scope
// to those calls.
package calls

import (
	"image"
	"math/big"
	"slices"
	"strings"

	"gioui.org/io/event"
	gio "gioui.org/widget"

	"ashlar/app/core/session"
	"ashlar/app/window/panel"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/ingest/query/calls"
	"ashlar/render/ui"
	"ashlar/render/units"
	"ashlar/render/widget"
)

// Panel shows the calls of the selected function; otherwise of the functions of the
// selected calls; otherwise of the functions found by the search; otherwise all calls.
type Panel struct {
	table
	picture
	filter  filter
	columns gio.Clickable
	whose   widget.Segments
	kind    widget.Segments
	scale   widget.Segments
}

// Stop stops reading details of rows.
func (t *Panel) Stop() {
	t.later.Stop()
	t.first.Stop()
}

// listed returns the query for the listed calls, without the filter.
func listed(p *panel.Side) *calls.Query {
	if f, ok := p.PickedFunction(); ok && !p.List.All {
		return &calls.Query{Functions: []string{analyze.RefTo(f).Typed(p.Rec)}}
	}
	if p.Scope.Calls != nil {
		if q, err := calls.Parse(p.Scope.Calls.Text); err == nil && (len(q.Functions) > 0 || q.Found != "") {
			return &calls.Query{Functions: q.Functions, Found: q.Found}
		}
	}
	if p.Searching() {
		return &calls.Query{Found: p.Find}
	}
	return new(calls.Query)
}

// filtered adds the filter's conditions to a query. A text that is not a condition is
// searched for in arguments.
func filtered(q *calls.Query, only string) (*calls.Query, error) {
	only = strings.TrimSpace(only)
	if only == "" {
		return q, nil
	}
	both := func(conditions string) (*calls.Query, error) {
		text := q.String()
		if rest, ok := strings.CutSuffix(text, "]"); ok && q.Found != "" {
			return calls.Parse(rest + ", " + conditions + "]")
		}
		return calls.Parse(text + "[" + conditions + "]")
	}
	some, err := both(only)
	if err != nil && !strings.ContainsAny(only, "=~<>") && !strings.Contains(only, "..") {
		return &calls.Query{Functions: q.Functions, Found: "arg:" + only}, nil
	}
	return some, err
}

// CheckFilter returns an error if a filter of the list of calls is invalid.
func CheckFilter(only string) error {
	_, err := filtered(&calls.Query{Functions: []string{"f"}}, only)
	return err
}

// Listed returns the query for the calls listed now.
func Listed(p *panel.Side) *calls.Query {
	q := listed(p)
	if some, err := filtered(q, p.List.Only); err == nil {
		return some
	}
	return q
}

// chosen returns a set as a query if it holds calls of the listed functions, otherwise
// nil.
func chosen(p *panel.Side, set *recording.CallSet) *calls.Query {
	if set == nil {
		return nil
	}
	q, err := calls.Parse(set.Text)
	if err != nil || q.Others || !slices.Equal(q.Functions, listed(p).Functions) {
		return nil
	}
	return q
}

// sets returns the selected set A and, in a comparison, B.
func sets(p *panel.Side) (of [2]*calls.Query) {
	of[0] = chosen(p, p.Scope.Calls)
	if p.Against != nil {
		of[1] = chosen(p, p.Against.Calls)
	}
	return of
}

// inBrush returns the query for the listed calls that are brushed or chosen.
func inBrush(p *panel.Side, brush calls.Query) *calls.Query {
	q := *Listed(p)
	if brush.Duration.IsSet() {
		q.Duration = brush.Duration
	}
	if brush.Started.IsSet() {
		q.Started = brush.Started
	}
	if brush.At != nil {
		q.At = brush.At
	}
	return &q
}

// choose selects a set of the listed calls or, with second, makes it B of the comparison.
// If brush has no condition, choose removes the set.
func choose(p *panel.Side, brush calls.Query, second bool) {
	some := brush.Duration.IsSet() || brush.Started.IsSet() || brush.At != nil
	text := inBrush(p, brush).String()
	switch {
	case second && some:
		p.CompareCalls(text)
	case second:
	case some:
		p.OnlyCalls(text)
	default:
		p.Scope.Calls, p.Against = nil, nil
	}
}

// Ask asks for the rows and the picture.
func (t *Panel) Ask(p *panel.Side, q *session.Question) {
	if p.Rec.Counts.Spans+p.Rec.Counts.States > 0 {
		q.Listed, q.ListedBy = Listed(p).String(), p.List.By
	}
}

// Layout draws the panel.
func (t *Panel) Layout(s *panel.Host, p *panel.Side, u *ui.UI, r image.Rectangle) {
	a := p.Doc.Answer()
	switch {
	case p.Rec.Counts.Spans+p.Rec.Counts.States == 0 && p.Rec.Done:
		widget.Empty(u, r, "No calls", "This recording has no spans, so single calls are unknown")
		return
	case a == nil || a.List == nil:
		p.Wait(u, r)
		return
	}
	l := a.List
	other := a.Listed != Listed(p).String() // the calls of an earlier question
	name := title(listed(p), l)
	switch {
	case other:
		name = "Calls" + whose(listed(p))
	case a.ListedBy != p.List.By && p.Late:
		name = "Sorting " + name // the end may be cut
	}
	t.head(s, p, u, l, name, r)
	r.Min.Y += u.Px(36)
	if other {
		p.Wait(u, r)
		return
	}
	if l.Durations.Count == 0 {
		hint := "Clear the selection, or select another function"
		if p.List.Only != "" {
			hint = "No call matches the filter " + p.List.Only
		}
		widget.Empty(u, r, "No calls in this selection", hint)
		return
	}
	top := r.Min.Y
	if h := min(u.Px(170), r.Dy()/2); h >= u.Px(60) {
		box := image.Rect(r.Min.X+u.Px(8), top, r.Max.X-u.Px(8), top+h)
		if w := u.Px(190); r.Dx() > 3*w {
			box.Max.X -= w
			numbers(u, l, image.Rect(box.Max.X+u.Px(14), top, r.Max.X-u.Px(16), box.Max.Y))
		}
		t.picture.layout(s, p, u, l, box)
		top = box.Max.Y
	}
	t.table.layout(s, p, u, t.shown(p, a, s.Do.Wake), image.Rect(r.Min.X, top+u.Px(4), r.Max.X, r.Max.Y))
}

// title describes the listed calls.
func title(of *calls.Query, l *session.CallList) string {
	text := units.Plural(l.Durations.Count, "call") + whose(of)
	if l.Longest {
		text += " (the longest are listed)"
	}
	return text
}

// whose returns the words of the title that say whose calls are listed.
func whose(of *calls.Query) string {
	switch {
	case len(of.Functions) > 0:
		return " of " + strings.Join(of.Functions, ", ")
	case of.Found != "":
		return " with " + of.Found
	}
	return " of all functions"
}

// head draws the title and the controls for the display.
func (t *Panel) head(s *panel.Host, p *panel.Side, u *ui.UI, l *session.CallList, title string, r image.Rectangle) {
	y := r.Min.Y + u.Px(7)
	right := r.Max.X - u.Px(16)
	segments := func(g *widget.Segments, words []string, on *bool) {
		right -= g.Width(u, words)
		if i := g.Layout(u, right, y, words, panel.Index(*on)); i >= 0 {
			*on = i == 1
		}
		right -= u.Px(14)
	}
	segments(&t.scale, []string{"Logarithmic", "Linear"}, &p.Linear)
	segments(&t.kind, []string{"Histogram", "Dots"}, &p.Dots)
	right -= u.ChoiceWidth(nil, "Columns", 0)
	u.Choice(&t.columns, right, y-u.Px(2), "Columns", 0)
	if _, ok := p.PickedFunction(); ok && r.Dx() > u.Px(800) {
		right -= u.Px(14)
		segments(&t.whose, []string{"This function", "All functions"}, &p.List.All)
	}
	if t.columns.Clicked(u.Context) {
		s.Menu = widget.NewMenu(image.Pt(right, y+u.Px(26)), t.columnItems(p, l))
	}
	x := r.Min.X + u.Px(16)
	st := ui.Style{Size: 13, Weight: ui.Medium, Color: u.Theme.Text}
	room := right - x - u.Px(190) // leaves room for the filter
	if room < u.Px(120) {
		room = max(0, right-x) // without room for both, the title is more useful
	}
	name := s.Fonts.Medium(13*u.Metric.PxPerDp).Fit(title, float32(room))
	u.Text(image.Rect(x, y-u.Px(2), right, y+u.Px(24)), name, st)
	x += u.Width(name, st) + u.Px(18)
	if box := image.Rect(x, y-u.Px(1), min(right-u.Px(16), x+u.Px(260)), y+u.Px(23)); box.Dx() > u.Px(80) {
		t.filter.layout(p, u, box)
	}
}

// numbers draws the statistics of the calls' durations.
func numbers(u *ui.UI, l *session.CallList, r image.Rectangle) {
	d := l.Durations
	mean, _ := new(big.Float).SetRat(d.Mean()).Int64()
	took := func(sum *big.Int) string {
		t, _ := new(big.Float).SetInt(sum).Int64()
		return units.Duration(t)
	}
	rows := [][2]string{{"Calls", units.Count(d.Count)}}
	if d.Sum.Cmp(d.Together) != 0 { // some calls are nested in others and count in their time
		rows = append(rows, [2]string{"Outermost calls", took(d.Together)})
	}
	rows = append(rows, [2]string{"Sum of calls", took(d.Sum)})
	rows = append(rows, [2]string{"Mean", units.Duration(mean)}, [2]string{"Median", units.Duration(d.Median)},
		[2]string{"p90 · p99", units.Duration(d.P90) + " · " + units.Duration(d.P99)}, [2]string{"p99.9", units.Duration(d.P999)},
		[2]string{"Min · max", units.Duration(d.Min) + " · " + units.Duration(d.Max)})
	line := u.Px(19)
	for i, row := range rows {
		y := r.Min.Y + u.Px(4) + i*line
		if y+line > r.Max.Y {
			return
		}
		at := image.Rect(r.Min.X, y, r.Max.X, y+line)
		u.Text(at, row[0], ui.Style{Size: 12, Color: u.Theme.Dim})
		u.Text(at, row[1], ui.Style{Size: 12, Color: u.Theme.Text, Align: ui.End})
	}
}

// Scroll returns the scroll position of the rows.
func (t *Panel) Scroll(*panel.Side) *int { return &t.Down }

// ScrollBy scrolls the rows by a number of pixels if the pointer is on them.
func (t *Panel) ScrollBy(_ *panel.Side, px int) bool {
	if t.table.Inside {
		t.Down += px
	}
	return t.table.Inside
}

// Areas returns the areas that focus the panel when clicked.
func (t *Panel) Areas() []event.Tag { return []event.Tag{&t.table.Drag, &t.picture.Drag} }
