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

// TestRecordingsOfJoinedAreFolded checks that each of many joined recordings is one row until it
// is opened, that few are open, and that a filter opens those with matching threads.
func TestRecordingsOfJoinedAreFolded(t *testing.T) {
	joined := func(n int) *recording.Recording {
		b := recording.NewBuilder()
		frame := b.FunctionFrame(b.Function(recording.Function{Name: "f"}))
		for k := range n {
			for part, name := range []string{"python", "GPU"} {
				pid := int64(10*k + part + 1)
				info := b.ProcessInfo(b.Process(pid))
				info.Recording = fmt.Sprintf("rank%02d", k)
				info.Name = info.Recording + ": " + name
				info.Sort = part // the processes of a recording are together also if they sort apart
				track := b.Track(recording.TrackKey{PID: pid, TID: pid})
				track.SetName(name + " thread")
				track.Span(0, 100, frame, 0, false)
			}
		}
		return b.Finish()
	}
	names := func(n int, l Layout) (rows []string) {
		l.Scale = 1
		p, y := NewPlan(joined(n), l), 0
		for i := range p.Rows {
			r := &p.Rows[i]
			if r.Y != y {
				t.Errorf("row %d is at %d, not at %d", i, r.Y, y)
			}
			y += r.Height
			rows = append(rows, p.Name(r))
			if r.Collapsed != (len(r.Stripes) > 0) || r.Collapsed && len(r.Stripes) != 2 {
				t.Errorf("%s shows %d of 2 threads", p.Name(r), len(r.Stripes))
			}
		}
		return rows
	}
	open := func(k int) []string {
		name := fmt.Sprintf("rank%02d", k)
		return []string{name, name + ": python", "python thread", name + ": GPU", "GPU thread"}
	}
	var all []string
	for k := range 64 {
		all = append(all, fmt.Sprintf("rank%02d", k))
	}
	for _, x := range []struct {
		n    int
		l    Layout
		want []string
	}{
		{64, Layout{}, all},
		{64, Layout{Groups: map[string]bool{"rank01": true}}, slices.Concat(all[:1], open(1), all[2:])},
		{64, Layout{Filter: "rank07"}, open(7)},
		{2, Layout{}, slices.Concat(open(0), open(1))},
		{2, Layout{Groups: map[string]bool{"rank01": false}}, slices.Concat(open(0), all[1:2])},
	} {
		if got := names(x.n, x.l); !slices.Equal(got, x.want) {
			t.Errorf("%d recordings, %+v: %q, want %q", x.n, x.l, got, x.want)
		}
	}
	rec := joined(64)
	p := NewPlan(rec, Layout{Scale: 1, Groups: map[string]bool{"rank01": true}})
	if g := p.Hiding(10); g == nil || g.Name != "rank05" || p.Hiding(2) != nil {
		t.Errorf("track 10 is hidden by %v, track 2 by %v", g, p.Hiding(2))
	}
	for scroll := range p.Height {
		if row, y := p.Sticky(scroll); row >= 0 && (p.Rows[row].Kind != ProcessRow || p.Rows[row].Collapsed || y > 0) {
			t.Errorf("scrolled to %d, row %d stays at %d", scroll, row, y)
		}
	}
}
