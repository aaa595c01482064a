package relation

import (
	"slices"
	"strings"

	"ashlar/ingest/model/recording"
)

// Tables lists the tables.
var Tables = []*Table{
	recordingsTable, processesTable, threadsTable, functionsTable, framesTable, callsTable, metricsTable,
	spansTable, samplesTable, sampleValuesTable, stacksTable, stackValuesTable, labelsTable, windowsTable, windowStacksTable, windowValuesTable,
	statesTable, countersTable, counterValuesTable, instantsTable, flowsTable, warningsTable, notesTable,
}

// Named returns the table with a name, nil if there is none.
func Named(name string) *Table {
	for _, t := range Tables {
		if t.Name == name {
			return t
		}
	}
	return nil
}

var recordingsTable = table("recordings", "The recording: one row.", "",
	[]column[recording.Recording]{
		integer("version", "", "version of these tables", func(*recording.Recording) int64 { return Version }),
		text("format", "format of the file", func(r *recording.Recording) string { return r.Source.Format }),
		maybeText("format_version", "version of the format", func(r *recording.Recording) string { return r.Source.Version }),
		maybeText("path", "path of the file", func(r *recording.Recording) string { return r.Source.Path }),
		maybeText("tool", "program that recorded", func(r *recording.Recording) string { return r.Source.Tool }),
		maybeText("command", "recorded command", func(r *recording.Recording) string { return r.Source.Command }),
		maybe("bytes", "bytes", "size of the file", func(r *recording.Recording) (int64, bool) { return fact(r.Source.Bytes, r.Source.Bytes >= 0) }),
		maybe("duration_ps", "ps", "length of the recording, if it has times", func(r *recording.Recording) (int64, bool) { return fact(r.Duration(), r.HasTime) }),
		maybeText("clock_unit", "unit of the file's own times", func(r *recording.Recording) string { return r.Clock.Unit }),
		maybe("clock_unit_ps", "ps", "length of that unit", func(r *recording.Recording) (int64, bool) { return fact(r.Clock.PerUnit, r.Clock.PerUnit > 0) }),
		maybeText("clock_start", "the recording's start in the file's own times, an exact decimal", func(r *recording.Recording) string {
			if !r.HasTime {
				return ""
			}
			return r.Clock.Text(r.Start)
		}),
		integer("spans", "", "number of spans", func(r *recording.Recording) int64 { return r.Counts.Spans }),
		integer("samples", "", "number of samples", func(r *recording.Recording) int64 { return r.Counts.Samples }),
		integer("stacks", "", "number of stack records", func(r *recording.Recording) int64 { return r.Counts.Stacks }),
		integer("states", "", "number of thread states", func(r *recording.Recording) int64 { return r.Counts.States }),
		maybeText("lost", "what the recording has and the tables do not", lost),
	}, func(s *Set) []part[recording.Recording] {
		return list(1, func(x *recording.Recording, _ int) { *x = *s.rec })
	})

// lost lists what a recording has and the tables do not.
func lost(r *recording.Recording) string {
	var list []string
	for _, x := range []struct {
		is   bool
		what string
	}{
		{len(r.Source.Mappings) > 0, "address ranges of binaries"},
		{len(r.Source.FrameTypes) > 0, "types of frames"},
		{r.Pairs() > 0, "which user and kernel stacks belong together"},
		{r.SharedSymbols() > 0, "symbols that share a readable name with another"},
		{slices.ContainsFunc(r.Ledger, func(t recording.Tally) bool { return t.LeftOut+t.Repaired > 0 }), "counts of records repaired or left out"},
	} {
		if x.is {
			list = append(list, x.what)
		}
	}
	return strings.Join(list, ", ")
}

type processRow struct {
	*recording.Process
	id int
}

var processesTable = table("processes", "A process or another group of threads, as in the file.", "process_id",
	[]column[processRow]{
		rising(integer("process_id", "", "number of the process", func(x *processRow) int64 { return int64(x.id) })),
		maybe("pid", "", "process ID in the operating system", func(x *processRow) (int64, bool) { return fact(x.PID, x.PID > recording.TextID) }),
		maybeText("name", "name", func(x *processRow) string { return x.Name }),
		maybeText("labels", "labels", func(x *processRow) string { return x.Labels }),
		integer("sort", "", "position among the processes", func(x *processRow) int64 { return int64(x.Sort) }),
		flag("grouped", "threads of one name are shown as one", func(x *processRow) bool { return x.Grouped }),
	}, func(s *Set) []part[processRow] {
		return list(len(s.rec.Processes), func(x *processRow, i int) { *x = processRow{&s.rec.Processes[i], i} })
	})

type threadRow struct {
	*recording.Track
	rec *recording.Recording
	id  int
}

var threadsTable = table("threads", "A thread, goroutine or other row of the timeline.", "thread_id",
	[]column[threadRow]{
		rising(integer("thread_id", "", "number of the thread", func(x *threadRow) int64 { return int64(x.id) })),
		few(integer("process_id", "", "refers to processes.process_id", func(x *threadRow) int64 { return int64(x.Process) })),
		maybe("pid", "", "process ID in the operating system", func(x *threadRow) (int64, bool) { return fact(x.PID, x.PID > recording.TextID) }),
		maybe("tid", "", "thread ID in the operating system", func(x *threadRow) (int64, bool) { return fact(x.TID, x.TID > recording.TextID) }),
		text("name", "name, or 'thread ID'", func(x *threadRow) string { return x.Title() }),
		text("kind", "'thread', 'goroutine' or another word, 'async track' for async operations", func(x *threadRow) string { return x.rec.ThreadWord(x.id) }),
		integer("sort", "", "position among the threads of the process", func(x *threadRow) int64 { return int64(x.Sort) }),
	}, func(s *Set) []part[threadRow] {
		return list(len(s.rec.Tracks), func(x *threadRow, i int) { *x = threadRow{s.rec.Tracks[i], s.rec, i} })
	})

type functionRow struct {
	*recording.Function
	id int
}

var functionsTable = table("functions", "A function. Its name and module together are unique.", "function_id",
	[]column[functionRow]{
		rising(integer("function_id", "", "number of the function", func(x *functionRow) int64 { return int64(x.id) })),
		text("name", "name", func(x *functionRow) string { return x.Name }),
		maybeText("module", "binary, library, script or category", func(x *functionRow) string { return x.Module }),
		maybeText("file", "source file", func(x *functionRow) string { return x.File }),
		text("kind", "'user', 'kernel', 'managed' or 'unknown'", func(x *functionRow) string { return x.Kind.String() }),
		maybeText("symbol", "linker's symbol, if it differs from the name", func(x *functionRow) string { return x.Symbol }),
		flag("unresolved", "the name is only an address", func(x *functionRow) bool { return x.Unresolved }),
		flag("demangled", "the file has the symbol, from which the name was derived", func(x *functionRow) bool { return x.Demangled }),
		maybeText("state", "thread state, if this entry is a state and not code", func(x *functionRow) string { return stateName(x.State) }),
	}, func(s *Set) []part[functionRow] {
		return list(s.rec.Functions.Len(), func(x *functionRow, i int) { *x = functionRow{s.rec.Functions.Ref(i), i} })
	})

func stateName(s recording.State) string {
	if s == recording.NoState {
		return ""
	}
	return s.String()
}

type frameRow struct {
	*recording.Frame
	rec *recording.Recording
	id  int
}

var framesTable = table("frames", "A place in a function: a line or an address.", "frame_id",
	[]column[frameRow]{
		rising(integer("frame_id", "", "number of the frame", func(x *frameRow) int64 { return int64(x.id) })),
		integer("function_id", "", "refers to functions.function_id", func(x *frameRow) int64 { return int64(x.Func) }),
		maybe("address", "", "address of the instruction, as a signed number", func(x *frameRow) (int64, bool) { return fact(x.Addr, x.Addr != 0) }),
		maybeText("file", "source file", func(x *frameRow) string {
			if x.File != "" {
				return x.File
			}
			return x.rec.Functions.Ref(int(x.Func)).File
		}),
		maybe("line", "", "line, from 1", func(x *frameRow) (int64, bool) { return fact(x.Line, x.Line > 0) }),
		maybe("column_number", "", "column of the line, from 1", func(x *frameRow) (int64, bool) { return fact(x.Frame.Column, x.Frame.Column > 0) }),
		maybe("start_line", "", "line where the function begins", func(x *frameRow) (int64, bool) { return fact(x.StartLine, x.StartLine > 0) }),
		flag("inlined", "the function was inlined here", func(x *frameRow) bool { return x.Inlined }),
		integer("inline_depth", "", "number of inlined functions around this one", func(x *frameRow) int64 { return int64(x.InlineDepth) }),
		maybe("symbol_offset", "bytes", "distance of the address from the start of the symbol", func(x *frameRow) (int64, bool) { return fact(x.Offset, x.Offset != 0) }),
		flag("folded", "the linker merged several functions here", func(x *frameRow) bool { return x.Folded }),
		text("kind", "'user', 'kernel', 'managed' or 'unknown'", func(x *frameRow) string { return x.Kind.String() }),
		maybeText("build_id", "build ID of the binary", func(x *frameRow) string { return x.BuildID }),
	}, func(s *Set) []part[frameRow] {
		return list(s.rec.Frames.Len(), func(x *frameRow, i int) { *x = frameRow{s.rec.Frames.Ref(i), s.rec, i} })
	})

type callRow struct {
	rec *recording.Recording
	id  recording.CallID
}

// pathFrames is the number of innermost functions in a path; more would make the paths of
// deep recursion quadratic in size.
const pathFrames = 100

func (x *callRow) path() string {
	var names []string
	id := x.id
	for ; id != recording.NoCall && len(names) < pathFrames; id = x.rec.Calls.Parent(id) {
		names = append(names, functionOf(x.rec, id))
	}
	if id != recording.NoCall {
		names = append(names, "…")
	}
	slices.Reverse(names)
	return strings.Join(names, ";")
}

var callsTable = table("calls", "A node of the call tree: a function with the functions that called it. Spans, samples and stacks refer to their innermost call.", "call_id",
	[]column[callRow]{
		rising(integer("call_id", "", "number of the call; larger than that of its caller", func(x *callRow) int64 { return int64(x.id) })),
		maybe("parent_id", "", "call_id of the caller", func(x *callRow) (int64, bool) {
			p := x.rec.Calls.Parent(x.id)
			return fact(p, p != recording.NoCall)
		}),
		few(integer("depth", "", "number of functions from the outermost one: 1 for an outermost call", func(x *callRow) int64 { return int64(x.rec.Calls.Depth(x.id)) })),
		integer("frame_id", "", "refers to frames.frame_id", func(x *callRow) int64 { return int64(x.rec.Calls.Frame(x.id)) }),
		few(integer("function_id", "", "refers to functions.function_id", func(x *callRow) int64 { return int64(x.rec.Func(x.id)) })),
		text("function", "name of the function", func(x *callRow) string { return functionOf(x.rec, x.id) }),
		column[callRow]{Column: Column{Name: "path", Type: Text, Doc: "function names from the outermost to this one, separated by ;. Paths deeper than 100 keep the innermost 100, after '…'"}, get: func(x *callRow) Value { return Value{Type: Text, Text: x.path()} }},
	}, func(s *Set) []part[callRow] {
		return list(max(0, s.rec.Calls.Len()-1), func(x *callRow, i int) { *x = callRow{s.rec, recording.CallID(i + 1)} })
	})

type metricRow struct {
	rec               *recording.Recording
	event, metric, id int
}

func (x *metricRow) e() *recording.Event  { return &x.rec.Events[x.event] }
func (x *metricRow) m() *recording.Metric { return &x.e().Metrics[x.metric] }

var metricsTable = table("metrics", "A metric of an event. Values of metrics are integers: divide them by 10^decimals to get the unit.", "metric_id",
	[]column[metricRow]{
		rising(integer("metric_id", "", "number of the metric", func(x *metricRow) int64 { return int64(x.id) })),
		few(integer("event_id", "", "number of the event", func(x *metricRow) int64 { return int64(x.event) })),
		maybeText("event", "name of the event", func(x *metricRow) string { return x.e().Name }),
		text("basis", "'spans', 'samples', 'stacks' or 'states': the table with the event's records", func(x *metricRow) string {
			switch x.e().Basis {
			case recording.FromSpans:
				return "spans"
			case recording.FromSamples:
				return "samples"
			case recording.FromStates:
				return "states"
			}
			return "stacks"
		}),
		text("metric", "name of the metric", func(x *metricRow) string { return x.m().Name }),
		text("unit", "unit", func(x *metricRow) string { return x.m().Unit }),
		integer("decimals", "", "decimal places of the values", func(x *metricRow) int64 { return int64(x.m().Decimals) }),
		text("kind", "'sum', 'level' (not to be added over time) or 'peak'", func(x *metricRow) string { return x.m().Kind.String() }),
		flag("is_primary", "this is the event's primary metric", func(x *metricRow) bool { return x.e().Primary == x.metric }),
		maybeText("per_sample", "'value' if each sample has its own, '1' if each counts one", func(x *metricRow) string {
			return []string{recording.SampleOne: "1", recording.SampleColumn: "value"}[x.m().PerSample%3]
		}),
		maybeText("event_kind", "kind of the event, such as 'sample'", func(x *metricRow) string { return x.e().Kind }),
		maybeText("event_mode", "how the event was recorded", func(x *metricRow) string { return x.e().Mode }),
		maybeText("event_label", "common name of the event", func(x *metricRow) string { return x.e().Label }),
		maybeText("event_note", "the recorder's remark on the event", func(x *metricRow) string { return x.e().Note }),
		maybe("period", "", "sampling period", func(x *metricRow) (int64, bool) { return fact(x.e().Period, x.e().Period != 0) }),
		maybeText("period_type", "what the period counts", func(x *metricRow) string { return x.e().PeriodType }),
		maybeText("period_unit", "unit of the period", func(x *metricRow) string { return x.e().PeriodUnit }),
		column[metricRow]{Column: Column{Name: "frequency", Type: Real, Unit: "Hz", Null: true, Doc: "sampling rate"}, get: func(x *metricRow) Value {
			return Value{Type: Real, Real: x.e().Frequency, Null: x.e().Frequency == 0}
		}},
		maybe("total", "of the metric", "total of the whole recording, if it is known without reading everything", func(x *metricRow) (int64, bool) { return fact(x.m().Total, x.m().Total != recording.Missing) }),
	}, func(s *Set) []part[metricRow] {
		return list(len(s.metrics), func(x *metricRow, i int) { *x = s.metrics[i] })
	})
