package chrome

import (
	"strings"
	"testing"

	"ashlar/ingest/format/decode"
	"ashlar/ingest/input/source"
	"ashlar/ingest/model/recording"
)

// TestProfileTree reads the .cpuprofile form that V8 wrote until 2016: with timestamps,
// without them, and without samples.
func TestProfileTree(t *testing.T) {
	const head = `{"head":{"functionName":"(root)","scriptId":"0","url":"","lineNumber":0,"columnNumber":0,"hitCount":0,"callUID":1,"children":[
		{"functionName":"f","scriptId":"5","url":"file:///a.js","lineNumber":10,"columnNumber":5,"hitCount":3,"callUID":2,"children":[
			{"functionName":"g","scriptId":"5","url":"file:///a.js","lineNumber":20,"columnNumber":1,"hitCount":2,"callUID":3,"children":[],"deoptReason":"","id":3}],"id":2}],"id":1},"startTime":100,"endTime":100.00004`
	for name, c := range map[string]struct{ more, want string }{
		"timestamps": {`,"samples":[2,3,3],"timestamps":[100000010,100000020,100000025]}`, "cpu-profile 0/0 @100000010 f 10000\ncpu-profile 0/0 @100000020 f;g 5000\ncpu-profile 0/0 @100000025 f;g 15000"},
		"none":       {`,"samples":[2,3,3,2]}`, "cpu-profile 0/0 @100000000 f 10000\ncpu-profile 0/0 @100000010 f;g 10000\ncpu-profile 0/0 @100000020 f;g 10000\ncpu-profile 0/0 @100000030 f 10000"},
		"hits":       {`}`, ""},
	} {
		text := head + c.more
		if sure, err := sniffProfile([]byte(text), true); sure < decode.Likely || err != nil {
			t.Errorf("%s is not recognised: %v %v", name, sure, err)
		}
		b := recording.NewBuilder()
		if err := Profiles.Decode(t.Context(), source.FromBytes("a.cpuprofile", []byte(text)), b, decode.Options{}); err != nil {
			t.Fatal(err)
		}
		rec := b.Finish()
		if got := samplesText(rec); got != c.want {
			t.Errorf("%s: samples\n%s\nwant\n%s", name, got, c.want)
		}
		if name == "hits" && (rec.Stacks[0].Len() != 2 || rec.Events[0].Metrics[0].Total != 5) {
			t.Errorf("%d stacks, total %d", rec.Stacks[0].Len(), rec.Events[0].Metrics[0].Total)
		}
		for i := range rec.Frames.Len() {
			if f := rec.Frames.At(i); rec.Functions.At(int(f.Func)).Name == "g" && (f.Line != 20 || f.Column != 1) {
				t.Errorf("%s: g is at %d:%d", name, f.Line, f.Column)
			}
		}
	}
	b := recording.NewBuilder()
	err := Profiles.Decode(t.Context(), source.FromBytes("a.cpuprofile", []byte(head)), b, decode.Options{})
	if err == nil || !strings.Contains(err.Error(), "truncated or damaged") {
		t.Errorf("a cut tree: %v", err)
	}
}
