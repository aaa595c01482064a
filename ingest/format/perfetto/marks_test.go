package perfetto

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestMarks checks that text written to trace_marker goes to the same tracks as in
// trace_processor, together with track events of the same thread.
func TestMarks(t *testing.T) {
	bundle := [2][]byte{num(nil, 1, 0), num(nil, 1, 1)} // bundles of two processors
	mark := func(cpu int, at, tid uint64, text string) {
		bundle[cpu] = msg(bundle[cpu], 2, msg(num(num(nil, 1, at), 2, tid), 3, msg(num(nil, 1, 99), 2, []byte(text))))
	}
	mark(0, 100, 11, "B|10|outer\n")
	mark(0, 110, 11, "B|10|inner|part")
	mark(1, 115, 11, "I|10|now\n")
	mark(1, 120, 11, "E|10\n")
	mark(0, 130, 11, "E\n")
	mark(0, 140, 20, "S|20|load|7")
	mark(1, 145, 21, "S|20|load|7") // ignored: the operation is open already
	mark(1, 150, 21, "S|20|load|8")
	mark(1, 160, 21, "F|20|load|7")
	mark(0, 170, 20, "F|20|load|8")
	mark(0, 180, 20, "G|20|jobs|first|1")
	mark(0, 185, 20, "G|20|jobs|second|1")
	mark(1, 190, 20, "H|20|jobs|1")
	mark(1, 195, 20, "H|20|jobs|first|1")
	mark(1, 200, 20, "N|20|screen|on")
	mark(1, 210, 20, "C|20|heap|5")
	mark(0, 220, 11, "C|20|heap|9|blob")
	mark(0, 230, 11, "just a text")
	var trace []byte
	for _, b := range bundle {
		trace = msg(trace, 1, num(msg(nil, packetFtrace, b), packetSequence, 1))
	}
	thread := msg(num(nil, 1, 100), 4, msg(num(num(nil, 1, 10), 2, 11), 5, []byte("main")))
	for _, e := range [][]byte{msg(nil, packetDescriptor, thread),
		num(msg(nil, packetEvent, msg(num(num(nil, eventType, typeBegin), eventTrack, 100), eventName, []byte("own"))), packetTime, 105),
		num(msg(nil, packetEvent, num(num(nil, eventType, typeEnd), eventTrack, 100)), packetTime, 125)} {
		trace = msg(trace, 1, num(e, packetSequence, 2))
	}
	r, err := decodeBytes(t, trace, 0)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"counter 20/heap/  210 5", "counter 20/heap/  220 9",
		"instant 10/main now 115", "instant 20/screen on 200",
		"span 10/main inner|part@ 110 to 120 ", "span 10/main outer@ 100 to 130 ", "span 10/main own@ 105 to 125 ",
		"span 20/jobs first@ 180 to 195 ", "span 20/jobs second@ 185 to 190 ",
		"span 20/load load@ 140 to 160 ", "span 20/load load@ 150 to 170 ",
	}
	if got := told(r); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if got := fmt.Sprint(r.Warnings); len(r.Warnings) != 1 || !strings.Contains(got, "begun-again") {
		t.Errorf("warnings: %s", got)
	}
}

// TestClockCountsOn checks that an incremental clock also advances at packets without an
// event, as in trace_processor.
func TestClockCountsOn(t *testing.T) {
	clock := func(id, at uint64) []byte { return num(num(nil, 1, id), 2, at) }
	own := num(num(clock(64, 5), 3, 1), 4, 1000)
	p := func(fields ...[]byte) []byte {
		return append(num(num(nil, packetSequence, 1), packetClock, 64), slices.Concat(fields...)...)
	}
	instant := func(name string) []byte {
		return msg(nil, packetEvent, msg(num(nil, eventType, typeInstant), eventName, []byte(name)))
	}
	trace := msg(nil, 1, msg(num(nil, packetSequence, 1), packetClocks, msg(msg(nil, 1, clock(6, 1_000_000)), 1, own)))
	for _, x := range [][]byte{
		p(num(nil, packetTime, 2), instant("a")),
		p(num(nil, packetTime, 3), msg(nil, packetDescriptor, num(nil, 1, 100))), // a track descriptor
		p(num(nil, packetTime, 4), msg(nil, packetInterned, msg(nil, internName, num(nil, 1, 3)))),
		p(num(nil, packetTime, 5), instant("b")),
	} {
		trace = msg(trace, 1, x)
	}
	r, err := decodeBytes(t, trace, 0)
	if want := []string{"instant 0/global a 1002000", "instant 0/global b 1014000"}; err != nil || !slices.Equal(told(r), want) {
		t.Errorf("got %q, want %q (%v)", told(r), want, err)
	}
}
