package search

import (
	"context"
	"math/rand/v2"
	"testing"

	"ashlar/ingest/model/recording"
)

// longLanes returns a recording whose lanes are counted in several items.
func longLanes() *recording.Recording {
	r := rand.New(rand.NewPCG(8, 8))
	b := recording.NewBuilder()
	b.AddEvent(recording.SpanEvent())
	var frames []recording.FrameID
	for _, name := range []string{"common", "other", "rare"} {
		frames = append(frames, b.FunctionFrame(b.Function(recording.Function{Name: name})))
	}
	for tid := range int64(3) {
		t := b.Track(recording.TrackKey{TID: tid})
		at := int64(0)
		for range 150_000 * (tid + 1) / 2 {
			f := frames[r.IntN(2)]
			if r.IntN(50_000) == 0 {
				f = frames[2]
			}
			t.Begin(at, f, 0)
			at += 1 + r.Int64N(9)
			t.End(at)
		}
	}
	return b.Finish()
}

// TestFindSoon checks that an early answer has exactly the hits in the blocks counted by
// then, and that these hits are valid in the whole answer.
func TestFindSoon(t *testing.T) {
	rec := longLanes()
	texts := []string{"rare", "common"}
	if testing.Short() {
		texts = texts[:1]
	}
	for _, text := range texts {
		p, _ := Parse(text)
		whole, err := Find(context.Background(), rec, p)
		if err != nil {
			t.Fatal(err)
		}
		h, err := uncounted(context.Background(), rec, p)
		if err != nil {
			t.Fatal(err)
		}
		c := newCounting(h)
		looked := map[[2]int]bool{} // track and block
		for i := range c.items {
			if i%3 == 1 {
				continue
			}
			c.look(i)
			for b := c.items[i].first; b < c.items[i].last; b++ {
				looked[[2]int{h.rows[c.items[i].row].track, b}] = true
			}
		}
		part := c.soFar()
		var want int64
		at, ok := whole.From(rec.Start)
		early, more := part.From(rec.Start)
		for ; ok; at, ok = whole.Next(at) {
			if !looked[[2]int{at.Track, at.Index / hitBlock}] {
				continue
			}
			want++
			if !more || early != at {
				t.Fatalf("%s: hit %d is %+v, want %+v", text, want, early, at)
			}
			if a, b := whole.Number(early), whole.Number(at); a != b {
				t.Fatalf("%s: hit %d of the early answer is number %d in the whole, not %d", text, want, a, b)
			}
			early, more = part.Next(early)
		}
		if more || part.Len() != want || part.Spans != want || !part.Partial || whole.Partial || want == 0 || want == whole.Len() {
			t.Errorf("%s: %d early hits, %d of %d wanted, more: %v", text, part.Len(), want, whole.Len(), more)
		}
	}
}

// A search without hits gives no early answer.
func TestFindSoonSaysNothing(t *testing.T) {
	p, _ := Parse("nobody")
	h, err := FindWithPreview(context.Background(), longLanes(), p, func(h *Hits) { t.Errorf("told of %d hits", h.Len()) })
	if err != nil || h.Len() != 0 {
		t.Errorf("%v %v", h, err)
	}
}
