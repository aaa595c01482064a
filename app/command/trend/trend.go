// Package trend implements "ashlar trend": costs over a series of runs, and the runs at
// which they changed.
package trend

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"ashlar/app/core/exactnum"
	"ashlar/app/core/locate"
	"ashlar/app/core/series"
	"ashlar/app/core/subcommand"
	"ashlar/ingest/input/safetext"
	"ashlar/ingest/query/trend"
	"ashlar/render/units"
)

// Command is the trend command.
var Command = subcommand.Command{
	Name: "trend", Args: "FOLDER|FILES… [flags]", Line: "show costs over a series of runs, and their changes",
	Text: `
The runs are recordings of the same program in order: all recordings in a
FOLDER, or FILES and quoted patterns. They are ordered by name, with numbers by
value, or with --order time by the time of their files.

The total and the self cost of each function are one series each. A change is a
run from which on a cost is higher or lower. Changes are found with
E-divisive (Matteson and James, 2014) and a permutation test, with a false alarm
in at most 1 % of the series without a change. Of the functions listed with
changes, at most one in twenty is expected to be a false alarm (Benjamini and
Hochberg). A regression that was repaired again is two changes. Changes are at
least three runs apart; with fewer than ten runs, hardly any can be found. Each
change comes with the command that compares the runs before and after it.

A function that a run lacks counts as 0 if the run is complete: a trace without
damage. In a sampled run its cost is unknown, because a function without a
sample may have run; such runs are left out for this function.`,
	Examples: [][2]string{
		{"ashlar trend nightly/", "all recordings in a folder, by name"},
		{"ashlar trend 'nightly/*.pb.gz' --order time --metric alloc_space", "by the time of the files"},
		{"ashlar trend nightly/ --json", "all values, for a chart"},
	},
	Answer: Trend{},
	Setup:  setup,
}

// Trend is the JSON output of trend. Values are exact decimals in Unit, one for each of
// Runs; null where a run that is not complete lacks the function.
type Trend struct {
	Event  string   `json:"event"`
	Metric string   `json:"metric"`
	Unit   string   `json:"unit"`
	Of     string   `json:"of"` // self or total: the cost of the functions
	Runs   []string `json:"runs"`
	Total  Series   `json:"total"`
	// Functions are those with the largest mean costs; those that changed come first, by
	// the size of their largest change.
	Functions []Series `json:"functions"`
	More      int      `json:"more"`    // functions left out
	Skipped   []string `json:"skipped"` // files in folders that are not recordings
	// Level is the probability that a series without a change gets one.
	Level json.Number `json:"level"`

	runs *trend.Runs
	all  []trend.Series
}

// Series is a cost by run.
type Series struct {
	Name    string         `json:"name"` // empty for the total
	Module  string         `json:"module"`
	Mean    json.Number    `json:"mean"`
	Values  []*json.Number `json:"values"`
	Changes []Change       `json:"changes"`
	// From and To are the first run with the function and the first without it again, as
	// indices in runs, if it is new or removed; absent otherwise.
	From *int `json:"from,omitempty"`
	To   *int `json:"to,omitempty"`
}

// Change is a run from which on a cost is higher or lower.
type Change struct {
	Run    string      `json:"run"`    // the first run after the change
	At     int         `json:"at"`     // its index in runs
	Before json.Number `json:"before"` // mean of the runs since the previous change
	After  json.Number `json:"after"`  // mean of the runs up to the next change
	P      json.Number `json:"p"`
	// Command compares the runs before and after the change.
	Command string `json:"command"`
}

type options struct {
	event, metric, order string
	total, json          bool
	rows                 int
}

func setup(fs *pflag.FlagSet) func(*subcommand.Program, []string) error {
	var o options
	fs.StringVar(&o.event, "event", "", "the `EVENT` to use (default: the first)")
	fs.StringVar(&o.metric, "metric", "", "the `METRIC` to use (default: the event's primary one)")
	fs.StringVar(&o.order, "order", "name", "order runs by `WHAT`: name or time (of the files)")
	fs.BoolVar(&o.total, "total", false, "show the total costs of functions, not their self costs")
	fs.IntVarP(&o.rows, "rows", "n", series.MostFunctions, "show the `N` functions with the largest mean costs, 0 for all")
	subcommand.AnswerFlags(fs, &o.json)
	return func(p *subcommand.Program, args []string) error {
		switch {
		case len(args) == 0:
			return subcommand.Misuse("name a folder or the recordings of several runs, in quotes if they are a pattern")
		case o.rows < 0:
			return subcommand.Misuse("-n %d is negative; 0 shows all functions", o.rows)
		case o.order != "name" && o.order != "time":
			return subcommand.Misuse("cannot order by %q; use name or time", o.order)
		}
		a, err := o.read(p, args)
		if err != nil {
			return err
		}
		return p.Answer(o.json, a, "functions", len(a.Functions), a.text)
	}
}

// read adds up the runs and finds their changes.
func (o *options) read(p *subcommand.Program, args []string) (*Trend, error) {
	files, skipped, err := locate.Runs(args)
	if err != nil {
		return nil, &subcommand.Usage{Err: err, Complete: true}
	}
	if o.order == "time" {
		if err := series.ByTime(files); err != nil {
			return nil, err
		}
	}
	if len(files) < 2 {
		return nil, subcommand.Misuse("%s is a single run; a trend needs several", files[0])
	}
	runs := new(trend.Runs)
	sums, err := o.sums(p, files)
	if err != nil {
		return nil, err
	}
	for i, f := range files {
		if err := runs.Add(sums[i]); err != nil {
			return nil, subcommand.Misuse("%s: %w", f, err)
		}
	}
	for _, f := range skipped {
		fmt.Fprintf(p.Stderr, "ashlar: %s: unknown format; skipped\n", safetext.Short(f))
	}
	a := &Trend{Event: runs.Event, Metric: runs.Metric.Name, Unit: runs.Metric.Unit, Of: "self", Runs: files, Skipped: append([]string{}, skipped...), Functions: []Series{},
		Level: exactnum.Measured(trend.Level, 6), runs: runs}
	if o.total {
		a.Of = "total"
	}
	if a.all, a.More, err = runs.Find(p.Ctx, o.rows); err != nil {
		return nil, err
	}
	a.Total = a.series(&runs.Total)
	for i := range a.all {
		a.Functions = append(a.Functions, a.series(&a.all[i]))
	}
	return a, nil
}

// sums reads the files, some at once, and sums them up. The error is that of the first
// file with one.
func (o *options) sums(p *subcommand.Program, files []string) ([]*trend.Sum, error) {
	sums, errs := make([]*trend.Sum, len(files)), make([]error, len(files))
	series.Each(p.Ctx, len(files), func(i int) bool {
		rec, err := p.Read(files[i])
		if err == nil {
			if sums[i], err = trend.SumOf(p.Ctx, rec, o.event, o.metric, o.total); err != nil {
				err = subcommand.Misuse("%s: %w", files[i], err)
			}
		}
		errs[i] = err
		return err == nil
	})
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return sums, p.Ctx.Err()
}

func (a *Trend) series(s *trend.Series) Series {
	m := &a.runs.Metric
	out := Series{Name: s.Function.Name, Module: s.Function.Module, Mean: exactnum.Estimate(s.Mean() / pow10(m.Decimals)), Changes: []Change{}}
	for i, v := range s.Values {
		var value *json.Number
		if s.Has[i] {
			value = new(exactnum.Value(v, m))
		}
		out.Values = append(out.Values, value)
	}
	if from, to, ok := s.Span(); ok {
		out.From, out.To = &from, &to
	}
	for _, c := range s.Changes {
		out.Changes = append(out.Changes, Change{Run: a.Runs[c.At], At: c.At, P: exactnum.Estimate(c.P), Command: a.command(&c),
			Before: exactnum.Estimate(c.Before / pow10(m.Decimals)), After: exactnum.Estimate(c.After / pow10(m.Decimals))})
	}
	return out
}

func pow10(n int) float64 {
	p := 1.0
	for range n {
		p *= 10
	}
	return p
}

// command returns the command that compares the runs before and after a change.
func (a *Trend) command(c *trend.Change) string {
	words := []string{"ashlar diff"}
	before, after := series.Around(a.Runs, c)
	for _, f := range before {
		words = append(words, "--a "+safetext.Command(f))
	}
	for _, f := range after {
		words = append(words, "--b "+safetext.Command(f))
	}
	if a.Event != "" {
		words = append(words, "--event "+safetext.Command(a.Event))
	}
	return strings.Join(append(words, "--metric "+safetext.Command(a.Metric)), " ")
}

// text returns the answer for people, with the first n functions.
func (a *Trend) text(n int) string {
	var b strings.Builder
	names := series.Names(a.Runs)
	fmt.Fprintf(&b, "%s\n%s\n\n", series.Title(a.runs, names), series.Verdict(a.runs, a.all, names))
	w := 0
	for i := range a.all[:n] {
		w = max(w, len(series.Value(a.runs, a.all[i].Mean())))
	}
	w = max(w, len(series.Value(a.runs, a.runs.Total.Mean())))
	row := func(s *trend.Series, name string) {
		fmt.Fprintf(&b, "%s  %*s  %s\n", line(s), w, series.Value(a.runs, s.Mean()), name)
		if only := series.Only(s, names); only != "" {
			fmt.Fprintf(&b, "    %s\n", only)
		}
		for i := range s.Changes {
			c := &s.Changes[i]
			fmt.Fprintf(&b, "    %s\n", series.From(a.runs, names, c))
			fmt.Fprintf(&b, "    %s\n", a.command(c))
		}
	}
	row(&a.runs.Total, "total")
	fmt.Fprintf(&b, "\n%s of functions, mean per run\n", strings.ToUpper(a.Of[:1])+a.Of[1:])
	for i := range a.all[:n] {
		row(&a.all[i], safetext.Short(a.all[i].Function.Name))
	}
	if more := a.More + len(a.all) - n; more > 0 {
		fmt.Fprintf(&b, "… and %s more; -n 0 shows all\n", units.Count(int64(more)))
	}
	return b.String()
}

// widest is the maximum number of characters in a line.
const widest = 60

// line draws a series as one character per run, or per group of runs if there are many; blank
// for runs without a value.
func line(s *trend.Series) string {
	low, high, first := 0.0, 0.0, true
	for i, v := range s.Values {
		if s.Has[i] {
			if first {
				low, high, first = float64(v), float64(v), false
			}
			low, high = min(low, float64(v)), max(high, float64(v))
		}
	}
	n := min(len(s.Values), widest)
	var b strings.Builder
	for i := range n {
		sum, count := 0.0, 0
		for k := i * len(s.Values) / n; k < (i+1)*len(s.Values)/n; k++ {
			if s.Has[k] {
				sum += float64(s.Values[k])
				count++
			}
		}
		if count == 0 {
			b.WriteByte(' ')
			continue
		}
		level := 3
		if high > low {
			level = int((sum/float64(count) - low) / (high - low) * 7.999)
		}
		b.WriteRune([]rune("▁▂▃▄▅▆▇█")[max(0, min(7, level))])
	}
	return b.String()
}
