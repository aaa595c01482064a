// Package difference prints the result of "ashlar diff" as text, as JSON, and as an exit
// code when conditions were given.
package difference

import (
	"context"
	"fmt"

	"ashlar/app/core/verdict"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/compare"
)

// Options say what is printed of a comparison.
type Options struct {
	By   compare.By
	All  bool        // equal rows too
	Rows int         // at most; 0 for all
	Sure float64     // the least confidence of a row and of a condition, 0 for any
	If   []Condition // see [Answer.Failed]
	// As typed, for the head: files of each side, what of them is compared, and B's
	// metric where it was chosen apart.
	Files   [2][]string
	Ranges  [2]recording.Range
	Threads [2]string
	MetricB string
}

// Answer has what a comparison found, ready to be printed.
type Answer struct {
	Options
	// Failed are the conditions that hold, each with the numbers.
	Failed []string

	c      *compare.Comparison
	t      *compare.Table
	funcs  *compare.Table // by functions, which the verdict goes by
	rows   []compare.Row  // those to print
	more   int            // rows behind them
	unsure int            // rows that Options.Sure left out
}

// New answers of a comparison what the options ask for. Errors are of conditions that
// make no sense of these recordings ([Misuse]), of names that neither side has, and ctx's.
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
	for _, r := range d.t.Rows {
		if !o.All && r.DeltaSelf() == 0 && r.DeltaTotal() == 0 {
			continue
		}
		if conf := r.Confidence(); o.Sure > 0 && (conf == nil || conf.Level() < o.Sure) {
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

// Nothing says that both sides have nothing in common, so that no condition can be judged;
// "" if they have.
func (d *Answer) Nothing() string { return verdict.Nothing(d.c, d.funcs) }

// Len counts the rows to print.
func (d *Answer) Len() int { return len(d.rows) }

// Unfounded reports whether nothing can be said of how sure any difference is, since the
// numbers of samples behind the weights are not known.
func (d *Answer) Unfounded() bool { return d.c.Method() == compare.NoMethod }

// First is the answer with no more than its first n rows.
func (d *Answer) First(n int) *Answer {
	first := *d
	first.rows, first.more = d.rows[:n], d.more+len(d.rows)-n
	return &first
}

// what names the metric and its event, and B's where that was named too.
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

// metricB names B's metric where it was chosen apart, "" else.
func (d *Answer) metricB() string {
	if d.MetricB == "" {
		return ""
	}
	i := d.c.Sides
	return d.c.Runs[i].Rec.Events[d.c.Metric.Event[i]].Metrics[d.c.Metric.Metric[i]].Name
}
