package roundtrip

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"ashlar/ingest/format/encode"
	"ashlar/ingest/model/recording"
)

// traceJSON is a trace with one of everything: nested spans, spans of zero length at the
// edges of others, overlapping spans, an unfinished span, a counter with two series,
// instants, overlapping asynchronous operations, flows, processes that share a thread id,
// samples, and times with fractions of nanoseconds.
const traceJSON = `{"traceEvents":[
{"ph":"M","name":"process_name","pid":1,"tid":0,"args":{"name":"one"}},
{"ph":"M","name":"process_labels","pid":1,"tid":0,"args":{"labels":"lab"}},
{"ph":"M","name":"process_sort_index","pid":2,"tid":0,"args":{"sort_index":-3}},
{"ph":"M","name":"thread_name","pid":1,"tid":7,"args":{"name":"main; it \"is\""}},
{"ph":"M","name":"thread_sort_index","pid":1,"tid":7,"args":{"sort_index":4}},
{"ph":"X","pid":1,"tid":7,"ts":100,"dur":50.000123,"name":"a","cat":"c1","args":{"k":[1,{"x":"y"}]}},
{"ph":"X","pid":1,"tid":7,"ts":110,"dur":10,"name":"b","cat":"c1,c2"},
{"ph":"B","pid":1,"tid":7,"ts":120,"name":"zero","cat":"c1"},
{"ph":"E","pid":1,"tid":7,"ts":120,"name":"zero","cat":"c1"},
{"ph":"B","pid":1,"tid":7,"ts":160,"name":"open"},
{"ph":"X","pid":1,"tid":7,"ts":170,"dur":5,"name":"inside\n;"},
{"ph":"X","pid":2,"tid":7,"ts":100,"dur":20,"name":"over"},
{"ph":"X","pid":2,"tid":7,"ts":110,"dur":20,"name":"lap"},
{"ph":"X","pid":2,"tid":7,"ts":112,"dur":1,"name":"deep"},
{"ph":"i","pid":1,"tid":7,"ts":130,"s":"t","name":"tick","args":{"n":1}},
{"ph":"C","pid":1,"ts":100,"name":"mem","args":{"used":1.5,"free":2}},
{"ph":"C","pid":1,"ts":150,"name":"mem","args":{"used":3}},
{"ph":"b","pid":1,"tid":7,"ts":100,"id":"0x1","cat":"net","name":"req"},
{"ph":"b","pid":1,"tid":7,"ts":105,"id":"0x1","cat":"net","name":"read"},
{"ph":"n","pid":1,"tid":7,"ts":107,"id":"0x1","cat":"net","name":"half"},
{"ph":"b","pid":1,"tid":7,"ts":108,"id":"0x2","cat":"net","name":"req"},
{"ph":"e","pid":1,"tid":7,"ts":115,"id":"0x1","cat":"net","name":"req"},
{"ph":"e","pid":1,"tid":7,"ts":118,"id":"0x1","cat":"net","name":"read"},
{"ph":"e","pid":1,"tid":7,"ts":125,"id":"0x2","cat":"net","name":"req"},
{"ph":"s","pid":1,"tid":7,"ts":112,"id":5,"cat":"f","name":"arrow"},
{"ph":"t","pid":2,"tid":7,"ts":113,"id":5,"cat":"f","name":"arrow"},
{"ph":"f","pid":2,"tid":7,"ts":125,"bp":"e","id":5,"cat":"f","name":"arrow"},
{"ph":"i","pid":1,"tid":7,"ts":190,"name":"last"}
],"stackFrames":{"1":{"name":"main","category":"app"},"2":{"name":"leaf","category":"app","parent":1}},
"samples":[{"pid":1,"tid":7,"ts":111,"name":"cycles","sf":2,"weight":1.25},{"pid":1,"tid":7,"cpu":3,"ts":141,"name":"cycles","sf":1,"weight":2}]}
`

func madeTrace(t testing.TB) *recording.Recording {
	rec := load(t, "in.json", []byte(traceJSON))
	if got := codes(rec); got != "crossing-spans:1 overlapping-spans:1 unclosed:1 " {
		t.Fatalf("reading warns of %s", got)
	}
	return rec
}

// codes lists the warnings of a recording by code, with their counts.
func codes(rec *recording.Recording) (list string) {
	for _, w := range slices.SortedFunc(slices.Values(rec.Warnings), func(a, b recording.Warning) int { return strings.Compare(a.Code, b.Code) }) {
		list += fmt.Sprintf("%s:%d ", w.Code, w.Count)
	}
	return list
}

// dump formats the timeline of a recording, with all nesting, in an order that does not
// depend on the format.
func dump(rec *recording.Recording, args bool) string {
	var b strings.Builder
	for _, p := range rec.Processes {
		fmt.Fprintf(&b, "process %d %q %q %d\n", p.PID, p.Name, p.Labels, p.Sort)
	}
	for _, t := range rec.Tracks {
		fmt.Fprintf(&b, "track %d %d/%d %q %d\n", t.Kind, t.PID, t.TID, t.Name, t.Sort)
		for _, c := range encode.Columns(rec, t) {
			_ = c.Walk(func(s *encode.Span) error {
				fmt.Fprintf(&b, "%s%s %d+%d", strings.Repeat("  ", s.Depth+1), rec.FuncName(s.Call), s.Start-rec.Start, s.End-s.Start)
				if m := rec.Functions.At(int(rec.Func(s.Call))).Module; m != "" {
					fmt.Fprintf(&b, " in %s", m)
				}
				if s.Unfinished {
					b.WriteString(" unfinished")
				}
				if a := argsText(rec, s.Args); args && a != "" {
					fmt.Fprintf(&b, " %s", a)
				}
				b.WriteByte('\n')
				return nil
			}, func(*encode.Span) error { return nil })
		}
		for _, in := range t.Instants {
			fmt.Fprintf(&b, "  at %d %s %s\n", in.Time-rec.Start, in.Name, argsText(rec, in.Args))
		}
		for _, s := range t.Samples {
			e := &rec.Events[s.Event]
			for i := range s.Len() {
				fmt.Fprintf(&b, "  sample %s %d cpu %d %s", e.Name, s.Time(i)-rec.Start, s.CPU(i), rec.FuncName(s.Call(i)))
				for m := range e.Metrics {
					fmt.Fprintf(&b, " %s", recording.Decimal{Mantissa: s.Value(i, &e.Metrics[m], m), Scale: e.Metrics[m].Decimals})
				}
				b.WriteByte('\n')
			}
		}
	}
	for _, c := range rec.Counters {
		fmt.Fprintf(&b, "counter %d %s %s", rec.Processes[c.Process].PID, c.Name, c.Series)
		for i := range c.Len() {
			fmt.Fprintf(&b, " %d=%g", c.Time(i)-rec.Start, c.Value(i))
		}
		b.WriteByte('\n')
	}
	for _, f := range rec.Flows {
		fmt.Fprintf(&b, "flow %s", f.Name)
		for _, s := range f.Steps {
			fmt.Fprintf(&b, " %d@%d", rec.Tracks[s.Track].PID, s.Time-rec.Start)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// argsText returns the text of arguments, except for members that only distinguish
// operations.
func argsText(rec *recording.Recording, ref uint64) string {
	if ref == 0 {
		return ""
	}
	text := rec.Args(ref)
	var m map[string]any
	if json.Unmarshal([]byte(text), &m) != nil {
		return text
	}
	for _, k := range []string{"id", "scope", "s"} {
		delete(m, k)
	}
	if len(m) == 0 {
		return ""
	}
	out, _ := json.Marshal(m)
	return string(out)
}

func TestChromeKeepsTraces(t *testing.T) {
	rec := madeTrace(t)
	out, rep := write(t, rec, "out.json", encode.Options{})
	if !json.Valid(out) {
		t.Fatalf("it is no JSON:\n%s", out)
	}
	back := load(t, "out.json", out)
	if got, want := dump(back, true), dump(rec, true); got != want {
		t.Errorf("read back it is\n%s\nwant\n%s", got, want)
	}
	if len(rep.Lost) != 0 {
		t.Errorf("lost %v", rep.Lost)
	}
	if got, want := codes(back), codes(rec); got != want {
		t.Errorf("reading back warns of %s, reading of %s", got, want)
	}
	if a, b := rec.Clock.Text(rec.Start)+rec.Clock.Text(rec.End), back.Clock.Text(back.Start)+back.Clock.Text(back.End); a != b {
		t.Errorf("the time is %s, want %s", b, a)
	}
}

// spansJSON is a trace with only content that spall holds too.
const spansJSON = `[
{"ph":"M","name":"process_name","pid":1,"tid":0,"args":{"name":"one"}},
{"ph":"M","name":"thread_name","pid":1,"tid":7,"args":{"name":"main"}},
{"ph":"B","pid":1,"tid":7,"ts":100.5,"name":"a","args":{"args":"plain"}},
{"ph":"B","pid":1,"tid":7,"ts":110,"name":"b"},
{"ph":"E","pid":1,"tid":7,"ts":120},
{"ph":"B","pid":1,"tid":7,"ts":120,"name":"zero"},
{"ph":"E","pid":1,"tid":7,"ts":120},
{"ph":"B","pid":1,"tid":7,"ts":120,"name":"zero"},
{"ph":"B","pid":1,"tid":7,"ts":120,"name":"in zero","args":{"k":1}},
{"ph":"E","pid":1,"tid":7,"ts":120},
{"ph":"E","pid":1,"tid":7,"ts":120},
{"ph":"E","pid":1,"tid":7,"ts":150},
{"ph":"B","pid":1,"tid":7,"ts":160,"name":"open"},
{"ph":"X","pid":1,"tid":7,"ts":170,"dur":5,"name":"inside"},
{"ph":"X","pid":2,"tid":7,"ts":100,"dur":30,"name":"c"},
{"ph":"X","pid":2,"tid":7,"ts":100,"dur":100,"name":"d"}
]`

// TestChromeToSpall checks that the timeline is the same after conversion from Chrome to
// spall and back, including the nesting of spans of zero length.
func TestChromeToSpall(t *testing.T) {
	rec := load(t, "in.json", []byte(spansJSON))
	out, rep := write(t, rec, "out.spall", encode.Options{})
	back := load(t, "out.spall", out)
	want := dump(rec, false)
	if got := dump(back, false); got != want {
		t.Errorf("as spall it is\n%s\nwant\n%s", got, want)
	}
	if len(rep.Lost) != 0 {
		t.Errorf("lost %v", rep.Lost)
	}
	if rec.Counts.Unfinished != 1 || back.Counts.Unfinished != 1 {
		t.Errorf("%d spans are unfinished, want %d", back.Counts.Unfinished, rec.Counts.Unfinished)
	}
	again, _ := write(t, back, "again.json", encode.Options{})
	third := load(t, "again.json", again)
	if got := dump(third, true); got != dump(rec, true) {
		t.Errorf("as Chrome again it is\n%s\nwant\n%s", got, dump(rec, true))
	}
	if a, b := rec.Clock.Text(rec.Start), third.Clock.Text(third.Start); a != b {
		t.Errorf("it begins at %s, want %s", b, a)
	}
}

// TestSpallLimits checks that content beyond spall's limits goes to extra threads or is
// truncated, and is reported.
func TestSpallLimits(t *testing.T) {
	long := strings.Repeat("é", 200)
	in := strings.Replace(traceJSON, `"name":"deep"`, `"name":"`+long+`","args":{"x":"`+long+`"}`, 1)
	in = strings.ReplaceAll(in, `"pid":2,"tid":7`, `"pid":2,"tid":-7`)
	rec := load(t, "in.json", []byte(in))
	out, rep := write(t, rec, "out.spall", encode.Options{})
	back := load(t, "out.spall", out)
	sameThreadSpans := 0
	for _, tr := range back.Tracks {
		sameThreadSpans += tr.Spans()
	}
	if int64(sameThreadSpans) != rec.Counts.Spans {
		t.Errorf("%d spans, want %d", sameThreadSpans, rec.Counts.Spans)
	}
	lost := map[string]int64{}
	for _, l := range rep.Lost {
		lost[l.What] = l.Count
	}
	for what, n := range map[string]int64{
		"instants": 3, "counter points": 3, "flows": 1, "samples": 2, "names": 1, "arguments": 1,
		"thread ids": 1, "positions of spans on their threads": 5, "function modules": 7,
	} {
		if lost[what] != n {
			t.Errorf("lost %d %s, want %d (%v)", lost[what], what, n, rep.Lost)
		}
	}
	for i := range back.Functions.Len() {
		if name := back.Functions.At(i).Name; strings.HasPrefix(name, "é") && name != long[:254] {
			t.Errorf("a name was cut to %d bytes: %q", len(name), name)
		}
	}
}

// TestTraceToProfiles checks that the self times of a trace's spans are kept in every
// profile format.
func TestTraceToProfiles(t *testing.T) {
	rec := load(t, "in.json", []byte(spansJSON))
	for _, name := range []string{"out.spaa", "out.pb", "out.otlp", "out.folded"} {
		out, _ := write(t, rec, name, encode.Options{})
		back := load(t, name, out)
		rename := plainName
		if name == "out.folded" {
			rename = foldedNameOf
		}
		if got, want := selfOf(back, 0, 0, rename), selfOf(rec, 0, 0, rename); got.String() != want.String() {
			t.Errorf("%s: %s\nwant\n%s", name, got, want)
		}
	}
}

func TestChromeHoldsNoProfiles(t *testing.T) {
	rec := load(t, "in.folded", []byte("a;b 3\na 1\n"))
	for _, name := range []string{"out.json", "out.spall"} {
		if out, _ := write(t, rec, name, encode.Options{}); out != nil {
			t.Errorf("%s holds %q of stacks", name, out)
		}
	}
}
