package timeline

import (
	"cmp"
	"image"
	"maps"
	"slices"
	"strings"

	"gioui.org/io/key"
	gio "gioui.org/widget"

	"ashlar/app/window/panel"
	"ashlar/ingest/model/order"
	"ashlar/ingest/model/recording"
	"ashlar/render/timeline"
	"ashlar/render/ui"
	"ashlar/render/units"
	"ashlar/render/widget"
)

// filterPart is the text field above the names that filters threads by name.
type filterPart struct {
	editor gio.Editor
	Focus  bool // focus it in the next frame
	leave  bool
	clear  widget.ClickArea
}

// layout draws the field in the corner above the names.
func (f *filterPart) layout(p *Timeline, u *ui.UI) {
	f.editor.SingleLine = true
	r := p.Bounds.Overview
	r.Max.X = r.Min.X + p.Bounds.Gutter - u.Px(8)
	r.Min.X += u.Px(10)
	r = image.Rect(r.Min.X, r.Min.Y+u.Px(4), r.Max.X, r.Max.Y-u.Px(4))
	for {
		ev, ok := u.Event(key.Filter{Focus: &f.editor, Name: key.NameReturn}, key.Filter{Focus: &f.editor, Name: key.NameDownArrow})
		if !ok {
			break
		}
		if k, ok := ev.(key.Event); ok && k.State == key.Press {
			f.leave = true
		}
	}
	for {
		if _, ok := f.editor.Update(u.Context); !ok {
			break
		}
		if text := f.editor.Text(); text != p.Filter {
			p.Filter = text
			p.View.Scroll = 0 // the first match is the first row
		}
	}
	if f.editor.Text() != p.Filter { // changed by undo or other code
		f.editor.SetText(p.Filter)
	}
	if u.Item(&f.editor, r) || f.Focus {
		f.Focus = false
		f.editor.SetCaret(f.editor.Len(), 0)
		widget.TakeKeyboard(u, &f.editor)
	}
	if f.leave {
		f.leave = false
		u.Execute(key.FocusCmd{})
	}
	th := u.Theme
	focused := u.Focused(&f.editor)
	if focused || p.Filter != "" {
		u.Round(r, 5, th.Raised)
	}
	border := th.Rule
	if focused {
		border = th.Accent
	}
	u.Border(r, 5, 1, border)
	in := image.Rect(r.Min.X+u.Px(8), r.Min.Y+u.Px(5), r.Max.X-u.Px(6), r.Max.Y-u.Px(3))
	if p.Filter != "" {
		in.Max.X = f.found(p, u, r) - u.Px(8)
	} else if !focused {
		u.Text(image.Rect(in.Min.X, r.Min.Y, in.Max.X, r.Max.Y), "Filter "+p.Rec.ThreadWord(recording.NoTrack)+"s", ui.Style{Size: 12, Color: th.Faint})
	}
	widget.EditField(u, &f.editor, in)
}

// found draws, at the right of r, the number of matching threads and counters and a cross
// that clears the filter. It returns the x position where they begin.
func (f *filterPart) found(p *Timeline, u *ui.UI, r image.Rectangle) int {
	th := u.Theme
	shown := 0
	for i := range p.Plan.Rows {
		switch r := &p.Plan.Rows[i]; {
		case r.Kind == timeline.GroupRow && r.Collapsed:
			shown += len(p.Plan.Group(r).Tracks)
		case !r.Heads():
			shown++
		}
	}
	x := image.Rect(r.Max.X-u.Px(20), r.Min.Y, r.Max.X, r.Max.Y)
	if clicked, _ := f.clear.Clicked(u, x); clicked {
		p.Filter = ""
	}
	u.Text(x, "×", ui.Style{Size: 13, Color: th.Dim, Align: ui.Middle})
	st := ui.Style{Size: 11, Color: th.Dim, Align: ui.End}
	n := units.Count(int64(shown))
	w := u.Measure(n, st).X
	u.Text(image.Rect(x.Min.X-w-u.Px(2), r.Min.Y, x.Min.X, r.Max.Y), n, st)
	return x.Min.X - w
}

// ChooseTracks lists processes and threads; Return shows or hides one.
func (p *Timeline) ChooseTracks(s *panel.Host) {
	if !p.Timed() {
		return
	}
	var c *widget.Chooser
	again := func() { c.Filled = false; c.Keep = true }
	c = widget.NewChooser("Threads (Return shows or hides)", "", func(text string) []widget.Line {
		var ls []widget.Line
		if text == "" {
			ls = append(ls, widget.Line{Title: "Show all", Detail: units.Count(int64(len(p.Hidden))) + " hidden", Dim: true,
				Take: func() { p.Hidden = map[int]bool{}; again() }},
				widget.Line{Title: "Show only selected", Dim: true, Take: func() { p.hideOthers(s); again() }})
		}
		first := len(ls)
		for i, t := range p.Rec.Tracks {
			name := timeline.TrackName(t)
			process := p.Rec.Processes[t.Process].Title()
			if !widget.HasWords(name+" "+process+" "+recording.IDText(t.TID), text) {
				continue
			}
			detail := process
			if t.TID != 0 && t.Name != "" {
				detail = strings.TrimSpace(detail + "   " + recording.IDText(t.TID))
			}
			mark := widget.MarkOn
			if p.Hidden[i] {
				mark = widget.MarkOff
			}
			ls = append(ls, widget.Line{Title: name, Detail: detail, Mark: mark, Dim: p.Hidden[i], Take: func() {
				p.Hide(i, !p.Hidden[i])
				again()
			}})
		}
		// Names that contain the text as typed come before names that contain only its
		// words.
		order.By(ls[first:], func(a, b widget.Line) int {
			return cmp.Compare(panel.Index(!containsFold(a.Title, text)), panel.Index(!containsFold(b.Title, text)))
		})
		return ls
	})
	s.OpenChooser(c)
}

func containsFold(s, part string) bool {
	return strings.Contains(strings.ToLower(s), strings.ToLower(part))
}

// Hide hides a track or, if on is false, shows it again.
func (p *Timeline) Hide(i int, on bool) {
	if p.Hidden = With(p.Hidden, i, true); !on {
		delete(p.Hidden, i)
	}
}

// hideOthers hides all tracks but the selected ones.
func (p *Timeline) hideOthers(s *panel.Host) {
	if p.Scope.Tracks == nil {
		s.Say("Select threads first (Ctrl-click their names)")
		return
	}
	p.Hidden = map[int]bool{}
	for i := range p.Rec.Tracks {
		if !slices.Contains(p.Scope.Tracks, i) {
			p.Hidden[i] = true
		}
	}
}

// FoldAll folds every thread to one line, or opens all of them.
func (p *Timeline) FoldAll(open bool) {
	p.Folds = map[int]timeline.Fold{}
	p.Closed, p.Groups = map[int]bool{}, map[string]bool{}
	if p.Plan != nil {
		for i := range p.Plan.Rows {
			if g := p.Plan.Group(&p.Plan.Rows[i]); g != nil {
				p.Groups[g.Name] = open
			}
		}
	}
	for i := range p.Rec.Tracks {
		if open {
			p.Folds[i] = timeline.Full
		} else {
			p.Folds[i] = timeline.Closed
		}
	}
}

// FoldProcesses folds all processes, or opens them if all are folded. In a joined recording, it
// folds or opens the recordings.
func (p *Timeline) FoldProcesses() {
	if open, folded := p.recordings(); len(open)+len(folded) > 0 {
		p.Groups = maps.Clone(p.Groups)
		for _, name := range append(open, folded...) {
			p.Groups[name] = len(open) == 0
		}
		return
	}
	closed := map[int]bool{}
	for i := range p.Rec.Processes {
		if !p.Closed[i] {
			closed[i] = true
		}
	}
	if len(closed) == 0 {
		p.Closed = closed
		return
	}
	for i := range p.Rec.Processes {
		closed[i] = true
	}
	p.Closed = closed
}

// recordings returns the names of the recordings of a joined one by whether they are folded.
func (p *Timeline) recordings() (open, folded []string) {
	if p.Plan == nil {
		return nil, nil
	}
	for i := range p.Plan.Rows {
		r := &p.Plan.Rows[i]
		switch g := p.Plan.Group(r); {
		case g == nil || !g.Recording:
		case r.Collapsed:
			folded = append(folded, g.Name)
		default:
			open = append(open, g.Name)
		}
	}
	return open, folded
}

// Commands for the current thread: the thread of the picked bar, the only selected one,
// or the first visible one.

// currentRow returns the row of the current thread, nil for none.
func (p *Timeline) currentRow() *timeline.Row {
	t := p
	if !p.Timed() {
		return nil
	}
	if i := p.pickedRow(); i >= 0 {
		return &t.Plan.Rows[i]
	}
	for i := range t.Plan.Rows {
		r := &t.Plan.Rows[i]
		if r.Kind != timeline.TrackRow {
			continue
		}
		if len(p.Scope.Tracks) == 1 && r.Index == p.Scope.Tracks[0] || len(p.Scope.Tracks) != 1 && p.Plan.Top(r, p.View.Scroll)+r.Height > 0 {
			return r
		}
	}
	return nil
}

// OnTrack calls do with the row of the current thread, if there is one: the thread of the
// picked bar, the only selected one, or the first visible one.
func (p *Timeline) OnTrack(do func(r *timeline.Row)) {
	if r := p.currentRow(); r != nil && r.Kind == timeline.TrackRow {
		do(r)
	}
}

// TogglePin pins a thread to the top, or unpins it.
func (p *Timeline) TogglePin(i int) {
	if k := slices.Index(p.Pinned, i); k >= 0 {
		p.Pinned = slices.Delete(slices.Clone(p.Pinned), k, k+1)
	} else {
		p.Pinned = append(slices.Clone(p.Pinned), i)
	}
}

// OnlyTrack selects only one thread, or all if only that one is selected.
func (p *Timeline) OnlyTrack(i int) {
	if slices.Equal(p.Scope.Tracks, []int{i}) {
		p.Scope.Tracks = nil
	} else {
		p.Scope.Tracks = []int{i}
	}
}

// ShiftTrack moves a track past its neighbour of the same process.
func (p *Timeline) ShiftTrack(i, d int) {
	rows := p.Plan.Rows
	at := slices.IndexFunc(rows, func(r timeline.Row) bool { return r.Kind == timeline.TrackRow && r.Index == i })
	for k := at + d; at >= 0 && k >= 0 && k < len(rows); k += d {
		if rows[k].Kind == timeline.TrackRow && p.Rec.Tracks[rows[k].Index].Process == p.Rec.Tracks[i].Process {
			p.moveTrack(i, rows[k].Index)
			return
		}
	}
}

// headItems lists the actions for a process or a group.
func (p *Timeline) headItems(r *timeline.Row) []widget.Item {
	fold := "Fold"
	if r.Collapsed {
		fold = "Unfold"
	}
	items := []widget.Item{{Title: fold, Do: func() { p.Fold(r) }}}
	if r.Kind == timeline.ProcessRow && r.Index < 0 { // the pinned threads
		return append(items, widget.Item{Title: "Unpin all", Do: func() { p.Pinned = nil }})
	}
	mine, what, word := p.tracksBelow(r), "process", "thread"
	if g := p.Plan.Group(r); g != nil && g.Recording {
		what = "recording"
	} else if g != nil {
		what = "group"
	}
	if len(mine) > 0 {
		word = p.Rec.ThreadWord(mine[0])
	}
	only := widget.Item{Title: "Select its " + word + "s", Do: func() { p.Scope.Tracks = mine }}
	if slices.Equal(p.Scope.Tracks, mine) {
		only = widget.Item{Title: "Select all " + word + "s", Do: func() { p.Scope.Tracks = nil }}
	}
	return append(items, only, widget.Item{Title: "Hide " + what, Do: func() {
		p.Hidden = maps.Clone(p.Hidden)
		for _, k := range mine {
			p.Hidden[k] = true
		}
	}})
}

// tracksBelow returns the tracks of a process, of a group, or the pinned ones, in file
// order.
func (p *Timeline) tracksBelow(r *timeline.Row) []int {
	if g := p.Plan.Group(r); g != nil {
		return slices.Sorted(slices.Values(g.Tracks))
	}
	if r.Index < 0 {
		return slices.Sorted(slices.Values(p.Pinned))
	}
	var mine []int
	for i, t := range p.Rec.Tracks {
		if t.Process == r.Index {
			mine = append(mine, i)
		}
	}
	return mine
}

// unfoldTo opens the process and the groups of a track, and lays out the rows again.
func (p *Timeline) unfoldTo(track int) {
	if pr := p.Rec.Tracks[track].Process; p.Closed[pr] {
		p.Closed = With(p.Closed, pr, false)
	}
	p.Replan(p.Plan.Scale)
	for g := p.Plan.Hiding(track); g != nil; g = p.Plan.Hiding(track) {
		p.Groups = With(p.Groups, g.Name, true)
		p.Replan(p.Plan.Scale)
	}
}

// GoToTrack scrolls to a thread. A hidden thread is shown again.
func (p *Timeline) GoToTrack(i int) {
	if i < 0 || i >= len(p.Rec.Tracks) {
		return
	}
	if p.Hidden[i] {
		p.Hide(i, false)
	}
	if p.Filter != "" {
		p.Filter = ""
	}
	if p.Plan == nil {
		return
	}
	p.unfoldTo(i)
	for k := range p.Plan.Rows {
		if r := &p.Plan.Rows[k]; r.Kind == timeline.TrackRow && r.Index == i {
			p.ScrollTo(r.Y - p.Bounds.Lanes.Dy()/4)
			return
		}
	}
}
