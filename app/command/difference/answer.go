// Package difference prints the result of "ashlar diff" as text, as JSON, and as an exit
// code when conditions were given.
package difference

import (
	"context"
	"fmt"
	"slices"

	"ashlar/app/core/verdict"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/compare"
)

// Options configure the output of a comparison.
type Options struct {
	By     compare.By
	Sort   string      // SortTotal to sort by the difference in total instead of self
	All    bool        // include equal rows
	Rows   int         // maximum number; 0 for all
	Sure   float64     // minimum confidence of rows and conditions, 0 for any
	If     []Condition // see [Answer.Failed]
	PerRun bool        // include the costs in each recording
	// For the heading, as typed: the files of each side, their ranges and threads, and B's metric
	// if it was chosen separately.
	Files   [2][]string
	Ranges  [2]recording.Range
	Threads [2]string
	MetricB string
}

// Orders of rows, for Options.Sort.
const (
	SortSelf  = "self"
	SortTotal = "total"
)

// Answer is the result of a comparison, ready to print.
type Answer struct {
	Options
	// Failed lists the conditions that hold, with their numbers.
	Failed []string

	c      *compare.Comparison
	t      *compare.Table
	funcs  *compare.Table // the table by functions, for the verdict
	rows   []compare.Row  // rows to print
	more   int            // rows not printed
	unsure int            // rows that Options.Sure left out
}

// New prepares the output of a comparison. It fails if a condition does not fit these
// recordings ([Misuse]), if neither side has a name in a condition, or if ctx ends.
func New(ctx context.Context, c *compare.Comparison, o Options) (d *Answer, err error) {
	d = &Answer{Options: o, c: c}
	if d.t, err = c.Table(ctx, o.By, true); err != nil {
		return nil, err
	}
	if d.funcs = d.t; o.By != compare.ByFunction {
		if d.funcs, err = c.Table(ctx, compare.ByFunction, true); err != nil {
			return nil, err
		}
	}
	listed := d.t.Rows
	if o.Sort == SortTotal {
		listed = slices.Clone(listed)
		compare.SortRowsByTotal(listed)
	}
	for _, r := range listed {
		if !o.All && r.DeltaSelf() == 0 && r.DeltaTotal() == 0 {
			continue
		}
		if conf := d.confidence(&r); o.Sure > 0 && (conf == nil || conf.Level() < o.Sure) {
			d.unsure++
			continue
		}
		d.rows = append(d.rows, r)
	}
	if n := len(d.rows); o.Rows > 0 {
		*d = *d.First(min(n, o.Rows))
	}
	if d.Nothing() == "" {
		d.Failed, err = d.conditions(ctx)
	}
	return d, err
}

// confidence returns the confidence of the difference by which rows are sorted.
func (d *Answer) confidence(r *compare.Row) *compare.Confidence {
	if d.Sort == SortTotal {
		return r.Total
	}
	return r.Confidence()
}

// Nothing returns a message if the two sides have nothing in common, so that no condition
// can be judged; otherwise it returns "".
func (d *Answer) Nothing() string { return verdict.Nothing(d.c, d.funcs) }

// Len counts the rows to print.
func (d *Answer) Len() int { return len(d.rows) }

// Unfounded reports whether no difference has a confidence, because the numbers of
// samples are unknown.
func (d *Answer) Unfounded() bool { return d.c.Method() == compare.NoMethod }

// First returns the answer with only its first n rows.
func (d *Answer) First(n int) *Answer {
	first := *d
	first.rows, first.more = d.rows[:n], d.more+len(d.rows)-n
	return &first
}

// what returns the name of the metric and its event, with B's metric if it was chosen
// separately.
func (d *Answer) what() string {
	e, name := &d.c.Runs[0].Rec.Events[d.c.Metric.Event[0]], d.c.Metric.Common.Name
	if b := d.metricB(); b != "" {
		name += " → " + b
	}
	if e.Name == "" {
		return name
	}
	return fmt.Sprintf("%s of %s", name, e.Name)
}

// metricB returns the name of B's metric if it was chosen separately, otherwise "".
func (d *Answer) metricB() string {
	if d.MetricB == "" {
		return ""
	}
	i := d.c.Sides
	return d.c.Runs[i].Rec.Events[d.c.Metric.Event[i]].Metrics[d.c.Metric.Metric[i]].Name
}
