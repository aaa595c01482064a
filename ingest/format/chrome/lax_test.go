package chrome

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"ashlar/ingest/format/decode"
	"ashlar/ingest/format/decode/decodetest"
	"ashlar/ingest/input/jsonscan"
	"ashlar/ingest/input/source"
	"ashlar/ingest/model/recording"
	"ashlar/testdata/rounds"
)

// one and two are events that must be found whatever is around them.
const (
	one = `{"name":"a","ph":"X","ts":1,"dur":2,"pid":1,"tid":2}`
	two = `{"name":"b","ph":"X","ts":5,"dur":2,"pid":1,"tid":2}`
)

func TestLax(t *testing.T) {
	const both = "a 1..3, b 5..7"
	for _, c := range []struct{ name, in, want, codes string }{
		{"strict", "[" + one + "," + two + "]", both, ""},
		{"no closing bracket", "[" + one + "," + two, both, ""},
		{"a trailing comma", "[" + one + "," + two + ",]", both, ""},
		{"a trailing comma and no bracket", "[" + one + ",\r\n" + two + ",\r\n\r\n", both, ""},
		{"commas to spare", "[,," + one + ",,," + two + ",,]", both, ""},
		{"no commas", "[" + one + "\n" + two + "]", both, "missing-comma:1"},
		{"CRLF and a byte order mark", "\xEF\xBB\xBF\r\n[\r\n" + one + ",\r\n" + two + "\r\n]\r\n", both, ""},
		{"a line each, in nothing", one + "\n" + two + "\n", both, ""},
		{"in nothing, with commas", "\xEF\xBB\xBF " + one + ",\n" + two + ",", both, ""},
		{"in nothing, cut", one + "\n" + two + "\n" + `{"name":"c"`, both, "cut:1"},
		{"in nothing, torn off", one + "\n" + `{"name":"c","ph":"X","t` + "\n" + two, both, "bad-event:1"},
		{"an object", `{"traceEvents":[` + one + "," + two + "]}", both, ""},
		{"other keys before and behind", `{"displayTimeUnit":"ns","x":[1,{"y":"]}\""}],"systemTraceEvents":"a\"]}","n":-1.5e3,"traceEvents":[` + one + "," + two + `],"otherData":{"version":"7"},"z":null}`, both, "system-events:1"},
		{"the object not closed", `{"traceEvents":[` + one + "," + two + "]", both, "unclosed-file:1"},
		{"neither closed", `{"traceEvents":[` + one + "," + two, both, "unclosed-file:1"},
		{"the array not closed", `{"traceEvents":[` + one + "," + two + "}", both, "unclosed-file:1"},
		{"other orders of keys, quoted numbers, exponents", `[{"tid":"2","dur":"2","args":{"ph":"B","ts":9},"ts":"1e0","ph":"X","pid":"1","name":"a"},{"dur":0.2E1,"tid":2,"pid":1,"ts":50e-1,"ph":"X","name":"b"}]`, both, ""},
		{"escapes in names and keys", `[{"n\u0061me":"\u0061","ph":"X","ts":1,"dur":2},{"name":"\"\\\/\n\ud83d\ude00","ph":"X","ts":5,"dur":2}]`, "a 1..3, \"\\/\n😀 5..7", ""},
		{"no name", `[{"ph":"X","ts":1,"dur":2}]`, "(nameless) 1..3", "nameless:1"},
		{"a name that is a number", `[{"name":17,"ph":"X","ts":1,"dur":2}]`, "17 1..3", ""},
		{"two arrays", "[" + one + "]\n[" + two + "]", both, "stray:1"},
		{"appended behind the end", "[" + one + "],\n" + two, both, "stray:1"},
		{"elements that are no events", `[1,"x",[2,{"a":3}],null,{},` + one + "," + two + "]", both, "empty-event:1 not-event:3"},
		{"an element without a phase", `[{"name":"a","ts":1},` + one + "]", "a 1..3", "no-phase:1"},
		{"unknown phases", `[{"ph":"Q","ts":1},{"ph":"long","ts":1},` + one + "," + two + "]", both, "unknown-phase:2"},
		{"no time", `[{"ph":"X","name":"q","ts":null},{"ph":"B","name":"q","ts":"soon"},` + one + "," + two + "]", both, "no-time:2"},
		{"cut in an event", "[" + one + "," + two + `,{"name":"c","ph":"X","ts":9,"ar`, both, "cut:1"},
		{"cut in a string", "[" + one + ",\n" + two + `,` + "\n" + `{"name":"c`, both, "cut:1"},
		{"cut in top-level values", `{"traceEvents":[` + one + "," + two + `],"meta`, both, "cut:1 unclosed-file:1"},
		{"an event torn off by the next line", "[" + one + ",\n" + `{"name":"c","ph":"X","t` + "\n" + two + "]", both, "bad-event:1"},
		{"an event torn off in a string", "[" + one + ",\n" + `{"name":"c` + "\n" + two + ",\n" + `{"ph":"i","name":"q","ts":4}]`, both, "bad-event:1"},
		{"an event torn off on the same line", "[" + one + "," + `{"name":"c","ph":` + "," + two + "]", both, "bad-event:1"},
		{"a bracket too few in args", "[" + one + ",\n" + `{"name":"c","ph":"X","ts":1,"args":{"x":{"y":1},"pid":1},` + "\n" + two + "]", both, "bad-event:1"},
		{"a bracket too many", "[" + one + "}," + two + "]", both, "stray:1"},
		{"rubbish between", "[" + one + ",\x00\x00#!garbage" + two + "]", both, "bad-event:1"},
		{"rubbish behind", "[" + one + "," + two + "]\x00\x00\x00 bye", both, "stray:1"},
		{"a literal that is none", `[{"name":"a","ph":"X","ts":1,"dur":2,"pid":1,"tid":2,"args":{"x":NaN,"y":-Infinity,"z":True}},` + two + "]", both, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, size := range []int{0, 1, 2, 7, 64} {
				in := source.FromBytes("x.json", []byte(c.in))
				in.ChunkSize = size
				rec := read(t, in)
				balanced(t, rec)
				var got string
				if len(rec.Tracks) > 0 {
					got = short(rec, rec.Tracks[0])
				}
				if got != c.want {
					t.Errorf("chunks of %d: spans %s\nwant %s", size, got, c.want)
				}
				if got := codes(rec); got != c.codes {
					t.Errorf("chunks of %d: warnings %q, want %q", size, got, c.codes)
				}
			}
		})
	}
}

// TestSentences checks the text and the place of the warning for each kind of damage.
func TestSentences(t *testing.T) {
	for _, c := range []struct{ in, place, want string }{
		{`[{"ph":"X","name":"a"}]`, "byte 1", "An event has no usable time (ts) and is left out."},
		{`[` + one + `,{"ph":"B"`, "byte 54", "The file ends in the middle of an element, which is left out; everything before it is shown."},
		{`[{"ph":"Y","ts":1}]`, "byte 1", "The phase Y is unknown; its events are left out."},
		{`[{"ph":"O","ts":1}]`, "byte 1", "Unsupported kinds of events are left out: an object's life or state (phase O)."},
		{`[{"ph":"M","name":"num_cpus"}]`, "byte 1", "The metadata num_cpus cannot be shown and is left out."},
		{`[{"ph":"C","name":"c","ts":1,"args":{"x":"y"}}]`, "byte 1", "A counter event has no numbers and is left out."},
		{`[{"ph":"P","name":"s","ts":1,"sf":7}]`, "byte 1", "A sample refers to the stack frame 7, which is missing in stackFrames; the known part of its stack is shown."},
		{`[{"ph":"i","ts":1e9},{"ph":"i","name":"x","ts":1e15}]`, "byte 21", "The time 1000000000000000 µs is more than 53 days from the others. It is shown at the edge of the recording."},
		{`[` + one + ` nonsense]`, "byte 54", "An element of the trace is not an object and is left out."},
		{`[{"ph":"X","ts":1,"dur":2}]`, "byte 1", "An event has no name; it is shown as (nameless)."},
		{`[{"name":"a","ts":1}]`, "byte 1", "An element of the trace has no phase (ph) and is left out."},
		{`[` + one + `,{"name":"c","ph":` + "\n" + two + `]`, "byte 54", "Invalid JSON is left out, up to the next event."},
		{`{"traceEvents":[` + one, "byte 68", "The outermost bracket is not closed; everything up to the end is shown."},
		{"[" + one + two + "]", "byte 53", "There is no comma between two events; both are read."},
		{"[" + one + "]}", "byte 54", "Bytes between events are skipped."},
		{events("B a 5, E a 4"), "byte 47", "A span ends before it starts; it is shown without length."},
		{events("X a 4 -3"), "byte 1", "A span has a negative length; it is shown without length."},
		{events("X b 1, X a 2 3"), "byte 1", "A complete event (X) has no duration; it is shown as unfinished."},
		{`[{"ph":"X","name":"a","ts":1,"tdur":3}]`, "byte 1", "A complete event (X) has no duration (dur); its CPU time (tdur) is used."},
		{events("B a 1, E b 5"), "byte 47", "An end event (E) has the name b, but no such span is open on its thread; it closes the innermost span."},
		{events("B a 1, B b 2, E a 5, E b 6"), "byte 93", "An end event (E) closes a while spans inside it are still open."},
		{events("B a 1, E a 2, E a 3"), "byte 93", "An end event has no open span to close and is left out."},
		{events("B a 1, B b 2, E b 3"), "byte 1", "A span is never closed; it is shown as unfinished."},
		{`[{"ph":"b","cat":"c","name":"a","ts":1}]`, "byte 1", "An asynchronous event or flow has no id and is left out."},
		{`[` + one + `,{"ph":"s","id":1,"name":"q","ts":1,"tid":2,"pid":1}]`, "byte 54", "A flow has only one end and is left out."},
		{`[{"ph":"P","name":"Profile","id":1,"ts":1,"args":{"data":{"startTime":1}}},{"ph":"P","name":"ProfileChunk","id":1,"ts":9,"args":{"data":{"cpuProfile":{"samples":[2]},"timeDeltas":[1]}}}]`, "byte 75", "A sample of a CPU profile refers to a missing node; it is shown without a stack."},
		{`[{"ph":"P","name":"ProfileChunk","id":1,"ts":9,"args":{}}]`, "byte 1", "A CPU profile has no valid nodes and samples and is left out."},
		{`[` + one + `,{"ph":"B","name":"x","ts":4,"args":{"a":[}}]`, "byte 54", "Invalid JSON is left out, up to the next event."},
	} {
		rec := readText(t, c.in)
		balanced(t, rec)
		found := false
		for _, w := range rec.Warnings {
			found = found || w.Text == c.want && w.First == c.place
		}
		if !found {
			t.Errorf("%s: no warning at %s %q in %+v", c.in, c.place, c.want, rec.Warnings)
		}
	}
	for _, in := range []string{"", "  \n", "hello"} {
		b := recording.NewBuilder()
		if err := run(context.Background(), source.FromBytes("x", []byte(in)), b, decode.Options{}); (err == nil) != (in == "hello") {
			t.Logf("%q: %v", in, err)
			if in != "hello" && err == nil {
				t.Errorf("%q: no error", in)
			}
		}
	}
}

// TestIdentities uses texts, negative numbers and fractions as process and thread ids.
func TestIdentities(t *testing.T) {
	rec := readText(t, `[{"ph":"X","ts":1,"dur":1,"pid":"main","tid":"worker","name":"a"},
		{"ph":"X","ts":2,"dur":1,"pid":-7,"tid":-1,"name":"b"},
		{"ph":"X","ts":3,"dur":1,"pid":"12","tid":12.0,"name":"c"},
		{"ph":"X","ts":4,"dur":1,"pid":12,"tid":12,"name":"d"},
		{"ph":"X","ts":5,"dur":1,"name":"e"},
		{"ph":"M","name":"process_name","pid":-7,"args":{"name":"minus"}},
		{"ph":"M","name":"process_labels","pid":-7,"args":{"labels":"x,y"}},
		{"ph":"M","name":"process_sort_index","pid":-7,"args":{"sort_index":-3}},
		{"ph":"M","name":"thread_name","pid":-7,"tid":-1,"args":{"name":"one"}},
		{"ph":"M","name":"thread_sort_index","pid":-7,"tid":-1,"args":{"sort_index":"5"}}]`)
	balanced(t, rec)
	var got []string
	for _, tr := range rec.Tracks {
		p := rec.Processes[tr.Process]
		id := fmt.Sprintf("%d/%d", tr.PID, tr.TID)
		if tr.PID < -1000 {
			id = "?"
		}
		got = append(got, fmt.Sprintf("%s %s|%s|%d %s|%d: %s", id, p.Name, p.Labels, p.Sort, tr.Name, tr.Sort, short(rec, tr)))
	}
	want := []string{"? main||0 worker|0: a 1..2", "-7/-1 minus|x,y|-3 one|5: b 2..3", "12/12 ||0 |0: c 3..4, d 4..5", "0/0 ||0 |0: e 5..6"}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestExactTimes checks that times keep digits that a float64 would lose.
func TestExactTimes(t *testing.T) {
	rec := readText(t, `[{"ph":"X","name":"a","ts":1718000000123456.789,"dur":0.001},
		{"ph":"X","name":"b","ts":1718000000123457.123456,"dur":9007199254740993e-9}]`)
	if got, want := short(rec, rec.Tracks[0]), "a 1718000000123456.789..1718000000123456.79, b 1718000000123457.123456..1718000009130656.378196"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestStrayZeroTime checks that one event at time 0 does not cost the others their
// precision.
func TestStrayZeroTime(t *testing.T) {
	var b strings.Builder
	b.WriteString(`[{"ph":"i","name":"zero","ts":0}`)
	for i := range 20 {
		fmt.Fprintf(&b, `,{"ph":"X","name":"a","ts":%d,"dur":1}`, 1718000000123456+2*i)
	}
	rec := readText(t, b.String())
	if got := short(rec, rec.Tracks[0]); !strings.HasPrefix(got, "a 1718000000123456..1718000000123457, a 1718000000123458..") {
		t.Errorf("got %s", got)
	}
	if got := codes(rec); got != "time-range:1" {
		t.Errorf("warnings %s", got)
	}
}

// TestLargeElements reads events and skipped values many times larger than a chunk.
func TestLargeElements(t *testing.T) {
	long := strings.Repeat("0123456789", 200_000)
	in := source.FromBytes("x.json", []byte(`{"skipped":["`+long+`",{"a":"`+long+`"}],"traceEvents":[`+one+
		`,{"ph":"X","args":{"x":"`+long+`"},"name":"big","ts":3,"dur":1,"pid":1,"tid":2},`+two+`]}`))
	in.ChunkSize = 512
	rec := read(t, in)
	if got, want := short(rec, rec.Tracks[0]), "a 1..3, big 3..4, b 5..7"; got != want || codes(rec) != "long-member:1" {
		t.Errorf("got %s, %v", got, rec.Warnings)
	}
	if got := rec.Args(rec.Tracks[0].Lanes[0].Args(1)); got != `{"x":"`+long+`"}` {
		t.Errorf("arguments of %d bytes, want %d", len(got), len(long)+8)
	}
}

func TestArgs(t *testing.T) {
	const text = `[{"ph":"B","name":"a","ts":1,"args":{ "x" : 1 , "s":"\u0041" },"tts":7},
		{"ph":"X","name":"b","ts":2,"dur":1,"args":{}},
		{"ph":"E","name":"a","ts":4,"args":{"y":[2]}},
		{"ph":"i","name":"c","ts":4,"args":"text","s":"t"},
		{"ph":"B","name":"d","ts":5},{"ph":"E","name":"d","ts":6,"args":{"z":3}},
		{"ph":"X","name":"f","ts":7,"dur":1,"args":{"rate":Infinity,"q": NaN,"n":[-Infinity],"s":"no \"NaN"}}]`
	for how, in := range map[string]*source.Input{"mapped": source.FromBytes("x", []byte(text)), "stream": source.FromReader("x", strings.NewReader(text))} {
		rec := read(t, in)
		tr := rec.Tracks[0]
		want := map[string]string{"a": `{"x" : 1 , "s":"\u0041","tts":7,"y":[2]}`, "b": "", "d": `{"z":3}`, "f": `{"rate":"Infinity","q": "NaN","n":["-Infinity"],"s":"no \"NaN"}`}
		for _, l := range tr.Lanes {
			for i := range l.Len() {
				name := rec.FuncName(l.Call(i))
				got := rec.Args(l.Args(i))
				if got != want[name] {
					t.Errorf("%s: arguments of %s: %s, want %s", how, name, got, want[name])
				}
				if got != "" && !json.Valid([]byte(got)) {
					t.Errorf("%s: not JSON: %s", how, got)
				}
			}
		}
		if got, want := rec.Args(tr.Instants[0].Args), `{"args":"text","s":"t"}`; got != want {
			t.Errorf("%s: %s, want %s", how, got, want)
		}
		for _, ref := range []uint64{0, 1 << 40, pairRef | 99, pairRef - 1} {
			if got := rec.Args(ref); got != "" {
				t.Errorf("%s: reference %x gives %q", how, ref, got)
			}
		}
	}
}

// TestThreadClock checks CPU times: they come from the event's own tdur and tts, wherever
// they are in the event and the last if there are several, never from members of args.
func TestThreadClock(t *testing.T) {
	const text = `[{"args":{"tdur":9,"x":{"tdur":8}},"dur":70,"name":"a","ph":"X","tdur":5.25,"ts":0},
		{"tdur":3,"ph":"X","name":"b","ts":1,"dur":50,"tdur" : "4"},
		{"ph":"X","name":"c","ts":2,"dur":40,"tdur":null},
		{"ph":"B","name":"d","ts":3,"tts":1},{"ph":"B","name":"e","ts":4,"args":{"tts":7}},{"ph":"X","name":"f","ts":5,"dur":1,"\u0074dur":90},
		{"ph":"E","name":"e","ts":8,"tts":3},{"ph":"E","name":"d","ts":9,"tts":3.5}]`
	want := map[string]int64{"a": 5_250_000, "b": 4_000_000, "c": -1, "d": 2_500_000, "e": -1, "f": 1_000_000}
	for how, in := range map[string]*source.Input{"mapped": source.FromBytes("x", []byte(text)), "stream": source.FromReader("x", strings.NewReader(text))} {
		rec := read(t, in)
		seen := 0
		for li := range rec.Tracks[0].Lanes {
			for l, i := &rec.Tracks[0].Lanes[li], 0; i < l.Len(); i++ {
				got, ok := rec.SpanCPU(l, i)
				if !ok {
					got = -1
				}
				if name := rec.FuncName(l.Call(i)); got != want[name] {
					t.Errorf("%s: %s ran for %d, want %d", how, name, got, want[name])
				}
				seen++
			}
		}
		if seen != len(want) {
			t.Errorf("%s: %d spans", how, seen)
		}
	}
}

// TestSpooledArgs looks up arguments of a stream, which are stored compressed.
func TestSpooledArgs(t *testing.T) {
	var b strings.Builder
	b.WriteString("[")
	const n = 50_000
	for i := range n {
		fmt.Fprintf(&b, `{"ph":"X","name":"a","ts":%d,"dur":1,"args":{"i":%d}},`, 2*i, i)
	}
	rec := read(t, source.FromReader("x", strings.NewReader(b.String())))
	l := &rec.Tracks[0].Lanes[0]
	if l.Len() != n {
		t.Fatalf("%d spans", l.Len())
	}
	for _, i := range []int{0, 1, n / 2, n - 1, 3} {
		if got, want := rec.Args(l.Args(i)), fmt.Sprintf(`{"i":%d}`, i); got != want {
			t.Errorf("%d: %s, want %s", i, got, want)
		}
	}
}

// TestFileGoesAway truncates a mapped file while it is read, and closes another before its
// arguments are looked up.
func TestFileGoesAway(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("mapped files can't be made shorter there")
	}
	path := filepath.Join(t.TempDir(), "x.json")
	data := synthetic(3<<20, true)
	write := func() *source.Input {
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		in, err := source.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		return in
	}
	in := write()
	if err := os.Truncate(path, 1<<20); err != nil {
		t.Fatal(err)
	}
	rec, err := tryRead(in)
	if err == nil || !strings.Contains(err.Error(), "the file was truncated while it was read") {
		t.Errorf("error %v", err)
	}
	balanced(t, rec)
	in.Close()

	in = write()
	rec = read(t, in)
	last, some := uint64(0), ""
	for _, tr := range rec.Tracks {
		for _, l := range tr.Lanes {
			for i := range l.Len() {
				if ref := l.Args(i); ref > last && ref&pairRef == 0 {
					last = ref
				}
			}
		}
	}
	if some = rec.Args(last); some == "" {
		t.Error("no arguments")
	}
	if err := os.Truncate(path, 1<<20); err != nil {
		t.Fatal(err)
	}
	if got := rec.Args(last); got != "" {
		t.Errorf("arguments from behind the end: %q", got)
	}
	in.Close()
	if got := rec.Args(last); got != "" {
		t.Errorf("arguments after closing: %q", got)
	}
}

func TestCancel(t *testing.T) {
	before := runtime.NumGoroutine()
	data := synthetic(rounds.Size(8<<20, 1<<20), false)
	for i := range 20 {
		ctx, cancel := context.WithCancel(context.Background())
		go func() {
			time.Sleep(time.Duration(i) * time.Millisecond)
			cancel()
		}()
		b := recording.NewBuilder()
		err := run(ctx, source.FromBytes("x", data), b, decode.Options{})
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		balanced(t, b.Finish())
	}
	for range 100 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%d goroutines, %d before", runtime.NumGoroutine(), before)
}

func TestCounters(t *testing.T) {
	rec := readText(t, `[{"ph":"C","name":"m","ts":3,"pid":1,"args":{"used":3,"free":"7.5","what":"no"}},
		{"ph":"C","name":"m","ts":1,"pid":1,"args":{"used":-1e3}},
		{"ph":"C","name":"m","ts":2,"pid":1,"id":"x","args":{"used":2}},
		{"ph":"C","name":"m","ts":4,"pid":2,"args":{"used":9,"bad":NaN}}]`)
	balanced(t, rec)
	var got []string
	for _, c := range rec.Counters {
		s := fmt.Sprintf("%d %s %s:", rec.Processes[c.Process].PID, c.Name, c.Series)
		for i := range c.Len() {
			s += fmt.Sprintf(" %s=%g", rec.Clock.Text(c.Time(i)), c.Value(i))
		}
		got = append(got, s)
	}
	want := []string{"1 m used: 1=-1000 3=3", "1 m free: 3=7.5", "1 m[x] used: 2=2", "2 m used: 4=9"}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestUnescapeLikeJSON(t *testing.T) {
	for _, s := range []string{`plain`, `a\"b\\c\/d`, `\b\f\n\r\t`, `\u0041\u00e9\u20AC`, `\ud83d\ude00`, `\ud83d`, `\ud83dx`, `\ude00\ud83d`, `\ud83d\u0041`, "caf\u00e9", "a\xffb"} {
		var want string
		if err := json.Unmarshal([]byte(`"`+s+`"`), &want); err != nil {
			t.Fatal(s, err)
		}
		if got := decoded(s); got != want {
			t.Errorf("%s: %q, want %q", s, got, want)
		}
	}
}

// FuzzValue checks that Value finds the end of any value that encoding/json accepts.
func FuzzValue(f *testing.F) {
	for _, s := range []string{`1`, `"a\"b"`, `{"a":[1,{"b":null}],"c":"}"}`, `[[],{},[[[]]]]`, `{"a" : -1.5e+3 , "b":true}`, "[\n]"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if json.Valid(b) { // in invalid JSON, Inside also returns members of a value that is cut off
			in, ok := jsonscan.Object(b).Inside("a")
			value := jsonscan.Member(b, "a")
			if ok != (value != nil) {
				t.Fatalf("%q: inside a is %v, its value %q", b, ok, value)
			}
			for of := jsonscan.Object(value); ok; {
				key, v, more := in.Next()
				wantKey, want, left := of.Next()
				if ok = more && left; more != left || string(key) != string(wantKey) || string(v) != string(want) {
					t.Fatalf("%q: %q %q, want %q %q", b, key, v, wantKey, want)
				}
			}
		}
		end, st := jsonscan.Value(b, 0, true)
		if end < 0 || end > len(b)+1 {
			t.Fatalf("end %d of %d", end, len(b))
		}
		if json.Valid(b) && (st != jsonscan.Good || len(bytes.TrimSpace(b[end:])) > 0) {
			t.Fatalf("%q is valid: %d %d", b, end, st)
		}
		if st == jsonscan.Good && json.Valid(b) && bytes.HasPrefix(bytes.TrimSpace(b), []byte("{")) {
			m, n := jsonscan.Object(b), 0
			for {
				_, v, ok := m.Next()
				if !ok {
					break
				}
				n++
				if !json.Valid(v) {
					t.Fatalf("%q has a member %q", b, v)
				}
			}
			// encoding/json merges equal keys, so it may have fewer members.
			var o map[string]any
			if json.Unmarshal(b, &o) == nil && n < len(o) {
				t.Fatalf("%q: %d members, want %d", b, n, len(o))
			}
		}
	})
}

// FuzzChrome decodes arbitrary bytes, whole and in small chunks. Both must give the same
// recording, with a balanced ledger.
func FuzzChrome(f *testing.F) {
	for _, s := range []string{
		"[" + one + "," + two + "]",
		`{"traceEvents":[` + one + "," + two + `],"stackFrames":{"1":{"name":"m","category":"c"},"2":{"name":"n","parent":1}},"samples":[{"cpu":1,"tid":2,"ts":3.5,"name":"cycles","sf":2,"weight":1.25}]}`,
		events("B a 1, B b 2, E a 5, E b 6, X c 3 9, E 4, E x 9, X d 1, B q 7"),
		`[{"ph":"b","cat":"c","id":1,"name":"a","ts":1},{"ph":"n","cat":"c","id":1,"name":"i","ts":2},{"ph":"e","cat":"c","id":1,"name":"a","ts":5},{"ph":"S","id":2,"name":"q","ts":1},{"ph":"T","id":2,"name":"q","ts":1,"args":{"step":"x"}},{"ph":"F","id":2,"name":"q","ts":0}]`,
		`[{"ph":"s","id":1,"name":"q","ts":5,"tid":1},{"ph":"t","id":1,"name":"q","ts":6,"tid":2},{"ph":"f","id":1,"name":"q","ts":6,"tid":2},` + one + `]`,
		`[{"ph":"C","name":"m","id":1,"ts":3,"args":{"used":3,"free":"7.5"}},{"ph":"M","name":"thread_name","tid":"x","args":{"name":"t"}},{"ph":"I","ts":4,"name":"i","s":"g"}]`,
		`[{"ph":"P","name":"Profile","id":"0x1","ts":1,"args":{"data":{"startTime":1}}},{"ph":"P","name":"ProfileChunk","id":"0x1","ts":9,"args":{"data":{"cpuProfile":{"nodes":[{"id":1,"callFrame":{"functionName":"(root)"}},{"id":2,"parent":1,"callFrame":{"functionName":"f","url":"u","lineNumber":3}}],"samples":[2,2,1]},"timeDeltas":[1,5,-2]}}}]`,
		`{"nodes":[{"id":1,"callFrame":{"functionName":"(root)"},"children":[2]},{"id":2,"callFrame":{"functionName":""}}],"startTime":5,"endTime":99,"samples":[2,1,3],"timeDeltas":[1,1,1]}`,
		"[" + one + ",\n{\"name\":\"c\n" + two + ",{\"a\":[}" + one,
	} {
		f.Add([]byte(s), byte(5))
	}
	f.Fuzz(func(t *testing.T, b []byte, size byte) {
		if len(b) > 4096 {
			return
		}
		whole, err := tryRead(source.FromBytes("x", b))
		balanced(t, whole)
		in := source.FromReader("x", bytes.NewReader(b))
		in.ChunkSize = 1 + int(size)
		parts, err2 := tryRead(in)
		if (err == nil) != (err2 == nil) {
			t.Fatalf("%v and %v", err, err2)
		}
		if x, y := dumped(whole), dumped(parts); x != y {
			t.Fatalf("chunks of %d: %s", in.ChunkSize, firstDifference(x, y))
		}
		_, _ = sniff(b, true)
		_, _ = sniffProfile(b, true)
	})
}

// TestSniffWithoutArray checks that sniff recognises events outside an array, and arrays
// whose first element is not an event.
func TestSniffWithoutArray(t *testing.T) {
	decodetest.Sniffs(t, sniff, true, map[string]decode.Confidence{
		one + "\n" + two:                 decode.Likely,
		one:                              decode.Likely,
		"[null," + one + "]":             decode.Certain,
		"[\n null ,\"x\"," + one + "]":   decode.Certain,
		"[null,[" + one + "]]":           decode.No,
		"[null]":                         decode.No,
		`{"name":"a","value":1}`:         decode.No,
		`{"ph":7.4,"temperature":21}`:    decode.No,
		`{"type":"event","id":1}` + "\n": decode.No,
	})
}
