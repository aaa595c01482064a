package pprof

import (
	"cmp"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/google/pprof/profile"

	"ashlar/ingest/format/encode"
	"ashlar/ingest/format/encode/sums"
	"ashlar/ingest/format/program"
	"ashlar/ingest/input/memory"
	"ashlar/ingest/model/recording"
)

// pprofWriter writes one event of a recording as a pprof profile. The event's metrics are
// the sample types. Attributes of contexts and threads become labels: pid, tid, cpu and
// uid numbers, all others text. There is no timeline.
//
// SPAA's heap metrics get the names that pprof's tools know. An address without a name
// remains an address, so that pprof shows it like its own.
type pprofWriter struct {
	*encode.Job
	p         *profile.Profile
	event     int
	rows      *sums.Rows
	locs      *encode.Locations
	functions map[functionKey]*profile.Function
	mappings  map[encode.MappingKey]*profile.Mapping
	labels    map[labelKey]*labelSet
	empty     int64 // label values that are empty
}

type functionKey struct {
	id    recording.FuncID
	file  string
	start int32
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

// frameMemory is the memory for each frame of each stack: its location as a number, as a
// pointer, and as a number and a varint when pprof's library writes it.
const frameMemory = 3*8 + 3

func write(j *encode.Job) error {
	event, err := sums.OneEvent(j)
	if err != nil {
		return err
	}
	j.Total = j.Rec.Counts.Stacks + j.Rec.Counts.Spans
	w := &pprofWriter{
		Job: j, event: event, p: &profile.Profile{}, locs: encode.NewLocations(j.Rec),
		functions: map[functionKey]*profile.Function{}, mappings: map[encode.MappingKey]*profile.Mapping{}, labels: map[labelKey]*labelSet{},
	}
	if w.rows, err = sums.Of(j, event); err != nil {
		return err
	}
	frames := w.rows.Frames(j.Rec)
	if err := w.rows.Expect(j, frames*encode.BinaryID(j.Rec)); err != nil {
		return err
	}
	if err := memory.Need(frames*frameMemory, "writing pprof"); err != nil {
		return err
	}
	w.describe()
	w.binaries()
	if err := w.samples(); err != nil {
		return err
	}
	w.locations()
	w.mainFirst()
	w.losses()
	if err := w.p.CheckValid(); err != nil {
		return err
	}
	if err := j.Ctx.Err(); err != nil {
		return err
	}
	return w.p.WriteUncompressed(j.W)
}

func (w *pprofWriter) describe() {
	rec, p := w.Rec, w.p
	e := &rec.Events[w.event]
	for i := range e.Metrics {
		m := &e.Metrics[i]
		p.SampleType = append(p.SampleType, &profile.ValueType{Type: encode.PprofMetric(m.Name), Unit: encode.PprofUnit(m.Unit)})
	}
	if len(p.SampleType) > 0 {
		p.DefaultSampleType = p.SampleType[e.Primary].Type
	}
	typ, unit, period := encode.SamplingPeriod(e)
	p.PeriodType, p.Period = &profile.ValueType{Type: typ, Unit: unit}, period
	if at, ok := w.WallClock(rec.Start); ok {
		p.TimeNanos = at
	}
	if rec.HasTime {
		p.DurationNanos = rec.Duration() / 1000
	}
	w.notes()
	if s := rec.Source.Tool; s != "" && s != "pprof" {
		p.Comments = append(p.Comments, "recorded by "+s)
	}
	if s := rec.Source.Command; s != "" && (len(rec.Source.Mappings) == 0 || s != rec.Source.Mappings[0].File) {
		p.Comments = append(p.Comments, "command: "+s)
	}
}

func (w *pprofWriter) samples() error {
	ms := w.Rec.Events[w.event].Metrics
	rounders := make([]encode.Rounder, len(ms))
	for i := range ms {
		rounders[i] = encode.NewRounder(ms[i].Decimals)
	}
	w.Records = int64(len(w.rows.Keys))
	for i, k := range w.rows.Keys {
		s := &profile.Sample{Value: make([]int64, len(ms))}
		for m, v := range w.rows.At(i) {
			s.Value[m] = rounders[m].Value(v)
		}
		for _, n := range w.locs.Stack(k.Call) {
			s.Location = append(s.Location, w.location(n))
		}
		if l := w.label(labelKey{k.Track, k.Ctx}); l != nil {
			s.Label, s.NumLabel, s.NumUnit = l.text, l.num, l.unit
		}
		w.p.Sample = append(w.p.Sample, s)
		if err := w.Tick(1); err != nil {
			return err
		}
	}
	for i := range ms {
		w.Lose(rounders[i].N, "fractions of "+ms[i].Name, "values must be whole %s; they were rounded without changing the sum", encode.PprofUnit(ms[i].Unit))
	}
	return nil
}

// location returns the location with number n, creating it if necessary.
func (w *pprofWriter) location(n int) *profile.Location {
	for len(w.p.Location) < n {
		w.p.Location = append(w.p.Location, &profile.Location{ID: uint64(len(w.p.Location) + 1)})
	}
	return w.p.Location[n-1]
}

// locations fills in the contents of all locations.
func (w *pprofWriter) locations() {
	for i, loc := range w.locs.All {
		out := w.location(i + 1)
		f := w.Rec.Frames.At(int(loc[0]))
		out.Address, out.IsFolded = f.Addr, f.Folded
		bare := w.locs.Bare(loc)
		out.Mapping = w.mapping(w.locs.Mapping(loc), bare)
		if bare {
			continue
		}
		for _, id := range loc {
			fr := w.Rec.Frames.At(int(id))
			fn := w.Rec.Functions.At(int(fr.Func))
			out.Line = append(out.Line, profile.Line{Function: w.function(&fr, &fn), Line: int64(fr.Line), Column: int64(fr.Column)})
			if m := out.Mapping; m != nil && fr.Line > 0 && fr.Mapping == 0 {
				m.HasLineNumbers = true
			}
		}
	}
}

func (w *pprofWriter) function(fr *recording.Frame, fn *recording.Function) *profile.Function {
	k := functionKey{fr.Func, encode.SourceFile(fn, fr), fr.StartLine}
	f := w.functions[k]
	if f == nil {
		f = &profile.Function{ID: uint64(len(w.p.Function) + 1), Name: fn.Name, SystemName: cmp.Or(fn.Symbol, fn.Name), Filename: k.file, StartLine: int64(k.start)}
		w.functions[k] = f
		w.p.Function = append(w.p.Function, f)
	}
	return f
}

// binaries adds the mappings that the file listed, even those without locations.
func (w *pprofWriter) binaries() {
	for i, m := range w.Rec.Source.Mappings {
		out := &profile.Mapping{
			ID: uint64(i + 1), Start: m.Start, Limit: m.Limit, Offset: m.Offset, File: m.File, BuildID: m.BuildID,
			HasFunctions: m.HasFunctions, HasFilenames: m.HasFilenames, HasLineNumbers: m.HasLineNumbers, HasInlineFrames: m.HasInlineFrames,
		}
		w.p.Mapping = append(w.p.Mapping, out)
	}
}

// mapping returns the mapping of a binary, creating it if necessary; nil if there is no
// binary. The end of a mapping that the file did not list is unknown. HasFunctions is set
// because pprof would otherwise look for symbols.
func (w *pprofWriter) mapping(k encode.MappingKey, bare bool) *profile.Mapping {
	if k.Listed > 0 {
		return w.p.Mapping[k.Listed-1]
	}
	if k.File == "" {
		return nil
	}
	m := w.mappings[k]
	if m == nil {
		m = &profile.Mapping{ID: uint64(len(w.p.Mapping) + 1), File: k.File, BuildID: k.BuildID}
		if k.Placed {
			m.Start, m.Limit = k.Start, math.MaxUint64
		}
		w.mappings[k] = m
		w.p.Mapping = append(w.p.Mapping, m)
	}
	if !bare {
		m.HasFunctions, m.HasFilenames = true, true
	}
	return m
}

// mainFirst moves the program itself before the other binaries, because readers take the
// first mapping for the program.
func (w *pprofWriter) mainFirst() {
	if len(w.Rec.Source.Mappings) > 0 {
		return
	}
	main := slices.IndexFunc(w.p.Mapping, func(m *profile.Mapping) bool {
		return w.Rec.Source.Format == "pprof" && m.File == w.Rec.Source.Command
	})
	if main < 0 {
		main = slices.IndexFunc(w.p.Mapping, func(m *profile.Mapping) bool {
			return m.File[0] != '[' && !program.IsKernel(m.File) && !strings.Contains(path.Base(m.File), ".so")
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

// label returns the labels of a thread and a context.
func (w *pprofWriter) label(k labelKey) *labelSet {
	l, ok := w.labels[k]
	if ok {
		return l
	}
	l = &labelSet{text: map[string][]string{}, num: map[string][]int64{}, unit: map[string][]string{}}
	hasThread := false
	for _, a := range w.Rec.Contexts.At(int(k.ctx)) {
		key := strings.TrimPrefix(a.Key, "x_pprof_")
		if key == "event" && w.Rec.Events[w.event].Name == a.Value {
			continue // the profile has only one event
		}
		hasThread = hasThread || encode.NamesThread(key)
		if a.Value == "" {
			w.empty++
			continue
		}
		l.add(key, a.Value)
	}
	if k.track != recording.NoTrack && !hasThread {
		t := w.Rec.Tracks[k.track]
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

// add adds a label.
func (l *labelSet) add(key, value string) {
	n, unit, ok := numberOf(key, value)
	switch {
	case !ok:
		l.text[key] = []string{value}
	case unit == "":
		l.num[key] = []int64{n}
	default:
		l.num[key], l.unit[key] = []int64{n}, []string{unit}
	}
}

// numberOf returns the number and the unit to write for a label, if it is to be a number.
// Recordings hold pprof's numeric labels as "number unit". Names of threads are text, even if
// they are digits. A 0 without a unit becomes text, because profile.proto takes the number 0
// for a missing one.
func numberOf(key, value string) (n int64, unit string, ok bool) {
	number, unit, _ := strings.Cut(value, " ")
	n, err := strconv.ParseInt(number, 10, 64)
	role := roleOf(key)
	switch {
	case err != nil || strconv.FormatInt(n, 10) != number || value == "0" || role == threadRole:
	case unit == "" && (plainNumber(key) || role != noRole), unit != "" && unit == unitOf(&labelValue{key: key, role: role}):
		return n, "", true
	case unit != "" && !strings.Contains(unit, " "):
		return n, unit, true
	}
	return 0, "", false
}

// writtenAsNumber reports whether a label becomes a number in a copy.
func writtenAsNumber(key, value string) bool {
	_, _, ok := numberOf(key, value)
	return ok
}

func (w *pprofWriter) losses() {
	const why = "a profile has no timeline"
	rec := w.Rec
	if rec.Events[w.event].Basis == recording.FromSpans {
		w.LoseTrace(why)
		w.LoseArgs(why)
	} else {
		w.LoseMarks(why)
	}
	w.Lose(encode.Samples(rec), "sample times", "%s; their sums by stack are converted", why)
	w.LoseWindows(why)
	w.Lose(w.locs.Single, "inlined frames", "written as separate frames, because the address of the enclosing function is unknown")
	w.LoseProcesses("a profile has only labels of threads")
	w.Lose(w.empty, "empty label values", "pprof has none")
	w.LoseOffsets()
	w.LoseTypes("a profile has none")
	var kernel int64
	for i := range rec.Frames.Len() {
		f := rec.Frames.At(i)
		if f.Type == 0 && f.Kind == recording.KindKernel && !program.IsKernel(rec.Functions.At(int(f.Func)).Module) {
			kernel++
		}
	}
	w.Lose(kernel, "marks of kernel frames", "pprof has no such mark, and the names of these binaries do not imply it")
}

// notes writes the recording's notes: comments as they are, and notes without a field in
// profile.proto as comments that begin with their key.
func (w *pprofWriter) notes() {
	p := w.p
	for _, n := range w.Rec.Source.Notes {
		switch {
		case n.Key == recording.NoteComment:
			p.Comments = append(p.Comments, n.Value)
		case n.Key == recording.NoteDoc && p.DocURL == "":
			p.DocURL = n.Value
		case n.Key == recording.NoteDuration && !w.Rec.HasTime:
			if ns, ok := recording.NoteNanos(n.Value); ok {
				p.DurationNanos = ns
			}
		case n.Key == recording.NoteDuration:
		case n.Key == recording.NoteTime && encode.IsUnix(n.Value):
			if p.TimeNanos == 0 {
				p.TimeNanos = encode.UnixOf(n.Value)
			}
		case n.Key == recording.NoteDrop || n.Key == recording.NoteKeep:
			// The frames that these notes hide were removed when the profile was read.
		default:
			p.Comments = append(p.Comments, n.Key+": "+n.Value)
		}
	}
	w.Lose(w.Rec.Source.MoreNotes, "file notes", "only the first hundred are kept")
}
