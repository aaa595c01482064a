package shell

import (
	"image"
	"io"
	"slices"
	"strings"

	"gioui.org/f32"
	"gioui.org/io/clipboard"

	"ashlar/ingest/recording"
	"ashlar/render/timeline"
	"ashlar/render/ui"
)

// copyTo puts a text on the clipboard and says so.
func (s *Shell) copyTo(u *ui.UI, what, text string) {
	u.Execute(clipboard.WriteCmd{Type: "application/text", Data: io.NopCloser(strings.NewReader(text))})
	s.Say("Copied " + what)
}

// contextMenu offers what can be done with what is under the pointer.
func (t *timelinePart) contextMenu(s *Shell, p *pane, u *ui.UI) {
	if t.plan == nil {
		return
	}
	h := timeline.At(p.rec, t.plan, p.view, int(t.lanes.at.X), int(t.lanes.at.Y), p.bounds.lanes.Dx(), p.bounds.gutter)
	at := point(p.bounds.lanes.Min, t.lanes.at)
	var items []item
	if h.Found && h.Call != recording.NoCall {
		p.pickHit(h)
		items = append(items,
			item{title: "Zoom to it", do: func() { p.fit(h.Start, h.End) }},
			item{title: "Select its time", do: func() { p.selectRange(h.Start, h.End) }},
			item{title: "Copy name", do: func() { s.copyLater(p.rec.FuncName(h.Call)) }},
			item{title: "Copy details", detail: "Ctrl-C", do: func() { p.copy = true }},
		)
	}
	if f, ok := p.pickedFunction(); ok && h.Found {
		items = append(items, p.functionItems(s, f)...)
	}
	if h.Row >= 0 && (!h.Found || h.Gutter) {
		items = append(items, p.rowItems(&t.plan.Rows[h.Row])...)
	}
	if !h.Found {
		items = append(items, p.timelineItems()...)
	}
	items = append(items, s.commandItem(panelTimeline))
	s.menu = newMenu(at, items)
}

// rowItems are what can be done with a row.
func (p *pane) rowItems(r *timeline.Row) []item {
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
	if slices.Contains(p.pinned, i) {
		pin = "Unpin"
	}
	only := "Select only this thread"
	if slices.Equal(p.sel.tracks, []int{i}) {
		only = "Select all threads"
	}
	return []item{
		{title: only, do: func() { p.onlyTrack(i) }},
		{title: "Add to the selected threads", detail: "Ctrl click", on: slices.Contains(p.sel.tracks, i), do: func() { p.toggleTrack(i) }},
		{title: fold, do: func() { p.fold(r) }},
		{title: pin, detail: keyOf("Pin or unpin the thread"), do: func() { p.togglePin(i) }},
		{title: "Hide", detail: keyOf("Hide the thread"), do: func() { p.hide(i, true) }},
	}
}

// timelineItems are what can be done with all rows.
func (p *pane) timelineItems() []item {
	var items []item
	if n := len(p.hidden); n > 0 {
		items = append(items, item{title: "Show " + plural(int64(n), "hidden thread"), do: func() { p.hidden = map[int]bool{} }})
	}
	items = append(items,
		item{title: "Fold all threads", detail: keyOf("Fold all threads"), do: func() { p.foldAll(false) }},
		item{title: "Unfold all threads", do: func() { p.foldAll(true) }})
	for _, s := range timeline.Sorts {
		items = append(items, item{title: sortTitle(s), on: p.sort == s && p.order == nil, do: func() { p.sortTracks(s) }})
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
func (p *pane) sortTracks(s timeline.Sort) { p.sort, p.order = s, nil }

// sortCommands are as many as there are orders.
func sortCommands() (all []Command) {
	for _, o := range timeline.Sorts {
		all = append(all, Command{sortTitle(o), nil, true, func(s *Shell) { s.pane.sortTracks(o) }})
	}
	return all
}

// contextMenu offers what can be done with a bar of the flamegraph.
func (f *flamePart) contextMenu(s *Shell, p *pane, u *ui.UI) {
	if f.tree == nil || f.under < 0 {
		return
	}
	n := f.under
	var items []item
	if n > 0 {
		f.click(p, false)
		path := pathOf(f.tree, int(n))
		name := f.tree.Function(p.rec, int(n)).Name
		items = append(items,
			item{title: "Zoom to it", do: func() { f.zoomTo(p, path) }},
			item{title: "Copy name", do: func() { s.copyLater(name) }},
			item{title: "Copy details", detail: "Ctrl-C", do: func() { p.copy = true }},
		)
		items = append(items, p.functionItems(s, f.tree.Function(p.rec, int(n)))...)
	}
	if len(f.zoom) > 0 {
		items = append(items, item{title: "Show everything", detail: "0", do: func() { f.zoomTo(p, nil) }})
	}
	s.menu = newMenu(point(p.flame.box.Min, f.at), append(items, s.commandItem(panelLower)))
}

// copyLater puts a text on the clipboard with the next frame.
func (s *Shell) copyLater(text string) {
	s.clip = text
	s.wake()
}

// Threads: which are selected, and in which order they stand.

func (p *pane) chosenTracks() map[int]bool {
	if p.sel.tracks == nil {
		return nil
	}
	set := map[int]bool{}
	for _, i := range p.sel.tracks {
		set[i] = true
	}
	return set
}

// toggleTrack adds a track to the selected ones, or takes it from them.
func (p *pane) toggleTrack(i int) {
	if i < 0 {
		return
	}
	ts := slices.Clone(p.sel.tracks)
	if k := slices.Index(ts, i); k >= 0 {
		ts = slices.Delete(ts, k, k+1)
	} else {
		ts = append(ts, i)
		slices.Sort(ts)
	}
	if len(ts) == 0 {
		ts = nil
	}
	p.sel.tracks = ts
}

// trackAt is the track whose row is at a point of the lanes, -1 for none.
func (t *timelinePart) trackAt(p *pane, at f32.Point) int {
	if t.plan == nil {
		return -1
	}
	if i, top := t.plan.Sticky(p.view.Scroll); i >= 0 && int(at.Y) < top+t.plan.Rows[i].Height {
		return -1 // the header of its process lies over it
	}
	if i := t.plan.At(int(at.Y) + p.view.Scroll); i >= 0 && t.plan.Rows[i].Kind == timeline.TrackRow {
		return t.plan.Rows[i].Index
	}
	return -1
}

// moveTrack puts a track where another one of its process stands.
func (p *pane) moveTrack(track, to int) {
	if track < 0 || to < 0 || track == to || p.rec.Tracks[track].Process != p.rec.Tracks[to].Process {
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
	p.order = slices.Insert(order, dest, track)
}

// dropLine shows where a dragged track would go.
func (t *timelinePart) dropLine(p *pane, u *ui.UI) {
	from, to := t.trackAt(p, t.lanes.start), t.trackAt(p, t.lanes.at)
	if from < 0 || to < 0 || from == to || p.rec.Tracks[from].Process != p.rec.Tracks[to].Process {
		return
	}
	b := &p.bounds
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
	u.At(b.lanes, func(u *ui.UI) {
		y -= p.view.Scroll
		u.Fill(image.Rect(0, y-u.Px(1), b.lanes.Dx(), y+u.Px(1)), u.Theme.Accent)
	})
}
