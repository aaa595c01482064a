// Package missing explains what data a question needs that the recording lacks, and how to
// record it.
package missing

import (
	"fmt"
	"strings"

	"ashlar/ingest/input/safetext"
	"ashlar/ingest/model/recording"
	"ashlar/render/units"
)

// Kind is a kind of data that recordings may lack.
type Kind int

// The kinds of data.
const (
	OffCPU    Kind = iota // when threads waited, and why
	Memory                // allocations
	Timeline              // timestamps
	Spans                 // calls with start and end
	Lines                 // source line numbers
	Addresses             // instruction addresses
)

// missing maps a kind of data to the words that say it is missing.
var missing = map[Kind]string{
	OffCPU: "no off-CPU data", Memory: "no memory data", Timeline: "no timestamps", Spans: "no spans", Lines: "no line numbers", Addresses: "no instruction addresses",
}

// how maps a kind of data and a format to the advice on recording it; "" is the general
// advice.
var how = map[Kind]map[string]string{
	OffCPU: {
		"":            "with perf sched record, Perfetto (sched/sched_switch and sched/sched_waking), a Go trace, or Java Flight Recorder",
		"pprof":       "a Go trace (go test -trace, or /debug/pprof/trace), or the profiles /debug/pprof/block and /debug/pprof/mutex",
		"perf-data":   "with perf sched record",
		"perf-script": "with perf sched record",
		"chrome":      "with thread clocks (tdur and tts), or with Perfetto (sched/sched_switch and sched/sched_waking)",
		"jfr":         "with asprof -e wall, or the Flight Recorder events for waiting, parking and monitors",
		"speedscope":  "with --idle (py-spy record --idle)",
		"firefox":     "with perf sched record as well: the Firefox Profiler does not tell running from waiting",
	},
	Memory: {
		"":            "a heap profile: /debug/pprof/heap or -memprofile (Go), jemalloc with prof:true, valgrind --tool=dhat, node --heap-prof, asprof -e alloc (Java)",
		"pprof":       "/debug/pprof/heap, or -memprofile of go test",
		"gotrace":     "/debug/pprof/heap, or -memprofile of go test",
		"jfr":         "with asprof -e alloc, or the Flight Recorder events for allocations",
		"perf-data":   "with jemalloc (prof:true), or valgrind --tool=dhat",
		"perf-script": "with jemalloc (prof:true), or valgrind --tool=dhat",
		"chrome":      "with DevTools Allocation sampling, or node --heap-prof",
		"cpuprofile":  "with node --heap-prof, or DevTools Allocation sampling",
		"firefox":     "with the Firefox Profiler features Native Allocations or JS Allocations",
	},
	Timeline: {
		"":       "with perf record (perf script keeps the timestamps, stackcollapse drops them), a trace, or Java Flight Recorder",
		"pprof":  "a trace (go test -trace, or /debug/pprof/trace)",
		"folded": "with perf record and perf script, without stackcollapse",
	},
	Spans: {
		"":           "a trace: Chrome trace events, Perfetto, spall, or a Go trace with regions",
		"pprof":      "a Go trace with regions and tasks (runtime/trace), or Chrome trace events",
		"cpuprofile": "with the DevTools Performance panel, or node --trace-event-categories v8,node",
	},
	Addresses: {
		"":            "with perf record, a pprof profile of a compiled program, or SPAA with ip",
		"perf-script": "with perf script -F +ip,+sym,+symoff,+dso",
	},
	Lines: {
		"":            "a program compiled with debug information (-g)",
		"perf-script": "with perf script -F +srcline, for a program compiled with -g",
	},
}

// Reason returns a text about missing data and how to record it.
func Reason(k Kind, rec *recording.Recording) string {
	with := how[k][rec.Source.Format]
	if with == "" {
		with = how[k][""]
	}
	return "this recording has " + missing[k] + ". Record " + with
}

// metrics maps prefixes of metric names to the data that a recording without such a
// metric lacks.
var metrics = []struct {
	begin string
	lacks Kind
}{
	{"cpu", OffCPU}, {"waiting", OffCPU}, {"wait", OffCPU}, {"wall", OffCPU}, {"blocked", OffCPU}, {"runnable", OffCPU}, {"syscall", OffCPU}, {"off", OffCPU}, {"sleep", OffCPU}, {"delay", OffCPU}, {"contention", OffCPU}, {"state", OffCPU},
	{"alloc", Memory}, {"inuse", Memory}, {"heap", Memory}, {"memory", Memory}, {"mem", Memory}, {"bytes", Memory}, {"live", Memory}, {"leak", Memory}, {"gc", Memory},
	{"time", Spans}, {"count", Spans}, {"duration", Spans},
}

// Asked explains the error for a missing metric: if the metric's name tells what data it
// needs, Asked adds what is missing and how to record it. Other errors and nil are
// returned unchanged.
func Asked(err error, metric string, rec *recording.Recording) error {
	if err == nil || metric == "" || has(rec, metric) {
		return err
	}
	metric = strings.ToLower(metric)
	for _, m := range metrics {
		if strings.HasPrefix(metric, m.begin) {
			return fmt.Errorf("%w: %s", err, Reason(m.lacks, rec))
		}
	}
	return err
}

// has reports whether an event has a metric of that name.
func has(rec *recording.Recording, metric string) bool {
	for i := range rec.Events {
		if rec.Events[i].Metric(metric) >= 0 {
			return true
		}
	}
	return false
}

// Times returns a text about an event whose metric has no times: which other metric has
// times, or how to record them.
func Times(rec *recording.Recording, event int) string {
	var n int64
	for _, t := range rec.Tracks {
		if s := t.SamplesOf(event); s != nil {
			n += int64(s.Len())
		}
	}
	if n == 0 {
		return Reason(Timeline, rec)
	}
	for i := range rec.Events[event].Metrics {
		if m := &rec.Events[event].Metrics[i]; m.PerSample != recording.SampleNone {
			return fmt.Sprintf("it has %s with times, but without values of this metric; try --metric %s", units.Plural(n, "sample"), safetext.Short(m.Name))
		}
	}
	return fmt.Sprintf("it has %s with times, but without values", units.Plural(n, "sample"))
}
