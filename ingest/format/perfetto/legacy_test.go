package perfetto

import (
	"slices"
	"strings"
	"testing"
)

// TestLegacyFlows checks that a bound flow sent once can be received several times, and
// that an event that receives and sends becomes the sender for later ones. trace_processor
// gives the same three arrows.
func TestLegacyFlows(t *testing.T) {
	const in, out, both = 1, 2, 3
	var trace []byte
	event := func(thread, at, direction uint64, name string) {
		old := num(num(num(num(num(nil, 2, 'X'), 3, 1), 8, 77), 13, direction), 18, 7)
		e := msg(msg(nil, eventName, []byte(name)), eventLegacy, num(old, 19, thread))
		trace = msg(trace, 1, msg(num(num(nil, packetSequence, 1), packetTime, at), packetEvent, e))
	}
	for thread, name := range []string{"a", "b"} {
		d := msg(nil, 4, msg(num(num(nil, 1, 7), 2, uint64(thread+1)), 5, []byte(name)))
		trace = msg(trace, 1, msg(num(nil, packetSequence, 1), packetDescriptor, num(d, 1, uint64(100+thread))))
	}
	event(1, 10_000, out, "sends")
	event(2, 30_000, in, "receives")
	event(1, 50_000, both, "sends on")
	event(2, 55_000, in, "receives more")
	r, err := decodeBytes(t, trace, 0)
	if err != nil || len(r.Warnings) > 0 {
		t.Fatal(err, r.Warnings)
	}
	want := []string{
		"flow a 10000 a 50000", "flow a 10000 b 30000", "flow a 50000 b 55000",
		"span 7/a sends on@ 50000 to 51000 ", "span 7/a sends@ 10000 to 11000 ",
		"span 7/b receives more@ 55000 to 56000 ", "span 7/b receives@ 30000 to 31000 ",
	}
	if got := told(r); !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

// TestOldFlows reads events with phases s, t and f. A second start begins a new flow, and
// an end without the enclosing flag belongs to the next slice. trace_processor gives the
// same arrows, except that it ignores a start with the id of a flow that has ended.
func TestOldFlows(t *testing.T) {
	var trace []byte
	event := func(thread, at uint64, phase byte, id uint64, enclosing uint64, name string) {
		old := num(num(nil, 2, uint64(phase)), 19, thread)
		switch phase {
		case 'X':
			old = num(old, 3, 10)
		default:
			old = num(num(old, 6, id), 12, enclosing)
		}
		e := msg(msg(nil, eventName, []byte(name)), eventLegacy, num(old, 18, 7))
		trace = msg(trace, 1, msg(num(num(nil, packetSequence, 1), packetTime, at), packetEvent, e))
	}
	event(1, 10_000, 'X', 0, 0, "sends")
	event(1, 10_000, 's', 330, 0, "f")
	event(2, 29_999, 'f', 330, 0, "f")
	event(2, 30_000, 'X', 0, 0, "receives")
	event(2, 30_001, 's', 331, 0, "f")
	event(2, 30_002, 's', 331, 0, "other") // never ends
	event(1, 50_000, 'X', 0, 0, "hands on")
	event(1, 50_100, 't', 331, 0, "f")
	event(1, 50_200, 't', 999, 0, "f")
	event(2, 55_000, 'X', 0, 0, "receives more")
	event(2, 55_100, 'f', 331, 1, "f")
	event(2, 56_000, 's', 331, 0, "f")
	event(2, 57_000, 't', 331, 0, "f")
	event(2, 58_000, 's', 331, 0, "f")
	event(3, 59_000, 'f', 331, 1, "f") // has no effect
	r, err := decodeBytes(t, trace, 0)
	if err != nil || len(r.Warnings) > 0 {
		t.Fatal(err, r.Warnings)
	}
	var got []string
	for _, line := range told(r) {
		if strings.HasPrefix(line, "flow") {
			got = append(got, line)
		}
	}
	want := []string{"flow  10000  30000", "flow  30001  50100  55100", "flow  56000  57000"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}
