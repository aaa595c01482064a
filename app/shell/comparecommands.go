package shell

import (
	"image"
	"maps"
	"slices"
	"strings"

	"gioui.org/io/key"

	"ashlar/app/pair"
	"ashlar/app/panel"
	"ashlar/app/panel/difftable"
	"ashlar/app/session"
	"ashlar/app/view"
	"ashlar/ingest/compare"
	"ashlar/ingest/plain"
	"ashlar/ingest/recording"
	"ashlar/render/icon"
	"ashlar/render/ui"
	"ashlar/render/widget"
)

// compareCommands are those about two recordings.
func compareCommands() []Command {
	return []Command{
		{"Compare with another file", nil, true, func(s *Shell) { s.askCompare() }},
		{"Compare this recording with itself", nil, true, func(s *Shell) { s.compareWithItself() }},
		{"Compare the slow calls of the selected function with its fast ones", nil, true, func(s *Shell) { s.compareCalls() }},
		{"Swap A and B", []Chord{chord("X")}, true, func(s *Shell) { s.swap() }},
		{"One timeline above the other, or beside it", []Chord{chord("X", key.ModShift)}, true, comparing(func(_ *Shell, c *comparison) { c.Above = !c.Above })},
		{"Close the comparison", nil, true, func(s *Shell) { s.endComparison() }},
		{"The other side", []Chord{chord(key.NameTab, key.ModCtrl)}, true, comparing(func(s *Shell, c *comparison) {
			c.focusOn(s, 1-c.Focus)
			s.Focus.Give(&s.pane.Lanes, true)
		})},
		{"Link or unlink both sides", []Chord{chord("K")}, true, comparing(func(_ *Shell, c *comparison) { c.Linked = !c.Linked })},
		{"Link by time or by calls", nil, true, comparing(func(s *Shell, c *comparison) { c.toggleByCall(s) })},
		{"Anchor this side here", []Chord{chord("J")}, true, comparing(func(s *Shell, c *comparison) { c.anchorHere(s) })},
		{"Align both sides at the picked call", []Chord{chord("J", key.ModShift)}, true, comparing(func(s *Shell, c *comparison) { c.anchorBoth(s) })},
		{"Align both sides at their starts", nil, true, comparing(func(_ *Shell, c *comparison) { c.panes[0].Anchor, c.panes[1].Anchor = 0, 0 })},
		{"Pair the selected function by hand", nil, true, comparing(func(s *Shell, c *comparison) { c.PairByHand(&s.Host) })},
		{"Next normalisation", nil, true, comparing(func(_ *Shell, c *comparison) { c.nextNormalize() })},
	}
}

// comparing makes a command of something that needs a comparison.
func comparing(do func(s *Shell, c *comparison)) func(s *Shell) {
	return func(s *Shell) {
		if s.versus == nil {
			s.Say("That needs two recordings: compare with another file first")
			return
		}
		do(s, s.versus)
	}
}

// compareButton opens a second file, or says that one is open.
func (s *Shell) compareButton(u *ui.UI, x, y int) int {
	b := &s.compareButtonClick
	x += s.iconButton(u, b, x, y, icon.Compare, "Compare", "Compare with another file", s.versus != nil) + u.Px(10)
	if b.Clicked(u.Context) {
		if s.versus == nil {
			s.askCompare()
		} else {
			s.Menu = widget.NewMenu(image.Pt(x-u.Px(90), y+u.Px(30)), []widget.Item{
				{Title: "Compare with another file", Do: s.askCompare},
				{Title: "Swap A and B", Detail: "X", Do: s.swap},
				{Title: "A above B", Detail: "Shift-X", On: s.versus.Above, Do: func() { s.versus.Above = !s.versus.Above }},
				{Title: "Close the comparison", Do: s.endComparison},
			})
		}
	}
	return x
}

// compareWithItself shows the recording twice, for two ranges or two threads of
// it.
func (s *Shell) compareWithItself() {
	if s.versus != nil {
		s.Say("Close the comparison first")
		return
	}
	p := s.pane
	var sides [2]*pane
	for i := range sides {
		again := s.newPane(p.Doc.Again(s.Wake))
		again.Path, again.exe, again.Part, again.Demo, again.kept = p.Path, p.exe, p.Part, p.Demo, p.kept
		again.Look = p.Look
		again.Folds, again.Closed, again.Hidden = maps.Clone(p.Folds), maps.Clone(p.Closed), maps.Clone(p.Hidden)
		again.begun, again.Zoom = true, nil
		again.Search.Set(p.Find)
		sides[i] = again
	}
	s.compare(sides[0], sides[1], p)
	s.versus.Linked = false
	s.Say("Select a time or a thread on each side; K links both, Esc leads back")
}

// compareCalls compares the slowest calls of the picked function with as many of
// its fastest.
func (s *Shell) compareCalls() {
	p := s.pane
	f, ok := p.PickedFunction()
	if !ok {
		s.Say("Select a function first: click a bar or a row")
		return
	}
	if s.versus != nil {
		s.Say("Close the comparison first")
		return
	}
	rec, q := p.Rec, p.Query()
	s.Say("Looking for the calls of " + f.Name + "…")
	go func() {
		fast, slow, err := compare.FastAndSlow(rec, panel.FunctionsOf(rec, f), q)
		s.Later(func() {
			if err != nil {
				s.Say(err.Error())
				return
			}
			if s.pane != p || s.versus != nil {
				return
			}
			a, b := s.newPane(session.Of(name(fast), fast, s.Wake)), s.newPane(session.Of(name(slow), slow, s.Wake))
			s.compare(a, b, p)
			s.Say("A has the fastest calls, one after the other, and B as many of the slowest; Esc leads back")
		})
	}()
}

func name(rec *recording.Recording) string { return rec.Source.Name }

func (c *comparison) toggleByCall(s *Shell) {
	c.ByCall = !c.ByCall
	if c.ByCall {
		s.Say("Linked by call: picking a call aligns it with the same call of the other side")
		c.Link.Twin = nil // act on what is picked
		return
	}
	s.Say("Linked by time, from the anchors")
}

func (c *comparison) nextNormalize() {
	all := []compare.Normalize{compare.Raw, compare.Total, compare.Duration, compare.Samples}
	for i, n := range all {
		if n == c.Options.Normalize {
			c.Options.Normalize = all[(i+1)%len(all)]
			return
		}
	}
}

// What commands do to one recording or to two.

func (s *Shell) nextMetric(event bool) {
	switch {
	case s.versus != nil:
		s.versus.nextMetric(s, event)
	case event:
		s.pane.nextEvent()
	default:
		s.pane.nextMetric()
	}
}

func (s *Shell) nextTab() {
	if c := s.versus; c != nil {
		c.Tab = c.deck.Next(c.Tab, &c.Pair)
		return
	}
	s.pane.Tab = s.pane.deck.Next(s.pane.Tab, &s.pane.Side)
}

func (s *Shell) showAbout() {
	if c := s.versus; c != nil {
		c.Tab = pair.About
		return
	}
	s.pane.Tab = panel.About
}

func (s *Shell) fitAll() {
	s.pane.FitAll()
	if c := s.versus; c != nil {
		c.Zoom, c.Down = nil, 0
	}
}

// backPane takes back the nearest thing of what is shown.
func (s *Shell) backPane() {
	c, p := s.versus, s.pane
	switch {
	case c == nil || p.Searching() || p.Find != "":
		p.back()
	case c.Tab == pair.Difference && len(c.Zoom) > 0:
		c.Zoom, c.Down = nil, 0
	case c.Chosen != nil:
		c.Choose(nil, -1)
		c.Node = -1
	case !p.back() && c.of != nil:
		s.endComparison()
	}
}

// metricChoice is what of both is compared; a click lists what both have.
func (c *comparison) metricChoice(s *Shell, u *ui.UI, x, y int) int {
	u.VLine(x, y+u.Px(3), y+u.Px(23), u.Theme.Rule)
	x += u.Px(8)
	at := x
	x += u.Choice(&c.buttons.metric, x, y, c.MetricName(), ui.Medium)
	if c.buttons.metric.Clicked(u.Context) {
		items := c.MetricItems()
		if len(items) == 0 {
			s.Say("The recordings have no metric that measures the same thing")
			return x
		}
		s.Menu = widget.NewMenu(image.Pt(at, y+u.Px(30)), items)
	}
	return x
}

// asCommand is the command line that prints what the tab shows of both.
func (c *comparison) asCommand(s *Shell) (line, rest string) {
	var cs []*command
	for _, p := range c.panes {
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
func (c *comparison) distributionCommand(p *pane, f recording.Function) *command {
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
func (c *comparison) diffCommand() (line, rest string) {
	args := []string{"ashlar", "diff"}
	const theThreads = "the selected threads"
	var rests []string
	a, b := c.panes[0], c.panes[1]
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
	if c.Tab == pair.Difference {
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
	for i, p := range c.panes {
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
	if rules := o.Match.Rules(); rules != "" {
		args = append(args, "--match", rules)
	}
	for _, p := range o.Match.Hand {
		args = append(args, "--pair", p.A+"="+p.B)
	}
	v := view.Stacks{Transforms: c.panes[c.Focus].Transforms}
	args = append(args, v.Args(c.panes[c.Focus].Rec)...)
	if c.table.Filters[difftable.FilterSure] && c.Tab == pair.Table {
		args = append(args, "--min-confidence", "0.95")
	}
	if t := c.table; c.Tab == pair.Table {
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
