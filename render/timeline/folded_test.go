package timeline

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"ashlar/ingest/model/recording"
	"ashlar/render/golden"
	"ashlar/render/raster"
	"ashlar/render/theme"
)

// TestClosedProcessShowsItsThreads checks each pixel of the rows of closed processes: a stripe
// shows when the thread ran, and the busiest threads have the stripes, in their order.
func TestClosedProcessShowsItsThreads(t *testing.T) {
	const length, gutter, threads = 500, 100, 5
	for _, n := range []int{3, 30} {
		r := rand.New(rand.NewPCG(uint64(n), 1))
		b := recording.NewBuilder()
		b.AddEvent(recording.SpanEvent())
		frame := b.FunctionFrame(b.Function(recording.Function{Name: "f"}))
		closed := map[int]bool{}
		runs := make([][threads][length]bool, n)
		for k := range n {
			b.ProcessInfo(b.Process(int64(k + 1))).Name = fmt.Sprintf("rank %d", k)
			closed[k] = true
			for i := range threads {
				track, busy := b.Track(recording.TrackKey{PID: int64(k + 1), TID: int64(i + 1)}), 10+20*r.IntN(3)+i
				for at := 0; at < length; at++ {
					if at%100 < busy {
						runs[k][i][at] = true
					}
				}
				for at := 0; at < length; at += 100 {
					track.Span(int64(at), int64(at+busy), frame, 0, false)
				}
			}
		}
		b.Track(recording.TrackKey{PID: 1, TID: 1}).Instant(length, "end", 0)
		rec := b.Finish()
		plan := NewPlan(rec, Layout{Scale: 1, Closed: closed})
		if len(plan.Rows) != n || n == 30 && plan.Height > 30*16 {
			t.Fatalf("%d rows, %d pixels high", len(plan.Rows), plan.Height)
		}
		for _, th := range theme.All {
			palette := &theme.Palette{Theme: th, Mode: theme.ByFunction}
			face := raster.Regular(11.5)
			pic := Picture{Rec: rec, Plan: plan, View: View{From: 0, To: length}, Palette: palette, Gutter: gutter, Fonts: Fonts{face, face, face}}
			img := golden.Draw(gutter+length, plan.Height, th, pic.Paint)
			bar := rgba(palette.On(rec, 0, rec.Tracks[0].Lanes[0].Call(0)))
			for k := range n {
				row := &plan.Rows[k]
				var busiest []int
				for i := range threads {
					busiest = append(busiest, i)
				}
				sum := func(i int) (n int) {
					for _, on := range runs[row.Index][i] {
						if on {
							n++
						}
					}
					return n
				}
				slices.SortStableFunc(busiest, func(a, b int) int { return sum(b) - sum(a) })
				busiest = busiest[:3]
				slices.Sort(busiest)
				for i, thread := range busiest {
					y := row.Y + 1 + (2*i+1)*(row.Height-3)/6 // the middle of the stripe
					for at := 2; at < length-2; at++ {
						on := &runs[row.Index][thread]
						if on[at-2] != on[at+2] { // the end of a bar is rounded
							continue
						}
						if got := img.RGBAAt(gutter+at, y) == bar; got != on[at] {
							t.Fatalf("%d processes, rank %d, thread %d, pixel %d, %d: a bar is %t, want %t", n, row.Index, thread, at, y, got, on[at])
						}
					}
				}
				if h := At(rec, plan, pic.View, gutter+200, row.Y+3, gutter+length, gutter); h.Row != k || h.Found {
					t.Errorf("at row %d is %+v", k, h)
				}
			}
		}
	}
}
