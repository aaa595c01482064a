package desk

import (
	"cmp"
	"fmt"
	"image"
	"slices"
	"strings"
	"time"

	"ashlar/app/pair"
	"ashlar/app/panel"
	"ashlar/app/panel/details"
	"ashlar/app/panel/difftable"
	"ashlar/app/panel/pairing"
	"ashlar/app/session"
	"ashlar/app/verdict"
	"ashlar/app/view"
	"ashlar/ingest/analyze"
	"ashlar/ingest/compare"
	"ashlar/ingest/recording"
	"ashlar/render/ui"
)

// within compares two parts of a pane's recording in place: A is what is selected,
// B what its Look says it is Against. The timeline stays as it is; the lower half
// shows where they differ.
type within struct {
	pair.Pair
	b       panel.Side // the pane's, but for what is selected
	deck    panel.Deck[*pair.Pair]
	calls   panel.Deck[*panel.Side] // the tab that stays beside those of the comparison
	table   *difftable.Panel
	pairing *pairing.Panel
	buttons compareButtons
	verdict pair.Verdict
	details details.OfTwo
	picked  panel.Picked // in the last frame
	before  *before
}

// before is how a pane looked before it compared anything.
type before struct {
	look view.Look
	pick panel.Picked
}

// renumber says how a pane looked in the numbers of a recording that was read anew.
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
		b.pick = panel.Picked{Is: panel.PickFunc, Fn: fs[0]}
	}
}

// renumber lets go of what has other numbers in a recording that was read anew: what is
// compared and marked goes by names.
func (w *within) renumber(old, rec *recording.Recording) {
	if w.before != nil {
		w.before.renumber(old, rec)
	}
	w.Link.Swap()
	w.Node, w.Hover = -1, -1
}

// withinPanels are the views of two parts of one recording: those of two recordings,
// but for what shows each by itself, and whatever one recording has by the same name.
var withinPanels = slices.DeleteFunc(slices.Clone(PairPanels), func(r panel.Row[*pair.Pair]) bool {
	return r.Name == pair.Two || slices.ContainsFunc(Panels, func(o panel.Row[*panel.Side]) bool { return o.Name == r.Name })
})

// pairLook is how two are compared at first.
func pairLook() pair.Look {
	return pair.Look{Options: pair.Options{Width: compare.WidthLarger, By: compare.ByFunction, Normalize: compare.Raw}, Tab: pair.Difference, Linked: true}
}

// usual is how two parts of a recording are made comparable unless somebody chose
// another way: sets have other numbers of calls, so that what one call takes tells more
// than their sums.
func usual(a, b *recording.Scope) compare.Normalize {
	if a.Calls != nil && b != nil && b.Calls != nil {
		return compare.Calls
	}
	return compare.Raw
}

func newWithin(p *Pane) *within {
	w := &within{deck: panel.NewDeck(withinPanels), calls: p.Deck.Only(panel.Calls)}
	w.details.Pair = &w.Pair
	w.Look, w.Within = pairLook(), true
	w.Options.Normalize = usual(&p.Scope, p.Against)
	w.Sides, w.Hover, w.Node, w.picked = [2]*panel.Side{&p.Side, &w.b}, -1, -1, p.Pick
	w.table, w.pairing = panel.Find[*difftable.Panel](w.deck.All), panel.Find[*pairing.Panel](w.deck.All)
	return w
}

// comparing keeps what is compared in place in step with the pane, as soon as there is
// something to compare and as long as there is.
func (p *Pane) comparing(d *Desk) {
	w := p.Within
	switch {
	case p.Against == nil:
		if w != nil {
			d.Session.EndWithin()
			p.Within = nil
			d.Note.Until = time.Time{} // it was about both
			if withinTab(p.Tab) {
				p.Tab = panel.Flamegraph
			}
		}
		p.shown = before{p.Look, p.Pick}
		return
	case w == nil:
		w = newWithin(p)
		if p.shown.look.Against == nil && p.shown.look.Tab != "" {
			was := p.shown
			w.before = &was
		}
		w.Engine = d.Session.Within()
		p.Within = w
	}
	w.follow(p)
}

// follow takes over what has changed of the pane.
func (w *within) follow(p *Pane) {
	w.b = p.Side
	w.b.Scope = *p.Against
	if p.Event < len(p.Rec.Events) {
		e := &p.Rec.Events[p.Event]
		w.Options.Event, w.Options.Metric = analyze.EventName(e), e.Metrics[p.Metric].Name
	}
	if w.deck.At(p.Tab) >= 0 {
		w.Tab = p.Tab
	}
	if a := w.Answer(); w.Knows(a) && !p.Pick.Same(&w.picked) {
		w.Picked(0)
		w.Link.Call, w.picked = nil, p.Pick
	}
	if a := w.Engine.Answer(); a != nil && a.Err != nil && a.Normalize == compare.Calls {
		w.Options.Normalize = compare.Raw // one of the sets is empty
	}
	if w.Chosen != nil && p.Pick.Is == panel.PickNone {
		w.Chosen, w.picked = nil, p.Pick
	}
}

// withinTab reports whether a tab is one of what is compared in place.
func withinTab(name string) bool {
	return slices.ContainsFunc(withinPanels, func(r panel.Row[*pair.Pair]) bool { return r.Name == name })
}

// question asks for all that is shown now.
func (w *within) question(p *Pane) session.CompareQuestion {
	o := &w.Options
	q := session.CompareQuestion{Width: o.Width, By: o.By, Self: o.SelfTime,
		What: session.What{Event: o.Event, Metric: o.Metric, Normalize: o.Normalize, Match: o.Match, Transforms: p.Transforms}}
	for i, side := range w.Sides {
		q.Generations[i], q.Scopes[i] = p.Generation, side.Scope
	}
	if w.Tab == pair.Distribution {
		q.Of = w.Chosen
	}
	return q
}

// ask asks it, and takes what was done in the panel that is shown.
func (w *within) ask(d *Desk, p *Pane, u *ui.UI) {
	w.Engine.Ask(w.question(p), [2]*recording.Recording{p.Rec, p.Rec})
	w.Hover = -1
	a := w.Answer()
	if x, ok := w.deck.Shown(w.Tab).(panel.Pointed[*pair.Pair]); ok && w.shows(p) {
		pick := p.Pick
		x.Events(&d.Host, &w.Pair, u)
		if !p.Pick.Same(&pick) {
			w.picked = p.Pick // what was chosen there is chosen already
		}
	}
	if w.Hover >= 0 {
		if f, ok := w.Own(a, 0, w.Hover); ok {
			p.Hover = &f
		}
	} else if p.Hover != nil {
		w.Hover = w.Key(a, 0, *p.Hover)
	}
}

// shows reports whether the lower half shows the comparison, and not the calls.
func (w *within) shows(p *Pane) bool { return w.deck.At(p.Tab) >= 0 }

// lower draws the lower half.
func (w *within) lower(d *Desk, p *Pane, u *ui.UI) {
	b := &p.Bounds
	if d.View == Both {
		u.Area(w.deck.Tag(), nil)
		panel.Bar(u, b.Tabs, p.Timed())
		right := w.buttons.layout(d, u, &w.Pair, b.Tabs, p.viewItems)
		r := b.Tabs
		r.Min.X = w.deck.Tabs(u, r, &p.Tab, &w.Pair, right, 24) - u.Px(14)
		w.calls.Tabs(u, r, &p.Tab, &p.Side, right, 24)
		p.ScopeBar.Layout(&d.Host, u, scopeRow(u, b.Tabs), p.Scoped(d), "")
		w.verdict.Layout(&d.Host, u, &w.Pair, verdictRow(u, b.Tabs))
	}
	shown := b.Lower
	if w.shows(p) {
		ring := w.deck.Area(u, &p.Tab, p.Tab, &w.Pair)
		if w.Answer() != nil {
			w.deck.Shown(p.Tab).Layout(&d.Host, &w.Pair, u, shown)
		} else {
			at := shown.Inset(u.Px(24))
			at.Min.Y += at.Dy() / 3
			u.Text(at, w.Unanswered(), ui.Style{Size: 13, Color: u.Theme.Dim, Align: ui.Middle, Lines: 8})
		}
		if ring {
			u.Ring(shown, 2)
		}
	} else {
		p.Deck.Area(u, &p.Tab, p.Tab, &p.Side)
		p.Repick()
		p.panel().Layout(&d.Host, &p.Side, u, shown)
	}
	if d.View == Both {
		u.Area(w.details.Tag(), nil)
		w.details.Layout(&d.Host, u, b.Side)
	}
	u.NoArea()
}

// Tooltip draws that of the panel that is shown.
func (w *within) tooltip(d *Desk, p *Pane, u *ui.UI) {
	if t, ok := w.deck.Shown(p.Tab).(panel.Tipped[*pair.Pair]); ok && w.shows(p) {
		t.Tooltip(&d.Host, &w.Pair, u)
	}
}

// back takes back the nearest thing; the comparison itself last, which leads back to
// how all looked before.
func (w *within) back(p *Pane) {
	switch {
	case w.Tab == pair.Difference && len(w.Zoom) > 0:
		w.Zoom, w.Down = nil, 0
	case w.Chosen != nil && w.shows(p):
		w.Choose(nil, -1)
		w.Node, w.picked = -1, p.Pick
	default:
		p.EndWithin()
	}
}

// EndWithin ends comparing in place.
func (p *Pane) EndWithin() {
	w := p.Within
	if p.Against = nil; w == nil || w.before == nil {
		return
	}
	marks := p.Marks
	p.Look, p.Pick = w.before.look, w.before.pick
	p.Marks = marks
	p.LookFor(p.Find)
	p.Pick.Near = true
}

// still shows the same and never changes.
func (w *within) still(p *Pane) *within {
	o := newWithin(p)
	o.Engine, o.Look, o.Chosen, o.Node, o.Down = w.Engine.Still(), w.Look, w.Chosen, w.Node, w.Down
	o.table.Shape, o.table.Down = w.table.Shape, w.table.Down
	o.pairing.Down, o.pairing.Kind = w.pairing.Down, w.pairing.Kind
	o.follow(p)
	return o
}

// settle waits for all that is to be known.
func (w *within) settle(p *Pane) error {
	for range 2 { // with other options where these do not fit
		w.Engine.Settle(w.question(p), [2]*recording.Recording{p.Rec, p.Rec})
		w.follow(p)
	}
	if a := w.Engine.Answer(); a != nil {
		return a.Err
	}
	return nil
}

// pairState says how two are compared, which need not be said of what is usual.
func pairState(st *view.State, c *pair.Pair, table *difftable.Panel, pairs *pairing.Panel, usual compare.Normalize) {
	o := &c.Options
	st.Comparison = view.Comparison{Totals: o.Total, SelfTimes: o.SelfTime, Unlinked: !c.Linked, ByCall: c.ByCall, FocusB: c.Focus == 1,
		NoModule: o.Match.NoModule, NoName: o.Match.NoName, NoSimilar: o.Match.NoSimilar, NoOrder: o.Match.NoOrder}
	if o.Normalize != usual {
		st.Normalize = string(o.Normalize)
	}
	if o.Width != compare.WidthLarger {
		st.Width = string(o.Width)
	}
	st.Pairs = slices.Clone(o.Match.Hand)
	st.Table = view.Table{}
	table.State(&st.Table)
	if o.By != compare.ByFunction {
		st.Group = string(o.By)
	}
	if k := pairs.Kind; c.Tab == pair.Pairing && k < len(pairs.Kinds) {
		st.Rows = []string{pairs.Kinds[k].Words()}
	}
}

// pairLookOf is how two are compared as a State says, in panels of some names, and
// normalised as usual unless it says otherwise.
func pairLookOf(st *view.State, names []string, usual compare.Normalize) (l pair.Look, err error) {
	l = pair.Look{Tab: cmp.Or(st.Tab, pair.Difference), Split: view.ClampSplit(st.Split), Above: st.Layout == view.Above, Linked: !st.Unlinked, ByCall: st.ByCall}
	l.Options = pair.Options{Event: st.Event, Metric: st.Metric, Normalize: usual, Width: compare.Width(cmp.Or(st.Width, string(compare.WidthLarger))),
		By: compare.ByFunction, Total: st.Totals, SelfTime: st.SelfTimes,
		Match: compare.MatchOptions{NoModule: st.NoModule, NoName: st.NoName, NoSimilar: st.NoSimilar, NoOrder: st.NoOrder}}
	l.Options.Match.Hand = slices.Clone(st.Pairs)
	if st.Normalize != "" {
		if n, nerr := compare.ParseNormalize(st.Normalize); nerr != nil {
			err = nerr
		} else {
			l.Options.Normalize = n
		}
	}
	if st.Group != "" {
		by, berr := compare.ParseBy(st.Group)
		if err = cmp.Or(err, berr); berr == nil {
			l.Options.By = by
		}
	}
	if !slices.Contains(names, l.Tab) {
		err = cmp.Or(err, fmt.Errorf("a comparison has no tab %q; there are %s", l.Tab, strings.Join(names, ", ")))
		l.Tab = pair.Difference
	}
	if l.Tab != pair.Two {
		l.Zoom = st.Zoom
	}
	return l, err
}

// goTo compares as a State says.
func (w *within) goTo(p *Pane, st *view.State) error {
	its := *st
	its.Tab = p.Tab
	l, err := pairLookOf(&its, append(w.deck.Names(), p.Deck.Names()...), usual(&p.Scope, p.Against))
	w.Look = l
	if p.Tab = l.Tab; w.shows(p) {
		p.Zoom = nil
	} else {
		w.Tab, w.Zoom = pair.Difference, nil
		for _, rerr := range p.Table.Restore(&st.Table) {
			err = cmp.Or(err, rerr)
		}
		return err
	}
	for _, rerr := range w.table.Restore(&st.Table, w.Tab == pair.Pairing) {
		err = cmp.Or(err, rerr)
	}
	return err
}

// withinSpot has the part of a step of history that is about comparing in place.
type withinSpot struct {
	pair.Look
	Shape difftable.Shape
}

func (p *Pane) withinSpot() (sp withinSpot) {
	if w := p.Within; w != nil && p.Against != nil {
		sp = withinSpot{w.Look, w.table.Shape}
		sp.Tab, sp.Options.Event, sp.Options.Metric = "", "", "" // which are the pane's
	}
	return sp
}

// Parts are those of the sentence above the panels.
func (w *within) Parts() []verdict.Part { return w.verdict.Parts() }

// Links are where links of the sentence lie in the last frame.
func (w *within) Links() []image.Rectangle { return w.verdict.Links }

// Told returns the rows beside the panels.
func (w *within) Told() []details.Detail { return w.details.Told() }

// Verdict returns what comparing in place came to, "" where nothing is compared.
func (p *Pane) Verdict() string {
	if p.Within == nil {
		return ""
	}
	return p.Within.verdict.Text()
}
