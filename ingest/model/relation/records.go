package relation

import (
	"sort"

	"ashlar/ingest/model/recording"
)

// samplePart are the samples of an event on a track.
type samplePart struct {
	of    *recording.Samples
	track int
	first int64
}

func (s *Set) samples() (parts []samplePart) {
	n := int64(0)
	for ti, t := range s.rec.Tracks {
		for _, of := range t.Samples {
			parts = append(parts, samplePart{of, ti, n})
			n += int64(of.Len())
		}
	}
	return parts
}

// sampleRow is a sample, and one of its values.
type sampleRow struct {
	rec *recording.Recording
	samplePart
	i, metric   int
	firstMetric int
}

func (x *sampleRow) call() recording.CallID { return x.of.Call(x.i) }

func (x *sampleRow) value(metric int) (int64, bool) {
	v := x.of.Value(x.i, &x.rec.Events[x.of.Event].Metrics[metric], metric)
	return v, v != recording.Missing
}

var samplesTable = table("samples", "A sample: the stack of a thread at one moment.", "thread_id event_id time_ps",
	[]column[sampleRow]{
		rising(integer("sample_id", "", "number of the sample", func(x *sampleRow) int64 { return x.first + int64(x.i) })),
		few(integer("event_id", "", "refers to metrics.event_id", func(x *sampleRow) int64 { return int64(x.of.Event) })),
		few(integer("thread_id", "", "refers to threads.thread_id", func(x *sampleRow) int64 { return int64(x.track) })),
		rising(integer("time_ps", "ps", "time, from the start of the recording", func(x *sampleRow) int64 { return x.of.Time(x.i) - x.rec.Start })),
		few(maybe("call_id", "", "refers to calls.call_id: the innermost call", func(x *sampleRow) (int64, bool) { return fact(x.call(), x.call() != recording.NoCall) })),
		few(maybe("function_id", "", "refers to functions.function_id", func(x *sampleRow) (int64, bool) { return functionID(x.rec, x.call()) })),
		maybeText("function", "name of the innermost function", func(x *sampleRow) string { return functionOf(x.rec, x.call()) }),
		few(maybe("cpu", "", "processor", func(x *sampleRow) (int64, bool) { return fact(x.of.CPU(x.i), x.of.CPU(x.i) >= 0) })),
		few(maybe("value", "of the metric", "value of the event's primary metric; see sample_values for the others", func(x *sampleRow) (int64, bool) { return x.value(x.rec.Events[x.of.Event].Primary) })),
	}, func(s *Set) (parts []part[sampleRow]) {
		for _, p := range s.samples() {
			parts = append(parts, part[sampleRow]{rows: p.of.Len(), move: func(x *sampleRow, i int) { *x = sampleRow{rec: s.rec, samplePart: p, i: i} }})
		}
		return parts
	})

var sampleValuesTable = table("sample_values", "A metric's value for a sample.", "sample_id metric_id",
	[]column[sampleRow]{
		rising(integer("sample_id", "", "refers to samples.sample_id", func(x *sampleRow) int64 { return x.first + int64(x.i) })),
		few(integer("metric_id", "", "refers to metrics.metric_id", func(x *sampleRow) int64 { return int64(x.firstMetric + x.metric) })),
		few(maybe("value", "of the metric", "value, if samples carry the metric", func(x *sampleRow) (int64, bool) { return x.value(x.metric) })),
	}, func(s *Set) (parts []part[sampleRow]) {
		for _, p := range s.samples() {
			if n := len(s.rec.Events[p.of.Event].Metrics); n > 0 {
				parts = append(parts, part[sampleRow]{rows: n * p.of.Len(), move: func(x *sampleRow, i int) {
					*x = sampleRow{rec: s.rec, samplePart: p, i: i / n, metric: i % n, firstMetric: s.firstMetric[p.of.Event]}
				}})
			}
		}
		return parts
	})

// stackRow is a stack record of an event or of a window, and one of its values.
type stackRow struct {
	rec         *recording.Recording
	of          *recording.Stacks
	event       int
	first       int64 // row of the first record of the event or of the window's event
	i, metric   int
	firstMetric int
	window      int
}

func (x *stackRow) value(metric int) (int64, bool) {
	v := x.of.Value(x.i, metric)
	return v, v != recording.Missing
}

func stackColumns(id string, more ...column[stackRow]) []column[stackRow] {
	return append(append([]column[stackRow]{
		rising(integer(id+"_id", "", "number of the record", func(x *stackRow) int64 { return x.first + int64(x.i) })),
		few(integer("event_id", "", "refers to metrics.event_id", func(x *stackRow) int64 { return int64(x.event) })),
	}, more...),
		few(maybe("thread_id", "", "refers to threads.thread_id", func(x *stackRow) (int64, bool) { return fact(x.of.Track(x.i), x.of.Track(x.i) != recording.NoTrack) })),
		few(maybe("call_id", "", "refers to calls.call_id: the innermost call", func(x *stackRow) (int64, bool) { return fact(x.of.Call(x.i), x.of.Call(x.i) != recording.NoCall) })),
		few(maybe("function_id", "", "refers to functions.function_id", func(x *stackRow) (int64, bool) { return functionID(x.rec, x.of.Call(x.i)) })),
		maybeText("function", "name of the innermost function", func(x *stackRow) string { return functionOf(x.rec, x.of.Call(x.i)) }),
		few(integer("context_id", "", "refers to labels.context_id; 0 for no labels", func(x *stackRow) int64 { return int64(x.of.Context(x.i)) })),
		few(maybe("value", "of the metric", "value of the event's primary metric; see "+id+"_values for the others", func(x *stackRow) (int64, bool) { return x.value(x.rec.Events[x.event].Primary) })),
	)
}

func valueColumns(id, of string) []column[stackRow] {
	return []column[stackRow]{
		rising(integer(id+"_id", "", "refers to "+of+"."+id+"_id", func(x *stackRow) int64 { return x.first + int64(x.i) })),
		few(integer("metric_id", "", "refers to metrics.metric_id", func(x *stackRow) int64 { return int64(x.firstMetric + x.metric) })),
		few(maybe("value", "of the metric", "value, if the record has one", func(x *stackRow) (int64, bool) { return x.value(x.metric) })),
	}
}

// stackParts returns the stack records of all events; values has a row for each metric.
func (s *Set) stackParts(values bool) (parts []part[stackRow]) {
	first := int64(0)
	for e, of := range s.rec.Stacks {
		if of == nil {
			continue
		}
		at, n := first, 1
		if values {
			n = len(s.rec.Events[e].Metrics)
		}
		if n > 0 {
			parts = append(parts, part[stackRow]{rows: n * of.Len(), move: func(x *stackRow, i int) {
				*x = stackRow{rec: s.rec, of: of, event: e, first: at, i: i / n, metric: i % n, firstMetric: s.firstMetric[e]}
			}})
		}
		first += int64(of.Len())
	}
	return parts
}

var stacksTable = table("stacks", "An aggregated stack of a profile, with the sum of its values.", "stack_id",
	stackColumns("stack"), func(s *Set) []part[stackRow] { return s.stackParts(false) })

var stackValuesTable = table("stack_values", "A metric's value for an aggregated stack.", "stack_id metric_id",
	valueColumns("stack", "stacks"), func(s *Set) []part[stackRow] { return s.stackParts(true) })

type labelRow struct {
	context int
	recording.Attr
}

var labelsTable = table("labels", "A label of stack records.", "context_id",
	[]column[labelRow]{
		rising(integer("context_id", "", "number of the set of labels", func(x *labelRow) int64 { return int64(x.context) })),
		text("key", "name", func(x *labelRow) string { return x.Key }),
		text("value", "value", func(x *labelRow) string { return x.Value }),
	}, func(s *Set) []part[labelRow] {
		first, n := make([]int, s.rec.Contexts.Len()), 0
		for i := range first {
			first[i] = n
			n += len(s.rec.Contexts.At(i))
		}
		return list(n, func(x *labelRow, i int) {
			c := sort.Search(len(first), func(c int) bool { return first[c] > i }) - 1
			*x = labelRow{c, s.rec.Contexts.At(c)[i-first[c]]}
		})
	})

type windowRow struct {
	*recording.Window
	rec       *recording.Recording
	id, event int
}

var windowsTable = table("windows", "A stretch of time with its own aggregated stacks. Windows may overlap.", "window_id",
	[]column[windowRow]{
		rising(integer("window_id", "", "number of the window", func(x *windowRow) int64 { return int64(x.id) })),
		few(integer("event_id", "", "refers to metrics.event_id", func(x *windowRow) int64 { return int64(x.event) })),
		maybeText("name", "name in the file", func(x *windowRow) string { return x.ID }),
		rising(integer("start_ps", "ps", "start, from the start of the recording", func(x *windowRow) int64 { return x.Start - x.rec.Start })),
		rising(integer("end_ps", "ps", "end, from the start of the recording", func(x *windowRow) int64 { return x.End - x.rec.Start })),
	}, func(s *Set) (parts []part[windowRow]) {
		n := 0
		for _, of := range s.rec.Windows {
			if of == nil {
				continue
			}
			first := n
			parts = append(parts, part[windowRow]{rows: len(of.Windows), move: func(x *windowRow, i int) { *x = windowRow{&of.Windows[i], s.rec, first + i, of.Event} }})
			n += len(of.Windows)
		}
		return parts
	})

// windowParts returns the stack records of all windows; values has a row for each metric.
func (s *Set) windowParts(values bool) (parts []part[stackRow]) {
	window, row := 0, int64(0)
	for _, of := range s.rec.Windows {
		if of == nil {
			continue
		}
		n := 1
		if values {
			n = len(s.rec.Events[of.Event].Metrics)
		}
		for i := range of.Windows {
			w := &of.Windows[i]
			id, first := window, row-int64(w.First)
			if n > 0 {
				parts = append(parts, part[stackRow]{rows: n * (w.Last - w.First), move: func(x *stackRow, i int) {
					*x = stackRow{rec: s.rec, of: &of.Rows, event: of.Event, first: first, i: w.First + i/n, metric: i % n, firstMetric: s.firstMetric[of.Event], window: id}
				}})
			}
			window, row = window+1, row+int64(w.Last-w.First)
		}
	}
	return parts
}

var windowStacksTable = table("window_stacks", "An aggregated stack of a window.", "window_id window_stack_id",
	stackColumns("window_stack", few(integer("window_id", "", "refers to windows.window_id", func(x *stackRow) int64 { return int64(x.window) }))), func(s *Set) []part[stackRow] { return s.windowParts(false) })

var windowValuesTable = table("window_stack_values", "A metric's value for a stack of a window.", "window_stack_id metric_id",
	valueColumns("window_stack", "window_stacks"), func(s *Set) []part[stackRow] { return s.windowParts(true) })

type stateRow struct {
	rec   *recording.Recording
	t     *recording.Track
	track int
	first int64
	i     int
}

func (x *stateRow) call() recording.CallID { return x.t.States.Call(x.i) }

func (x *stateRow) waker() recording.Waker { return x.rec.Waker(x.t, x.i) }

// innermost returns the innermost call of the thread's stack, below which the state's call is.
func (x *stateRow) innermost() (recording.CallID, bool) {
	p := x.rec.Calls.Parent(x.call())
	return p, p != recording.NoCall
}

var statesTable = table("states", "A stretch of time in which a thread was in one state.", "thread_id start_ps",
	[]column[stateRow]{
		rising(integer("state_id", "", "number of the state", func(x *stateRow) int64 { return x.first + int64(x.i) })),
		few(integer("thread_id", "", "refers to threads.thread_id", func(x *stateRow) int64 { return int64(x.track) })),
		rising(integer("start_ps", "ps", "start, from the start of the recording", func(x *stateRow) int64 { return x.t.States.Start(x.i) - x.rec.Start })),
		rising(integer("end_ps", "ps", "end, from the start of the recording", func(x *stateRow) int64 { return x.t.States.End(x.i) - x.rec.Start })),
		integer("duration_ps", "ps", "end minus start", func(x *stateRow) int64 { return x.t.States.Duration(x.i) }),
		text("state", "'running', 'runnable', 'blocked', 'system call' or 'garbage collection'", func(x *stateRow) string { return x.rec.State(x.call()).String() }),
		text("name", "state with its reason, such as '[blocked: sync]'", func(x *stateRow) string { return functionOf(x.rec, x.call()) }),
		few(maybe("call_id", "", "refers to calls.call_id: the stack of the thread, if it is known", func(x *stateRow) (int64, bool) {
			c, ok := x.innermost()
			return int64(c), ok
		})),
		maybeText("function", "innermost function of the stack", func(x *stateRow) string {
			c, _ := x.innermost()
			return functionOf(x.rec, c)
		}),
		few(maybe("waker_thread_id", "", "thread that ended the wait before this state: refers to threads.thread_id", func(x *stateRow) (int64, bool) {
			return fact(x.waker().Track, x.waker().Track != recording.NoTrack)
		})),
		few(maybe("waker_call_id", "", "call of the waker thread: refers to calls.call_id", func(x *stateRow) (int64, bool) {
			return fact(x.waker().Call, x.waker().Call != recording.NoCall)
		})),
	}, func(s *Set) (parts []part[stateRow]) {
		n := int64(0)
		for ti, t := range s.rec.Tracks {
			first := n
			parts = append(parts, part[stateRow]{rows: t.States.Len(), move: func(x *stateRow, i int) { *x = stateRow{s.rec, t, ti, first, i} }})
			n += int64(t.States.Len())
		}
		return parts
	})

type counterRow struct {
	rec *recording.Recording
	*recording.Counter
	id, i int
}

var countersTable = table("counters", "A value over time.", "counter_id",
	[]column[counterRow]{
		rising(integer("counter_id", "", "number of the counter", func(x *counterRow) int64 { return int64(x.id) })),
		integer("process_id", "", "refers to processes.process_id", func(x *counterRow) int64 { return int64(x.Process) }),
		text("name", "name", func(x *counterRow) string { return x.Name }),
		maybeText("series", "name of the series, if the counter has several", func(x *counterRow) string { return x.Series }),
		maybeText("unit", "unit", func(x *counterRow) string { return x.Unit }),
	}, func(s *Set) []part[counterRow] {
		return list(len(s.rec.Counters), func(x *counterRow, i int) { *x = counterRow{s.rec, s.rec.Counters[i], i, 0} })
	})

var counterValuesTable = table("counter_values", "A counter's value from a time until its next one.", "counter_id time_ps",
	[]column[counterRow]{
		few(integer("counter_id", "", "refers to counters.counter_id", func(x *counterRow) int64 { return int64(x.id) })),
		rising(integer("time_ps", "ps", "time, from the start of the recording", func(x *counterRow) int64 { return x.Time(x.i) - x.rec.Start })),
		column[counterRow]{Column: Column{Name: "value", Type: Real, Unit: "of the counter", Doc: "value"}, get: func(x *counterRow) Value { return Value{Type: Real, Real: x.Counter.Value(x.i)} }},
	}, func(s *Set) (parts []part[counterRow]) {
		for id, c := range s.rec.Counters {
			parts = append(parts, part[counterRow]{rows: c.Len(), move: func(x *counterRow, i int) { *x = counterRow{s.rec, c, id, i} }})
		}
		return parts
	})

type instantRow struct {
	rec *recording.Recording
	*recording.Instant
	track int
	id    int64
}

var instantsTable = table("instants", "An event at one moment.", "thread_id time_ps",
	[]column[instantRow]{
		rising(integer("instant_id", "", "number of the instant", func(x *instantRow) int64 { return x.id })),
		few(integer("thread_id", "", "refers to threads.thread_id", func(x *instantRow) int64 { return int64(x.track) })),
		rising(integer("time_ps", "ps", "time, from the start of the recording", func(x *instantRow) int64 { return x.Time - x.rec.Start })),
		text("name", "name", func(x *instantRow) string { return x.Name }),
		maybeText("args", "arguments, usually a JSON object", func(x *instantRow) string {
			if x.Args == 0 || x.rec.Args == nil {
				return ""
			}
			return x.rec.Args(x.Args)
		}),
	}, func(s *Set) (parts []part[instantRow]) {
		n := int64(0)
		for ti, t := range s.rec.Tracks {
			first := n
			parts = append(parts, part[instantRow]{rows: len(t.Instants), move: func(x *instantRow, i int) { *x = instantRow{s.rec, &t.Instants[i], ti, first + int64(i)} }})
			n += int64(len(t.Instants))
		}
		return parts
	})

type flowRow struct {
	set *Set
	recording.FlowStep
	flow, step int
}

func (x *flowRow) span() (int64, recording.CallID, bool) { return x.set.spanAt(x.Track, x.Time) }

var flowsTable = table("flows", "A step of a flow: an arrow goes from each step to the next.", "flow_id step",
	[]column[flowRow]{
		rising(integer("flow_id", "", "number of the flow", func(x *flowRow) int64 { return int64(x.flow) })),
		few(integer("step", "", "number of the step, from 0", func(x *flowRow) int64 { return int64(x.step) })),
		maybeText("name", "name of the flow", func(x *flowRow) string { return x.set.rec.Flows[x.flow].Name }),
		few(integer("thread_id", "", "refers to threads.thread_id", func(x *flowRow) int64 { return int64(x.Track) })),
		integer("time_ps", "ps", "time, from the start of the recording", func(x *flowRow) int64 { return x.Time - x.set.rec.Start }),
		maybe("span_id", "", "refers to spans.span_id: the innermost span at that time", func(x *flowRow) (int64, bool) {
			row, _, ok := x.span()
			return row, ok
		}),
		maybeText("function", "name of that span's function", func(x *flowRow) string {
			_, call, _ := x.span()
			return functionOf(x.set.rec, call)
		}),
	}, func(s *Set) []part[flowRow] {
		first, n := make([]int, len(s.rec.Flows)), 0
		for i := range first {
			first[i] = n
			n += len(s.rec.Flows[i].Steps)
		}
		return list(n, func(x *flowRow, i int) {
			f := sort.Search(len(first), func(f int) bool { return first[f] > i }) - 1
			*x = flowRow{s, s.rec.Flows[f].Steps[i-first[f]], f, i - first[f]}
		})
	})

var warningsTable = table("warnings", "A problem of the file.", "",
	[]column[recording.Warning]{
		text("code", "stable name of the kind of problem, for programs", func(x *recording.Warning) string { return x.Code }),
		text("text", "the problem, as of the first occurrence", func(x *recording.Warning) string { return x.Text }),
		integer("count", "", "number of occurrences", func(x *recording.Warning) int64 { return x.Count }),
		maybeText("place", "place of the first occurrence", func(x *recording.Warning) string { return x.First }),
		flag("minor", "no number is affected", func(x *recording.Warning) bool { return x.Minor }),
		flag("error", "the file is damaged there", func(x *recording.Warning) bool { return x.Error }),
	}, func(s *Set) []part[recording.Warning] {
		return list(len(s.rec.Warnings), func(x *recording.Warning, i int) { *x = s.rec.Warnings[i] })
	})

var notesTable = table("notes", "A statement of the file about itself: a comment, the machine, when it was recorded.", "",
	[]column[recording.Note]{
		text("key", "name", func(x *recording.Note) string { return x.Key }),
		text("value", "value", func(x *recording.Note) string { return x.Value }),
	}, func(s *Set) []part[recording.Note] {
		return list(len(s.rec.Source.Notes), func(x *recording.Note, i int) { *x = s.rec.Source.Notes[i] })
	})
