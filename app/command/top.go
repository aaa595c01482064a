package command

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/spf13/pflag"

	"ashlar/app/core/evidence"
	"ashlar/app/core/exactnum"
	"ashlar/app/core/missing"
	"ashlar/app/core/subcommand"
	"ashlar/app/core/view"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/ingest/query/spans"
)

// textRows is the default number of rows in text output.
const textRows = 30

func topCommand() command {
	return own(subcommand.Command{
		Name: "top", Args: "FILE [flags]", Line: "list the most expensive functions",
		Text: `
Self is the cost of a function alone, total includes its callees. A function
that occurs several times in one stack counts once in total. Traces have the
metrics time and count. A time range is computed from spans, samples or windows,
whichever the recording has; the answer says which.
` + viewHelp + `
--tree prints paths instead of a table, as do --zoom, --invert and --by-time.
Without them, --callers-of and --callees-of list the direct callers and callees
of a function, and --search lists the rows that match.`,
		Examples: [][2]string{
			{"ashlar top run.spaa -n 10", "the ten most expensive functions"},
			{"ashlar top run.spaa --metric alloc_bytes --by module", "allocations by module"},
			{"ashlar top run.spall --range 1.2s..1.5s --json", "300 ms of a trace, as JSON"},
			{"ashlar top run.spall --by thread", "how busy each thread was"},
			{"ashlar top go.trace --by waker", "the goroutines that others waited for, and how long"},
			{"ashlar top run.spaa --callers-of malloc", "the callers of malloc"},
			{"ashlar top run.spaa --hide-kernel --drop idle --tree", "the heaviest paths, without kernel frames and idle stacks"},
		},
		Answer: top{},
	}, func(fs *pflag.FlagSet) func(*call, []string) error {
		var o topOptions
		var rng, by string
		var only partFlags
		rows := textRows
		o.flags(fs)
		fs.StringVar(&rng, "range", "", "only `START..END`, from the recording's start: 1.2s..1.5s, 300ms.., ..2min; bare numbers are seconds")
		only.threadFlag(fs)
		o.calls.add(fs)
		o.apart.add(fs)
		fs.StringVar(&by, "by", string(analyze.ByFunction), "group rows by `WHAT`: function, package, name (numbers folded), category (Chrome), module, file, line, thread, state, waker, waker-stack, waiter-stack (blocked time), context:KEY, or arg:KEY")
		subcommand.RowsFlag(fs, &rows, "rows", "--json")
		subcommand.AnswerFlags(fs, &o.json)
		o.AddFlags(fs)
		fs.BoolVar(&o.tree, "tree", false, "print the heaviest paths, indented")
		fs.StringArrayVar(&o.zoom, "zoom", nil, "zoom to this `FUNCTION` at the root; repeat for its callees; implies --tree")
		fs.Var(&o.sort, "sort", "sort by `WHAT`: self, total, count, average, least or most (time per span), name, module or file; a leading - reverses the order")
		demo := demoFlag(fs)
		cacheFlag(fs)
		return func(c *call, args []string) (err error) {
			if o.path, err = oneFile(args, *demo); err != nil {
				return err
			}
			if o.rng, err = rangeFlag(rng); err != nil {
				return err
			}
			if o.part, err = only.part(); err != nil {
				return err
			}
			if o.by, err = analyze.ParseBy(by); err != nil {
				return &subcommand.Usage{Err: err}
			}
			o.rows = rows
			if err := c.takeRows(fs, &o.rows, "rows", o.json, false); err != nil {
				return err
			}
			if o.tree && c.budget > 0 && o.rows == 0 {
				o.rows = max(1, c.budget/30) // limits rows to the heaviest paths; the budget alone would keep the first ones
			}
			if err := o.looks(); err != nil {
				return err
			}
			return c.top(&o)
		}
	})
}

type topOptions struct {
	chooser
	path  string
	rng   recording.Range
	calls callsFlag
	apart apartFlags
	part  recording.Part // only its threads are used
	by    analyze.By
	rows  int // 0 for all
	json  bool
	tree  bool
	// zoom is the path from the root to the node where the tree starts.
	zoom []string
	sort sortFlag
	view.Stacks
}

func (c *call) top(o *topOptions) error {
	rec, err := c.readRange(o.path, o.rng, o.part.Threads...)
	if err != nil {
		return err
	}
	c.watch("the answer")
	t, err := c.rank(rec, o)
	if err != nil {
		return err
	}
	if asked := t.Answered; asked != nil && !*asked {
		c.note("%s: %s has no timestamps, because no spans, samples or windows carry %s; this is the whole recording (%s)", rec.Source.Path, t.what(), t.carried(), missing.Times(rec, t.event))
	}
	return cmp.Or(c.printRows(o.json, t, "rows", len(t.Rows), func(n int) string {
		cut := *t
		cut.Rows, cut.More = t.Rows[:n], t.More+len(t.Rows)-n
		return cut.text(rec)
	}), stopped(rec))
}

// top is the JSON output of top. Values are exact decimals in Unit, shares parts of Total
// from 0 to 1.
type top struct {
	windowsLeft []string // see [budget.Cut]

	File   string `json:"file"`
	Event  string `json:"event"`
	Metric string `json:"metric"`
	Unit   string `json:"unit"`
	// Kind is the metric's kind: sum, level or peak. Sums of peaks are upper bounds.
	Kind string `json:"kind"`
	By   string `json:"by"`
	// Basis is the kind of records that were added up: spans, samples, stacks or windows.
	Basis string `json:"basis"`
	// Range is the range of the answer, null for the whole recording. Windows cannot be
	// split, so it may be wider than Asked, the requested range. Asked and Answered are
	// present if a range was requested; Answered is false if the answer is for the whole
	// recording because the data has no times.
	Range    *topRange `json:"range"`
	Asked    *topRange `json:"asked,omitempty"`
	Answered *bool     `json:"answered,omitempty"`
	// AsyncSpans and AsyncTime (in nanoseconds) are the async spans that were not
	// counted, IdleRecords and Idle the idle samples.
	AsyncSpans  int64       `json:"async_spans_left_out,omitempty"`
	AsyncTime   json.Number `json:"async_ns_left_out,omitempty"`
	IdleRecords int64       `json:"idle_records_left_out,omitempty"`
	Idle        json.Number `json:"idle_left_out,omitempty"`
	// WithoutCPU is the number of spans without a CPU time, or partly outside the range:
	// cpu and waiting exclude them.
	WithoutCPU int64 `json:"untold_spans,omitempty"`
	// Of is the requested set of calls, and Calls their number. Only costs inside these
	// calls are counted.
	Of    string      `json:"of_calls,omitempty"`
	Calls *int        `json:"calls,omitempty"`
	Total json.Number `json:"total"`
	// Records is the number of spans, samples or records added up. Samples is the number
	// of samples behind them; absent if nothing was sampled or the file does not say.
	Records int64 `json:"records"`
	Samples int64 `json:"samples,omitempty"`
	// Address shows the result. Append &function=NAME or &function=NAME:MODULE, escaped
	// as in URLs, to mark a row's function.
	Address string `json:"address"`
	topView
	Rows []topRow `json:"rows"`
	// More is the number of rows that were left out.
	More int `json:"more"`
	// Tree is true if the rows form a tree, with each row after its caller. Depth is then
	// the row's depth, from 1.
	Tree bool `json:"tree,omitempty"`

	metric *recording.Metric
	event  int
	sum    int64
	behind evidence.Sampled // samples behind sum
	left   analyze.LeftOut
	spans  []spans.Stat // by function; set if rows are sorted by durations
	// Indexed by the row of a tree: its node, its depth and whether it matches the
	// search.
	nodes   []int32
	depths  []int
	matches []bool
	inTree  []analyze.Transform // the transforms applied to the tree
}

// topRange is a range in exact nanoseconds from the recording's start.
type topRange struct {
	Start json.Number `json:"start_ns"`
	End   json.Number `json:"end_ns"`

	from, to int64
}

func newTopRange(rec *recording.Recording, from, to int64) *topRange {
	from, to = from-rec.Start, to-rec.Start
	return &topRange{exactnum.Nanoseconds(from), exactnum.Nanoseconds(to), from, to}
}

type topRow struct {
	Name   string      `json:"name"`
	Module string      `json:"module"`
	Self   json.Number `json:"self"`
	Total  json.Number `json:"total"`
	// Count is the number of spans, samples or records behind Self.
	Count int64 `json:"count"`
	evidence.Shares
	// Average, Least and Most are the durations of a function's spans in the scope, in
	// exact nanoseconds; present if rows are sorted by one of them.
	Average json.Number `json:"average_ns,omitempty"`
	Least   json.Number `json:"least_ns,omitempty"`
	Most    json.Number `json:"most_ns,omitempty"`
	// Symbol is the function's linker name, if different.
	Symbol string `json:"symbol,omitempty"`
	// Place is the file:line of a row of --by line; Name is then its function.
	Place string `json:"place,omitempty"`
	// Depth and Match are set for rows of a tree.
	Depth int  `json:"depth,omitempty"`
	Match bool `json:"match,omitempty"`
	// PID and TID are set for rows of threads.
	PID *exactnum.ID `json:"pid,omitempty"`
	TID *exactnum.ID `json:"tid,omitempty"`

	row *analyze.Row
}

// rank computes the answer for the options.
func (c *call) rank(rec *recording.Recording, o *topOptions) (*top, error) {
	t := &top{File: rec.Source.Path, By: string(o.by), Rows: []topRow{}, Total: "0", metric: &recording.Metric{}}
	q, err := t.query(c, rec, o)
	if err != nil {
		return nil, err
	}
	all := q
	q = q.With(rec, o.Transforms)
	w, err := analyze.Weigh(c.ctx, rec, q)
	if err != nil {
		return nil, err
	}
	if t.whole = w.Sum; slices.ContainsFunc(o.Transforms, analyze.Transform.IsWhere) {
		all.Apart = q.Apart
		whole, err := analyze.Weigh(c.ctx, rec, all)
		if err != nil {
			return nil, err
		}
		t.whole = whole.Sum
	}
	t.Basis, t.sum, t.Total, t.Records = string(w.Basis), w.Sum, exactnum.Value(w.Sum, t.metric), w.Records
	t.leave(&w.Left)
	t.WithoutCPU = w.WithoutCPU
	if t.Calls != nil && !w.Called {
		return nil, misfit(rec, fmt.Errorf("%s has no timestamps; remove --calls", t.what()))
	}
	if w.Ranged {
		*t.Answered = true
		t.windowsLeft = q.WindowsLeft(rec)
		c.beside.WindowsLeft = t.windowsLeft
		t.Range = newTopRange(rec, w.From, w.To)
	}
	rows, err := t.look(c, rec, q, w, o)
	if err != nil {
		return nil, err
	}
	if o.json {
		if err := t.evidence(c, rec, q, w, o); err != nil {
			return nil, err
		}
	}
	if !o.tree && o.rows > 0 && len(rows) > o.rows {
		t.More = len(rows) - o.rows
		rows = rows[:o.rows]
	}
	for i := range rows {
		t.add(rec, &rows[i])
	}
	return t, nil
}

// query returns the query for the options, without transforms.
func (t *top) query(c *call, rec *recording.Recording, o *topOptions) (q analyze.Query, err error) {
	named := o.event
	if named == "" && (o.by == analyze.ByState || o.by.OfWaits()) && rec.Counts.States > 0 {
		named = recording.StateEvent().Name // the only event with states
	}
	metric := o.metric
	if metric == "" && o.by.OfWaits() && rec.Counts.States > 0 {
		metric = recording.StateEvent().Metrics[recording.StateBlocked].Name
	}
	if q.Event, q.Metric, err = analyze.Choose(rec, named, metric); err != nil {
		return q, misfit(rec, missing.Asked(err, o.metric, rec))
	}
	if q.Event >= 0 {
		e := &rec.Events[q.Event]
		t.event = q.Event
		t.metric = &e.Metrics[q.Metric]
		t.Event, t.Metric, t.Unit, t.Kind = e.Name, t.metric.Name, t.metric.Unit, t.metric.Kind.String()
	}
	if o.rng.IsSet() {
		t.Answered = new(bool)
		if rec.HasTime {
			if q.Scope, err = o.rng.In(rec); err != nil {
				return q, misfit(rec, err)
			}
			t.Asked = newTopRange(rec, q.Scope.From, q.Scope.To)
		}
	}
	if q.Scope, err = o.calls.in(c.ctx, rec, o.apart.in(q.Scope)); err != nil {
		return q, err
	}
	if set := q.Scope.Calls; set != nil {
		t.Of, t.Calls = set.Text, new(set.Calls)
	}
	if err := o.Check(rec); err != nil {
		return q, misfit(rec, err)
	}
	q.First = slices.ContainsFunc(o.Transforms, func(t analyze.Transform) bool { return t.Op == analyze.OpByTime })
	return q, nil
}

// evidence adds the confidence intervals of shares, and the address.
func (t *top) evidence(c *call, rec *recording.Recording, q analyze.Query, w *analyze.Weights, o *topOptions) (err error) {
	if t.behind, err = evidence.SampledOf(c.ctx, rec, q, w, t.inTree...); err != nil {
		return err
	}
	t.Samples = t.behind.Samples
	switch _, context := o.by.ContextKey(); {
	case t.behind.Spread() == nil, t.Tree, context, o.by == analyze.ByThread, o.by.OfWaits():
	case t.Function != nil:
		n := analyze.Around(rec, analyze.NewTree(rec, t.behind.Spread(), t.inTree...), t.side.Ref)
		if t.behind.Rows(n.Callees); t.side.Op == analyze.OpCallersOf {
			t.behind.Rows(n.Callers)
		}
	default:
		t.behind.By(rec, o.by, t.inTree...)
	}
	v := evidence.Of(rec, q)
	v.Stacks, v.Only, v.Exe, v.Tab = o.Stacks, o.part.Threads, c.exe, "functions"
	switch {
	case o.tree:
		v.Tab = ""
		for _, name := range o.zoom {
			f := analyze.Named(name)
			v.Zoom = append(v.Zoom, recording.FuncName{Name: f.Text, Module: f.Module})
		}
	case slices.Contains([]analyze.By{analyze.ByPackage, analyze.ByName, analyze.ByModule, analyze.ByFile, analyze.ByThread}, o.by):
		v.Group = string(o.by) // the window's table has these groups, too
	}
	t.Address = evidence.Address(v, rec)
	return nil
}

// leave records the async spans and idle samples that were not counted.
func (t *top) leave(l *analyze.LeftOut) {
	if t.left = *l; l.AsyncSpans > 0 {
		t.AsyncSpans, t.AsyncTime = l.AsyncSpans, exactnum.Nanoseconds(l.AsyncTime)
	}
	if l.IdleRecords > 0 {
		t.IdleRecords, t.Idle = l.IdleRecords, exactnum.Value(l.Idle, t.metric)
	}
}

// misfit returns the error for a request for data that the recording lacks.
func misfit(rec *recording.Recording, err error) error {
	return &subcommand.Usage{Err: fmt.Errorf("%s: %w", rec.Source.Path, err), Complete: true}
}

func (t *top) add(rec *recording.Recording, r *analyze.Row) {
	row := t.row(rec, r)
	if i := len(t.Rows); t.Tree {
		row.Depth, row.Match = t.depths[i], t.matches[i]
	}
	t.Rows = append(t.Rows, row)
}

func (t *top) row(rec *recording.Recording, r *analyze.Row) topRow {
	row := topRow{Name: r.Name, Module: r.Module, Place: r.Place, Self: exactnum.Value(r.Self, t.metric), Total: exactnum.Value(r.Total, t.metric), Count: r.Count,
		Shares: t.behind.Row(r, t.sum), row: r}
	if t.By == string(analyze.ByFunction) || t.By == string(analyze.ByLine) || t.Function != nil {
		row.Symbol = r.Function(rec).Symbol
	}
	if s := spans.OfRow(rec, r, t.spans); s != nil {
		row.Average, row.Least, row.Most = exactnum.Nanoseconds(s.Average()), exactnum.Nanoseconds(s.Min), exactnum.Nanoseconds(s.Max)
	}
	if (t.By == string(analyze.ByThread) || t.By == string(analyze.ByWaker)) && r.Track != recording.NoTrack {
		track := rec.Tracks[r.Track]
		pid, tid := exactnum.ID(track.PID), exactnum.ID(track.TID)
		row.PID, row.TID = &pid, &tid
	}
	return row
}
