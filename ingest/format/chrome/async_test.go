package chrome

import (
	"testing"

	"ashlar/ingest/model/recording"
)

// TestAsyncOutOfOrder checks that the spans of one operation nest whatever their order in
// the file, even if the outermost one ends first.
func TestAsyncOutOfOrder(t *testing.T) {
	event := func(ph, name string, ts string) string {
		return `{"cat":"io","name":"` + name + `","ts":` + ts + `,"pid":2,"tid":2,"ph":"` + ph + `","id":"0x5"}`
	}
	outer := event("b", "Nested", "1") + "," + event("e", "Nested", "10")
	read := event("b", "Read", "2") + "," + event("e", "Read", "5")
	write := event("b", "Write", "3") + "," + event("e", "Write", "7")
	for _, text := range []string{outer + "," + read + "," + write, write + "," + read + "," + outer, read + "," + outer + "," + write} {
		r := readText(t, "["+text+"]")
		self := map[string]int64{}
		for c, took := range r.SpanTime {
			if took != 0 {
				self[r.FuncName(recording.CallID(c))] += took
				if p := r.Calls.Parent(recording.CallID(c)); p != recording.NoCall {
					self[r.FuncName(p)] -= took
				}
			}
		}
		const us = 1e6
		if self["Nested"] != 4*us || self["Read"] != 3*us || self["Write"] != 4*us || len(r.Tracks) != 1 {
			t.Errorf("%s: self times are %v on %d tracks", text, self, len(r.Tracks))
		}
	}
}

// TestFarSpanBesideOthers checks that a span decades away, shown at the edge of the
// recording, is neither parent nor child of the spans there.
func TestFarSpanBesideOthers(t *testing.T) {
	for _, text := range []string{
		`[{"ph":"X","name":"work","ts":0,"dur":80,"pid":1,"tid":1},{"ph":"X","name":"stray","ts":-1e15,"dur":10,"pid":1,"tid":1},{"ph":"X","name":"work","ts":100,"dur":80,"pid":1,"tid":1}]`,
		`[{"ph":"X","name":"stray","ts":1e15,"dur":10,"pid":1,"tid":1},{"ph":"X","name":"work","ts":0,"dur":80,"pid":1,"tid":1},{"ph":"X","name":"work","ts":100,"dur":80,"pid":1,"tid":1}]`,
	} {
		r := readText(t, text)
		took := map[string]int64{}
		for c, ps := range r.SpanTime {
			if ps != 0 {
				took[r.FuncName(recording.CallID(c))] += ps
				if p := r.Calls.Parent(recording.CallID(c)); p != recording.NoCall {
					t.Errorf("%s lies in %s", r.FuncName(recording.CallID(c)), r.FuncName(p))
				}
			}
		}
		if took["work"] != 160e6 || took["stray"] != 10e6 || r.Duration() > 190e6 {
			t.Errorf("%s: %v in %d ps", text, took, r.Duration())
		}
	}
}
