package timeline

import (
	"image"
	"slices"

	"gioui.org/f32"

	"ashlar/app/window/panel"
	"ashlar/ingest/model/recording"
	"ashlar/render/timeline"
	"ashlar/render/ui"
	"ashlar/render/units"
	"ashlar/render/widget"
)

// contextMenu opens the menu of the item under the pointer.
func (p *Timeline) contextMenu(s *panel.Host, u *ui.UI) {
	if p.Plan == nil {
		return
	}
	h := timeline.At(p.Rec, p.Plan, p.View, int(p.Lanes.At.X), int(p.Lanes.At.Y), p.Bounds.Lanes.Dx(), p.Bounds.Gutter)
	at := widget.Point(p.Bounds.Lanes.Min, p.Lanes.At)
	var items, about, versus, rows, all []widget.Item
	if h.Found && h.Call != recording.NoCall {
		p.PickHit(h)
		items = append(items,
			widget.Item{Title: "Zoom in", Detail: "double click", Do: func() { p.ZoomToBar(&h) }},
			widget.Item{Title: "Select its time", Detail: "Return", Do: p.SelectPicked},
		)
		if h.Span >= 0 && h.Samples == nil && !h.IsState() {
			f := p.Rec.Functions.At(int(p.Rec.Func(h.Call)))
			items = append(items, widget.Item{Title: "Select this call", Do: func() { p.OnlyCalls(p.CallAt(h.Track, h.Start, f)) }})
		}
		items = append(items,
			widget.Item{Title: "Show critical path", Do: func() {
				p.SelectRange(h.Start, h.End)
				p.Scope.Tracks, p.Tab = []int{h.Track}, panel.Path
			}},
			widget.Item{Title: "Copy name", Do: func() { s.CopyLater(p.Rec.FuncName(h.Call)) }},
			widget.Item{Title: "Copy details", Detail: "Ctrl-C", Do: func() { p.Copy = true }},
		)
	}
	if f, ok := p.PickedFunction(); ok && h.Found {
		about = p.Actions.FunctionItems(f)
		if h.Span >= 0 && h.Samples == nil && !p.Linkable {
			one := p.CallAt(h.Track, h.Start, f)
			versus = append(versus, widget.Item{Title: "Compare with typical call", Do: func() { p.Actions.CompareTypical(one) }},
				widget.Item{Title: "Compare with other calls", Do: func() { p.CompareWithRest(one) }})
			versus = append(versus, panel.SetAsItems("call", func(i int) { p.SetCallsAs(i, one) })...)
		}
	}
	if h.Row >= 0 && (!h.Found || h.Gutter) {
		rows = p.rowItems(&p.Plan.Rows[h.Row])
	}
	if at := p.TimeAt(p.Lanes.At.X); !p.Linkable && p.Scope.Ranged && at >= p.Scope.From && at <= p.Scope.To {
		versus = append(versus, p.rangeItems()...) // bars may leave no free place in the selected time
	}
	if !h.Found {
		all = p.timelineItems()
	}
	s.Menu = widget.NewMenu(at, widget.Grouped(items, about, versus, rows, all, p.Callbacks.Items()))
}

// rowItems lists the actions for a row.
func (p *Timeline) rowItems(r *timeline.Row) []widget.Item {
	if r.Heads() {
		return p.headItems(r)
	}
	if r.Kind != timeline.TrackRow {
		return nil
	}
	i := r.Index
	fold := "Fold"
	if r.Collapsed {
		fold = "Unfold"
	} else if r.Lanes < r.All {
		fold = "Show all lanes"
	}
	pin := "Pin"
	if slices.Contains(p.Pinned, i) {
		pin = "Unpin"
	}
	word := p.Rec.ThreadWord(i)
	only := "Select this " + word
	if slices.Equal(p.Scope.Tracks, []int{i}) {
		only = "Select all " + word + "s"
	}
	var versus []widget.Item
	if !p.Linkable {
		versus = p.versusItems(i)
	}
	return widget.Grouped([]widget.Item{
		{Title: only, Do: func() { p.OnlyTrack(i) }},
		{Title: "Add to selection", Detail: "Ctrl click", On: slices.Contains(p.Scope.Tracks, i), Do: func() { p.ToggleTrack(i) }},
		{Title: fold, Do: func() { p.Fold(r) }},
		{Title: pin, Detail: p.Callbacks.KeyOf("Pin or unpin thread"), Do: func() { p.TogglePin(i) }},
		{Title: "Hide", Detail: p.Callbacks.KeyOf("Hide thread"), Do: func() { p.Hide(i, true) }},
	}, versus)
}

// rangeItems lists comparisons of the selected time.
func (p *Timeline) rangeItems() []widget.Item {
	from, to := p.Scope.From, p.Scope.To
	items := []widget.Item{
		{Title: "Compare selected time with rest", Do: func() { p.CompareRest() }},
		{Title: "Compare with next window", Do: func() { p.CompareNext() }},
	}
	return append(items, panel.SetAsItems("time", func(i int) {
		if i == 1 && p.Against == nil { // the selection becomes B, so A is everything
			p.Scope.Ranged = false
		}
		p.SetRangeAs(i, from, to)
	})...)
}

// versusItems lists comparisons of a thread: with the selected threads, or with all
// others.
func (p *Timeline) versusItems(i int) []widget.Item {
	var rest []int
	for k, t := range p.Rec.Tracks {
		if k != i && t.Kind == p.Rec.Tracks[i].Kind {
			rest = append(rest, k)
		}
	}
	var items []widget.Item
	if on := p.Scope.Tracks; on != nil && !slices.Contains(on, i) {
		what := units.Plural(int64(len(on)), "selected "+p.Rec.ThreadWord(i))
		if len(on) == 1 {
			what = timeline.TrackName(p.Rec.Tracks[on[0]])
		}
		items = append(items, widget.Item{Title: "Compare " + what + " with this", Do: func() { p.CompareTracks([]int{i}) }})
	}
	if rest != nil {
		items = append(items, widget.Item{Title: "Compare with other " + p.Rec.ThreadWord(i) + "s", Do: func() {
			p.Scope.Tracks = []int{i}
			p.CompareTracks(rest)
		}})
	}
	return append(items, panel.SetAsItems(p.Rec.ThreadWord(i), func(k int) { p.SetTracksAs(k, []int{i}) })...)
}

// timelineItems lists the actions for all rows.
func (p *Timeline) timelineItems() []widget.Item {
	var items []widget.Item
	if n := len(p.Hidden); n > 0 {
		items = append(items, widget.Item{Title: "Show " + units.Plural(int64(n), "hidden "+p.Rec.ThreadWord(recording.NoTrack)), Do: func() { p.Hidden = map[int]bool{} }})
	}
	items = append(items,
		widget.Item{Title: "Fold all threads", Detail: p.Callbacks.KeyOf("Fold all threads"), Do: func() { p.FoldAll(false) }},
		widget.Item{Title: "Unfold all threads", Do: func() { p.FoldAll(true) }})
	for _, s := range timeline.Sorts {
		items = append(items, widget.Item{Title: SortTitle(s), On: p.Sort == s && p.Order == nil, Do: func() { p.SortTracks(s) }})
	}
	return items
}

// SortTitle names an order of threads in menus and the palette.
func SortTitle(s timeline.Sort) string {
	switch s {
	case timeline.SortFile:
		return "Sort threads by file order"
	case timeline.SortBusy:
		return "Sort threads by activity"
	}
	return "Sort threads by " + string(s)
}

// SortTracks sorts the threads, including those that were moved by hand.
func (p *Timeline) SortTracks(s timeline.Sort) { p.Sort, p.Order = s, nil }

// The methods below select and order threads.

func (p *Timeline) chosenTracks() map[int]bool {
	if p.Scope.Tracks == nil {
		return nil
	}
	set := map[int]bool{}
	for _, i := range p.Scope.Tracks {
		set[i] = true
	}
	return set
}

// toggleTracks adds tracks, in file order, to the selection, or removes them if all are
// selected.
func (p *Timeline) toggleTracks(mine []int) {
	rest := slices.DeleteFunc(slices.Clone(p.Scope.Tracks), func(i int) bool {
		_, has := slices.BinarySearch(mine, i)
		return has
	})
	if len(rest)+len(mine) > len(p.Scope.Tracks) {
		rest = append(rest, mine...)
		slices.Sort(rest)
	}
	if len(rest) == 0 {
		rest = nil
	}
	p.Scope.Tracks = rest
}

// ToggleTrack adds a track to the selection or removes it.
func (p *Timeline) ToggleTrack(i int) {
	if i < 0 {
		return
	}
	ts := slices.Clone(p.Scope.Tracks)
	if k := slices.Index(ts, i); k >= 0 {
		ts = slices.Delete(ts, k, k+1)
	} else {
		ts = append(ts, i)
		slices.Sort(ts)
	}
	if len(ts) == 0 {
		ts = nil
	}
	p.Scope.Tracks = ts
}

// trackAt returns the track whose row is at a point of the lanes, -1 for none.
func (p *Timeline) trackAt(at f32.Point) int {
	if p.Plan == nil {
		return -1
	}
	if i, top := p.Plan.Sticky(p.View.Scroll); i >= 0 && int(at.Y) >= p.Plan.Held && int(at.Y) < top+p.Plan.Rows[i].Height {
		return -1 // covered by the header of its process
	}
	if i := p.Plan.RowAt(int(at.Y), p.View.Scroll); i >= 0 && p.Plan.Rows[i].Kind == timeline.TrackRow {
		return p.Plan.Rows[i].Index
	}
	return -1
}

// moveTrack moves a track to the position of another track of its process.
func (p *Timeline) moveTrack(track, to int) {
	if track < 0 || to < 0 || track == to || p.Rec.Tracks[track].Process != p.Rec.Tracks[to].Process {
		return
	}
	var order []int
	for _, r := range p.Plan.Rows {
		if r.Kind == timeline.TrackRow && !slices.Contains(order, r.Index) {
			order = append(order, r.Index)
		}
	}
	from, dest := slices.Index(order, track), slices.Index(order, to)
	order = slices.Delete(order, from, from+1)
	p.Order = slices.Insert(order, dest, track)
}

// dropLine shows where a dragged track would go.
func (p *Timeline) dropLine(u *ui.UI) {
	from, to := p.trackAt(p.Lanes.Start), p.trackAt(p.Lanes.At)
	if from < 0 || to < 0 || from == to || p.Rec.Tracks[from].Process != p.Rec.Tracks[to].Process {
		return
	}
	b := &p.Bounds
	fromY, toRow := 0, timeline.Row{}
	for _, r := range p.Plan.Rows {
		if r.Kind != timeline.TrackRow {
			continue
		}
		if r.Index == from {
			fromY = r.Y
		}
		if r.Index == to {
			toRow = r
		}
	}
	y := p.Plan.Top(&toRow, p.View.Scroll)
	if fromY < toRow.Y {
		y += toRow.Height
	}
	u.At(b.Lanes, func(u *ui.UI) {
		u.Fill(image.Rect(0, y-u.Px(1), b.Lanes.Dx(), y+u.Px(1)), u.Theme.Accent)
	})
}
