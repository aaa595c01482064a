package chrome

import (
	"fmt"
	"strings"
	"testing"

	"ashlar/ingest/input/source"
	"ashlar/ingest/model/recording"
)

// TestMembers checks that every member of the outermost object becomes a note, wherever it
// is and whatever the chunk size.
func TestMembers(t *testing.T) {
	const text = `{"schemaVersion":1,"deviceProperties":[{"id":0,"name":"GPU A"},{"id":1,"name":"GPU B"}],"trace_id":"AB\u0043",` +
		`"distributedInfo":{"backend":"nccl","rank":3},"on":true,"nothing":null,"list":["x",2.5],"displayTimeUnit":"ms",` +
		`"traceEvents":[` + one + `],"host_name":"box","baseTimeNanoseconds":1700000000123456789,"metadata":{"a":{"b":1}}}`
	want := []recording.Note{
		{Key: "schemaVersion", Value: "1"}, {Key: "deviceProperties", Value: `{"id":0,"name":"GPU A"}`}, {Key: "deviceProperties", Value: `{"id":1,"name":"GPU B"}`},
		{Key: "trace_id", Value: "ABC"}, {Key: "distributedInfo", Value: `{"backend":"nccl","rank":3}`}, {Key: "on", Value: "true"},
		{Key: "list", Value: "x"}, {Key: "list", Value: "2.5"}, {Key: "host_name", Value: "box"}, {Key: "baseTimeNanoseconds", Value: "1700000000123456789"},
		{Key: "a", Value: `{"b":1}`},
	}
	for _, chunk := range []int{0, 1, 7, 64} {
		in := source.FromBytes("x.json", []byte(text))
		in.ChunkSize = chunk
		rec := read(t, in)
		if got := fmt.Sprint(rec.Source.Notes); got != fmt.Sprint(want) || len(rec.Warnings) > 0 {
			t.Errorf("chunks of %d: got  %s, %v\nwant %v", chunk, got, rec.Warnings, want)
		}
	}
	long := `{"big":{"a":"` + strings.Repeat("x", maxNoted) + `"},"bad":tru,"traceEvents":[` + one + `]}`
	rec := readText(t, long)
	balanced(t, rec)
	if codes(rec) != "long-member:2" || len(rec.Source.Notes) != 0 {
		t.Errorf("%s, notes %.200v", codes(rec), rec.Source.Notes)
	}
}

// TestSystemTrace checks that names from the kernel's trace are given to threads without a
// name.
func TestSystemTrace(t *testing.T) {
	const text = `{"traceEvents":[{"ph":"X","name":"a","ts":1,"dur":1,"pid":10,"tid":11},{"ph":"X","name":"a","ts":1,"dur":1,"pid":10,"tid":12},` +
		`{"ph":"X","name":"a","ts":1,"dur":1,"pid":10,"tid":13},{"ph":"X","name":"a","ts":1,"dur":1,"pid":10,"tid":14},{"ph":"M","name":"thread_name","pid":10,"tid":14,"args":{"name":"mine"}}],` +
		`"systemTraceEvents":"# tracer: nop\n#\n     render er-11    (   10) [001] d..2  5.500000: cpu_idle: state=1 cpu_id=1\n` +
		`           <...>-12    (-----) [001] d..2  5.500001: sched_switch: prev_comm=pool-a-b prev_pid=12 prev_prio=1 ==> next_comm=say \"x\" next_pid=14 next_prio=1\n  <idle>-0  [000] 5.6: sched_wakeup: comm=late pid=99 prio=1\n"}`
	rec := readText(t, text)
	balanced(t, rec)
	var got []string
	for _, tr := range rec.Tracks {
		got = append(got, tr.Name)
	}
	if want := "render er,pool-a-b,,mine"; strings.Join(got, ",") != want {
		t.Errorf("names %v, want %s", got, want)
	}
	if codes(rec) != "system-events:1" || !strings.Contains(rec.Warnings[0].Text, "The kernel trace (systemTraceEvents) is left out, except for the names of threads: 2.") {
		t.Errorf("%+v", rec.Warnings)
	}
	for _, l := range rec.Ledger {
		if l.Kind == "system trace line" && (l.Read != 3 || l.LeftOut != 3) {
			t.Errorf("%+v", l)
		}
	}
}

// TestProcessLabels checks that labels are part of the titles of processes, which may share
// a name.
func TestProcessLabels(t *testing.T) {
	rec := readText(t, `[{"ph":"M","name":"process_name","pid":1,"args":{"name":"python3"}},{"ph":"M","name":"process_labels","pid":1,"args":{"labels":"GPU 2"}},`+one+`]`)
	if got := rec.Processes[0].Title(); got != "python3 GPU 2" {
		t.Errorf("title %q", got)
	}
	text := readText(t, `[{"ph":"X","name":"a","ts":1,"dur":1,"pid":"web","tid":"main"},{"ph":"X","name":"a","ts":1,"dur":1,"pid":7,"tid":-3}]`)
	a, b := text.Tracks[0], text.Tracks[1]
	if got := fmt.Sprintf("%q %q %q %q", recording.IDText(a.PID), recording.IDText(a.TID), recording.IDText(b.PID), recording.IDText(b.TID)); got != `"" "" "7" "-3"` || a.Name != "main" {
		t.Errorf("ids %s, name %q", got, a.Name)
	}
}

// TestEmptyTrace checks that a trace without events is accepted.
func TestEmptyTrace(t *testing.T) {
	rec := readText(t, `{"displayTimeUnit":"ms","traceEvents":[],"otherData":{"version":"1"}}`)
	if len(rec.Tracks) != 0 || len(rec.Warnings) != 0 || rec.Source.Tool != "1" && len(rec.Source.Notes) == 0 {
		t.Errorf("%d tracks, %v, %+v", len(rec.Tracks), rec.Warnings, rec.Source)
	}
}

// TestOfNoProcess checks that events with empty ids, which Kineto writes about the whole
// trace, are not put on process 0.
func TestOfNoProcess(t *testing.T) {
	rec := readText(t, `[{"ph":"X","name":"k","ts":10,"dur":5,"pid":0,"tid":7},{"name":"Record Window End","ph":"i","s":"g","pid":"","tid":"","ts":30}]`)
	var got []string
	for _, tr := range rec.Tracks {
		got = append(got, fmt.Sprintf("%s/%s %d", rec.Processes[tr.Process].Title(), tr.Title(), tr.PID))
	}
	if want := []string{"/thread 7 0", fmt.Sprintf("whole trace/whole trace %d", recording.TextID)}; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("tracks %v, want %v", got, want)
	}
}

// TestTimeFarOutside checks that times decades away do not stretch the recording.
func TestTimeFarOutside(t *testing.T) {
	rec := readText(t, `[{"name":"s","ph":"b","ts":-1461972216707720,"id":"0x1","cat":"c","pid":1,"tid":1},{"name":"s","ph":"e","ts":506851,"id":"0x1","cat":"c","pid":1,"tid":1},`+
		`{"name":"w","ph":"X","ts":500000,"dur":80,"pid":1,"tid":1},{"name":"w","ph":"X","ts":509000,"dur":1461972216707720,"pid":1,"tid":1},{"name":"w","ph":"X","ts":510000,"dur":80,"pid":1,"tid":1}]`)
	async := &rec.Tracks[0].Lanes[0]
	if d := rec.Duration(); d != 10_080*million || codes(rec) != "time-range:2" || async.Duration(0) != 6_851*million {
		t.Errorf("the recording takes %d ps, warnings %s, the span that began long before %d ps", d, codes(rec), async.Duration(0))
	}
}
