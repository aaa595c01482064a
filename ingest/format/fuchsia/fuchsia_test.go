package fuchsia

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"ashlar/ingest/format/decode"
	"ashlar/ingest/format/decode/decodetest"
	"ashlar/ingest/model/recording"
)

// rec encodes a record: its type, the other bits of its header, and its words.
func rec(kind uint64, head uint64, parts ...any) []byte {
	var b []byte
	for _, p := range parts {
		switch v := p.(type) {
		case int:
			b = binary.LittleEndian.AppendUint64(b, uint64(v))
		case uint64:
			b = binary.LittleEndian.AppendUint64(b, v)
		case float64:
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
		case string:
			b = append(b, v...)
			b = append(b, make([]byte, (8-len(v)%8)%8)...)
		case []byte:
			b = append(b, v...)
		}
	}
	return append(binary.LittleEndian.AppendUint64(nil, kind|uint64(1+len(b)/8)<<4|head), b...)
}

func text(n uint64, s string) []byte { return rec(typeString, n<<16|uint64(len(s))<<32, s) }
func threadAs(n uint64, pid, tid int) []byte {
	return rec(typeThread, n<<16, pid, tid)
}
func inline(s string) uint64 { return 0x8000 | uint64(len(s)) }

// on encodes an event of a thread (by number) with its category, name and arguments inline.
func on(kind, thread uint64, category, name string, at int, more ...any) []byte {
	var args uint64
	parts := []any{at, category, name}
	for _, m := range more {
		if _, ok := m.([]byte); ok {
			args++
		}
		parts = append(parts, m)
	}
	return rec(typeEvent, kind<<16|args<<20|thread<<24|inline(category)<<32|inline(name)<<48, parts...)
}

// argOf encodes an argument.
func argOf(kind uint64, name string, head uint64, parts ...any) []byte {
	return rec(kind, inline(name)<<16|head<<32, append([]any{name}, parts...)...)
}

func join(parts ...[]byte) (out []byte) {
	for _, p := range parts {
		out = append(out, p...)
	}
	return out
}

var example = join([]byte(magic), rec(typeMetadata, 1<<16|7<<20|4<<52, "prov"), rec(typeMetadata, 2<<16|7<<20), rec(typeInit, 0, 1_000_000_000),
	text(1, "io"), text(2, "read"), threadAs(1, 10, 11), threadAs(2, 10, 12),
	rec(typeKernelObject, 1<<16|inline("app")<<24, 10, "app"),
	rec(typeKernelObject, 2<<16|inline("main")<<24|1<<40, 11, "main", argOf(8, "process", 0, 10)),
	on(begin, 1, "ui", "frame", 1000, argOf(1, "n", uint64(uint32(1<<32-5))), argOf(2, "u", 7), argOf(3, "i", 0, uint64(1<<64-9)), argOf(4, "big", 0, uint64(1<<63)),
		argOf(5, "f", 0, 1.5), argOf(6, "s", inline("a\"b"), "a\"b"), argOf(7, "p", 0, 255), argOf(8, "k", 0, 12), argOf(9, "b", 1), argOf(0, "none", 0)),
	rec(typeEvent, complete<<16|1<<24|1<<32|2<<48, 1100, 1400), // thread, category and name by number
	on(instant, 1, "ui", "tap", 1150),
	on(flowBegin, 1, "ipc", "call", 1200, 5),
	on(flowEnd, 2, "ipc", "call", 1300, 5),
	on(complete, 2, "ipc", "serve", 1300, 1350),
	on(end, 1, "ui", "frame", 1500),
	on(asyncBegin, 2, "net", "load", 1210, argOf(2, "n", 1), 77),
	on(asyncBegin, 2, "net", "load", 1220, 78),
	on(asyncInstant, 2, "net", "load", 1230, 78),
	on(asyncEnd, 2, "net", "load", 1400, 77),
	on(asyncEnd, 2, "net", "load", 1410, 78),
	on(counter, 2, "mem", "heap", 1000, argOf(4, "bytes", 0, 100), argOf(6, "unit", inline("B"), "B"), 0),
	on(counter, 2, "mem", "heap", 1200, argOf(4, "bytes", 0, 150), 0),
	rec(typeLog, uint64(5)<<16|1<<32, 1490, "hello"),
	rec(typeEvent, complete<<16|inline("c")<<32|inline("other")<<48, 1600, uint64(1)<<63|3, uint64(1)<<63|4, "c", "other", 1650))

const listing = `app / main
  frame 0..500 {"n":-5,"u":7,"i":-9,"big":9223372036854775808,"f":1.5,"s":"a\"b","p":"0xff","k":12,"b":true,"none":null}
    read 100..400
  * tap 150
  * log 490 {"message":"hello"}
app / thread 12
  serve 300..350
app / load
  load 210..400 {"n":1}
    load 220..410
  * load 230
virtual process 3 / virtual thread 4
  other 600..650
call > app / main 200.000 > app / thread 12 300.000`

func TestExample(t *testing.T) {
	if c, err := sniff(example[:16], false); c != decode.Certain || err != nil {
		t.Errorf("sniff = %v, %v", c, err)
	}
	if c, _ := sniff(example[8:], false); c != decode.No {
		t.Errorf("sniff of something else = %v", c)
	}
	for _, chunk := range []int{0, 1, 24, 100} {
		r, err := decodetest.Bytes(t, read, example, chunk)
		if err != nil || len(r.Warnings) > 0 {
			t.Fatalf("%v, %v", err, r.Warnings)
		}
		if got := strings.Join(decodetest.Spans(r), "\n"); got != listing {
			t.Fatalf("chunks of %d:\n%s\nwant\n%s", chunk, got, listing)
		}
		c := r.Counters[0]
		if len(r.Counters) != 1 || c.Name != "heap" || c.Series != "bytes" || c.Len() != 2 || c.Value(1) != 150 || c.Time(1) != 200_000 {
			t.Errorf("%d counters, %+v", len(r.Counters), c)
		}
		if read := r.Functions.At(int(r.Func(r.Tracks[0].Lanes[1].Call(0)))); read.Module != "io" {
			t.Errorf("function %+v", read)
		}
	}
}

// made returns a trace with nested spans of three threads, written as complete events or as
// begins and ends, and adds the total ticks of each function to sums.
func made(rng *rand.Rand, sums map[string]*big.Int, perSec int) []byte {
	b := join([]byte(magic), rec(typeInit, 0, perSec))
	for th := range 3 {
		at := rng.IntN(1000)
		var call func(depth int)
		call = func(depth int) {
			name, from := fmt.Sprintf("f%d", rng.IntN(6)), at
			whole := rng.IntN(2) == 0
			if !whole {
				b = append(b, rec(typeEvent, begin<<16|inline(name)<<48, from, 1, 10+th, name)...)
			}
			for at += rng.IntN(50); depth < 6 && rng.IntN(3) > 0; at += 1 + rng.IntN(50) {
				call(depth + 1)
			}
			at += 1 + rng.IntN(9)
			if whole {
				b = append(b, rec(typeEvent, complete<<16|inline(name)<<48, from, 1, 10+th, name, at)...)
			} else {
				b = append(b, rec(typeEvent, end<<16|inline(name)<<48, at, 1, 10+th, name)...)
			}
			if sums[name] == nil {
				sums[name] = new(big.Int)
			}
			sums[name].Add(sums[name], new(big.Int).Sub(big.NewInt(int64(at)), big.NewInt(int64(from))))
		}
		for range 10 {
			call(0)
			at += 1 + rng.IntN(100)
		}
	}
	return b
}

func TestAgainstNaive(t *testing.T) {
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 3))
		perSec := []int{1_000_000_000, 1_000_000, 2_000_000_000}[seed%3]
		want := map[string]*big.Int{}
		r, err := decodetest.Bytes(t, read, made(rng, want, perSec), 0)
		if err != nil || len(r.Warnings) > 0 {
			t.Fatalf("seed %d: %v, %v", seed, err, r.Warnings)
		}
		got := map[string]int64{}
		for c := range r.SpanTime {
			if c > 0 {
				got[r.FuncName(recording.CallID(c))] += r.SpanTime[c]
			}
		}
		for name, ticks := range want {
			ps := new(big.Int).Mul(ticks, big.NewInt(int64(1e12)/int64(perSec)))
			if !ps.IsInt64() || got[name] != ps.Int64() {
				t.Errorf("seed %d: %s took %d, want %v", seed, name, got[name], ps)
			}
		}
		if len(got) != len(want) || len(r.Tracks) != 3 {
			t.Errorf("seed %d: %v, want %v", seed, got, want)
		}
	}
}

// TestScheduler checks which thread ran on which CPU, for both forms of scheduler records.
func TestScheduler(t *testing.T) {
	weight := func(name string, w int32) []byte { return argOf(1, name, uint64(uint32(w))) }
	idle := int32(math.MinInt32)
	now := join([]byte(magic), rec(typeKernelObject, 2<<16|inline("w")<<24|1<<40, 11, "w", argOf(8, "process", 0, 10)),
		rec(typeSched, 1<<60|2<<16|3<<20|0<<36, 100, 1, 11, weight("outgoing_weight", idle), weight("incoming_weight", 20)),
		rec(typeSched, 1<<60|2<<16|3<<20|3<<36, 300, 11, 1, weight("outgoing_weight", 20), weight("incoming_weight", idle)),
		rec(typeSched, 2<<60|3<<20, 350, 11),
		rec(typeSched, 1<<60|2<<16|3<<20|0<<36, 400, 1, 11, weight("outgoing_weight", idle), weight("incoming_weight", 20)))
	old := join([]byte(magic), threadAs(1, 0, 0), threadAs(2, 10, 11), rec(typeKernelObject, 2<<16|inline("w")<<24, 11, "w"),
		rec(typeSched, 3<<16|1<<24|1<<28|2<<36|9<<52, 100), rec(typeSched, 3<<16|3<<24|2<<28|1<<36|9<<44, 300), rec(typeSched, 3<<16|1<<24|1<<28|2<<36|9<<52, 400))
	for name, c := range map[string]struct {
		content []byte
		states  string
	}{
		"now": {now, "running 0..200, blocked 200..250, runnable 250..300"},
		"old": {old, "running 0..200, blocked 200..300"},
	} {
		r, err := decodetest.Bytes(t, read, c.content, 0)
		if err != nil || len(r.Warnings) > 0 {
			t.Fatalf("%s: %v, %v", name, err, r.Warnings)
		}
		var got []string
		for _, track := range r.Tracks {
			if track.TID != 11 || track.PID != 10 || track.Name != "w" {
				continue
			}
			for i := range track.States.Len() {
				got = append(got, fmt.Sprintf("%s %d..%d", r.State(track.States.Call(i)), track.States.Start(i)/1000, track.States.End(i)/1000))
			}
		}
		if s := strings.Join(got, ", "); s != c.states {
			t.Errorf("%s: states %s, want %s", name, s, c.states)
		}
	}
}

func TestDamaged(t *testing.T) {
	span := rec(typeEvent, complete<<16|inline("f")<<48, 5, 1, 2, "f", 9)
	begun := rec(typeEvent, begin<<16|inline("f")<<48, 5, 1, 2, "f")
	ended := rec(typeEvent, end<<16|inline("f")<<48, 9, 1, 2, "f")
	m := []byte(magic)
	for _, c := range []struct {
		name        string
		content     []byte
		place, want string
		spans       int64
	}{
		{"whole", join(m, span), "", "", 1},
		{"cut", join(m, span, span[:20]), "byte 56", "The file is truncated at byte 56; everything before is shown", 1},
		{"cut in a head", join(m, span, span[:4]), "byte 56", "The file is truncated at byte 56; everything before is shown", 1},
		{"no length", join(m, span, make([]byte, 8), span), "byte 56", "The file is damaged at byte 56; everything before is shown", 1},
		{"too short", join(m, span, rec(typeEvent, complete<<16|inline("f")<<48, 5)), "byte 56", "The record at byte 56 is shorter than its fields and was left out", 1},
		{"an end too many", join(m, ended, span), "byte 8", "Spans end without a start, first at byte 8: the start was before the trace or is lost; the ends were left out", 1},
		{"no end", join(m, begun, span), "", "", 2},
		{"backward", join(m, rec(typeEvent, complete<<16|inline("f")<<48, 9, 1, 2, "f", 5)), "byte 8", "The span at byte 8 ends before it starts; it is shown without length", 1},
		{"time runs back", join(m, ended, begun, rec(typeEvent, end<<16|inline("f")<<48, 4, 1, 2, "f")), "byte 8", "Spans end without a start, first at byte 8: the start was before the trace or is lost; the ends were left out", 1},
		{"far", join(m, span, rec(typeEvent, complete<<16|inline("f")<<48, uint64(1<<63), 1, 2, "f", uint64(1<<63))), "byte 56", "The time at byte 56 is too far from the first one and was moved", 2},
		{"a record of tomorrow", join(m, span, rec(12, 0, 7)), "byte 56", "Records of an unknown type (first at byte 56) were left out", 1},
		{"a blob", join(m, rec(typeBlob, inline("b")<<16|8<<32, "b", 7), span), "byte 8", "Raw data of programs (first at byte 8) is not shown", 1},
		{"a large blob", join(m, rec(typeLarge, 0, 7, 8), span), "byte 8", "Raw data of programs (first at byte 8) is not shown", 1},
		{"a full buffer", join(m, span, rec(typeMetadata, 3<<16|1<<20)), "byte 56", "The buffer of a provider was full: some of its records are missing", 1},
		{"a flow from nowhere", join(m, span, rec(typeEvent, flowEnd<<16|inline("f")<<48, 6, 1, 2, "f", 3)), "byte 56", "Flows continue without a start, first at byte 56", 1},
		{"a counter without a number", join(m, span, rec(typeEvent, counter<<16|inline("f")<<48, 6, 1, 2, "f", 3)), "byte 56", "The counter at byte 56 has no number and was left out", 1},
		{"nothing", m, "", "the trace has no events", 0},
	} {
		r, err := decodetest.Bytes(t, read, c.content, 0)
		decodetest.Sentence(t, c.name, r, err, c.place, c.want)
		if r.Counts.Spans != c.spans {
			t.Errorf("%s: %d spans, want %d", c.name, r.Counts.Spans, c.spans)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(example)
	f.Add(made(rand.New(rand.NewPCG(1, 1)), map[string]*big.Int{}, 1000))
	decodetest.Fuzz(f, read, sniff)
}

// TestProcessesInOrder checks that processes known only by name and threads come in order of
// their ids.
func TestProcessesInOrder(t *testing.T) {
	content := []byte(magic)
	for pid := 30; pid > 10; pid-- {
		content = append(content, join(rec(typeKernelObject, 1<<16|inline("p")<<24, pid, "p"),
			rec(typeKernelObject, 2<<16|inline("w")<<24|1<<40, 100+pid, "w", argOf(8, "process", 0, pid)))...)
	}
	content = append(content, join(threadAs(1, 1, 2), on(0, 1, "c", "i", 5))...)
	r, err := decodetest.Bytes(t, read, content, 0)
	if err != nil || len(r.Processes) < 20 {
		t.Fatal(err, r.Processes)
	}
	last := int64(0)
	for _, p := range r.Processes {
		if p.PID > 10 && p.PID < last {
			t.Fatalf("%+v", r.Processes)
		}
		last = p.PID
	}
}
