package command

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"strings"

	"github.com/spf13/pflag"

	"ashlar/app/core/evidence"
	"ashlar/app/core/exactnum"
	"ashlar/app/core/subcommand"
	"ashlar/app/core/tabular"
	"ashlar/app/core/view"
	"ashlar/ingest/input/safetext"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/calls"
	"ashlar/ingest/query/spans"
	"ashlar/render/units"
)

// lengthFlags are the flags of commands about call durations: the part of the file, and
// the form of the output.
type lengthFlags struct {
	path, text, scale string
	only              partFlags
	rng               recording.Range
	calls             callsFlag
	apart             apartFlags
	json              bool
}

func (f *lengthFlags) add(fs *pflag.FlagSet) {
	fs.StringVar(&f.text, "range", "", "only `START..END`, from the recording's start: 1.2s..1.5s")
	f.only.threadFlag(fs)
	f.apart.add(fs)
	fs.StringVar(&f.scale, "histogram", "log", "`SCALE` of the histogram: log or linear")
	subcommand.AnswerFlags(fs, &f.json)
}

// parse checks the flags; args holds the file.
func (f *lengthFlags) parse(args []string, demo bool) (err error) {
	if f.path, err = oneFile(args, demo); err != nil {
		return err
	}
	if f.rng, err = rangeFlag(f.text); err != nil {
		return err
	}
	if _, err = f.only.part(); err != nil {
		return err
	}
	if f.scale != "log" && f.scale != "linear" {
		return misuse("unknown histogram %q; use log or linear", f.scale)
	}
	return nil
}

// open reads the file and returns the scope for the selected range.
func (f *lengthFlags) open(c *call) (rec *recording.Recording, in recording.Scope, err error) {
	if rec, err = c.readRange(f.path, f.rng, f.only.threads...); err != nil {
		return nil, in, err
	}
	c.watch("the answer")
	if f.rng.IsSet() && rec.HasTime {
		if in, err = f.rng.In(rec); err != nil {
			return nil, in, misfit(rec, err)
		}
	}
	return rec, f.apart.in(in), nil
}

// address returns the address that shows the view's calls.
func (f *lengthFlags) address(c *call, rec *recording.Recording, v view.State) string {
	v.Only, v.Exe, v.Tab, v.Linear = f.only.threads, c.exe, "calls", f.scale == "linear"
	return evidence.Address(v, rec)
}

// bins returns the bins of the requested histogram.
func (f *lengthFlags) bins(d *spans.Durations) []spans.Bin {
	if f.scale == "linear" {
		return d.Linear
	}
	return d.Logarithmic
}

// lengths is the JSON output about call durations: exact decimals in nanoseconds, null
// without calls.
type lengths struct {
	Min *json.Number `json:"min"`
	Max *json.Number `json:"max"`
	// Mean is exact if it has at most 18 decimals.
	Mean   *json.Number `json:"mean"`
	Median *json.Number `json:"median"`
	P90    *json.Number `json:"p90"`
	P99    *json.Number `json:"p99"`
	P999   *json.Number `json:"p999"`
	// Histogram is the number of calls per bin, with durations From (inclusive) to To
	// (exclusive).
	Histogram []statsBin `json:"histogram"`
	// Modes are groups of calls with similar durations, shortest first.
	Modes []callMode `json:"modes"`

	modes []spans.Mode
}

// callMode is a group of calls with durations From (inclusive) to To (exclusive). Calls
// is the condition that selects them with --calls; it is empty if there is none.
type callMode struct {
	From  json.Number `json:"from"`
	To    json.Number `json:"to"`
	Count int64       `json:"count"`
	Calls string      `json:"calls"`
}

// lengthsOf summarises durations in the given bins. of is the condition that selects
// their calls, nil if there is none.
func lengthsOf(d *spans.Durations, bins []spans.Bin, of *calls.Query) lengths {
	l := lengths{Histogram: []statsBin{}, Modes: []callMode{}}
	if d == nil || d.Count == 0 {
		return l
	}
	l.modes = d.Modes()
	for _, h := range l.modes {
		l.Modes = append(l.Modes, callMode{exactnum.Nanoseconds(h.From), exactnum.Nanoseconds(h.To), h.Count, modeCalls(of, h)})
	}
	l.Min, l.Max, l.Mean, l.Median, l.P90, l.P99, l.P999 = ns(d.Min), ns(d.Max), exactRatio(d.Mean()), ns(d.Median), ns(d.P90), ns(d.P99), ns(d.P999)
	for _, b := range bins {
		l.Histogram = append(l.Histogram, statsBin{exactnum.Nanoseconds(b.From), exactnum.Nanoseconds(b.To), b.Count})
	}
	return l
}

// modeCalls returns the condition that selects the calls of a mode with --calls.
func modeCalls(of *calls.Query, h spans.Mode) string {
	if of == nil || of.Others || of.Slowest > 0 { // no simple condition selects a part of such a set
		return ""
	}
	q, from, to := *of, h.From, h.To
	if q.Duration.HasFrom {
		from = max(from, q.Duration.From)
	}
	if q.Duration.HasTo {
		to = min(to, q.Duration.To)
	}
	q.Duration = recording.Offsets(from, to)
	return q.String()
}

// modesText lists the modes if there are several.
func (l *lengths) modesText(b *strings.Builder) {
	if len(l.modes) < 2 {
		return
	}
	fmt.Fprintf(b, "\n%d modes\n", len(l.modes))
	rows := [][]string{}
	for i, h := range l.modes {
		rows = append(rows, []string{units.Count(h.Count), units.Duration(h.From) + " to " + units.Duration(h.To), safetext.Short(l.Modes[i].Calls)})
	}
	tabular.Columns(b, "  ", "rll", rows)
}

type statsBin struct {
	From  json.Number `json:"from"`
	To    json.Number `json:"to"`
	Count int64       `json:"count"`
}

// durationRows returns the statistics of durations as rows of text.
func durationRows(d *spans.Durations) (out [][]string) {
	mean, _ := d.Mean().Float64()
	for _, r := range []struct {
		name string
		ps   int64
	}{{"min", d.Min}, {"median", d.Median}, {"mean", int64(math.Round(mean))}, {"p90", d.P90}, {"p99", d.P99}, {"p99.9", d.P999}, {"max", d.Max}} {
		out = append(out, []string{r.name, units.Duration(r.ps)})
	}
	return out
}

// unfinishedText returns the number of calls that never ended as text, "" for none.
func unfinishedText(d *spans.Durations) string {
	if d.Unfinished == 0 {
		return ""
	}
	return fmt.Sprintf(", %s of them never ended", units.Count(d.Unfinished))
}

func ns(ps int64) *json.Number {
	n := exactnum.Nanoseconds(ps)
	return &n
}

// exactRatio formats picoseconds as nanoseconds with up to 18 decimals.
func exactRatio(ps *big.Rat) *json.Number {
	t := new(big.Rat).Quo(ps, big.NewRat(1000, 1)).FloatString(18)
	n := json.Number(strings.TrimSuffix(strings.TrimRight(t, "0"), "."))
	return &n
}

// nanosecondsOf formats a sum of picoseconds that may exceed the range of times.
func nanosecondsOf(ps *big.Int) json.Number { return *exactRatio(new(big.Rat).SetInt(ps)) }
