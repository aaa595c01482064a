package spaa

import (
	"strconv"
	"strings"

	"ashlar/ingest/format/encode"
	"ashlar/ingest/format/encode/sums"
	"ashlar/ingest/model/recording"
	format "ashlar/spaa"
)

// spaaWriter writes a recording as SPAA.
//
//   - There is one stack record per event, thread, context and stack.
//     [format.ContentID] computes its id from the frames. The spec (9.4) forbids
//     an id to stand for stacks of two events. So for all events but the first,
//     the hash includes one more, outermost frame: the function "event NAME".
//   - Spans become stacks weighed by their self time, in an event of kind probe.
//   - Heap metrics of pprof get the names that the spec gives them (9.2).
//   - Context keys that are not in the spec get the prefix "x_FORMAT_", unless
//     they have a prefix ("thread.name").
//   - Functions without a name keep their placeholder ("[unknown]"), unless it
//     is an address, so that they stay one function. The spec would have the
//     address there, which is the frame's ip.
type spaaWriter struct {
	*encode.Job
	out     *format.Writer
	threads []encode.ThreadID
	used    []bool // by track: it has a thread record
	clock   encode.ClockText
	rows    []*sums.Rows // by event
	events  []spaaEvent
	dict    spaaDict
	// ids holds the stack ids by event and call.
	ids []map[recording.CallID]format.ID

	stack  format.Stack
	text   []byte
	prefix string // prefix of context keys
}

// spaaEvent is an event's name and metrics as written to the file.
type spaaEvent struct {
	name    string
	metrics []string
	// sampled is the metric that a sample's period measures, -1 for none.
	sampled int
}

func write(j *encode.Job) error {
	s := &spaaWriter{Job: j, out: format.NewWriter(j.W), prefix: "x_" + j.Rec.Source.Format + "_"}
	n := encode.Samples(j.Rec)
	j.Total = j.Rec.Counts.Spans + 2*j.Rec.Counts.Stacks + 2*n
	if j.Opt.Window > 0 {
		if err := s.checkWindows(n); err != nil {
			return err
		}
	}
	for _, step := range []func() error{
		s.collect, s.header, s.dictionary, s.threadRecords, s.stacks, s.samples, s.windows,
	} {
		if err := step(); err != nil {
			return err
		}
	}
	s.losses()
	s.Records = s.out.Count()
	return s.out.Close()
}

// collect sums every event, and finds the threads and calls that are used.
func (s *spaaWriter) collect() error {
	rec := s.Rec
	s.threads = encode.ThreadIDs(rec, true, -1, -1)
	var ok bool
	if s.clock, ok = encode.NewClockText(&rec.Clock, encode.Second); !ok {
		s.Lose(1, "clock origins", "the clock origin is out of range; times are relative to the recording's start")
	}
	s.dict.init(rec)
	for e := range rec.Events {
		r, err := sums.Of(s.Job, e)
		if err != nil {
			return err
		}
		if err := r.Expect(s.Job, r.Frames(rec)*encode.TextID(rec)); err != nil {
			return err
		}
		if len(rec.Events[e].Metrics) == 0 {
			r = &sums.Rows{}
		}
		s.addBare(e, r)
		s.rows = append(s.rows, r)
		s.ids = append(s.ids, map[recording.CallID]format.ID{})
		for _, k := range r.Keys {
			s.dict.use(k.Call)
		}
	}
	for _, w := range rec.Windows {
		for i := range w.Rows.Len() {
			s.dict.use(w.Rows.Call(i))
		}
	}
	return nil
}

// addBare adds rows of zeros for stacks that only samples or windows name,
// since each must have a record.
func (s *spaaWriter) addBare(e int, r *sums.Rows) {
	if len(s.Rec.Events[e].Metrics) == 0 {
		return
	}
	has := map[recording.CallID]bool{}
	for _, k := range r.Keys {
		has[k.Call] = true
	}
	need := func(track int, call recording.CallID) {
		if has[call] {
			return
		}
		has[call] = true
		for m, vs := 0, r.Row(sums.Key{Track: int32(track), Call: call}); m < len(vs); m++ {
			vs[m] = 0
		}
	}
	for ti, t := range s.Rec.Tracks {
		if l := t.SamplesOf(e); l != nil {
			for i := range l.Len() {
				need(ti, l.Call(i))
			}
		}
	}
	for _, w := range s.Rec.Windows {
		if w.Event != e {
			continue
		}
		for i := range w.Rows.Len() {
			need(w.Rows.Track(i), w.Rows.Call(i))
		}
	}
}

func (s *spaaWriter) header() error {
	rec := s.Rec
	h := &format.Header{
		Format: "spaa", Version: "1.0", SourceTool: s.tool(),
		FrameOrder: format.LeafToRoot, StackIDMode: format.ContentAddressable,
		Events: []format.Event{}, Extra: s.notes(),
	}
	names := map[string]bool{}
	for i := range rec.Events {
		e := s.event(i, names)
		h.Events = append(h.Events, e)
	}
	if rec.HasTime {
		h.TimeRange = &format.TimeRange{Start: s.time(rec.Start), End: s.time(rec.End), Unit: "seconds"}
	}
	tool, version := rec.Source.Tool, ""
	if i := strings.LastIndexByte(tool, ' '); i > 0 && tool[i+1:] != "" && tool[i+1]-'0' <= 9 {
		tool, version = tool[:i], tool[i+1:]
	}
	if tool != "" || rec.Source.Command != "" {
		h.Source = &format.Source{Tool: tool, Command: rec.Source.Command, ToolVersion: version}
	}
	return s.out.Write(h)
}

// tool returns the header's source_tool. The spec requires the metric period in files of
// source_tool "perf", but perf script may omit periods.
func (s *spaaWriter) tool() string {
	switch f := s.Rec.Source.Format; f {
	case "perf-script":
		for i := range s.Rec.Events {
			k := s.Rec.Events[i].Metric("period")
			for n := range s.rows[i].Keys {
				if k < 0 || s.rows[i].At(n)[k] == recording.Missing {
					return "perf-script"
				}
			}
		}
		return "perf"
	case "":
		return "ashlar"
	default:
		return f
	}
}

// event returns the header's entry for event i of the recording.
func (s *spaaWriter) event(i int, names map[string]bool) format.Event {
	e := &s.Rec.Events[i]
	x := spaaEvent{name: e.Name, sampled: -1}
	if x.name == "" {
		x.name = e.Kind
	}
	if x.name == "" {
		x.name = "samples"
	}
	for n, base := 2, x.name; names[x.name]; n++ {
		x.name = base + " " + strconv.Itoa(n)
	}
	names[x.name] = true
	for k := range e.Metrics {
		x.metrics = append(x.metrics, spaaMetric(&e.Metrics[k]))
	}
	if len(e.Metrics) == 0 {
		// The event has no metrics, so no record refers to it.
		s.events = append(s.events, x)
		return format.Event{Name: x.name, Kind: "probe", Sampling: format.Sampling{Mode: "event", PrimaryMetric: "count"}}
	}
	if k := e.Metric("period"); k >= 0 && e.Metrics[k].PerSample == recording.SampleColumn {
		x.sampled = k
	} else if k := e.Primary; e.Metrics[k].PerSample == recording.SampleColumn && e.Metrics[k].Name != "samples" && e.Metrics[k].Name != "count" {
		x.sampled = k
	}
	s.events = append(s.events, x)
	out := format.Event{Name: x.name, Kind: s.kind(e, x.metrics), Sampling: format.Sampling{
		Mode: samplingMode(e), PrimaryMetric: x.metrics[e.Primary], Extra: periodOf(e),
	}, Extra: s.metricList(e, x.metrics)}
	if e.Period > 0 && out.Sampling.Mode == "period" {
		out.Sampling.SamplePeriod = format.IntNumber(e.Period)
	}
	if e.Frequency > 0 {
		out.Sampling.FrequencyHz = format.FloatNumber(e.Frequency)
	}
	return out
}

func spaaMetric(m *recording.Metric) string {
	if name, ok := encode.HeapMetrics[m.Name]; ok {
		return name
	}
	return m.Name
}

func spaaUnit(m *recording.Metric) string {
	if strings.HasSuffix(spaaMetric(m), "_count") && (m.Unit == "objects" || m.Unit == "count") {
		return "count"
	}
	return m.Unit
}

// kind returns the event's kind, one of those in the spec.
func (s *spaaWriter) kind(e *recording.Event, metrics []string) string {
	switch e.Kind {
	case "hardware", "software", "allocation", "deallocation", "timer", "probe":
		return e.Kind
	}
	switch p := metrics[e.Primary]; {
	case strings.HasPrefix(p, "alloc_"), strings.HasPrefix(p, "live_"), p == "peak_bytes":
		return "allocation"
	case strings.HasPrefix(p, "free_"):
		return "deallocation"
	case e.Basis == recording.FromSpans, e.Mode == "event":
		return "probe"
	case e.Kind == "sample", e.Frequency > 0:
		return "timer"
	}
	return "software"
}

func samplingMode(e *recording.Event) string {
	switch {
	case e.Mode == "period", e.Mode == "frequency", e.Mode == "event":
		return e.Mode
	case e.Frequency > 0:
		return "frequency"
	case e.Basis == recording.FromSpans:
		return "event"
	}
	return "period"
}

// time formats a time in seconds.
func (s *spaaWriter) time(ps int64) format.Number {
	s.text = s.clock.Append(s.text[:0], ps)
	return format.Number(s.text)
}

// threadRecords writes the threads that stacks and samples name.
func (s *spaaWriter) threadRecords() error {
	used := make([]bool, len(s.threads))
	s.used = used
	for _, r := range s.rows {
		for _, k := range r.Keys {
			if k.Track != recording.NoTrack {
				used[k.Track] = true
			}
		}
	}
	for i, t := range s.Rec.Tracks {
		used[i] = used[i] || len(t.Samples) > 0
	}
	s.LoseThreads(s.threads, func(i int) bool { return used[i] })
	for i, t := range s.threads {
		if !used[i] {
			continue
		}
		if err := s.out.Write(&format.Thread{PID: t.PID, TID: t.TID, Comm: t.Name}); err != nil {
			return err
		}
	}
	return nil
}

// stacks writes the stack records of every event.
func (s *spaaWriter) stacks() error {
	var noPrimary int64
	for e, r := range s.rows {
		ev := &s.Rec.Events[e]
		for i, k := range r.Keys {
			vs := r.At(i)
			if vs[ev.Primary] == recording.Missing {
				noPrimary++
				vs[ev.Primary] = 0
			}
			st := &s.stack
			*st = format.Stack{
				ID: s.id(e, k.Call), Frames: s.dict.path(st.Frames[:0], k.Call),
				Context: s.context(e, k), Weights: s.weights(st.Weights[:0], e, vs),
			}
			if len(st.Frames) > 0 {
				st.Exclusive = &format.Exclusive{Frame: st.Frames[0], Weights: st.Weights}
			}
			if err := s.out.Write(st); err != nil {
				return err
			}
			if err := s.Tick(1); err != nil {
				return err
			}
		}
		// Free the rows: the following steps need only the ids.
		s.rows[e] = nil
	}
	s.Lose(noPrimary, "missing values of a primary metric", "SPAA requires a value, so 0 is written")
	return nil
}

func (s *spaaWriter) weights(dst []format.Weight, event int, values []int64) []format.Weight {
	ms := s.Rec.Events[event].Metrics
	for m, v := range values {
		if v == recording.Missing {
			continue
		}
		s.text = encode.AppendValue(s.text[:0], v, ms[m].Decimals)
		dst = append(dst, format.Weight{Metric: s.events[event].metrics[m], Value: format.Number(s.text), Unit: spaaUnit(&ms[m])})
	}
	return dst
}

// id returns the id of a call's stack in an event.
func (s *spaaWriter) id(event int, call recording.CallID) format.ID {
	id, ok := s.ids[event][call]
	if !ok {
		outer := ""
		if event > 0 {
			outer = "event " + s.events[event].name
		}
		id = s.dict.id(call, outer)
		s.ids[event][call] = id
	}
	return id
}

// context returns the context of a row.
func (s *spaaWriter) context(event int, k sums.Key) *format.Context {
	c := &format.Context{Event: s.events[event].name}
	if k.Track != recording.NoTrack {
		t := &s.threads[k.Track]
		c.PID, c.TID = format.Some(t.PID), format.Some(t.TID)
	}
	attrs := s.Rec.Contexts.At(int(k.Ctx))
	for _, a := range attrs {
		s.attr(c, a)
	}
	if c.Comm == "" && k.Track != recording.NoTrack {
		c.Comm = s.threads[k.Track].Name
	}
	markAdded(c, attrs)
	return c
}

// attr adds an attribute of a context.
func (s *spaaWriter) attr(c *format.Context, a recording.Attr) {
	number := func(dst *format.Opt[int64]) bool {
		if dst.OK {
			return strconv.FormatInt(dst.V, 10) == a.Value
		}
		n, err := strconv.ParseInt(a.Value, 10, 64)
		if err == nil && strconv.FormatInt(n, 10) == a.Value {
			*dst = format.Some(n)
			return true
		}
		return false
	}
	switch a.Key {
	case "event":
		if a.Value == c.Event {
			return
		}
	case "pid":
		if number(&c.PID) {
			return
		}
	case "tid":
		if number(&c.TID) {
			return
		}
	case "cpu":
		if number(&c.CPU) {
			return
		}
	case "uid":
		if number(&c.UID) {
			return
		}
	case "comm":
		c.Comm = a.Value
		return
	}
	key := a.Key
	if !strings.HasPrefix(key, "x_") && !strings.ContainsAny(key, ".:/") {
		key = s.prefix + key
	}
	if c.Extra == nil {
		c.Extra = format.Extra{}
	}
	c.Extra[key] = jsonString(a.Value)
}

// losses reports the parts of the recording that SPAA cannot hold.
func (s *spaaWriter) losses() {
	rec := s.Rec
	const why = "SPAA holds stacks and samples"
	s.LoseTrace(why)
	s.LoseMoreNotes()
	s.LoseArgs(why)
	if s.clock.Cut {
		s.Lose(1, "last digits of the clock's origin", "digits below a picosecond are lost")
	}
	var names int64
	for i := range rec.Processes {
		p := &rec.Processes[i]
		named := false
		for k, t := range rec.Tracks {
			named = named || s.used[k] && t.Process == i && t.Name == p.Name
		}
		if p.Name != "" && !named {
			names++
		}
	}
	s.Lose(names, "names of processes", "SPAA names only threads")
	s.LoseLabels("SPAA names only threads")
	s.Lose(s.dict.badBuildIDs, "build ids", "SPAA allows only hexadecimal digits")
	s.Lose(s.dict.managed, "virtual machine frames", "SPAA distinguishes only user and kernel code; these frames become user code")
}
