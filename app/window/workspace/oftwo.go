package workspace

import (
	"cmp"
	"fmt"
	"image"
	"slices"
	"strings"

	"ashlar/app/core/session"
	"ashlar/app/core/view"
	"ashlar/app/window/comparison"
	"ashlar/app/window/panel"
	"ashlar/app/window/panel/details"
	"ashlar/app/window/panel/difftable"
	"ashlar/app/window/panel/pairing"
	"ashlar/app/window/panel/trend"
	"ashlar/app/window/scopebar"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/compare"
	"ashlar/ingest/query/compare/match"
	"ashlar/render/ui"
	"ashlar/render/widget"
)

// ofTwo is the lower half of a comparison, of two recordings (see [Comparison]) or of two
// parts of one (see scopeComparison): the question about both, the panels, the settings
// above them and the text beside them.
type ofTwo struct {
	comparison.Comparison
	Deck    panel.Deck[*comparison.Comparison]
	Table   *difftable.Panel
	Pairing *pairing.Panel
	buttons compareButtons
	Verdict comparison.Verdict
	Details details.OfTwo
}

// begin sets both sides and the panels.
func (o *ofTwo) begin(a, b *panel.Side, rows []panel.Row[*comparison.Comparison]) {
	o.Deck = panel.NewDeck(rows)
	o.Table, o.Pairing = panel.Find[*difftable.Panel](o.Deck.All), panel.Find[*pairing.Panel](o.Deck.All)
	o.Details.Comparison = &o.Comparison
	o.Sides, o.Hover, o.Node = [2]*panel.Side{a, b}, -1, -1
}

// pairLook returns the default settings of a comparison.
func pairLook() comparison.Look {
	return comparison.Look{Options: comparison.Options{Width: compare.WidthLarger, By: compare.ByFunction, Normalize: compare.Auto}, Tab: comparison.Difference, Linked: true}
}

// Question returns the question about everything currently shown.
func (o *ofTwo) Question() session.CompareQuestion {
	by := &o.Options
	q := session.CompareQuestion{Width: by.Width, By: by.By, Self: by.SelfTime, Call: o.Link.Call,
		What: session.What{Event: by.Event, Metric: by.Metric, Normalize: by.Normalize, Match: by.Match, Transforms: o.Sides[o.Focus].Transforms}}
	for i, side := range o.Sides {
		q.Generations[i], q.Scopes[i] = side.Generation, side.Scope
	}
	if o.Tab == comparison.Distribution {
		q.Of = o.Chosen
	}
	return q
}

// recs returns the recordings of the question.
func (o *ofTwo) recs() [2]*recording.Recording { return [2]*recording.Recording(o.Recs()) }

// back clears the zoom of the difference, else the chosen function. It reports whether
// there was anything to clear.
func (o *ofTwo) back() bool {
	switch {
	case o.Tab == comparison.Difference && len(o.Zoom) > 0:
		o.Zoom, o.Down = nil, 0
	case o.Chosen != nil:
		o.Choose(nil, -1)
		o.Node = -1
	default:
		return false
	}
	return true
}

// become copies the view of another comparison, as a snapshot that never changes.
func (o *ofTwo) become(of *ofTwo) {
	o.Engine, o.Focus, o.Look, o.Chosen = of.Engine.Snapshot(), of.Focus, of.Look, of.Chosen
	o.Link.Call, o.Link.Twin = of.Link.Call, of.Link.Twin
	o.Node, o.Down = of.Node, of.Down
	o.Table.Shape, o.Table.Down = of.Table.Shape, of.Table.Down
	o.Pairing.Down, o.Pairing.Kind = of.Pairing.Down, of.Pairing.Kind
	if to := panel.Find[*trend.OfTwo](o.Deck.All); to != nil {
		to.Become(panel.Find[*trend.OfTwo](of.Deck.All))
	}
}

// tabGap is the distance between the tabs of a comparison, in dp: they are many.
const tabGap = 24

// tabs draws the tabs in r and the settings at their right, and leaves spare pixels between
// them. It returns where the tabs end and where the settings begin.
func (o *ofTwo) tabs(d *Workspace, u *ui.UI, r image.Rectangle, spare int, tab *string, grip bool, viewItems func() []widget.Item) (end, right int) {
	panel.Bar(u, r, grip)
	right = o.buttons.layout(d, u, &o.Comparison, r, viewItems)
	return o.Deck.Tabs(&d.Host, u, r, tab, &o.Comparison, right-spare, tabGap), right
}

// rows draws the rows below the tabs: the scope bar and the verdict.
func (o *ofTwo) rows(d *Workspace, u *ui.UI, r image.Rectangle, chips *scopebar.Bar) {
	chips.Switch.Titles = nil
	chips.Layout(&d.Host, u, scopeRow(u, r), d.Scoped(), "")
	o.Verdict.Layout(&d.Host, u, &o.Comparison, o.verdictRow(d, u, r))
}

// panel draws the panel of a tab in r, or the reason why it is empty.
func (o *ofTwo) panel(d *Workspace, u *ui.UI, tab string, r image.Rectangle) {
	if o.Answer() != nil || tab == comparison.Two || tab == comparison.About {
		o.Deck.Shown(tab).Layout(&d.Host, &o.Comparison, u, r)
		return
	}
	r = r.Inset(u.Px(24))
	r.Min.Y += r.Dy() / 3
	u.Text(r, o.Unanswered(), ui.Style{Size: 13, Color: u.Theme.Dim, Align: ui.Middle, Lines: 8})
}

// beside draws the details of the selection next to the panels.
func (o *ofTwo) beside(d *Workspace, u *ui.UI, r image.Rectangle) {
	if d.View == Both {
		u.Area(o.Details.Tag(), nil)
		o.Details.Layout(&d.Host, u, r)
	}
	u.NoArea()
}

// commands returns the command lines that print the content of the current tab. of holds
// the panes of sides A and B, the same pane twice for two scopes of one recording.
func (o *ofTwo) commands(of [2]*Pane) (cs []*command) {
	if o.Tab == comparison.Trend {
		return []*command{trendCommand(o.Options.Event, o.Options.Metric, of[0], of[1])}
	}
	if o.Tab == comparison.Assembly && o.Chosen != nil && !o.OneRecording {
		c := of[0].commandAbout("source")
		c.add(o.Chosen.String(), "--asm", "--with", of[1].Path, "-n", "0")
		if s := of[0].Syntax; s != "" {
			c.add("--syntax", s)
		}
		return []*command{c}
	}
	for i, p := range of {
		switch o.Tab {
		case comparison.Two:
			cs = append(cs, p.flameCommand())
		case comparison.About:
			cs = append(cs, p.commandAbout("info"))
		case comparison.Distribution:
			if f, ok := p.PickedFunction(); ok && o.Chosen != nil {
				cs = append(cs, p.distributionCommand(f, o.Sides[i].Scope, o.Options.SelfTime))
			}
		}
	}
	if cs == nil {
		cs = append(cs, o.diffCommand())
	}
	return cs
}

// state describes the settings of the comparison that differ from the defaults.
func (o *ofTwo) state(st *view.State, usual compare.Normalize) {
	by := &o.Options
	st.Comparison = view.Comparison{Totals: by.Total, SelfTimes: by.SelfTime, Unlinked: !o.Linked, ByCall: o.ByCall, FocusB: o.Focus == 1,
		NoModule: by.Match.NoModule, NoName: by.Match.NoName, NoSimilar: by.Match.NoSimilar, NoOrder: by.Match.NoOrder, NoRenamed: by.Match.NoRenamed}
	if by.Normalize != usual {
		st.Normalize = string(by.Normalize)
	}
	if by.Width != compare.WidthLarger {
		st.Width = string(by.Width)
	}
	st.Pairs, st.Apart = slices.Clone(by.Match.Hand), slices.Clone(by.Match.Apart)
	st.Table = view.Table{}
	o.Table.State(&st.Table)
	if by.By != compare.ByFunction {
		st.Group = string(by.By)
	}
	if k := o.Pairing.Kind; o.Tab == comparison.Pairing && k < len(o.Pairing.Kinds) {
		st.Rows = []string{o.Pairing.Kinds[k].Words()}
	}
}

// pairLookOf returns the comparison settings of a State. names are the valid panels,
// usual is the default normalization.
func pairLookOf(st *view.State, names []string, usual compare.Normalize) (l comparison.Look, err error) {
	l = comparison.Look{Tab: cmp.Or(st.Tab, comparison.Difference), Split: view.ClampSplit(st.Split), Above: st.Layout == view.Above, Linked: !st.Unlinked, ByCall: st.ByCall}
	l.Options = comparison.Options{Event: st.Event, Metric: st.Metric, Normalize: usual, Width: compare.Width(cmp.Or(st.Width, string(compare.WidthLarger))),
		By: compare.ByFunction, Total: st.Totals, SelfTime: st.SelfTimes,
		Match: match.Options{NoModule: st.NoModule, NoName: st.NoName, NoSimilar: st.NoSimilar, NoOrder: st.NoOrder, NoRenamed: st.NoRenamed}}
	l.Options.Match.Hand, l.Options.Match.Apart = slices.Clone(st.Pairs), slices.Clone(st.Apart)
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
		err = cmp.Or(err, fmt.Errorf("a comparison has no tab %q. Tabs: %s", l.Tab, strings.Join(names, ", ")))
		l.Tab = comparison.Difference
	}
	if l.Tab != comparison.Two {
		l.Zoom = st.Zoom
	}
	return l, err
}

// restoreTable applies the table settings of a State. It returns err, an earlier error,
// if that is not nil.
func (o *ofTwo) restoreTable(st *view.State, err error) error {
	return cmp.Or(err, cmp.Or(append(o.Table.Restore(&st.Table, o.Tab == comparison.Pairing), nil)...))
}
