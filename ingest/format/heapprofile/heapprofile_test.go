package heapprofile

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"ashlar/ingest/format/decode"
	"ashlar/ingest/format/decode/decodetest"
	"ashlar/ingest/model/recording"
	"ashlar/testdata/samples"
)

var decodeBytes = decodetest.Of(Decode)

// naive is a tree as read with encoding/json.
type naive struct {
	CallFrame struct {
		FunctionName, URL string
		LineNumber        int
		ColumnNumber      int
	}
	SelfSize int64
	Children []naive
}

func (n *naive) sums(path string, outermost bool, sums map[string]int64) {
	if !outermost || n.CallFrame.FunctionName != "(root)" {
		path += fmt.Sprintf(";%s %s:%d", n.CallFrame.FunctionName, n.CallFrame.URL, n.CallFrame.LineNumber+1)
	}
	if n.SelfSize > 0 {
		sums[path] += n.SelfSize
	}
	for i := range n.Children {
		n.Children[i].sums(path, false, sums)
	}
}

func sumsOf(r *recording.Recording) map[string]int64 {
	sums := map[string]int64{}
	for _, s := range r.Stacks {
		if s == nil {
			continue
		}
		for i := range s.Len() {
			path := ""
			for c := s.Call(i); c != recording.NoCall; c = r.Calls.Parent(c) {
				f := r.Frames.At(int(r.Calls.Frame(c)))
				fn := r.Functions.At(int(f.Func))
				name := fn.Name
				if strings.HasPrefix(name, "(anonymous)") {
					name = ""
				}
				path = fmt.Sprintf(";%s %s:%d", name, fn.Module, f.Line) + path
			}
			sums[path] += s.Value(i, 0)
		}
	}
	return sums
}

func compare(t *testing.T, content []byte) {
	t.Helper()
	var n struct{ Head naive }
	if err := json.Unmarshal(content, &n); err != nil {
		t.Fatal(err)
	}
	want := map[string]int64{}
	n.Head.sums("", true, want)
	for _, chunk := range []int{0, 7, 100} {
		r, err := decodeBytes(t, content, chunk)
		if err != nil || len(r.Warnings) > 0 {
			t.Fatal(err, r.Warnings)
		}
		if got := sumsOf(r); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("in chunks of %d\n got %v\nwant %v", chunk, got, want)
		}
	}
}

func TestSampleFiles(t *testing.T) {
	samples.Need(t)
	for name, content := range samples.Each(t, "chrome-devtools/*.heapprofile") {
		if sure, err := Sniff(content, true); sure != decode.Certain || err != nil {
			t.Errorf("%s: %v %v", name, sure, err)
		}
		compare(t, content)
	}
}

func random(r *rand.Rand, depth int) string {
	var children []string
	for range r.IntN(4) {
		if depth > 0 {
			children = append(children, random(r, depth-1))
		}
	}
	return fmt.Sprintf(`{"callFrame":{"functionName":"%s","scriptId":"1","url":"%s","lineNumber":%d,"columnNumber":3},"selfSize":%d,"id":%d,"children":[%s]}`,
		[]string{"a", "b", ""}[r.IntN(3)], []string{"x.js", ""}[r.IntN(2)], r.IntN(3)-1, r.IntN(3)*1000, r.IntN(99), strings.Join(children, ","))
}

func TestRandomFiles(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 100 {
		compare(t, fmt.Appendf(nil, `{"head":{"callFrame":{"functionName":"(root)"},"selfSize":%d,"children":[%s]},"samples":[{"size":1,"nodeId":3,"ordinal":2}]}`, r.IntN(2), random(r, 5)))
	}
}

// TestDeep reads a tree nested deeper than encoding/json accepts.
func TestDeep(t *testing.T) {
	const n = 20_000
	text := `{"head":` + strings.Repeat(`{"children":[`, n) + `{"callFrame":{"functionName":"f"},"selfSize":7}` + strings.Repeat(`],"callFrame":{"functionName":"g"},"selfSize":0}`, n) + "}"
	r, err := decodeBytes(t, []byte(text), 0)
	if err != nil || r.Events[0].Metrics[0].Total != 7 || r.Calls.Depth(r.Stacks[0].Call(0)) != n+1 {
		t.Error(err, r.Events, r.Calls.Len())
	}
}

func TestSentences(t *testing.T) {
	const frame = `"callFrame":{"functionName":"f"}`
	for _, x := range []struct{ name, content, place, want string }{
		{"nothing", `{"head":7}`, "", "the heap profile has no calls"},
		{"cut", `{"head":{` + frame + `,"selfSize":5,"children":[{` + frame + `,"selfSi`, "byte 101", "The file is truncated at byte 101; everything before is shown"},
		{"damaged", `{"head":{` + frame + `,"selfSize":5,"children":[{` + frame + `!`, "byte 100", "The file is damaged at byte 100; everything before is shown"},
		{"no call", `{"head":{` + frame + `,"selfSize":5,"children":[9]}}`, "byte 67", "The value at byte 67 is not a call and was left out"},
		{"no function", `{"head":{"selfSize":5}}`, "byte 9", "The call at byte 9 has no function; it counts for its caller"},
		{"no size", `{"head":{` + frame + `,"selfSize":"much"}}`, "byte 9", "The call at byte 9 has no valid size; it counts as 0"},
	} {
		r, err := decodeBytes(t, []byte(x.content), 0)
		decodetest.Sentence(t, x.name, r, err, x.place, x.want)
	}
}

func FuzzDecode(f *testing.F) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 3 {
		f.Add([]byte(`{"head":`+random(r, 3)+"}"), 9)
	}
	decodetest.FuzzParts(f, Decode, Sniff, sumsOf)
}
