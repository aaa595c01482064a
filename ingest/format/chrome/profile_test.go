package chrome

import (
	"fmt"
	"strings"
	"testing"

	"ashlar/ingest/model/recording"
)

// samplesText lists the samples of all tracks: event, process and thread, time, stack from
// the outermost frame, and the value of the last metric.
func samplesText(rec *recording.Recording) string {
	var out []string
	for _, tr := range rec.Tracks {
		for _, s := range tr.Samples {
			ev := &rec.Events[s.Event]
			m := len(ev.Metrics) - 1
			for i := range s.Len() {
				var stack []string
				for _, c := range rec.Calls.Path(nil, s.Call(i)) {
					stack = append(stack, rec.FuncName(c))
				}
				value := recording.Decimal{Mantissa: s.Value(i, &ev.Metrics[m], m), Scale: ev.Metrics[m].Decimals}.String()
				if s.Value(i, &ev.Metrics[m], m) == recording.Missing {
					value = "-"
				}
				out = append(out, fmt.Sprintf("%s %d/%d @%s %s %s", ev.Name, tr.PID, tr.TID, rec.Clock.Text(s.Time(i)), strings.Join(stack, ";"), value))
			}
		}
	}
	return strings.Join(out, "\n")
}

func checkSamples(t *testing.T, text, want, warnings string) *recording.Recording {
	t.Helper()
	rec := readText(t, text)
	balanced(t, rec)
	want = strings.ReplaceAll(strings.TrimSpace(want), "\t", "")
	if got := samplesText(rec); got != want {
		t.Errorf("samples\n%s\nwant\n%s", got, want)
	}
	if got := codes(rec); got != warnings {
		t.Errorf("warnings %q, want %q", got, warnings)
	}
	return rec
}

// TestProfileChunks reads a profile of thread 7 whose chunks come from another thread. A
// sample lasts until the next one; one sample is out of order.
func TestProfileChunks(t *testing.T) {
	rec := checkSamples(t, `[
	{"ph":"P","name":"Profile","id":"0x1","pid":1,"tid":7,"ts":100,"args":{"data":{"startTime":90}}},
	{"ph":"P","name":"ProfileChunk","id":"0x1","pid":1,"tid":9,"ts":140,"args":{"data":{"cpuProfile":{"nodes":[
		{"id":1,"callFrame":{"functionName":"(root)","scriptId":0}},
		{"id":2,"parent":1,"callFrame":{"functionName":"f","scriptId":5,"url":"file:///a.js","lineNumber":9,"columnNumber":4}},
		{"id":3,"parent":2,"callFrame":{"functionName":"","scriptId":5,"url":"file:///a.js","lineNumber":19,"columnNumber":0}}],
		"samples":[2,3,3]},"timeDeltas":[10,5,5]}}},
	{"ph":"P","name":"ProfileChunk","id":"0x1","pid":1,"tid":9,"ts":150,"args":{"data":{"cpuProfile":{"nodes":[
		{"id":4,"parent":3,"callFrame":{"functionName":"g","scriptId":0}}],"samples":[4,2,99]},"timeDeltas":[7,-4,6],"endTime":121}}}]`, `
	cpu-profile 1/7 @100 f 5000
	cpu-profile 1/7 @105 f;(anonymous) a.js:20:1 5000
	cpu-profile 1/7 @110 f;(anonymous) a.js:20:1 3000
	cpu-profile 1/7 @113 f 4000
	cpu-profile 1/7 @117 f;(anonymous) a.js:20:1;g 2000
	cpu-profile 1/7 @119  2000`, "no-node:1")
	f := rec.Functions.At(0)
	for i := range rec.Functions.Len() {
		if rec.Functions.At(i).Name == "f" {
			f = rec.Functions.At(i)
		}
	}
	if f.Module != "file:///a.js" || f.File != "file:///a.js" || f.Kind != recording.KindManaged {
		t.Errorf("function %+v", f)
	}
	found := false
	for i := range rec.Frames.Len() {
		fr := rec.Frames.At(i)
		found = found || rec.Functions.At(int(fr.Func)).Name == "f" && fr.Line == 10 && fr.Column == 5
	}
	if !found {
		t.Error("no frame at line 10, column 5")
	}
	if ev := rec.Events[0]; ev.Metrics[0].Total != 6 || ev.Metrics[1].Total != 21*million {
		t.Errorf("totals %+v", ev.Metrics)
	}
}

// TestProfileClock reads a profile with its own clock: that clock gives the durations of
// the samples, the trace's clock their start.
func TestProfileClock(t *testing.T) {
	checkSamples(t, `[
	{"ph":"P","name":"Profile","id":1,"pid":1,"tid":7,"ts":3,"args":{"data":{"startTime":0}}},
	{"ph":"P","name":"ProfileChunk","id":1,"pid":1,"tid":7,"ts":4,"args":{"data":{"cpuProfile":{
		"endTime":470030000040,"startTime":470030000000,"nodes":[{"id":1,"callFrame":{"functionName":"f"}}],"samples":[1,1]},"timeDeltas":[10,20]}}}]`, `
	cpu-profile 1/7 @10 f 20000
	cpu-profile 1/7 @30 f 10000`, "")
}

// TestStackFrames reads samples with sf, before and after the stackFrames table, and with
// weights.
func TestStackFrames(t *testing.T) {
	rec := checkSamples(t, `{"traceEvents":[
	{"ph":"P","name":"cycles","pid":1,"tid":7,"ts":1,"sf":"3","weight":0.25},
	{"ph":"P","name":"cycles","pid":1,"tid":7,"ts":2,"stack":["leaf","0x10",2]},
	{"ph":"P","name":"faults","pid":1,"tid":7,"ts":3,"sf":9}],
	"stackFrames":{"3":{"category":"lib","name":"c","parent":"2"},"1":{"name":"a"},"2":{"name":"b","parent":1},
		"7":{"name":"x","parent":8},"8":{"name":"y","parent":7}},
	"samples":[{"cpu":0,"tid":7,"ts":4.5,"name":"cycles","sf":2,"weight":2},{"tid":8,"ts":5,"name":"cycles","sf":7,"weight":"1e1"},{"tid":8,"name":"cycles","sf":1}]}`, `
	cycles 1/7 @1 a;b;c 0.25
	cycles 1/7 @2 2;0x10;leaf -
	cycles 1/7 @4.5 a;b 2
	faults 1/7 @3  -
	cycles 0/8 @5 y;x 10`, "no-frame:2 no-time:1")
	if ev := rec.Events[0]; ev.Metrics[1].Total != 1225 || ev.Metrics[1].Decimals != 2 || ev.Metrics[0].Total != 4 {
		t.Errorf("totals %+v", ev.Metrics)
	}
}

// TestCPUProfileFile reads nodes that list their children instead of naming their parents,
// with keys in any order.
func TestCPUProfileFile(t *testing.T) {
	checkSamples(t, `{"samples":[3,2],"timeDeltas":[5,10],"endTime":130,"nodes":[
	{"callFrame":{"functionName":"g","url":"u"},"children":[],"id":3},
	{"callFrame":{"functionName":"f","url":"u"},"children":[3],"id":2},
	{"callFrame":{"functionName":"(root)"},"children":[2],"id":1}],"startTime":100}`, `
	cpu-profile 0/0 @105 f;g 10000
	cpu-profile 0/0 @115 f 15000`, "")
}

// TestProfileOfHitsAlone checks that a profile without samples uses the hit counts of its
// nodes.
func TestProfileOfHitsAlone(t *testing.T) {
	rec := checkSamples(t, `{"nodes":[
	{"id":1,"callFrame":{"functionName":"(root)"},"hitCount":0,"children":[2]},
	{"id":2,"callFrame":{"functionName":"f"},"hitCount":7,"children":[3]},
	{"id":3,"callFrame":{"functionName":"g"},"hitCount":2},
	{"id":4,"callFrame":{"functionName":"idle"},"hitCount":0}],"startTime":0,"endTime":300}`, "", "")
	var got []string
	for i := range rec.Stacks[0].Len() {
		s := rec.Stacks[0]
		path := rec.Calls.Path(nil, s.Call(i))
		got = append(got, fmt.Sprint(rec.FuncName(path[0]), " ", len(path), " ", s.Value(i, 0)))
	}
	if fmt.Sprint(got) != "[f 1 7 f 2 2]" || rec.Events[0].Metrics[0].Total != 9 {
		t.Errorf("%v of %d", got, rec.Events[0].Metrics[0].Total)
	}
}

// TestHitsBeyondSamples checks the warning for hit counts far above the number of samples.
func TestHitsBeyondSamples(t *testing.T) {
	for hits, want := range map[string]string{"2": "", "3": "", "700": "hits-differ:1"} {
		rec := readText(t, `{"nodes":[{"id":1,"callFrame":{"functionName":"(root)"},"children":[2]},{"id":2,"hitCount":`+hits+`,"callFrame":{"functionName":"f"}}],"startTime":0,"endTime":30,"samples":[2,2],"timeDeltas":[10,10]}`)
		if got := codes(rec); got != want {
			t.Errorf("%s hits of 2 samples: %q, want %q", hits, got, want)
		}
	}
}
