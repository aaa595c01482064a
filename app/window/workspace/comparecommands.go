package workspace

import (
	"context"
	"image"
	"slices"
	"strings"

	"ashlar/app/core/session"
	"ashlar/app/core/view"
	"ashlar/app/window/comparison"
	"ashlar/app/window/panel"
	"ashlar/app/window/panel/difftable"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/calls"
	"ashlar/ingest/query/compare"
	"ashlar/render/ui"
	"ashlar/render/units"
	"ashlar/render/widget"
)

// CompareSelected compares the selection with the rest: selected calls with the other
// calls, selected threads with the other threads, a selected range with the time outside
// it.
func (d *Workspace) CompareSelected() {
	p := d.Pane
	switch in := &p.Scope; {
	case d.Versus != nil:
		d.Say("Close the comparison first")
	case in.Calls != nil:
		p.CompareWithRest(in.Calls.Text)
	case in.Tracks != nil:
		var rest []int
		for i := range p.Rec.Tracks {
			if !slices.Contains(in.Tracks, i) {
				rest = append(rest, i)
			}
		}
		if rest == nil {
			d.Say("The selection covers all threads: none is left to compare with")
			return
		}
		p.CompareTracks(rest)
	case in.Ranged:
		if !p.CompareRest() {
			d.Say("The selection covers the whole time: nothing is left to compare with")
		}
	default:
		d.Say("Select calls, a time or threads first. In Calls, Shift-click selects the calls to compare with")
	}
}

// CompareNext compares the selected time with the time of the same length after it.
func (d *Workspace) CompareNext() {
	switch p := d.Pane; {
	case d.Versus != nil:
		d.Say("Close the comparison first")
	case !p.Scope.Ranged:
		d.Say("Select a time first: Shift-drag in the timeline")
	case !p.CompareNext():
		d.Say("The selection ends with the recording: there is nothing after it")
	}
}

// SetSelectionAs makes the selection A (0) or B (1).
func (d *Workspace) SetSelectionAs(i int) {
	switch p := d.Pane; {
	case d.Versus != nil:
		d.Say("Close the comparison first")
	case p.Scope.IsWhole():
		d.Say("Select calls, a time or threads first")
	case i == 0:
		p.SetAs(0, p.Scope)
	default:
		in := p.Scope
		p.Scope = recording.Scope{Async: in.Async, Idle: in.Idle}
		p.SetAs(1, in)
	}
}

// CompareCalls compares the slow calls of the picked function with the rest.
func (d *Workspace) CompareCalls() {
	f, ok := d.Pane.PickedFunction()
	if !ok {
		d.Say("Select a function first (click a bar or a row)")
		return
	}
	d.WhySlow(f, d.Pane.Scope)
}

// WhySlow compares the slow calls of a function with the rest; see calls.Query.Slow.
func (d *Workspace) WhySlow(f recording.Function, in recording.Scope) {
	of := &calls.Query{Functions: []string{d.Pane.CallsOf(f)}}
	d.compareFound("Finding slow calls of "+f.Name+"…", in, func(rec *recording.Recording, in recording.Scope) (a, b *calls.Query, says string, err error) {
		slow, rest, found, err := of.Slow(context.Background(), rec, in)
		if err == nil {
			says = "B: " + found + " · A: all other calls · Esc to go back"
		}
		return rest, slow, says, err
	})
}

// CompareTypical compares a call with the typical call: the median of the calls of its
// function that took about as long.
func (d *Workspace) CompareTypical(one string) {
	d.compareFound("Finding the typical call…", d.Pane.Scope, func(rec *recording.Recording, in recording.Scope) (a, b *calls.Query, says string, err error) {
		if b, err = calls.Parse(one); err != nil {
			return nil, nil, "", err
		}
		typical, of, err := b.Typical(context.Background(), rec, in)
		return typical, b, "A: the median of " + units.Plural(int64(of), "call") + " · B: the selected call · Esc to go back", err
	})
}

// compareFound finds two sets of calls in a scope, in the background, and compares them
// there.
func (d *Workspace) compareFound(meanwhile string, in recording.Scope, find func(*recording.Recording, recording.Scope) (a, b *calls.Query, says string, err error)) {
	p := d.Pane
	switch {
	case d.Versus != nil:
		d.Say("Close the comparison first")
		return
	case p.Rec.Counts.Spans == 0:
		d.Say("Single calls need spans: this recording has only samples")
		return
	}
	rec, in := p.Rec, in.Of(nil)
	d.Say(meanwhile)
	session.Go(func() {
		a, b, says, err := find(rec, in)
		d.Later(func() {
			switch {
			case err != nil:
				d.Say(err.Error())
			case d.Pane == p && d.Versus == nil && p.Rec == rec:
				p.Scope = in.Of(&recording.CallSet{Text: a.String()})
				p.CompareCalls(b.String())
				p.ShowComparison()
				d.Say(says)
			}
		})
	})
}

// ToggleByCall links both sides by their calls, or by time again.
func (c *Comparison) ToggleByCall(d *Workspace) {
	c.ByCall = !c.ByCall
	if c.ByCall {
		d.Say("Linked by call: a selected call is aligned with the same call on the other side")
		c.Link.Twin = nil // makes PickTwin align the sides at the selected call
		return
	}
	d.Say("Linked by time from the anchors")
}

// NextNormalize switches to the next normalization.
func (c *Comparison) NextNormalize() {
	all := c.Normalizations()
	for i, n := range all {
		if n == c.Options.Normalize {
			c.Options.Normalize = all[(i+1)%len(all)]
			return
		}
	}
}

// Commands for one recording or for two.

// NextMetric shows the next metric, or the next event.
func (d *Workspace) NextMetric(event bool) {
	switch {
	case d.Versus != nil:
		d.Versus.nextMetric(d, event)
	case event:
		d.Pane.nextEvent()
	default:
		d.Pane.NextMetric()
	}
}

// NextTab shows the next panel.
func (d *Workspace) NextTab() { d.below().Next() }

// ShowPanel shows a panel by its name.
func (d *Workspace) ShowPanel(name string) {
	switch c := d.Versus; {
	case c == nil:
		d.Pane.Tab = name
	case c.Deck.At(name) >= 0:
		c.Tab = name
	default:
		d.Say("Close the comparison first: this tab shows one recording")
	}
}

// FitAll zooms out to the whole recording and to all stacks.
func (d *Workspace) FitAll() {
	d.Pane.FitAll()
	if c := d.Versus; c != nil {
		c.Zoom, c.Down = nil, 0
	}
}

// BackPane undoes the first of these that is set: the search, the zoom, the selection and
// so on.
func (d *Workspace) BackPane() {
	c, p := d.Versus, d.Pane
	switch {
	case c == nil || p.Searching() || p.Find != "":
		p.back(d)
	case !c.ofTwo.back():
		p.back(d)
	}
}

// MetricChoice draws the metric being compared; a click lists the metrics that both sides
// have.
func (c *Comparison) MetricChoice(d *Workspace, u *ui.UI, x, y int) int {
	u.VLine(x, y+u.Px(3), y+u.Px(23), u.Theme.Rule)
	x += u.Px(8)
	at := x
	x += u.Choice(&c.buttons.metric, x, y, c.MetricName(), ui.Medium)
	if c.buttons.metric.Clicked(u.Context) {
		items := c.MetricItems()
		if len(items) == 0 {
			d.Say("The recordings share no metric")
			return x
		}
		d.Menu = widget.NewMenu(image.Pt(at, y+u.Px(30)), items)
	}
	return x
}

// distributionCommand returns the command that prints the durations of a function's calls
// on one side.
func (p *Pane) distributionCommand(f recording.Function, in recording.Scope, self bool) *command {
	cmd := p.statsCommand(f, in)
	if self {
		cmd.rest = append(cmd.rest, "self time")
	}
	if in.Ranged {
		cmd.rest = append(cmd.rest, "calls across the selection's edges")
	}
	return cmd
}

// diffCommand returns the command that compares both sides.
func (c *ofTwo) diffCommand() *command {
	cmd := &command{words: []string{"ashlar", "diff"}}
	a, b := c.Sides[0], c.Sides[1]
	one := a.Rec.Source.Path == b.Rec.Source.Path
	ans := c.Answer()
	switch {
	case ans != nil && len(ans.More[0])+len(ans.More[1]) > 0:
		one = false
		for i, flag := range []string{"--a", "--b"} {
			cmd.add(flag, c.Sides[i].Rec.Source.Path)
			for _, in := range ans.More[i] {
				cmd.add(flag, in.Rec.Source.Path)
			}
		}
	case a.Demo && b.Demo:
		cmd.add("--demo")
		one = true
	case one:
		cmd.add(a.Rec.Source.Path)
	default:
		cmd.add(a.Rec.Source.Path, b.Rec.Source.Path)
	}
	if ans != nil {
		m := ans.Compared.Metric
		e := &ans.Recs[0].Events[m.Event[0]]
		if len(ans.Recs[0].Events) > 1 && e.Name != "" {
			cmd.add("--event", e.Name)
		}
		if m.Metric[0] != e.Primary {
			cmd.add("--metric", e.Metrics[m.Metric[0]].Name)
		}
	}
	o := &c.Options
	if c.Tab == comparison.Difference || c.Tab == comparison.CallTree {
		cmd.add("--by", string(compare.ByStack))
	} else if c.Tab == comparison.Pairing {
		cmd.add("--all")
	}
	if c.Tab == comparison.Table && o.By != compare.ByFunction {
		cmd.add("--by", string(o.By))
	}
	if o.Normalize != cmd.sets(a.Scope.Calls, b.Scope.Calls, one) {
		cmd.add("--normalize", string(o.Normalize))
	}
	cmd.addScopes(&c.Comparison)
	apart, _ := view.OfScope(a.Rec, a.Scope).Args(a.Rec, "async", "idle")
	cmd.add(apart...)
	if rules := o.Match.Rules(); rules != "" {
		cmd.add("--match", rules)
	}
	for _, p := range o.Match.Hand {
		cmd.add("--pair", p.A+"="+p.B)
	}
	f := c.Sides[c.Focus]
	transforms, _ := (&view.State{Stacks: f.Stacks}).Args(f.Rec, "transform")
	cmd.add(transforms...)
	if c.Tab == comparison.Table {
		cmd.addTable(c.Table)
	}
	if c.Tab == comparison.Difference && len(c.Zoom) > 0 {
		cmd.rest = append(cmd.rest, "zoom")
	}
	return cmd
}

// addScopes adds the time and the threads of each side.
func (cmd *command) addScopes(c *comparison.Comparison) {
	for i, p := range c.Sides {
		if p.Scope.Outside {
			rest, _ := view.OfScope(p.Rec, p.Scope.Between(p.Scope.From, p.Scope.To)).Args(p.Rec, "select")
			cmd.add("--rest-of", rest[1])
			if i == 1 {
				cmd.rest = append(cmd.rest, "the order of A and B")
			}
			return
		}
		if c.Sides[1-i].Scope.Outside {
			continue
		}
		own, ok := view.OfScope(p.Rec, p.Scope).Args(p.Rec, placed...)
		for k := 0; k < len(own); k += 2 {
			own[k] += "-" + strings.ToLower(comparison.SideName(i))
		}
		if n := len(p.Scope.Tracks); !ok || n != 1 && p.Scope.Tracks != nil {
			own = own[:2*panel.Index(p.Scope.Ranged)] // the command line takes only one thread
			cmd.rest = append(cmd.rest, theThreads)
		}
		cmd.add(own...)
	}
}

// addTable adds the flags for the row filter and order of a table, if the command has
// such flags.
func (cmd *command) addTable(t *difftable.Panel) {
	f := t.Filters
	if f[difftable.FilterSure] {
		cmd.add("--min-confidence", "0.95")
	}
	if t.By != difftable.ColumnDifference || t.Backward {
		cmd.rest = append(cmd.rest, "row order")
	}
	f[difftable.FilterSure] = false
	if f != (difftable.Filters{}) {
		cmd.rest = append(cmd.rest, "row filters")
	}
}

// sets adds the flags for the compared call sets, of one recording or of two, and returns
// the default normalization of diff for them.
func (c *command) sets(a, b *recording.CallSet, one bool) compare.Normalize {
	switch {
	case a != nil && b != nil:
		if c.add("--calls", a.Text); b.Text != a.Text {
			c.add("--calls-b", b.Text)
		}
		return compare.Calls
	case a != nil, b != nil && one:
		c.rest = append(c.rest, "selected calls on one side")
	case b != nil:
		c.add("--calls-b", b.Text)
	}
	return compare.Auto
}
