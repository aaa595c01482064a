package workspace

import (
	"cmp"
	"fmt"
	"slices"

	"ashlar/app/core/view"
	"ashlar/app/window/comparison"
	"ashlar/app/window/panel"
	"ashlar/app/window/panel/pairing"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/ingest/query/compare"
	"ashlar/ingest/query/compare/match"
	"ashlar/render/ui"
)

func (c *Comparison) files() []string { return []string{c.Panes[0].file(), c.Panes[1].file()} }

// state stores the view of both recordings in st.
func (c *Comparison) state(st *view.State, dp float32) {
	st.Files = c.files()
	f := c.Panes[c.Focus]
	for i, p := range c.Panes {
		p.Unbind(p.Rec, i, dp, st) // the marks are A's
		st.Sides[i].Runs = p.runsState()
	}
	o := &c.Options
	st.Event, st.Metric, st.Split = o.Event, o.Metric, c.Split
	st.Transforms, st.Find, st.Up = slices.Clone(f.Transforms), f.Find, f.Up
	st.Around, st.Callers, st.Callees, st.Display = nil, nil, nil, view.Display{Syntax: st.Syntax}
	if st.Tab = ""; c.Tab != comparison.Difference {
		st.Tab = c.Tab
	}
	if st.Zoom = c.Zoom; c.Tab == comparison.Two {
		st.Zoom = f.Zoom
	}
	if st.Layout = ""; c.Above {
		st.Layout = view.Above
	}
	c.ofTwo.state(st, compare.Auto)
}

// pickState stores the selected item in a State.
func (c *Comparison) pickState(st *view.State) {
	f := c.Panes[c.Focus]
	if f.Pick.Kind == panel.PickBar {
		st.Sides[c.Focus].Bar = f.barState()
	}
	if c.Chosen != nil {
		st.Function = &recording.FuncName{Name: c.Chosen.Name, Module: c.Chosen.Module}
		for i, p := range c.Panes {
			if c.Panes[1-i].Pick.Kind == panel.PickNone && p.Pick.Named() {
				st.OnlyOn = []string{"a", "b"}[i]
			}
		}
	}
	if a := c.Answer(); a != nil && c.Node > 0 && int(c.Node) < len(a.Shape.Nodes) {
		st.Node = comparison.NamesOf(a.Shape.Tree, int(c.Node))
	}
}

// ResumeVisit continues the visit as soon as both sides are ready.
func (c *Comparison) ResumeVisit(d *Workspace) (changed bool, err error) {
	if v := c.visit.state; v != nil {
		if !c.Panes[0].Rec.Done || !c.Panes[1].Rec.Done {
			return false, nil
		}
		c.visit = visit{answered: v, marked: c.visit.marked}
		for _, p := range c.Panes {
			_, perr := p.ResumeVisit(d)
			err = cmp.Or(err, perr)
		}
		err = cmp.Or(err, c.goTo(d, v))
		c.LastLinked = c.LinkedState() // both sides match the address
		return true, err
	}
	v, a := c.visit.answered, c.Answer()
	if v == nil || a == nil || a.Recs != [2]*recording.Recording{c.Panes[0].Rec, c.Panes[1].Rec} {
		return false, nil
	}
	marked := c.visit.marked
	c.visit = visit{scrolled: v}
	if err = c.goToAnswered(v); marked != nil {
		err = cmp.Or(err, c.markNamed(*marked))
	}
	return true, err
}

// restore applies a State from the history to both recordings, in the State's order.
func (c *Comparison) restore(d *Workspace, st *view.State) {
	if now := c.files(); len(st.Files) == 2 && now[0] != now[1] && st.Files[0] == now[1] && st.Files[1] == now[0] {
		d.Swap()
	}
	for i, p := range c.Panes {
		event, metric, zoom := p.Event, p.Metric, p.Zoom
		p.restoreSide(d, st, i)
		p.Event, p.Metric, p.Tab, p.Zoom, p.Split = event, metric, view.FirstTab, zoom, 0
		if c.Tab = st.Tab; st.Tab == comparison.Two && i == panel.Index(st.FocusB) {
			p.Zoom = st.Zoom
		}
	}
	if err := c.goTo(d, st); err != nil {
		d.Say(err.Error())
	}
	c.LastLinked = c.LinkedState() // both sides were restored, so nothing is carried over
}

// goTo applies the comparison settings of a State.
func (c *Comparison) goTo(d *Workspace, st *view.State) error {
	l, err := pairLookOf(st, c.Deck.Names(), compare.Auto)
	if l.Tab == comparison.Two {
		l.Zoom = c.Zoom
	}
	c.Paired = c.Paired || st.Pairs != nil
	c.Look = l
	c.FocusOn(d, panel.Index(st.FocusB))
	return c.restoreTable(st, err)
}

// goToAnswered marks the function and the bars that an address names.
func (c *Comparison) goToAnswered(v *view.State) (err error) {
	a := c.Answer()
	if f := v.Function; f != nil {
		key := c.keyNamed(f, v.OnlyOn)
		switch {
		case key >= 0:
			c.Choose(a, key)
		case f.Module != "" || c.markNamed(analyze.Named(f.Name)) != nil:
			return fmt.Errorf("neither recording has the function %s", f.Name)
		}
	}
	if c.Node = -1; v.Node != nil {
		c.Node = int32(comparison.Find(a.Shape, v.Node))
	}
	if b := v.Sides[c.Focus].Bar; b != nil {
		if err := c.Panes[c.Focus].pickBar(b); err != nil {
			return err
		}
		c.Picked(c.Focus)
		c.LastLinked = c.LinkedState()
	}
	if c.Tab == comparison.Pairing && len(v.Rows) > 0 {
		c.Pairing.Refresh(a)
		i := slices.IndexFunc(c.Pairing.Kinds, func(k pairing.PairKind) bool { return k.Words() == v.Rows[0] })
		if i < 0 {
			return fmt.Errorf("no functions are matched as \"%s\"", v.Rows[0])
		}
		c.Pairing.Kind = i
	}
	return nil
}

// markNamed marks the heaviest function that matches ref.
func (c *Comparison) markNamed(ref analyze.Ref) error {
	a := c.Answer()
	of := map[int32]bool{}
	for i, rec := range a.Recs {
		for _, f := range ref.Functions(rec) {
			of[c.Key(a, i, f)] = true
		}
	}
	best := (*compare.Row)(nil)
	for i := range a.Functions.Rows {
		if r := &a.Functions.Rows[i]; r.Key >= 0 && of[r.Key] && (best == nil || r.ATotal+r.BTotal > best.ATotal+best.BTotal) {
			best = r
		}
	}
	if best == nil {
		return fmt.Errorf("neither recording has a function %s", ref.Text)
	}
	c.Choose(a, best.Key)
	return nil
}

// keyNamed returns the key of the function named by an address, -1 for none. If both
// sides have a function of that name that is not matched with the other, onlyOn says
// which side is meant.
func (c *Comparison) keyNamed(f *recording.FuncName, onlyOn string) int32 {
	only := slices.Index([]string{"a", "b"}, onlyOn)
	best, of := int32(-1), c.Answer().Compared
	for k, g := range of.Tree.Funcs {
		if g.Name != f.Name || g.Module != f.Module {
			continue
		}
		if alone := aloneOn(of, &g); alone == only {
			return int32(k)
		}
		best = int32(k)
	}
	return best
}

// aloneOn returns the side of a function that exists on one side only, -1 if both have
// it.
func aloneOn(of *compare.Comparison, g *match.Func) int {
	has := func(in []int32) bool { return slices.ContainsFunc(in, func(i int32) bool { return i >= 0 }) }
	switch {
	case !has(g.In[of.Sides:]):
		return 0
	case !has(g.In[:of.Sides]):
		return 1
	}
	return -1
}

// restoreScroll applies the scroll positions of an address once the panels are filled.
func (c *Comparison) restoreScroll(u *ui.UI) {
	for _, p := range c.Panes {
		p.restoreScroll(u)
	}
	if v := c.visit.scrolled; v != nil {
		c.visit.scrolled = nil
		if to := c.below().Scroll(); to != nil {
			*to = u.Px(v.Down)
		}
	}
}
