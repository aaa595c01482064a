package workspace

import (
	"path/filepath"
	"slices"

	"ashlar/app/core/view"
	"ashlar/app/window/panel"
	lanes "ashlar/app/window/timeline"
	"ashlar/ingest/fetch"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/ingest/query/compare"
	"ashlar/ingest/query/join"
	"ashlar/render/theme"
	"ashlar/render/timeline"
)

// visit holds the parts of a State that are still to be applied: the recording must be
// read first, functions are found in the answer, and panels can be scrolled only once
// they are filled.
type visit struct {
	state    *view.State  // the whole State
	side     int          // the side of the State that applies to this recording
	answered *view.State  // parts that need an answer
	marked   *analyze.Ref // the function to mark, as the user names it
	scrolled *view.State  // scroll positions, applied once the panels are filled
	sides    bool         // the zoomed paths around a function are still to be checked
}

// dp returns the number of pixels per dp in the last frame, 0 before the first.
func (d *Workspace) dp() float32 { return d.Density * d.EffectiveScale() }

// Address returns the address of the current view, nil if nothing is open. It cannot
// express the details of a window, a counter or an instant.
func (d *Workspace) Address() *view.State {
	if d.Pane == nil {
		return nil
	}
	st := d.ViewState()
	st.Contents = d.contents()
	if to := d.below().Scroll(); to != nil {
		st.Down = view.InDP(*to, d.dp())
	}
	d.scene().pickState(st)
	p := d.Pane
	if d.Versus != nil {
		return st
	}
	if f := st.Function; st.Tab != panel.Callers || st.Around != nil && f != nil && *f == *st.Around {
		st.Around = nil // not needed: it is the marked function, or not shown
	}
	if st.Tab != panel.Callers {
		st.Callers, st.Callees = nil, nil
	}
	if p.Tab == panel.Source {
		st.Line = int(p.SourcePart.At)
	}
	return st
}

// contents returns the sizes and keys of the open files, as far as they are known.
func (d *Workspace) contents() (all []view.Content) {
	known := 0
	for i, p := range d.Shown() {
		all = append(all, p.MarkList.Content)
		if p.MarkList.Stale {
			all[i] = view.Content{}
		}
		if all[i].Key != "" {
			known = i + 1
		}
	}
	return all[:known:known]
}

// ViewState returns the current view without the selected item. Undo restores such
// States.
func (d *Workspace) ViewState() *view.State {
	p := d.Pane
	st := &view.State{Files: []string{p.file()}}
	if d.View != Both {
		st.Parts = string(d.View)
	}
	if d.Mode != theme.ByFunction {
		st.Colour = string(d.Mode)
	}
	p.opened(st)
	if c := d.Versus; c != nil {
		c.state(st, d.dp())
		return st
	}
	p.Unbind(p.Rec, 0, d.dp(), st)
	st.Sides[0].Runs = p.runsState()
	if w := p.ScopeComparison; w != nil && p.Against != nil {
		if w.state(st, compare.ForScopes(&p.Scope, p.Against)); w.shows(p) {
			st.Zoom = w.Zoom
			return st
		}
		st.Table = view.Table{}
	}
	p.Table.State(&st.Table)
	return st
}

// opened stores the options that the file was opened with.
func (p *Pane) opened(st *view.State) {
	st.Part = p.Part.Range
	st.Only = slices.Clone(p.Part.Threads)
	if st.Exe = p.Exe; p.Exe != "" {
		if abs, err := filepath.Abs(p.Exe); err == nil {
			st.Exe = abs
		}
	}
}

// pickState stores the selected item in a State.
func (p *Pane) pickState(st *view.State) {
	f, ok := p.PickedFunction()
	switch {
	case p.Pick.Kind == panel.PickBar:
		st.Sides[0].Bar = p.barState()
	case p.Pick.Kind == panel.PickNode && ok && p.Pick.Tree != nil:
		st.Node = panel.PathOf(p.Rec, p.Pick.Tree, int(p.Pick.Node))
	}
	if ok {
		st.Function = new(f.FuncName())
	}
}

// barState returns the picked bar as stored in a State.
func (p *Pane) barState() *view.Bar {
	h := &p.Pick.Hit
	at := h.Start
	if h.Samples != nil {
		at = h.Samples.Time(h.First)
	}
	return &view.Bar{Thread: view.ThreadOf(p.Rec, h.Track), Lane: h.Lane, Time: at - p.Rec.Start}
}

// barNamed finds the bar that a State refers to: the span or the bar of samples that starts
// exactly at its time.
func (p *Pane) barNamed(b *view.Bar) (timeline.Hit, bool) {
	track, ok := b.Thread.Find(p.Rec)
	if !ok {
		return timeline.Hit{}, false
	}
	t, at := p.Rec.Tracks[track], p.Rec.Start+b.Time
	if b.Lane < len(t.Lanes) {
		h, ok := lanes.BarAt(t, track, b.Lane, at)
		return h, ok && h.Start == at
	}
	for _, s := range t.Samples {
		i := s.Search(at)
		if s.Event != p.Event || i >= s.Len() || s.Time(i) != at {
			continue
		}
		return p.SampleBarAt(track, b.Lane-len(t.Lanes), i, s)
	}
	return timeline.Hit{}, false
}

// file returns the recording's name in a State.
func (p *Pane) file() string {
	switch {
	case p.Demo:
		return view.Demo
	case p.Path == "-":
		return p.Path
	}
	return join.Each(p.Path, func(f string) string {
		if abs, err := filepath.Abs(f); err == nil && !fetch.IsURL(f) {
			return abs
		}
		return f
	})
}

// Visit opens the files of a State and applies it. The status line reports whatever the
// recording lacks.
func (d *Workspace) Visit(st *view.State) {
	if len(st.Files) == 0 {
		return
	}
	d.OpenPartWith(st.Files[0], st.Exe, recording.Part{Range: st.Part, Threads: slices.Clone(st.Only)})
	if len(st.Files) > 1 {
		d.OpenBeside(st.Files[1])
		d.back = nil
	}
	panes := d.Shown()
	panes[0].Leads.shown = false // the user comes for the view of the address
	for i, c := range st.Contents[:min(len(st.Contents), len(panes))] {
		panes[i].MarkList.Meant = c
	}
	d.showParts(st)
	if d.Preferred.Look != nil { // an address does not change the preferences
		d.Preferred.Look = d.Look()
	}
	d.GoTo(st)
}

// showParts applies the visible parts of the window and the colour mode of a State.
func (d *Workspace) showParts(st *view.State) {
	d.View = Both
	if slices.Contains([]View{Upper, Flame, Lower}, View(st.Parts)) {
		d.View = View(st.Parts)
	}
	d.Mode = theme.ByFunction
	if slices.Contains(theme.Modes, theme.Mode(st.Colour)) {
		d.Mode = theme.Mode(st.Colour)
	}
}

// GoTo applies a State to the open recordings, whatever files it names.
func (d *Workspace) GoTo(st *view.State) {
	if c := d.Versus; c != nil {
		if len(st.Files) < 2 { // two files mean the State is about both
			both := *st
			both.Files, st = c.files(), &both
		}
		c.visit = visit{state: st}
	}
	for i, p := range d.Shown() {
		p.visit, p.Addressed = visit{state: st, side: i}, true
		p.setRuns(st.Sides[i].Runs)
	}
}

// Mark marks a function in the open recordings; the heaviest if several match.
func (d *Workspace) Mark(f analyze.Ref) {
	d.scene().way().visit.marked = &f
}

// restore applies a State from the history. The marked item stays marked.
func (d *Workspace) restore(st *view.State) {
	d.showParts(st)
	d.scene().restore(d, st)
}

func (p *Pane) restore(d *Workspace, st *view.State) { p.restoreSide(d, st, 0) }

// restoreSide applies side i of a State from the history to the pane.
func (p *Pane) restoreSide(d *Workspace, st *view.State, i int) {
	was := p.Look
	p.Look, _ = view.Bind(p.Rec, st, i, d.dp())
	if i > 0 {
		p.Marks = was.Marks // a State has only those of side 0
	}
	p.Goal, p.AtGoal = was.Goal, was.AtGoal
	p.setRuns(st.Sides[i].Runs)
	shows := false // the table belongs to the comparison
	if p.comparing(d); p.ScopeComparison != nil {
		p.ScopeComparison.goTo(p, st)
		shows = p.ScopeComparison.shows(p)
	}
	if !p.Moved {
		p.View = p.View.Fit(p.FirstExtent())
	}
	if !shows {
		p.Table.Restore(&st.Table)
	}
	p.SearchFor(p.Find)
	p.Pick.InCallers = true // so that FollowPick does not put it in the middle at once
}

// CopyAddress puts the view's address on the clipboard.
func (d *Workspace) CopyAddress() {
	d.CopyLater(d.Address().String())
	if d.Pane.Path == "-" {
		d.Say("View address copied. Standard input cannot be reopened: replace - with the file's path")
	}
}
