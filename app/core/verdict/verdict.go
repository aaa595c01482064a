// Package verdict summarises a comparison in one or two sentences. Every view of a
// comparison shows the same summary.
package verdict

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"

	"ashlar/ingest/input/safetext"
	"ashlar/ingest/model/funcname"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/compare"
	"ashlar/ingest/query/compare/causes"
	"ashlar/render/units"
)

// A Part is a piece of the verdict's text. To is the place in the window that shows its
// number.
type Part struct {
	Text string
	Name bool // Text is the name of a function
	To   To
	Row  *compare.Row // row of the table, for Function and Total
	Node int          // node of the tree, for Branch
}

// To is a place that shows a number of the verdict.
type To int

// Places that show the verdict's numbers. Nowhere is for text that does not refer to a
// place.
const (
	Nowhere   To = iota
	Totals       // the totals of both sides
	PerSecond    // comparison normalised by duration
	CPU          // the metric cpu
	Waiting      // the metric waiting
	Function     // a row of the table
	Total        // the total of a row of the table
	Branch       // a node of the tree of stacks
)

type verdict struct {
	c     *compare.Comparison
	t     *compare.Table
	parts []Part

	causes   []causes.Cause
	reported []*causes.Cause // causes named so far
	// callers are named because their totals changed beyond what reported explains.
	callers []causes.Caller
	common  bool // the text says that all functions changed alike
}

// Signed formats a difference in a comparison's metric with its sign: +1.200 ms. A
// difference of nothing, or of less than can be written, has no sign.
func Signed(m *compare.Metric, v int64) string {
	text := units.Value(m.Readable(size(v)))
	switch {
	case v == 0 || !strings.ContainsAny(text, "123456789"):
		return "0"
	case v < 0:
		return "−" + text
	}
	return "+" + text
}

// Spread formats the standard deviation between a side's runs (" ±1.2 ms"), "" if it is
// unknown.
func Spread(m *compare.Metric, c *compare.Confidence, side int) string {
	if c == nil || c.Method != compare.FromRuns {
		return ""
	}
	return " ±" + units.Value(m.Readable(int64(math.Round(c.Spread[side]))))
}

// Of summarizes a comparison in one or two sentences. The numbers come from the table t;
// a table of [compare.ByFunction] reads best.
func Of(c *compare.Comparison, t *compare.Table) string {
	var s strings.Builder
	for _, p := range Parts(c, t) {
		s.WriteString(p.Text)
	}
	return s.String()
}

// Parts returns the sentences of Of in parts, each with the place that shows its number.
// The causes of the change come first, then the totals, the functions taken for renamed,
// and the certainty.
func Parts(c *compare.Comparison, t *compare.Table) []Part {
	d := &verdict{c: c, t: t, causes: causes.Of(c, t)}
	a, b := c.A(), c.B()
	o := t.Overlap()
	if o.Nothing() {
		d.say("%s", Nothing(c, t))
		return d.parts
	}
	if o.Little() && a.Total != 0 && b.Total != 0 {
		d.say("Little in common: only %s of A and %s of B is in shared functions. ", units.Percent(int64(o.A*1e6), 1e6), units.Percent(int64(o.B*1e6), 1e6))
	}
	chance := d.chance()
	d.work()
	open := false // functions differ, but not for certain
	named := d.named(b.Total-a.Total, chance)
	if c.Normalize == compare.Calls && !c.PerCall() {
		d.ofCalls(a, b)
	} else {
		d.ofRuns(a, b)
	}
	if c.PerCall() {
		d.scaled(a, b)
	}
	switch {
	case chance:
		d.say(", within noise")
	case !named && t.Judged && a.Total != b.Total:
		open = d.open(a.Total, b.Total)
	}
	d.say(".")
	d.paired()
	if !d.common && (!open || !d.likely()) && len(d.callers) == 0 {
		d.branch(b.Total-a.Total, chance)
	}
	d.sure(chance && !named)
	return d.parts
}

// Callers returns the functions that the first sentence names for their totals.
func Callers(c *compare.Comparison, t *compare.Table) []causes.Caller {
	d := &verdict{c: c, t: t, causes: causes.Of(c, t)}
	if t.Overlap().Nothing() {
		return nil
	}
	d.choose(d.chance())
	return d.callers
}

// chance reports whether the change of the total may be chance.
func (d *verdict) chance() bool {
	a, b, w := d.c.A(), d.c.B(), d.t.Whole
	return w != nil && w.Level() < certain && a.Total != b.Total && (a.Samples > 1 || b.Samples > 1) && (a.Calls != 1 || b.Calls != 1)
}

// Nothing returns a sentence if the two sides have nothing in common, otherwise "".
func Nothing(c *compare.Comparison, t *compare.Table) string {
	o := t.Overlap()
	if !o.Nothing() {
		return ""
	}
	event := func(r int) string {
		e := &c.Runs[r].Rec.Events[c.Metric.Event[r]]
		title, metric := e.Title(), e.Metrics[c.Metric.Metric[r]].Name
		if title == metric {
			return safetext.Short(title)
		}
		return safetext.Short(title + " " + metric)
	}
	of := fmt.Sprintf("A measures %s, B %s.", event(0), event(c.Sides))
	if event(0) == event(c.Sides) {
		of = fmt.Sprintf("Both measure %s.", event(0))
	}
	a, b := units.Count(int64(o.OfA)), units.Count(int64(o.OfB))
	if o.Functions == 0 {
		return fmt.Sprintf("A and B have nothing in common: no function is in both (A has %s, B has %s). %s", a, b, of)
	}
	return fmt.Sprintf("A and B have almost nothing in common: A has %s, B has %s, and %s match. %s", units.Plural(int64(o.OfA), "function"), b, units.Count(int64(o.Functions)), of)
}

func (d *verdict) say(format string, args ...any) { d.link(Nowhere, format, args...) }

func (d *verdict) link(to To, format string, args ...any) *Part {
	d.parts = append(d.parts, Part{Text: fmt.Sprintf(format, args...), To: to})
	return &d.parts[len(d.parts)-1]
}

// name adds the name of a function. A sentence has no room for template arguments: the table
// shows them.
func (d *verdict) name(to To, name string) *Part {
	p := d.link(to, "%s", safetext.Short(funcname.Brief(name, funcname.InSentence)))
	p.Name = true
	return p
}

func (d *verdict) value(v int64) string { return units.Value(d.c.Metric.Readable(v)) }

// certain is the confidence from which a difference counts as certain.
const certain = .95

// despite is the confidence from which a function is named even though the total is
// within noise.
const despite = .99

// ofCalls compares the cost of one call in each set.
func (d *verdict) ofCalls(a, b compare.Side) {
	d.say("Per call: %s ", safetext.Short(d.c.Metric.Common.Name))
	d.link(Totals, "%s", Signed(d.c.Metric, b.Total-a.Total))
	d.say(" (")
	d.link(Totals, "A %s, B %s", d.value(a.Total), d.value(b.Total))
	d.say("; %s in A, %s in B)", units.Plural(a.Calls, "call"), units.Count(b.Calls))
	if a.OnCPU == nil || b.OnCPU == nil {
		return
	}
	each := func(of, than *big.Rat) string {
		v, _ := new(big.Rat).Sub(of, than).Float64()
		return signedTime(int64(math.Round(v)))
	}
	d.say(": on CPU ")
	d.link(CPU, "%s", each(b.OnCPU, a.OnCPU))
	d.say(", off CPU ")
	d.link(Waiting, "%s", each(b.Waiting, a.Waiting))
}

// signedTime formats a difference in picoseconds with its sign.
func signedTime(ps int64) string {
	switch {
	case ps > 0:
		return "+" + units.Duration(ps)
	case ps < 0:
		return "−" + units.Duration(-ps)
	}
	return "0"
}

// ofRuns compares the durations and totals of two recordings or of parts of them; if the
// durations differ, also the cost per second.
func (d *verdict) ofRuns(a, b compare.Side) {
	name := safetext.Short(d.c.Metric.Common.Name)
	long := d.c.LengthsDiffer() && d.c.Metric.Common.Kind == recording.Sum
	if long {
		d.say("B is %s (A %s, B %s). ", longer(a.Length, b.Length), units.Duration(a.Length), units.Duration(b.Length))
	}
	switch {
	case a.RawTotal == b.RawTotal:
		d.say("Total %s unchanged (", name)
		d.link(Totals, "%s", d.value(a.RawTotal))
		d.say(")")
	case a.RawTotal == 0: // no percentage of zero
		d.say("Total %s ", name)
		d.link(Totals, "%s", d.value(b.RawTotal))
		d.say(" in B, 0 in A")
	default:
		d.say("Total %s ", name)
		d.link(Totals, "%s", units.Change(a.RawTotal, b.RawTotal))
		d.say(" (A %s, B %s)", d.value(a.RawTotal), d.value(b.RawTotal))
	}
	if !long {
		return
	}
	x, y, _, err := d.c.Totals(compare.Duration)
	if err != nil || x <= 0 || y <= 0 {
		return
	}
	d.say(", ")
	d.link(PerSecond, "per second %s", units.Change(x, y))
}

func size(v int64) int64 { return max(v, -v) }

// longer describes the change from length a to b: "12.7 % longer", "32.0 times as long".
func longer(a, b int64) string {
	c := units.Change(a, b)
	switch {
	case strings.Contains(c, "×"):
		return strings.Replace(c, "×", "", 1) + " times as long"
	case b < a:
		return strings.TrimLeft(c, "−") + " shorter"
	}
	return strings.TrimLeft(c, "+") + " longer"
}

// branch names the narrowest branch of the call tree that has at least half of the total's
// change: a slowdown often has no single slow function, but for example a new call that
// allocates. Of nested new calls it names the outermost, because the others only implement it.
// If the total's change may be chance, it names only a branch whose own change is certain.
func (d *verdict) branch(whole int64, chance bool) {
	tree := d.c.Tree
	if whole == 0 || tree.Inverted {
		return
	}
	changed := func(node int) int64 { return recording.Saturated(tree.Nodes[node].B.Total, -tree.Nodes[node].A.Total) }
	at := 0
	for next := 0; next >= 0; {
		at, next = next, -1
		for _, k := range tree.Children(at) {
			v := changed(int(k))
			if (v < 0) == (whole < 0) && size(v) >= size(whole)-size(v) && (next < 0 || size(v) > size(changed(next))) {
				next = int(k)
			}
		}
	}
	status := tree.Nodes[at].Status()
	for p := int(tree.Nodes[at].Parent); p != 0 && status != compare.Changed && tree.Nodes[p].Status() == status; p = int(tree.Nodes[at].Parent) {
		at = p
	}
	n := &tree.Nodes[at]
	if d.tells(n.Func) || float64(size(changed(at))) > mostShare*float64(size(whole)) {
		return
	}
	if n.Parent == 0 { // the whole tree, or a thread's outermost function
		return
	}
	conf := d.ofFunction(n.Func)
	if chance && (conf == nil || conf.Level() < despite) {
		return
	}
	v := changed(at)
	var of []string
	if size(v) <= size(whole) {
		of = append(of, units.Percent(v, whole)+" of the change")
	}
	if conf != nil {
		of = append(of, certainty(conf))
	}
	d.say(" ")
	d.name(Branch, tree.Name(at)).Node = at
	d.say(" called by ")
	d.name(Branch, tree.Name(int(n.Parent))).Node = int(n.Parent)
	d.say(": ")
	d.link(Branch, "%s", Signed(d.c.Metric, v)).Node = at
	d.say("%s", d.per())
	if len(of) > 0 {
		d.say(" (%s)", strings.Join(of, ", "))
	}
	d.say(".")
}

// ofFunction returns the confidence of the difference in a function's total, nil if
// unknown.
func (d *verdict) ofFunction(f int32) *compare.Confidence {
	if d.t.By != compare.ByFunction {
		return nil
	}
	i := slices.IndexFunc(d.t.Rows, func(r compare.Row) bool { return r.Key == f })
	if i < 0 {
		return nil
	}
	return d.t.Rows[i].Total
}

func certainty(c *compare.Confidence) string {
	if c.Level() >= certain {
		return units.Level(c.Level()) + " sure"
	}
	return "not certain"
}

// per returns " per call" if amounts are per call because sets of calls are compared.
func (d *verdict) per() string {
	if d.c.Normalize == compare.Calls && !d.c.PerCall() {
		return " per call"
	}
	return ""
}
