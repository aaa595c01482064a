// Package contents implements "ashlar info": metadata, events with their totals, threads,
// counts, warnings and load time.
package contents

import (
	"context"
	"encoding/json"
	"fmt"

	"ashlar/app/core/bundle"
	"ashlar/app/core/exactnum"
	"ashlar/ingest"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
)

// Contents is the output of "ashlar info", also as JSON. Values of metrics and times are
// exact decimals.
type Contents struct {
	Format      string    `json:"format"`
	Version     string    `json:"version"`
	File        string    `json:"file"`
	Address     string    `json:"address"` // shows the file in the window
	Bytes       int64     `json:"bytes"`   // on disk; for a pipe, bytes read
	Compression string    `json:"compression"`
	Tool        string    `json:"tool"`
	Notes       []Note    `json:"notes"`
	Mappings    []Mapping `json:"mappings,omitempty"`    // of binaries in memory, as listed by a profile
	FrameTypes  []string  `json:"frame_types,omitempty"` // kinds of code, by their OpenTelemetry names
	Events      []Event   `json:"events"`
	Time        *Time     `json:"time"` // null if nothing has a time
	Threads     []Thread  `json:"threads"`
	Contexts    []Context `json:"contexts"`
	Counts      Counts    `json:"counts"`
	Pairs       int64     `json:"pairs,omitempty"` // pairs of user and kernel stacks, counted once; top --split-related separates them
	Views       []string  `json:"views,omitempty"` // addresses of the views in a bundle
	Warnings    []Warning `json:"warnings"`
	Ledger      []Tally   `json:"ledger"`
	Load        Load      `json:"load"`

	rec *recording.Recording
}

// Of returns the contents of a recording, with the statistics from reading it. It
// computes totals that the file lacks. It fails only if ctx ends.
func Of(ctx context.Context, rec *recording.Recording, stats ingest.Stats) (*Contents, error) {
	s := &rec.Source
	in := &Contents{
		rec:    rec,
		Format: s.Format, Version: s.Version, File: s.Path, Bytes: s.Bytes,
		Compression: s.Compression, Tool: s.Tool,
		Events: []Event{}, Threads: threadsOf(rec), Contexts: contextsOf(rec), Counts: Counts(rec.Counts), Pairs: rec.Pairs(), Views: bundle.Views(s.At(s.Path), s.Path),
		Warnings: []Warning{}, Ledger: []Tally{},
		Load: Load{
			Seconds:         exactnum.Measured(stats.Elapsed.Seconds(), 6),
			BytesPerSecond:  exactnum.Measured(stats.BytesPerSecond(), 0),
			EventsPerSecond: exactnum.Measured(stats.EventsPerSecond(), 0),
			PeakRSS:         stats.PeakRSS,
		},
	}
	in.Notes = make([]Note, len(s.Notes))
	for i, n := range s.Notes {
		in.Notes[i] = Note(n)
	}
	for i := range s.Mappings {
		in.Mappings = append(in.Mappings, newMapping(&s.Mappings[i]))
	}
	in.FrameTypes = s.FrameTypes
	if in.Bytes < 0 {
		in.Bytes = stats.Bytes
	}
	for i := range rec.Events {
		e := &rec.Events[i]
		ie := Event{Name: e.Name, Kind: e.Kind, Mode: e.Mode, Note: e.Note, Metrics: []Metric{}}
		for k := range e.Metrics {
			ie.Metrics = append(ie.Metrics, newMetric(rec, i, k))
		}
		in.Events = append(in.Events, ie)
	}
	if rec.HasTime {
		in.Time = &Time{
			Start: json.Number(rec.Clock.Text(rec.Start)), End: json.Number(rec.Clock.Text(rec.End)),
			Unit: rec.Clock.Unit, Duration: exactnum.Nanoseconds(rec.Duration()),
		}
	}
	for _, w := range rec.Warnings {
		in.Warnings = append(in.Warnings, Warning{w.Code, w.Count, w.First, w.Text, w.Minor, w.Error})
	}
	for _, t := range rec.Ledger {
		in.Ledger = append(in.Ledger, Tally(t))
	}
	if err := in.below(ctx); err != nil {
		return nil, err
	}
	return in, nil
}

// Note is a note of the file about itself.
type Note struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// Mapping is an address range to which a binary was mapped. Start, Limit and Offset (in
// the binary's file) are hexadecimal.
type Mapping struct {
	File            string `json:"file"`
	BuildID         string `json:"build_id,omitempty"`
	Start           string `json:"start"`
	Limit           string `json:"limit"`
	Offset          string `json:"offset"`
	HasFunctions    bool   `json:"has_functions"`
	HasFilenames    bool   `json:"has_filenames"`
	HasLineNumbers  bool   `json:"has_line_numbers"`
	HasInlineFrames bool   `json:"has_inline_frames"`
}

func newMapping(m *recording.Mapping) Mapping {
	return Mapping{m.File, m.BuildID, hex(m.Start), hex(m.Limit), hex(m.Offset), m.HasFunctions, m.HasFilenames, m.HasLineNumbers, m.HasInlineFrames}
}

func hex(v uint64) string { return fmt.Sprintf("0x%x", v) }

type Event struct {
	Name    string   `json:"name"`
	Kind    string   `json:"kind"`
	Mode    string   `json:"mode"`
	Note    string   `json:"note,omitempty"`
	Metrics []Metric `json:"metrics"`
}

// Metric is a metric. Kind is sum, level (a state at one moment, which adds up over
// stacks but not over time) or peak (each stack's own maximum). Peaks do not add up: they
// have no total, but the largest value of a stack and an upper bound for the total.
type Metric struct {
	Name    string       `json:"name"`
	Unit    string       `json:"unit"`
	Kind    string       `json:"kind"`
	Total   *json.Number `json:"total"` // null for peaks
	Primary bool         `json:"primary"`
	Largest *json.Number `json:"largest,omitempty"`
	AtMost  *json.Number `json:"at_most,omitempty"`
	// Negative is the part of the total that comes from stacks with negative values.
	Negative *json.Number `json:"negative,omitempty"`

	largest, negative, sum int64
}

func newMetric(rec *recording.Recording, event, metric int) Metric {
	e := &rec.Events[event]
	m := &e.Metrics[metric]
	total := exactnum.Value(m.Total, m)
	im := Metric{sum: m.Total, Name: m.Name, Unit: m.Unit, Kind: m.Kind.String(), Total: &total, Primary: metric == e.Primary}
	if m.Kind == recording.Peak {
		im.largest = largest(rec.Stacks[event], metric)
		most := exactnum.Value(im.largest, m)
		im.Total, im.Largest, im.AtMost = nil, &most, &total
	}
	return im
}

// below adds totals that the file lacks, and the negative part of each total. Time of
// spans is never negative.
func (in *Contents) below(ctx context.Context) error {
	rec := in.rec
	for e := range rec.Events {
		for k := range in.Events[e].Metrics {
			im, m := &in.Events[e].Metrics[k], &rec.Events[e].Metrics[k]
			if m.Kind == recording.Peak || rec.Events[e].Basis == recording.FromSpans && m.Total != recording.Missing {
				continue
			}
			q := analyze.Query{Event: e, Metric: k}
			if m.Total != recording.Missing && q.Basis(rec) == analyze.Stacks && !rec.Stacks[e].AnyBelow(k) {
				continue
			}
			w, err := analyze.Weigh(ctx, rec, q)
			if err != nil {
				return err
			}
			if m.Total == recording.Missing {
				im.sum = w.Sum
				n := exactnum.Value(w.Sum, m)
				im.Total = &n
				continue
			}
			if im.negative = w.Negative(); im.negative != 0 {
				n := exactnum.Value(im.negative, m)
				im.Negative = &n
			}
		}
	}
	return nil
}

// largest returns the largest value of a stack record, 0 if there are none.
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

type Time struct {
	Start    json.Number `json:"start"` // as in the file, in Unit
	End      json.Number `json:"end"`
	Unit     string      `json:"unit"`
	Duration json.Number `json:"duration_ns"`
}

type Thread struct {
	PID  exactnum.ID `json:"pid"`
	TID  exactnum.ID `json:"tid"`
	Name string      `json:"name"`
	// Process is the process's name with its labels from the file.
	Process  string `json:"process,omitempty"`
	Spans    int64  `json:"spans"`
	Samples  int64  `json:"samples"`
	MaxDepth int    `json:"max_depth"`
	// Stacks is the number of aggregated records, as found in profiles.
	Stacks int64 `json:"stacks"`
	// Async marks rows of operations that belong to no thread.
	Async bool `json:"async,omitempty"`
}

// Context summarizes the values of one key in the contexts of stack records: how many
// different values there are, and the most common ones.
type Context struct {
	Key    string         `json:"key"`
	Values int            `json:"values"`
	Top    []ContextValue `json:"top"`
}

type ContextValue struct {
	Value  string `json:"value"`
	Stacks int64  `json:"stacks"`
}

// mostValues is the maximum number of values listed for a context key.
const mostValues = 8

func contextsOf(rec *recording.Recording) []Context {
	out := []Context{}
	for _, k := range analyze.AllContexts(rec) {
		c := Context{Key: k.Key, Values: len(k.Values)}
		for _, v := range k.Values[:min(mostValues, len(k.Values))] {
			c.Top = append(c.Top, ContextValue{v.Value, v.Count})
		}
		out = append(out, c)
	}
	return out
}

type Counts struct {
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

type Warning struct {
	Code  string `json:"code"`
	Count int64  `json:"count"`
	First string `json:"first"`
	Text  string `json:"text"`
	Minor bool   `json:"minor,omitempty"` // a note, which affects no number and no bar
	Error bool   `json:"error,omitempty"` // the file is damaged there or breaks a rule of its format
}

type Tally struct {
	Kind          string `json:"kind"`
	Read          int64  `json:"read"`
	Kept          int64  `json:"kept"`
	Repaired      int64  `json:"repaired"`
	LeftOut       int64  `json:"left_out"`
	FirstRepaired string `json:"first_repaired"`
	FirstLeftOut  string `json:"first_left_out"`
}

type Load struct {
	Seconds         json.Number `json:"seconds"`
	BytesPerSecond  json.Number `json:"bytes_per_second"`
	EventsPerSecond json.Number `json:"events_per_second"`
	PeakRSS         int64       `json:"peak_rss_bytes"`
}

// threadsOf lists the tracks in the file's order.
func threadsOf(rec *recording.Recording) []Thread {
	threads := make([]Thread, len(rec.Tracks))
	for i, t := range rec.Tracks {
		th := Thread{PID: exactnum.ID(t.PID), TID: exactnum.ID(t.TID), Name: t.Name, Spans: int64(t.Spans()), Async: t.Kind == recording.AsyncTrack}
		if t.Process >= 0 && t.Process < len(rec.Processes) {
			th.Process = rec.Processes[t.Process].Title()
		}
		for k := range t.Lanes {
			// All spans of a lane have the same depth.
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
