package pprof

import (
	"bytes"
	"context"
	"fmt"
	"reflect"
	"sort"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"ashlar/ingest/format/decode"
	"ashlar/ingest/format/decode/decodetest"
	"ashlar/ingest/input/source"
	"ashlar/ingest/model/recording"
)

func decodeBytes(t testing.TB, content []byte) (*recording.Recording, error) {
	t.Helper()
	return decodetest.Bytes(t, Decode, content, 0)
}

// raw encodes a profile without compression.
func raw(t testing.TB, p *profile.Profile) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := p.WriteUncompressed(&out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// example returns a small profile with inlined lines, labels, an address without a name,
// and one name in two binaries.
func example() *profile.Profile {
	app := &profile.Mapping{ID: 1, Start: 0x400000, Limit: 0x500000, File: "/usr/bin/app", BuildID: "abc"}
	lib := &profile.Mapping{ID: 2, Start: 0x7f0000, Limit: 0x7f9000, File: "/lib/libc.so.6"}
	ker := &profile.Mapping{ID: 3, Start: 0xffff800000000000, Limit: ^uint64(0), File: "[kernel.kallsyms]_stext"}
	main := &profile.Function{ID: 1, Name: "main", Filename: "main.c", StartLine: 3}
	work := &profile.Function{ID: 2, Name: "work", Filename: "work.c"}
	inl := &profile.Function{ID: 3, Name: "inlined", Filename: "work.h"}
	memcpyApp := &profile.Function{ID: 4, Name: "memcpy"}
	memcpyLib := &profile.Function{ID: 5, Name: "memcpy", Filename: "memcpy.S"}
	sys := &profile.Function{ID: 6, SystemName: "sys_read"}
	nobody := &profile.Function{ID: 7}
	locs := []*profile.Location{
		{ID: 10, Mapping: app, Address: 0x400100, Line: []profile.Line{{Function: main, Line: 7, Column: 2}}},
		{ID: 20, Mapping: app, Address: 0x400200, Line: []profile.Line{{Function: inl, Line: 1}, {Function: work, Line: 9}}},
		{ID: 30, Mapping: app, Address: 0x400300, Line: []profile.Line{{Function: memcpyApp}}},
		{ID: 40, Mapping: lib, Address: 0x7f0010, Line: []profile.Line{{Function: memcpyLib}}},
		{ID: 50, Mapping: lib, Address: 0x7f0020},
		{ID: 60, Mapping: ker, Address: 0xffff800000001000, Line: []profile.Line{{Function: sys}}},
		{ID: 70, Address: 0x99, Line: []profile.Line{{Function: nobody}}},
	}
	sample := func(v int64, at ...int) *profile.Sample {
		s := &profile.Sample{Value: []int64{1, v}}
		for _, i := range at {
			s.Location = append(s.Location, locs[i])
		}
		return s
	}
	p := &profile.Profile{
		SampleType: []*profile.ValueType{{Type: "entries", Unit: "count"}, {Type: "cpu", Unit: "nanoseconds"}},
		PeriodType: &profile.ValueType{Type: "cpu", Unit: "nanoseconds"}, Period: 10_000_000,
		Mapping: []*profile.Mapping{app, lib, ker}, Location: locs,
		Function: []*profile.Function{main, work, inl, memcpyApp, memcpyLib, sys, nobody},
		Sample: []*profile.Sample{
			sample(5, 2, 1, 0), sample(7, 3, 0), sample(11, 3, 2, 0), sample(13, 4, 1, 0), sample(17, 5, 0), sample(19, 6), sample(23, 1, 1, 0),
		},
		TimeNanos: 1_700_000_000_000_000_000,
	}
	p.Sample[0].Label = map[string][]string{"request": {"get"}, "thread": {"main loop"}}
	p.Sample[0].NumLabel = map[string][]int64{"bytes": {4096}, "tid": {42}}
	p.Sample[0].NumUnit = map[string][]string{"bytes": {"bytes"}}
	return p
}

func TestExample(t *testing.T) {
	r, err := decodeBytes(t, raw(t, example()))
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Warnings) != 0 || r.HasTime {
		t.Errorf("warnings %v, time %v", r.Warnings, r.HasTime)
	}
	e := r.Events[0]
	if e.Name != "" || e.Primary != 1 || e.Kind != "timer" || e.Mode != "frequency" || e.Frequency != 100 || e.Period != 10_000_000 || e.Metrics[0].Total != 7 || e.Metrics[1].Total != 95 || e.Metrics[1].Unit != "nanoseconds" {
		t.Errorf("event %+v", e)
	}
	s := r.Stacks[0]
	var stacks []string
	for i := range s.Len() {
		var names []string
		for _, c := range r.Calls.Path(nil, s.Call(i)) {
			f := r.Frames.At(int(r.Calls.Frame(c)))
			fn := r.Functions.At(int(f.Func))
			names = append(names, fmt.Sprintf("%s(%s %s %d:%d %v%d %s %s %v)", fn.Name, fn.Module, fn.File+f.File, f.Line, f.Column, f.Inlined, f.InlineDepth, f.Kind, f.BuildID, fn.Unresolved))
		}
		stacks = append(stacks, strings.Join(names, ";"))
	}
	want := []string{
		"main(/usr/bin/app main.c 7:2 false0 user abc false);work(/usr/bin/app work.c 9:0 false0 user abc false);inlined(/usr/bin/app work.h 1:0 true1 user abc false);memcpy(  0:0 false0 user abc false)",
		"main(/usr/bin/app main.c 7:2 false0 user abc false);memcpy( memcpy.S 0:0 false0 user  false)",
	}
	if !reflect.DeepEqual(stacks[:2], want) {
		t.Errorf("got %s", strings.Join(stacks[:2], "\n"))
	}
	for i, leaf := range map[int]string{3: "libc.so.6+0x20(/lib/libc.so.6 ", 4: "sys_read([kernel.kallsyms]_stext ", 5: "0x99( "} {
		if at := strings.LastIndex(stacks[i], ";") + 1; !strings.HasPrefix(stacks[i][at:], leaf) {
			t.Errorf("stack %d ends in %s, want %s", i, stacks[i][at:], leaf)
		}
	}
	ctx := r.Contexts.At(int(s.Context(0)))
	if fmt.Sprint(ctx) != "[{bytes 4096 bytes} {request get} {thread main loop} {tid 42}]" {
		t.Errorf("context %v", ctx)
	}
	if tr := s.Track(0); tr != 0 || r.Tracks[0].TID != 42 || r.Tracks[0].Name != "main loop" || s.Track(1) != recording.NoTrack {
		t.Errorf("track %d, %+v", tr, r.Tracks)
	}
	if got := r.Clock.Text(0); got != "1700000000000000000" {
		t.Errorf("the clock begins at %s", got)
	}
}

func TestTimedLabels(t *testing.T) {
	p := example()
	for i, s := range p.Sample[:6] {
		s.NumLabel = map[string][]int64{"end_timestamp_ns": {1_700_000_000_000_000_500 - int64(i)*100}, "thread id": {int64(i % 2)}}
	}
	r, err := decodeBytes(t, raw(t, p))
	if err != nil {
		t.Fatal(err)
	}
	if !r.HasTime || r.Start != 0 || r.End != 500_000 || r.Clock.Text(r.End) != "1700000000000000500" {
		t.Errorf("from %d to %d", r.Start, r.End)
	}
	if r.Counts.Samples != 6 || r.Counts.Stacks != 7 || len(r.Warnings) != 1 || r.Warnings[0].First != "sample 7" {
		t.Errorf("%+v %v", r.Counts, r.Warnings)
	}
	var sum int64
	for _, tr := range r.Tracks {
		s := tr.SamplesOf(0)
		for i := range s.Len() {
			sum += s.Value(i, &r.Events[0].Metrics[1], 1)
		}
	}
	if sum != 5+7+11+13+17+19 {
		t.Errorf("samples weigh %d", sum)
	}
	if c := r.Contexts.At(int(r.Stacks[0].Context(1))); c.Get("end_timestamp_ns") != "" || c.Get("thread id") != "1" {
		t.Errorf("context %v", c)
	}
}

func TestMetricKindsAndDefault(t *testing.T) {
	p := example()
	p.SampleType = []*profile.ValueType{{Type: "alloc_space", Unit: "bytes"}, {Type: "inuse_space", Unit: "bytes"}}
	p.DefaultSampleType = "alloc_space"
	p.PeriodType = &profile.ValueType{Type: "space", Unit: "bytes"}
	r, err := decodeBytes(t, raw(t, p))
	if err != nil {
		t.Fatal(err)
	}
	e := r.Events[0]
	if e.Primary != 0 || e.Kind != "allocation" || e.Metrics[0].Kind != recording.Sum || e.Metrics[1].Kind != recording.Level {
		t.Errorf("%+v", e)
	}
}

func TestDropFrames(t *testing.T) {
	p := example()
	p.DropFrames, p.KeepFrames = "mem.*|inlined", "memset"
	r, err := decodeBytes(t, raw(t, p))
	if err != nil {
		t.Fatal(err)
	}
	for i := range r.Functions.Len() {
		if n := r.Functions.At(i).Name; n == "memcpy" || n == "inlined" {
			t.Errorf("%s is shown", n)
		}
	}
	if l := r.Ledger[0]; l.Kind != "frame in a stack" || l.Read != 21 || l.LeftOut != 10 {
		t.Errorf("%+v", l)
	}
}

func TestDamaged(t *testing.T) {
	good := raw(t, example())
	for _, c := range []struct {
		name    string
		content []byte
		err     string // beginning of the error
		warning string
	}{
		{"empty", nil, "the profile is empty", ""},
		{"no sample types", []byte{0x32, 0}, "the profile has no sample types", ""},
		{"cut before the names", good[:len(good)/2], "the profile is too damaged to read: too much data (valid up to byte ", ""},
		{"cut at the end", append(good[:len(good):len(good)], 0x12, 0x20, 1), "", fmt.Sprintf("byte %d cut", len(good))},
		{"a length that lies", append(good[:len(good):len(good)], 0x12, 0xff, 0xff, 0xff, 0xff, 0x0f, 1), "", fmt.Sprintf("byte %d cut", len(good))},
		{"a bad field", append([]byte{0x12, 3, 0x0a, 9, 1}, good...), "", "byte 0 damaged-field"},
		{"two profiles", append(good[:len(good):len(good)], good...), "the file holds several profiles", ""},
		{"legacy cut", []byte("heap profile: 1: 2 [3: 4] @ heap/1\nwhat\n"), "the profile in a legacy format cannot be read:", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := decodeBytes(t, c.content)
			if c.err == "" != (err == nil) || err != nil && !strings.HasPrefix(err.Error(), c.err) {
				t.Fatalf("error %v, want %q", err, c.err)
			}
			got := ""
			if len(r.Warnings) > 0 {
				got = r.Warnings[0].First + " " + r.Warnings[0].Code
			}
			if got != c.warning && c.err == "" {
				t.Errorf("warning %q, want %q", got, c.warning)
			}
			if c.err == "" && r.Events[0].Metrics[1].Total != 95 {
				t.Errorf("total %d", r.Events[0].Metrics[1].Total)
			}
		})
	}
}

func TestWrongSamples(t *testing.T) {
	p := example()
	content := raw(t, p)
	// Add a third sample type for which no sample has a value, and a sample with an unknown
	// location.
	content = append(content, 0x0a, 4, 0x08, 1, 0x10, 1)
	content = append(content, 0x12, 6, 0x0a, 2, 0xe7, 0x07, 0x10, 5)
	r, err := decodeBytes(t, content)
	if err != nil {
		t.Fatal(err)
	}
	var codes []string
	for _, w := range r.Warnings {
		codes = append(codes, fmt.Sprintf("%s %d %s", w.Code, w.Count, w.First))
	}
	sort.Strings(codes)
	if fmt.Sprint(codes) != "[location-missing 1 sample 8 value-count 8 sample 1]" {
		t.Errorf("%v", codes)
	}
	if e := r.Events[0]; e.Metrics[0].Total != 12 || e.Metrics[1].Total != 95 || e.Metrics[2].Total != 0 {
		t.Errorf("%+v", e.Metrics)
	}
}

func TestSniff(t *testing.T) {
	good := raw(t, example())
	for _, c := range []struct {
		name  string
		head  []byte
		whole bool
		want  decode.Confidence
	}{
		{"profile", good, true, decode.Certain},
		{"its beginning", good[:100], false, decode.Likely},
		{"empty", nil, true, decode.No},
		{"json", []byte(`{"a":1}`), true, decode.No},
		{"text", []byte("a;b 1\n"), true, decode.No},
		{"resource profiles", []byte{0x0a, 6, 0x0a, 2, 0x0a, 0, 0x12, 0}, true, decode.No},
		{"trace packet", []byte{0x0a, 4, 0x40, 1, 0x50, 1}, true, decode.No},
		{"dictionary first", []byte{0x12, 6, 0x0a, 0, 0x12, 0, 0x2a, 0, 0x0a, 0}, true, decode.No},
		{"heap", []byte("heap profile: 13: 1595680 [47130736: 2584596557304] @ heap/1048576\n"), true, decode.Certain},
		{"goroutine", []byte("# c\n\ngoroutine profile: total 7\n1 @ 0x1\n"), true, decode.Certain},
		{"threadz", []byte("--- threadz 1 ---\n"), true, decode.Certain},
	} {
		if got, err := Sniff(c.head, c.whole); got != c.want || err != nil {
			t.Errorf("%s: %v, %v, want %v", c.name, got, err, c.want)
		}
	}
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	err := Decode(ctx, source.FromBytes("x", raw(t, example())), recording.NewBuilder(), decode.Options{})
	if err != context.Canceled {
		t.Errorf("got %v", err)
	}
}

func FuzzDecode(f *testing.F) {
	good := raw(f, example())
	f.Add(good)
	f.Add(unnumbered([]int{0, 0, 0}, [][]int{{1}, {3}, {2, 1}}))
	f.Add(good[:len(good)/2])
	f.Add([]byte("heap profile: 1: 2 [3: 4] @ heap_v2/524288\n1: 2 [3: 4] @ 0x1 0x2\nMAPPED_LIBRARIES:\n0-10 r-xp 0 00:00 0 /a\n"))
	f.Add([]byte("goroutine profile: total 1\n1 @ 0x1 0x2\n"))
	f.Add([]byte("--- contentionz 1 ---\ncycles/second = 1000\nsampling period = 1\n5 6 @ 0x1\n"))
	f.Add([]byte{0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0x10, 0x27, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 5, 0, 0, 0})
	f.Fuzz(func(t *testing.T, content []byte) {
		if len(content) > 1<<16 {
			return
		}
		Sniff(content, true)
		r, err := decodeBytes(t, content)
		if err != nil || len(r.Stacks) == 0 || r.Stacks[0] == nil {
			return
		}
		for m := range r.Events[0].Metrics {
			var sum int64
			for i := range r.Stacks[0].Len() {
				if v := r.Stacks[0].Value(i, m); v != recording.Missing {
					sum += v
				}
			}
			if sum != r.Events[0].Metrics[m].Total {
				t.Fatalf("metric %d: total %d, sum %d", m, r.Events[0].Metrics[m].Total, sum)
			}
		}
	})
}

// TestPeriodDiffers: CPU time that is not the samples times the period is a contradiction;
// rounding is not, and neither are other units.
func TestPeriodDiffers(t *testing.T) {
	for _, c := range []struct {
		name, unit  string
		period      int64
		values      []int64
		contradicts int
	}{
		{"exact", "nanoseconds", 10_000_000, []int64{1, 10_000_000, 3, 30_000_000}, 0},
		{"rounded", "nanoseconds", 10_101_010, []int64{2, 20_202_020, 99, 1_000_000_000}, 0},
		{"none", "nanoseconds", 10_000_000, []int64{0, 0, -2, -20_000_000}, 0},
		{"double", "nanoseconds", 10_000_000, []int64{1, 20_000_000, 3, 30_000_000}, 1},
		{"without samples", "nanoseconds", 10_000_000, []int64{0, 20_000_000, 3, 0}, 2},
		{"another unit", "microseconds", 10_000, []int64{1, 20_000_000}, 0},
		{"no period", "nanoseconds", 0, []int64{1, 20_000_000}, 0},
	} {
		p := example()
		p.SampleType[0].Type = "samples"
		p.PeriodType.Unit, p.Period = c.unit, c.period
		p.Sample = p.Sample[:len(c.values)/2]
		for i, s := range p.Sample {
			s.Value = c.values[2*i : 2*i+2]
		}
		rec, err := decodeBytes(t, raw(t, p))
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, w := range rec.Warnings {
			if w.Code == "period-differs" {
				n = int(w.Count)
			}
		}
		if n != c.contradicts {
			t.Errorf("%s: %d contradictions, want %d: %v", c.name, n, c.contradicts, rec.Warnings)
		}
	}
}
