package speedscope

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"ashlar/ingest/format/decode"
	"ashlar/ingest/format/decode/decodetest"
	"ashlar/ingest/input/source"
	"ashlar/ingest/model/recording"
	"ashlar/testdata/samples"
)

var decodeBytes = decodetest.Of(Decode)

// naive is a file as read with encoding/json.
type naive struct {
	Shared struct {
		Frames []struct{ Name, File string }
	}
	Profiles []struct {
		Type, Unit, Name string
		EndValue         json.Number
		Events           []struct {
			Type  string
			Frame int
			At    json.Number
		}
		Samples [][]int
		Weights []json.Number
	}
}

var perUnit = map[string]int64{"seconds": 1e12, "milliseconds": 1e9, "microseconds": 1e6, "nanoseconds": 1e3}

// sums returns self and total of each function of each profile, in picoseconds or the
// profile's unit: "profile/function" to "self total".
func (n *naive) sums(t testing.TB) map[string]string {
	t.Helper()
	self, total := map[string]*big.Rat{}, map[string]*big.Rat{}
	for _, p := range n.Profiles {
		per := big.NewRat(1, 1)
		if u := perUnit[p.Unit]; u != 0 {
			per.SetInt64(u)
		}
		weigh := func(stack []int, w *big.Rat) {
			seen := map[string]bool{}
			for i, f := range stack {
				k := p.Name + "/" + n.Shared.Frames[f].Name + " " + n.Shared.Frames[f].File
				if self[k] == nil {
					self[k], total[k] = new(big.Rat), new(big.Rat)
				}
				if i == len(stack)-1 {
					self[k].Add(self[k], w)
				}
				if !seen[k] {
					total[k].Add(total[k], w)
				}
				seen[k] = true
			}
		}
		number := func(v json.Number) *big.Rat {
			r, ok := new(big.Rat).SetString(v.String())
			if !ok {
				t.Fatalf("%q is no number", v)
			}
			return r.Mul(r, per)
		}
		for i, s := range p.Samples {
			weigh(s, number(p.Weights[i]))
		}
		var stack []int
		var last *big.Rat
		for _, e := range p.Events {
			at := number(e.At)
			if last != nil {
				weigh(stack, new(big.Rat).Sub(at, last))
			}
			last = at
			if e.Type == "O" {
				stack = append(stack, e.Frame)
			} else {
				stack = stack[:len(stack)-1]
			}
		}
	}
	out := map[string]string{}
	for k := range self {
		if total[k].Sign() != 0 {
			out[k] = self[k].RatString() + " " + total[k].RatString()
		}
	}
	return out
}

// sumsOf returns the same sums for a recording, from its spans, samples and stacks.
func sumsOf(r *recording.Recording) map[string]string {
	self, total := map[string]*big.Rat{}, map[string]*big.Rat{}
	weigh := func(t *recording.Track, call recording.CallID, own, all *big.Rat) {
		seen := map[string]bool{}
		for c := call; c != recording.NoCall; c = r.Calls.Parent(c) {
			f := r.Functions.At(int(r.Func(c)))
			k := t.Name + "/" + f.Name + " " + f.File
			if self[k] == nil {
				self[k], total[k] = new(big.Rat), new(big.Rat)
			}
			if c == call {
				self[k].Add(self[k], own)
			}
			if !seen[k] {
				total[k].Add(total[k], all)
			}
			seen[k] = true
		}
	}
	for e, s := range r.Stacks {
		if s == nil {
			continue
		}
		scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(r.Events[e].Metrics[0].Decimals)), nil)
		for i := range s.Len() {
			w := new(big.Rat).SetFrac(big.NewInt(s.Value(i, 0)), scale)
			weigh(r.Tracks[s.Track(i)], s.Call(i), w, w)
		}
	}
	for _, t := range r.Tracks {
		for _, s := range t.Samples {
			for i := range s.Len() {
				w := new(big.Rat).SetInt64(s.Value(i, &r.Events[s.Event].Metrics[0], 0))
				weigh(t, s.Call(i), w, w)
			}
		}
		own := map[recording.CallID]int64{}
		for d := range t.Lanes {
			for k := range t.Lanes[d].Len() {
				l := &t.Lanes[d]
				own[l.Call(k)] += l.End(k) - l.Start(k)
				own[r.Calls.Parent(l.Call(k))] -= l.End(k) - l.Start(k)
			}
		}
		delete(own, recording.NoCall)
		for c, v := range own {
			w := new(big.Rat).SetInt64(v)
			weigh(t, c, w, w)
		}
	}
	out := map[string]string{}
	for k := range self {
		if total[k].Sign() != 0 {
			out[k] = self[k].RatString() + " " + total[k].RatString()
		}
	}
	return out
}

// compare compares the recording of a file with naive, decoded whole and in small chunks.
func compare(t *testing.T, content []byte) {
	t.Helper()
	var n naive
	if err := json.Unmarshal(content, &n); err != nil {
		t.Fatal(err)
	}
	want := n.sums(t)
	for _, chunk := range []int{0, 7, 100} {
		r, err := decodeBytes(t, content, chunk)
		if err != nil {
			t.Fatal(err)
		}
		if got := sumsOf(r); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("in chunks of %d\n got %v\nwant %v", chunk, got, want)
		}
		var events, samples int64
		for _, p := range n.Profiles {
			events += int64(len(p.Events))
			samples += int64(len(p.Samples))
		}
		for _, l := range r.Ledger {
			if want, ok := map[string]int64{"event": events, "sample": samples, "profile": int64(len(n.Profiles)), "frame": int64(len(n.Shared.Frames))}[l.Kind]; ok && l.Kept != want {
				t.Errorf("in chunks of %d: %d of kind %s kept, want %d", chunk, l.Kept, l.Kind, want)
			}
		}
		if len(r.Warnings) > 0 {
			t.Errorf("in chunks of %d: %v", chunk, r.Warnings)
		}
	}
}

func TestSampleFiles(t *testing.T) {
	samples.Need(t)
	for name, content := range samples.Each(t, "speedscope/*") {
		if sure, err := Sniff(content, true); sure != decode.Certain || err != nil {
			t.Errorf("%s: %v %v", name, sure, err)
		}
		compare(t, content)
	}
}

// random returns a file with profiles of both kinds, in all units.
func random(r *rand.Rand, profiles, size int) []byte {
	var frames, all []string
	for i := range 9 {
		frames = append(frames, fmt.Sprintf(`{"name":"f%d","file":"%c.py","line":%d}`, i/2, 'a'+i%2, i))
	}
	for i := range profiles {
		unit := []string{"none", "bytes", "nanoseconds", "microseconds", "milliseconds", "seconds"}[r.IntN(6)]
		digits := r.IntN(4)
		number := func(v int64) string { return fmt.Sprintf("%.*f", digits, float64(v)) }
		var a, b []string
		kind := "sampled"
		first, last := int64(0), int64(0)
		if r.IntN(2) == 0 {
			for range size {
				var stack []string
				for range r.IntN(5) {
					stack = append(stack, fmt.Sprint(r.IntN(9)))
				}
				a = append(a, "["+strings.Join(stack, ",")+"]")
				v := r.Int64N(50)
				last += v
				b = append(b, number(v))
			}
			a = []string{fmt.Sprintf(`"samples":[%s],"weights":[%s]`, strings.Join(a, ","), strings.Join(b, ", "))}
		} else {
			kind = "evented"
			at := r.Int64N(1e6)
			first = at
			var open []int
			event := func(typ string, f int) {
				a = append(a, fmt.Sprintf(`{"type":%q,"frame":%d,"at":%s}`, typ, f, number(at)))
			}
			for range size {
				at += r.Int64N(20)
				if n := len(open); n > 0 && r.IntN(2) == 0 {
					event("C", open[n-1])
					open = open[:n-1]
					continue
				}
				open = append(open, r.IntN(9))
				event("O", open[len(open)-1])
			}
			for n := len(open) - 1; n >= 0; n-- {
				event("C", open[n])
			}
			last = at
			a = []string{`"events":[` + strings.Join(a, ",\n") + "]"}
		}
		all = append(all, fmt.Sprintf(`{"name":"t%d","type":%q,"unit":%q,"startValue":%s,"endValue":%s,%s}`, i, kind, unit, number(first), number(last), a[0]))
	}
	parts := []string{`"shared":{"frames":[` + strings.Join(frames, ",") + `]}`, `"profiles":[` + strings.Join(all, ",") + `]`, `"exporter":"made"`}
	r.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
	return []byte("{" + strings.Join(parts, ",\n") + "}")
}

func TestRandomFiles(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 300 {
		content := random(r, 1+r.IntN(4), 1+r.IntN(30))
		if sure, err := Sniff(content, true); sure < decode.Likely || err != nil {
			t.Fatalf("%v %v of %s", sure, err, content)
		}
		compare(t, content)
		if t.Failed() {
			t.Fatalf("%s", content)
		}
	}
}

// file returns a file with one evented profile in milliseconds.
func file(events string) string {
	return `{"$schema":"https://www.speedscope.app/file-format-schema.json","shared":{"frames":[{"name":"a"},{"name":"b","file":"b.c","line":3,"col":4}]},"profiles":[{"type":"evented","name":"t","unit":"milliseconds","startValue":1700000000000.25,"endValue":1700000000010.25,"events":[` + events + `]}]}`
}

func event(typ string, frame int, at string) string {
	return fmt.Sprintf(`{"type":"%s","frame":%d,"at":%s}`, typ, frame, at)
}

// TestTimes checks that times are exact to the picosecond, however far from 0 they are.
func TestTimes(t *testing.T) {
	r, err := decodeBytes(t, []byte(file(event("O", 0, "1700000000000.25")+","+event("O", 1, "1700000000000.250001")+","+event("C", 1, "1700000000004.250002")+","+event("C", 0, "1.70000000000925e12"))), 0)
	if err != nil || len(r.Warnings) > 0 {
		t.Fatal(err, r.Warnings)
	}
	for d, want := range [][2]int64{{0, 9e9}, {1000, 4_000_002_000}} {
		if l := &r.Tracks[0].Lanes[d]; l.Len() != 1 || l.Start(0) != want[0] || l.End(0) != want[1] {
			t.Errorf("in lane %d %d..%d, want %v", d, l.Start(0), l.End(0), want)
		}
	}
	if r.Start != 0 || r.End != 10e9 || r.Clock.Text(0) != "1700000000000.25" || r.Clock.Unit != "milliseconds" {
		t.Errorf("%d..%d, %+v", r.Start, r.End, r.Clock)
	}
	f := r.Frames.At(1)
	if fn := r.Functions.At(int(f.Func)); fn.Name != "b" || fn.File != "b.c" || f.Line != 3 || f.Column != 4 {
		t.Errorf("%+v %+v", fn, f)
	}
}

// TestSamplesOnTheTimeline checks that samples follow one another and last as long as their
// weights.
func TestSamplesOnTheTimeline(t *testing.T) {
	r, err := decodeBytes(t, []byte(`{"profiles":[{"type":"sampled","name":"t","unit":"seconds","startValue":5,"endValue":8,"samples":[[0],[0,1],[]],"weights":[0.5,1.25,0.1]}],"shared":{"frames":[{"name":"a"},{"name":"b"}]},"name":"all","more":"told","exporter":"me 1"}`), 0)
	if err != nil || len(r.Warnings) > 0 {
		t.Fatal(err, r.Warnings)
	}
	s := r.Tracks[0].Samples[0]
	got := ""
	for i := range s.Len() {
		got += fmt.Sprint(s.Time(i), s.Value(i, &r.Events[0].Metrics[0], 0), r.Calls.Depth(s.Call(i)), " ")
	}
	if want := "0 500000000000 1 500000000000 1250000000000 2 1750000000000 100000000000 0 "; got != want || r.End != 3e12 {
		t.Errorf("samples %s to %d, want %s", got, r.End, want)
	}
	if r.Source.Tool != "me 1" || r.Processes[0].Name != "all" || len(r.Source.Notes) != 1 || r.Source.Notes[0] != (recording.Note{Key: "more", Value: "told"}) {
		t.Errorf("%+v %+v", r.Source, r.Processes)
	}
}

// TestSentences checks the message for a file with one fault per case: the error, or the
// first warning and its place.
func TestSentences(t *testing.T) {
	sampled := func(rest string) string {
		return `{"shared":{"frames":[{"name":"a"}]},"profiles":[{"type":"sampled","name":"t","unit":"none","startValue":0,"endValue":1,` + rest + `}]}`
	}
	o, c := event("O", 0, "1700000000001"), event("C", 0, "1700000000002")
	for _, x := range []struct{ name, content, place, want string }{
		{"nothing", `{"$schema":"https://www.speedscope.app/file-format-schema.json","profiles":[]}`, "", "the file has no evented or sampled profile"},
		{"cut in an event", file(o + "," + c[:9])[:327], "byte 315", "The file is truncated at byte 315; everything before is shown"},
		{"damaged", file(o + "," + c + `,{"type"!`), "byte 364", "The file is damaged at byte 364; everything before is shown"},
		{"no frames", `{"profiles":[{"type":"sampled","name":"t","unit":"none","samples":[[3]],"weights":[1]}]}`, "", "The file has no table of frames; frames are shown by index"},
		{"a frame too far", sampled(`"samples":[[0,5]],"weights":[1]`), "", "A stack refers to frame 5, but the file has only 1 frame; its number is shown"},
		{"another kind", `{"shared":{"frames":[]},"profiles":[{"type":"sampled","samples":[],"weights":[]},{"type":"heap","x":1}]}`, "byte 100", `The member "x" is unknown in speedscope files and was left out`},
		{"no profile", `{"shared":{"frames":[]},"profiles":[7,{"type":"sampled","samples":[],"weights":[]}]}`, "byte 36", "The value at byte 36 is not a profile and was left out"},
		{"an unknown member", sampled(`"samples":[[0]],"weights":[1],"colours":{"a":[1]}`), "byte 159", `The member "colours" is unknown in speedscope files and was left out`},
		{"a bad event", file(o + ",5," + c), "byte 316", "The element before byte 316 is not an event (type O or C, frame and at) and was left out"},
		{"a bad time", file(o + "," + event("C", 0, `"soon"`)), "byte 349", `The number "soon" before byte 349 is invalid or too large; it counts as 0`},
		{"closed but not open", file(c), "byte 154", "Event 0 of the profile at byte 154 closes frame 0, which is not open, and was left out"},
		{"closed across", file(o + "," + event("O", 1, "1700000000001") + "," + c), "byte 154", "Event 2 of the profile at byte 154 closes frame 0 while inner frames are open; they are closed too"},
		{"backward", file(o + "," + event("C", 0, "1700000000000.5")), "byte 154", "Event 1 of the profile at byte 154 is earlier than the previous one; it gets the previous time"},
		{"far away", file(event("O", 0, "1")), "byte 154", "Event 0 of the profile at byte 154 is more than 26 days from the others and was left out"},
		{"a weight too few", sampled(`"samples":[[0],[0]],"weights":[1]`), "byte 48", "The profile at byte 48 has unequal numbers, 2 stacks and 1 weight; the surplus is left out"},
		{"a bad stack", sampled(`"samples":[["x"]],"weights":[1]`), "byte 135", "The element before byte 135 is not a stack (a list of frame indices) and was left out"},
		{"digits that do not fit", sampled(`"samples":[[0],[0]],"weights":[0.1234567890123456,123456]`), "byte 48", "Weights of the profile at byte 48 have too many digits and were rounded"},
		{"a sum that does not fit", sampled(`"samples":[[0],[0]],"weights":[9000000000000000000,9000000000000000000]`), "", `the total of metric "weight" exceeds 2^63 of its smallest unit (for times, 106 days); sums are limited to that`},
		{"a weight that does not fit", sampled(`"samples":[[0],[0]],"weights":[1e19,5]`), "byte 154", "The weight 1e19 before byte 154 is beyond ±(2^63 − 1) and was limited"},
		{"samples beyond the end", `{"shared":{"frames":[{"name":"a"}]},"profiles":[{"type":"sampled","name":"t","unit":"milliseconds","startValue":2,"endValue":7,"samples":[[0],[0]],"weights":[5,20.5]}]}`, "byte 48", "The profile at byte 48 has a stated length of 5 ms, but data up to 25.5 ms"},
		{"events beyond the end", `{"shared":{"frames":[{"name":"a"}]},"profiles":[{"type":"evented","name":"t","unit":"milliseconds","startValue":0,"endValue":1,"events":[{"type":"O","frame":0,"at":0},{"type":"C","frame":0,"at":3}]}]}`, "byte 48", "The profile at byte 48 has a stated length of 1 ms, but data up to 3 ms"},
		{"open at the end", `{"shared":{"frames":[{"name":"a"}]},"profiles":[{"type":"evented","unit":"none","startValue":0,"endValue":4,"events":[{"type":"O","frame":0,"at":1}]}]}`, "byte 48", "The profile at byte 48 ends with 1 frame open, closed at its end"},
	} {
		r, err := decodeBytes(t, []byte(x.content), 0)
		decodetest.Sentence(t, x.name, r, err, x.place, x.want)
	}
}

func TestSniff(t *testing.T) {
	decodetest.Sniffs(t, Sniff, false, map[string]decode.Confidence{
		"": decode.No, "[]": decode.No, "{}": decode.No, `{"traceEvents":[]}`: decode.No, `{"profiles":[]}`: decode.No,
		`{"threads":[],"meta":{}}`: decode.No,
		`{"$schema":"https://www.speedscope.app/file-format-schema.json"}`:        decode.Certain,
		` {"profiles":[{"unit":"none","type":"sampled","samples":[[0,1`:           decode.Certain,
		`{"exporter":"x","shared":{"frames":[{"name":"a"},{"name":"b"},{"name":"`: decode.Likely,
	})
}

func FuzzDecode(f *testing.F) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 4 {
		f.Add(random(r, 2, 6), 11)
	}
	f.Add([]byte(file(event("C", 0, "1e3")+event("O", 7, "-1.5"))), 3)
	decodetest.FuzzParts(f, Decode, Sniff, sumsOf)
}

func BenchmarkDecode(b *testing.B) {
	content := random(rand.New(rand.NewPCG(3, 4)), 4, 100_000)
	b.SetBytes(int64(len(content)))
	b.ReportAllocs()
	for range b.N {
		in := source.FromBytes("x", bytes.Clone(content))
		if err := Decode(context.Background(), in, recording.NewBuilder(), decode.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
