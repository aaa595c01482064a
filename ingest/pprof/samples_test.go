package pprof

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"ashlar/ingest/recording"
)

// dump is all that a recording has, as text.
func dump(r *recording.Recording) string {
	var s strings.Builder
	fmt.Fprintf(&s, "%+v %+v %+v %+v\n%+v\n%+v\n", r.Events, r.Counts, r.Warnings, r.Clock, r.Ledger, r.Processes)
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
			fmt.Fprint(&s, st.Track(i), r.Contexts.At(int(st.Context(i))))
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
	return s.String()
}

// convertWith is what becomes of a profile with its samples read one way.
func convertWith(t *testing.T, p *profile.Profile, s *samples) string {
	t.Helper()
	b := recording.NewBuilder()
	c := &converter{b: b, p: p, samples: s}
	if err := c.convert(context.Background()); err != nil {
		t.Fatal(err)
	}
	return dump(b.Finish())
}

// Samples read apart are the same as the library's.
func TestApartAsTheLibrary(t *testing.T) {
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
		}
	}
	contents["labels"] = bytesOf(t, p)
	for i, s := range p.Sample {
		if i%4 > 0 {
			s.NumLabel = map[string][]int64{"timestamp": {int64(1000 - i)}, "pid": {7}, "tid": {int64(i % 2)}}
			s.NumUnit = map[string][]string{"timestamp": {"us"}}
		}
	}
	contents["timed"] = bytesOf(t, p)
	if dir := os.Getenv("ASHLAR_SAMPLES"); dir != "" {
		filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
			if err == nil && (strings.HasSuffix(path, ".pb.gz") || strings.HasSuffix(path, ".pprof") || strings.HasSuffix(path, ".pb")) {
				if b, err := unpacked(path); err == nil && len(b) < 8<<20 {
					contents[path] = b
				}
			}
			return nil
		})
	}
	apart := 0
	for name, content := range contents {
		want, err := guarded(func() (*profile.Profile, error) { return profile.ParseUncompressed(content) })
		if err != nil || legacy(content) {
			continue
		}
		got, s, ok := parseApart(content)
		if !ok {
			if want.DropFrames == "" {
				t.Errorf("%s: cannot be read apart", name)
			}
			continue
		}
		apart++
		if len(want.Sample) != s.count {
			t.Errorf("%s: %d samples, not %d", name, s.count, len(want.Sample))
		}
		if a, b := convertWith(t, got, s), convertWith(t, want, &samples{all: want.Sample}); a != b {
			t.Errorf("%s: differs\n%.2000s\n%.2000s", name, a, b)
		}
	}
	if apart < 3 {
		t.Errorf("only %d were read apart", apart)
	}
}

// Whatever the bytes, reading apart gives what the library gives, or nothing.
func FuzzApart(f *testing.F) {
	fn := &profile.Function{ID: 1, Name: "f"}
	a, b := &profile.Location{ID: 1, Line: []profile.Line{{Function: fn, Line: 3}}}, &profile.Location{ID: 9, Address: 16}
	f.Add(bytesOf(f, &profile.Profile{
		SampleType: []*profile.ValueType{{Type: "cpu", Unit: "ns"}},
		Function:   []*profile.Function{fn}, Location: []*profile.Location{a, b},
		Sample: []*profile.Sample{
			{Location: []*profile.Location{a, b}, Value: []int64{1}, Label: map[string][]string{"k": {"v", "w"}}},
			{Location: []*profile.Location{b, b, a}, Value: []int64{-2}, NumLabel: map[string][]int64{"tid": {1, 2}}, NumUnit: map[string][]string{"tid": {"", "s"}}},
			{Value: []int64{3}, NumLabel: map[string][]int64{"time_ns": {5}}},
		},
	}))
	f.Fuzz(func(t *testing.T, content []byte) {
		got, s, ok := parseApart(content)
		if !ok || legacy(content) {
			return
		}
		want, err := guarded(func() (*profile.Profile, error) { return profile.ParseUncompressed(content) })
		if err != nil {
			t.Fatalf("the library refuses it: %v", err)
		}
		if a, b := convertWith(t, got, s), convertWith(t, want, &samples{all: want.Sample}); a != b {
			t.Errorf("differs\n%s\n%s", a, b)
		}
	})
}

func bytesOf(t testing.TB, p *profile.Profile) []byte {
	var b bytes.Buffer
	if err := p.WriteUncompressed(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func unpacked(path string) ([]byte, error) {
	b, err := os.ReadFile(path)
	if err != nil || !bytes.HasPrefix(b, []byte{0x1f, 0x8b}) {
		return b, err
	}
	r, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}
