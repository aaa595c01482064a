package firefox

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"

	"ashlar/ingest/format/decode"
	"ashlar/ingest/format/decode/decodetest"
	"ashlar/ingest/model/funcname"
	"ashlar/ingest/model/recording"
)

var decodeBytes = decodetest.Of(Decode)

// random returns a profile in the layout of the given version.
func random(r *rand.Rand, version, threads, size int) []byte {
	names := []any{"main", "work", "0x12", "draw", "idle", "Reflow", "GC"}
	stackTable := func() object {
		frame, prefix, offset := []any{}, []any{}, []any{}
		for i := range 12 {
			frame = append(frame, r.IntN(5))
			if i == 0 || r.IntN(4) == 0 {
				prefix, offset = append(prefix, nil), append(offset, 0)
				continue
			}
			p := r.IntN(i)
			prefix, offset = append(prefix, p), append(offset, i-p)
		}
		if version >= 66 {
			return object{"frame": frame, "prefixOffset": offset, "length": 12}
		}
		return object{"prefix": prefix, "frame": frame, "length": 12}
	}
	shared := func() object {
		fn := object{"name": []any{0, 1, 3, 4, 1}, "resource": []any{-1, -1, 0, -1, -1}, "isJS": []any{false, true, false, false, false}, "lineNumber": []any{nil, 3, nil, 4, 5}, "length": 5}
		return object{
			"stackTable":    stackTable(),
			"frameTable":    object{"func": []any{0, 1, 2, 3, 4}, "address": []any{-1, -1, 64, 128, -1}, "line": []any{1, nil, 2, 3, 4}, "inlineDepth": []any{0, 0, 1, 0, 0}, "category": []any{0, 1, nil, 1, 0}, "length": 5},
			"funcTable":     fn,
			"resourceTable": object{"lib": []any{0}, "name": []any{4}, "type": []any{1}, "length": 1},
			"stringArray":   names,
		}
	}
	var list []any
	for i := range threads {
		t := object{"name": fmt.Sprintf("t%d", i), "pid": fmt.Sprint(100 + i/2), "tid": 100 + i, "processName": "p"}
		stack, times, deltas, weight, cpu := []any{}, []any{}, []any{}, []any{}, []any{}
		now := int64(5e6)
		for j := range size {
			step := r.Int64N(3e6)
			if j == 0 {
				step = now
			} else {
				now += step
			}
			ms := func(v int64) any { return json.Number(fmt.Sprintf("%d.%06d", v/1e6, v%1e6)) }
			times, deltas = append(times, ms(now)), append(deltas, ms(step))
			weight = append(weight, r.IntN(9)-2)
			if r.IntN(5) == 0 {
				stack, cpu = append(stack, nil), append(cpu, nil)
				continue
			}
			stack, cpu = append(stack, r.IntN(12)), append(cpu, r.IntN(1000))
		}
		s := object{"stack": stack, "length": size, "weightType": "samples", "weight": nil}
		if version >= 50 {
			s["timeDeltas"] = deltas
		} else {
			s["time"] = times
		}
		if version%2 == 0 {
			s["weight"], s["threadCPUDelta"] = weight, cpu
		}
		t["samples"] = s
		t["markers"] = randomMarkers(r, version, size)
		if version < 60 {
			for k, v := range shared() {
				t[k] = v
			}
		}
		list = append(list, t)
	}
	o := object{
		"meta": object{"preprocessedProfileVersion": version, "interval": 1, "startTime": 1700000000000, "categories": []any{object{"name": "Other"}, object{"name": "Layout"}}},
		"libs": []any{object{"name": "app"}}, "threads": list, "counters": []any{},
	}
	if version >= 60 {
		o["shared"] = shared()
	}
	out, err := json.Marshal(o)
	if err != nil {
		panic(err)
	}
	return out
}

func randomMarkers(r *rand.Rand, version, size int) object {
	name, start, end, phase, data, category := []any{}, []any{}, []any{}, []any{}, []any{}, []any{}
	at := 5
	for range size {
		at += r.IntN(4)
		name = append(name, 5+r.IntN(2))
		category = append(category, r.IntN(2))
		p := r.IntN(4)
		phase = append(phase, p)
		if version < 27 {
			start = append(start, at)
			data = append(data, []any{nil, object{"startTime": at, "endTime": at + r.IntN(9)}, object{"type": "tracing", "interval": "start"}, object{"type": "tracing", "interval": "end"}}[p])
			continue
		}
		data = append(data, object{"type": "x", "n": r.IntN(9)})
		start, end = append(start, at), append(end, at+r.IntN(9))
	}
	if version < 27 {
		return object{"name": name, "time": start, "data": data, "length": size}
	}
	return object{"name": name, "startTime": start, "endTime": end, "phase": phase, "data": data, "category": category, "length": size}
}

func TestRandomFiles(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for i := range 200 {
		version := []int{7, 24, 33, 51, 58, 60, 66, 70}[i%8]
		content := random(r, version, 1+r.IntN(4), 1+r.IntN(30))
		if sure, err := Sniff(content, true); sure != decode.Certain || err != nil {
			t.Fatalf("%v %v of %s", sure, err, content)
		}
		compare(t, fmt.Sprintf("version %d", version), content, 0, 7, 100)
		if t.Failed() {
			t.Fatalf("%s", content)
		}
	}
}

// small is a profile of one thread, with two functions and two markers.
const small = `{"meta":{"preprocessedProfileVersion":60,"interval":0.5,"product":"Firefox","misc":"rv:1","startTime":1700000000000.25,"profilingStartTime":1,"profilingEndTime":9.5,
"sampleUnits":{"time":"ms","threadCPUDelta":"ns"},"categories":[{"name":"Other"},{"name":"Layout"}],
"markerSchema":[{"name":"Flow","fields":[{"key":"flow","format":"flow-id"},{"key":"n","format":"integer"}]}]},
"libs":[{"name":"libx.so","codeId":"abc","breakpadId":"DEF0"}],
"shared":{"stringArray":["outer","0x40","js","libx.so","Paint","page.js"],
"sources":{"filename":[5],"length":1},
"resourceTable":{"lib":[0],"name":[3],"length":1},
"nativeSymbols":{"libIndex":[0],"address":[56],"name":[1],"length":1},
"funcTable":{"name":[0,1,2],"resource":[-1,0,-1],"isJS":[false,false,true],"source":[null,null,0],"lineNumber":[null,null,7],"columnNumber":[null,null,2],"length":3},
"frameTable":{"func":[0,1,2],"address":[-1,64,-1],"nativeSymbol":[null,0,null],"inlineDepth":[0,1,0],"category":[1,0,0],"line":[null,null,9],"column":[null,null,null],"length":3},
"stackTable":{"frame":[0,1,2],"prefix":[null,0,1],"length":3}},
"counters":[{"name":"malloc","category":"Memory","pid":"12","samples":{"time":[1,2],"count":[100,-40],"length":2}},{"name":"Power","category":"power","pid":"12","samples":{"time":[1,2],"count":[3,4],"length":2}}],
"threads":[{"name":"Main","pid":"12","tid":"12.1","processName":"web",
"samples":{"stack":[2,null,0],"time":[2,3.000000001,4],"weight":null,"threadCPUDelta":[1500,null,7],"weightType":"samples","length":3},
"nativeAllocations":{"stack":[1],"time":[3],"weight":[-4096],"weightType":"bytes","length":1},
"markers":{"name":[4,4],"startTime":[2,5],"endTime":[3.5,null],"phase":[1,0],"category":[1,1],"data":[{"type":"Flow","flow":5,"n":5},null],"length":2}}]}`

// TestSmall checks all parts of a profile that the recording has a place for.
func TestSmall(t *testing.T) {
	r, err := decodeBytes(t, []byte(small), 0)
	if err != nil || len(r.Warnings) > 0 {
		t.Fatal(err, r.Warnings)
	}
	s := r.Tracks[0].Samples[0]
	c := s.Call(0)
	var got []string
	for ; c != recording.NoCall; c = r.Calls.Parent(c) {
		f := r.Frames.At(int(r.Calls.Frame(c)))
		fn := r.Functions.At(int(f.Func))
		got = append(got, fmt.Sprintf("%s|%s|%s|%d:%d|%v|%x+%x|%s|%v", fn.Name, fn.Module, fn.File, f.Line, f.Column, fn.Kind, f.Addr, f.Offset, f.BuildID, f.Inlined))
	}
	want := []string{"js|Other|page.js|9:2|managed|0+0||false", "libx.so+0x40|libx.so||0:0|user|40+8|abc|true", "outer|Layout||0:0|unknown|0+0||false"}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got %q\nwant %q", got, want)
	}
	e := r.Events[s.Event]
	if e.Frequency != 2000 || e.Metrics[0].Total != 3 || e.Metrics[1].Total != 1507000 || s.Time(1)-s.Time(0) != 1e9+1 {
		t.Errorf("%+v %d", e, s.Time(1)-s.Time(0))
	}
	if a := r.Events[1]; a.Name != "native allocations" || a.Metrics[0].Total != -4096 {
		t.Errorf("%+v", a)
	}
	m := r.Tracks[1]
	if m.Name != "Main markers" || m.PID != 12 || r.Processes[m.Process].Name != "web" || len(m.Instants) != 1 || r.FuncName(m.Lanes[0].Call(0)) != "Paint" || m.Lanes[0].End(0)-m.Lanes[0].Start(0) != 1.5e9 {
		t.Errorf("%+v", m)
	}
	if text := r.Args(m.Lanes[0].Args(0)); text != `{"type":"Flow","flow":"page.js","n":5}` {
		t.Error(text)
	}
	if a, b := r.Counters[0], r.Counters[1]; a.Value(1) != 60 || a.Unit != "bytes" || b.Value(1) != 4 {
		t.Errorf("%v %v", a, b)
	}
	if r.End-r.Start != 8.5e9 || r.Clock.Text(s.Time(0)) != "2" || r.Source.Version != "60" || r.Source.Tool != "Firefox" {
		t.Errorf("%d..%d %+v %+v", r.Start, r.End, r.Clock, r.Source)
	}
	if want := []recording.Note{{Key: recording.NoteTime, Value: "2023-11-14T22:13:20.00025Z"}, {Key: recording.NoteDuration, Value: "0.0085 s"}, {Key: "misc", Value: "rv:1"}}; fmt.Sprint(r.Source.Notes) != fmt.Sprint(want) {
		t.Errorf("%+v", r.Source.Notes)
	}
}

// TestGecko reads a raw profile, whose functions are texts and whose binaries have the
// addresses of their mappings.
func TestGecko(t *testing.T) {
	r, err := decodeBytes(t, []byte(`{"meta":{"version":24,"processType":0,"startTime":1000,"product":"Firefox","misc":"x"},
"libs":[{"name":"C:\\x\\b.dll","start":4096,"end":8192}],"threads":[{"name":"GeckoMain","pid":1,"tid":2,
"stringTable":["(root)","0x1010","run (in XUL) + 12","f (a -> b.js:3:4)","c.js:5"],
"frameTable":{"schema":{"location":0,"line":5},"data":[[0],[1],[2],[3],[4,null,null,null,null,9]]},
"stackTable":{"schema":{"prefix":0,"frame":1},"data":[[null,0],[0,1],[1,2],[2,3],[3,4]]},
"samples":{"schema":{"stack":0,"time":1},"data":[[4,1.5]]},"markers":{"schema":{"name":0,"startTime":1,"endTime":2,"phase":3,"category":4,"data":5},"data":[[0,1,2,1,0]]}}],
"processes":[{"meta":{"startTime":1250,"processType":2},"libs":[],"threads":[{"name":"Other","pid":9,"tid":10,"stringTable":["g"],"frameTable":{"schema":{"location":0},"data":[[0]]},"stackTable":{"schema":{"prefix":0,"frame":1},"data":[[null,0]]},"samples":{"schema":{"stack":0,"time":1},"data":[[0,0.5]]}}]}]}`), 0)
	if err != nil || len(r.Warnings) > 0 {
		t.Fatal(err, r.Warnings)
	}
	var got []string
	for c := r.Tracks[0].Samples[0].Call(0); c != recording.NoCall; c = r.Calls.Parent(c) {
		f := r.Frames.At(int(r.Calls.Frame(c)))
		fn := r.Functions.At(int(f.Func))
		got = append(got, fmt.Sprintf("%s|%s|%s|%d:%d", fn.Name, fn.Module, fn.File, f.Line, f.Column))
	}
	want := "(root scope) c.js|c.js|c.js|9:0\nf|b.js|b.js|3:4\nrun|XUL||0:0\nb.dll+0x10|b.dll||0:0\n(root)|||0:0"
	if strings.Join(got, "\n") != want {
		t.Errorf("got %s", strings.Join(got, "\n"))
	}
	if a, b := r.Tracks[0].Samples[0].Time(0), r.Tracks[2].Samples[0].Time(0); b-a != 249e9 {
		t.Errorf("the other process's sample is %d ps later", b-a)
	}
}

// oldDevTools is a recording of DevTools before version 98.
const oldDevTools = `{"label":"","duration":9.5,"markers":[{"causeName":"x","end":4.25,"name":"Javascript","start":1.5},{"end":4,"name":"Paint","start":3.5}],
"frames":[null,{"line":1}],"memory":[[1,2]],"ticks":[2.5],"allocations":{"sites":[4,5],"timestamps":[1,2],"frames":[],"sizes":[8,9]},
"profile":{"libs":[],"meta":{"version":19,"startTime":1000,"interval":1,"processType":2,"product":"Firefox"},"threads":[{"processType":"tab","name":"GeckoMain","tid":2,"pid":7,
"samples":{"schema":{"stack":0,"time":1},"data":[[0,0.5],[0,8.25]]},"markers":{"schema":{"name":0,"time":1,"data":2},"data":[[0,4351049.5,{"type":"tracing","interval":"start"}],[0,4351050]]},
"stackTable":{"schema":{"prefix":0,"frame":1},"data":[[null,0]]},"frameTable":{"schema":{"location":0},"data":[[0]]},"stringTable":["f (a.js:1:2)"]}],"pausedRanges":[],"processes":[]},
"configuration":{"withMarkers":true},"systemHost":{},"systemClient":{},"fileType":"Recorded Performance Data","version":2}`

// TestOldDevTools checks that rows without a place on the timeline are counted as left out.
func TestOldDevTools(t *testing.T) {
	if sure, err := Sniff([]byte(oldDevTools), true); sure != decode.Certain || err != nil {
		t.Error(sure, err)
	}
	compare(t, "old", []byte(oldDevTools), 0, 7, 100)
	r, err := decodeBytes(t, []byte(oldDevTools), 0)
	if err != nil {
		t.Fatal(err)
	}
	left := map[string]int64{}
	for _, x := range r.Ledger {
		left[x.Kind] = x.LeftOut
	}
	want := map[string]int64{"thread": 0, "sample": 0, "marker": 2, "allocation": 0, "counter point": 0, "frames of DevTools": 2, "memory of DevTools": 1, "sites of DevTools": 2}
	if !maps.Equal(left, want) {
		t.Errorf("left out %v, want %v", left, want)
	}
	if n := len(r.Warnings); n != 1 || r.Warnings[0].Text != `The markers of thread "GeckoMain" use a different clock than its samples and were left out` {
		t.Errorf("%v", r.Warnings)
	}
	if x := r.Tracks[1]; x.PID != 7 || x.TID != 2 {
		t.Errorf("the timeline is of %d, %d", x.PID, x.TID)
	}
}

// TestSentences checks the message and its place for a file with one fault per case.
func TestSentences(t *testing.T) {
	cut := func(at string) (string, int) { i := strings.Index(small, at); return small[:i], i }
	half, n := cut(`"weightType":"samples","length":3}`)
	for _, x := range []struct{ name, content, place, want string }{
		{"nothing in it", `{"meta":{"processType":0,"preprocessedProfileVersion":3}}`, "", "the profile has no threads"},
		{"cut", half, fmt.Sprintf("byte %d", n), fmt.Sprintf("The file is truncated at byte %d; everything before is shown", n)},
		{"damaged", strings.Replace(small, `"threads":[{`, `"threads":[{!`, 1), "byte 1315", "The file is damaged at byte 1315; everything before is shown"},
		{"no thread", strings.Replace(small, `"threads":[`, `"threads":[5,`, 1), "byte 1314", "The value at byte 1314 is not a thread and was left out"},
		{"no time", strings.Replace(small, `"time":[2,3.000000001,4]`, `"time":[2,null,4]`, 1), "", `Sample 1 of thread "Main" has no time, or a time more than 26 days from the first, and was left out`},
		{"far", strings.Replace(small, `"time":[2,3.000000001,4]`, `"time":[2,3e12,4]`, 1), "", `Sample 1 of thread "Main" has no time, or a time more than 26 days from the first, and was left out`},
		{"stacks in no order", strings.Replace(small, `"prefix":[null,0,1]`, `"prefix":[null,2,1]`, 1), "", "The parent of stack 1 comes after the stack, which is invalid; the stack is shown without callers"},
		{"no such function", strings.Replace(small, `"func":[0,1,2]`, `"func":[0,1,9]`, 1), "", "Frame 2 of a stack is missing or has no function; it is shown as " + funcname.Unknown},
		{"no weight", strings.Replace(small, `"weight":[-4096]`, `"weight":[null]`, 1), "", `Sample 0 of thread "Main" has no weight, or one that is too large; it counts 0`},
		{"a weight too large", strings.Replace(small, `"weight":[-4096]`, `"weight":[-1e30]`, 1), "", `Sample 0 of thread "Main" has no weight, or one that is too large; it counts 0`},
		{"a marker without a time", strings.Replace(small, `"startTime":[2,5]`, `"startTime":[null,5]`, 1), "", `Marker 0 of "Main markers" has no time, or a time more than 26 days from the first, and was left out`},
		{"a marker backward", strings.Replace(small, `"endTime":[3.5,null]`, `"endTime":[1.5,null]`, 1), "", `A marker of "Main markers" ends before it starts; it is shown without length`},
		{"an end alone", strings.Replace(small, `"phase":[1,0]`, `"phase":[3,0]`, 1), "", `Marker "Paint" ends without a start; it is shown from the start of the recording`},
		{"a member more", strings.Replace(small, `"libs"`, `"more":{"a":[1]},"libs"`, 1), "byte 385", `The member "more" is unknown in Firefox profiles and was left out`},
	} {
		r, err := decodeBytes(t, []byte(x.content), 0)
		decodetest.Sentence(t, x.name, r, err, x.place, x.want)
	}
}

func TestSniff(t *testing.T) {
	decodetest.Sniffs(t, Sniff, false, map[string]decode.Confidence{
		"": decode.No, "[]": decode.No, "{}": decode.No, `{"traceEvents":[],"meta":{"processType":0}}`: decode.No, `{"profiles":[],"meta":{}}`: decode.No,
		`{"meta":{"interval":1,"startTime":5,"processType":0},"libs":[],"threads":[]}`: decode.Certain,
		` {"threads":[{"stackTable":{"frame":[1,2`:                                     decode.No,
		`{"shared":{"stackTable":{"length":0},"frameTable":{"func":[0,1`:               decode.Certain,
		`{"meta":{"version":5},"libs":[`:                                               decode.Likely,
	})
}

func FuzzDecode(f *testing.F) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, v := range []int{7, 33, 58, 66} {
		f.Add(random(r, v, 2, 4), 11)
	}
	f.Add([]byte(small), 3)
	f.Add([]byte(oldDevTools), 3)
	decodetest.FuzzParts(f, Decode, Sniff, told)
}
