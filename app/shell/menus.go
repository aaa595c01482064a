package shell

import (
	"image"
	"slices"

	"gioui.org/f32"

	"ashlar/ingest/recording"
	"ashlar/render/timeline"
	"ashlar/render/ui"
	"ashlar/render/units"
	"ashlar/render/widget"
)

// contextMenu offers what can be done with what is under the pointer.
func (t *timelinePart) contextMenu(s *Shell, p *pane, u *ui.UI) {
	if t.plan == nil {
		return
	}
	h := timeline.At(p.Rec, t.plan, p.View, int(t.lanes.At.X), int(t.lanes.At.Y), p.Bounds.Lanes.Dx(), p.Bounds.Gutter)
	at := widget.Point(p.Bounds.Lanes.Min, t.lanes.At)
	var items []widget.Item
	if h.Found && h.Call != recording.NoCall {
		p.pickHit(h)
		items = append(items,
			widget.Item{Title: "Zoom to it", Do: func() { p.Fit(h.Start, h.End) }},
			widget.Item{Title: "Select its time", Do: func() { p.SelectRange(h.Start, h.End) }},
			widget.Item{Title: "Copy name", Do: func() { s.CopyLater(p.Rec.FuncName(h.Call)) }},
			widget.Item{Title: "Copy details", Detail: "Ctrl-C", Do: func() { p.Copy = true }},
		)
	}
	if f, ok := p.PickedFunction(); ok && h.Found {
		items = append(items, p.functionItems(s, f)...)
	}
	if h.Row >= 0 && (!h.Found || h.Gutter) {
		items = append(items, p.rowItems(&t.plan.Rows[h.Row])...)
	}
	if !h.Found {
		items = append(items, p.timelineItems()...)
	}
	items = append(items, s.commandItem(panelTimeline))
	s.Menu = widget.NewMenu(at, items)
}

// rowItems are what can be done with a row.
func (p *pane) rowItems(r *timeline.Row) []widget.Item {
	if r.Kind == timeline.ProcessRow {
		return p.processItems(r)
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
	pin := "Pin to the top"
	if slices.Contains(p.Pinned, i) {
		pin = "Unpin"
	}
	only := "Select only this thread"
	if slices.Equal(p.Scope.Tracks, []int{i}) {
		only = "Select all threads"
	}
	return []widget.Item{
		{Title: only, Do: func() { p.onlyTrack(i) }},
		{Title: "Add to the selected threads", Detail: "Ctrl click", On: slices.Contains(p.Scope.Tracks, i), Do: func() { p.toggleTrack(i) }},
		{Title: fold, Do: func() { p.fold(r) }},
		{Title: pin, Detail: keyOf("Pin or unpin the thread"), Do: func() { p.togglePin(i) }},
		{Title: "Hide", Detail: keyOf("Hide the thread"), Do: func() { p.hide(i, true) }},
	}
}

// timelineItems are what can be done with all rows.
func (p *pane) timelineItems() []widget.Item {
	var items []widget.Item
	if n := len(p.Hidden); n > 0 {
		items = append(items, widget.Item{Title: "Show " + units.Plural(int64(n), "hidden thread"), Do: func() { p.Hidden = map[int]bool{} }})
	}
	items = append(items,
		widget.Item{Title: "Fold all threads", Detail: keyOf("Fold all threads"), Do: func() { p.foldAll(false) }},
		widget.Item{Title: "Unfold all threads", Do: func() { p.foldAll(true) }})
	for _, s := range timeline.Sorts {
		items = append(items, widget.Item{Title: sortTitle(s), On: p.Sort == s && p.Order == nil, Do: func() { p.sortTracks(s) }})
	}
	return items
}

func sortTitle(s timeline.Sort) string {
	if s == timeline.SortFile {
		return "Sort threads: the file's order"
	}
	return "Sort threads: " + string(s)
}

// sortTracks arranges the threads, also those that were moved by hand.
func (p *pane) sortTracks(s timeline.Sort) { p.Sort, p.Order = s, nil }

// sortCommands are as many as there are orders.
func sortCommands() (all []Command) {
	for _, o := range timeline.Sorts {
		all = append(all, Command{sortTitle(o), nil, true, func(s *Shell) { s.pane.sortTracks(o) }})
	}
	return all
}

// Threads: which are selected, and in which order they stand.

func (p *pane) chosenTracks() map[int]bool {
	if p.Scope.Tracks == nil {
		return nil
	}
	set := map[int]bool{}
	for _, i := range p.Scope.Tracks {
		set[i] = true
	}
	return set
}

// toggleTrack adds a track to the selected ones, or takes it from them.
func (p *pane) toggleTrack(i int) {
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

// trackAt is the track whose row is at a point of the lanes, -1 for none.
func (t *timelinePart) trackAt(p *pane, at f32.Point) int {
	if t.plan == nil {
		return -1
	}
	if i, top := t.plan.Sticky(p.View.Scroll); i >= 0 && int(at.Y) < top+t.plan.Rows[i].Height {
		return -1 // the header of its process lies over it
	}
	if i := t.plan.At(int(at.Y) + p.View.Scroll); i >= 0 && t.plan.Rows[i].Kind == timeline.TrackRow {
		return t.plan.Rows[i].Index
	}
	return -1
}

// moveTrack puts a track where another one of its process stands.
func (p *pane) moveTrack(track, to int) {
	if track < 0 || to < 0 || track == to || p.Rec.Tracks[track].Process != p.Rec.Tracks[to].Process {
		return
	}
	var order []int
	for _, r := range p.timeline.plan.Rows {
		if r.Kind == timeline.TrackRow && !slices.Contains(order, r.Index) {
			order = append(order, r.Index)
		}
	}
	from, dest := slices.Index(order, track), slices.Index(order, to)
	order = slices.Delete(order, from, from+1)
	p.Order = slices.Insert(order, dest, track)
}

// dropLine shows where a dragged track would go.
func (t *timelinePart) dropLine(p *pane, u *ui.UI) {
	from, to := t.trackAt(p, t.lanes.Start), t.trackAt(p, t.lanes.At)
	if from < 0 || to < 0 || from == to || p.Rec.Tracks[from].Process != p.Rec.Tracks[to].Process {
		return
	}
	b := &p.Bounds
	fromY, toRow := 0, timeline.Row{}
	for _, r := range t.plan.Rows {
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
	y := toRow.Y
	if fromY < toRow.Y {
		y += toRow.Height
	}
	u.At(b.Lanes, func(u *ui.UI) {
		y -= p.View.Scroll
		u.Fill(image.Rect(0, y-u.Px(1), b.Lanes.Dx(), y+u.Px(1)), u.Theme.Accent)
	})
}
