package command

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"ashlar/app/core/evidence"
	"ashlar/app/core/exactnum"
	"ashlar/app/core/subcommand"
	"ashlar/app/core/tables"
	"ashlar/app/core/tabular"
	"ashlar/app/core/waitreport"
	"ashlar/ingest/input/safetext"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/ingest/query/calls"
	"ashlar/ingest/query/spans"
	"ashlar/render/units"
)

func callsCommand() command {
	return own(subcommand.Command{
		Name: "calls", Args: "FILE CALLS [flags]", Line: "list calls one by one, with their arguments",
		Text: `
Each row is a call: start, duration, self time, CPU time if the file has it (the
rest was waiting), thread and arguments. Above the rows are statistics
(nearest-rank percentiles), a histogram, and its modes: groups of calls
with similar durations, separated by durations that few calls have.

CALLS is one or more functions, each with conditions in brackets that must all
hold. Other commands take the same after --calls:
  RunTask                          all calls of a function
  RunTask[60ms..320ms]             those of 60 ms or more, but less than 320 ms
  parse|/^read/[self 1ms..]        of several functions; self time from 1 ms on
  Request[tenant=7, size in 1e6..] with arguments: a value, a range of numbers
  Request[url~"^/api", kind!=ping] a regular expression; any other value
  RunTask[started 2s..3s]          calls that started in this range
  *[found "arg:timeout"]           calls of any function that a search finds
  RunTask[slowest 25]              the longest calls that meet the rest
  RunTask[at 42:43@1.2s]           the call that starts at that time on PID:TID
  !RunTask[60ms..]                 all other calls of the function
  [blocked: sync][1ms..]           states of threads, with their wakers
Quote names and values that contain any of []|,"!= with double quotes. Spans and
samples inside the calls, on the same thread, are included.`,
		Examples: [][2]string{
			{"ashlar calls trace.json RunTask -n 20", "the 20 longest tasks"},
			{"ashlar calls trace.json 'FunctionCall[10ms..]' --sort start", "calls of 10 ms or more, by start time"},
			{"ashlar calls trace.json 'Request[tenant=7]' --csv", "one tenant's requests, for a spreadsheet"},
		},
		Answer: callList{},
	}, func(fs *pflag.FlagSet) func(*call, []string) error {
		var o callsOptions
		o.add(fs)
		fs.StringVar(&o.sort, "sort", calls.ByDuration, "sort by `WHAT`: duration, self, cpu, waiting, start, thread, function or the name of an argument; a leading - reverses the order")
		o.rows = textRows
		subcommand.RowsFlag(fs, &o.rows, "rows", "--json and --csv")
		fs.BoolVar(&o.csv, "csv", false, "print only the rows, as CSV; times in nanoseconds")
		demo := demoFlag(fs)
		cacheFlag(fs)
		return func(c *call, args []string) (err error) {
			if len(args) == 0 || len(args) == 1 && !*demo {
				return misuse("name the file and the calls, such as RunTask or 'RunTask[60ms..]'")
			}
			if err := o.calls.Set(args[len(args)-1]); err != nil {
				return &subcommand.Usage{Err: err}
			}
			if err := o.parse(args[:len(args)-1], *demo); err != nil {
				return err
			}
			if err := c.takeRows(fs, &o.rows, "rows", o.json, o.csv); err != nil {
				return err
			}
			return c.calls(&o)
		}
	})
}

type callsOptions struct {
	lengthFlags
	sort string
	rows int // 0 for all
	csv  bool
}

func (c *call) calls(o *callsOptions) error {
	rec, in, err := o.open(c)
	if err != nil {
		return err
	}
	if in, err = o.calls.in(c.ctx, rec, in); err != nil {
		return err
	}
	a := &callList{File: rec.Source.Path, Of: in.Calls.Text, Count: int64(in.Calls.Calls), Rows: []callRow{}, rec: rec, query: o.calls.query}
	if a.durations, err = spans.DurationsIn(c.ctx, rec, in); err != nil {
		return err
	}
	rows, err := calls.List(c.ctx, rec, in.Calls, o.sort)
	if err != nil {
		return misfit(rec, err)
	}
	if o.rows > 0 && len(rows) > o.rows {
		a.More, rows = len(rows)-o.rows, rows[:o.rows]
	}
	if a.rows, err = calls.Details(c.ctx, rec, rows); err != nil {
		return err
	}
	a.fill(o.bins(a.durations), 4*c.budget)
	if o.json {
		a.Address = o.address(c, rec, evidence.Of(rec, analyze.Query{Event: -1, Scope: in}))
	}
	if o.csv {
		return cmp.Or(a.csv(c.stdout), stopped(rec))
	}
	return cmp.Or(c.printRows(o.json, a, "rows", len(a.Rows), func(n int) string {
		cut := *a
		cut.Rows, cut.rows, cut.More = a.Rows[:n], a.rows[:n], a.More+len(a.Rows)-n
		return cut.text()
	}), stopped(rec))
}

// callList is the JSON output of calls. Times are exact decimals in nanoseconds,
// starts counted from the recording's start; statistics are null without calls.
type callList struct {
	File string `json:"file"`
	// Of is the set of calls.
	Of    string `json:"of_calls"`
	Count int64  `json:"count"`
	// Address is the ashlar: address that opens these calls in the window.
	Address string `json:"address"`
	// Unfinished is the number of calls that never ended. They count with the length that
	// the timeline draws.
	Unfinished int64       `json:"unfinished"`
	Sum        json.Number `json:"sum"`
	// Together is the total length of the outermost calls of the set, so that nested
	// calls count once.
	Together json.Number `json:"together"`
	lengths
	Rows []callRow `json:"rows"`
	// More is the number of rows that were left out.
	More int `json:"more"`

	rec       *recording.Recording
	query     *calls.Query
	durations *spans.Durations
	rows      []calls.Detail
	bins      []spans.Bin
}

// callRow is a call. CPU and Waiting are present if the file records CPU time.
type callRow struct {
	Function   string            `json:"function"`
	Start      json.Number       `json:"start"`
	Duration   json.Number       `json:"duration"`
	Self       json.Number       `json:"self"`
	CPU        json.Number       `json:"cpu,omitempty"`
	Waiting    json.Number       `json:"waiting,omitempty"`
	PID        exactnum.ID       `json:"pid"`
	TID        exactnum.ID       `json:"tid"`
	Thread     string            `json:"thread"`
	Unfinished bool              `json:"unfinished,omitempty"`
	Args       map[string]string `json:"args,omitempty"`
	// Stack is set for states of threads: the functions of the stack, the innermost first.
	// WokenBy is set for blocked states that a known thread ended.
	Stack   []string          `json:"stack,omitempty"`
	WokenBy *waitreport.Waker `json:"woken_by,omitempty"`
}

// fill sets the statistics and the rows. room is the size of the output in bytes, 0 for
// no limit. A row takes at least one byte, so rows after the first room rows cannot fit.
// Only their costs are set, because there may be millions.
func (a *callList) fill(bins []spans.Bin, room int) {
	d := a.durations
	a.Unfinished, a.Sum, a.Together, a.bins, a.lengths = d.Unfinished, "0", "0", bins, lengthsOf(d, bins, a.query)
	if d.Count == 0 {
		return
	}
	a.Sum, a.Together = nanosecondsOf(d.Sum), nanosecondsOf(d.Together)
	a.Rows = make([]callRow, 0, len(a.rows))
	for i := range a.rows {
		r := &a.rows[i]
		if room > 0 && i > room && !a.rec.Source.Redacted { // redaction needs every row in full
			a.Rows = append(a.Rows, callRow{Self: exactnum.Nanoseconds(r.Self), Duration: exactnum.Nanoseconds(r.Duration)})
			continue
		}
		t := a.rec.Tracks[r.Track]
		row := callRow{Function: a.rec.FuncName(r.Call), Start: exactnum.Nanoseconds(r.Start - a.rec.Start), Duration: exactnum.Nanoseconds(r.Duration), Self: exactnum.Nanoseconds(r.Self),
			PID: exactnum.ID(t.PID), TID: exactnum.ID(t.TID), Thread: t.Title(), Unfinished: r.Unfinished}
		if r.HasCPU {
			row.CPU, row.Waiting = exactnum.Nanoseconds(r.CPU), exactnum.Nanoseconds(r.Waiting())
		}
		if r.Lane == recording.StateLane {
			row.Stack, row.WokenBy = waitreport.StackOf(a.rec, r.Row), waitreport.WakerOf(a.rec, r.Row)
		}
		for _, m := range r.Args {
			if row.Args == nil {
				row.Args = map[string]string{}
			}
			row.Args[m.Key] = m.Value
		}
		a.Rows = append(a.Rows, row)
	}
}

// Limits on the columns of arguments in text, to fit a terminal.
const (
	textArgs  = 6
	textValue = 24
)

// columns returns the columns of the rows, with some arguments, for CSV or for text.
func (a *callList) columns(args []string, csv bool) []tables.Column[calls.Detail] {
	type row = calls.Detail
	rec := a.rec
	took := tables.Time("duration", func(r *row) int64 { return r.Duration })
	took.Text = func(r *row) string { return unended(r.Unfinished) + units.Duration(r.Duration) }
	start := tables.Time("start", func(r *row) int64 { return r.Start - rec.Start })
	if !csv {
		starts := make([]int64, len(a.rows))
		for i := range a.rows {
			starts[i] = a.rows[i].Start - rec.Start
		}
		text := units.Starts(starts)
		start.Text = func(r *row) string { return text(r.Start - rec.Start) }
	}
	cs := []tables.Column[row]{start, took, tables.Time("self", func(r *row) int64 { return r.Self })}
	if csv || slices.ContainsFunc(a.rows, func(r row) bool { return r.HasCPU }) {
		hasCPU := func(r *row) bool { return r.HasCPU }
		cs = append(cs, tables.Time("cpu", func(r *row) int64 { return r.CPU }).Where(hasCPU), tables.Time("waiting", (*row).Waiting).Where(hasCPU))
	}
	thread := tables.Named("thread", func(r *row) string { return rec.TrackLabel(r.Track) })
	function := tables.Named("function", func(r *row) string { return rec.FuncName(r.Call) })
	if csv {
		pid := tables.Named("pid", func(r *row) string { return recording.IDText(rec.Tracks[r.Track].PID) })
		tid := tables.Named("tid", func(r *row) string { return recording.IDText(rec.Tracks[r.Track].TID) })
		thread = tables.Named("thread", func(r *row) string { return rec.Tracks[r.Track].Title() })
		cs = append(slices.Insert(cs, 0, function), pid, tid, thread)
	} else {
		cs = append(cs, thread, function)
	}
	if a.states() {
		cs = slices.DeleteFunc(cs, func(c tables.Column[row]) bool { return c.Name == "self" && !csv })
		for _, cell := range waitreport.Cells {
			cs = append(cs, tables.Named(cell.Name, func(r *row) string { return cell.Text(rec, r.Row) }))
		}
	}
	for _, k := range args {
		arg := tables.Column[row]{Name: k, Exact: func(r *row) (last string) { // a repeated key has its last value, as in JSON
			for _, m := range r.Args {
				if m.Key == k {
					last = m.Value
				}
			}
			return last
		}}
		arg.Text = func(r *row) string {
			v := []rune(r.Arg(k))
			if len(v) > textValue {
				v = append(v[:textValue-1], '…')
			}
			return string(v)
		}
		cs = append(cs, arg)
	}
	return cs
}

// states reports whether the rows are states of threads.
func (a *callList) states() bool { return len(a.rows) > 0 && a.rows[0].Lane == recording.StateLane }

// unended returns the prefix for the length of a call that never ended, "" for other
// calls.
func unended(is bool) string {
	if is {
		return "≥ "
	}
	return ""
}

// csv writes the rows with a column for each argument.
func (a *callList) csv(out io.Writer) error {
	return tables.CSV(out, a.columns(calls.Keys(a.rows), true), a.rows)
}

// text writes the list for people.
func (a *callList) text() string {
	var b strings.Builder
	d := a.durations
	fmt.Fprintf(&b, "%s: %s%s\n", safetext.Short(a.rec.Source.Name), tabular.Calls(int(a.Count), a.Of), unfinishedText(d))
	if d.Count == 0 {
		return b.String()
	}
	sum, _ := d.Sum.Float64()
	line := []string{"sum " + units.Duration(int64(sum))}
	if d.Together.Cmp(d.Sum) != 0 {
		together, _ := d.Together.Float64()
		line[0] += ", of which " + units.Duration(int64(together)) + " in outermost calls"
	}
	for _, n := range durationRows(d) {
		line = append(line, strings.Join(n, " "))
	}
	b.WriteString(strings.Join(line, ", ") + "\n\n")
	tabular.Histogram(&b, a.bins)
	a.modesText(&b)
	b.WriteString("\n")
	a.table(&b)
	if a.More > 0 {
		fmt.Fprintf(&b, "… and %s more; -n 0 prints all\n", units.Count(int64(a.More)))
	}
	return b.String()
}

func (a *callList) table(b *strings.Builder) {
	cpu := slices.ContainsFunc(a.rows, func(r calls.Detail) bool { return r.HasCPU })
	keys := calls.Keys(a.rows)
	keys = slices.DeleteFunc(keys, func(k string) bool { return cpu && (k == "tdur" || k == "tts") }) // the cpu column shows them
	left := max(0, len(keys)-textArgs)
	tables.Write(b, "", a.columns(keys[:len(keys)-left], false), a.rows)
	if left > 0 {
		fmt.Fprintf(b, "%s; --csv and --json print all\n", units.Plural(int64(left), "more argument"))
	}
}
