package convert

import (
	"cmp"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/google/pprof/profile"

	"ashlar/ingest/analyze"
	"ashlar/ingest/recording"
)

// pprofWriter writes one event of a recording as a pprof profile. Its metrics
// are the sample types. What a context or a thread says become labels: pid,
// tid, cpu and uid numbers, all else text. There is no timeline.
//
// SPAA's heap metrics get the names that pprof's tools know. An address without
// a name stays one, so that pprof shows it as it does its own.
type pprofWriter struct {
	*job
	p         *profile.Profile
	event     int
	rows      *rows
	locs      *locations
	functions map[functionKey]*profile.Function
	mappings  map[mappingKey]*profile.Mapping
	labels    map[labelKey]*labelSet
}

type functionKey struct {
	id   recording.FuncID
	file string
}

type labelKey struct {
	track int32
	ctx   recording.ContextID
}

type labelSet struct {
	text map[string][]string
	num  map[string][]int64
	unit map[string][]string
}

func writePprof(j *job) error {
	event, err := j.oneEvent()
	if err != nil {
		return err
	}
	j.total = j.rec.Counts.Stacks + j.rec.Counts.Spans
	w := &pprofWriter{
		job: j, event: event, p: &profile.Profile{}, locs: newLocations(j.rec),
		functions: map[functionKey]*profile.Function{}, mappings: map[mappingKey]*profile.Mapping{}, labels: map[labelKey]*labelSet{},
	}
	if w.rows, err = j.rowsOf(event); err != nil {
		return err
	}
	w.describe()
	if err := w.samples(); err != nil {
		return err
	}
	w.locations()
	w.mainFirst()
	w.losses()
	if err := w.p.CheckValid(); err != nil {
		return err
	}
	if err := j.ctx.Err(); err != nil {
		return err
	}
	return w.p.WriteUncompressed(j.w)
}

// oneEvent chooses the event for a target that holds one and notes the others.
func (j *job) oneEvent() (int, error) {
	event, _, err := analyze.Choose(j.rec, j.opt.Event, "")
	if err != nil {
		return 0, &ChoiceError{err}
	}
	if event < 0 {
		return 0, errNothing
	}
	for i := range j.rec.Events {
		if i != event && j.hasRows(i) {
			j.lose(1, "events", "%s: the file holds one event; choose it with --event", analyze.EventName(&j.rec.Events[i]))
		}
	}
	return event, nil
}

// hasRows tells whether an event has records.
func (j *job) hasRows(event int) bool {
	if s := j.rec.Stacks[event]; s != nil && s.Len() > 0 {
		return true
	}
	if j.rec.Events[event].Basis == recording.FromSpans {
		return j.rec.Counts.Spans > 0
	}
	for _, t := range j.rec.Tracks {
		if s := t.SamplesOf(event); s != nil && s.Len() > 0 {
			return true
		}
	}
	return false
}

// pprofMetric is what pprof's tools call a metric.
func pprofMetric(name string) string {
	for theirs, ours := range heapMetrics {
		if name == ours {
			return theirs
		}
	}
	return name
}

// pprofUnit is what pprof's tools call a unit.
func pprofUnit(unit string) string {
	switch unit {
	case "ns":
		return "nanoseconds"
	case "us":
		return "microseconds"
	case "ms":
		return "milliseconds"
	case "s":
		return "seconds"
	}
	return unit
}

func (w *pprofWriter) describe() {
	rec, p := w.rec, w.p
	e := &rec.Events[w.event]
	for i := range e.Metrics {
		m := &e.Metrics[i]
		p.SampleType = append(p.SampleType, &profile.ValueType{Type: pprofMetric(m.Name), Unit: pprofUnit(m.Unit)})
	}
	if len(p.SampleType) > 0 {
		p.DefaultSampleType = p.SampleType[e.Primary].Type
	}
	p.PeriodType, p.Period = periodOf(e)
	if at, ok := w.wallClock(rec.Start); ok {
		p.TimeNanos = at
	}
	if rec.HasTime {
		p.DurationNanos = rec.Duration() / 1000
	}
	w.notes()
	if s := rec.Source.Tool; s != "" {
		p.Comments = append(p.Comments, "recorded by "+s)
	}
	if s := rec.Source.Command; s != "" && rec.Source.Format != "pprof" {
		p.Comments = append(p.Comments, "command: "+s)
	}
}

// periodOf is how an event was sampled, as far as a profile can say it.
func periodOf(e *recording.Event) (*profile.ValueType, int64) {
	switch {
	case e.Kind == "timer" && e.Frequency > 0:
		period := e.Period
		if period == 0 {
			period = int64(math.Round(1e9 / e.Frequency))
		}
		return &profile.ValueType{Type: "cpu", Unit: "nanoseconds"}, period
	case e.Frequency > 0:
		return &profile.ValueType{Type: "cpu", Unit: "nanoseconds"}, int64(math.Round(1e9 / e.Frequency))
	case e.Kind == "allocation":
		return &profile.ValueType{Type: "space", Unit: "bytes"}, e.Period
	}
	typ := &profile.ValueType{Type: e.Name, Unit: "count"}
	if len(e.Metrics) > 0 {
		typ.Unit = pprofUnit(e.Metrics[e.Primary].Unit)
		if typ.Type == "" {
			typ.Type = pprofMetric(e.Metrics[e.Primary].Name)
		}
	}
	return typ, e.Period
}

// epoch is a time that tells clocks that count from 1970 from those that count
// from when a machine began: the year 2001.
const epoch = 1e18

// wallClock is a time in nanoseconds since 1970 where the recording's clock
// counts from then.
func (j *job) wallClock(t int64) (ns int64, ok bool) {
	c, ok := newClockText(&j.rec.Clock, 1000)
	if !ok {
		return 0, false
	}
	ns, _ = c.at(t)
	return ns, ns >= epoch
}

func (w *pprofWriter) samples() error {
	ms := w.rec.Events[w.event].Metrics
	rounders := make([]rounder, len(ms))
	for i := range ms {
		rounders[i] = newRounder(ms[i].Decimals)
	}
	w.Records = int64(len(w.rows.keys))
	for i, k := range w.rows.keys {
		s := &profile.Sample{Value: make([]int64, len(ms))}
		for m, v := range w.rows.at(i) {
			s.Value[m] = rounders[m].value(v)
		}
		for _, n := range w.locs.stack(k.call) {
			s.Location = append(s.Location, w.location(n))
		}
		if l := w.label(labelKey{k.track, k.ctx}); l != nil {
			s.Label, s.NumLabel, s.NumUnit = l.text, l.num, l.unit
		}
		w.p.Sample = append(w.p.Sample, s)
		if err := w.tick(1); err != nil {
			return err
		}
	}
	for i := range ms {
		w.lose(rounders[i].n, "fractions of "+ms[i].Name, "values are whole %s; they were rounded so that the sum stays", pprofUnit(ms[i].Unit))
	}
	return nil
}

// location finds or makes a location by its number.
func (w *pprofWriter) location(n int) *profile.Location {
	for len(w.p.Location) < n {
		w.p.Location = append(w.p.Location, &profile.Location{ID: uint64(len(w.p.Location) + 1)})
	}
	return w.p.Location[n-1]
}

// locations fills the locations in.
func (w *pprofWriter) locations() {
	for i, loc := range w.locs.all {
		out := w.location(i + 1)
		f := w.rec.Frames.At(int(loc[0]))
		out.Address = f.Addr
		bare := w.locs.bare(loc)
		out.Mapping = w.mapping(w.locs.mapping(loc), bare)
		if bare {
			continue
		}
		for _, id := range loc {
			fr := w.rec.Frames.At(int(id))
			fn := w.rec.Functions.At(int(fr.Func))
			out.Line = append(out.Line, profile.Line{Function: w.function(fr.Func, &fn, sourceFile(&fn, &fr)), Line: int64(fr.Line), Column: int64(fr.Column)})
			if m := out.Mapping; m != nil && fr.Line > 0 {
				m.HasLineNumbers = true
			}
		}
	}
}

func (w *pprofWriter) function(id recording.FuncID, fn *recording.Function, file string) *profile.Function {
	k := functionKey{id, file}
	f := w.functions[k]
	if f == nil {
		f = &profile.Function{ID: uint64(len(w.p.Function) + 1), Name: fn.Name, SystemName: cmp.Or(fn.Symbol, fn.Name), Filename: file}
		w.functions[k] = f
		w.p.Function = append(w.p.Function, f)
	}
	return f
}

// mapping finds or makes a binary, nil where there is none. The recording does
// not know where binaries lay; without HasFunctions pprof would look for
// symbols there.
func (w *pprofWriter) mapping(k mappingKey, bare bool) *profile.Mapping {
	if k.file == "" {
		return nil
	}
	m := w.mappings[k]
	if m == nil {
		m = &profile.Mapping{ID: uint64(len(w.p.Mapping) + 1), File: k.file, BuildID: k.buildID}
		w.mappings[k] = m
		w.p.Mapping = append(w.p.Mapping, m)
	}
	if !bare {
		m.HasFunctions, m.HasFilenames = true, true
	}
	return m
}

// mainFirst puts the program itself in front of the other binaries: readers take
// the first one for it.
func (w *pprofWriter) mainFirst() {
	main := slices.IndexFunc(w.p.Mapping, func(m *profile.Mapping) bool {
		return w.rec.Source.Format == "pprof" && m.File == w.rec.Source.Command
	})
	if main < 0 {
		main = slices.IndexFunc(w.p.Mapping, func(m *profile.Mapping) bool {
			return m.File[0] != '[' && !recording.KernelModule(m.File) && !strings.Contains(path.Base(m.File), ".so")
		})
	}
	if main > 0 {
		m := w.p.Mapping[main]
		copy(w.p.Mapping[1:], w.p.Mapping[:main])
		w.p.Mapping[0] = m
		for i, m := range w.p.Mapping {
			m.ID = uint64(i + 1)
		}
	}
}

// label is the labels of a thread and a context.
func (w *pprofWriter) label(k labelKey) *labelSet {
	l, ok := w.labels[k]
	if ok {
		return l
	}
	l = &labelSet{text: map[string][]string{}, num: map[string][]int64{}, unit: map[string][]string{}}
	hasThread := false
	for _, a := range w.rec.Contexts.At(int(k.ctx)) {
		key := strings.TrimPrefix(a.Key, "x_pprof_")
		if key == "event" {
			continue // there is one
		}
		switch strings.ToLower(key) {
		case "tid", "thread", "thread_id", "thread_name", "thread.id", "thread.name":
			hasThread = true
		}
		l.add(key, a.Value)
	}
	if k.track != recording.NoTrack && !hasThread {
		t := w.rec.Tracks[k.track]
		if t.Kind == recording.ThreadTrack && (t.TID != 0 || t.PID != 0) {
			l.num["pid"], l.num["tid"] = []int64{t.PID}, []int64{t.TID}
		}
		if t.Name != "" {
			l.text["thread"] = []string{t.Name}
		}
	}
	if len(l.text)+len(l.num) == 0 {
		l = nil
	}
	w.labels[k] = l
	return l
}

// add adds a label. A number with a unit behind it is how a recording has
// pprof's own labels of numbers.
func (l *labelSet) add(key, value string) {
	number, unit, _ := strings.Cut(value, " ")
	switch n, err := strconv.ParseInt(number, 10, 64); {
	case err != nil || strconv.FormatInt(n, 10) != number || strings.Contains(unit, " "):
	case unit != "":
		l.num[key], l.unit[key] = []int64{n}, []string{unit}
		return
	case key == "pid" || key == "tid" || key == "cpu" || key == "uid" || key == "bytes":
		l.num[key] = []int64{n}
		return
	}
	l.text[key] = []string{value}
}

func (w *pprofWriter) losses() {
	const why = "a profile has no timeline"
	rec := w.rec
	if rec.Events[w.event].Basis == recording.FromSpans {
		w.loseTrace(why)
		w.loseArgs(why)
	} else {
		w.loseMarks(why)
	}
	w.lose(samples(rec), "times of samples", "%s; what they add up to by stack is carried", why)
	w.loseWindows(why)
	w.lose(w.locs.single, "inlined frames", "they have not the address of what they lie in; they are frames of their own")
	w.loseOffsets()
	var kernel int64
	for i := range rec.Frames.Len() {
		f := rec.Frames.At(i)
		if f.Kind == recording.KindKernel && !recording.KernelModule(rec.Functions.At(int(f.Func)).Module) {
			kernel++
		}
	}
	w.lose(kernel, "frames of the kernel", "a profile tells them by the name of their binary only")
}

// loseOffsets notes what frames know beside their address.
func (j *job) loseOffsets() {
	var n int64
	for i := range j.rec.Frames.Len() {
		if j.rec.Frames.At(i).Offset != 0 {
			n++
		}
	}
	j.lose(n, "offsets in functions", "frames have their address only")
}
