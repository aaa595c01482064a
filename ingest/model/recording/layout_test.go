package recording

import (
	"reflect"
	"testing"
)

// TestLayoutsArePublished checks that, during the final layout, snapshots show finished
// tracks completely and the others in their last state.
func TestLayoutsArePublished(t *testing.T) {
	const tracks, spans = 5, 1000
	build := func(publish func(*Recording)) *Recording {
		b := NewBuilder()
		b.AddEvent(SpanEvent())
		b.OnPublish = publish
		frame := b.FunctionFrame(b.Function(Function{Name: "f"}))
		for i := range spans {
			for k := range tracks {
				at := int64(10 * (spans - i)) // descending, so that spans are laid out later
				b.Track(TrackKey{TID: int64(k)}).Span(at, at+10*int64(1+i%3)-5, frame, 0, false)
			}
			if publish != nil && i == spans/2 {
				publish(b.Snapshot())
			}
		}
		return b.Finish()
	}
	count := func(track *Track) (n int) {
		for i := range track.Lanes {
			n += track.Lanes[i].Len()
		}
		return n
	}
	var seen [][]int
	last := build(func(r *Recording) {
		counts := make([]int, len(r.Tracks))
		for i, track := range r.Tracks {
			counts[i] = count(track)
		}
		if done := len(seen) > 0 && counts[tracks-1] == spans; r.Done != done {
			t.Errorf("with %v spans laid out, done is %v", counts, r.Done)
		}
		seen = append(seen, counts)
	})
	const half = spans/2 + 1
	want := [][]int{{half, half, half, half, half}, {spans, half, half, half, half}, {spans, spans, spans, spans, spans}}
	if !reflect.DeepEqual(seen, want) {
		t.Errorf("published were %v spans, not %v", seen, want)
	}
	alone := build(nil)
	for i := range tracks {
		a, b := last.Tracks[i], alone.Tracks[i]
		if len(a.Lanes) != len(b.Lanes) {
			t.Fatalf("track %d has %d lanes, alone %d", i, len(a.Lanes), len(b.Lanes))
		}
		for k := range a.Lanes {
			for n := range a.Lanes[k].Len() {
				if a.Lanes[k].Start(n) != b.Lanes[k].Start(n) || a.Lanes[k].End(n) != b.Lanes[k].End(n) || a.Lanes[k].Call(n) != b.Lanes[k].Call(n) {
					t.Fatalf("track %d, lane %d: span %d differs from what is laid out at once", i, k, n)
				}
			}
		}
	}
}
