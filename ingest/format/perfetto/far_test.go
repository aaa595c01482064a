package perfetto

import (
	"strings"
	"testing"

	"ashlar/ingest/format/decode/decodetest"
)

// TestTimesFarOutside checks that an event more than 53 days from the others, before or after
// them, does not change the times of the others, and that a warning reports it.
func TestTimesFarOutside(t *testing.T) {
	const year2023 = 1_700_000_000_000_000_000
	for name, stray := range map[string]uint64{"early": 12345, "late": 4 * year2023} {
		m := &made{}
		thread := msg(nil, 4, num(num(nil, 1, 7), 2, 50))
		m.add(0, 0, msg(nil, packetDescriptor, append(num(nil, 1, 100), thread...)))
		event := func(at uint64, kind uint64, name string) {
			m.add(0, at, msg(nil, packetEvent, append(num(num(nil, eventType, kind), eventTrack, 100), msg(nil, eventName, []byte(name))...)))
		}
		const begin, end, instant = 1, 2, 3
		if name == "early" {
			event(stray, instant, "stray")
		}
		for i := range uint64(2) {
			event(year2023+i*100_000, begin, "work")
			event(year2023+i*100_000+80_000, end, "")
		}
		if name == "late" {
			event(stray, instant, "stray")
		}
		var file []byte
		for _, p := range m.packets[0] {
			file = append(file, msg(nil, 1, p)...)
		}
		rec, err := decodetest.Bytes(t, Decode, file, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := rec.Events[0].Metrics[0].Total; rec.Duration() != 180e6 || got != 160e6 {
			t.Errorf("%s: the recording has %d ps, its spans %d", name, rec.Duration(), got)
		}
		if len(rec.Warnings) != 1 || !strings.Contains(rec.Warnings[0].Text, "more than 53 days from the others") {
			t.Errorf("%s: warnings %+v", name, rec.Warnings)
		}
	}
}
