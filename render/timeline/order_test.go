package timeline

import (
	"runtime"
	"runtime/debug"
	"slices"
	"testing"

	"ashlar/ingest/input/memory"
	"ashlar/ingest/model/recording"
	"ashlar/testdata/rounds"
)

// TestRowsHaveRoom checks that if memory is too short for a row per thread, some threads
// are shown and the others counted.
func TestRowsHaveRoom(t *testing.T) {
	rounds.Unraced(t)
	const threads = 1<<16 + 1
	b := recording.NewBuilder()
	b.AddEvent(recording.SpanEvent())
	f := b.FunctionFrame(b.Function(recording.Function{Name: "f"}))
	for i := range threads {
		b.Track(recording.TrackKey{PID: 1, TID: int64(i + 1)}).Span(0, 10, f, 0, false)
	}
	rec := b.Finish()
	plan := func() (rows, unseen int) {
		p := NewPlan(rec, Layout{Scale: 1})
		for i := range p.Rows {
			if p.Rows[i].Kind == TrackRow {
				rows++
			}
		}
		return rows, p.Unseen
	}
	if rows, unseen := plan(); rows != threads || unseen != 0 {
		t.Errorf("with room there are %d rows, and %d are left out", rows, unseen)
	}
	runtime.GC()
	was := debug.SetMemoryLimit(memory.InUse() + 4<<20)
	defer debug.SetMemoryLimit(was)
	if rows, unseen := plan(); rows != fewRows || unseen != threads-fewRows {
		t.Errorf("without room there are %d rows, and %d are left out", rows, unseen)
	}
}

// TestProcessOrder checks that the busiest process of a profile comes first, but only
// once the file is read, so that rows do not move meanwhile. An order in the file has
// priority.
func TestProcessOrder(t *testing.T) {
	build := func(sorts [4]int, spans bool) *recording.Builder {
		b := recording.NewBuilder()
		e := b.AddEvent(recording.Event{Basis: recording.FromSamples, Metrics: []recording.Metric{{Name: "samples"}}})
		call := b.Call(recording.NoCall, b.FunctionFrame(b.Function(recording.Function{Name: "f"})))
		for i, n := range []int{1, 5, 0, 3} {
			pid := int64(10 + i)
			b.ProcessInfo(b.Process(pid)).Sort = sorts[i]
			track := b.Track(recording.TrackKey{PID: pid, TID: pid})
			for k := range n {
				track.Sample(e, int64(k), call, -1, []int64{1})
			}
			if spans {
				track.Span(0, 10, b.FunctionFrame(b.Function(recording.Function{Name: "g"})), 0, false)
			}
		}
		return b
	}
	for _, x := range []struct {
		sorts [4]int
		spans bool
		want  []int
	}{
		{[4]int{}, false, []int{1, 3, 0, 2}},
		{[4]int{0, 1, 0, 0}, false, []int{3, 0, 1, 2}},
		{[4]int{}, true, []int{0, 1, 2, 3}},
	} {
		if got := processOrder(build(x.sorts, x.spans).Finish()); !slices.Equal(got, x.want) {
			t.Errorf("%v %v: %v, want %v", x.sorts, x.spans, got, x.want)
		}
	}
	b := build([4]int{}, false)
	b.Progress()
	if rec := b.Snapshot(); !slices.Equal(processOrder(rec), []int{0, 1, 3, 2}) {
		t.Errorf("while it is read: %v", processOrder(rec))
	}
}

// TestThreadOrder checks that, once everything is read, threads with few samples of the
// default event come after the others of their process, and threads without samples last.
func TestThreadOrder(t *testing.T) {
	b := recording.NewBuilder()
	e := b.AddEvent(recording.Event{Basis: recording.FromSamples, Metrics: []recording.Metric{{Name: "samples"}}})
	other := b.AddEvent(recording.Event{Basis: recording.FromSamples, Metrics: []recording.Metric{{Name: "bytes"}}})
	call := b.Call(recording.NoCall, b.FunctionFrame(b.Function(recording.Function{Name: "f"})))
	for i, n := range []int{0, 1, 20, 0, 50, 4, 5} {
		track := b.Track(recording.TrackKey{PID: 1, TID: int64(i)})
		for k := range n {
			track.Sample(e, int64(k), call, -1, []int64{1})
		}
		track.Sample(other, 9, call, -1, []int64{1})
	}
	b.Progress()
	order := func(rec *recording.Recording, sort Sort) []int {
		groups, _, _, _ := byProcess(rec, Layout{Sort: sort})
		return groups[0]
	}
	if got, want := order(b.Snapshot(), SortFile), []int{0, 1, 2, 3, 4, 5, 6}; !slices.Equal(got, want) {
		t.Errorf("while it is read: %v, want %v", got, want)
	}
	rec := b.Finish()
	if got, want := order(rec, SortFile), []int{2, 4, 6, 1, 5, 0, 3}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got, want := order(rec, SortName), []int{0, 1, 2, 3, 4, 5, 6}; !slices.Equal(got, want) {
		t.Errorf("by name: %v, want %v", got, want)
	}
}
