package spall

import (
	"math"
	"testing"
)

// TestSentences checks the message and its place for a trace with one fault per case.
func TestSentences(t *testing.T) {
	v1 := func(make func(w *trace)) []byte {
		w := manual(1)
		make(w)
		return w.b
	}
	v3 := func(make func(w *trace)) []byte {
		w := manual(3)
		make(w)
		return w.b
	}
	pair := func(w *trace) { // the times of each pair are later than those of the previous one
		at := float64(10 * (1 + len(w.b)))
		w.begin1(1, 2, at, "good", "")
		w.end(1, 2, at+5)
	}
	for _, c := range []struct {
		name        string
		content     []byte
		place, want string
	}{
		{"cut in a record", v1(func(w *trace) { pair(w); w.begin1(1, 2, 1e4, "half", ""); w.b = w.b[:len(w.b)-3] }), "byte 73", "the last record is truncated after 21 bytes"},
		{"an end too many", v1(func(w *trace) { pair(w); w.end(1, 2, 1e4) }), "byte 73", "a record ends a span, but none is open on its thread"},
		{"time that goes back", v1(func(w *trace) { pair(w); w.begin1(1, 2, 100, "early", ""); w.end(1, 2, 1e4) }), "byte 73", "time runs backwards by 235 µs on a thread; the latest time before it is used"},
		{"time that is none", v1(func(w *trace) { pair(w); w.begin1(1, 2, math.NaN(), "never", ""); w.end(1, 2, 1e4) }), "byte 73", "the time is not a number or too far from the others; the latest time before it on its thread is used"},
		{"a record of no kind", v1(func(w *trace) { pair(w); w.b = append(w.b, 5, 1, 2, 3, 4); pair(w); pair(w); pair(w) }), "byte 73", "a record has the type 5, whose layout is unpublished; 5 bytes skipped, up to the next readable record"},
		{"rubbish", v1(func(w *trace) {
			pair(w)
			for range 9 {
				w.b = append(w.b, 0xff)
			}
			pair(w)
			pair(w)
			pair(w)
		}), "byte 73", "no record starts here (its type would be 255); 9 bytes skipped, up to the next readable record"},
		{"padding that is cut", v1(func(w *trace) { pair(w); w.pad(100); w.b = w.b[:len(w.b)-10] }), "byte 168", "padding is missing at the end: 10 bytes"},
		{"a length below nothing", func() []byte { w := manual(0); w.complete0(1, 1, 100, -50, "back"); return w.b }(), "byte 32", "a span has a duration of -50; it counts as 0"},
		{"a small buffer that ends in rubbish", v3(func(w *trace) {
			w.open(1, 2)
			w.begin3(1, "a", "")
			w.end3(5)
			w.b = append(w.b, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff)
			w.close()
			w.open(1, 3)
			w.begin3(7, "b", "")
			w.end3(8)
			w.close()
		}), "byte 73", "no record starts here (its type would be 255); 7 bytes skipped, up to the next readable record"},
		{"a small buffer that ends in rubbish, the last", v3(func(w *trace) {
			w.open(1, 2)
			w.begin3(1, "a", "")
			w.end3(5)
			w.b = append(w.b, 0xff, 0xff, 0xff)
			w.close()
		}), "byte 73", "no record starts here (its type would be 255); 3 bytes skipped, up to the next readable record"},
		{"a buffer that is cut", v3(func(w *trace) {
			w.open(1, 2)
			w.begin3(1, "a", "")
			w.end3(5)
			w.begin3(7, "b", "")
			w.close()
			w.b = w.b[:len(w.b)-4]
		}), "byte 73", "the trace is truncated in a record, after 8 bytes"},
		{"a unit that cannot be", func() []byte { w := manualUnit(1, -1); pair(w); return w.b }(), "byte 16", "the header has an invalid tick length, -1; 1 is assumed"},
		{"layout of another version", func() []byte { w := manual(0); pair(w); pair(w); return w.b }(), "byte 8", "the header has version 0, but the records have the layout of version 1"},
	} {
		r := read(t, c.content)
		balanced(t, r)
		if len(r.Warnings) != 1 || r.Warnings[0].First != c.place || r.Warnings[0].Text != c.want {
			t.Errorf("%s:\n got %s: %s\nwant %s: %s, alone of %d", c.name, r.Warnings[0].First, r.Warnings[0].Text, c.place, c.want, len(r.Warnings))
		}
		if r.Counts.Spans == 0 {
			t.Errorf("%s: what is whole is not shown", c.name)
		}
	}
}
