package roundtrip

import (
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"
	"testing"

	"ashlar/ingest/format/encode"
	"ashlar/ingest/format/encode/sums"
	"ashlar/ingest/model/recording"
)

// facts counts the statements that a recording or a file makes, by kind and text. Kinds are
// named as in the report of losses.
type facts map[string]map[string]int

func (f facts) add(kind, format string, args ...any) {
	f.count(kind, fmt.Sprintf(format, args...), 1)
}

func (f facts) count(kind, text string, n int) {
	if f[kind] == nil {
		f[kind] = map[string]int{}
	}
	f[kind][text] += n
}

// once adds a statement that counts as one even if it is repeated.
func (f facts) once(kind, format string, args ...any) {
	if text := fmt.Sprintf(format, args...); f[kind][text] == 0 {
		f.count(kind, text, 1)
	}
}

// some adds n statements that no file of the format can make.
func (f facts) some(kind string, n int) {
	if n > 0 {
		f.count(kind, "anything", n)
	}
}

// missing counts the statements of each kind that got lacks, with an example of each kind.
func (f facts) missing(got facts) (n map[string]int64, example map[string]string) {
	n, example = map[string]int64{}, map[string]string{}
	for kind, all := range f {
		for text, k := range all {
			if d := k - got[kind][text]; d > 0 {
				n[kind] += int64(d)
				example[kind] = text
			}
		}
	}
	return n, example
}

// elsewhere lists prefixes of losses whose number other tests check. They depend on values
// or on what happened during reading, not on fields that a file has or lacks.
var elsewhere = []string{"fractions of ", "mangled names", "stack frames", "links between", "sums", "last digits of the clock", "missing values", "inlined frames", "arguments that are not JSON", "names of processes in", "marks of idle system goroutines"}

// naiveReaders returns, for each format, the statements that a file should make and those
// that it makes.
var naiveReaders = map[string]struct {
	want func(*recording.Recording) facts
	got  func(*testing.T, []byte) facts
}{
	"out.folded": {foldedFacts, foldedFileFacts},
	"out.pb":     {pprofFacts, pprofFileFacts},
	"out.spaa":   {spaaFacts, spaaFileFacts},
	"out.json":   {chromeFacts, chromeFileFacts},
	"out.spall":  {spallFacts, spallFileFacts},
}

// lossesAreCounted fails the test unless the report names each kind of thing that the file
// lacks, with the right number. It reads the file with naive readers of its own. counted
// counts the kinds of losses.
func lossesAreCounted(t *testing.T, rec *recording.Recording, all map[string]converted, counted map[string]int) {
	for _, name := range slices.Sorted(maps.Keys(naiveReaders)) {
		out, rep := all[name].out, all[name].rep
		if out == nil {
			continue
		}
		counted[name]++
		want := naiveReaders[name].want(rec.Plain())
		if rec.CPU != nil {
			want.some("span CPU times", timedSpans(rec))
		}
		if name != "out.json" {
			// SPAA and spall have the spans of every recording, folded stacks and pprof only
			// if they are its first event.
			if e := spanEvent(rec); e == 0 || e > 0 && (name == "out.spaa" || name == "out.spall") {
				want.some("marks of async spans", asyncBesideThreads(rec))
			}
		}
		missing, example := want.missing(naiveReaders[name].got(t, out))
		said := map[string]int64{}
		for _, l := range rep.Lost {
			said[l.What] += l.Count
		}
		for what, n := range missing {
			if counted[what]++; said[what] != n {
				t.Errorf("%s: %d %s are missing, %d are said to be: %.300s", name, n, what, said[what], example[what])
			}
		}
		for what, n := range said {
			if missing[what] == 0 && !slices.ContainsFunc(elsewhere, func(s string) bool { return strings.HasPrefix(what, s) }) {
				t.Errorf("%s: %d %s are said to be lost, none is missing", name, n, what)
			}
		}
	}
}

func TestLossesOfMadeFiles(t *testing.T) {
	p := madeProfile()
	p.Sample[0].NumLabel["tid"] = []int64{0}
	for name, content := range map[string]string{
		"trace.json":   traceJSON,
		"spans.json":   spansJSON,
		"profile.pb":   string(encoded(t, p)),
		"samples.perf": perfText,
		"cpu.json":     `[{"ph":"X","pid":1,"tid":1,"ts":0,"dur":9,"tdur":4,"name":"a"},{"ph":"X","pid":1,"tid":1,"ts":1,"dur":2,"name":"b"},{"ph":"M","pid":1,"name":"process_labels","args":{"labels":"tab"}}]`,
		"threads.spaa": `{"type":"header","format":"spaa","version":"1.0","source_tool":"x","frame_order":"leaf_to_root","events":[{"name":"cpu","kind":"timer","sampling":{"mode":"period","primary_metric":"samples"}}],"stack_id_mode":"local"}
{"type":"dso","id":1,"name":"app","is_kernel":false}
{"type":"frame","id":1,"func":"main","dso":1,"srcline":"main.c","kind":"user"}
{"type":"thread","pid":0,"tid":0,"comm":"idle"}
{"type":"stack","id":"a","frames":[1],"context":{"event":"cpu","pid":0,"tid":0,"zone":""},"weights":[{"metric":"samples","value":3}],"exclusive":{"frame":1,"weights":[{"metric":"samples","value":3}]}}
`,
	} {
		t.Run(name, func(t *testing.T) {
			rec := load(t, name, []byte(content))
			all := toAll(t, rec)
			lossesAreCounted(t, rec, all, map[string]int{})
			if to, ok := all["out.spall"]; ok {
				spallIsKept(t, rec.Plain(), to.out, to.rep)
			}
		})
	}
}

// asyncBesideThreads returns the number of async spans if the threads have spans too.
func asyncBesideThreads(rec *recording.Recording) int {
	n := map[recording.TrackKind]int{}
	for _, t := range rec.Tracks {
		n[t.Kind] += t.Spans()
	}
	if n[recording.ThreadTrack] == 0 {
		return 0
	}
	return n[recording.AsyncTrack]
}

func timedSpans(rec *recording.Recording) (n int) {
	eachSpan(rec, func(t *recording.Track, s *encode.Span) {
		// An unfinished span has no known CPU time.
		if _, known := rec.CPU(s.Args); known && s.Args != 0 && !s.Unfinished {
			n++
		}
	})
	return n
}

func eachSpan(rec *recording.Recording, visit func(*recording.Track, *encode.Span)) {
	for _, t := range rec.Tracks {
		for d := range t.Lanes {
			for k, l := 0, &t.Lanes[d]; k < l.Len(); k++ {
				s := encode.SpanAt(l, k, d)
				visit(t, &s)
			}
		}
	}
}

// moment formats a time of the recording as a time of its file, in units of ps picoseconds.
func moment(rec *recording.Recording, t, ps int64) string {
	c := &rec.Clock
	at, ok := new(big.Rat).SetString(c.Origin.String())
	if !ok || c.PerUnit <= 0 {
		at = new(big.Rat)
	}
	at.Mul(at, new(big.Rat).SetInt64(max(c.PerUnit, 1)))
	if !at.IsInt() { // no file has fractions of picoseconds
		at.SetInt(new(big.Int).Div(at.Num(), at.Denom()))
	}
	at.Add(at, new(big.Rat).SetInt64(t))
	return at.Quo(at, new(big.Rat).SetInt64(ps)).RatString()
}

// argsOf returns the text of a span's arguments, "" for none.
func argsOf(rec *recording.Recording, ref uint64) string {
	if ref == 0 || rec.Args == nil {
		return ""
	}
	return rec.Args(ref)
}

// timeFacts adds the statements that need a timeline.
func timeFacts(f facts, rec *recording.Recording) {
	for _, t := range rec.Tracks {
		f.some("state times", t.States.Len())
		f.some("instants", len(t.Instants))
	}
	for _, c := range rec.Counters {
		f.some("counter points", c.Len())
	}
	f.some("flows", len(rec.Flows))
}

// spanSumFacts adds the statements about spans that a file with sums by stack cannot make.
func spanSumFacts(f facts, rec *recording.Recording) {
	n, args := 0, 0
	eachSpan(rec, func(_ *recording.Track, s *encode.Span) {
		if n++; s.Args != 0 && rec.Args != nil {
			args++
		}
	})
	f.some("span times", n)
	f.some("span arguments", args)
}

// eventFacts adds all events except the default one, which is written, and returns the
// default.
func eventFacts(f facts, rec *recording.Recording) int {
	event := rec.DefaultEvent()
	for e := range rec.Events {
		if e != event && len(eventRows(rec, e)) > 0 {
			f.add("events", "%s", rec.Events[e].NameOrKind())
		}
	}
	return event
}

// eventRows returns the track, context and call of each record of an event.
func eventRows(rec *recording.Recording, event int) map[sums.Key]bool {
	rows := map[sums.Key]bool{}
	switch rec.Events[event].Basis {
	case recording.FromSpans:
		for ti, t := range rec.Tracks {
			for d := range t.Lanes {
				for k, l := 0, &t.Lanes[d]; k < l.Len(); k++ {
					rows[sums.Key{Track: int32(ti), Call: l.Call(k)}] = true
				}
			}
		}
	case recording.FromStates:
		for ti, t := range rec.Tracks {
			for k := range t.States.Len() {
				rows[sums.Key{Track: int32(ti), Call: t.States.Call(k)}] = true
			}
		}
	case recording.FromSamples:
		for ti, t := range rec.Tracks {
			if s := t.SamplesOf(event); s != nil {
				for i := range s.Len() {
					rows[sums.Key{Track: int32(ti), Call: s.Call(i)}] = true
				}
			}
		}
	default:
		if s := rec.Stacks[event]; s != nil {
			for i := range s.Len() {
				rows[sums.Key{Track: int32(s.Track(i)), Ctx: s.Context(i), Call: s.Call(i)}] = true
			}
		}
	}
	return rows
}

// symbolFacts adds the statements about frames and functions that a file with only names
// cannot make.
func symbolFacts(f facts, rec *recording.Recording, place, modules bool) {
	for i := range rec.Frames.Len() {
		fr := rec.Frames.At(i)
		fn := rec.Functions.At(int(fr.Func))
		if place && (fr.Addr != 0 || fr.Offset != 0 || fr.Line != 0 || encode.SourceFile(&fn, &fr) != "") {
			f.add("frame addresses and source lines", "%d", i)
		}
		switch rec.Source.TypeOf(&fr) {
		case "", "kernel", "native":
		default:
			f.add("frame types", "%d", i)
		}
		if fr.StartLine != 0 {
			f.add("function start lines", "%d", i)
		}
		if fr.Folded {
			f.add("marks of folded functions", "%d", i)
		}
	}
	f.some("binary mappings", len(rec.Source.Mappings))
	for i := range rec.Functions.Len() {
		fn := rec.Functions.At(i)
		if modules && fn.Module != "" {
			f.add("function modules", "%s %s", fn.Module, fn.Name)
		}
		if fn.Symbol != "" && !fn.Demangled {
			f.add("function system names", "%d", i)
		}
	}
}

func noteFacts(f facts, rec *recording.Recording) {
	f.some("file notes", len(rec.Source.Notes)+int(rec.Source.MoreNotes))
}

func windowFacts(f facts, rec *recording.Recording) {
	for _, w := range rec.Windows {
		f.some("windows", len(w.Windows))
	}
}

func samplesOf(rec *recording.Recording) (n int) {
	for _, t := range rec.Tracks {
		for _, s := range t.Samples {
			n += s.Len()
		}
	}
	return n
}

// processFacts adds the names and process labels.
func processFacts(f facts, rec *recording.Recording) {
	for _, p := range rec.Processes {
		if p.Name != "" {
			f.add("names of processes", "%d %s", p.PID, p.Name)
		}
		if p.Labels != "" {
			f.add("process labels", "%d %s", p.PID, p.Labels)
		}
	}
}

func foldedFacts(rec *recording.Recording) facts {
	f := facts{}
	event := eventFacts(f, rec)
	e := &rec.Events[event]
	timeFacts(f, rec)
	if e.Basis == recording.FromSpans {
		spanSumFacts(f, rec)
	}
	f.some("sample times", samplesOf(rec))
	noteFacts(f, rec)
	windowFacts(f, rec)
	symbolFacts(f, rec, true, true)
	processFacts(f, rec)
	for m := range e.Metrics {
		if m != e.Primary {
			f.add("metrics", "%s", e.Metrics[m].Name)
		}
	}
	for i := 1; i < rec.Contexts.Len(); i++ {
		f.add("contexts", "%v", rec.Contexts.At(i))
	}
	threads := map[int32]bool{}
	for e := range rec.Events {
		for k := range eventRows(rec, e) {
			if k.Track != recording.NoTrack && !threads[k.Track] {
				threads[k.Track] = true
				f.add("threads", "%s", rec.Tracks[k.Track].Title())
			}
		}
	}
	for k := range eventRows(rec, event) {
		for c := k.Call; c != recording.NoCall; c = rec.Calls.Parent(c) {
			f.once("names", "%s", rec.NameInFile(rec.Func(c)))
		}
	}
	return f
}

func pprofFacts(rec *recording.Recording) facts {
	f := facts{}
	event := eventFacts(f, rec)
	e := &rec.Events[event]
	timeFacts(f, rec)
	if e.Basis == recording.FromSpans {
		spanSumFacts(f, rec)
	}
	f.some("sample times", samplesOf(rec))
	f.some("file notes", int(rec.Source.MoreNotes))
	windowFacts(f, rec)
	processFacts(f, rec)
	for i := range rec.Frames.Len() {
		fr := rec.Frames.At(i)
		if fr.Offset != 0 {
			f.add("function offsets", "%d", i)
		}
		module := rec.Functions.At(int(fr.Func)).Module
		if fr.Type == 0 && fr.Kind == recording.KindKernel && !strings.HasPrefix(module, "[") && !strings.HasSuffix(module, ".ko") && !strings.Contains(module, "vmlinux") {
			f.add("marks of kernel frames", "%d of %s", i, module)
		}
		switch rec.Source.TypeOf(&fr) {
		case "", "kernel", "native":
		default:
			f.add("frame types", "%d", i)
		}
	}
	for m := range e.Metrics {
		f.add("metrics", "%s %s", encode.PprofMetric(e.Metrics[m].Name), encode.PprofUnit(e.Metrics[m].Unit))
	}
	for k := range eventRows(rec, event) {
		if k.Track != recording.NoTrack {
			t := rec.Tracks[k.Track]
			if named := slices.ContainsFunc(rec.Contexts.At(int(k.Ctx)), func(a recording.Attr) bool {
				return strings.Contains(strings.ToLower(a.Key), "thread") || a.Key == "tid"
			}); t.Kind == recording.ThreadTrack && !named {
				f.once("threads", "%d %d %s", t.PID, t.TID, t.Name)
			}
		}
		for _, a := range rec.Contexts.At(int(k.Ctx)) {
			if key := strings.TrimPrefix(a.Key, "x_pprof_"); key != "event" {
				if a.Value == "" {
					f.once("empty label values", "%d %d %s", k.Track, k.Ctx, key)
					continue
				}
				f.once("contexts", "%s %s", key, strings.Fields(a.Value + " .")[0])
			}
		}
		for c := k.Call; c != recording.NoCall; c = rec.Calls.Parent(c) {
			fr := rec.Frames.At(int(rec.Calls.Frame(c)))
			fn := rec.Functions.At(int(fr.Func))
			if fn.Module != "" {
				f.once("modules of frames", "%s of %s", fn.Module, pprofFrame(rec, rec.Calls.Frame(c)))
			}
		}
	}
	return f
}

func spaaFacts(rec *recording.Recording) facts {
	f := facts{}
	timeFacts(f, rec)
	spanSumFacts(f, rec)
	f.some("file notes", int(rec.Source.MoreNotes))
	for _, n := range rec.Source.Notes {
		f.add("file notes", "%s %s", n.Key, n.Value)
	}
	for _, p := range rec.Processes {
		if p.Labels != "" {
			f.add("process labels", "%d %s", p.PID, p.Labels)
		}
		if p.Name != "" {
			f.add("names of processes", "%d %s", p.PID, p.Name)
		}
	}
	for _, m := range rec.Source.Mappings {
		f.add("binary mappings", "%s %s %s %s", encode.HexText(m.Start), encode.HexText(m.Limit), m.File, m.BuildID)
	}
	seen := map[int32]bool{}
	for e := range rec.Events {
		for m := range rec.Events[e].Metrics {
			if len(eventRows(rec, e)) > 0 && rec.Events[e].Metrics[m].Total != recording.Missing {
				f.once("metrics", "%s", cmpHeap(rec.Events[e].Metrics[m].Name))
			}
		}
		for k := range eventRows(rec, e) {
			if k.Track != recording.NoTrack && !seen[k.Track] {
				seen[k.Track] = true
				t := rec.Tracks[k.Track]
				if t.Kind == recording.ThreadTrack {
					f.add("thread ids", "%d %d", t.PID, t.TID)
				} else {
					f.add("thread ids", "async track %d", k.Track)
				}
				if t.Name != "" {
					f.once("names of threads", "%s", t.Name)
				}
			}
			for _, a := range rec.Contexts.At(int(k.Ctx)) {
				if a.Key != "event" {
					f.once("contexts", "%s %s", strings.TrimPrefix(a.Key, "x_"+rec.Source.Format+"_"), a.Value)
				}
			}
			for c := k.Call; c != recording.NoCall; c = rec.Calls.Parent(c) {
				id := rec.Calls.Frame(c)
				fr := rec.Frames.At(int(id))
				if fr.Kind == recording.KindManaged && rec.Source.TypeOf(&fr) == "" {
					f.once("virtual machine frames", "%d", id)
				}
				if fr.BuildID != "" && rec.Source.MappingOf(&fr) == nil {
					f.once("build ids", "%s of %s", strings.ToLower(fr.BuildID), spaaFrame(rec, id))
				}
				if fr.Kind == recording.KindKernel || fr.Kind == recording.KindUser {
					f.once("kinds", "%s %s", fr.Kind, spaaFrame(rec, id))
				}
				if typ := rec.Source.TypeOf(&fr); typ != "" || fr.StartLine != 0 || fr.Folded {
					f.once("frame types", "%s %d %v %s", typ, fr.StartLine, fr.Folded, spaaFrame(rec, id))
				}
			}
		}
	}
	for _, t := range rec.Tracks {
		for _, s := range t.Samples {
			e := &rec.Events[s.Event]
			own := 0
			for m := range e.Metrics {
				if e.Metrics[m].PerSample == recording.SampleColumn {
					own++
				}
			}
			for i := range s.Len() {
				f.add("samples", "%s cpu %d %s", moment(rec, s.Time(i), encode.Second), s.CPU(i), leafOf(rec, s.Call(i)))
				for m := range e.Metrics {
					if e.Metrics[m].PerSample == recording.SampleColumn && s.Value(i, &e.Metrics[m], m) != recording.Missing {
						f.add("values of single samples", "%s %s", moment(rec, s.Time(i), encode.Second), rat(s.Value(i, &e.Metrics[m], m), &e.Metrics[m]).RatString())
					}
				}
			}
		}
	}
	for _, w := range rec.Windows {
		for _, one := range w.Windows {
			f.add("windows", "%s %s %s", one.ID, moment(rec, one.Start, encode.Second), moment(rec, one.End, encode.Second))
		}
	}
	return f
}

func leafOf(rec *recording.Recording, c recording.CallID) string {
	if c == recording.NoCall {
		return ""
	}
	return rec.NameInFile(rec.Func(c))
}

func cmpHeap(name string) string {
	if heap := encode.HeapMetrics[name]; heap != "" {
		return heap
	}
	return name
}

// threadOf names a thread of a trace: by process and id, or only by process if an earlier
// thread has the same id.
func threadOf(rec *recording.Recording, t *recording.Track) string {
	if t.Kind == recording.AsyncTrack {
		return fmt.Sprintf("%d async", t.PID)
	}
	for _, o := range rec.Tracks {
		if o == t {
			break
		}
		if o.Kind == recording.ThreadTrack && o.PID == t.PID && o.TID == t.TID {
			return fmt.Sprintf("%d/made", t.PID)
		}
	}
	return fmt.Sprintf("%d/%d", t.PID, t.TID)
}

func chromeFacts(rec *recording.Recording) facts {
	f := facts{}
	const us = 1e6
	for _, t := range rec.Tracks {
		f.some("state times", t.States.Len())
		thread := threadOf(rec, t)
		if t.Kind == recording.ThreadTrack && t.Name != "" && (t.Spans() > 0 || len(t.Instants) > 0 || len(t.Samples) > 0) {
			f.add("names of threads", "%s %s", thread, t.Name)
		}
		if strings.HasSuffix(thread, "made") && (t.Spans() > 0 || len(t.Instants) > 0 || len(t.Samples) > 0) {
			f.add("thread ids", "%d/%d %s", t.PID, t.TID, t.Name)
		}
		if t.Kind == recording.AsyncTrack && t.Spans() > 0 {
			f.add("names of async rows", "%d %s", t.PID, t.Name)
		}
		for _, in := range t.Instants {
			f.add("instants", "%s %s %s", thread, in.Name, moment(rec, in.Time, us))
		}
		for _, s := range t.Samples {
			e := &rec.Events[s.Event]
			for i := range s.Len() {
				f.add("samples", "%s %s %s cpu %d", thread, moment(rec, s.Time(i), us), leafOf(rec, s.Call(i)), s.CPU(i))
				for m := range e.Metrics {
					if v := s.Value(i, &e.Metrics[m], m); v != recording.Missing && e.Metrics[m].PerSample == recording.SampleColumn {
						f.add("sample values", "%s %s", moment(rec, s.Time(i), us), rat(v, &e.Metrics[m]).RatString())
					}
				}
			}
		}
	}
	eachSpan(rec, func(t *recording.Track, s *encode.Span) {
		if t.Kind == recording.ThreadTrack && rec.FuncName(s.Call) == recording.Overlapping { // not written: readers add it
			return
		}
		thread := threadOf(rec, t)
		fn := rec.Functions.At(int(rec.Func(s.Call)))
		f.add("spans", "%s %s %s %s", thread, rec.NameInFile(rec.Func(s.Call)), moment(rec, s.Start, us), fn.Module)
		if s.Unfinished {
			f.add("marks of unfinished spans", "%s %s %s", thread, rec.NameInFile(rec.Func(s.Call)), moment(rec, s.Start, us))
		} else {
			f.add("lengths of spans", "%s %s", thread, rat(s.End-s.Start, &recording.Metric{Decimals: 6}).RatString())
		}
		if text := canonical(argsOf(rec, s.Args)); text != "" {
			f.add("arguments", "%s", text)
		}
	})
	for _, c := range rec.Counters {
		if c.Unit != "" {
			f.add("counter units", "%s %s", c.Name, c.Series)
		}
		for i := range c.Len() {
			f.add("counter points", "%d %s %s %s %g", rec.Processes[c.Process].PID, c.Name, c.Series, moment(rec, c.Time(i), us), c.Value(i))
		}
	}
	for _, w := range rec.Flows {
		var steps []string
		for _, s := range w.Steps {
			steps = append(steps, moment(rec, s.Time, us))
		}
		f.add("flows", "%s %s", w.Name, strings.Join(steps, " "))
	}
	windowFacts(f, rec)
	f.some("file notes", int(rec.Source.MoreNotes))
	for _, n := range rec.Source.Notes {
		if n.Key != "source" && n.Key != "command_line" {
			f.add("file notes", "%s %s", n.Key, n.Value)
		}
	}
	processFacts(f, rec)
	for e, s := range rec.Stacks {
		if s != nil && !slices.ContainsFunc(rec.Tracks, func(t *recording.Track) bool { return t.SamplesOf(e) != nil && t.SamplesOf(e).Len() > 0 }) {
			f.some("stacks", s.Len())
		}
	}
	symbolFacts(f, rec, true, false)
	if samplesOf(rec) > 0 {
		f.some("stack contexts", rec.Contexts.Len()-1)
	}
	return f
}

func spallFacts(rec *recording.Recording) facts {
	f := facts{}
	timeFacts(f, rec)
	f.some("samples", samplesOf(rec))
	f.some("stacks", int(rec.Counts.Stacks))
	windowFacts(f, rec)
	noteFacts(f, rec)
	symbolFacts(f, rec, true, true)
	for _, p := range rec.Processes {
		if p.Labels != "" {
			f.add("process labels", "%d %s", p.PID, p.Labels)
		}
	}
	eachSpan(rec, func(t *recording.Track, s *encode.Span) {
		name := rec.NameInFile(rec.Func(s.Call))
		f.once("names", "%s", name)
		if p := &rec.Processes[t.Process]; p.Name != "" {
			f.once("names of processes", "%s", p.Name)
		}
		f.add("lengths", "%.254s %d", name, s.End-s.Start)
		switch {
		case t.Kind == recording.AsyncTrack:
			f.add("positions of spans on their threads", "async %s", name)
		case t.TID < 0 || t.TID > 1<<32-1 || t.PID < 0 || t.PID > 1<<32-1:
			f.once("thread ids", "%d %d", t.PID, t.TID)
		default:
			f.add("positions of spans on their threads", "%d/%d %.254s %d", t.PID, t.TID, name, s.End-s.Start)
		}
		if s.Unfinished {
			f.add("marks of unfinished spans", "%.254s", name)
		}
		if text := canonical(argsOf(rec, s.Args)); text != "" {
			f.add("arguments", "%s", text)
		}
	})
	return f
}
