package workspace

import (
	"cmp"
	"slices"
	"time"

	"ashlar/app/core/view"
	"ashlar/app/window/comparison"
	"ashlar/app/window/panel"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/compare"
	"ashlar/render/ui"
)

// scopeComparison compares two parts of a pane's recording in place: A is the selection,
// B the scope Against in the pane's Look. The timeline stays the same; the lower half
// shows the differences.
type scopeComparison struct {
	ofTwo
	b      panel.Side              // the pane's side with the scope Against
	calls  panel.Deck[*panel.Side] // the calls tab, which stays beside those of the comparison
	picked panel.Picked            // the selected item in the last frame
	before *before
}

// before is the pane's view before the comparison.
type before struct {
	look view.Look
	pick panel.Picked
}

// renumber converts the view to the indices of a reloaded recording.
func (b *before) renumber(old, rec *recording.Recording) {
	st := new(view.State)
	b.look.Unbind(old, 0, 1, st)
	was := b.look.View
	if b.look, _ = view.Bind(rec, st, 0, 1); !b.look.Moved {
		b.look.View = was
	}
	f, ok := panel.FunctionOf(old, &b.pick)
	b.pick = panel.Picked{}
	if fs := panel.FunctionsOf(rec, f); ok && len(fs) > 0 {
		b.pick = panel.Picked{Kind: panel.PickFunc, Fn: fs[0]}
	}
}

// renumber discards indices that are invalid in a reloaded recording. The compared scopes
// and the marks use names.
func (w *scopeComparison) renumber(old, rec *recording.Recording) {
	if w.before != nil {
		w.before.renumber(old, rec)
	}
	w.Link.Swap()
	w.Node, w.Hover = -1, -1
}

// scopePanels lists the views of two parts of one recording: PairPanels without the view of both
// flamegraphs, and without views whose name in addresses a view of one recording has.
var scopePanels = slices.DeleteFunc(slices.Clone(PairPanels), func(r panel.Row[*comparison.Comparison]) bool {
	return r.Name == comparison.Two || slices.ContainsFunc(Panels, func(o panel.Row[*panel.Side]) bool { return o.Name == r.Name })
})

func newScopeComparison(p *Pane) *scopeComparison {
	w := &scopeComparison{calls: p.Deck.Only(panel.Calls), picked: p.Pick}
	w.begin(&p.Side, &w.b, scopePanels)
	w.Look, w.OneRecording = pairLook(), true
	w.Options.Normalize = compare.ForScopes(&p.Scope, p.Against)
	return w
}

// comparing starts, updates and ends the comparison in place to match the pane's Look.
func (p *Pane) comparing(d *Workspace) {
	w := p.ScopeComparison
	switch {
	case p.Against == nil:
		if w != nil {
			d.Session.EndCompareScopes()
			p.ScopeComparison = nil
			d.Note.Until = time.Time{} // the note was about both parts
			if isScopePanel(p.Tab) {
				p.Tab = panel.Flamegraph
			}
		}
		p.shown = before{p.Look, p.Pick}
		return
	case w == nil:
		w = newScopeComparison(p)
		if p.shown.look.Against == nil && p.shown.look.Tab != "" {
			was := p.shown
			w.before = &was
		}
		w.Engine = d.Session.CompareScopes()
		p.ScopeComparison = w
	}
	w.follow(p)
}

// follow takes over changes of the pane.
func (w *scopeComparison) follow(p *Pane) {
	w.b = p.Side
	w.b.Scope = *p.Against
	if w.Sides = [2]*panel.Side{&p.Side, &w.b}; p.AgainstIsA {
		w.Sides[0], w.Sides[1] = w.Sides[1], w.Sides[0]
	}
	if p.Event < len(p.Rec.Events) {
		e := &p.Rec.Events[p.Event]
		w.Options.Event, w.Options.Metric = e.NameOrKind(), e.Metrics[p.Metric].Name
	}
	if w.shows(p) {
		w.Tab = p.Tab
	}
	if a := w.Answer(); w.IsCurrent(a) && !p.Pick.Same(&w.picked) {
		w.Picked(0)
		w.Link.Call, w.picked = nil, p.Pick
	}
	if a := w.Engine.Answer(); a != nil && a.Err != nil && a.Normalize == compare.Calls {
		w.Options.Normalize = compare.Raw // one of the sets is empty
	}
	if w.Chosen != nil && p.Pick.Kind == panel.PickNone {
		w.Chosen, w.picked = nil, p.Pick
	}
}

// isScopePanel reports whether a tab belongs to a comparison in place.
func isScopePanel(name string) bool {
	return slices.ContainsFunc(scopePanels, func(r panel.Row[*comparison.Comparison]) bool { return r.Name == name })
}

// ask asks the comparison's question, and handles the events of the current panel.
func (w *scopeComparison) ask(d *Workspace, p *Pane, u *ui.UI) {
	w.Engine.Ask(w.Question(), w.recs())
	w.Hover = -1
	a := w.Answer()
	if x, ok := w.Deck.Shown(w.Tab).(panel.Pointed[*comparison.Comparison]); ok && w.shows(p) {
		pick := p.Pick
		x.Events(&d.Host, &w.Comparison, u)
		if !p.Pick.Same(&pick) {
			w.picked = p.Pick // the comparison has already applied this choice
		}
	}
	if w.Hover >= 0 {
		if f, ok := w.FuncOn(a, 0, w.Hover); ok {
			p.Hover = &f
		}
	} else if p.Hover != nil {
		w.Hover = w.Key(a, 0, *p.Hover)
	}
}

// shows reports whether the lower half shows the comparison, and not the calls.
func (w *scopeComparison) shows(p *Pane) bool { return w.Deck.At(p.Tab) >= 0 }

func (w *scopeComparison) lower(d *Workspace, p *Pane, u *ui.UI) {
	b := &p.Bounds
	if d.View == Both {
		u.Area(w.Deck.Tag(), nil)
		r := b.Tabs
		end, right := w.tabs(d, u, r, w.calls.TabsWidth(u, p.Tab, &p.Side, tabGap), &p.Tab, p.Timed(), p.viewItems)
		r.Min.X = end - u.Px(14)
		w.calls.Tabs(&d.Host, u, r, &p.Tab, &p.Side, right, tabGap)
		w.rows(d, u, b.Tabs, &p.ScopeBar)
	}
	if w.shows(p) {
		ring := w.Deck.Area(u, &p.Tab, p.Tab, &w.Comparison)
		if w.panel(d, u, p.Tab, b.Lower); ring {
			u.Ring(b.Lower, 2)
		}
	} else {
		p.Deck.Area(u, &p.Tab, p.Tab, &p.Side)
		p.Repick()
		p.panel().Layout(&d.Host, &p.Side, u, b.Lower)
	}
	w.beside(d, u, b.Side)
}

// back clears the zoom or the chosen function of the comparison. If neither is set, it
// ends the comparison, which restores the earlier view.
func (w *scopeComparison) back(p *Pane) {
	if !w.shows(p) || !w.ofTwo.back() {
		p.EndScopeComparison()
		return
	}
	w.picked = p.Pick
}

// EndScopeComparison ends the comparison of parts of the recording.
func (p *Pane) EndScopeComparison() {
	w := p.ScopeComparison
	if p.Against, p.AgainstIsA = nil, false; w == nil || w.before == nil {
		return
	}
	marks := p.Marks
	p.Look, p.Pick = w.before.look, w.before.pick
	p.Marks = marks
	p.SearchFor(p.Find)
	p.Pick.InCallers = true
}

// snapshot returns a copy of the comparison that never changes.
func (w *scopeComparison) snapshot(p *Pane) *scopeComparison {
	o := newScopeComparison(p)
	o.become(&w.ofTwo)
	o.follow(p)
	return o
}

// finish waits for the final answer.
func (w *scopeComparison) finish(p *Pane) error {
	for range 2 { // a second time if the options had to change
		w.Engine.Finish(w.Question(), w.recs())
		w.follow(p)
	}
	if a := w.Engine.Answer(); a != nil {
		return a.Err
	}
	return nil
}

// goTo applies the comparison settings of a State.
func (w *scopeComparison) goTo(p *Pane, st *view.State) error {
	its := *st
	its.Tab = p.Tab
	l, err := pairLookOf(&its, append(w.Deck.Names(), p.Deck.Names()...), compare.ForScopes(&p.Scope, p.Against))
	w.Look = l
	if p.Tab = l.Tab; w.shows(p) {
		p.Zoom = nil
		return w.restoreTable(st, err)
	}
	w.Tab, w.Zoom = comparison.Difference, nil
	return cmp.Or(err, cmp.Or(append(p.Table.Restore(&st.Table), nil)...))
}

// Verdict returns the verdict of the comparison in place, "" without one.
func (p *Pane) Verdict() string {
	if p.ScopeComparison == nil {
		return ""
	}
	return p.ScopeComparison.Verdict.Text()
}
