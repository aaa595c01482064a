package timeline

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"ashlar/ingest/model/recording"
	"ashlar/ingest/model/sets"
	"ashlar/render/golden"
	"ashlar/render/raster"
	"ashlar/render/theme"
	"ashlar/testdata/rounds"
)

// withAll returns a recording of threads with spans, states and samples.
func withAll(r *rand.Rand, threads int) *recording.Recording {
	b := recording.NewBuilder()
	b.AddEvent(recording.SpanEvent())
	event := b.AddEvent(recording.Event{Metrics: []recording.Metric{{Name: "samples", PerSample: recording.SampleOne}}})
	frame := func() recording.FrameID {
		return b.FunctionFrame(b.Function(recording.Function{Name: string(rune('a'+r.IntN(26))) + "func"}))
	}
	running := b.Call(recording.NoCall, b.StateFrame(recording.Running, ""))
	for th := range threads {
		tr := b.Track(recording.TrackKey{PID: 1, TID: int64(th + 1)})
		at := int64(0)
		for k := range 20000 {
			at += r.Int64N(1000)
			switch {
			case tr.Depth() < 6 && r.IntN(2) == 0:
				tr.Begin(at, frame(), 0)
			default:
				tr.End(at)
			}
			if k%40 == 0 {
				tr.State(at, at+r.Int64N(20_000), running, recording.NoTrack)
				at += 20_000
				tr.Sample(event, at, b.Stack([]recording.FrameID{frame(), frame()}), -1, []int64{1})
			}
		}
	}
	return b.Finish()
}

// anySet returns a random call set of many or few spans and times.
func anySet(r *rand.Rand, rec *recording.Recording) *recording.CallSet {
	s := &recording.CallSet{Text: "any"}
	most := []int{3, 60, 2000}[r.IntN(3)]
	for _, t := range rec.Tracks {
		var runs, outer [][]sets.Run
		for lane := range t.Lanes {
			var in, calls []sets.Run
			for i := r.IntN(most); i < t.Lanes[lane].Len(); i += 1 + r.IntN(most) {
				run := sets.Run{First: i, Last: min(i+1+r.IntN(most), t.Lanes[lane].Len())}
				in = append(in, run)
				if r.IntN(2) == 0 {
					calls = append(calls, sets.Run{First: run.First, Last: run.First + 1})
				}
				i = run.Last
			}
			runs, outer = append(runs, in), append(outer, calls)
		}
		var times []recording.Time
		for at := rec.Start; at < rec.End; {
			at += 1 + r.Int64N(int64(most)*1000)
			to := at + r.Int64N(int64(most)*500)
			times = append(times, recording.Time{From: at, To: to})
			at = to
		}
		s.Runs, s.Outer, s.Times = append(s.Runs, runs), append(s.Outer, outer), append(s.Times, times)
	}
	return s
}

// TestPicturesOfOtherSetsAreAsNew draws a series of views with changing call sets, some
// of them moved, reusing what was gathered. Every pixel must equal that of a new picture,
// and every bar's membership must follow from its spans.
func TestPicturesOfOtherSetsAreAsNew(t *testing.T) {
	r := rand.New(rand.NewPCG(23, 5))
	rec := withAll(r, 5)
	plans := []*Plan{NewPlan(rec, Layout{Scale: 1, Event: 1}), NewPlan(rec, Layout{Scale: 1, Event: 1, Sort: SortBusy})}
	if row := &plans[0].Rows[len(plans[0].Rows)-1]; row.Strip == 0 || !row.hasSamples() {
		t.Fatalf("a thread lacks states or samples: %+v", row)
	}
	face := raster.Regular(11.5)
	palette := &theme.Palette{Theme: theme.Dark, Mode: theme.ByFunction}
	var all []*recording.CallSet
	for range 6 {
		all = append(all, anySet(r, rec))
	}
	const w, gutter = 870, 170
	var kept Gathered
	plan, view, h := plans[0], View{From: rec.Start, To: rec.End}, 400
	times, others, faded := 150, 0, 0
	if testing.Short() {
		times = rounds.Size(40, 15)
	}
	for range times {
		switch r.IntN(16) {
		case 0:
			view = view.Zoom(.4+r.Float64(), 350, w-gutter, rec.Start, rec.End)
		case 1:
			view.Scroll = r.IntN(200)
		case 2:
			plan = plans[r.IntN(2)]
		case 3:
			h = 200 + r.IntN(300)
		case 4:
			view = view.Pan(float64(r.IntN(300)-150), w-gutter, rec.Start, rec.End)
		case 5: // a whole number of picoseconds per pixel, so that the picture can be moved
			view.To = view.From + max(1, view.Span()/(w-gutter))*(w-gutter)
		}
		var sets []*recording.CallSet
		for range r.IntN(3) {
			sets = append(sets, all[r.IntN(len(all))])
		}
		draw := func(g *Gathered) []byte {
			pic := Picture{Rec: rec, Plan: plan, View: view, Palette: palette, Gutter: gutter, Fonts: Fonts{face, face, face}, Gathered: g, Sets: sets}
			if g != nil {
				now := gatheredOf{plan: plan, view: view, w: w, h: h, gutter: gutter}
				copy(now.sets[:], sets)
				if _, ok := g.of.moved(now, 0); ok && g.of.sets != now.sets {
					others++
				}
			}
			return golden.Draw(w, h, theme.Dark, pic.Paint).Pix
		}
		got, want := draw(&kept), draw(nil)
		if !bytes.Equal(got, want) {
			t.Fatalf("the view %+v, %d high, of %d sets differs from one drawn anew", view, h, len(sets))
		}
		for i := range kept.lanes {
			faded += checkMembers(t, rec, view, &kept.lanes[i], sets)
		}
	}
	if others < times/3 || faded == 0 {
		t.Fatalf("only %d of the pictures have had other sets, and %d bars are faded", others, faded)
	}
}

// checkMembers checks the membership of each bar of a lane against its spans, and that
// each span that begins in the view is in exactly one bar. It returns the number of faded
// bars.
func checkMembers(t *testing.T, rec *recording.Recording, view View, l *laneSpans, sets []*recording.CallSet) (faded int) {
	t.Helper()
	if l.lane == recording.StateLane {
		return 0
	}
	spans := &rec.Tracks[l.track].Lanes[l.lane]
	bars := make([]int, spans.Len())
	in, outer := make([]uint8, spans.Len()), make([]uint8, spans.Len())
	for k, s := range sets {
		for _, r := range s.Runs[l.track][l.lane] {
			for i := r.First; i < r.Last; i++ {
				in[i] |= 1 << k
			}
		}
		for _, r := range s.Outer[l.track][l.lane] {
			for i := r.First; i < r.Last; i++ {
				outer[i] |= 1 << k
			}
		}
	}
	check := func(of inLane, got membership) {
		want := membership{out: len(sets) > 0}
		for i := of.first; i < of.last; i++ {
			bars[i]++
			want.out = want.out && in[i] == 0
			if len(sets) > 1 {
				want.sets |= outer[i]
			}
		}
		if got != want {
			t.Fatalf("spans %d..%d of lane %d of track %d are %+v, want %+v", of.first, of.last, l.lane, l.track, got, want)
		}
		if got.out {
			faded++
		}
	}
	for _, c := range l.columns {
		check(c.inLane, c.membership)
	}
	for _, b := range l.wide {
		check(b.inLane, b.membership)
	}
	for i, n := range bars {
		if at := spans.Start(i); n > 1 || n == 0 && at >= view.From && at < view.To {
			t.Fatalf("span %d of lane %d of track %d, at %d in %+v, is in %d bars", i, l.lane, l.track, at, view, n)
		}
	}
	return faded
}
