package perfetto

import (
	"bytes"
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"ashlar/testdata/gen/synth"
)

// TestQueueSorts: events come out by time, those of one time as they came, whatever is
// dropped between; against a stable sort of all that wait.
func TestQueueSorts(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, jump := range []int{1, 3, 50, 5000} { // how long stretches in order are
		var q queue
		var waits []event
		now, came := int64(0), uint64(0)
		for range 6 {
			for range rng.IntN(3000) {
				if now += rng.Int64N(3); rng.IntN(jump) == 0 {
					now -= rng.Int64N(500)
				}
				came++
				q.add(event{at: now, args: came})
				waits = append(waits, event{at: now, args: came})
			}
			slices.SortStableFunc(waits, func(a, b event) int { return cmp.Compare(a.at, b.at) })
			turns := q.sorted()
			if len(turns) != len(waits) {
				t.Fatalf("%d of %d events are listed", len(turns), len(waits))
			}
			for i, turn := range turns {
				if e := q.events[turn.i]; e != waits[i] {
					t.Fatalf("event %d of %d is that of %d, number %d; want that of %d, number %d", i, len(turns), e.at, e.args, waits[i].at, waits[i].args)
				}
			}
			n := len(turns) / 2
			q.drop(n)
			waits = waits[n:]
		}
	}
}

// TestWords: texts are found by their numbers, however far apart those are, and in the
// form in which they were told last; against a map.
func TestWords(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var w words
	want := map[uint64]string{}
	for range 1000 {
		n := rng.Uint64N(300)
		if rng.IntN(4) == 0 {
			n = rng.Uint64()
		}
		text := string(rune('a' + rng.IntN(3)))
		if rng.IntN(20) == 0 {
			text = ""
		}
		if changed := w.set(n, []byte(text)); changed != (want[n] != text) {
			t.Fatalf("%d was %q and becomes %q: changed is %v", n, want[n], text, changed)
		}
		want[n] = text
		for n, text := range want {
			if rng.IntN(50) > 0 {
				continue
			}
			if got := w.get(n); got != text {
				t.Fatalf("%d is %q, want %q", n, got, text)
			}
			if got := string(w.quote(nil, n)); got != `"`+text+`"` {
				t.Fatalf("%d is %s as JSON, want %q", n, got, text)
			}
		}
	}
	if n := len(w.dense); n > 300+sparsest+1 {
		t.Errorf("%d numbers have a place of their own", n)
	}
}

// TestMadeUp: what a generator wrote, with sequences, names by number and times that are
// differences, is what its summary says.
func TestMadeUp(t *testing.T) {
	shapes := synth.Shapes("perfetto")
	if testing.Short() { // the invented program takes long to make up with the race detector
		shapes = shapes[:1]
	}
	for _, shape := range shapes {
		var file bytes.Buffer
		sum, err := synth.Write(&file, synth.Options{Kind: "perfetto", Shape: shape, Records: 20_000, Seed: 3})
		if err != nil {
			t.Fatal(err)
		}
		r, err := decodeBytes(t, file.Bytes(), 0)
		if err != nil {
			t.Fatal(err)
		}
		var spans, time, args int64
		for _, tr := range r.Tracks {
			for d := range tr.Lanes {
				for l, i := &tr.Lanes[d], 0; i < l.Len(); i++ {
					spans++
					time += l.End(i) - l.Start(i)
					if r.Args(l.Args(i)) != "" {
						args++
					}
				}
			}
		}
		if spans != sum.Spans || time != sum.SpanTime*1000 || r.End-r.Start != sum.Duration*1000 {
			t.Errorf("%q: %d spans of %d ps in %d ps, want %d of %d ns in %d ns", shape, spans, time, r.End-r.Start, sum.Spans, sum.SpanTime, sum.Duration)
		}
		if all := shape != ""; args == 0 || all != (args == spans) {
			t.Errorf("%q: %d of %d spans have arguments", shape, args, spans)
		}
	}
}
