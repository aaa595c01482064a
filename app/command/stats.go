package command

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/pflag"

	"ashlar/app/core/evidence"
	"ashlar/app/core/exactnum"
	"ashlar/app/core/subcommand"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/ingest/query/calls"
	"ashlar/ingest/query/spans"
)

func statsCommand() command {
	return own(subcommand.Command{
		Name: "stats", Args: "FILE --function F [flags]", Line: "show the durations of a function's calls",
		Text: `
For a trace: minimum, maximum, mean and percentiles (nearest rank, so each is
the duration of a real call), a histogram, the slowest ten calls, and the trend
over time. Modes (groups of calls with similar durations) are printed as --calls
takes them. --metric cpu or waiting measures the CPU or off-CPU time of calls.
Samples show only single moments: for them, the answer says how often the
function was seen, and for how long at a time.`,
		Examples: [][2]string{
			{"ashlar stats run.spall --function parse", "durations of parse"},
			{"ashlar stats run.spall -f '/^read/' --range 1s..2s", "functions whose names start with read, in one second"},
			{"ashlar stats trace.json -f RunTask --metric waiting", "off-CPU time of its calls (Chrome's tdur and tts)"},
			{"ashlar stats run.spall -f parse@libxml2.so --json --histogram linear", "as JSON"},
		},
		Answer: stats{},
	}, func(fs *pflag.FlagSet) func(*call, []string) error {
		var o statsOptions
		fs.StringVarP(&o.function, "function", "f", "", "the `FUNCTION`: its name, NAME@MODULE, or a /regular expression/")
		o.flags(fs)
		o.add(fs)
		o.calls.add(fs)
		demo := demoFlag(fs)
		cacheFlag(fs)
		return func(c *call, args []string) (err error) {
			if err := o.parse(args, *demo); err != nil {
				return err
			}
			if o.function == "" {
				return misuse("name a function with --function")
			}
			return c.stats(&o)
		}
	})
}

type statsOptions struct {
	chooser
	lengthFlags
	function string
}

func (c *call) stats(o *statsOptions) error {
	rec, in, err := o.open(c)
	if err != nil {
		return err
	}
	ref := analyze.Named(o.function)
	of := ref.Functions(rec)
	if len(of) == 0 {
		return fmt.Errorf("%s: %w", rec.Source.Path, ref.Missing(rec))
	}
	q := analyze.Query{}
	if q.Event, q.Metric, err = statsEvent(rec, o, of); err != nil {
		return misuse("%s: %w", rec.Source.Path, err)
	}
	if q.Scope, err = o.calls.in(c.ctx, rec, in); err != nil {
		return err
	}
	s := &stats{Function: o.function, Unit: "ns", File: rec.Source.Path, lengths: lengthsOf(nil, nil, nil), Slowest: []statsSpan{}, rec: rec}
	s.name(of)
	if q.Event >= 0 && rec.Events[q.Event].Basis == recording.FromSpans {
		metric := recording.SpanTime
		if q.Metric >= recording.SpanCPU {
			metric, s.metric = q.Metric, &rec.Events[q.Event].Metrics[q.Metric]
		}
		s.Time = rec.Events[q.Event].Metrics[metric].Name
		s.durations, err = calls.Durations(c.ctx, rec, q.Scope, of, metric)
		if err == nil {
			var named *calls.Query // set if calls of a mode can be selected, too
			if metric == recording.SpanTime && !o.calls.isSet() {
				named = &calls.Query{Functions: []string{o.function}}
			}
			s.ofSpans(o.bins(s.durations), named)
		}
	} else if q.Event >= 0 {
		s.presence, err = spans.PresenceOf(c.ctx, rec, q, of)
		if err == nil {
			s.ofRecords(&rec.Events[q.Event], q.Metric)
		}
	}
	if err == nil && o.json {
		err = s.evidence(c, o, q, of)
	}
	if err != nil {
		return err
	}
	return c.answer(rec, o.json, s, s.text)
}

// statsEvent returns the event and metric to use. Unless the flags say otherwise, it
// prefers spans of the function.
func statsEvent(rec *recording.Recording, o *statsOptions, of []recording.FuncID) (event, metric int, err error) {
	if o.event == "" && o.metric == "" {
		called := map[recording.FuncID]bool{}
		for c, n := range rec.SpanCount {
			if n > 0 && c > 0 {
				called[rec.Func(recording.CallID(c))] = true
			}
		}
		for e := range rec.Events {
			for _, f := range of {
				if rec.Events[e].Basis == recording.FromSpans && called[f] {
					return e, rec.Events[e].Primary, nil
				}
			}
		}
	}
	return analyze.Choose(rec, o.event, o.metric)
}

// stats is the JSON output of stats. Times are exact decimals in nanoseconds, starts
// counted from the recording's start; null if unknown, with the reason in Cannot.
type stats struct {
	// Function is the name as typed, Functions the functions that match it.
	Function string `json:"function"`
	Unit     string `json:"unit"`
	Count    *int64 `json:"count"`
	lengths
	Slowest []statsSpan `json:"slowest"`

	// Time is the kind of time that was measured: time, cpu or waiting; empty without
	// spans. WithoutCPU is the number of calls whose CPU time is unknown. If Time is
	// cpu or waiting, Count excludes them.
	Time       string `json:"time,omitempty"`
	WithoutCPU int64  `json:"untold_spans,omitempty"`
	// Unfinished is the number of calls that never ended. They count with the length that
	// the timeline draws.
	Unfinished int64           `json:"unfinished"`
	File       string          `json:"file"`
	Functions  []statsFunction `json:"functions"`
	// Address shows the function's calls, or its samples.
	Address string `json:"address"`
	// Basis is the kind of records behind the answer.
	Basis    string        `json:"basis"`
	OverTime []statsMoment `json:"over_time,omitempty"`
	Trend    *statsTrend   `json:"trend,omitempty"`
	Cannot   string        `json:"cannot,omitempty"`
	Seen     *statsSeen    `json:"seen,omitempty"`

	rec       *recording.Recording
	bins      []spans.Bin // bins of the histogram
	durations *spans.Durations
	presence  *spans.Presence
	metric    *recording.Metric
}

type statsFunction struct {
	Name   string `json:"name"`
	Module string `json:"module"`
}

type statsSpan struct {
	Start    json.Number `json:"start"`
	Duration json.Number `json:"duration"`
	PID      exactnum.ID `json:"pid"`
	TID      exactnum.ID `json:"tid"`
	// Unfinished is present if the span never ended.
	Unfinished bool `json:"unfinished,omitempty"`
}

// statsMoment is a section of the time range with the calls that begin in it; Median is
// null if there are none.
type statsMoment struct {
	From   json.Number  `json:"from"`
	To     json.Number  `json:"to"`
	Count  int64        `json:"count"`
	Median *json.Number `json:"median"`
}

// statsTrend is the JSON form of spans.Trend. Says is slower, faster, steady or unknown.
type statsTrend struct {
	Says    string      `json:"says"`
	First   json.Number `json:"first"`
	Last    json.Number `json:"last"`
	Tau     json.Number `json:"tau"`
	P       json.Number `json:"p"`
	Moments int         `json:"moments"`
}

// statsSeen describes records other than spans: how many contain the function, and in how
// many it is innermost.
type statsSeen struct {
	Records  int64       `json:"records"`
	Leaf     int64       `json:"leaf"`
	Of       int64       `json:"of"`
	Metric   string      `json:"metric"`
	Total    json.Number `json:"total"`
	Self     json.Number `json:"self"`
	OfWeight json.Number `json:"of_weight"`
	// SelfShare and TotalShare are fractions of OfWeight, which is based on Samples. The
	// intervals are their 95 % confidence intervals, for sampling error only, as in top.
	SelfShare     json.Number     `json:"self_share"`
	TotalShare    json.Number     `json:"total_share"`
	Samples       int64           `json:"samples,omitempty"`
	SelfInterval  *[2]json.Number `json:"self_interval,omitempty"`
	TotalInterval *[2]json.Number `json:"total_interval,omitempty"`
	// Negative is the sum of the negative values in the total.
	Negative json.Number `json:"negative,omitempty"`
	// OverTime holds the numbers of samples with the function and of all samples, by
	// section of the time range.
	OverTime []seenMoment `json:"over_time,omitempty"`
	Runs     *seenRuns    `json:"runs,omitempty"`
}

type seenMoment struct {
	From  json.Number `json:"from"`
	To    json.Number `json:"to"`
	Count int64       `json:"count"`
	Of    int64       `json:"of"`
}

type seenRuns struct {
	Count         int64       `json:"count"`
	MedianSamples int64       `json:"median_samples"`
	P90Samples    int64       `json:"p90_samples"`
	MostSamples   int64       `json:"most_samples"`
	Longest       json.Number `json:"longest"`
	Start         json.Number `json:"start"`
	PID           exactnum.ID `json:"pid"`
	TID           exactnum.ID `json:"tid"`
}

// evidence adds the confidence intervals of shares, and the address.
func (s *stats) evidence(c *call, o *statsOptions, q analyze.Query, of []recording.FuncID) error {
	v := evidence.Of(s.rec, q)
	f := s.rec.Functions.At(int(of[0]))
	v.Function = &recording.FuncName{Name: f.Name, Module: f.Module}
	if s.Address = o.address(c, s.rec, v); s.Seen == nil {
		return nil
	}
	w, err := analyze.Weigh(c.ctx, s.rec, q)
	if err != nil {
		return err
	}
	behind, err := evidence.SampledOf(c.ctx, s.rec, q, w)
	p := s.presence
	s.Seen.Samples, s.Seen.SelfShare, s.Seen.TotalShare = behind.Samples, evidence.Share(p.Self, p.OfWeight), evidence.Share(p.Total, p.OfWeight)
	s.Seen.SelfInterval, s.Seen.TotalInterval = behind.Interval(p.Self, p.OfWeight), behind.Interval(p.Total, p.OfWeight)
	return err
}

func (s *stats) name(of []recording.FuncID) {
	for _, f := range of {
		fn := s.rec.Functions.At(int(f))
		s.Functions = append(s.Functions, statsFunction{fn.Name, fn.Module})
	}
}

func (s *stats) at(ps int64) json.Number { return exactnum.Nanoseconds(ps - s.rec.Start) }

func (s *stats) ofSpans(bins []spans.Bin, of *calls.Query) {
	d := s.durations
	s.Basis, s.Count, s.Unfinished, s.WithoutCPU = string(analyze.Spans), &d.Count, d.Unfinished, d.WithoutCPU
	if d.Count == 0 {
		s.Cannot = "The function has no calls in this selection."
		if d.WithoutCPU > 0 {
			s.Cannot = "No call has a CPU time."
		}
		return
	}
	s.bins, s.lengths = bins, lengthsOf(d, bins, of)
	for _, x := range d.Slowest {
		t := s.rec.Tracks[x.Track]
		s.Slowest = append(s.Slowest, statsSpan{s.at(x.Start), exactnum.Nanoseconds(x.Duration), exactnum.ID(t.PID), exactnum.ID(t.TID), x.Unfinished})
	}
	for _, m := range d.OverTime {
		mo := statsMoment{From: s.at(m.From), To: s.at(m.To), Count: m.Count}
		if m.Count > 0 {
			mo.Median = ns(m.Median)
		}
		s.OverTime = append(s.OverTime, mo)
	}
	t := &d.Trend
	s.Trend = &statsTrend{string(t.Direction), exactnum.Measured(t.First/1000, 3), exactnum.Measured(t.Last/1000, 3), exactnum.Measured(t.Tau, 4), exactnum.Measured(t.P, 6), t.Moments}
}

// Reasons why an answer that needs spans is not available.
const (
	cannotSamples = "Samples show single moments, not the start and end of calls, so call durations are unknown."
	cannotStacks  = "Aggregated profile: no timestamps, so times and durations of the function are unknown."
)

func (s *stats) ofRecords(e *recording.Event, metric int) {
	p := s.presence
	s.metric = &e.Metrics[metric]
	s.Basis, s.Cannot = string(p.Basis), cannotStacks
	seen := &statsSeen{Records: p.Records, Leaf: p.Leaf, Of: p.Of, Metric: s.metric.Name,
		Total: exactnum.Value(p.Total, s.metric), Self: exactnum.Value(p.Self, s.metric), OfWeight: exactnum.Value(p.OfWeight, s.metric)}
	if p.Negative != 0 {
		seen.Negative = exactnum.Value(p.Negative, s.metric)
	}
	s.Seen = seen
	for i, b := range p.OverTime {
		seen.OverTime = append(seen.OverTime, seenMoment{s.at(b.From), s.at(b.To), b.Count, p.OfOverTime[i].Count})
	}
	if r := p.Runs; r != nil {
		s.Cannot = cannotSamples
		if r.Count > 0 {
			t := s.rec.Tracks[r.Track]
			seen.Runs = &seenRuns{r.Count, r.Median, r.P90, r.Most, exactnum.Nanoseconds(r.Longest), s.at(r.Start), exactnum.ID(t.PID), exactnum.ID(t.TID)}
		}
	}
}
