// Package blocked implements the panel with the locks and channels of the selection: for
// each, who held it, who waited and how long.
package blocked

import (
	"cmp"
	"image"
	"slices"

	"gioui.org/io/key"
	"gioui.org/io/pointer"

	"ashlar/app/core/session"
	"ashlar/app/core/tables"
	"ashlar/app/window/panel"
	"ashlar/ingest/model/order"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/ingest/query/search"
	"ashlar/ingest/query/waits"
	"ashlar/render/ui"
	"ashlar/render/units"
	"ashlar/render/widget"
)

// Panel lists locks above the waits for the chosen one: which thread waited for which.
type Panel struct {
	panel.List[*panel.Side]
	pairs  widget.List
	chosen int
	of     *session.Locks
	rows   []waits.Lock // in the order of the list
	sheets [2]ui.Sheet
}

// Ask asks for the locks.
func (t *Panel) Ask(p *panel.Side, q *session.Question) { q.Blocked = p.Rec.Counts.States > 0 }

// Layout draws the panel.
func (t *Panel) Layout(s *panel.Host, p *panel.Side, u *ui.UI, r image.Rectangle) {
	a := p.Doc.Answer()
	if p.Rec.Counts.States == 0 && p.Rec.Done {
		widget.Empty(u, r, "No waits", "This recording has no thread states")
		return
	}
	if !p.Counts(a) || a.Locks == nil {
		p.Wait(u, r)
		return
	}
	if len(a.Locks.All) == 0 {
		if a.Locks.Idle > 0 {
			widget.Empty(u, r, "No waits", "Only idle system goroutines were blocked in this selection")
			return
		}
		widget.Empty(u, r, "No waits", "No "+p.Rec.ThreadWord(recording.NoTrack)+" was blocked in this selection")
		return
	}
	if t.of != a.Locks {
		t.of, t.rows, t.chosen, t.pairs.Down = a.Locks, byLost(a.Locks.All), 0, 0
	}
	pad := u.Px(16)
	head := image.Rect(r.Min.X+pad, r.Min.Y+u.Px(6), r.Max.X-pad, r.Min.Y+u.Px(28))
	title := units.Duration(a.Locks.Blocked) + " blocked"
	if a.Locks.Idle > 0 {
		title += " · " + analyze.IdleWaits + " hidden"
	}
	title += ". Holds are derived from wake-ups: from the first waiter, or the previous release, to the wake-up"
	u.Text(head, s.Fonts.Medium(13*u.Metric.PxPerDp).Fit(title, float32(head.Dx())), ui.Style{Size: 13, Weight: ui.Medium, Color: u.Theme.Text})
	middle := head.Max.Y + (r.Max.Y-head.Max.Y)/2
	locks := image.Rect(r.Min.X, head.Max.Y, r.Max.X, middle)
	list(s, u, &t.List.List, &t.sheets[0], locks, lockColumns(p.Rec), t.rows, &t.chosen, func(row int, _ float32) { t.choose(row) })
	of := t.rows[min(t.chosen, len(t.rows)-1)].Pairs
	u.HLine(r.Min.X, r.Max.X, middle, u.Theme.Rule)
	list(s, u, &t.pairs, &t.sheets[1], image.Rect(r.Min.X, middle, r.Max.X, r.Max.Y), pairColumns(p.Rec), of, nil, func(row int, x float32) {
		show(p, &of[row], x > holderAt)
	})
}

// byLost returns locks of all kinds in one order, those with the longest waits first. Waits
// that nobody ends, such as sleeping, come last.
func byLost(all []waits.Lock) []waits.Lock {
	all = slices.Clone(all)
	order.By(all, func(a, b waits.Lock) int {
		if a, b := a.Kind == waits.Others, b.Kind == waits.Others; a != b {
			return map[bool]int{true: 1, false: -1}[a]
		}
		return cmp.Or(cmp.Compare(b.Lost, a.Lost), cmp.Compare(b.Waits, a.Waits))
	})
	return all
}

func (t *Panel) choose(row int) { t.chosen, t.pairs.Down = row, 0 }

// column is a column of a list; its width is a share of the list's.
type column[T any] struct {
	name  string
	share float32
	right bool
	text  func(*T) string
}

func lockColumns(rec *recording.Recording) []column[waits.Lock] {
	type l = waits.Lock
	return []column[l]{
		{"kind", .08, false, func(x *l) string { return panel.Title1(x.Kind.String()) }},
		{"place", .32, false, func(x *l) string { return x.Title(rec) }},
		{"lost", .1, true, func(x *l) string { return units.Duration(x.Lost) }},
		{"waits", .06, true, func(x *l) string { return units.Count(int64(x.Waits)) }},
		{rec.ThreadWord(recording.NoTrack) + "s", .08, true, func(x *l) string { return units.Count(int64(x.Waiters)) }},
		{"longest wait", .09, true, func(x *l) string { return units.Duration(x.Longest) }},
		{"holds", .07, true, func(x *l) string { return units.Count(int64(len(x.Holds))) }},
		{"median hold", .1, true, func(x *l) string { return units.Duration(x.Median) }},
		{"longest hold", .1, true, func(x *l) string { return units.Duration(x.LongestHold) }},
	}
}

// holderAt is where the column of holders begins, as a share of the width.
const holderAt = .3

func pairColumns(rec *recording.Recording) []column[waits.Pair] {
	type l = waits.Pair
	name := func(track int) string {
		if track == recording.NoTrack {
			return "unknown"
		}
		return rec.TrackLabel(track)
	}
	return []column[l]{
		{"waiter", holderAt, false, func(x *l) string { return name(x.Waiter) }},
		{"woken by", .3, false, func(x *l) string { return "→ " + name(x.Holder) }},
		{"lost", .14, true, func(x *l) string { return units.Duration(x.Lost) }},
		{"waits", .12, true, func(x *l) string { return units.Count(int64(x.Count)) }},
		{"longest wait", .14, true, func(x *l) string { return units.Duration(x.Longest) }},
	}
}

// list draws rows below the column titles. It calls click with the clicked row and the x
// position in the row, as a share of the width. chosen is the highlighted row, nil if
// rows cannot be chosen.
func list[T any](s *panel.Host, u *ui.UI, l *widget.List, sheet *ui.Sheet, r image.Rectangle, cs []column[T], rows []T, chosen *int, click func(row int, x float32)) {
	h := u.Px(widget.RowHeight)
	body := image.Rect(r.Min.X, r.Min.Y+h, r.Max.X, r.Max.Y)
	l.Events(u, body, h, len(rows), func(g widget.Gesture, row int) {
		if row >= 0 && (g == widget.Clicked || g == widget.DoubleClicked) {
			click(row, (l.At.X-float32(u.Px(16)))/float32(max(1, r.Dx()-u.Px(32))))
		}
	})
	face := s.Fonts.Regular(12 * u.Metric.PxPerDp)
	cells := func(draw func(k int, at [2]int)) {
		x := float32(u.Px(16))
		for k := range cs {
			w := cs[k].share * float32(r.Dx()-u.Px(32))
			draw(k, [2]int{int(x), int(x+w) - u.Px(12)})
			x += w
		}
	}
	style := func(k int, c ui.Colour) ui.Style {
		st := ui.Style{Size: 12, Color: c}
		if cs[k].right {
			st.Align = ui.End
		}
		return st
	}
	cells(func(k int, at [2]int) {
		u.Text(image.Rect(r.Min.X+at[0], r.Min.Y, r.Min.X+at[1], body.Min.Y), cs[k].name, style(k, u.Theme.Dim))
	})
	l.Rows(body, h, len(rows), func(i int, line image.Rectangle) {
		if colour, ok := l.Ground(u, line, chosen != nil && i == *chosen); ok {
			sheet.Fill(line, 0, colour)
		}
		cells(func(k int, at [2]int) {
			sheet.Text(image.Rect(at[0], line.Min.Y, at[1], line.Max.Y), face.FitText(cs[k].text(&rows[i]), float32(at[1]-at[0])), style(k, u.Theme.Text))
		})
	})
	sheet.Show(u, body, u.Theme.Background)
	l.Area(u, body, pointer.CursorDefault)
}

// show goes to the longest wait of a pair or, if holder is true, to the holder's state at
// the end of that wait.
func show(p *panel.Side, x *waits.Pair, holder bool) {
	w := waits.At(p.Rec, x.Waiter, x.State)
	if !holder || x.Holder == recording.NoTrack {
		p.Actions.Show(search.Hit{Track: x.Waiter, Lane: recording.StateLane, Index: x.State, Time: w.Start, Call: w.Call})
		return
	}
	l := &p.Rec.Tracks[x.Holder].States
	if i := l.Search(w.End - 1); i < l.Len() && l.Start(i) < w.End {
		p.Actions.Show(search.Hit{Track: x.Holder, Lane: recording.StateLane, Index: i, Time: l.Start(i), Call: l.Call(i)})
	}
}

// Key moves to other locks.
func (t *Panel) Key(p *panel.Side, k key.Event, _ int) bool {
	a := p.Doc.Answer()
	if a == nil || a.Locks == nil || len(a.Locks.All) == 0 {
		return false
	}
	to, ok := t.List.Key(k, t.chosen, len(a.Locks.All))
	if ok {
		t.choose(to)
	}
	return ok
}

// Table returns the locks.
func (t *Panel) Table(p *panel.Side) func() *tables.Grid {
	a := p.Doc.Answer()
	if a == nil || a.Locks == nil {
		return nil
	}
	rec, all := p.Rec, byLost(a.Locks.All)
	return func() *tables.Grid {
		type l = waits.Lock
		return tables.NewGrid("locks", []tables.Column[l]{
			tables.Named("kind", func(x *l) string { return x.Kind.String() }),
			tables.Named("place", func(x *l) string { return x.Title(rec) }),
			tables.Time("lost", func(x *l) int64 { return x.Lost }),
			tables.Count("waits", func(x *l) int64 { return int64(x.Waits) }),
			tables.Count("threads", func(x *l) int64 { return int64(x.Waiters) }),
			tables.Time("longest_wait", func(x *l) int64 { return x.Longest }),
			tables.Count("holds", func(x *l) int64 { return int64(len(x.Holds)) }),
			tables.Time("held", func(x *l) int64 { return x.Held }),
			tables.Time("median_hold", func(x *l) int64 { return x.Median }),
			tables.Time("longest_hold", func(x *l) int64 { return x.LongestHold }),
		}, all)
	}
}
