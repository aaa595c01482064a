package spaa

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

	"ashlar/ingest/format/decode"
	"ashlar/ingest/input/source"
	"ashlar/ingest/model/recording"
	"ashlar/testdata/rounds"
)

// chaos returns a file with all kinds of records in valid and invalid order, ids of all
// forms, and damage.
func chaos(seed uint64, n int) string {
	r := rand.New(rand.NewPCG(seed, 1))
	pick := func(s ...string) string { return s[r.IntN(len(s))] }
	id := func() string {
		return pick(`"0x1f"`, `"0x001f"`, `7`, `"7"`, `"stack seven"`, `7.5`, `"0xZ"`, `123456789012345678901234567890`)
	}
	who := func() string {
		return pick("", `,"pid":1,"tid":1`, `,"pid":1,"tid":2,"comm":"two"`, `,"tid":2`, `,"pid":3,"tid":3,"cpu":1`, `,"pid":3`, `,"comm":"nobody"`)
	}
	weight := func() string {
		return fmt.Sprintf(`{"metric":%q,"value":%s%s}`, pick("period", "samples", "live_bytes", "time_us"),
			pick("1", "2.5", "1000000", "0.125", "-3", "9007199254740993", "1e2"), pick("", `,"unit":"x"`, `,"unit":"y"`))
	}
	event := func() string { return pick("cycles", "cycles", "cycles", "faults", "") }
	var s strings.Builder
	if seed%3 < 2 {
		s.WriteString(head + "\n")
	}
	for range n {
		switch r.IntN(14) {
		case 0:
			fmt.Fprintf(&s, `{"type":"dso","id":%d,"name":"lib%d"}`, r.IntN(6), r.IntN(6))
		case 1, 2:
			fmt.Fprintf(&s, `{"type":"frame","id":%d,"func":"f%d","dso":%d,"kind":"user","srcline":"a%d.c:%d"}`, r.Int64N(40)*pow10[r.IntN(2)*10], r.IntN(20), r.IntN(6), r.IntN(3), r.IntN(9))
		case 3:
			fmt.Fprintf(&s, `{"type":"thread","pid":%d,"tid":%d%s}`, r.IntN(4), r.IntN(4), pick("", `,"comm":"t"`))
		case 4, 5, 6:
			var f []string
			for range r.IntN(6) {
				f = append(f, fmt.Sprint(r.Int64N(40)*pow10[r.IntN(2)*10]))
			}
			fmt.Fprintf(&s, `{"type":"stack","id":%s,"frames":[%s],"context":{"event":%q%s},"weights":[%s],"related_stacks":[%s]}`,
				id(), strings.Join(f, ","), event(), who(), weight()+","+weight(), id())
		case 7, 8, 9:
			fmt.Fprintf(&s, `{"type":"sample","timestamp":%d.%d,"stack_id":%s,"event":%q,"period":%d%s}`, 100+r.IntN(10), r.IntN(1000), id(), event(), r.IntN(5), who())
		case 10:
			fmt.Fprintf(&s, `{"type":"window","id":"w","start":%d,"end":%d,"by_stack":[{"stack_id":%s,"weights":[%s]},{"stack_id":%s,"weights":[%s]}]}`, r.IntN(5), 5+r.IntN(5), id(), weight(), id(), weight())
		case 11:
			s.WriteString(pick(`{"type":"x"}`, `{"type":`, "", `{"type":"stack","id":1}`, head, "\xff\xfe", `{"type":"sample","timestamp":1}`))
		default:
			fmt.Fprintf(&s, `{"context":{"event":"cycles","pid":1,"tid":%d},"frames":[],"id":%s,"type":"stack","weights":[%s]}`, r.IntN(3), id(), weight())
		}
		s.WriteString("\n")
	}
	return strings.TrimSuffix(s.String(), "\n")
}

// TestSameHoweverCut checks that the recording does not depend on the number of workers or
// the chunk size.
func TestSameHoweverCut(t *testing.T) {
	seeds := uint64(6)
	if testing.Short() {
		seeds = 2
	}
	for seed := range seeds {
		data := chaos(seed, 250)
		sameHoweverCut(t, data, []int{1, 2, 8}, []int{1, 13, 200, 5000, 0})
		in := source.FromReader("x.spaa", iotest.OneByteReader(strings.NewReader(data)))
		in.ChunkSize = 300
		b := recording.NewBuilder()
		err := Decode(context.Background(), in, b, decode.Options{})
		in.Close()
		want, werr := tryRead(data, 0, 0)
		equal(t, "error of a stream", fmt.Sprint(err), fmt.Sprint(werr))
		if got, want := dump(b.Finish()), dump(want); got != want {
			t.Error("a stream gives another recording: " + firstDifference(got, want))
		}
	}
	if testing.Short() {
		return
	}
	sameHoweverCut(t, synthetic("samples", 3000, false), []int{1, 8}, []int{1 << 12, 1 << 18})
}

// TestKeepsNothing overwrites the file after decoding, to check that the recording refers
// to none of its bytes.
func TestKeepsNothing(t *testing.T) {
	for seed := range uint64(6) {
		data := []byte(chaos(seed, 400))
		b := recording.NewBuilder()
		err := Decode(context.Background(), source.FromBytes("x.spaa", data), b, decode.Options{Workers: 2})
		rec := b.Finish()
		if rec.Counts.Windows == 0 || err != nil {
			t.Fatal(rec.Counts, err)
		}
		want := dump(rec)
		for i := range data {
			data[i] = '#'
		}
		if got := dump(rec); got != want {
			t.Error(firstDifference(got, want))
		}
	}
}

// TestDictReset reads more strings and contexts than a worker keeps.
func TestDictReset(t *testing.T) {
	var s strings.Builder
	s.WriteString(dict4)
	const n = dictContexts + 1000
	for i := range n {
		fmt.Fprintf(&s, `{"type":"stack","id":"id %d","frames":[2,1],"context":{"event":"cycles","tid":%d,"x":%d},"weights":[{"metric":"period","value":1}]}`+"\n", i, i%5, i)
	}
	for i := range n {
		fmt.Fprintf(&s, `{"type":"sample","timestamp":%d.5,"stack_id":"id %d","tid":%d,"event":"cycles","period":2}`+"\n", 101+i%9, i, i%5)
	}
	got, err := tryRead(s.String(), 4, 1<<16)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "total", got.Events[0].Metrics[0].Total, int64(n))
	if rounds.Raced { // the rest starts no goroutines
		return
	}
	want, err := tryRead(s.String(), 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "warnings", codes(want), "")
	equal(t, "total", want.Events[0].Metrics[0].Total, int64(n))
	for _, tr := range want.Tracks {
		for i := range tr.Samples[0].Len() {
			if got := stackText(want, tr.Samples[0].Call(i)); got != "main;run" {
				t.Fatalf("sample %d of thread %d has stack %q", i, tr.TID, got)
			}
		}
	}
	equal(t, "samples", got.Counts, want.Counts)
	if a, b := dump(got), dump(want); a != b {
		t.Error(firstDifference(a, b))
	}
}

// TestAllocations checks that decoding a sample allocates no memory.
func TestAllocations(t *testing.T) {
	if testing.Short() {
		t.Skip("counting allocations takes long with the race detector")
	}
	count := func(samples int) float64 {
		data := []byte(synthetic("samples", samples, false))
		return testing.AllocsPerRun(2, func() {
			b := recording.NewBuilder()
			if err := Decode(context.Background(), source.FromBytes("x", data), b, decode.Options{Workers: 1}); err != nil {
				t.Fatal(err)
			}
		})
	}
	const more = 100_000
	if extra := count(more+1000) - count(1000); extra > more/50 {
		t.Errorf("%d samples cost %.0f allocations", more, extra)
	}
}

// FuzzSPAA decodes arbitrary bytes. The ledger must balance, and the recording must not
// depend on how the file is split.
func FuzzSPAA(f *testing.F) {
	f.Add(dict4 + stackLine(`"a"`, "2,1", `,"pid":1,"tid":2`, period("3")))
	for seed := range uint64(3) {
		f.Add(chaos(seed, 12))
	}
	f.Add(strings.Replace(dict4, "leaf_to_root", "root_to_leaf", 1) + stackLine(`1`, "2,1", "", period("1.5")))
	f.Add(lines(dso1, fMain, sampleLine("1e9", "1", ""), `{"type":"window","start":1,"end":1e99,"by_stack":[]}`))
	f.Fuzz(func(t *testing.T, data string) {
		want, werr := tryRead(data, 1, 0)
		balanced(t, want)
		got, err := tryRead(data, 3, 11)
		equal(t, "error", fmt.Sprint(err), fmt.Sprint(werr))
		if a, b := dump(got), dump(want); a != b {
			t.Error(firstDifference(a, b))
		}
		for i := range want.Events {
			e := &want.Events[i]
			if rows := want.Stacks[i]; rows != nil && e.Basis == recording.FromStacks {
				for k := range e.Metrics {
					var sum int64
					for j := range rows.Len() {
						if v := rows.Value(j, k); v != recording.Missing {
							sum += v
						}
					}
					if sum != e.Metrics[k].Total && warning(want, "total-overflow").Count == 0 {
						t.Errorf("the total of %s is %d, its records add up to %d", e.Metrics[k].Name, e.Metrics[k].Total, sum)
					}
				}
			}
		}
	})
}
