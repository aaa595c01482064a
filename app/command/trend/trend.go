// Package trend implements "ashlar trend": costs over a series of runs, and the runs at
// which they changed.
package trend

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"ashlar/app/core/exactnum"
	"ashlar/app/core/locate"
	"ashlar/app/core/subcommand"
	"ashlar/ingest/input/safetext"
	"ashlar/ingest/query/trend"
	"ashlar/render/units"
)

// Command is the trend command.
var Command = subcommand.Command{
	Name: "trend", Args: "FOLDER|FILES… [flags]", Line: "show costs over a series of runs, and where they changed",
	Text: `
The runs are recordings of the same program in order: all recordings in a
FOLDER, or FILES and quoted patterns. They are ordered by name, with numbers by
value, or with --order time by the time of their files.

The total and the self cost of each function are one series each. A change is a
run from which on a cost stays higher or lower. It is found with E-divisive
(Matteson and James, 2014) and a permutation test: a series without a change
gets one with a probability of at most 1 %. Of the functions listed with
changes, at most one in twenty is expected to have none (Benjamini and
Hochberg). Changes are at least three runs apart; with fewer than ten runs,
hardly any can be found. Each change comes with the command that compares the
runs before and after it.`,
	Examples: [][2]string{
		{"ashlar trend nightly/", "all recordings in a folder, by name"},
		{"ashlar trend 'nightly/*.pb.gz' --order time --metric alloc_space", "by the time of the files"},
		{"ashlar trend nightly/ --json", "all values, for a chart"},
	},
	Answer: Trend{},
	Setup:  setup,
}

// Trend is the JSON output of trend. Values are exact decimals in Unit, one for each of
// Runs.
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
	Skipped   []string `json:"skipped"` // files of folders that are no recordings
	// Level is the probability that a series without a change gets one.
	Level json.Number `json:"level"`

	runs *trend.Runs
	all  []trend.Series
}

// Series is a cost by run.
type Series struct {
	Name    string        `json:"name"` // empty for the total
	Module  string        `json:"module"`
	Mean    json.Number   `json:"mean"`
	Values  []json.Number `json:"values"`
	Changes []Change      `json:"changes"`
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
	fs.StringVar(&o.event, "event", "", "the `EVENT` to look at (default: the first)")
	fs.StringVar(&o.metric, "metric", "", "the `METRIC` to weigh by (default: the event's primary one)")
	fs.StringVar(&o.order, "order", "name", "order runs by `WHAT`: name or time (of the files)")
	fs.BoolVar(&o.total, "total", false, "show the total costs of functions, not their self costs")
	fs.IntVarP(&o.rows, "rows", "n", 30, "look at the `N` functions with the largest mean costs, 0 for all")
	subcommand.AnswerFlags(fs, &o.json)
	return func(p *subcommand.Program, args []string) error {
		switch {
		case len(args) == 0:
			return subcommand.Misuse("name a folder or the recordings of several runs, in quotes if they are a pattern")
		case o.rows < 0:
			return subcommand.Misuse("-n %d is negative; 0 looks at all functions", o.rows)
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
		if err := byTime(files); err != nil {
			return nil, err
		}
	}
	if len(files) < 2 {
		return nil, subcommand.Misuse("%s is one run; a trend needs several", files[0])
	}
	runs := new(trend.Runs)
	for _, f := range files {
		rec, err := p.Read(f)
		if err != nil {
			return nil, err
		}
		if err := runs.Add(p.Ctx, rec, o.event, o.metric, o.total); err != nil {
			return nil, subcommand.Misuse("%s: %w", f, err)
		}
	}
	for _, f := range skipped {
		fmt.Fprintf(p.Stderr, "ashlar: %s is no recording of a known format; skipped\n", safetext.Short(f))
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

// byTime sorts files by their times of modification.
func byTime(files []string) error {
	at := map[string]int64{}
	for _, f := range files {
		info, err := os.Stat(f)
		if err != nil {
			return err
		}
		at[f] = info.ModTime().UnixNano()
	}
	slices.SortStableFunc(files, func(a, b string) int { return int(min(1, max(-1, at[a]-at[b]))) })
	return nil
}

func (a *Trend) series(s *trend.Series) Series {
	m := &a.runs.Metric
	out := Series{Name: s.Function.Name, Module: s.Function.Module, Mean: exactnum.Estimate(s.Mean() / pow10(m.Decimals)), Changes: []Change{}}
	for _, v := range s.Values {
		out.Values = append(out.Values, exactnum.Value(v, m))
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

// mostCompared is the maximum number of runs on each side of a comparison: those next to
// the change.
const mostCompared = 10

// command returns the command that compares the runs before and after a change.
func (a *Trend) command(c *trend.Change) string {
	words := []string{"ashlar diff"}
	for _, f := range a.Runs[max(c.From, c.At-mostCompared):c.At] {
		words = append(words, "--a "+safetext.Command(f))
	}
	for _, f := range a.Runs[c.At:min(c.To, c.At+mostCompared)] {
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
	of := a.Metric
	if a.Event != "" {
		of += " of " + a.Event
	}
	fmt.Fprintf(&b, "%s over %s, %s to %s\n\n", safetext.Short(of), units.Plural(int64(len(a.Runs)), "run"), safetext.Short(a.Runs[0]), safetext.Short(a.Runs[len(a.Runs)-1]))
	w := 0
	for i := range a.all[:n] {
		w = max(w, len(a.value(a.all[i].Mean())))
	}
	w = max(w, len(a.value(a.runs.Total.Mean())))
	row := func(s *trend.Series, name string) {
		fmt.Fprintf(&b, "%s  %*s  %s\n", line(s.Values), w, a.value(s.Mean()), name)
		for i := range s.Changes {
			c := &s.Changes[i]
			fmt.Fprintf(&b, "    %s from %s on: %s to %s (p = %.2g)\n", change(c), safetext.Short(a.Runs[c.At]), a.value(c.Before), a.value(c.After), c.P)
			fmt.Fprintf(&b, "    %s\n", a.command(c))
		}
	}
	row(&a.runs.Total, "total")
	fmt.Fprintf(&b, "\n%s of functions, mean of a run\n", strings.ToUpper(a.Of[:1])+a.Of[1:])
	for i := range a.all[:n] {
		row(&a.all[i], safetext.Short(a.all[i].Function.Name))
	}
	if more := a.More + len(a.all) - n; more > 0 {
		fmt.Fprintf(&b, "… and %s more; -n 0 looks at all\n", units.Count(int64(more)))
	}
	changes := len(a.runs.Total.Changes)
	for i := range a.all {
		changes += len(a.all[i].Changes)
	}
	if changes == 0 {
		b.WriteString("\nNo lasting change.\n")
	}
	return b.String()
}

// value formats a mean.
func (a *Trend) value(v float64) string { return units.Value(int64(v+.5), &a.runs.Metric) }

// change formats a relative change.
func change(c *trend.Change) string { return units.Change(int64(c.Before+.5), int64(c.After+.5)) }

// widest is the maximum number of characters in a line.
const widest = 60

// line draws a series with one character for each run, or for several.
func line(values []int64) string {
	low, high := slices.Min(values), slices.Max(values)
	n := min(len(values), widest)
	var b strings.Builder
	for i := range n {
		part := values[i*len(values)/n : (i+1)*len(values)/n]
		sum := 0.0
		for _, v := range part {
			sum += float64(v) / float64(len(part))
		}
		level := 3
		if high > low {
			level = int((sum - float64(low)) / (float64(high) - float64(low)) * 7.999)
		}
		b.WriteRune([]rune("▁▂▃▄▅▆▇█")[max(0, min(7, level))])
	}
	return b.String()
}
