package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"strconv"

	"github.com/spf13/pflag"

	"ashlar/ingest"
	"ashlar/ingest/analyze"
	"ashlar/ingest/recording"
)

func infoCommand() command {
	return command{
		name: "info", args: "FILE [--json]", line: "list what is in a recording",
		text: `
Totals are exact. Warnings name what was wrong with the file and the first
place of each; the ledger counts each kind of record: read, kept, repaired and
left out. When reading had to stop
early, the part that was read is printed and the exit code is 1.`,
		examples: [][2]string{
			{"ashlar info run.spaa.zst", "list what is in a recording"},
			{"ashlar info run.spall --json | jq .counts", "the same for programs"},
			{"zcat run.json.gz | ashlar info -", "read standard input"},
		},
		setup: func(fs *pflag.FlagSet) func(*call, []string) error {
			asJSON := fs.Bool("json", false, "print JSON")
			budgetFlag(fs)
			var only partFlags
			only.rangeFlag(fs)
			only.threadFlag(fs)
			demo := demoFlag(fs)
			cacheFlag(fs)
			return func(c *call, args []string) error {
				path, err := oneFile(args, *demo)
				if err != nil {
					return err
				}
				part, err := only.part()
				if err != nil {
					return err
				}
				rec, stats, err := c.read(path, part)
				if err != nil {
					return err
				}
				c.watch("the answer")
				in := newInfo(rec, stats)
				if err := in.below(c.ctx, rec); err != nil {
					return err
				}
				return c.answer(rec, *asJSON, in, func() string { return in.text(rec) })
			}
		},
	}
}

// info is the JSON output of info. Values of metrics and times are
// exact decimals.
type info struct {
	Format      string        `json:"format"`
	Version     string        `json:"version"`
	File        string        `json:"file"`
	Bytes       int64         `json:"bytes"` // on disk; of a pipe, what was read
	Compression string        `json:"compression"`
	Tool        string        `json:"tool"`
	Notes       []infoNote    `json:"notes"`
	Events      []infoEvent   `json:"events"`
	Time        *infoTime     `json:"time"` // null where nothing has a time
	Threads     []infoThread  `json:"threads"`
	Contexts    []infoContext `json:"contexts"`
	Counts      infoCounts    `json:"counts"`
	Pairs       int64         `json:"pairs,omitempty"` // of user and kernel stacks, for top --join-related
	Warnings    []infoWarning `json:"warnings"`
	Ledger      []infoTally   `json:"ledger"`
	Load        infoLoad      `json:"load"`
}

// infoNote is something that the file says of itself.
type infoNote struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

type infoEvent struct {
	Name    string       `json:"name"`
	Kind    string       `json:"kind"`
	Mode    string       `json:"mode"`
	Note    string       `json:"note,omitempty"`
	Metrics []infoMetric `json:"metrics"`
}

// infoMetric is a metric. Kind is sum, level (a state at one moment, which adds
// up over stacks but not over time) or peak (each stack's own maximum). Peaks do
// not add up: they have no total, but the largest of a stack and what they come
// to at most.
type infoMetric struct {
	Name    string       `json:"name"`
	Unit    string       `json:"unit"`
	Kind    string       `json:"kind"`
	Total   *json.Number `json:"total"` // null for peaks
	Primary bool         `json:"primary"`
	Largest *json.Number `json:"largest,omitempty"`
	AtMost  *json.Number `json:"at_most,omitempty"`
	// Negative sums the stacks of the total that are below zero.
	Negative *json.Number `json:"negative,omitempty"`

	largest, negative, sum int64
}

func newInfoMetric(rec *recording.Recording, event, metric int) infoMetric {
	e := &rec.Events[event]
	m := &e.Metrics[metric]
	total := exact(m.Total, m)
	im := infoMetric{sum: m.Total, Name: m.Name, Unit: m.Unit, Kind: m.Kind.String(), Total: &total, Primary: metric == e.Primary}
	if m.Kind == recording.Peak {
		im.largest = largest(rec.Stacks[event], metric)
		most := exact(im.largest, m)
		im.Total, im.Largest, im.AtMost = nil, &most, &total
	}
	return im
}

// below adds what is below zero of each total, which the time of spans never is.
func (in *info) below(ctx context.Context, rec *recording.Recording) error {
	for e := range rec.Events {
		for k := range in.Events[e].Metrics {
			im, m := &in.Events[e].Metrics[k], &rec.Events[e].Metrics[k]
			if m.Kind == recording.Peak || rec.Events[e].Basis == recording.FromSpans && m.Total != recording.Missing {
				continue
			}
			w, err := analyze.Weigh(ctx, rec, analyze.Query{Event: e, Metric: k})
			if err != nil {
				return err
			}
			if m.Total == recording.Missing {
				im.sum = w.Sum
				n := exact(w.Sum, m)
				im.Total = &n
				continue
			}
			if im.negative = w.Negative(); im.negative != 0 {
				n := exact(im.negative, m)
				im.Negative = &n
			}
		}
	}
	return nil
}

// largest is the largest value of a stack record, 0 where there is none.
func largest(s *recording.Stacks, metric int) int64 {
	most := int64(recording.Missing)
	if s != nil {
		for i := range s.Len() {
			most = max(most, s.Value(i, metric))
		}
	}
	if most == recording.Missing {
		return 0
	}
	return most
}

type infoTime struct {
	Start    json.Number `json:"start"` // as the file writes it, in Unit
	End      json.Number `json:"end"`
	Unit     string      `json:"unit"`
	Duration json.Number `json:"duration_ns"`
}

type infoThread struct {
	PID  id     `json:"pid"`
	TID  id     `json:"tid"`
	Name string `json:"name"`
	// Process is its process's name, with the labels that the file gives it.
	Process  string `json:"process,omitempty"`
	Spans    int64  `json:"spans"`
	Samples  int64  `json:"samples"`
	MaxDepth int    `json:"max_depth"`
	// Stacks are aggregated records, which profiles have.
	Stacks int64 `json:"stacks"`
	// Async marks rows of operations that are no thread's.
	Async bool `json:"async,omitempty"`
}

// infoContext sums up what stack records have under a key of their contexts: how many
// different values there are, and the most common of them.
type infoContext struct {
	Key    string             `json:"key"`
	Values int                `json:"values"`
	Top    []infoContextValue `json:"top"`
}

type infoContextValue struct {
	Value  string `json:"value"`
	Stacks int64  `json:"stacks"`
}

// mostValues bounds the values printed of a context key.
const mostValues = 8

func contextsOf(rec *recording.Recording) []infoContext {
	out := []infoContext{}
	for _, k := range analyze.AllContexts(rec) {
		c := infoContext{Key: k.Key, Values: len(k.Values)}
		for _, v := range k.Values[:min(mostValues, len(k.Values))] {
			c.Top = append(c.Top, infoContextValue{v.Value, v.Count})
		}
		out = append(out, c)
	}
	return out
}

type infoCounts struct {
	Spans      int64 `json:"spans"`
	Unfinished int64 `json:"unfinished"`
	Samples    int64 `json:"samples"`
	Stacks     int64 `json:"stacks"`
	Frames     int64 `json:"frames"`
	Functions  int64 `json:"functions"`
	Windows    int64 `json:"windows"`
	Instants   int64 `json:"instants"`
	Counters   int64 `json:"counters"`
	Flows      int64 `json:"flows"`
	States     int64 `json:"states"`
}

type infoWarning struct {
	Code  string `json:"code"`
	Count int64  `json:"count"`
	First string `json:"first"`
	Text  string `json:"text"`
	Minor bool   `json:"minor,omitempty"` // a note: it changes no number and no bar
}

type infoTally struct {
	Kind          string `json:"kind"`
	Read          int64  `json:"read"`
	Kept          int64  `json:"kept"`
	Repaired      int64  `json:"repaired"`
	LeftOut       int64  `json:"left_out"`
	FirstRepaired string `json:"first_repaired"`
	FirstLeftOut  string `json:"first_left_out"`
}

type infoLoad struct {
	Seconds         json.Number `json:"seconds"`
	BytesPerSecond  json.Number `json:"bytes_per_second"`
	EventsPerSecond json.Number `json:"events_per_second"`
	PeakRSS         int64       `json:"peak_rss_bytes"`
}

func newInfo(rec *recording.Recording, stats ingest.Stats) *info {
	s := &rec.Source
	in := &info{
		Format: s.Format, Version: s.Version, File: s.Path, Bytes: s.Bytes,
		Compression: s.Compression, Tool: s.Tool,
		Events: []infoEvent{}, Threads: threadsOf(rec), Contexts: contextsOf(rec), Counts: infoCounts(rec.Counts), Pairs: rec.Pairs(),
		Warnings: []infoWarning{}, Ledger: []infoTally{},
		Load: infoLoad{
			Seconds:         decimal(stats.Elapsed.Seconds(), 6),
			BytesPerSecond:  decimal(stats.BytesPerSecond(), 0),
			EventsPerSecond: decimal(stats.EventsPerSecond(), 0),
			PeakRSS:         stats.PeakRSS,
		},
	}
	in.Notes = make([]infoNote, len(s.Notes))
	for i, n := range s.Notes {
		in.Notes[i] = infoNote(n)
	}
	if in.Bytes < 0 {
		in.Bytes = stats.Bytes
	}
	for i := range rec.Events {
		e := &rec.Events[i]
		ie := infoEvent{Name: e.Name, Kind: e.Kind, Mode: e.Mode, Note: e.Note, Metrics: []infoMetric{}}
		for k := range e.Metrics {
			ie.Metrics = append(ie.Metrics, newInfoMetric(rec, i, k))
		}
		in.Events = append(in.Events, ie)
	}
	if rec.HasTime {
		in.Time = &infoTime{
			Start: json.Number(rec.Clock.Text(rec.Start)), End: json.Number(rec.Clock.Text(rec.End)),
			Unit: rec.Clock.Unit, Duration: nanoseconds(rec.Duration()),
		}
	}
	for _, w := range rec.Warnings {
		in.Warnings = append(in.Warnings, infoWarning{w.Code, w.Count, w.First, w.Text, w.Minor})
	}
	for _, t := range rec.Ledger {
		in.Ledger = append(in.Ledger, infoTally(t))
	}
	return in
}

// id is that of a process or thread; null in JSON where it is text in the file.
type id int64

func (i id) String() string { return recording.IDText(int64(i)) }

// MarshalJSON implements json.Marshaler.
func (i id) MarshalJSON() ([]byte, error) { return []byte(cmp.Or(i.String(), "null")), nil }

// threadsOf lists the tracks in the file's order.
func threadsOf(rec *recording.Recording) []infoThread {
	threads := make([]infoThread, len(rec.Tracks))
	for i, t := range rec.Tracks {
		th := infoThread{PID: id(t.PID), TID: id(t.TID), Name: t.Name, Spans: int64(t.Spans()), Async: t.Kind == recording.AsyncTrack}
		if t.Process >= 0 && t.Process < len(rec.Processes) {
			th.Process = rec.Processes[t.Process].Title()
		}
		for k := range t.Lanes {
			// The spans of a lane are equally deep.
			if l := &t.Lanes[k]; l.Len() > 0 {
				th.MaxDepth = max(th.MaxDepth, rec.Calls.Depth(l.Call(0)))
			}
		}
		for _, s := range t.Samples {
			th.Samples += int64(s.Len())
			th.MaxDepth = max(th.MaxDepth, s.Depth())
		}
		threads[i] = th
	}
	for _, s := range rec.Stacks {
		if s == nil {
			continue
		}
		for i := range s.Len() {
			if t := s.Track(i); t != recording.NoTrack {
				threads[t].Stacks++
				threads[t].MaxDepth = max(threads[t].MaxDepth, rec.Calls.Depth(s.Call(i)))
			}
		}
	}
	return threads
}

// exact is a metric's value as a decimal in its unit.
func exact(v int64, m *recording.Metric) json.Number {
	return json.Number(recording.Decimal{Mantissa: v, Scale: m.Decimals}.String())
}

// nanoseconds is a time of picoseconds as an exact decimal.
func nanoseconds(ps int64) json.Number {
	return json.Number(recording.Decimal{Mantissa: ps, Scale: 3}.String())
}

// decimal is a measured number, without an exponent.
func decimal(v float64, digits int) json.Number {
	return json.Number(strconv.FormatFloat(v, 'f', digits, 64))
}

func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
