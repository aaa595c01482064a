package difference

import (
	"encoding/json"
	"math"

	"ashlar/app/core/exactnum"
	"ashlar/app/core/verdict"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/compare"
	"ashlar/ingest/query/compare/causes"
)

// JSON is the output of "ashlar diff --json". Values are exact decimals in Unit. a_self,
// b_self and so on are normalised; the sum of delta_self over all rows by function,
// module, file, thread or stack is b.left-a.left, which is b.total-a.total unless flags
// change stacks.
type JSON struct {
	// Verdict sums the comparison up in a sentence or two.
	Verdict   string `json:"verdict"`
	Metric    string `json:"metric"`
	MetricB   string `json:"metric_b,omitempty"` // B's metric, if named separately
	Event     string `json:"event"`
	Unit      string `json:"unit"`
	Normalize string `json:"normalize"`
	By        string `json:"by"`
	// Address shows the comparison. It is absent unless each side is one recording.
	Address string      `json:"address,omitempty"`
	A       Side        `json:"a"`
	B       Side        `json:"b"`
	Ratio   json.Number `json:"ratio"` // B's raw total divided by A's; null if A's is zero
	// MetricMatch is the rule that matched the metrics: event and metric, metric, unit,
	// or name. Matched counts the rows by matching rule.
	MetricMatch string `json:"metric_match"`
	// Renamed lists functions of A with other names in B. Causes lists the parts of the
	// change, each with the functions that belong together, the largest first, at most
	// 20.
	Renamed []Renamed `json:"renamed"`
	Causes  []Cause   `json:"causes"`
	// Callers lists the functions that the verdict names because their totals changed beyond
	// what the causes explain.
	Callers []Caller  `json:"callers"`
	Matched []Matched `json:"matched"`
	// Method is the basis of the confidences (runs, counts or durations), empty without
	// one. Whole is the confidence of the change in the total, null if unknown.
	Method string      `json:"method"`
	Whole  *Confidence `json:"whole"`
	Rows   []Row       `json:"rows"`
	More   int         `json:"more"`   // rows not listed
	Unsure int         `json:"unsure"` // rows hidden by --min-confidence
	Failed []string    `json:"failed"` // conditions of --fail-if that hold
}

// Renamed is a function that was matched by its behaviour, under another name.
type Renamed struct {
	A        string      `json:"a"`
	B        string      `json:"b"`
	Likeness json.Number `json:"likeness"` // in callers, callees, cost and name, from 0 to 1
}

// Cause is a function whose cost changed, or several between which cost moved.
type Cause struct {
	// Kind is split, inlined, replaced, added, removed, callees (a function and those that
	// only it calls) or inner (functions only in B that replaced parts of others, for
	// example parts that were inlined in A); empty for one function.
	Kind      string      `json:"kind"`
	Functions []string    `json:"functions"`  // the first one names the cause
	Delta     json.Number `json:"delta_self"` // sum over the functions
	Sure      *Confidence `json:"confidence"` // null if unknown
}

// Caller is a function whose total changed, often spread thinly over what it calls.
type Caller struct {
	Function string      `json:"function"`
	Module   string      `json:"module"`
	Delta    json.Number `json:"delta_total"`
	Sure     *Confidence `json:"confidence"`
	Calls    []Callee    `json:"calls"` // the functions whose change below it is largest, at most 20
}

// Callee is a function that a caller calls directly.
type Callee struct {
	Function string      `json:"function"` // empty for the caller's own code
	Status   string      `json:"status"`   // new, gone or changed: whether the caller calls it on both sides
	Delta    json.Number `json:"delta"`    // change of the time below the caller
}

type Side struct {
	File  string   `json:"file"`
	Files []string `json:"files"`
	// Totals are the raw totals of the files, in the same order, if there are several.
	Totals []json.Number `json:"totals,omitempty"`
	// Outliers are the files whose totals are far from those of the others (modified
	// z-score above 3.5).
	Outliers []string     `json:"outliers,omitempty"`
	Total    json.Number  `json:"total"` // as normalised
	RawTotal json.Number  `json:"raw_total"`
	Left     json.Number  `json:"left"`               // total after flags that change stacks; rows add up to it
	Negative json.Number  `json:"negative,omitempty"` // sum of the stacks with negative values in left
	Samples  int64        `json:"samples"`
	Duration *json.Number `json:"duration_ns"` // null if unknown
	// Records that are not counted, as in top.
	AsyncSpans  int64       `json:"async_spans_left_out,omitempty"`
	WithoutCPU  int64       `json:"untold_spans,omitempty"`
	AsyncTime   json.Number `json:"async_ns_left_out,omitempty"`
	IdleRecords int64       `json:"idle_records_left_out,omitempty"`
}

type Matched struct {
	Rule  string      `json:"rule"`  // hand, module, name, similar, order, or empty
	State string      `json:"state"` // both, gone or new
	Count int         `json:"count"`
	A     json.Number `json:"a_self"`
	B     json.Number `json:"b_self"`
}

type Row struct {
	Name       string      `json:"name"`
	Module     string      `json:"module"`
	NameB      string      `json:"name_b,omitempty"` // if different in B
	ModuleB    string      `json:"module_b,omitempty"`
	Match      string      `json:"match"` // the rule, empty for new and gone rows
	ASelf      json.Number `json:"a_self"`
	BSelf      json.Number `json:"b_self"`
	DeltaSelf  json.Number `json:"delta_self"`
	ATotal     json.Number `json:"a_total"`
	BTotal     json.Number `json:"b_total"`
	DeltaTotal json.Number `json:"delta_total"`
	// Share is delta_self as a part of the change of the total, as in the verdict. If the
	// changes of rows cancel each other, so that a row is more than four times that, it is
	// a part of the sum of all rows' absolute changes.
	Share  json.Number `json:"share"`
	Status string      `json:"status"`
	// ARuns and BRuns are the costs in each recording of a side, in the order of files, with
	// --per-run.
	ARuns []RunValue `json:"a_runs,omitempty"`
	BRuns []RunValue `json:"b_runs,omitempty"`
	// Confidence is 1-q of the difference in self, or in total if self is the same or with
	// --sort total; null if unknown. self_confidence and total_confidence have the details.
	Confidence *json.Number `json:"confidence"`
	Self       *Confidence  `json:"self_confidence"`
	Total      *Confidence  `json:"total_confidence"`
}

// Confidence is the confidence of a difference.
// RunValue is the cost of a row in one recording, normalised.
type RunValue struct {
	Self  json.Number `json:"self"`
	Total json.Number `json:"total"`
}

type Confidence struct {
	Confidence json.Number     `json:"confidence"`
	P          json.Number     `json:"p"`
	Interval   *[2]json.Number `json:"interval"`   // 95 % confidence interval of the difference
	Detectable *json.Number    `json:"detectable"` // smallest detectable difference
	A          int64           `json:"a_count"`    // samples, spans or recordings
	B          int64           `json:"b_count"`
	Spans      *Shift          `json:"spans,omitempty"`
	// SpreadA and SpreadB are the standard deviations between the recordings of a side, if each
	// side has several. MoreRuns is the number of additional recordings per side that would
	// settle the difference: 0 if it is settled, absent if no reasonable number would do.
	SpreadA  *json.Number `json:"a_spread,omitempty"`
	SpreadB  *json.Number `json:"b_spread,omitempty"`
	MoreRuns *int         `json:"more_runs,omitempty"`
}

// Shift compares the durations of single spans, in nanoseconds.
type Shift struct {
	MedianA  json.Number     `json:"a_median_ns"`
	MedianB  json.Number     `json:"b_median_ns"`
	Shift    json.Number     `json:"shift_ns"`
	Interval *[2]json.Number `json:"shift_interval_ns"`
}

// mostCauses is the maximum number of causes in JSON, and of functions per cause.
const mostCauses = 20

// JSON returns the answer for --json.
func (d *Answer) JSON() *JSON {
	m := &d.c.Metric.Common
	e := &d.c.Runs[0].Rec.Events[d.c.Metric.Event[0]]
	out := &JSON{
		Verdict: verdict.Of(d.c, d.funcs), Metric: m.Name, MetricB: d.metricB(), Event: e.Name, Unit: m.Unit, Normalize: string(d.c.Normalize), By: string(d.By),
		A: d.side(d.c.A(), 0, d.c.Sides), B: d.side(d.c.B(), d.c.Sides, len(d.c.Runs)), Ratio: "null",
		MetricMatch: d.c.Metric.Rule, Matched: []Matched{}, Method: string(d.c.Method()), Whole: newConfidence(d.t.Whole, m),
		Rows: []Row{}, More: d.more, Unsure: d.unsure, Failed: append([]string{}, d.Failed...),
	}
	if a := d.c.A().RawTotal; a != 0 {
		out.Ratio = exactnum.Measured(float64(d.c.B().RawTotal)/float64(a), 6)
	}
	for _, x := range d.t.Matched() {
		state := "both"
		if x.Status != compare.Changed {
			state = string(x.Status)
		}
		out.Matched = append(out.Matched, Matched{string(x.Rule), state, x.Count, exactnum.Value(x.A, m), exactnum.Value(x.B, m)})
	}
	out.Renamed, out.Causes = []Renamed{}, []Cause{}
	for _, r := range d.c.Renames {
		out.Renamed = append(out.Renamed, Renamed{r.A.String(), r.B.String(), exactnum.Measured(r.Likeness, 3)})
	}
	for i, x := range causes.Of(d.c, d.funcs) {
		if i == mostCauses {
			break
		}
		cause := Cause{Kind: string(x.Kind), Delta: exactnum.Value(x.Delta, m), Sure: newConfidence(x.Sure, m)}
		for _, r := range x.Rows[:min(len(x.Rows), mostCauses)] {
			cause.Functions = append(cause.Functions, r.Name)
		}
		out.Causes = append(out.Causes, cause)
	}
	out.Callers = d.callers()
	for i := range d.rows {
		out.Rows = append(out.Rows, d.row(&d.rows[i], m))
	}
	return out
}

// callers returns the functions that the verdict names for their totals.
func (d *Answer) callers() []Caller {
	m, all := &d.c.Metric.Common, []Caller{}
	for _, x := range verdict.Callers(d.c, d.funcs) {
		caller := Caller{Function: x.Row.Name, Module: x.Row.Module, Delta: exactnum.Value(x.Delta, m), Sure: newConfidence(x.Row.Total, m), Calls: []Callee{}}
		for _, k := range x.Calls[:min(len(x.Calls), mostCauses)] {
			callee := Callee{Status: string(k.Status), Delta: exactnum.Value(k.Delta, m)}
			if k.Func >= 0 {
				callee.Function = d.c.Tree.Name(k.Node)
			}
			caller.Calls = append(caller.Calls, callee)
		}
		all = append(all, caller)
	}
	return all
}

func (d *Answer) side(s compare.Side, from, to int) Side {
	m := &d.c.Metric.Common
	out := Side{Total: exactnum.Value(s.Total, m), RawTotal: exactnum.Value(s.RawTotal, m), Samples: s.Samples}
	outliers := d.c.Outliers()
	for i, r := range d.c.Runs[from:to] {
		if outliers[from+i] {
			out.Outliers = append(out.Outliers, r.Rec.Source.Path)
		}
		out.Files = append(out.Files, r.Rec.Source.Path)
		if to-from > 1 {
			out.Totals = append(out.Totals, exactnum.Value(r.Sum, m))
		}
	}
	out.File = out.Files[0]
	out.WithoutCPU = s.WithoutCPU
	out.AsyncSpans, out.IdleRecords = s.LeftOut.AsyncSpans, s.LeftOut.IdleRecords
	if out.AsyncSpans > 0 {
		out.AsyncTime = exactnum.Nanoseconds(s.LeftOut.AsyncTime)
	}
	left, right := d.left()
	if out.Left = exactnum.Value(left, m); from > 0 {
		out.Left = exactnum.Value(right, m)
	}
	if v := d.negative()[min(from, 1)]; v != 0 {
		out.Negative = exactnum.Value(v, m)
	}
	if s.Length > 0 {
		n := exactnum.Nanoseconds(s.Length)
		out.Duration = &n
	}
	return out
}

func (d *Answer) row(r *compare.Row, m *recording.Metric) Row {
	out := Row{
		Name: r.Name, Module: r.Module, NameB: r.NameB, ModuleB: r.ModuleB, Match: string(r.Rule),
		ASelf: exactnum.Value(r.ASelf, m), BSelf: exactnum.Value(r.BSelf, m), DeltaSelf: exactnum.Value(r.DeltaSelf(), m),
		ATotal: exactnum.Value(r.ATotal, m), BTotal: exactnum.Value(r.BTotal, m), DeltaTotal: exactnum.Value(r.DeltaTotal(), m),
		Share: "0", Status: string(r.Status), Self: newConfidence(r.Self, m), Total: newConfidence(r.Total, m),
	}
	if r.OneSided() {
		out.Match = ""
	}
	if d.PerRun {
		for side, list := range d.c.RunsOf(d.t, r) {
			for _, v := range list {
				of := []*[]RunValue{&out.ARuns, &out.BRuns}[side]
				*of = append(*of, RunValue{exactnum.Value(v.Self, m), exactnum.Value(v.Total, m)})
			}
		}
	}
	if d.t.Change != 0 {
		out.Share = exactnum.Measured(float64(r.DeltaSelf())/float64(d.t.Change), 6)
	}
	if c := d.confidence(r); c != nil {
		l := exactnum.Measured(c.Level(), 6)
		out.Confidence = &l
	}
	return out
}

func newConfidence(c *compare.Confidence, m *recording.Metric) *Confidence {
	if c == nil {
		return nil
	}
	out := &Confidence{Confidence: exactnum.Measured(c.Level(), 6), P: exactnum.Estimate(c.P), A: c.A, B: c.B}
	unit := math.Pow10(m.Decimals)
	out.Interval = exactnum.Interval(c.Low, c.High, unit)
	if exactnum.Finite(c.Detectable) {
		n := exactnum.Estimate(c.Detectable / unit)
		out.Detectable = &n
	}
	if c.Method == compare.FromRuns {
		a, b := exactnum.Estimate(c.Spread[0]/unit), exactnum.Estimate(c.Spread[1]/unit)
		if out.SpreadA, out.SpreadB = &a, &b; c.MoreRuns() >= 0 {
			out.MoreRuns = new(c.MoreRuns())
		}
	}
	if s := c.Shift(); s != nil {
		out.Spans = &Shift{MedianA: exactnum.Estimate(s.MedianA / 1e3), MedianB: exactnum.Estimate(s.MedianB / 1e3), Shift: exactnum.Estimate(s.By / 1e3),
			Interval: exactnum.Interval(s.Low, s.High, 1e3)}
	}
	return out
}
