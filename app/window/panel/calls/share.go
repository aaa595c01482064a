package calls

import (
	"image"

	"ashlar/app/core/session"
	"ashlar/app/window/panel"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/calls"
	"ashlar/ingest/query/spans"
	"ashlar/render/theme"
	"ashlar/render/ui"
	"ashlar/render/units"
)

// Looking up a set of calls and adding it up may take some tenths of a second. To show
// numbers during a drag, the number and time of the covered calls are computed from the
// list of calls, which is fast, and drawn beside the dragged area.

// share is the number of listed calls in a set, and their time.
type share struct {
	of   *session.CallList
	text string // the set, as text
	n    int64
	took int64 // sum of the durations
	ok   bool  // the numbers are known
}

// mostLooked is the maximum number of rows examined for a share within one frame.
const mostLooked = 100_000

// shareOf computes the share of a set; all is the query for the listed calls. If whole
// bins of the histogram are selected it adds up the bins; otherwise it examines the rows,
// unless there are too many.
func shareOf(p *panel.Side, l *session.CallList, all, q *calls.Query) (s share) {
	rest := *q
	rest.Duration, rest.Started, rest.Self, rest.At = all.Duration, all.Started, all.Self, all.At
	if rest.String() != all.String() {
		return s
	}
	if !q.Started.IsSet() && !q.Self.IsSet() && q.At == nil {
		for _, bins := range [][]spans.Bin{l.Durations.Logarithmic, l.Durations.Linear} {
			if s = inBins(bins, &q.Duration); s.ok {
				return s
			}
		}
	}
	if s = (share{ok: len(l.Rows) > 0 && len(l.Rows) <= mostLooked}); !s.ok {
		return s
	}
	is := taken(p, q)
	for i := range l.Rows {
		if r := &l.Rows[i]; is(r) {
			s.n++
			recording.Add(&s.took, r.Duration)
		}
	}
	return s
}

// inBins adds up the bins in a range. The ends of the range must be edges of bins.
func inBins(bins []spans.Bin, r *recording.Range) (s share) {
	from, to := !r.HasFrom, !r.HasTo
	for _, b := range bins {
		from, to = from || b.From == r.From, to || b.To == r.To
		if calls.InRange(r, b.From) {
			s.n += b.Count
			recording.Add(&s.took, b.Sum)
		}
	}
	s.ok = from && to
	return s
}

// drawShare writes the share into the dragged area, or beside it.
func (t *picture) drawShare(p *panel.Side, u *ui.UI, side int, q *calls.Query, box image.Rectangle) {
	s := &t.shares[side]
	if text := q.String(); s.of != t.list || s.text != text {
		*s = shareOf(p, t.list, Listed(p), q)
		s.of, s.text = t.list, text
	}
	if !s.ok {
		return
	}
	d := t.list.Durations
	lines := []string{units.Plural(s.n, "call") + " · " + units.Percent(s.n, d.Count)}
	if d.Sum.IsInt64() {
		lines = append(lines, units.Duration(s.took)+" · "+units.Percent(s.took, d.Sum.Int64()))
	}
	st, line, w := ui.Style{Size: 12, Color: u.Theme.Text}, u.Px(17), 0
	for _, text := range lines {
		w = max(w, u.Width(text, st)+u.Px(13))
	}
	x := box.Min.X + u.Px(2)
	if box.Dx() < w+u.Px(4) {
		if x = box.Max.X + u.Px(2); x+w > t.at.Max.X {
			x = box.Min.X - w - u.Px(2)
		}
	}
	at := image.Rect(x, box.Min.Y+u.Px(2), x+w, box.Min.Y+u.Px(2)+line*len(lines))
	u.Fill(at, theme.WithAlpha(u.Theme.Background, .8))
	for i, text := range lines {
		u.Text(image.Rect(at.Min.X+u.Px(6), at.Min.Y+i*line, at.Max.X, at.Min.Y+(i+1)*line), text, st)
	}
}
