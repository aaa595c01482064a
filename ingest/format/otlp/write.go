package otlp

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

	"ashlar/ingest/format/encode"
	"ashlar/ingest/format/encode/sums"
	"ashlar/ingest/input/memory"
	"ashlar/ingest/model/order"
	"ashlar/ingest/model/recording"
)

// otlpWriter writes a recording as one ProfilesData message of OpenTelemetry's proto
// 1.10. Processes become resources; each metric of each event becomes a profile in each
// process. Attributes common to all contexts of a process become attributes of its
// resource, the others of its samples.
//
// A sample is a stack of a thread with all its times and the value at each, if the
// recording has these values and they add up to the stack's value. Otherwise it is the
// stack's value without times. Times are nanoseconds since 1970, or of the recording's
// clock if that does not count from 1970.
type otlpWriter struct {
	*encode.Job
	dict      *otlpDict
	threads   []encode.ThreadID
	clock     encode.ClockText
	shift     uint64 // added to times, because 0 is not allowed
	resources []*otlpResource
	index     map[int]*otlpResource // by process, -1 for no process
	contexts  map[otlpContextKey]otlpContext
	fine      int64 // number of times with a fraction of a nanosecond
}

// otlpResource is a process being written.
type otlpResource struct {
	process  int // -1: unknown
	contexts map[recording.ContextID]bool
	common   []recording.Attr
	profiles []byte // messages of ScopeProfiles.profiles
}

type otlpContextKey struct {
	process int
	track   int32
	ctx     recording.ContextID
	cpu     int
}

// otlpContext holds the attributes and link of a thread, context and processor.
type otlpContext struct {
	attrs []int32
	link  int32
}

// frameMemory is the memory for each frame of each stack: the number of its location, once
// as such and twice as a varint.
const frameMemory = 8 + 2*3

func write(j *encode.Job) error {
	w := &otlpWriter{
		Job: j, dict: newOTLPDict(j.Rec), threads: encode.ThreadIDs(j.Rec, false, -1, -1),
		index: map[int]*otlpResource{}, contexts: map[otlpContextKey]otlpContext{},
	}
	j.Total = j.Rec.Counts.Stacks + j.Rec.Counts.Spans + encode.Samples(j.Rec)
	w.setClock()
	var frames int64
	all := make([]*sums.Rows, len(j.Rec.Events))
	for e := range all {
		r, err := sums.Of(j, e)
		if err != nil {
			return err
		}
		if err := r.Expect(j, r.Frames(j.Rec)*encode.BinaryID(j.Rec)); err != nil {
			return err
		}
		all[e] = r
		frames += r.Frames(j.Rec)
		if err := memory.Need(frames*frameMemory, "writing OpenTelemetry profiles"); err != nil {
			return err
		}
		for _, k := range r.Keys {
			w.resource(k).contexts[k.Ctx] = true
		}
	}
	if len(w.resources) == 0 {
		return encode.ErrNothing
	}
	// Processes keep the recording's order; rows without a process come last.
	order.By(w.resources, func(a, b *otlpResource) int { return cmp.Compare(uint(a.process), uint(b.process)) })
	for _, r := range w.resources {
		r.findCommon(j.Rec)
	}
	for e, r := range all {
		if err := w.event(e, r); err != nil {
			return err
		}
	}
	w.losses()
	return w.write()
}

func (w *otlpWriter) setClock() {
	var ok bool
	if w.clock, ok = encode.NewClockText(&w.Rec.Clock, 1000); !ok {
		w.Lose(1, "clock origins", "the clock origin is out of range; times are relative to the recording's start")
	}
	if w.Rec.HasTime {
		if _, ok := w.WallClock(w.Rec.Start); !ok {
			w.Lose(1, "wall-clock times", "the start date is unknown; profiles have no times, and sample times are relative to the recording's start")
		}
		if first, _ := w.clock.At(w.Rec.Start); first < 1 {
			w.shift = uint64(1 - first)
			w.Lose(1, "clock starts", "0 means no time in this format, so all times are shifted by %d ns", w.shift)
		}
	}
}

// resource returns the resource of a row's process.
func (w *otlpWriter) resource(k sums.Key) *otlpResource {
	p := -1
	if k.Track != recording.NoTrack {
		p = w.Rec.Tracks[k.Track].Process
	} else if k.Ctx != 0 || len(w.Rec.Processes) == 1 {
		p = w.processOf(k.Ctx)
	}
	r := w.index[p]
	if r == nil {
		r = &otlpResource{process: p, contexts: map[recording.ContextID]bool{}}
		w.index[p] = r
		w.resources = append(w.resources, r)
	}
	return r
}

// processOf returns the process of a context.
func (w *otlpWriter) processOf(ctx recording.ContextID) int {
	c := w.Rec.Contexts.At(int(ctx))
	for _, key := range []string{"process.pid", "pid"} {
		if pid, err := strconv.ParseInt(c.Get(key), 10, 64); err == nil {
			for i := range w.Rec.Processes {
				if w.Rec.Processes[i].PID == pid {
					return i
				}
			}
		}
	}
	for _, key := range nameKeys {
		if name := c.Get(key); name != "" {
			return slices.IndexFunc(w.Rec.Processes, func(p recording.Process) bool { return p.Name == name })
		}
	}
	return -1
}

// nameKeys are the attributes that name a process.
var nameKeys = []string{"process.executable.name", "service.name", "container.id"}

// findCommon finds the attributes common to all contexts of a process.
func (r *otlpResource) findCommon(rec *recording.Recording) {
	first := true
	for _, ctx := range slices.Sorted(maps.Keys(r.contexts)) {
		c := rec.Contexts.At(int(ctx))
		if first {
			r.common, first = slices.Clone([]recording.Attr(c)), false
		}
		r.common = slices.DeleteFunc(r.common, func(a recording.Attr) bool { return !slices.Contains(c, a) })
	}
	r.common = slices.DeleteFunc(r.common, func(a recording.Attr) bool {
		switch a.Key {
		case "event", "tid", "comm", "cpu", "thread.id", "thread.name", "trace_id", "span_id":
			return true // always an attribute of samples, even if they all share it
		}
		return false
	})
}

// event writes the profiles of an event.
func (w *otlpWriter) event(e int, r *sums.Rows) error {
	ev := &w.Rec.Events[e]
	times := w.timesOf(e)
	for m := range ev.Metrics {
		byResource := map[*otlpResource][]int{}
		for i, k := range r.Keys {
			if r.At(i)[m] != recording.Missing {
				res := w.resource(k)
				byResource[res] = append(byResource[res], i)
			}
		}
		round := encode.NewRounder(ev.Metrics[m].Decimals)
		for _, res := range w.resources {
			if len(byResource[res]) == 0 {
				continue
			}
			p := &otlpProfile{otlpWriter: w, event: e, metric: m, rows: r, times: times, round: &round, resource: res}
			msg, err := p.message(byResource[res])
			if err != nil {
				return err
			}
			res.profiles = pbBytes(res.profiles, 2, msg)
		}
		w.Lose(round.N, "fractions of "+ev.Metrics[m].Name, "values must be whole %s; they were rounded without changing the sum", encode.PprofUnit(ev.Metrics[m].Unit))
	}
	return nil
}

// context returns the attributes of a sample.
func (w *otlpWriter) context(k otlpContextKey, res *otlpResource) otlpContext {
	if x, ok := w.contexts[k]; ok {
		return x
	}
	var x otlpContext
	d := w.dict
	c := w.Rec.Contexts.At(int(k.ctx))
	threadID, threadName := c.Get("thread.id"), c.Get("thread.name")
	if k.track != recording.NoTrack {
		t := &w.threads[k.track]
		if threadID == "" && (!t.Made || t.Name == "") {
			threadID = strconv.FormatInt(t.TID, 10)
		}
		if threadName == "" {
			threadName = t.Name
		}
		if comm := c.Get("comm"); comm != "" {
			threadName = comm
		}
	} else if threadID == "" {
		threadID = c.Get("tid")
	}
	if n, err := strconv.ParseInt(threadID, 10, 64); err == nil {
		x.attrs = append(x.attrs, d.attr("thread.id", anyInt(n)))
	}
	if threadName != "" {
		x.attrs = append(x.attrs, d.attr("thread.name", anyText(threadName)))
	}
	if k.cpu >= 0 {
		x.attrs = append(x.attrs, d.attr("cpu.logical_number", anyInt(int64(k.cpu))))
	}
	x.link = d.link(c.Get("trace_id"), c.Get("span_id"))
	for _, a := range c {
		switch a.Key {
		case "tid", "thread.id", "thread.name":
			continue
		case "event":
			if slices.ContainsFunc(w.Rec.Events, func(e recording.Event) bool { return e.Name == a.Value }) {
				continue
			}
		case "comm":
			if k.track != recording.NoTrack {
				continue
			}
		case "pid":
			if k.process >= 0 && a.Value == strconv.FormatInt(w.Rec.Processes[k.process].PID, 10) {
				continue
			}
		case "trace_id", "span_id":
			if x.link != 0 {
				continue
			}
		case "cpu.logical_number":
			if k.cpu >= 0 {
				continue
			}
		}
		if !slices.Contains(res.common, a) {
			x.attrs = append(x.attrs, d.attr(a.Key, anyText(a.Value)))
		}
	}
	w.contexts[k] = x
	return x
}

// write writes the message: resources, then the dictionary.
func (w *otlpWriter) write() error {
	for _, r := range w.resources {
		b := pbBytes(nil, 1, w.resourceMessage(r))
		scope := pbText(nil, 1, "ashlar")
		if s := w.Rec.Source.Tool; s != "" {
			scope = pbText(nil, 1, s)
		}
		b = pbBytes(b, 2, append(pbBytes(nil, 1, scope), r.profiles...))
		if _, err := w.W.Write(pbBytes(nil, 1, b)); err != nil {
			return err
		}
		r.profiles = nil
		if err := w.Ctx.Err(); err != nil {
			return err
		}
	}
	_, err := w.W.Write(pbBytes(nil, 2, w.dict.append(nil)))
	return err
}

func (w *otlpWriter) resourceMessage(r *otlpResource) []byte {
	var b []byte
	attr := func(key string, value []byte) { b = pbBytes(b, 1, pbBytes(pbText(nil, 1, key), 2, value)) }
	has := func(keys ...string) bool {
		return slices.ContainsFunc(r.common, func(a recording.Attr) bool { return slices.Contains(keys, a.Key) })
	}
	src := &w.Rec.Source
	for _, host := range src.NotesOf(recording.NoteHost) {
		if !has("host.name") {
			attr("host.name", anyText(host))
			break
		}
	}
	if src.Command != "" && src.Format != "pprof" && !has("process.command_line") {
		attr("process.command_line", anyText(src.Command))
	}
	if r.process >= 0 {
		p := &w.Rec.Processes[r.process]
		if p.PID > 0 && !has("process.pid") {
			attr("process.pid", anyInt(p.PID))
		}
		if p.Name != "" && !has(nameKeys...) {
			attr("process.executable.name", anyText(p.Name))
		}
	}
	for _, a := range r.common {
		if a.Key == "pid" && r.process >= 0 {
			continue
		}
		attr(a.Key, anyText(a.Value))
	}
	return b
}

func (w *otlpWriter) losses() {
	const why = "profiles have only samples"
	if w.Rec.Counts.Spans > 0 {
		w.LoseTrace(why)
		w.LoseArgs(why)
	} else {
		w.LoseMarks(why)
	}
	w.LoseWindows(why)
	w.LoseMoreNotes()
	w.Lose(w.fine, "parts of nanoseconds", "times are whole nanoseconds")
	w.Lose(w.dict.locs.Single, "inlined frames", "written as separate frames, because the address of the enclosing function is unknown")
	w.LoseOffsets()
	var managed int64
	for i := range w.Rec.Frames.Len() {
		if f := w.Rec.Frames.At(i); f.Kind == recording.KindManaged && w.dict.frameType(&f) == "" {
			managed++
		}
	}
	w.Lose(managed, "virtual machine frames", "the recording does not name the virtual machine, which OpenTelemetry requires")
}
