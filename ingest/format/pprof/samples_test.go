package pprof

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	rtpprof "runtime/pprof"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"ashlar/ingest/format/decode/decodetest"
	"ashlar/ingest/model/funcname"
	"ashlar/ingest/model/recording"
	"ashlar/testdata/rounds"
	recordings "ashlar/testdata/samples"
)

// dump writes all contents of a recording: its description, and its samples.
func dump(r *recording.Recording) (head, body string) {
	head = fmt.Sprintf("%+v %+v %+v %+v\n%+v\n%+v\n", r.Events, r.Counts, r.Warnings, r.Clock, r.Ledger, r.Processes)
	var s strings.Builder
	var path []recording.CallID
	stack := func(c recording.CallID) {
		path = r.Calls.Path(path[:0], c)
		for _, c := range path {
			f := r.Frames.At(int(r.Calls.Frame(c)))
			fmt.Fprintf(&s, " %s:%d:%x", r.FuncName(c), f.Line, f.Addr)
		}
		s.WriteByte('\n')
	}
	for _, st := range r.Stacks {
		if st == nil {
			continue
		}
		for i := range st.Len() {
			fmt.Fprint(&s, st.Call(i), st.Track(i), r.Contexts.At(int(st.Context(i))))
			for m := range r.Events[0].Metrics {
				fmt.Fprint(&s, " ", st.Value(i, m))
			}
			stack(st.Call(i))
		}
	}
	for _, t := range r.Tracks {
		fmt.Fprintln(&s, t.PID, t.TID, t.Name)
		for _, sm := range t.Samples {
			for i := range sm.Len() {
				fmt.Fprint(&s, sm.Time(i))
				for m := range r.Events[0].Metrics {
					fmt.Fprint(&s, " ", sm.Value(i, &r.Events[0].Metrics[m], m))
				}
				stack(sm.Call(i))
			}
		}
	}
	return head, s.String()
}

// judge compares the recording of a profile with one made from the samples that pprof's
// library reads. It returns false if the library rejects the profile, which this package
// may still read in part.
func judge(t testing.TB, name string, content []byte) bool {
	t.Helper()
	got, err := decodeBytes(t, content)
	if legacy(content) {
		return false
	}
	b := recording.NewBuilder()
	p, refused := guarded(func() (*profile.Profile, error) { return profile.ParseUncompressed(giveIDs(content, b)) })
	if refused != nil || len(p.SampleType) == 0 {
		return false
	}
	if err != nil {
		t.Errorf("%s: %v, where the library takes it", name, err)
		return true
	}
	dropped := p.DropFrames != "" && p.RemoveUninteresting() == nil
	if dropped {
		p.DropFrames = ""
	}
	if err := Convert(context.Background(), p, b); err != nil {
		t.Fatal(err)
	}
	gotHead, gotBody := dump(got)
	wantHead, wantBody := dump(b.Finish())
	if gotHead != wantHead && !dropped || gotBody != wantBody {
		t.Errorf("%s: differs\n%.2000s%.2000s\nwant\n%.2000s%.2000s", name, gotHead, gotBody, wantHead, wantBody)
	}
	return true
}

// TestAsTheLibrary checks that samples are read like pprof's library reads them.
func TestAsTheLibrary(t *testing.T) {
	rounds.Unraced(t)
	contents := map[string][]byte{}
	p := synthetic(500)
	contents["synthetic"] = bytesOf(t, p)
	for i, s := range p.Sample {
		switch i % 5 {
		case 0:
			s.Label = map[string][]string{"a": {"x", "y"}, "thread": {"t"}}
			s.NumLabel = map[string][]int64{"bytes": {int64(i), 0, 7}, "tid": {int64(i % 3)}}
			s.NumUnit = map[string][]string{"bytes": {"kB", "", "B"}}
		case 1:
			s.NumLabel = map[string][]int64{"n": {-1}}
			s.Value = []int64{-5, 1 << 62}
		case 2:
			s.Location = nil
		case 3:
			s.Location = append(p.Sample[i-3].Location[:1:1], p.Sample[i-3].Location...)
		}
	}
	contents["labels"] = bytesOf(t, p)
	p.DropFrames, p.KeepFrames = `pkg1.\.\(\*Type.*|pkg0.*`, `.*Method7`
	for i, l := range p.Location {
		if i%3 == 0 {
			l.Line = append(l.Line, p.Location[(i*7+5)%len(p.Location)].Line...)
		}
	}
	contents["dropped"] = bytesOf(t, p)
	for i, s := range p.Sample {
		if i%4 > 0 {
			s.NumLabel = map[string][]int64{"timestamp": {int64(1000 - i)}, "pid": {7}, "tid": {int64(i % 2)}}
			s.NumUnit = map[string][]string{"timestamp": {"us"}}
		}
	}
	p.DropFrames = ""
	contents["timed"] = bytesOf(t, p)
	contents["wire"] = unnumbered([]int{5, 6, 7}, [][]int{{5, 6}, {7}, {6, 5}})
	for name, content := range recordings.Each(t, "*/*.pb.gz", "*/*.pprof") {
		contents[name] = recordings.Unpack(t, content)
	}
	judged := 0
	for name, content := range contents {
		if judge(t, name, content) {
			judged++
		}
	}
	if judged < 5 {
		t.Errorf("only %d were held against the library", judged)
	}
}

// eachKind returns a profile with samples of every kind.
func eachKind(t testing.TB) []byte {
	fn := &profile.Function{ID: 1, Name: "f"}
	a, b := &profile.Location{ID: 1, Line: []profile.Line{{Function: fn, Line: 3}}}, &profile.Location{ID: 9, Address: 16}
	return bytesOf(t, &profile.Profile{
		SampleType: []*profile.ValueType{{Type: "cpu", Unit: "ns"}},
		Function:   []*profile.Function{fn}, Location: []*profile.Location{a, b},
		Sample: []*profile.Sample{
			{Location: []*profile.Location{a, b}, Value: []int64{1}, Label: map[string][]string{"k": {"v", "w"}}},
			{Location: []*profile.Location{b, b, a}, Value: []int64{-2}, NumLabel: map[string][]int64{"tid": {1, 2}}, NumUnit: map[string][]string{"tid": {"", "s"}}},
			{Value: []int64{3}, NumLabel: map[string][]int64{"time_ns": {5}}},
		},
	})
}

// FuzzAsTheLibrary checks that any bytes the library accepts are read like it reads them.
func FuzzAsTheLibrary(f *testing.F) {
	f.Add(eachKind(f))
	f.Add(bytesOf(f, example()))
	f.Fuzz(func(t *testing.T, content []byte) {
		if len(content) < 1<<16 {
			judge(t, "it", content)
		}
	})
}

// TestMutatedAsTheLibrary does the same for profiles with random changes.
func TestMutatedAsTheLibrary(t *testing.T) {
	rounds.Unraced(t)
	rng := rand.New(rand.NewPCG(8, 15))
	taken := 0
	for _, good := range [][]byte{eachKind(t), bytesOf(t, example())} {
		for range 4000 {
			content := bytes.Clone(good)
			for range 1 + rng.IntN(3) {
				i := rng.IntN(len(content))
				switch rng.IntN(4) {
				case 0:
					content[i] ^= 1 << rng.IntN(8)
				case 1:
					content[i] = byte(rng.IntN(256))
				case 2:
					content = append(content[:i], content[i+1:]...)
				case 3:
					content = append(content[:i], append([]byte{byte(rng.IntN(256))}, content[i:]...)...)
				}
			}
			if judge(t, fmt.Sprintf("%x", content), content) {
				taken++
			}
		}
	}
	if taken < 500 {
		t.Errorf("the library took only %d", taken)
	}
}

// TestDamagedSamples checks that only the unreadable samples are left out.
func TestDamagedSamples(t *testing.T) {
	for _, c := range []struct {
		name           string
		sample         []byte
		place, warning string
		total          int64
	}{
		{"values of another type", []byte{0x12, 5, 0x0a, 1, 10, 0x15, 0}, "byte 0", "Field 2 of the profile at byte 0 is damaged and left out", 95},
		{"no message", []byte{0x10, 5}, "byte 0", "Field 2 of the profile at byte 0 is damaged and left out", 95},
		{"a label of no text", []byte{0x12, 13, 0x0a, 1, 10, 0x12, 2, 1, 5, 0x1a, 4, 8, 1, 16, 0x7f}, "sample 1", "Labels of sample 1 refer to missing texts; it is shown without them", 100},
	} {
		r, err := decodeBytes(t, append(c.sample, raw(t, example())...))
		decodetest.Sentence(t, c.name, r, err, c.place, c.warning)
		if got := r.Events[0].Metrics[1].Total; got != c.total {
			t.Errorf("%s: total %d, want %d", c.name, got, c.total)
		}
	}
}

func bytesOf(t testing.TB, p *profile.Profile) []byte {
	var b bytes.Buffer
	if err := p.WriteUncompressed(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestNamesInComments checks that Go's text profiles (debug=1), which name functions in
// comments, give the same names as the same profile in protobuf.
func TestNamesInComments(t *testing.T) {
	var text, binary bytes.Buffer
	done := make(chan bool)
	ready := make(chan bool)
	go func() { waitInHere(ready, done) }()
	<-ready
	p := rtpprof.Lookup("goroutine")
	for debug, w := range []*bytes.Buffer{&binary, &text} {
		if err := p.WriteTo(w, debug); err != nil {
			t.Fatal(err)
		}
	}
	close(done)
	names := func(b []byte) map[string]bool {
		r, err := decodeBytes(t, b)
		if err != nil {
			t.Fatal(err)
		}
		m := map[string]bool{}
		for i := range r.Functions.Len() {
			f := r.Functions.At(i)
			m[f.Name] = m[f.Name] || !f.Unresolved && f.File != ""
		}
		return m
	}
	gz, err := gzip.NewReader(&binary)
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(gz)
	if err != nil {
		t.Fatal(err)
	}
	want, got := names(content), names(text.Bytes())
	n := 0
	for name, resolved := range got {
		if resolved {
			n++
			if !want[name] {
				t.Errorf("%s is not in the profile", name)
			}
		}
	}
	if n < 5 || !got["ashlar/ingest/format/pprof.waitInHere"] {
		t.Errorf("of %v only %v", want, got)
	}

	// A frame without an address cannot be looked up.
	r, err := decodeBytes(t, []byte("threadcreate profile: total 4\n4 @ 0x0 0x0\n#\t0x0\n\n"))
	if err != nil || r.Functions.Len() != 1 || r.Functions.At(0).Name != funcname.Unknown {
		t.Errorf("%v %v", err, r)
	}
}

//go:noinline
func waitInHere(ready, done chan bool) { ready <- true; <-done }

// TestLargeValues checks that values that exceed 64 bits together are all kept.
func TestLargeValues(t *testing.T) {
	for _, values := range [][]int64{{1 << 62, 1 << 62, 3}, {3, 1 << 62, 1 << 62}, {-5e18, -5e18, 1}, {math.MinInt64, -1, 0}} {
		p := &profile.Profile{SampleType: []*profile.ValueType{{Type: "alloc_space", Unit: "bytes"}}}
		for i, v := range values {
			f := &profile.Function{ID: uint64(i + 1), Name: string(rune('a' + i))}
			l := &profile.Location{ID: f.ID, Line: []profile.Line{{Function: f}}}
			p.Function, p.Location = append(p.Function, f), append(p.Location, l)
			p.Sample = append(p.Sample, &profile.Sample{Location: []*profile.Location{l}, Value: []int64{v}})
		}
		r, err := decodeBytes(t, raw(t, p))
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range values {
			if got := r.Stacks[0].Value(i, 0); got != max(want, -math.MaxInt64) {
				t.Errorf("%v: value %d is %d", values, i, got)
			}
		}
		if !r.Events[0].Metrics[0].Saturated() {
			t.Errorf("%v: total %d is not saturated", values, r.Events[0].Metrics[0].Total)
		}
	}
}
