package workspace

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"ashlar/app/core/view"
	"ashlar/app/window/panel"
	"ashlar/app/window/panel/calls"
	"ashlar/app/window/panel/functions"
	"ashlar/ingest/input/safetext"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/render/theme"
	"ashlar/render/widget"
)

// Area is a part of the window that corresponds to a command line.
type Area uint8

const (
	OfLower Area = iota // the tab that is shown
	OfTimeline
	OfDetails
	OfFound // the search results
)

// command collects the words of a command line, and the settings that it cannot express.
type command struct {
	words []string
	rest  []string
}

func (c *command) add(words ...string) { c.words = append(c.words, words...) }

func (c *command) String() string {
	return safetext.Command(c.words...)
}

// commandAbout returns the beginning of a command about the pane's recording.
func (p *Pane) commandAbout(name string) *command {
	c := &command{words: []string{"ashlar", name, p.Rec.Source.Path}}
	if p.Demo {
		c.words[2] = "--demo"
	}
	if p.Exe != "" {
		c.add("--exe", p.Exe)
	}
	return c
}

// theThreads names thread selections in messages, since not every command can express
// them.
const theThreads = "selected threads"

// Fields of a State (see [view.Fields]) that become flags of commands.
var (
	placed = []string{"select", "thread"}
	scoped = append(placed, "calls")
	asked  = append([]string{"event", "metric", "async", "idle"}, scoped...)
)

// addFields adds flags for some fields of a State about the pane's recording.
func (c *command) addFields(p *Pane, st *view.State, keys ...string) {
	args, ok := st.Args(p.Rec, keys...)
	if c.add(args...); !ok {
		c.rest = append(c.rest, theThreads)
	}
}

// askingIn returns the beginning of a command about a part of the recording. more names
// other fields of the view to add.
func (p *Pane) askingIn(name string, in recording.Scope, more ...string) *command {
	st := new(view.State)
	p.Unbind(p.Rec, 0, 1, st)
	st.Sides[0] = view.OfScope(p.Rec, in).Sides[0]
	if st.Event = ""; len(p.Rec.Events) > 1 { // without it, commands would use their default event
		st.Event = p.Rec.Events[p.Event].NameOrKind()
	}
	c := p.commandAbout(name)
	c.addFields(p, st, append(more, asked...)...)
	return c
}

// stacks returns the start of a command that sums the stacks of the selection.
func (p *Pane) stacks(more ...string) *command {
	return p.askingIn("top", p.Scope, append(more, "transform")...)
}

// searched returns stacks with the search flag.
func (p *Pane) searched() *command { return p.stacks("find") }

// asCommand returns the command line that prints or draws the content of a panel. rest
// names the settings it cannot express, "" if it expresses all.
func (p *Pane) asCommand(d *Workspace, of Area) (line, rest string) {
	var cs []*command
	switch of {
	case OfTimeline:
		cs = p.drawing(d, Upper)
	case OfDetails:
		cs = p.detailCommands(d)
	case OfFound:
		cs = []*command{p.searched()}
	default:
		cs = p.tabCommands(d)
	}
	return joined(cs)
}

// joined joins commands into one line that runs them one after the other.
func joined(cs []*command) (line, rest string) {
	var lines, rests []string
	for _, c := range cs {
		lines = append(lines, c.String())
		for _, r := range c.rest {
			if !slices.Contains(rests, r) {
				rests = append(rests, r)
			}
		}
	}
	return strings.Join(lines, " && "), strings.Join(rests, ", ")
}

// trendCommand returns the command that prints the trend of the panes' runs.
func trendCommand(event, metric string, panes ...*Pane) *command {
	c := &command{words: []string{"ashlar", "trend"}}
	for _, p := range panes {
		c.add(p.runFiles()...)
	}
	if event != "" {
		c.add("--event", event)
	}
	if metric != "" {
		c.add("--metric", metric)
	}
	return c
}

func (p *Pane) tabCommands(d *Workspace) []*command {
	switch {
	case p.ScopeComparison != nil && p.ScopeComparison.shows(p):
		return p.ScopeComparison.commands([2]*Pane{p, p})
	case p.Tab == panel.Flamegraph:
		return []*command{p.flameCommand()}
	case p.Tab == panel.CallTree:
		c := p.stacks()
		c.add("--tree")
		return []*command{c}
	case p.Tab == panel.Functions:
		return []*command{p.tableCommand()}
	case p.Tab == panel.Callers && p.Around != nil:
		name := analyze.RefTo(p.Middle()).Typed(p.Rec)
		var cs []*command
		a := p.Doc.Answer()
		for i, side := range []string{"--callers-of", "--callees-of"} {
			c := p.stacks()
			if c.add(side, name); !p.Lists {
				c.add("--tree")
				if a != nil && a.Below != nil {
					zoomFlags(c, a.Rec, p.Sides[i])
				}
			}
			cs = append(cs, c)
		}
		return cs
	case p.Tab == panel.Calls:
		return []*command{p.callsCommand()}
	case p.Tab == panel.Path:
		c := p.commandAbout("path")
		c.addFields(p, view.OfScope(p.Rec, p.Scope), scoped...)
		return []*command{c}
	case p.Tab == panel.Blocked:
		c := p.commandAbout("locks")
		c.addFields(p, view.OfScope(p.Rec, p.Scope), append([]string{"idle"}, scoped...)...)
		return []*command{c}
	case p.Tab == panel.Trend:
		st := new(view.State)
		p.Unbind(p.Rec, 0, 1, st)
		return []*command{trendCommand(st.Event, st.Metric, p)}
	case p.Tab == panel.Heatmap:
		return p.drawing(d, Both)
	case p.Tab == panel.Source && p.Assembly:
		if f, ok := p.PickedFunction(); ok {
			c := p.commandAbout("source")
			c.add(f.FuncName().String(), "--asm", "-n", "0")
			if p.Syntax != "" {
				c.add("--syntax", p.Syntax)
			}
			st := new(view.State)
			p.Unbind(p.Rec, 0, 1, st)
			c.addFields(p, st, "event", "metric")
			return []*command{c}
		}
	case p.Tab == panel.Source:
		if file, _ := p.SourceFile(); file != "" {
			c := p.stacks()
			c.add("--by", string(analyze.ByLine), "--search", "file:/^"+regexp.QuoteMeta(file)+"(:|$)/")
			return []*command{c}
		}
	case p.Tab == panel.Query && p.SQL != "":
		c := p.commandAbout("sql")
		c.add(p.SQL)
		return []*command{c}
	case p.Tab == panel.About:
		return []*command{p.commandAbout("info")}
	}
	return []*command{p.stacks()}
}

// flameCommand returns the command that prints the flamegraph as paths.
func (p *Pane) flameCommand() *command {
	c := p.searched()
	c.add("--tree")
	if a := p.Doc.Answer(); a != nil {
		zoomFlags(c, a.Rec, p.Zoom)
	}
	return c
}

func zoomFlags(c *command, rec *recording.Recording, path []recording.FuncName) {
	for _, f := range path {
		c.add("--zoom", analyze.RefTo(recording.Function{Name: f.Name, Module: f.Module}).Typed(rec))
	}
}

// tableCommand returns the command that prints the table in its order.
func (p *Pane) tableCommand() *command {
	c := p.searched()
	t := p.Table
	if t.Group != analyze.ByFunction {
		c.add("--by", string(t.Group))
	}
	a := p.Doc.Answer()
	if a != nil && t.By != functions.ColTotal && t.By != functions.ColTotalShare && !t.By.Applies(a) {
		return c // these rows cannot be sorted
	}
	by := sortNames[t.By]
	if turned := t.Ascending == (functions.ColumnInfos[t.By].Number != nil); turned {
		by = "-" + by
	}
	if by != "self" {
		c.add("--sort", by)
	}
	return c
}

// sortNames holds the command line's names of the columns that a table can be sorted by.
var sortNames = [functions.ColumnCount]string{functions.ColName: "name", functions.ColModule: "module", functions.ColFile: "file", functions.ColSelf: "self", functions.ColSelfShare: "self",
	functions.ColTotal: "total", functions.ColTotalShare: "total", functions.ColCount: "count", functions.ColAverage: "average", functions.ColLeast: "least", functions.ColMost: "most"}

// statsCommand returns the command that prints the durations of a function's calls.
func (p *Pane) statsCommand(f recording.Function, in recording.Scope) *command {
	c := p.askingIn("stats", in)
	c.add("--function", analyze.RefTo(f).Typed(p.Rec))
	if p.Linear {
		c.add("--histogram", "linear")
	}
	return c
}

// callsCommand returns the command that lists the calls of the panel.
func (p *Pane) callsCommand() *command {
	c := p.commandAbout("calls")
	c.add(calls.Listed(&p.Side).String())
	c.addFields(p, view.OfScope(p.Rec, p.Scope), placed...)
	if p.List.By != "" {
		c.add("--sort", p.List.By)
	}
	if p.Linear {
		c.add("--histogram", "linear")
	}
	return c
}

func (p *Pane) detailCommands(d *Workspace) []*command {
	h := &p.Pick.Hit
	switch p.Pick.Kind {
	case panel.PickNone:
		return []*command{p.stacks()}
	case panel.PickFunc:
		f, _ := p.PickedFunction()
		c := p.stacks()
		c.add("--callers-of", analyze.RefTo(f).Typed(p.Rec))
		return []*command{c}
	case panel.PickNode:
		a := p.Doc.Answer()
		if a == nil || p.Pick.Tree != a.Tree {
			break
		}
		c := p.stacks()
		zoomFlags(c, a.Rec, panel.PathOf(a.Rec, a.Tree, int(p.Pick.Node)))
		c.add("-n", "1")
		return []*command{c}
	case panel.PickBar:
		if h.Call == recording.NoCall {
			break
		}
		c := p.commandAbout("stats")
		c.addFields(p, view.OfScope(p.Rec, recording.Between(h.Start, h.End).On([]int{h.Track})), placed...)
		c.add("--function", analyze.RefTo(p.Rec.Functions.At(int(p.Rec.Func(h.Call)))).Typed(p.Rec))
		c.rest = append(c.rest, "arguments and callers")
		return []*command{c}
	case panel.PickWindow:
		c := p.stacks()
		if !p.Scope.Ranged {
			c.addFields(p, view.OfScope(p.Rec, recording.Between(h.Start, h.End)), placed...)
		}
		return []*command{c}
	}
	cs := p.drawing(d, Both)
	cs[0].rest = append(cs[0].rest, "the selection")
	return cs
}

// drawing returns the command that draws some parts of the window.
func (p *Pane) drawing(d *Workspace, parts View) []*command {
	v := d.Address()
	if v.Parts = ""; parts != Both {
		v.Parts = string(parts)
	}
	c := &command{words: []string{"ashlar", "render", v.String(), "-o", "ashlar.png"}}
	c.add("--size", fmt.Sprintf("%dx%d", d.Size.X, d.Size.Y))
	if density := d.Density * d.EffectiveScale(); density != 1 && density > 0 {
		c.add("--scale", strconv.FormatFloat(float64(density), 'g', 4, 32))
	}
	if d.Theme != theme.Dark {
		c.add("--theme", d.Theme.Name)
	}
	if p.Exe != "" {
		c.rest = append(c.rest, "the --exe program")
	}
	if len(p.Folds)+len(p.Closed)+len(p.Groups)+len(p.Hidden)+len(p.Pinned)+len(p.Order) > 0 || p.Filter != "" || p.View.Scroll != 0 {
		c.rest = append(c.rest, "folded, hidden or moved rows")
	}
	return []*command{c}
}

// CopyCommandOf copies the command of a part of the window to the clipboard.
func (d *Workspace) CopyCommandOf(of Area) {
	line, rest := d.CommandOf(of)
	d.CopyLater(line)
	if rest != "" {
		d.Say("Copied a command without: " + rest)
	}
}

// CommandOf returns the command that prints or draws the content of a part of the window.
// rest names the settings it cannot express, "" if it expresses all.
func (d *Workspace) CommandOf(of Area) (line, rest string) {
	switch c := d.Versus; {
	case c == nil, of == OfFound:
		return d.Pane.asCommand(d, of)
	case of == OfTimeline:
		return joined(d.Pane.drawing(d, Both))
	default:
		return joined(c.commands(c.Panes))
	}
}

// commandItem returns the menu item that copies a panel's command.
func (d *Workspace) commandItem(of Area) widget.Item {
	return widget.Item{Title: "Copy as command", Do: func() { d.CopyCommandOf(of) }}
}
