package perfetto

import (
	"bytes"
	"compress/zlib"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"google.golang.org/protobuf/encoding/protowire"

	"ashlar/ingest/format/decode"
	"ashlar/ingest/format/decode/decodetest"
	"ashlar/ingest/format/sched"
	"ashlar/ingest/input/source"
	"ashlar/ingest/model/recording"
	"ashlar/testdata/rounds"
	"ashlar/testdata/samples"
)

var decodeBytes = decodetest.Of(Decode)

// told lists the states, spans, instants, samples, counters and flows of a recording.
func told(r *recording.Recording) (lines []string) {
	line := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	for _, tr := range r.Tracks {
		lines = append(lines, decodetest.States(r, tr)...)
		for d := range tr.Lanes {
			for l, i := &tr.Lanes[d], 0; i < l.Len(); i++ {
				f := r.Functions.At(int(r.Func(l.Call(i))))
				end := r.Clock.Text(l.End(i))
				if l.Unfinished(i) {
					end = "open"
				}
				args := ""
				if r.Args != nil {
					args = r.Args(l.Args(i))
				}
				line("span %d/%s %s@%s %s to %s %s", tr.PID, tr.Name, f.Name, f.Module, r.Clock.Text(l.Start(i)), end, args)
			}
		}
		for _, i := range tr.Instants {
			line("instant %d/%s %s %s", tr.PID, tr.Name, i.Name, r.Clock.Text(i.Time))
		}
		for _, s := range tr.Samples {
			e := &r.Events[s.Event]
			for i := range s.Len() {
				line("sample %d/%d %s %s%s %d", tr.PID, tr.TID, e.Name, r.Clock.Text(s.Time(i)), stackOf(r, s.Call(i)), s.Value(i, &e.Metrics[0], 0))
			}
		}
	}
	for e, s := range r.Stacks {
		for i := 0; s != nil && i < s.Len(); i++ {
			v := ""
			for m := range r.Events[e].Metrics {
				v += fmt.Sprint(" ", s.Value(i, m))
			}
			line("stack %s%s%s", r.Contexts.At(int(s.Context(i))).Get("pid"), stackOf(r, s.Call(i)), v)
		}
	}
	for _, c := range r.Counters {
		for i := range c.Len() {
			line("counter %d/%s/%s %s %s %g", r.Processes[c.Process].PID, c.Name, c.Series, c.Unit, r.Clock.Text(c.Time(i)), c.Value(i))
		}
	}
	for _, f := range r.Flows {
		s := "flow"
		for _, x := range f.Steps {
			s += fmt.Sprintf(" %s %s", r.Tracks[x.Track].Name, r.Clock.Text(x.Time))
		}
		line("%s", s)
	}
	slices.Sort(lines)
	return lines
}

func stackOf(r *recording.Recording, c recording.CallID) (s string) {
	for ; c != recording.NoCall; c = r.Calls.Parent(c) {
		s = ";" + r.FuncName(c) + s
	}
	return s
}

// num, msg and fix append a field to a message.
func num(b []byte, f protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, f, protowire.VarintType), v)
}

func msg(b []byte, f protowire.Number, v []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, f, protowire.BytesType), v)
}

func fix(b []byte, f protowire.Number, v uint64) []byte {
	return protowire.AppendFixed64(protowire.AppendTag(b, f, protowire.Fixed64Type), v)
}

// made collects the packets of several sequences, one for each thread, and the expected
// recording.
type made struct {
	packets [4][][]byte
	want    []string
}

func (m *made) add(seq int, at uint64, fields ...[]byte) {
	b := num(num(nil, packetSequence, uint64(seq+1)), packetTime, at)
	for _, f := range fields {
		b = append(b, f...)
	}
	m.packets[seq] = append(m.packets[seq], b)
}

var packer, _ = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))

// trace writes the packets of all sequences, some of them compressed into other packets.
func (m *made) trace(r *rand.Rand) []byte {
	var out []byte
	queues := m.packets
	for {
		var left []int
		for i := range queues {
			if len(queues[i]) > 0 {
				left = append(left, i)
			}
		}
		if len(left) == 0 {
			return out
		}
		i := left[r.IntN(len(left))]
		n := min(1+r.IntN(5), len(queues[i]))
		var part []byte
		for _, p := range queues[i][:n] {
			part = msg(part, 1, p)
		}
		queues[i] = queues[i][n:]
		switch r.IntN(4) {
		case 0:
			var z bytes.Buffer
			w := zlib.NewWriter(&z)
			w.Write(part)
			w.Close()
			part = msg(nil, 1, msg(nil, packetCompressed, z.Bytes()))
		case 1:
			part = msg(nil, 1, msg(nil, packetZstd, packer.EncodeAll(part, nil)))
		}
		out = append(out, part...)
	}
}

// random returns a trace of threads with nested slices, operations, counters and flows.
func random(r *rand.Rand, size int) *made {
	m := &made{}
	for seq := range m.packets {
		uuid := uint64(100 + seq)
		thread := msg(nil, 4, msg(num(num(nil, 1, 7), 2, uint64(50+seq)), 5, fmt.Appendf(nil, "t%d", seq)))
		async := append(num(num(nil, 1, uuid+100), 5, uuid), msg(nil, 2, []byte("op"))...)
		counter := append(num(num(nil, 1, uuid+200), 5, uuid), msg(msg(nil, 2, []byte("heap")), 8, num(num(nil, 3, 3), 4, 10))...)
		names := msg(nil, packetInterned, append(msg(nil, internName, msg(num(nil, 1, 3), 2, []byte("by number"))), msg(nil, internCategory, msg(num(nil, 1, 4), 2, []byte("cat")))...))
		defaults := msg(nil, packetDefaults, msg(nil, packetEvent, num(nil, eventTrack, uuid)))
		m.add(seq, 0, num(nil, packetFlags, flagCleared), msg(nil, packetDescriptor, append(num(nil, 1, uuid), thread...)), names, defaults)
		m.add(seq, 0, msg(nil, packetDescriptor, async))
		m.add(seq, 0, msg(nil, packetDescriptor, counter))
		m.thread(r, seq, uuid, size)
	}
	slices.Sort(m.want)
	return m
}

func (m *made) thread(r *rand.Rand, seq int, uuid uint64, size int) {
	type slice struct {
		name, args string
		at         uint64
	}
	var open [2][]slice
	tracks := [2]string{fmt.Sprintf("t%d", seq), fmt.Sprintf("op of t%d", seq)}
	at := uint64(1000)
	event := func(fields ...[]byte) {
		m.add(seq, at, num(nil, packetFlags, flagNeeds), msg(nil, packetEvent, slices.Concat(fields...)))
	}
	for range size {
		at += 1 + r.Uint64N(50)
		on := r.IntN(2)
		var where []byte
		if on == 1 {
			where = num(nil, eventTrack, uuid+100)
		}
		switch r.IntN(6) {
		case 0, 1:
			if len(open[on]) > 20 {
				continue
			}
			s := slice{at: at}
			var name []byte
			if r.IntN(2) == 0 {
				s.name, name = "by number@cat", append(num(nil, eventNameID, 3), num(nil, eventCategoryIDs, 4)...)
			} else {
				s.name = fmt.Sprintf("f%d@a,b", r.IntN(3))
				name = msg(msg(msg(nil, eventName, []byte(s.name[:2])), eventCategories, []byte("a")), eventCategories, []byte("b"))
			}
			if r.IntN(3) == 0 {
				s.args = `{"n":5,"d":{"x":"y\"z"},"l":[true,-1]}`
				for _, a := range [][]byte{
					num(msg(nil, 10, []byte("n")), 3, 5), msg(msg(nil, 10, []byte("d")), 11, msg(msg(nil, 10, []byte("x")), 6, []byte(`y"z`))),
					msg(msg(msg(nil, 10, []byte("l")), 12, num(nil, 2, 1)), 12, num(nil, 4, 1<<64-1)),
				} {
					name = msg(name, eventAnnotation, a)
				}
			}
			event(num(nil, eventType, typeBegin), where, name)
			open[on] = append(open[on], s)
		case 2:
			if n := len(open[on]); n > 0 {
				s := open[on][n-1]
				open[on] = open[on][:n-1]
				var more []byte
				if r.IntN(3) == 0 { // ends may have arguments too
					more = msg(nil, eventAnnotation, num(msg(nil, 10, []byte("e")), 3, at))
					before := "{"
					if s.args != "" {
						before = strings.TrimSuffix(s.args, "}") + ","
					}
					s.args = fmt.Sprintf(`%s"e":%d}`, before, at)
				}
				event(num(nil, eventType, typeEnd), where, more)
				m.want = append(m.want, fmt.Sprintf("span 7/%s %s %d to %d %s", tracks[on], s.name, s.at, at, s.args))
			}
		case 3:
			event(num(nil, eventType, typeInstant), where, msg(nil, eventName, []byte("now")))
			m.want = append(m.want, fmt.Sprintf("instant 7/%s now %d", tracks[on], at))
		case 4:
			v := r.Uint64N(1000)
			event(num(nil, eventType, typeCounter), num(nil, eventTrack, uuid+200), num(nil, eventInteger, v))
			m.want = append(m.want, fmt.Sprintf("counter 7/heap/t%d bytes %d %d", seq, at, v*10))
		case 5:
			id := 1 + r.Uint64() // a flow between two instants
			event(num(nil, eventType, typeInstant), msg(nil, eventName, []byte("from")), fix(nil, eventFlows, id))
			from := at
			at++
			event(num(nil, eventType, typeInstant), msg(nil, eventName, []byte("to")), fix(nil, eventEnds, id))
			m.want = append(m.want, fmt.Sprintf("instant 7/%s from %d", tracks[0], from), fmt.Sprintf("instant 7/%s to %d", tracks[0], at),
				fmt.Sprintf("flow %s %d %s %d", tracks[0], from, tracks[0], at))
		}
	}
	for on := range open {
		for _, s := range open[on] {
			m.want = append(m.want, fmt.Sprintf("span 7/%s %s %d to open %s", tracks[on], s.name, s.at, s.args))
		}
	}
}

func TestRandomFiles(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range rounds.Size(60, 12) {
		m := random(r, 1+r.IntN(60))
		content := m.trace(r)
		for _, chunk := range []int{0, 7} {
			rec, err := decodeBytes(t, content, chunk)
			if len(m.want) == 0 && err != nil {
				continue
			}
			if err != nil || len(rec.Warnings) > 0 {
				t.Fatal(err, rec.Warnings)
			}
			if got := told(rec); !slices.Equal(got, m.want) {
				for i := range max(len(got), len(m.want)) {
					if i >= len(got) || i >= len(m.want) || got[i] != m.want[i] {
						t.Fatalf("%d of %d lines:\n got %s\nwant %s", len(got), len(m.want), got[min(i, len(got)-1)], m.want[min(i, len(m.want)-1)])
					}
				}
			}
		}
	}
}

// TestSampleFiles checks the recordings of sample files whose content is known.
func TestSampleFiles(t *testing.T) {
	samples.Need(t)
	for name, want := range map[string]string{
		"track_event_tracks": `instant 0/global event1_on_t1 30000
instant 5/async event1_on_async 5000
instant 5/async3 of t2 event1_on_async3 6000
instant 5/event_and_track_async3 event_and_track_async3 40000
instant 5/p1 event1_on_p1 4000
instant 5/p1 event1_on_p2 21000
instant 5/p1 event2_on_p2 31000
instant 5/t1 event1_on_t1 1000
instant 5/t1 event3_on_t1 6000
instant 5/t2 event1_on_t2 2000
instant 5/t2 event2_on_t2 3000
instant 5/t3 (1 again, 7) event1_on_t3 11000
instant 5/t4 event1_on_t4 22000
instant 5/t4 event2_on_t4 32000
span 5/async2 event1_on_async2@cat 5100 to 5200`,
		"track_event_counters": `counter 0/MyDoubleCounter/  4200 3.1415926
counter 0/MyDoubleCounter/  4300 0.5
counter 0/MyDoubleCounter/  4500 2.71828
counter 0/MySizeCounter/ bytes 3000 1024
counter 0/MySizeCounter/ bytes 3100 2048
counter 0/MySizeCounter/ bytes 4000 1024
counter 0/MySizeCounter/ bytes 4500 4096
counter 5/thread time/t1 ns 1000 1e+06
counter 5/thread time/t1 ns 1100 1.01e+06
counter 5/thread time/t1 ns 2000 2.01e+06
counter 5/thread time/t1 ns 2000 2e+06
counter 5/thread time/t1 ns 2200 2.02e+06
counter 5/thread time/t1 ns 2200 2.03e+06
counter 5/thread time/t1 ns 4000 2.04e+06
instant 5/t1 event4_on_t1 4000
instant 5/t1 float_counter_on_t1 4300
instant 5/t1 float_counter_on_t1 4500
span 5/t1 event1_on_t1@cat 1000 to 1100
span 5/t1 event2_on_t1@cat 2000 to 2200
span 5/t1 event3_on_t1@cat 2000 to 2200
span 5/t4 event1_on_t3@cat 4000 to 4100`,
		"legacy_async_event": `instant 0/name1 name1 3000
instant 0/name1 name1 5000
span 0/name1 name1@cat 1000 to 8000 {"arg1":"value1","arg2":"value2"}
span 0/name1 name1@cat 2000 to 3000`,
		"stack_sample": `sample 0/0 wall-time 7000;foo 7000000
sample 100/0 wall-time 6000;foo 4000000
sample 100/101 wall-time 1000;main;foo 1000000
sample 100/101 wall-time 2000;foo 2000000`,
		"heap_profile": `stack 2;f1;f2 90 9 100 10 0 0
stack 2;f1;f2;f3 1000 1 2000 2 0 0`,
	} {
		content := samples.Read(t, "perfetto/"+name+".pftrace")
		if sure, err := Sniff(content, true); sure != decode.Certain || err != nil {
			t.Errorf("%s: %v %v", name, sure, err)
		}
		for _, chunk := range []int{0, 7} {
			r, err := decodeBytes(t, content, chunk)
			if err != nil {
				t.Fatal(name, err)
			}
			got := told(r)
			for i := range got {
				got[i] = strings.TrimRight(got[i], " ")
			}
			if s := strings.Join(got, "\n"); s != want {
				t.Errorf("%s: got\n%s\nwant\n%s", name, s, want)
			}
		}
	}
}

// TestSched checks which thread ran on which CPU, for single and compact events.
func TestSched(t *testing.T) {
	event := func(at uint64, prev, state, next uint64, comm string) []byte {
		return msg(num(nil, 1, at), 4, msg(num(num(num(nil, 2, prev), 4, state), 6, next), 5, []byte(comm)))
	}
	wake := func(at, tid uint64) []byte { return msg(num(nil, 1, at), 20, num(nil, 2, tid)) }
	b := num(nil, 1, 3) // processor 3
	for _, e := range [][]byte{event(100, 0, 0, 11, "a"), event(150, 11, 1, 12, "b"), wake(160, 11), event(180, 12, 0, 11, "a"), event(200, 11, 2, 0, "")} {
		b = msg(b, 2, e)
	}
	packed := func(n ...uint64) (b []byte) {
		for _, v := range n {
			b = protowire.AppendVarint(b, v)
		}
		return b
	}
	c := msg(msg(nil, 5, []byte("c")), 5, []byte("d"))
	c = msg(msg(msg(msg(c, 1, packed(300, 10, 20)), 2, packed(0, 1, 2)), 3, packed(21, 22, 0)), 6, packed(0, 1, 0))
	tree := msg(nil, 2, num(num(nil, 1, 11), 3, 10))
	trace := msg(nil, 1, num(msg(nil, packetTree, tree), packetTime, 1))
	trace = msg(trace, 1, num(msg(nil, packetFtrace, b), packetTime, 1))
	trace = msg(trace, 1, num(msg(nil, packetFtrace, msg(num(nil, 1, 4), 4, c)), packetTime, 1))
	r, err := decodeBytes(t, trace, 0)
	if err != nil || len(r.Warnings) > 0 {
		t.Fatal(err, r.Warnings)
	}
	cpu := fmt.Sprint(int64(sched.Processors))
	want := []string{
		"state 0/b [runnable] 180 to 330", "state 0/b [running] 150 to 180",
		"state 0/c [blocked: sleeping] 310 to 330", "state 0/c [running] 300 to 310", "state 0/d [running] 310 to 330",
		"state 10/a [blocked: sleeping, uninterruptible] 200 to 330", "state 10/a [blocked: sleeping] 150 to 160",
		"state 10/a [runnable] 160 to 180", "state 10/a [running] 100 to 150", "state 10/a [running] 180 to 200",
		"span " + cpu + "/CPU 3 a@ 100 to 150 ", "span " + cpu + "/CPU 3 a@ 180 to 200 ", "span " + cpu + "/CPU 3 b@ 150 to 180 ",
		"span " + cpu + "/CPU 4 c@ 300 to 310 ", "span " + cpu + "/CPU 4 d@ 310 to 330 ",
	}
	slices.Sort(want)
	if got := told(r); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestClocks checks that times of other clocks, including incremental ones, are converted
// to the trace's clock.
func TestClocks(t *testing.T) {
	clock := func(id, at uint64) []byte { return num(num(nil, 1, id), 2, at) }
	own := num(num(clock(64, 5), 3, 1), 4, 1000) // incremental, in microseconds
	snapshot := msg(msg(msg(msg(nil, 1, clock(6, 1_000_000)), 1, clock(3, 500)), 1, own), 3, nil)
	p := func(clock, at uint64, name string) []byte {
		b := num(num(num(nil, packetSequence, 1), packetTime, at), packetClock, clock)
		return msg(b, packetEvent, msg(num(nil, eventType, typeInstant), eventName, []byte(name)))
	}
	trace := msg(nil, 1, msg(num(nil, packetSequence, 1), packetClocks, snapshot))
	for _, x := range [][]byte{p(6, 900_000, "boot"), p(3, 700, "monotonic"), p(64, 2, "two later"), p(64, 3, "three later")} {
		trace = msg(trace, 1, x)
	}
	r, err := decodeBytes(t, trace, 0)
	want := []string{"instant 0/global boot 900000", "instant 0/global monotonic 1000200", "instant 0/global three later 1005000", "instant 0/global two later 1002000"}
	if got := told(r); err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, want %q (%v)", got, want, err)
	}
}

// TestManyOpen reads a trace with many slices that never end.
func TestManyOpen(t *testing.T) {
	const many = 10_000
	var trace []byte
	for i := range uint64(many) {
		b := num(num(nil, packetSequence, 1), packetTime, 100+i)
		trace = msg(trace, 1, msg(b, packetEvent, msg(num(num(nil, eventType, typeBegin), eventTrack, 5), eventName, []byte("e"))))
	}
	r, err := decodeBytes(t, trace, 0)
	if err != nil || r.Counts.Spans != many || r.Counts.Unfinished != many {
		t.Errorf("%d spans, %d of them open; want %d (%v)", r.Counts.Spans, r.Counts.Unfinished, many, err)
	}
}

func TestSentences(t *testing.T) {
	ev := func(kind uint64, more ...byte) []byte {
		b := num(num(nil, packetSequence, 1), packetTime, 5)
		return msg(b, packetEvent, append(msg(num(nil, eventType, kind), eventName, []byte("e")), more...))
	}
	one := msg(nil, 1, ev(typeInstant))
	for _, x := range []struct {
		name        string
		content     []byte
		place, want string
	}{
		{"nothing to show", msg(nil, 1, num(nil, packetTime, 5)), "", "the trace has nothing to show: no track events, scheduler events or samples"},
		{"cut", append(bytes.Clone(one), one[:9]...), "byte 14", "The trace is truncated at byte 14; everything before is shown"},
		{"cut in a length", append(bytes.Clone(one), 0x0a), "byte 14", "The trace is truncated at byte 14; everything before is shown"},
		{"no packet", append(bytes.Clone(one), "noise noise"...), "byte 14", "The trace is damaged at byte 14, where a packet should start; everything before is shown"},
		{"lost packets", msg(bytes.Clone(one), 1, append(ev(typeInstant), num(nil, packetFlags, flagNeeds)...)), "", "Packets were lost while recording; later packets that depend on them were left out until the sequence restarts"},
		{"an end alone", msg(bytes.Clone(one), 1, ev(typeEnd)), "", "Slices end without a start: the start was before the trace or is lost; the ends were left out"},
		{"an unknown type", msg(bytes.Clone(one), 1, ev(9)), "", "Track events other than slices, instants and counters are left out"},
		{"not packed", msg(bytes.Clone(one), 1, msg(nil, packetCompressed, []byte("no zlib"))), "", "Some compressed packets cannot be decompressed (zlib: invalid header); earlier packets are shown"},
	} {
		r, err := decodeBytes(t, x.content, 0)
		decodetest.Sentence(t, x.name, r, err, x.place, x.want)
	}
}

func FuzzDecode(f *testing.F) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 4 {
		f.Add(random(r, 20).trace(r), 11)
	}
	for _, asText := range []bool{true, false} {
		f.Add(inPackets(f, v8Events, asText, 1000), 7)
	}
	decodetest.FuzzParts(f, Decode, Sniff, told)
}

func BenchmarkDecode(b *testing.B) {
	content := random(rand.New(rand.NewPCG(3, 4)), 50_000).trace(rand.New(rand.NewPCG(5, 6)))
	b.SetBytes(int64(len(content)))
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		in := source.FromBytes("x", bytes.Clone(content))
		if err := Decode(context.Background(), in, recording.NewBuilder(), decode.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
