package perfetto

import (
	"bytes"
	"cmp"
	"math/rand/v2"
	"slices"
	"sort"
	"testing"

	"ashlar/testdata/gen/synth"
)

// TestOrder compares sortBlocks with a stable sort, for events in blocks of random sizes.
func TestOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var o order[event]
	for _, jump := range []int{1, 3, 50, 5000} { // average length of sorted runs
		for range 6 {
			var all []event
			var blocks [][]event
			now := int64(0)
			for range rng.IntN(3000) {
				if now += rng.Int64N(3); rng.IntN(jump) == 0 {
					now -= rng.Int64N(500)
				}
				e := event{at: now, args: uint64(len(all))}
				if all = append(all, e); len(blocks) == 0 || rng.IntN(100) == 0 {
					blocks = append(blocks, nil)
				}
				last := &blocks[len(blocks)-1]
				*last = append(*last, e)
			}
			if len(all) == 0 {
				continue
			}
			o.sortBlocks(blocks)
			got := slices.Concat(blocks...)
			slices.SortStableFunc(all, func(a, b event) int { return cmp.Compare(a.at, b.at) })
			if !slices.Equal(got, all) {
				t.Fatalf("%d events with jumps of %d are in another order", len(all), jump)
			}
		}
	}
}

// TestRows checks that take removes exactly the events up to a time, sorted, however they
// were added. It compares with a stable sort of all waiting events.
func TestRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, jump := range []int64{0, 3, 2000} {
		r := newReader(t.Context(), nil, new(argStore), new(blocks), nil)
		tr := new(track)
		var waits []event
		now, came := int64(0), uint64(0)
		for range 40 {
			for range rng.IntN(3 * blockLen) {
				came++
				e := event{at: now + rng.Int64N(1+jump), args: came}
				now += rng.Int64N(3)
				r.put(tr, e)
				waits = append(waits, e)
			}
			slices.SortStableFunc(waits, func(a, b event) int { return cmp.Compare(a.at, b.at) })
			until := now - rng.Int64N(2000)
			n := sort.Search(len(waits), func(i int) bool { return waits[i].at > until })
			if rng.IntN(8) == 0 && len(waits) > 0 {
				n, until = len(waits), waits[len(waits)-1].at
			}
			if len(waits) == 0 {
				continue
			}
			taken := tr.take(until, &r.order, r.blocks)
			if got := slices.Concat(taken...); !slices.Equal(got, waits[:n]) {
				t.Fatalf("%d of %d events are taken, or in another order; want %d", len(got), len(waits), n)
			}
			r.blocks.put(taken)
			if waits = slices.Clone(waits[n:]); tr.waits != (len(waits) > 0) {
				t.Fatalf("events wait: %v, want %d", tr.waits, len(waits))
			}
		}
	}
}

// TestWords compares words with a map, for dense and sparse ids and texts that are
// replaced.
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
		w.set(n, text)
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
	held := 0
	for n, text := range w.all {
		if held++; text != want[n] {
			t.Fatalf("%d is listed as %q, want %q", n, text, want[n])
		}
	}
	for _, text := range want {
		if text != "" {
			held--
		}
	}
	if held != 0 {
		t.Errorf("%d texts too many are listed", held)
	}
	if n := len(w.dense); n > 300+sparsest+1 {
		t.Errorf("%d numbers have a place of their own", n)
	}
}

// TestMadeUp compares the recording of a synthetic trace, with sequences, interned names
// and incremental times, with the generator's summary.
func TestMadeUp(t *testing.T) {
	shapes := synth.Shapes("perfetto")
	if testing.Short() { // generating a trace is slow with the race detector
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
		if all := shape == "args"; args == 0 || all != (args == spans) {
			t.Errorf("%q: %d of %d spans have arguments", shape, args, spans)
		}
	}
}
