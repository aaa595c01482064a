package timeline

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"ashlar/ingest/model/recording"
)

// ran is a period in which a goroutine ran.
type ran struct{ from, to int64 }

// goroutines returns a recording of goroutines on two processors, given by function. The
// processors run for 100 ps.
func goroutines(of map[string][][]ran) *recording.Recording {
	b := recording.NewBuilder()
	b.AddEvent(recording.StateEvent())
	p := b.ProcessInfo(b.Process(1))
	p.Member, p.Grouped = "goroutine", true
	b.ProcessInfo(b.Process(2)).Member = "processor"
	b.AddEvent(recording.SpanEvent())
	f := b.FunctionFrame(b.Function(recording.Function{Name: "f"}))
	for i := range 2 {
		b.Track(recording.TrackKey{PID: 2, TID: int64(i + 1)}).Span(0, 100, f, 0, false)
	}
	running := b.Call(recording.NoCall, b.StateFrame(recording.Running, ""))
	blocked := b.Call(recording.NoCall, b.StateFrame(recording.Blocked, "sync"))
	id := int64(0)
	for _, name := range slices.Sorted(func(yield func(string) bool) {
		for name := range of {
			if !yield(name) {
				return
			}
		}
	}) {
		for _, times := range of[name] {
			id++
			t := b.Track(recording.TrackKey{PID: 1, TID: id})
			t.SetName(name)
			t.SetSort(int(id))
			at := int64(0)
			var states []recording.TrackState
			for _, r := range times {
				if r.from > at {
					states = append(states, recording.TrackState{Track: t, Start: at, End: r.from, Call: blocked, State: recording.Blocked})
				}
				states = append(states, recording.TrackState{Track: t, Start: r.from, End: r.to, Call: running, State: recording.Running})
				at = r.to
			}
			b.AddStates(states)
		}
	}
	return b.Finish()
}

// few returns n goroutines that each run from 0 to ps.
func few(n int, ps int64) (all [][]ran) {
	for range n {
		all = append(all, []ran{{0, ps}})
	}
	return all
}

// TestGoroutinesAreGrouped checks that goroutines of one function are grouped below a row
// with their number and the sum of their busy shares. The busiest group is first; the
// runtime's group is last and closed.
func TestGoroutinesAreGrouped(t *testing.T) {
	rows := func(rec *recording.Recording, l Layout) (out []string) {
		l.Scale = 1
		p, y := NewPlan(rec, l), 0
		for i := range p.Rows {
			r := &p.Rows[i]
			if r.Y != y {
				t.Errorf("row %d begins at %d, not at %d", i, r.Y, y)
			}
			y += r.Height
			switch {
			case r.Kind == GroupRow:
				out = append(out, "group "+p.Name(r)+": "+p.GroupNote(p.Group(r)))
			case r.Kind == TrackRow && rec.Tracks[r.Index].Process == 0:
				out = append(out, p.Name(r))
			}
		}
		return out
	}
	small := goroutines(map[string][][]ran{"main.b": few(2, 40), "main.a": few(2, 10), "runtime.main": few(1, 90), "runtime.bgsweep": few(1, 1), "runtime.gc": few(1, 2), "runtime.idle": {{{100, 100}}}})
	want := []string{"runtime.main", "group main.b: 2 goroutines · 80 % busy", "main.b", "main.b", "group main.a: 2 goroutines · 20 % busy", "main.a", "main.a",
		"group " + SystemGroup + ": 3 goroutines · 3 % busy"}
	if got := rows(small, Layout{}); !slices.Equal(got, want) {
		t.Errorf("few goroutines:\n got %q\nwant %q", got, want)
	}
	want = []string{"runtime.main", "group main.b: 2 goroutines · 80 % busy", "group main.a: 2 goroutines · 20 % busy", "main.a", "main.a",
		"group " + SystemGroup + ": 3 goroutines · 3 % busy", "runtime.bgsweep", "runtime.gc", "runtime.idle"}
	if got := rows(small, Layout{Groups: map[string]bool{"main.b": false, SystemGroup: true}}); !slices.Equal(got, want) {
		t.Errorf("opened and closed by hand:\n got %q\nwant %q", got, want)
	}
	large := goroutines(map[string][][]ran{"main.b": few(2000, 10), "main.a": few(3, 20)})
	want = []string{"group main.b: 2000 goroutines · 20000 % busy", "group main.a: 3 goroutines · 60 % busy"}
	if got := rows(large, Layout{}); !slices.Equal(got, want) {
		t.Errorf("many goroutines:\n got %q\nwant %q", got, want)
	}
	want = []string{"group main.a: 3 goroutines · 60 % busy", "main.a", "main.a", "main.a"}
	if got := rows(large, Layout{Filter: "main.a"}); !slices.Equal(got, want) {
		t.Errorf("filtered:\n got %q\nwant %q", got, want)
	}
}

// TestActivity compares the mean number of running goroutines in random periods with a
// sum over all their states.
func TestActivity(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const end = 4 * buckets // so that a bucket is about 4 ps wide
	var all [][]ran
	for range 40 {
		at := int64(0)
		var times []ran
		for at < end-1000 {
			from := at + r.Int64N(900)
			at = from + 1 + r.Int64N(900)
			times = append(times, ran{from, min(at, end)})
		}
		all = append(all, times)
	}
	all[0] = append(all[0], ran{end - 1, end})
	rec := goroutines(map[string][][]ran{"main.a": all, "main.alone": {{{0, 10}}}})
	a, err := NewActivity(context.Background(), rec)
	if err != nil {
		t.Fatal(err)
	}
	if names := fmt.Sprint(reflect.ValueOf(a.of).MapKeys()); names != "[main.a]" || a.most != 2 {
		t.Errorf("activity of %s on %v processors", names, a.most)
	}
	for range 200 {
		from := r.Int64N(end - 500)
		to := from + 400 + r.Int64N(end-from-400)
		var sum int64
		for _, times := range all {
			for _, x := range times {
				sum += max(0, min(x.to, to)-max(x.from, from))
			}
		}
		want := float64(sum) / float64(to-from)
		// Activity inside the buckets at both ends is unknown, so allow for an error.
		if got := a.mean(a.of["main.a"], from, to); math.Abs(got-want) > 40*2*5/float64(to-from) {
			t.Errorf("from %d to %d: %g, want %g", from, to, got, want)
		}
	}
}
