package roundtrip

import (
	"bytes"
	"fmt"
	"maps"
	"path"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"ashlar/ingest/format/encode"
	"ashlar/ingest/model/recording"
	"ashlar/testdata/samples"
)

// madeProfile returns a profile with two binaries, inlined lines, an address without a
// name, labels of both kinds, a negative value, and a value that does not fit in a float64.
func madeProfile() *profile.Profile {
	app := &profile.Mapping{ID: 1, File: "/bin/app", BuildID: "abc123", HasFunctions: true}
	lib := &profile.Mapping{ID: 2, Start: 0x4000, Limit: 0x8000, File: "/lib/x.so", HasFunctions: true}
	var fs []*profile.Function
	fn := func(name, file string) *profile.Function {
		f := &profile.Function{ID: uint64(len(fs) + 1), Name: name, SystemName: name, Filename: file}
		fs = append(fs, f)
		return f
	}
	main, work, inl, deep, bare := fn("main", "main.go"), fn("work", "work.go"), fn("inl", "inl.go"), fn("deep", "work.go"), fn("bare", "")
	loc := func(id, addr uint64, m *profile.Mapping, lines ...profile.Line) *profile.Location {
		return &profile.Location{ID: id, Address: addr, Mapping: m, Line: lines}
	}
	ls := []*profile.Location{
		loc(1, 0x1000, app, profile.Line{Function: main, Line: 3}),
		loc(2, 0x1100, app, profile.Line{Function: deep, Line: 9}, profile.Line{Function: inl, Line: 8, Column: 2}, profile.Line{Function: work, Line: 7}),
		loc(3, 0x5000, lib),
		loc(4, 0, nil, profile.Line{Function: bare, Line: 17, Column: 5}),
	}
	return &profile.Profile{
		SampleType:        []*profile.ValueType{{Type: "alloc_objects", Unit: "count"}, {Type: "alloc_space", Unit: "bytes"}, {Type: "inuse_space", Unit: "bytes"}},
		DefaultSampleType: "alloc_space",
		PeriodType:        &profile.ValueType{Type: "space", Unit: "bytes"}, Period: 524288,
		TimeNanos: 1_700_000_000_000_000_000,
		Mapping:   []*profile.Mapping{app, lib}, Function: fs, Location: ls,
		Sample: []*profile.Sample{
			{Location: []*profile.Location{ls[1], ls[0]}, Value: []int64{1, 9007199254740993, 3}, Label: map[string][]string{"user": {"ann"}}, NumLabel: map[string][]int64{"size": {48}}, NumUnit: map[string][]string{"size": {"bytes"}}},
			{Location: []*profile.Location{ls[2], ls[1], ls[0]}, Value: []int64{2, 4096, -5}},
			{Location: []*profile.Location{ls[3], ls[0]}, Value: []int64{7, 0, 0}, Label: map[string][]string{"thread": {"worker"}, "event": {"click"}}},
			{Value: []int64{4, 4, 4}},
		},
	}
}

func encoded(t testing.TB, p *profile.Profile) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// profileText formats the content of a profile, independent of ids and order.
func profileText(p *profile.Profile) string {
	var lines []string
	for _, s := range p.Sample {
		var b strings.Builder
		for i, v := range s.Value {
			fmt.Fprintf(&b, "%s=%d ", p.SampleType[i].Type, v)
		}
		for _, l := range s.Location {
			fmt.Fprintf(&b, "| %x %v ", l.Address, l.IsFolded)
			if m := l.Mapping; m != nil {
				fmt.Fprintf(&b, "%s %s ", m.File, m.BuildID)
			}
			for _, ln := range l.Line {
				fmt.Fprintf(&b, "(%s %s:%d:%d from %d, %s)", ln.Function.Name, ln.Function.Filename, ln.Line, ln.Column, ln.Function.StartLine, ln.Function.SystemName)
			}
		}
		for _, k := range slices.Sorted(maps.Keys(s.Label)) {
			fmt.Fprintf(&b, " %s=%q", k, s.Label[k])
		}
		for _, k := range slices.Sorted(maps.Keys(s.NumLabel)) {
			fmt.Fprintf(&b, " %s=%d%q", k, s.NumLabel[k], s.NumUnit[k])
		}
		lines = append(lines, b.String())
	}
	sort.Strings(lines)
	return fmt.Sprintf("period %d %s in %s time %d default %s\n%s\n", p.Period, p.PeriodType.Type, p.PeriodType.Unit, p.TimeNanos, p.DefaultSampleType, strings.Join(lines, "\n"))
}

// TestProfileKeeps checks that a profile keeps stacks, values, labels and places through
// pprof and through SPAA. SPAA does not keep the recording time.
func TestProfileKeeps(t *testing.T) {
	in := madeProfile()
	rec := load(t, "in.pb.gz", encoded(t, in))
	out, rep := write(t, rec, "out.pb.gz", encode.Options{})
	back, err := profile.ParseData(out)
	if err != nil {
		t.Fatal(err)
	}
	want := profileText(in)
	if got := profileText(back); got != want {
		t.Errorf("by itself it is\n%s\nwant\n%s", got, want)
	}
	if len(rep.Lost) != 0 {
		t.Errorf("lost %v", rep.Lost)
	}
	viaSPAA, rep := write(t, rec, "out.spaa", encode.Options{})
	checkSPAA(t, viaSPAA)
	if len(rep.Lost) != 0 {
		t.Errorf("lost by SPAA %v", rep.Lost)
	}
	again, _ := write(t, load(t, "out.spaa", viaSPAA), "out.pb", encode.Options{})
	if back, err = profile.ParseData(again); err != nil {
		t.Fatal(err)
	}
	got := strings.ReplaceAll(profileText(back), `user="ann"`, `user=["ann"]`)
	want = strings.Replace(want, "time 1700000000000000000", "time 0", 1)
	// SPAA has a dso for every frame, its own order of metrics, and names for addresses and
	// unknown functions, so compare only parts of the text.
	for _, s := range []string{"alloc_objects=1 ", "alloc_space=9007199254740993 ", "inuse_space=-5 ", "(deep work.go:9:0 from 0, deep)(inl inl.go:8:2 from 0, inl)(work work.go:7:0 from 0, work)", "(main main.go:3:0 from 0, main)", `size=[48]["bytes"]`, `user=["ann"]`, `event=["click"]`, "(bare :17:5 from 0, bare)", `thread=["worker"]`, "abc123"} {
		if !strings.Contains(got, s) || !strings.Contains(want, s) {
			t.Errorf("by SPAA it is\n%s\nwant %q in it", got, s)
		}
	}
}

// TestThreadNamesOfDigits checks that the name of a thread stays text, even if it is digits,
// through pprof and SPAA.
func TestThreadNamesOfDigits(t *testing.T) {
	in := madeProfile()
	in.Sample[2].Label = map[string][]string{"thread": {"7"}}
	in.Sample[1].Label = map[string][]string{"thread_name": {"12"}}
	in.Sample[3].NumLabel = map[string][]int64{"os_thread_id": {9}}
	rec := load(t, "in.pb", encoded(t, in))
	for _, by := range []string{"out.pb", "out.spaa"} {
		out, rep := write(t, rec, by, encode.Options{})
		again, _ := write(t, load(t, by, out), "out.pb", encode.Options{})
		p, err := profile.ParseData(again)
		if err != nil {
			t.Fatal(err)
		}
		got := profileText(p)
		for _, want := range []string{` thread=["7"]`, ` thread_name=["12"]`, "inuse_space=4  os_thread_id=[9][]"} {
			if !strings.Contains(got, want+"\n") {
				t.Errorf("by %s it is\n%s\nwant %s; lost %v", by, got, want, rep.Lost)
			}
		}
	}
}

// TestPlacesOfProfiles checks that locations without a mapping or a function keep none through
// pprof and SPAA, even if the mapping's offset exceeds the address, next to a binary whose name
// says that it is unknown.
func TestPlacesOfProfiles(t *testing.T) {
	in := madeProfile()
	in.Mapping[1].Offset = 0x9000
	strange := &profile.Mapping{ID: 3, Start: 0x10000, Limit: 0x20000, File: "[unknown]"}
	in.Mapping = append(in.Mapping, strange)
	fn := &profile.Function{ID: 6, Name: "odd", SystemName: "odd", Filename: "odd.c"}
	in.Function = append(in.Function, fn)
	in.Location = append(in.Location,
		&profile.Location{ID: 5, Address: 0x10010, Mapping: strange, Line: []profile.Line{{Function: fn, Line: 2}}},
		&profile.Location{ID: 6, Address: 0x77})
	in.Sample[3].Location = in.Location[4:6]
	in.Sample[2].NumLabel = map[string][]int64{"pid": {3}}
	want := profileText(in)
	rec := load(t, "in.pb", encoded(t, in))
	for _, by := range []string{"out.pb", "out.spaa"} {
		out, rep := write(t, rec, by, encode.Options{})
		if by == "out.spaa" {
			checkSPAA(t, out)
			want = strings.Replace(want, "time 1700000000000000000", "time 0", 1)
		}
		again, _ := write(t, load(t, by, out), "out.pb", encode.Options{})
		p, err := profile.ParseData(again)
		if err != nil {
			t.Fatal(err)
		}
		got := profileText(p)
		if by == "out.spaa" {
			got = strings.Replace(got, "time 1700000000000000000", "time 0", 1)
		}
		if got != want || len(p.Mapping) != 3 || len(rep.Lost) > 0 {
			t.Errorf("by %s it has %d mappings and is\n%s\nwant\n%s; lost %v", by, len(p.Mapping), got, want, rep.Lost)
		}
	}
}

// TestPeriodsOfProfiles checks that a profile keeps what its period counts through pprof, SPAA
// and OTLP.
func TestPeriodsOfProfiles(t *testing.T) {
	for _, c := range []profile.ValueType{
		{Type: "wall", Unit: "nanoseconds"}, {Type: "cpu", Unit: "nanoseconds"}, {Type: "cpu", Unit: "microseconds"},
		{Type: "space", Unit: "bytes"}, {Type: "contentions", Unit: "count"}, {Type: "threads"}, {Unit: "bytes"},
	} {
		for _, n := range []int64{1, 3_333_333, 10_000_000_019, -7} {
			in := madeProfile()
			in.PeriodType, in.Period = &c, n
			want, _, _ := strings.Cut(profileText(in), " time")
			rec := load(t, "in.pb", encoded(t, in))
			for _, by := range []string{"out.pb", "out.spaa", "out.otlp"} {
				out, rep := write(t, rec, by, encode.Options{})
				if by == "out.spaa" {
					checkSPAA(t, out)
				}
				mid := load(t, by, out)
				out, _ = write(t, mid, "out.pb", encode.Options{Event: mid.Events[0].NameOrKind()})
				p, err := profile.ParseData(out)
				if err != nil {
					t.Fatal(err)
				}
				if got, _, _ := strings.Cut(profileText(p), " time"); got != want || len(rep.Lost) > 0 {
					t.Errorf("by %s it is %q, want %q; lost %v", by, got, want, rep.Lost)
				}
			}
		}
	}
}

// TestOTLPBothWays converts pprof to OTLP and on to pprof and OTLP. Self values and
// contexts must stay the same for each sample type.
func TestOTLPBothWays(t *testing.T) {
	recs := map[string]*recording.Recording{"made": load(t, "in.pb.gz", encoded(t, madeProfile()))}
	for name, content := range samples.Each(t, "pprof/parca_fgprof.pb.gz", "pprof/parca_profile-with-labels.pb.gz", "pprof/gp_gobench.heap", "otlp/profile.otlp") {
		recs[name] = load(t, path.Base(name), content)
	}
	for name, rec := range recs {
		t.Run(name, func(t *testing.T) {
			out, rep := write(t, rec, "out.otlp", encode.Options{})
			for _, l := range rep.Lost {
				t.Errorf("lost %v", l)
			}
			mid := load(t, "out.otlp", out)
			for _, w := range mid.Warnings {
				t.Errorf("reading back: %+v", w)
			}
			if mid.Source.Version != "proto 1.10 or later" {
				t.Errorf("it is read as %s", mid.Source.Version)
			}
			if len(mid.Contexts.Slice()) < rec.Contexts.Len() || mid.Counts.Samples != rec.Counts.Samples {
				t.Errorf("%d contexts and %d samples, want %d and %d", mid.Contexts.Len(), mid.Counts.Samples, rec.Contexts.Len(), rec.Counts.Samples)
			}
			e := 0
			for i := range rec.Events {
				for m := range rec.Events[i].Metrics {
					met := &rec.Events[i].Metrics[m]
					want := selfOf(rec, i, m, plainName)
					if len(want) == 1 && want[""].Sign() == 0 && rec.Counts.Stacks == 0 {
						continue
					}
					got := selfOf(mid, e, 0, plainName)
					if mid.Events[e].Metrics[0].Name != met.Name || got.String() != want.String() {
						t.Errorf("%s became %s\n%.1000v\nwant\n%.1000v", met.Name, mid.Events[e].Metrics[0].Name, got, want)
					}
					// Convert each event to pprof on its own.
					pb, _ := write(t, mid, "out.pb", encode.Options{Event: mid.Events[e].Name})
					back := load(t, "out.pb", pb)
					if got := selfOf(back, 0, 0, plainName); got.String() != want.String() {
						t.Errorf("%s from OTLP to pprof is\n%.1000v\nwant\n%.1000v", met.Name, got, want)
					}
					e++
				}
			}
			again, _ := write(t, mid, "again.otlp", encode.Options{})
			if third := load(t, "again.otlp", again); third.Counts != mid.Counts {
				t.Errorf("a second time through OTLP: %+v, want %+v", third.Counts, mid.Counts)
			}
		})
	}
}

// TestOTLPKeepsTimes checks that the times and processors of perf's samples are kept in
// OTLP.
func TestOTLPKeepsTimes(t *testing.T) {
	rec := load(t, "in.perf", []byte(strings.Replace(perfText, "renamed", "worker", 1)))
	out, rep := write(t, rec, "out.otlp", encode.Options{})
	back := load(t, "out.otlp", out)
	moments := func(r *recording.Recording, event, metric int) string {
		var lines []string
		for _, tr := range r.Tracks {
			s := tr.SamplesOf(event)
			for i := 0; s != nil && i < s.Len(); i++ {
				lines = append(lines, fmt.Sprintf("%s %d/%d cpu %d %s %d", r.Clock.Text(s.Time(i)), tr.PID, tr.TID, s.CPU(i), r.FuncName(s.Call(i)), s.Value(i, &r.Events[event].Metrics[metric], metric)))
			}
		}
		sort.Strings(lines)
		return strings.Join(lines, "\n")
	}
	rec.Clock.Unit, rec.Clock.PerUnit, rec.Clock.Origin.Scale = "ns", 1000, 0 // convert perf's seconds to nanoseconds
	for e, from := range [][2]int{{0, 0}, {0, 1}, {1, 0}, {1, 1}} {
		if got, want := moments(back, e, 0), moments(rec, from[0], from[1]); got != want {
			t.Errorf("event %d:\n%s\nwant\n%s", e, got, want)
		}
	}
	for _, l := range rep.Lost {
		if l.What != "function offsets" && l.What != "wall-clock times" { // perf's clock counts from boot
			t.Errorf("lost %v", l)
		}
	}
}

func TestFolded(t *testing.T) {
	rec := load(t, "in.pb.gz", encoded(t, madeProfile()))
	out, _ := write(t, rec, "out.folded", encode.Options{})
	const want = `[no stack] 4
main;bare 0
main;work;inl;deep 9007199254740993
main;work;inl;deep;x.so+0x1000 4096
`
	if string(out) != want {
		t.Errorf("got\n%s\nwant\n%s", out, want)
	}
	rec = load(t, "in.folded", []byte("a;b 1.25\na;b 2\nc -3\n"))
	out, _ = write(t, rec, "out.folded", encode.Options{})
	if string(out) != "a;b 3.25\nc -3\n" {
		t.Errorf("got\n%s", out)
	}
}

// TestOneEvent checks that formats with one event report the others as lost, and that
// Options.Event selects one.
func TestOneEvent(t *testing.T) {
	rec := load(t, "in.perf", []byte(perfText))
	for _, name := range []string{"out.pb", "out.folded"} {
		_, rep := write(t, rec, name, encode.Options{})
		if !slices.ContainsFunc(rep.Lost, func(l encode.Loss) bool { return l.What == "events" && strings.HasPrefix(l.Why, "instructions: ") }) {
			t.Errorf("%s: lost %v", name, rep.Lost)
		}
	}
	out, _ := write(t, rec, "out.folded", encode.Options{Event: "instructions"})
	if string(out) != "main;read 7\n" {
		t.Errorf("instructions are %q", out)
	}
}

// TestSameBytes checks that writing the same recording twice gives the same bytes in every
// format, compressed or not.
func TestSameBytes(t *testing.T) {
	for _, name := range []string{"out.spaa.zst", "out.spaa.gz", "out.pb.gz", "out.pprof", "out.otlp", "out.folded.gz", "out.json.zst", "out.spall.gz"} {
		for kind, in := range map[string]string{"in.json": traceJSON, "in.perf": perfText} {
			a, _ := write(t, load(t, kind, []byte(in)), name, encode.Options{})
			b, _ := write(t, load(t, kind, []byte(in)), name, encode.Options{})
			if !bytes.Equal(a, b) {
				t.Errorf("%s of %s has other bytes the second time", name, kind)
			}
		}
	}
}
