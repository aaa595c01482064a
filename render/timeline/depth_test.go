package timeline

import (
	"slices"
	"testing"

	"ashlar/ingest/model/recording"
)

// stacked returns a recording of threads with nested spans, plus a thread with a single
// instant. Thread i has depths[i] spans, all from 0 to busy[i].
func stacked(depths []int, busy []int64) *recording.Recording {
	b := recording.NewBuilder()
	b.AddEvent(recording.SpanEvent())
	f := b.FunctionFrame(b.Function(recording.Function{Name: "f"}))
	for i := range depths {
		t := b.Track(recording.TrackKey{PID: 1, TID: int64(i + 1)})
		for range depths[i] {
			t.Begin(0, f, 0)
		}
		for range depths[i] {
			t.End(busy[i])
		}
	}
	b.Track(recording.TrackKey{PID: 1, TID: 99}).Instant(5, "once", 0)
	return b.Finish()
}

// TestBusiestThreadIsOpen checks that the busiest of several deep threads shows as many
// lanes as there is room for, unless the user has folded it, and the first of several that
// are about as busy.
func TestBusiestThreadIsOpen(t *testing.T) {
	rec := stacked([]int{30, 12, 30, 3}, []int64{400, 900, 800, 1000})
	lanes := func(l Layout) (n []int) {
		l.Scale = 1
		p, y := NewPlan(rec, l), 0
		for i := range p.Rows {
			r := &p.Rows[i]
			if r.Y != y {
				t.Errorf("row %d begins at %d, not at %d", i, r.Y, y)
			}
			if y += r.Height; r.Kind == TrackRow {
				n = append(n, r.Lanes)
			}
		}
		if p.Height != y {
			t.Errorf("the height is %d, want %d", p.Height, y)
		}
		return n
	}
	for _, x := range []struct {
		l    Layout
		want [5]int
	}{
		{Layout{}, [5]int{8, 8, 8, 3, 1}},
		{Layout{Deep: 20}, [5]int{8, 12, 8, 3, 1}},
		{Layout{Deep: 20, Folds: map[int]Fold{1: Closed}}, [5]int{8, 1, 20, 3, 1}},
		{Layout{Deep: 5}, [5]int{8, 8, 8, 3, 1}},
	} {
		if got := lanes(x.l); [5]int(got) != x.want {
			t.Errorf("%+v shows %d lanes, want %d", x.l, got, x.want)
		}
	}
	rec = stacked([]int{30, 30, 30}, []int64{900, 1000, 950})
	if got, want := lanes(Layout{Deep: 20}), []int{20, 8, 8, 1}; !slices.Equal(got, want) {
		t.Errorf("threads that are about as busy show %d lanes, want %d", got, want)
	}
}

// TestInstantsTakeALine checks that a thread with only an instant has a row one line
// high, and that the pointer finds the instant anywhere in its height.
func TestInstantsTakeALine(t *testing.T) {
	rec := stacked([]int{3}, []int64{10})
	p := NewPlan(rec, Layout{Scale: 2})
	r := &p.Rows[len(p.Rows)-1]
	if r.Kind != TrackRow || r.Height > 2*24 {
		t.Fatalf("the row is %d pixels high", r.Height)
	}
	v := View{From: 0, To: 10}
	for _, y := range []int{r.Y + 2, r.Y + r.Height - 4} {
		if h := At(rec, p, v, 100+50, y, 200, 100); h.Instant == nil || h.Instant.Name != "once" {
			t.Errorf("at %d there is no instant", y-r.Y)
		}
	}
}

// TestMoreButton checks that the button for more lanes is hit where it is drawn, and
// exists only for rows with hidden lanes.
func TestMoreButton(t *testing.T) {
	rec := stacked([]int{30, 3}, []int64{10, 10})
	p := NewPlan(rec, Layout{Scale: 1})
	v := View{From: 0, To: 10}
	for i := range p.Rows {
		r := &p.Rows[i]
		b := p.MoreButton(r, 0, 170)
		if want := r.Lanes < r.All; b.Empty() == want {
			t.Errorf("row %d with %d of %d lanes has a button at %v", i, r.Lanes, r.All, b)
		}
		if b.Empty() {
			continue
		}
		if b.Dy() < 16 || b.Dx() < 100 || b.Max.Y > r.Y+r.Height {
			t.Errorf("the button is at %v", b)
		}
		mid := b.Min.Add(b.Max).Div(2)
		if h := At(rec, p, v, mid.X, mid.Y, 400, 170); !h.More {
			t.Error("the button is not hit")
		}
		if h := At(rec, p, v, 40, r.Y+5, 400, 170); h.More {
			t.Error("the name is the button")
		}
		if got := r.moreText(); got != "Show 22 more lanes" {
			t.Errorf("it says %q", got)
		}
	}
}
