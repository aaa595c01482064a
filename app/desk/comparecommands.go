package desk

import (
	"image"
	"maps"
	"slices"
	"strings"

	"ashlar/app/pair"
	"ashlar/app/panel"
	"ashlar/app/panel/difftable"
	"ashlar/app/session"
	"ashlar/app/view"
	"ashlar/ingest/compare"
	"ashlar/ingest/plain"
	"ashlar/ingest/recording"
	"ashlar/render/ui"
	"ashlar/render/widget"
)

// CompareWithItself shows the recording twice, for two ranges or two threads of
// it.
func (d *Desk) CompareWithItself() {
	if d.Versus != nil {
		d.Say("Close the comparison first")
		return
	}
	p := d.Pane
	var sides [2]*Pane
	for i := range sides {
		again := d.NewPane(p.Doc.Again(d.Wake))
		again.Path, again.exe, again.Part, again.Demo, again.Kept = p.Path, p.exe, p.Part, p.Demo, p.Kept
		again.Look = p.Look
		again.Folds, again.Closed, again.Hidden = maps.Clone(p.Folds), maps.Clone(p.Closed), maps.Clone(p.Hidden)
		again.begun, again.Zoom = true, nil
		again.Search.Set(p.Find)
		sides[i] = again
	}
	d.Compare(sides[0], sides[1], p)
	d.Versus.Linked = false
	d.Say("Select a time or a thread on each side; K links both, Esc leads back")
}

// CompareCalls compares the slowest calls of the picked function with as many of
// its fastest.
func (d *Desk) CompareCalls() {
	p := d.Pane
	f, ok := p.PickedFunction()
	if !ok {
		d.Say("Select a function first: click a bar or a row")
		return
	}
	if d.Versus != nil {
		d.Say("Close the comparison first")
		return
	}
	rec, q := p.Rec, p.Query()
	d.Say("Looking for the calls of " + f.Name + "…")
	go func() {
		fast, slow, err := compare.FastAndSlow(rec, panel.FunctionsOf(rec, f), q)
		d.Later(func() {
			if err != nil {
				d.Say(err.Error())
				return
			}
			if d.Pane != p || d.Versus != nil {
				return
			}
			a, b := d.NewPane(session.Of(fast.Source.Name, fast, d.Wake)), d.NewPane(session.Of(slow.Source.Name, slow, d.Wake))
			d.Compare(a, b, p)
			d.Say("A has the fastest calls, one after the other, and B as many of the slowest; Esc leads back")
		})
	}()
}

// ToggleByCall links both sides by their calls, or by time again.
func (c *Comparison) ToggleByCall(d *Desk) {
	c.ByCall = !c.ByCall
	if c.ByCall {
		d.Say("Linked by call: picking a call aligns it with the same call of the other side")
		c.Link.Twin = nil // act on what is picked
		return
	}
	d.Say("Linked by time, from the anchors")
}

// NextNormalize makes the sides comparable in the next of all ways.
func (c *Comparison) NextNormalize() {
	all := []compare.Normalize{compare.Raw, compare.Total, compare.Duration, compare.Samples}
	for i, n := range all {
		if n == c.Options.Normalize {
			c.Options.Normalize = all[(i+1)%len(all)]
			return
		}
	}
}

// What commands do to one recording or to two.

// NextMetric shows the next metric, or the next event.
func (d *Desk) NextMetric(event bool) {
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
func (d *Desk) NextTab() {
	if c := d.Versus; c != nil {
		c.Tab = c.Deck.Next(c.Tab, &c.Pair)
		return
	}
	d.Pane.Tab = d.Pane.Deck.Next(d.Pane.Tab, &d.Pane.Side)
}

// ShowPanel shows a panel by its name.
func (d *Desk) ShowPanel(name string) {
	switch c := d.Versus; {
	case c == nil:
		d.Pane.Tab = name
	case c.Deck.At(name) >= 0:
		c.Tab = name
	default:
		d.Say("Two recordings have no such panel: close the comparison first")
	}
}

// FitAll shows all the time and all stacks.
func (d *Desk) FitAll() {
	d.Pane.FitAll()
	if c := d.Versus; c != nil {
		c.Zoom, c.Down = nil, 0
	}
}

// BackPane takes back the nearest thing of what is shown.
func (d *Desk) BackPane() {
	c, p := d.Versus, d.Pane
	switch {
	case c == nil || p.Searching() || p.Find != "":
		p.back()
	case c.Tab == pair.Difference && len(c.Zoom) > 0:
		c.Zoom, c.Down = nil, 0
	case c.Chosen != nil:
		c.Choose(nil, -1)
		c.Node = -1
	case !p.back() && c.of != nil:
		d.EndComparison()
	}
}

// MetricChoice draws the metric that is compared; a click lists those that both have.
func (c *Comparison) MetricChoice(d *Desk, u *ui.UI, x, y int) int {
	u.VLine(x, y+u.Px(3), y+u.Px(23), u.Theme.Rule)
	x += u.Px(8)
	at := x
	x += u.Choice(&c.buttons.metric, x, y, c.MetricName(), ui.Medium)
	if c.buttons.metric.Clicked(u.Context) {
		items := c.MetricItems()
		if len(items) == 0 {
			d.Say("The recordings have no metric that measures the same thing")
			return x
		}
		d.Menu = widget.NewMenu(image.Pt(at, y+u.Px(30)), items)
	}
	return x
}

// AsCommand is the command line that prints what the tab shows of both.
func (c *Comparison) AsCommand(d *Desk) (line, rest string) {
	var cs []*command
	for _, p := range c.Panes {
		switch {
		case c.Tab == pair.Two:
			cs = append(cs, p.flameCommand())
		case c.Tab == pair.About:
			cs = append(cs, p.commandAbout("info"))
		case c.Tab == pair.Distribution:
			if f, ok := p.PickedFunction(); ok && c.Chosen != nil {
				cs = append(cs, c.distributionCommand(p, f))
			}
		}
	}
	if cs != nil {
		return joined(cs)
	}
	return c.diffCommand()
}

// distributionCommand tells how long the calls of a function took on one side.
func (c *Comparison) distributionCommand(p *Pane, f recording.Function) *command {
	cmd := p.statsCommand(f)
	if c.Options.SelfTime {
		cmd.rest = append(cmd.rest, "that times are without callees")
	}
	if p.Scope.Ranged {
		cmd.rest = append(cmd.rest, "that calls over the edges of the time are left out")
	}
	return cmd
}

// diffCommand is the one that prints both side by side.
func (c *Comparison) diffCommand() (line, rest string) {
	args := []string{"ashlar", "diff"}
	const theThreads = "the selected threads"
	var rests []string
	a, b := c.Panes[0], c.Panes[1]
	switch {
	case a.Demo && b.Demo:
		args = append(args, "--demo")
	case a.Rec.Source.Path == b.Rec.Source.Path:
		args = append(args, a.Rec.Source.Path)
	default:
		args = append(args, a.Rec.Source.Path, b.Rec.Source.Path)
	}
	if ans := c.Answer(); ans != nil {
		m := ans.Compared.Metric
		e := &ans.Recs[0].Events[m.Event[0]]
		if len(ans.Recs[0].Events) > 1 && e.Name != "" {
			args = append(args, "--event", e.Name)
		}
		if m.Metric[0] != e.Primary {
			args = append(args, "--metric", e.Metrics[m.Metric[0]].Name)
		}
	}
	if a.Path == "" && !a.Demo {
		rests = append(rests, "that these are the fastest and the slowest calls")
	}
	o := &c.Options
	if c.Tab == pair.Difference || c.Tab == pair.CallTree {
		args = append(args, "--by", string(compare.ByStack))
	} else if c.Tab == pair.Pairing {
		args = append(args, "--all")
	}
	if c.Tab == pair.Table && o.By != compare.ByFunction {
		args = append(args, "--by", string(o.By))
	}
	if o.Normalize != compare.Raw {
		args = append(args, "--normalize", string(o.Normalize))
	}
	for i, p := range c.Panes {
		low := strings.ToLower(pair.SideName(i))
		if p.Scope.Ranged {
			args = append(args, "--range-"+low, recording.Offsets(p.Scope.From-p.Rec.Start, p.Scope.To-p.Rec.Start).String())
		}
		if names, ok := threadFlags(p.Rec, p.Scope.Tracks); ok && len(names) == 1 {
			args = append(args, "--thread-"+low, names[0])
		} else if p.Scope.Tracks != nil && !slices.Contains(rests, theThreads) {
			rests = append(rests, theThreads)
		}
	}
	args = append(args, view.ApartArgs(a.Scope)...)
	if rules := o.Match.Rules(); rules != "" {
		args = append(args, "--match", rules)
	}
	for _, p := range o.Match.Hand {
		args = append(args, "--pair", p.A+"="+p.B)
	}
	v := view.Stacks{Transforms: c.Panes[c.Focus].Transforms}
	args = append(args, v.Args(c.Panes[c.Focus].Rec)...)
	if c.Table.Filters[difftable.FilterSure] && c.Tab == pair.Table {
		args = append(args, "--min-confidence", "0.95")
	}
	if t := c.Table; c.Tab == pair.Table {
		if t.By != difftable.ColumnDifference || t.Backward {
			rests = append(rests, "the order of rows")
		}
		f := t.Filters
		f[difftable.FilterSure] = false
		if f != (difftable.Filters{}) {
			rests = append(rests, "which rows are left out")
		}
	}
	if c.Tab == pair.Difference && len(c.Zoom) > 0 {
		rests = append(rests, "what it is zoomed to")
	}
	return plain.Command(args...), strings.Join(rests, " and ")
}
