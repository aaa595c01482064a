package spall

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"ashlar/ingest/format/decode"
	"ashlar/ingest/input/source"
	"ashlar/ingest/model/recording"
	"ashlar/testdata/rounds"
	"ashlar/testdata/samples"
)

// read decodes content that is in memory.
func read(t testing.TB, content []byte) *recording.Recording {
	t.Helper()
	r, err := try(source.FromBytes("test.spall", content))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func try(in *source.Input) (*recording.Recording, error) {
	defer in.Close()
	b := recording.NewBuilder()
	if err := Format.Decode(context.Background(), in, b, decode.Options{}); err != nil {
		return nil, err
	}
	return b.Finish(), nil
}

// warnings returns the counts of warnings by code.
func warnings(r *recording.Recording) map[string]int64 {
	m := map[string]int64{}
	for _, w := range r.Warnings {
		m[w.Code] = w.Count
	}
	return m
}

func balanced(t *testing.T, r *recording.Recording) {
	t.Helper()
	for _, l := range r.Ledger {
		if l.Read != l.Kept+l.LeftOut || l.Repaired > l.Kept || l.LeftOut > 0 && l.FirstLeftOut == "" || l.Repaired > 0 && l.FirstRepaired == "" {
			t.Errorf("the ledger does not balance: %+v", l)
		}
	}
}

func compare(t *testing.T, content []byte) *recording.Recording {
	t.Helper()
	want := readNaively(t, content)
	r := read(t, content)
	got, exp := lines(r), want.lines()
	if !slices.Equal(got, exp) {
		for i := range min(len(got), len(exp)) {
			if got[i] != exp[i] {
				t.Fatalf("of %d and %d spans, number %d is\n%s\nand to the naive reader\n%s", len(got), len(exp), i, got[i], exp[i])
			}
		}
		t.Fatalf("%d spans, %d to the naive reader", len(got), len(exp))
	}
	w := warnings(r)
	if w["unmatched-end"] != want.unmatched() || w["time-backward"] != want.backward() {
		t.Errorf("warnings %v; the naive reader finds %d unmatched ends and %d backward times", w, want.unmatched(), want.backward())
	}
	balanced(t, r)
	return r
}

// synthetic returns traces of all versions with every kind of record.
func synthetic() map[string][]byte {
	out := map[string][]byte{}
	rng := rand.New(rand.NewPCG(1, 2))
	for _, unit := range []float64{1, 0.001, 2.7080432e-4, 1.0 / 3} {
		for v := range uint64(2) {
			w := manualUnit(v, unit)
			now := 1e9 + rng.Float64()
			for range 3000 {
				if rng.IntN(3) > 0 {
					now += rng.Float64() * 10
				} else {
					now += float64(rng.IntN(5))
				}
				at := now
				if rng.IntN(50) == 0 {
					at -= 30
				}
				pid, tid := uint32(rng.IntN(2)), uint32(rng.IntN(3))
				name := fmt.Sprintf("function number %d", rng.IntN(40))[:rng.IntN(18)]
				switch n := rng.IntN(100); {
				case n < 48 && v == 0:
					w.begin0(pid, tid, at, name)
				case n < 48:
					w.begin1(pid, tid, at, name, strings.Repeat("a", max(0, rng.IntN(20)-15)))
				case n == 48 && v == 1:
					w.pad(rng.IntN(40))
				default:
					w.end(pid, tid, at)
				}
			}
			out[fmt.Sprintf("v%d of %v us", v, unit)] = w.b
		}
		w := manualUnit(3, unit)
		a := automatic(unit, 0, "/no/such/program")
		now := uint64(1) << 60
		for range 40 {
			w.open(uint32(rng.IntN(2)), uint32(rng.IntN(3)))
			a.openAuto(uint32(rng.IntN(3)), now)
			if rng.IntN(4) == 0 {
				w.name3(9, "worker")
			}
			if rng.IntN(10) == 0 {
				w.pad(rng.IntN(9000))
			}
			for range rng.IntN(100) {
				step := uint64(rng.IntN(1000))
				now += step
				at := now
				if rng.IntN(50) == 0 {
					at -= 3000
				}
				if rng.IntN(2) == 0 {
					w.begin3(at, fmt.Sprintf("f%d", rng.IntN(40)), strings.Repeat("x", max(0, rng.IntN(20)-15)))
				} else {
					w.end3(at)
				}
				switch rng.IntN(5) {
				case 0, 1:
					a.u8(0<<6|1<<4|0<<2|1, byte(step), byte(step>>8), byte(rng.IntN(8)), 1, 2)
				case 2:
					a.u8(9<<4|1<<2, byte(step), byte(step>>8), 5, 3)
					a.text("namedarg")
				default:
					a.u8(1<<6|1<<4, byte(step), byte(step>>8))
				}
			}
			w.close()
			a.close()
		}
		out[fmt.Sprintf("v3 of %v ns", unit)] = w.b
		out[fmt.Sprintf("auto of %v ns", unit)] = a.b
	}
	return out
}

func TestAgainstNaive(t *testing.T) {
	rounds.Unraced(t)
	for name, content := range synthetic() {
		t.Run(name, func(t *testing.T) { compare(t, content) })
	}
}

// TestSamples compares the sample files with counts made by an independent reader, and with
// the naive reader.
func TestSamples(t *testing.T) {
	samples.Need(t)
	type facts struct {
		spans, unfinished, functions int64
		threads                      int
	}
	known := map[string]facts{
		"asterboids_v1.spall": {48705, 0, 48704, 1},
		"hello_v1.spall":      {20000, 0, 1, 1},
		"v0.spall":            {3947, 1, 17, 2},
		"auto_v3.spall":       {1004401, 0, 5, 3},
	}
	for file, content := range samples.Each(t, "spall/*.spall") {
		t.Run(filepath.Base(file), func(t *testing.T) {
			if k, ok := known[filepath.Base(file)]; ok {
				r := read(t, content)
				if got := (facts{r.Counts.Spans, r.Counts.Unfinished, r.Counts.Functions, len(r.Tracks)}); got != k {
					t.Errorf("got %+v, want %+v", got, k)
				}
			}
			if strings.Contains(file, "truncated") {
				r := read(t, content)
				if w := warnings(r); w["truncated"] != 1 || len(w) != 1 {
					t.Errorf("warnings %v, want one of being truncated", w)
				}
				return
			}
			if strings.Contains(file, "auto") {
				// The naive reader is slow, so compare only the first two buffers.
				h, _ := readHeader(content, true)
				n := h.size
				for range 2 {
					n += autoBufferLen + int(binary.LittleEndian.Uint32(content[n:]))
				}
				content = content[:n]
			}
			compare(t, content)
		})
	}
}

// TestChunks checks that the recording depends neither on chunk boundaries nor on whether
// the content is mapped.
func TestChunks(t *testing.T) {
	all := synthetic()
	damagedTraces(all)
	sizes := []int{1, 7, 4096, 1 << 20}
	if testing.Short() {
		sizes = sizes[rounds.Size(1, 2):3]
	}
	for name, content := range all {
		t.Run(name, func(t *testing.T) {
			want := everything(read(t, content))
			for _, size := range sizes {
				for _, stream := range []bool{false, true} {
					if stream && size == 1 {
						content := content[:min(len(content), 20000)]
						want := everything(read(t, content))
						in := source.FromReader("test.spall", bytes.NewReader(content))
						in.ChunkSize = 1
						r, err := try(in)
						if err != nil {
							t.Fatal(err)
						}
						same(t, "a stream byte by byte", everything(r), want)
						continue
					}
					in := source.FromBytes("test.spall", content)
					if stream {
						in = source.FromReader("test.spall", bytes.NewReader(content))
					}
					in.ChunkSize = size
					r, err := try(in)
					if err != nil {
						t.Fatal(err)
					}
					same(t, fmt.Sprintf("chunks of %d, stream %v", size, stream), everything(r), want)
				}
			}
		})
	}
}

func same(t *testing.T, what, got, want string) {
	t.Helper()
	if got == want {
		return
	}
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			t.Fatalf("%s: line %d is\n%.300s\nnot\n%.300s", what, i, a[i], b[i])
		}
	}
	t.Fatalf("%s: %d lines, not %d", what, len(a), len(b))
}

// damagedTraces adds traces with various kinds of damage.
func damagedTraces(out map[string][]byte) {
	flat := func(n int) *trace {
		w := new(trace)
		for i := range n {
			w.begin1(1, 2, float64(100+10*i), "outer", "")
			w.begin1(1, 2, float64(101+10*i), "inner", "args")
			w.end(1, 2, float64(105+10*i))
			w.end(1, 2, float64(109+10*i))
		}
		return w
	}
	for _, junk := range []struct {
		name string
		b    []byte
	}{
		{"zeros", make([]byte, 5000)},
		{"instant", []byte{5, 1, 2, 3, 4}},
		{"begins", bytes.Repeat([]byte{3}, 700)},
		{"ends", bytes.Repeat([]byte{4, 4, 4}, 100)},
		{"ones", bytes.Repeat([]byte{0xff}, 9000)},
	} {
		w := manual(1)
		w.add(flat(20))
		w.b = append(w.b, junk.b...)
		w.add(flat(20))
		out["v1 with "+junk.name] = w.b

		w = manual(3)
		for range 3 {
			w.open(1, 2)
			for i := range 50 {
				w.begin3(uint64(1000+10*i), "name", "args")
				w.end3(uint64(1005 + 10*i))
				if i == 20 {
					w.b = append(w.b, junk.b...)
				}
			}
			w.close()
			w.b = append(w.b, junk.b...)
		}
		out["v3 with "+junk.name] = w.b
	}
	w := manual(1)
	w.add(flat(10))
	out["v1 cut"] = w.b[:len(w.b)-5]
	out["only a header"] = manual(1).b
	w = manual(1)
	w.pad(100000)
	w.add(flat(3))
	w.pad(1000)
	out["v1 padded"] = w.b[:len(w.b)-10]
	out["nothing but zeros"] = append(manual(1).b, make([]byte, 10000)...)
	out["v3 of zeros"] = append(manual(3).b, make([]byte, 10000)...)
	w = manual(3)
	for range 3 {
		w.open(4, 5)
		w.close()
	}
	w.open(4, 5)
	w.pad(50000)
	w.begin3(5, "after padding", "")
	w.instant3(6, "now")
	w.close()
	out["v3 with empty buffers"] = w.b
}

func TestDamage(t *testing.T) {
	all := map[string][]byte{}
	damagedTraces(all)
	for name, content := range all {
		r := read(t, content)
		balanced(t, r)
		switch {
		case strings.HasPrefix(name, "v1 with"):
			w := warnings(r)
			if n := w["damaged"] + w["unknown-record"]; n < 1 || n > 8 {
				t.Errorf("%s: warnings %v", name, r.Warnings)
			}
			// Damage may hide only a few of the records that follow it.
			if r.Counts.Spans < 77 || r.Counts.Spans > 90 {
				t.Errorf("%s: %d spans of 80, %v", name, r.Counts.Spans, r.Warnings)
			}
		case strings.HasPrefix(name, "v3 with") && name != "v3 with empty buffers":
			if r.Counts.Spans < 140 || r.Counts.Spans > 160 {
				t.Errorf("%s: %d spans of 150, %v", name, r.Counts.Spans, r.Warnings)
			}
		}
		if testing.Verbose() {
			t.Log(name, r.Counts.Spans, r.Warnings)
		}
	}
	r := read(t, all["v3 with empty buffers"])
	if r.Counts.Spans != 1 || r.Counts.Instants != 1 || r.Tracks[0].Instants[0].Name != "now" || len(r.Warnings) != 0 {
		t.Errorf("empty buffers and padding: %+v %v", r.Counts, r.Warnings)
	}
}

func TestCutEverywhere(t *testing.T) {
	rounds.Unraced(t)
	for name, content := range synthetic() {
		full := read(t, content)
		for n := range min(500, len(content)) {
			in := source.FromBytes("test.spall", content[:n])
			head, whole, _ := in.Head(1 << 16)
			sure, serr := Format.Sniff(head, whole)
			r, err := try(in)
			if n < headerLen {
				if err == nil || n >= 8 && serr == nil {
					t.Fatalf("%s cut at %d: no error (sniff: %v %v)", name, n, sure, serr)
				}
				continue
			}
			if err != nil {
				if !strings.Contains(err.Error(), "is a spall trace truncated in its header, at byte") {
					t.Fatalf("%s cut at %d: %v", name, n, err)
				}
				continue
			}
			balanced(t, r)
			// All whole records before the cut must be in the recording.
			begins := int64(0)
			for _, l := range r.Ledger {
				if l.Kind == "begin" {
					begins = l.Kept
				}
			}
			if begins+r.Filled() != r.Counts.Spans {
				t.Fatalf("%s cut at %d: %d begins but %d spans", name, n, begins, r.Counts.Spans)
			}
			if r.Counts.Spans > full.Counts.Spans {
				t.Fatalf("%s cut at %d has more spans than uncut", name, n)
			}
		}
	}
}

func TestOddTimes(t *testing.T) {
	w := manual(1)
	w.begin1(1, 1, 1000, "a", "")
	w.begin1(1, 1, math.NaN(), "b", "")
	w.end(1, 1, math.Inf(1))
	w.begin1(1, 1, 990, "c", "")
	w.end(1, 1, 1e300)
	w.end(1, 1, 1010)
	w.end(1, 1, 1011)
	w.begin1(1, 1, 1020, "open", "")
	r := read(t, w.b)
	want := []string{
		"1/1 0..0 a;b {} open=false",
		"1/1 0..0 a;c {} open=false",
		"1/1 0..10000000 a {} open=false",
		"1/1 20000000..20000000 open {} open=true",
	}
	if got := lines(r); !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	wantWarnings := map[string]int64{"bad-time": 3, "time-backward": 1, "unmatched-end": 1}
	if got := warnings(r); !mapsEqual(got, wantWarnings) {
		t.Errorf("warnings %v, want %v", got, wantWarnings)
	}
	balanced(t, r)
}

func mapsEqual(a, b map[string]int64) bool { return fmt.Sprint(a) == fmt.Sprint(b) }

// TestOutlierFirst checks that a first time of 0 before times since 1970 does not reduce
// the precision of the others.
func TestOutlierFirst(t *testing.T) {
	w := manual(1)
	w.begin1(1, 1, 0, "start", "")
	for i := range 100 {
		w.begin1(1, 2, 1.7e15+float64(i*10), "work", "")
		w.end(1, 2, 1.7e15+float64(i*10+5))
	}
	w.end(1, 1, 1.7e15+2000)
	r := read(t, w.b)
	if w := warnings(r); w["bad-time"] != 1 || len(w) != 1 {
		t.Errorf("warnings %v", r.Warnings)
	}
	l := &r.Tracks[1].Lanes[0]
	if l.Len() != 100 || l.Start(0) != 0 || l.Start(99) != 990e6 || l.End(99) != 995e6 {
		t.Errorf("the times are not exact: %d %d %d", l.Start(0), l.Start(99), l.End(99))
	}
	if got := r.Clock.Text(l.Start(99)); got != "1700000000000990" {
		t.Errorf("the file's time reads %s", got)
	}
}

func TestComplete(t *testing.T) {
	w := manual(0)
	w.complete0(1, 1, 120, 10, "late\x00")
	w.complete0(1, 1, 100, 50, "outer")
	w.complete0(1, 1, 110, 30, "inner")
	w.complete0(1, 1, 145, -3, "negative")
	w.complete0(1, 1, 146, math.NaN(), "nan")
	r := read(t, w.b)
	want := []string{
		"1/1 -10000000..20000000 outer;inner {} open=false",
		"1/1 -20000000..30000000 outer {} open=false",
		"1/1 0..10000000 outer;inner;late {} open=false",
		"1/1 25000000..25000000 outer;negative {} open=false",
		"1/1 26000000..26000000 outer;nan {} open=false",
	}
	if got := lines(r); !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	if w := warnings(r); w["negative-duration"] != 1 || w["bad-time"] != 1 {
		t.Errorf("warnings %v", w)
	}
	balanced(t, r)
}

func TestVersionZeroWithLayoutOne(t *testing.T) {
	for n := range 4 {
		w := manual(0)
		for i := range n + 1 {
			w.begin1(0, 0, float64(i), "abc", "x")
			w.end(0, 0, float64(i)+0.5)
		}
		r := read(t, w.b)
		if r.Counts.Spans != int64(n+1) || r.FuncName(1) != "abc" || warnings(r)["wrong-version"] != 1 {
			t.Errorf("%d pairs: %+v %v", n+1, r.Counts, r.Warnings)
		}
	}
}

func TestRefused(t *testing.T) {
	old := automatic(1, 0, "x")
	old.b[8] = 1
	for content, want := range map[string]string{
		string(manual(2).b):       "is a spall trace of version 2, whose layout is unpublished; versions 0, 1 and 3 are supported",
		string(old.b):             "is an automatic spall trace of version 1, from before version 3 was final; record it again with a current spall header",
		string(manual(1).b[:20]):  "is a spall trace truncated in its header, at byte 20",
		string(manual(1).b[:5]):   "is a spall trace truncated in its header, at byte 5",
		string(manual(1 << 40).b): "is a spall trace of version 1099511627776, whose layout is unpublished; versions 0, 1 and 3 are supported",
	} {
		sure, err := Format.Sniff([]byte(content), true)
		if sure == decode.No || err == nil || err.Error() != want {
			t.Errorf("%v %v, want %s", sure, err, want)
		}
	}
	if sure, err := Format.Sniff([]byte("something else entirely"), true); sure != decode.No || err != nil {
		t.Errorf("another file: %v %v", sure, err)
	}
}

func TestBadUnit(t *testing.T) {
	for _, unit := range []float64{0, -1, math.NaN(), math.Inf(1), 1e300} {
		w := manualUnit(1, unit)
		w.begin1(1, 1, 5, "a", "")
		w.end(1, 1, 6)
		r := read(t, w.b)
		if warnings(r)["bad-unit"] != 1 || r.Tracks[0].Lanes[0].End(0) != 1e6 {
			t.Errorf("unit %v: %v", unit, r.Warnings)
		}
	}
}

func TestThreadNames(t *testing.T) {
	w := manual(3)
	w.open(7, 8)
	w.name3(8, "the process")
	w.name3(9, "the thread")
	w.begin3(1, "f", "")
	w.close()
	r := read(t, w.b)
	if r.Processes[0].Name != "the process" || r.Tracks[0].Name != "the thread" || r.Tracks[0].TID != 8 || r.Tracks[0].PID != 7 {
		t.Errorf("%+v %+v", r.Processes, r.Tracks[0])
	}
}

// TestArgsAfterClose checks that arguments of a mapped file are "" after Close, and that
// those of a stream remain available.
func TestArgsAfterClose(t *testing.T) {
	w := manual(1)
	for i := range 3000 {
		w.begin1(1, 1, float64(i), "f", fmt.Sprintf("argument %d", i))
	}
	file := filepath.Join(t.TempDir(), "x.spall")
	if err := os.WriteFile(file, w.b, 0o600); err != nil {
		t.Fatal(err)
	}
	in, err := source.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	b := recording.NewBuilder()
	if err := Format.Decode(context.Background(), in, b, decode.Options{}); err != nil {
		t.Fatal(err)
	}
	r := b.Finish()
	ref := r.Tracks[0].Lanes[2999].Args(0)
	if got := r.Args(ref); got != "argument 2999" {
		t.Errorf("args %q", got)
	}
	in.Close()
	if got := r.Args(ref); got != "" {
		t.Errorf("args after Close %q", got)
	}
	if got := r.Args(1<<60 | 200); got != "" {
		t.Errorf("args from nowhere %q", got)
	}

	r, err = try(source.FromReader("x", bytes.NewReader(w.b)))
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range []int{0, 1, 2999} {
		if got, want := r.Args(r.Tracks[0].Lanes[i].Args(0)), fmt.Sprintf("argument %d", i); got != want {
			t.Errorf("args of a stream %q, want %q", got, want)
		}
	}
}

// TestLongArgs reads an automatic trace with a name and arguments longer than 255 bytes.
func TestLongArgs(t *testing.T) {
	name, args := strings.Repeat("name ", 100), strings.Repeat("argument ", 7000)
	w := automatic(1, 0, "")
	w.openAuto(1, 100)
	w.u8(9<<4|3, 1)
	w.b = binary.LittleEndian.AppendUint16(w.b, uint16(len(name)))
	w.b = binary.LittleEndian.AppendUint16(w.b, uint16(len(args)))
	w.text(name + args)
	w.close()
	compare(t, w.b)
	r, err := try(source.FromReader("x", bytes.NewReader(w.b)))
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Args(r.Tracks[0].Lanes[0].Args(0)); got != args || r.FuncName(1) != name {
		t.Errorf("%d bytes of arguments, %d of name", len(got), len(r.FuncName(1)))
	}
}

// endless is a reader of a trace that never ends.
type endless struct {
	record []byte
	at     int
}

func (e *endless) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		k := copy(p[n:], e.record[e.at:])
		n += k
		if e.at += k; e.at == len(e.record) {
			e.at = headerLen
		}
	}
	return n, nil
}

func TestCancel(t *testing.T) {
	w := manual(1)
	w.begin1(1, 1, 5, "a", "")
	w.end(1, 1, 6)
	before := runtime.NumGoroutine()
	for i := range 20 {
		ctx, cancel := context.WithCancel(context.Background())
		in := source.FromReader("endless", &endless{record: w.b})
		in.ChunkSize = 1 << 16
		time.AfterFunc(time.Duration(i)*time.Millisecond, cancel)
		err := Format.Decode(ctx, in, recording.NewBuilder(), decode.Options{})
		if err != context.Canceled {
			t.Fatalf("got %v", err)
		}
		in.Close()
		cancel()
	}
	for i := 0; runtime.NumGoroutine() > before; i++ {
		if i > 1000 {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		}
		time.Sleep(time.Millisecond)
	}
}

func FuzzSpall(f *testing.F) {
	all := synthetic()
	damagedTraces(all)
	for _, content := range all {
		f.Add(content[:min(len(content), 2000)], uint16(13))
	}
	w := manual(0)
	w.complete0(1, 1, 100, 50, "outer")
	w.complete0(1, 1, 110, 60, "other")
	w.begin0(1, 1, 1, "x")
	w.end(1, 1, 2)
	f.Add(w.b, uint16(1))
	w = manual(0)
	w.begin0(1, 1, 1, "around those that overlap")
	w.complete0(1, 1, 100, 50, "first")
	w.complete0(1, 1, 110, 60, "second")
	w.end(1, 1, 200)
	f.Add(w.b, uint16(1))
	f.Fuzz(func(t *testing.T, content []byte, chunk uint16) {
		if len(content) > 1<<12 { // the dump of deeply nested calls is long
			return
		}
		r, err := try(source.FromBytes("fuzz", content))
		in := source.FromReader("fuzz", bytes.NewReader(content))
		in.ChunkSize = int(chunk)
		r2, err2 := try(in)
		if (err == nil) != (err2 == nil) {
			t.Fatalf("mapped %v, streamed %v", err, err2)
		}
		if err != nil {
			return
		}
		same(t, "in chunks", everything(r2), everything(r))
		var begins int64
		for _, l := range r.Ledger {
			if l.Read != l.Kept+l.LeftOut {
				t.Fatalf("the ledger does not balance: %+v", l)
			}
			if l.Kind == "begin" || l.Kind == "complete" {
				begins += l.Kept
			}
		}
		if begins+r.Filled() != r.Counts.Spans {
			t.Fatalf("%d spans begin, %d are there", begins, r.Counts.Spans)
		}
	})
}
