// Package overview summarises a recording: format, quality, what is unusual, what costs most,
// and the commands to run next.
package overview

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"ashlar/app/agent/findings"
	"ashlar/app/core/evidence"
	"ashlar/app/core/exactnum"
	"ashlar/app/core/view"
	"ashlar/ingest"
	"ashlar/ingest/input/safetext"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/ingest/query/gpu"
	"ashlar/ingest/query/waits"
	"ashlar/render/units"
)

// Most is the budget of an overview, in tokens, if none is set.
const Most = 1500

// Overview is the JSON output of overview. Values are exact decimals in Unit; shares are
// fractions of Total, from 0 to 1.
type Overview struct {
	File     string       `json:"file"`
	Format   string       `json:"format"`
	Tool     string       `json:"tool,omitempty"`
	Recorded string       `json:"recorded,omitempty"` // the command line that was recorded
	Duration *json.Number `json:"duration_ns"`        // null if nothing has a time
	Threads  int          `json:"threads"`            // without async tracks
	Tracks   []Tracks     `json:"tracks"`             // number of tracks of each kind
	Counts   Counts       `json:"counts"`
	// Event and Metric name what the numbers below measure. Others lists other metrics for
	// --event and --metric, as EVENT/METRIC.
	Event  string      `json:"event"`
	Metric string      `json:"metric"`
	Unit   string      `json:"unit"`
	Total  json.Number `json:"total"`
	Basis  string      `json:"basis"`
	// Samples is the number of samples behind Total; absent if nothing was sampled or the
	// file does not say. Address shows the recording.
	Samples int64    `json:"samples,omitempty"`
	Address string   `json:"address"`
	Others  []string `json:"others"`
	// AsyncSpans is the number of async spans and IdleRecords the number of idle samples;
	// Total excludes both.
	AsyncSpans  int64 `json:"async_spans_left_out,omitempty"`
	IdleRecords int64 `json:"idle_records_left_out,omitempty"`
	// Quality lists the problems of the recording; empty without problems.
	Quality []Problem `json:"quality"`
	// Top lists the functions with the largest self cost, Busiest the busiest threads: by self
	// cost or, for states of threads, by running time.
	Top     []Row    `json:"top"`
	Busiest []Thread `json:"busiest"`
	// Waits is the lock, channel or signal for which threads waited longest in total; absent if
	// the recording does not say where threads waited.
	Waits *Waits `json:"waits,omitempty"`
	// GPUs lists the devices whose work the recording has.
	GPUs []GPU `json:"gpus"`
	// Unusual lists the findings about what is unusual, empty if nothing is. Costs lists those
	// about what costs most, which healthy programs have, too.
	Unusual []findings.Finding `json:"unusual"`
	Costs   []findings.Finding `json:"costs"`
	// Next lists useful next commands.
	Next []Ask `json:"next"`

	rec    *recording.Recording
	metric *recording.Metric
	sum    int64
	left   analyze.LeftOut
	rows   []analyze.Row // rows of Top
}

// Tracks is the number of tracks of a kind: thread, async track, or for Go goroutine and
// processor.
type Tracks struct {
	Kind  string `json:"kind"`
	Count int64  `json:"count"`
}

// Counts holds the number of records of each kind.
type Counts struct {
	Spans     int64 `json:"spans"`
	Samples   int64 `json:"samples"`
	Stacks    int64 `json:"stacks"`
	Functions int64 `json:"functions"`
}

// Problem is a warning from reading the file. Numbers is true if it affects any numbers.
type Problem struct {
	Code    string `json:"code"`
	Count   int64  `json:"count"`
	Text    string `json:"text"`
	Numbers bool   `json:"changes_numbers"`
}

// Row is a function.
type Row struct {
	Name       string      `json:"name"`
	Module     string      `json:"module,omitempty"`
	Self       json.Number `json:"self"`
	SelfShare  json.Number `json:"self_share"`
	Total      json.Number `json:"total"`
	TotalShare json.Number `json:"total_share"`
	// The intervals are the 95 % confidence intervals of the shares, for sampling error
	// only; present only for sampled shares above zero.
	SelfInterval  *[2]json.Number `json:"self_interval,omitempty"`
	TotalInterval *[2]json.Number `json:"total_interval,omitempty"`
}

// Thread is a thread with its self cost, and its share of that of all threads.
type Thread struct {
	Name  string      `json:"name"`
	Self  json.Number `json:"self"`
	Share json.Number `json:"share"`
}

// Waits is what threads waited for at a place of the program: Lost is the sum of the waits, in
// nanoseconds.
type Waits struct {
	Place   string      `json:"place"`
	Lost    json.Number `json:"lost_ns"`
	Waits   int         `json:"waits"`
	Waiters int         `json:"waiters"`
	Longest json.Number `json:"longest_ns"`

	lost, longest int64
}

// GPU is a device: Busy is the share of Window, its time from first to last work, in which
// it worked.
type GPU struct {
	Name   string      `json:"name"`
	Window json.Number `json:"window_ns"`
	Busy   json.Number `json:"busy"`

	window, busy int64
}

// Ask is a question with the command that answers it.
type Ask struct {
	Question string `json:"question"`
	Command  string `json:"command"`
}

// Limits on the number of rows in an overview.
const (
	mostRows    = 8
	mostThreads = 5
	mostOthers  = 8
	mostUnusual = 6 // findings, except that fewestCosts are always listed
	fewestCosts = 2
	longest     = 90 // maximum length of a text from the file, in characters

	longestProblem = 160 // maximum length of a problem's text
)

// Of returns the overview of a recording.
func Of(ctx context.Context, rec *recording.Recording) (*Overview, error) {
	o := &Overview{File: rec.Source.Path, Format: strings.TrimSpace(rec.Source.Format + " " + rec.Source.Version), Tool: short(rec.Source.Tool), Recorded: short(rec.Source.Command),
		Tracks: []Tracks{}, Counts: Counts{rec.Counts.Spans, rec.Counts.Samples, rec.Counts.Stacks, rec.Counts.Functions},
		Total: "0", Others: []string{}, Quality: []Problem{}, Top: []Row{}, Busiest: []Thread{}, GPUs: []GPU{}, Next: []Ask{}, rec: rec, metric: &recording.Metric{}}
	for _, k := range rec.TrackKinds() {
		if o.Tracks = append(o.Tracks, Tracks(k)); k.Kind != recording.AsyncWord {
			o.Threads += int(k.Count)
		}
	}
	if rec.HasTime {
		n := exactnum.Nanoseconds(rec.Duration())
		o.Duration = &n
	}
	for i := range rec.Warnings {
		w := &rec.Warnings[i]
		o.Quality = append(o.Quality, Problem{w.Code, w.Count, safetext.Sentence(w.Text, longestProblem), !w.Minor})
	}
	o.Address = evidence.Address(view.State{}, rec)
	costs, err := findings.Weigh(ctx, rec)
	if err != nil {
		return nil, err
	}
	if err := o.weigh(ctx, costs); err != nil {
		return nil, err
	}
	found, err := costs.Findings(ctx)
	if err != nil {
		return nil, err
	}
	if o.Waits, err = mostWaited(ctx, costs, rec); err != nil {
		return nil, err
	}
	devices, err := gpu.Devices(ctx, rec)
	if err != nil {
		return nil, err
	}
	for _, d := range devices[:min(len(devices), mostThreads)] {
		window := d.To - d.From
		o.GPUs = append(o.GPUs, GPU{short(d.Name(rec)), exactnum.Nanoseconds(window), evidence.Share(d.Busy, window), window, d.Busy})
	}
	for i := range found {
		found[i].Numbers = nil // findings lists them
	}
	unusual, cost := findings.Split(found)
	o.Unusual = append([]findings.Finding{}, unusual[:min(len(unusual), mostUnusual)]...)
	o.Costs = append([]findings.Finding{}, cost[:min(len(cost), max(fewestCosts, mostUnusual-len(o.Unusual)))]...)
	o.ask(len(found))
	return o, nil
}

// mostWaited returns what threads waited for longest, nil if nothing is known. A lock goes
// before channels and signals, for which threads often wait because they have nothing to do.
func mostWaited(ctx context.Context, costs *findings.Costs, rec *recording.Recording) (*Waits, error) {
	all, err := costs.Locks(ctx)
	var most *waits.Lock
	for i := range all {
		l := &all[i]
		if l.Kind == waits.Others || len(l.Places) == 0 {
			continue
		}
		lock := l.Kind == waits.Locks && 20*l.Lost >= rec.Duration()
		if most == nil || l.Lost > most.Lost || lock {
			most = l
		}
		if lock {
			break // locks come first, the one with the longest waits before the others
		}
	}
	if most == nil {
		return nil, err
	}
	return &Waits{short(most.Title(rec)), exactnum.Nanoseconds(most.Lost), most.Waits, most.Waiters, exactnum.Nanoseconds(most.Longest), most.Lost, most.Longest}, nil
}

func short(s string) string {
	r := []rune(strings.TrimSpace(safetext.Text(s)))
	if len(r) > longest {
		return string(r[:longest/2]) + "…" + string(r[len(r)-longest/2:])
	}
	return string(r)
}

func (o *Overview) weigh(ctx context.Context, costs *findings.Costs) error {
	rec := o.rec
	for e := range rec.Events {
		for m := range rec.Events[e].Metrics {
			if (e != rec.DefaultEvent() || m != rec.Events[e].Primary) && len(o.Others) < mostOthers {
				o.Others = append(o.Others, short(rec.Events[e].NameOrKind())+"/"+short(rec.Events[e].Metrics[m].Name))
			}
		}
	}
	w, q := costs.Weights()
	if w == nil {
		return nil
	}
	o.metric = &rec.Events[q.Event].Metrics[q.Metric]
	o.Event, o.Metric, o.Unit = rec.Events[q.Event].Name, o.metric.Name, o.metric.Unit
	behind := costs.Sampled()
	o.sum, o.Total, o.Basis, o.Samples, o.left = w.Sum, exactnum.Value(w.Sum, o.metric), string(w.Basis), behind.Samples, w.Left
	o.AsyncSpans, o.IdleRecords = w.Left.AsyncSpans, w.Left.IdleRecords
	rows := costs.Rows()
	behind.By(rec, analyze.ByFunction)
	o.rows = rows[:min(len(rows), mostRows)]
	for i := range o.rows {
		r := &o.rows[i]
		of := behind.Row(r, w.Sum)
		o.Top = append(o.Top, Row{short(r.Name), short(analyze.ModuleBase(r.Module)), exactnum.Value(r.Self, o.metric), of.SelfShare, exactnum.Value(r.Total, o.metric), of.TotalShare, of.SelfInterval, of.TotalInterval})
	}
	sum := o.sum
	if w.Basis == analyze.States { // wall time is the same for all threads
		q.Metric, sum = recording.StateCPU, 0
	}
	threads, err := analyze.ByTrack(ctx, rec, q)
	if err != nil {
		return err
	}
	if w.Basis == analyze.States {
		for i := range threads {
			recording.Add(&sum, threads[i].Self)
		}
	}
	for i := range threads[:min(len(threads), mostThreads)] {
		if threads[i].Self > 0 {
			name := threads[i].Name
			if t := threads[i].Track; t != recording.NoTrack {
				name = rec.TrackLabel(t)
			}
			o.Busiest = append(o.Busiest, Thread{short(name), exactnum.Value(threads[i].Self, o.metric), evidence.Share(threads[i].Self, sum)})
		}
	}
	return nil
}

// ask lists the next commands: first the one for findings that the overview left out,
// then those that suit the recording.
func (o *Overview) ask(found int) {
	file := evidence.File(o.rec)
	add := func(question string, args ...string) {
		o.Next = append(o.Next, Ask{question, evidence.Command(o.rec, args...)})
	}
	if left := found - len(o.Unusual) - len(o.Costs); left > 0 {
		add(units.Plural(int64(left), "more finding"), "findings", file)
	}
	if o.sum == 0 {
		add("contents", "info", file)
		return
	}
	if len(o.GPUs) > 0 {
		add("GPU time by operator, idle time by cause, and slow steps", "gpu", file)
	}
	if o.Waits != nil {
		add("who waits for whom, and how long", "locks", file)
	}
	states := o.Basis == string(analyze.States)
	if states {
		for e := range o.rec.Events {
			if v := &o.rec.Events[e]; v.Basis == recording.FromSamples {
				add("where the running time went, by samples", "top", file, "--event", view.EventName(v))
				break
			}
		}
	}
	add("heaviest call paths", "top", file, "--tree", "-n", "20")
	first := slices.IndexFunc(o.rows, func(r analyze.Row) bool { return r.IsFunction(o.rec) })
	if first >= 0 && !states {
		f := analyze.RefTo(recording.Function{Name: o.Top[first].Name, Module: ""}).Text
		add("callers of the heaviest function", "top", file, "--callers-of", f)
		if o.Basis == string(analyze.Spans) {
			add("durations of its calls", "stats", file, "--function", f)
		}
	}
	if o.Threads > 1 {
		add("cost by thread", "top", file, "--by", "thread")
	}
	if len(o.Others) > 0 {
		add("all events, metrics, threads and notes", "info", file)
	}
	if slices.ContainsFunc(o.Quality, func(p Problem) bool { return p.Code != ingest.WarnKept }) { // concerns only the cached copy
		add("problems in the file", "check", file)
	}
}

// Text returns the overview for people.
func (o *Overview) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", safetext.Short(o.rec.Source.Name), o.Format)
	if o.Tool != "" {
		fmt.Fprintf(&b, " by %s", o.Tool)
	}
	for _, c := range append([]Tracks{{"span", o.Counts.Spans}, {"sample", o.Counts.Samples}, {"stack", o.Counts.Stacks}}, o.Tracks...) {
		if c.Count > 0 {
			fmt.Fprintf(&b, ", %s", units.Plural(c.Count, c.Kind))
		}
	}
	if o.Duration != nil {
		fmt.Fprintf(&b, ", %s", units.Duration(o.rec.Duration()))
	}
	b.WriteString("\n")
	if o.Recorded != "" {
		fmt.Fprintf(&b, "recorded: %s\n", o.Recorded)
	}
	if len(o.Quality) == 0 {
		b.WriteString("quality: no problems in the file\n")
	}
	for i, p := range o.Quality {
		if i == 4 {
			fmt.Fprintf(&b, "quality: %d more\n", len(o.Quality)-i)
			break
		}
		effect := "numbers unaffected"
		if p.Numbers {
			effect = "numbers affected"
		}
		fmt.Fprintf(&b, "quality: %s (%s, %s)\n", p.Text, units.Plural(p.Count, "time"), effect)
	}
	if len(o.Unusual) == 0 {
		b.WriteString("\nnothing unusual found (ashlar help findings lists the rules)\n")
	} else {
		b.WriteString("\nunusual\n")
	}
	for i := range o.Unusual {
		b.WriteString(o.Unusual[i].Text())
	}
	if len(o.Costs) > 0 || o.metric.Name != "" {
		start := ""
		if len(o.Unusual) == 0 && len(o.Costs) > 0 {
			start = " (if the program is too slow, start here)"
		}
		fmt.Fprintf(&b, "\n%s%s\n", strings.ToLower(findings.CostTitle(o.metric.Unit)), start)
	}
	for i := range o.Costs {
		b.WriteString(o.Costs[i].Text())
	}
	if len(o.Costs) > 0 {
		b.WriteString("\n")
	}
	if o.metric.Name != "" {
		o.cost(&b)
	}
	if w := o.Waits; w != nil {
		thread := o.rec.ThreadWord(recording.NoTrack)
		fmt.Fprintf(&b, "waits: %s in %s of %s, longest %s: %s\n", units.Duration(w.lost), units.Plural(int64(w.Waits), "wait"), units.Plural(int64(w.Waiters), thread), units.Duration(w.longest), w.Place)
	}
	for _, d := range o.GPUs {
		fmt.Fprintf(&b, "%s: busy %s of %s\n", d.Name, units.Percent(d.busy, d.window), units.Duration(d.window))
	}
	b.WriteString("\nnext steps\n")
	for _, a := range o.Next {
		fmt.Fprintf(&b, "  %s\n      %s\n", a.Command, a.Question)
	}
	return b.String()
}

// cost writes the total, the functions with the largest self cost and the busiest
// threads.
func (o *Overview) cost(b *strings.Builder) {
	what := short(o.metric.Name)
	if o.Event != "" {
		what += " of " + short(o.Event)
	}
	fmt.Fprintf(b, "total %s%s, %s, from %s%s\n", units.Bound(o.metric), units.Value(o.sum, o.metric), what, o.Basis, evidence.LeftOut(&o.left, o.metric))
	for i, r := range o.Top {
		fmt.Fprintf(b, "%12s %7s self %12s %7s total  %s", units.Value(o.rows[i].Self, o.metric), units.Percent(o.rows[i].Self, o.sum), units.Value(o.rows[i].Total, o.metric), units.Percent(o.rows[i].Total, o.sum), r.Name)
		if r.Module != "" {
			b.WriteString("  " + r.Module)
		}
		b.WriteString("\n")
	}
	if len(o.Busiest) > 1 {
		var names []string
		for _, t := range o.Busiest {
			f, _ := t.Share.Float64()
			names = append(names, fmt.Sprintf("%.0f %% %s", 100*f, t.Name))
		}
		running := ""
		if o.Basis == string(analyze.States) {
			running = "running "
		}
		fmt.Fprintf(b, "%s%ss: %s\n", running, o.rec.ThreadWord(recording.NoTrack), strings.Join(names, ", "))
	}
}
