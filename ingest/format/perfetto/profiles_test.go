package perfetto

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"ashlar/ingest/format/chrome"
	"ashlar/ingest/format/decode/decodetest"
	"ashlar/ingest/model/recording"
)

// v8Event is an event of V8's profiler: its thread, the time in nanoseconds, and its
// argument data.
type v8Event struct {
	name     string
	tid, id  int
	at       int64
	data     string
	sequence uint64
}

// v8Events are the events of two profiles and of a chunk without a profile. Thread 7 is
// sampled twice, thread 8 once. Thread 9 writes the chunks, most of which come before their
// Profile in the file.
var v8Events = []v8Event{
	{"ProfileChunk", 9, 1, 140_000, `{"cpuProfile":{"nodes":[
		{"id":1,"callFrame":{"functionName":"(root)","scriptId":0}},
		{"id":2,"parent":1,"callFrame":{"functionName":"f","scriptId":5,"url":"file:///a.js","lineNumber":9,"columnNumber":4}},
		{"id":3,"parent":2,"callFrame":{"functionName":"","scriptId":5,"url":"file:///a.js","lineNumber":19,"columnNumber":0}}],
		"samples":[2,3,3]},"timeDeltas":[10,5,5]}`, 2},
	{"ProfileChunk", 9, 1, 150_000, `{"cpuProfile":{"nodes":[{"id":4,"parent":3,"callFrame":{"functionName":"g \"é\"","scriptId":0}}],"samples":[4,2,99]},"timeDeltas":[7,-4,6],"endTime":121}`, 2},
	{"ProfileChunk", 9, 2, 160_000, `{"cpuProfile":{"nodes":[{"id":1,"callFrame":{"functionName":"h"},"children":[2]},{"id":2,"callFrame":{"functionName":"i"}}],"samples":[2,1]},"timeDeltas":[1,2]}`, 2},
	{"ProfileChunk", 9, 1, 300_000, `{"cpuProfile":{"nodes":[{"id":2,"callFrame":{"functionName":"anew"}}],"samples":[2,2]},"timeDeltas":[1,2],"endTime":230}`, 2},
	{"ProfileChunk", 9, 5, 310_000, `{"cpuProfile":{"nodes":[{"id":1,"callFrame":{"functionName":"alone"}}],"samples":[1,1]},"timeDeltas":[10,20]}`, 2},
	{"Profile", 7, 1, 100_000, `{"startTime":90}`, 1},
	{"Profile", 8, 2, 101_000, `{"startTime":95.5}`, 3},
	{"Profile", 7, 1, 210_000, `{"startTime":220}`, 1},
}

// inJSON returns the events as Chrome writes them, in time order.
func inJSON(list []v8Event) []byte {
	var out []string
	for _, e := range slices.SortedStableFunc(slices.Values(list), func(a, b v8Event) int { return int(a.at - b.at) }) {
		out = append(out, fmt.Sprintf(`{"ph":"P","name":%q,"id":"0x%x","pid":1,"tid":%d,"ts":%d,"args":{"data":%s}}`, e.name, e.id, e.tid, e.at/1000, e.data))
	}
	return []byte("[" + strings.Join(out, ",") + "]")
}

// annotation encodes a JSON value as a debug annotation.
func annotation(v any) (b []byte) {
	switch v := v.(type) {
	case map[string]any:
		for key, v := range v {
			b = msg(b, 11, append(msg(nil, 10, []byte(key)), annotation(v)...))
		}
	case []any:
		for _, v := range v {
			b = msg(b, 12, annotation(v))
		}
	case string:
		b = msg(b, 6, []byte(v))
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return num(b, 4, uint64(n))
		}
		b = msg(b, 6, []byte(v)) // V8 data may also have numbers as text
	}
	return b
}

// inPackets returns the events as packets, in the given order. Their argument is JSON text
// or nested annotations; ahead is how far the trace's clock is ahead of V8's, in
// nanoseconds.
func inPackets(t testing.TB, list []v8Event, asText bool, ahead int64) (out []byte) {
	if ahead != 0 {
		clock := func(id, at uint64) []byte { return num(num(nil, 1, id), 2, at) }
		out = msg(out, 1, msg(num(nil, packetSequence, 9), packetClocks, msg(msg(nil, 1, clock(bootTime, uint64(5000+ahead))), 1, clock(monotonic, 5000))))
	}
	begun := map[uint64]bool{}
	for _, e := range list {
		p := num(nil, packetSequence, e.sequence)
		if !begun[e.sequence] {
			begun[e.sequence] = true
			names := msg(nil, internName, msg(num(nil, 1, 1), 2, []byte("Profile")))
			names = msg(names, internName, msg(num(nil, 1, 2), 2, []byte("ProfileChunk")))
			names = msg(names, internAnnotation, msg(num(nil, 1, 3), 2, []byte("data")))
			thread := num(num(nil, 1, 1), 2, uint64(e.tid))
			out = msg(out, 1, msg(msg(num(bytes.Clone(p), packetFlags, flagCleared), packetInterned, names), packetThread, thread))
		}
		data := msg(num(nil, 1, 3), 9, []byte(e.data))
		if !asText {
			d := json.NewDecoder(strings.NewReader(e.data))
			d.UseNumber()
			var v any
			if err := d.Decode(&v); err != nil {
				t.Fatal(err)
			}
			data = append(num(nil, 1, 3), annotation(v)...)
		}
		name := uint64(1)
		if e.name == "ProfileChunk" {
			name = 2
		}
		event := msg(num(nil, eventNameID, name), eventAnnotation, data)
		event = msg(num(event, eventTrack, 0), eventLegacy, num(num(nil, 2, 'P'), 6, uint64(e.id)))
		p = num(num(p, packetTime, uint64(e.at+ahead)), packetFlags, flagNeeds)
		out = msg(out, 1, msg(p, packetEvent, event))
	}
	return out
}

// sampleLines lists the samples of a recording: thread, event, stack, time since the first
// sample, and duration.
func sampleLines(r *recording.Recording) (lines []string) {
	first := int64(1 << 62)
	for _, tr := range r.Tracks {
		for _, s := range tr.Samples {
			for i := range s.Len() {
				first = min(first, s.Time(i))
			}
		}
	}
	for _, tr := range r.Tracks {
		for _, s := range tr.Samples {
			e := &r.Events[s.Event]
			for i := range s.Len() {
				stack := ""
				for _, c := range r.Calls.Path(nil, s.Call(i)) {
					f, fr := r.Functions.At(int(r.Func(c))), r.Frames.At(int(r.Calls.Frame(c)))
					stack += fmt.Sprintf(" %s@%s:%d:%d", f.Name, f.File, fr.Line, fr.Column)
				}
				lines = append(lines, fmt.Sprintf("%d/%d %s %s %d lasts %d%s", tr.PID, tr.TID, e.Name, e.Label, s.Time(i)-first, s.Value(i, &e.Metrics[1], 1), stack))
			}
		}
	}
	slices.Sort(lines)
	return lines
}

// TestProfilesLikeChrome checks that profiles of V8 give the same samples as in Chrome's
// JSON.
func TestProfilesLikeChrome(t *testing.T) {
	rec, err := decodetest.Bytes(t, chrome.Format.Decode, inJSON(v8Events), 0)
	if err != nil {
		t.Fatal(err)
	}
	want := sampleLines(rec)
	if len(want) != 12 || !strings.Contains(want[0], "1/7") {
		t.Fatalf("JSON has\n%s", strings.Join(want, "\n"))
	}
	for _, asText := range []bool{true, false} {
		for _, ahead := range []int64{0, 7_000_000} {
			trace := inPackets(t, v8Events, asText, ahead)
			rec, err := decodeBytes(t, trace, 0)
			if err != nil {
				t.Fatal(err)
			}
			if got := sampleLines(rec); !slices.Equal(got, want) {
				t.Errorf("as text %v, ahead %d:\n%s\nwant\n%s", asText, ahead, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
			var codes []string
			for _, w := range rec.Warnings {
				codes = append(codes, w.Code)
			}
			if fmt.Sprint(codes) != "[no-node]" {
				t.Errorf("warnings %v", codes)
			}
			for _, tr := range rec.Tracks {
				if tr.TID == 8 && rec.Clock.Origin.Mantissa+tr.Samples[0].Time(0)/1000 != 96_500+ahead {
					t.Errorf("ahead %d: thread 8 begins at %d", ahead, rec.Clock.Origin.Mantissa+tr.Samples[0].Time(0)/1000)
				}
			}
		}
	}
}
