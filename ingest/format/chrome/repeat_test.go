package chrome

import (
	"strings"
	"testing"

	"ashlar/ingest/model/recording"
)

// TestAsyncInBothForms reads an operation that is written with b and e and with S and F.
func TestAsyncInBothForms(t *testing.T) {
	event := func(ph, name, id string, ts string) string {
		return `{"cat":"io","name":"` + name + `","ts":` + ts + `,"pid":2,"tid":2,"ph":"` + ph + `","id":"` + id + `"}`
	}
	b, e, S, F := event("b", "Read", "5", "1"), event("e", "Read", "5", "4"), event("S", "Read", "5", "1"), event("F", "Read", "5", "4")
	for _, c := range []struct {
		events []string
		spans  int
		codes  string
	}{
		{[]string{b, S, e, F}, 1, "async-repeated:1"},
		{[]string{S, b, F, e}, 1, "async-repeated:1"},
		{[]string{b, e, S, F}, 1, "async-repeated:1"},
		{[]string{S, F, b, e}, 1, "async-repeated:1"},
		{[]string{F, S, b, e}, 1, "async-repeated:1"}, // the end comes first
		{[]string{b, e, S, F, b, e, S, F}, 2, "async-repeated:2"},
		{[]string{b, e, b, e}, 2, ""}, // one form
		{[]string{b, e, event("S", "Read", "6", "1"), event("F", "Read", "6", "4")}, 2, ""},
		{[]string{b, e, event("S", "Write", "5", "1"), event("F", "Write", "5", "4")}, 2, ""},
		{[]string{b, e, event("S", "Read", "5", "1"), event("F", "Read", "5", "3.999")}, 2, ""},
	} {
		r := readText(t, "["+strings.Join(c.events, ",")+"]")
		balanced(t, r)
		if got := codes(r); r.Counts.Spans != int64(c.spans) || got != c.codes {
			t.Errorf("%s: %d spans, %s; want %d, %s", c.events, r.Counts.Spans, got, c.spans, c.codes)
		}
	}
}

// TestSamplesInBothForms reads samples that are P events and top-level samples. Only equal
// ones are the same.
func TestSamplesInBothForms(t *testing.T) {
	checkSamples(t, `{"traceEvents":[
	{"ph":"P","name":"cycles","pid":1,"tid":7,"ts":1,"sf":1},
	{"ph":"P","name":"cycles","pid":1,"tid":7,"ts":2,"sf":2},
	{"ph":"P","name":"cycles","pid":1,"tid":7,"ts":3,"sf":2},
	{"ph":"P","name":"cycles","pid":1,"tid":7,"ts":4,"sf":2,"weight":3}],
	"stackFrames":{"1":{"name":"a"},"2":{"name":"b","parent":1},"3":{"name":"a"}},
	"samples":[{"cpu":0,"tid":7,"ts":1,"name":"cycles","sf":3,"weight":2},{"tid":7,"ts":2,"sf":2},{"tid":7,"ts":2,"sf":2},
		{"tid":7,"ts":3,"name":"faults","sf":2},{"tid":7,"ts":4,"name":"cycles","sf":2,"weight":4}]}`, `
	cycles 1/7 @1 a 2
	cycles 1/7 @2 a;b -
	cycles 1/7 @3 a;b -
	cycles 1/7 @4 a;b 3
	cycles 1/7 @4 a;b 4
	samples 1/7 @2 a;b -
	faults 1/7 @3 a;b -`, "sample-repeated:2")
}

const (
	profileStart = `{"ph":"P","name":"Profile","id":"0x1","pid":1,"tid":7,"ts":100,"args":{"data":{"startTime":90}}}`
	profileChunk = `{"ph":"P","name":"ProfileChunk","id":"0x1","pid":1,"tid":7,"ts":140,"args":{"data":{"cpuProfile":{` + profileNodes + `,"samples":[2,2,3]},"timeDeltas":[10,5,5]}}}`
	profileNodes = `"nodes":[{"id":1,"callFrame":{"functionName":"(root)"}},{"id":2,"parent":1,"callFrame":{"functionName":"f"}},{"id":3,"parent":2,"callFrame":{"functionName":"g"}}]`
	profileText  = `
	cpu-profile 1/7 @100 f 5000
	cpu-profile 1/7 @105 f 5000
	cpu-profile 1/7 @110 f;g 0`
)

// TestRepeatedChunks reads a profile with chunks and beginnings that the file has twice.
func TestRepeatedChunks(t *testing.T) {
	for _, c := range []struct{ in, codes string }{
		{profileStart + "," + profileChunk, ""},
		{profileStart + "," + profileChunk + "," + profileChunk, "profile-repeated:1"},
		{profileStart + "," + profileChunk + "," + profileStart + "," + profileChunk, "profile-repeated:2"},
	} {
		checkSamples(t, "["+c.in+"]", profileText, c.codes)
	}
	// The same samples at another time are others.
	checkSamples(t, "["+profileStart+","+profileChunk+","+strings.Replace(profileChunk, `"ts":140`, `"ts":160`, 1)+"]", `
	cpu-profile 1/7 @100 f 5000
	cpu-profile 1/7 @105 f 5000
	cpu-profile 1/7 @110 f;g 10000
	cpu-profile 1/7 @120 f 5000
	cpu-profile 1/7 @125 f 5000
	cpu-profile 1/7 @130 f;g 0`, "")
}

// TestWholeProfileBesideChunks reads a profile that one CpuProfile event holds, as older
// DevTools write it, beside its chunks.
func TestWholeProfileBesideChunks(t *testing.T) {
	whole := func(thread, start, samples, deltas string) string {
		return `{"ph":"I","name":"CpuProfile","id":"0x1","pid":1,"tid":` + thread + `,"ts":150,"args":{"data":{"cpuProfile":{` + profileNodes + `,"startTime":` + start + `,"endTime":130,"samples":[` + samples + `],"timeDeltas":[` + deltas + `]}}}}`
	}
	all := whole("7", "90", "2,2,3", "10,5,5")
	chunks := profileStart + "," + profileChunk
	for _, in := range []string{chunks + "," + all, all + "," + chunks, chunks + "," + all + "," + all} {
		want := "sample-repeated:3"
		if strings.Count(in, "CpuProfile") > 1 {
			want = "sample-repeated:6"
		}
		rec := checkSamples(t, "["+in+"]", profileText, want)
		for _, l := range rec.Ledger {
			if l.Kind == "profile samples" && (l.Kept != 3 || l.Read != l.Kept+l.LeftOut) {
				t.Errorf("%+v", l)
			}
		}
	}
	// Samples of other times and stacks, and of other threads, are kept.
	checkSamples(t, "["+chunks+","+whole("7", "90", "2,3,3,2", "10,5,5,5")+"]", `
	cpu-profile 1/7 @100 f 5000
	cpu-profile 1/7 @105 f 5000
	cpu-profile 1/7 @105 f;g 5000
	cpu-profile 1/7 @110 f;g 0
	cpu-profile 1/7 @115 f 15000`, "sample-repeated:2")
	checkSamples(t, "["+chunks+","+whole("8", "90", "2", "10")+"]", profileText+`
	cpu-profile 1/8 @100 f 30000`, "")
	// Without chunks, the whole profile is used; if it is there twice, it counts once.
	checkSamples(t, "["+all+","+all+"]", strings.Replace(profileText, "g 0", "g 20000", 1), "sample-repeated:3")
}

// TestAsyncRepeatsKeepTrack checks that an operation in both forms has one track.
func TestAsyncRepeatsKeepTrack(t *testing.T) {
	r := readText(t, `[{"ph":"b","cat":"c","id":1,"name":"a","ts":1,"pid":1},{"ph":"S","cat":"c","id":1,"name":"a","ts":1,"pid":1},{"ph":"F","cat":"c","id":1,"name":"a","ts":9,"pid":1},{"ph":"e","cat":"c","id":1,"name":"a","ts":9,"pid":1}]`)
	if len(r.Tracks) != 1 || r.Tracks[0].Kind != recording.AsyncTrack {
		t.Errorf("%d tracks", len(r.Tracks))
	}
	if k := kept(r, "e") + kept(r, "b") + kept(r, "S") + kept(r, "F"); k != 2 {
		t.Errorf("%d events kept, want 2", k)
	}
}
