package perfetto

import (
	"slices"
	"strings"
	"testing"

	"ashlar/ingest/model/recording"
)

// TestRepeatedSamples checks that a trace that contains its samples twice gives a warning, and
// that two equal samples at one time do not.
func TestRepeatedSamples(t *testing.T) {
	sample := func(at uint64) []byte {
		perf := num(num(num(nil, 1, 0), 2, 7), 3, 8) // cpu, pid, tid
		return msg(nil, 1, msg(num(num(nil, packetSequence, 1), packetTime, at), packetPerf, perf))
	}
	a, b := sample(1000), sample(2000)
	for _, c := range []struct {
		trace    [][]byte
		repeated bool
	}{
		{[][]byte{a, b}, false}, {[][]byte{a, a, b, b}, false}, {[][]byte{b, a, b}, false}, {[][]byte{a, b, a, b}, true}, {[][]byte{a, a, b, a, a, b}, true},
	} {
		r, err := decodeBytes(t, slices.Concat(c.trace...), 0)
		if err != nil {
			t.Fatal(err)
		}
		said := slices.ContainsFunc(r.Warnings, func(w recording.Warning) bool { return w.Code == "repeated" })
		if said != c.repeated || r.Counts.Samples != int64(len(c.trace)) {
			t.Errorf("%d packets: %d samples, %v", len(c.trace), r.Counts.Samples, r.Warnings)
		}
	}
}

// TestRepeatedDumps checks that the parts of the latest heap dump are added up, each once,
// and that earlier dumps do not count, whatever their order.
func TestRepeatedDumps(t *testing.T) {
	dump := func(at, bytes uint64) []byte {
		row := num(num(num(nil, 1, 1), 2, bytes), 5, 1) // stack, allocated bytes, allocations
		body := msg(nil, 5, msg(num(num(nil, 1, 7), 9, at), 2, row))
		return msg(nil, 1, msg(num(num(nil, packetSequence, 1), packetTime, at), packetHeap, body))
	}
	a, b, more := dump(1000, 50), dump(2000, 80), dump(2000, 30)
	for _, c := range []struct {
		trace [][]byte
		bytes int64
		said  bool
	}{
		{[][]byte{a, b, more}, 110, false}, {[][]byte{b, a}, 80, false},
		{[][]byte{a, b, more, a, b, more}, 110, true}, {[][]byte{b, b}, 80, true},
	} {
		r, err := decodeBytes(t, slices.Concat(c.trace...), 0)
		if err != nil {
			t.Fatal(err)
		}
		said := slices.ContainsFunc(r.Warnings, func(w recording.Warning) bool { return w.Code == "dump-repeated" })
		if got := r.Events[0].Metrics[0].Total; got != c.bytes || said != c.said {
			t.Errorf("%d packets: %d bytes, want %d; %v", len(c.trace), got, c.bytes, r.Warnings)
		}
	}
}

// TestEventStacks checks that stacks of track events, inline or interned, become samples of
// their thread, and that those with a weight go to a separate event. trace_processor gives
// the same four samples.
func TestEventStacks(t *testing.T) {
	packet := func(fields ...[]byte) []byte {
		return msg(nil, 1, append(num(nil, packetSequence, 1), slices.Concat(fields...)...))
	}
	frame := func(name, file string, line uint64) []byte {
		return msg(nil, 1, num(msg(msg(nil, 1, []byte(name)), 2, []byte(file)), 3, line))
	}
	event := func(at, kind uint64, name string, fields []byte) []byte {
		e := msg(num(num(nil, eventType, kind), eventTrack, 100), eventName, []byte(name))
		return packet(num(nil, packetTime, at), msg(nil, packetEvent, append(e, fields...)))
	}
	text := func(id uint64, name string) []byte {
		return msg(nil, packetInterned, msg(nil, internFunction, msg(num(nil, 1, id), 2, []byte(name))))
	}
	thread := msg(nil, 4, msg(num(num(nil, 1, 7), 2, 8), 5, []byte("t")))
	inline := slices.Concat(frame("main", "main.cc", 1), frame("leaf", "leaf.cc", 42))
	frames := msg(msg(nil, internFrame, num(num(nil, 1, 1), 2, 1)), internFrame, num(num(nil, 1, 2), 2, 2))
	trace := slices.Concat(
		packet(num(nil, packetFlags, flagCleared), msg(nil, packetDescriptor, num(thread, 1, 100))),
		packet(text(1, "FuncA")), packet(text(2, "FuncB")),
		packet(msg(nil, packetInterned, msg(frames, internCallstack, num(num(num(nil, 1, 1), 2, 1), 2, 2)))),
		event(10, typeBegin, "one", fix(msg(nil, eventStack, inline), eventWeight, 0x4004000000000000)), // 2.5
		event(11, typeBegin, "two", msg(nil, eventStack, inline)),
		event(12, typeInstant, "three", num(nil, eventStackID, 1)),
		event(13, typeEnd, "", nil),
		event(14, typeEnd, "", fix(num(nil, eventStackID, 1), eventWeight, 0x4010000000000000)), // 4
	)
	r, err := decodeBytes(t, trace, 0)
	if err != nil || len(r.Warnings) > 0 {
		t.Fatal(err, r.Warnings)
	}
	var got []string
	for _, line := range told(r) {
		if strings.HasPrefix(line, "sample") {
			got = append(got, line)
		}
	}
	want := []string{
		"sample 7/8 event stacks 11;main;leaf 1", "sample 7/8 event stacks 12;FuncA;FuncB 1",
		"sample 7/8 event weights 10;main;leaf 2500", "sample 7/8 event weights 14;FuncA;FuncB 4000",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}
