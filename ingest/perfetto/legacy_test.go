package perfetto

import (
	"slices"
	"testing"
)

// What the older kind of events sends under a number is received by several, and one
// that sends on is where later ones come from. trace_processor has the same three arrows.
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
