package timeline

import (
	"fmt"
	"testing"

	"ashlar/ingest/model/recording"
)

// TestSamplesAreBesideSpans checks threads with more lanes of spans and samples than
// their row shows. Each visible lane has its own place, where the pointer finds it;
// samples are always visible, and get most lanes if their event is selected.
func TestSamplesAreBesideSpans(t *testing.T) {
	b := recording.NewBuilder()
	b.AddEvent(recording.SpanEvent())
	event := b.AddEvent(recording.Event{Name: "JS", Basis: recording.FromSamples, Metrics: []recording.Metric{{Name: "samples", PerSample: recording.SampleOne}}})
	var frames []recording.FrameID
	for i := range 30 {
		frames = append(frames, b.FunctionFrame(b.Function(recording.Function{Name: fmt.Sprint("f", i)})))
	}
	deep := [][2]int{{20, 0}, {20, 12}, {3, 9}, {12, 2}, {0, 12}, {2, 2}} // lanes of spans, depths of samples
	for th, n := range deep {
		tr := b.Track(recording.TrackKey{TID: int64(th + 1)})
		for i := range n[0] {
			tr.Begin(int64(i), frames[i], 0)
		}
		for i := range n[1] * 10 {
			tr.Sample(event, 100+int64(i), b.Stack(frames[:n[1]]), -1, []int64{1})
		}
		for i := range n[0] {
			tr.End(int64(900 + i))
		}
	}
	rec := b.Finish()
	view := View{From: rec.Start, To: rec.End}
	const w, gutter = 1100, 100
	for e, want := range [][][2]int{{{8, 0}, {5, 3}, {3, 5}, {6, 2}, {0, 8}, {2, 2}}, {{8, 0}, {3, 5}, {3, 5}, {6, 2}, {0, 8}, {2, 2}}} {
		for _, fold := range []Fold{Auto, Full, Closed} {
			folds := map[int]Fold{}
			for i := range deep {
				folds[i] = fold
			}
			plan := NewPlan(rec, Layout{Scale: 1, Event: e, Folds: folds})
			for ri := range plan.Rows {
				r := &plan.Rows[ri]
				if r.Kind != TrackRow {
					continue
				}
				n, shown := deep[r.Index], want[r.Index]
				switch {
				case fold == Full:
					shown = n
				case fold == Closed && (n[0] == 0 || e == 1 && n[1] > 0):
					shown = [2]int{0, 1}
				case fold == Closed:
					shown = [2]int{1, 0}
				}
				if got := [2]int{r.SpanLanes, r.Depths}; got != shown || r.Lanes != shown[0]+shown[1] {
					t.Errorf("event %d, fold %d, thread of %v: %v lanes of spans and of samples, want %v", e, fold, n, got, shown)
				}
				if name := plan.sampled(r); (name != "") != (shown[1] > 0 && n[0] > 0) {
					t.Errorf("event %d, fold %d, thread of %v: the samples are called %q", e, fold, n, name)
				}
				seen := map[int]bool{}
				for lane := range n[0] + n[1] {
					if !r.Shows(lane) {
						continue
					}
					_, y0, _, y1 := plan.Box(view, ri, lane, 100, 110, w, gutter)
					if y0 < r.Y || y1 > r.Y+r.Height || seen[y0] {
						t.Errorf("event %d, fold %d, thread of %v: lane %d lies at %d..%d of a row %d high", e, fold, n, lane, y0-r.Y, y1-r.Y, r.Height)
					}
					seen[y0] = true
					h := At(rec, plan, view, gutter+120, (y0+y1)/2-view.Scroll, w, gutter)
					if h.Row != ri || h.Lane != lane || (h.Samples != nil) != (lane >= n[0]) || rec.FuncName(h.Call) != fmt.Sprint("f", map[bool]int{true: lane, false: lane - n[0]}[lane < n[0]]) {
						t.Errorf("event %d, fold %d, thread of %v: at lane %d the pointer finds lane %d, %s", e, fold, n, lane, h.Lane, rec.FuncName(h.Call))
					}
				}
				if len(seen) != r.Lanes {
					t.Errorf("event %d, fold %d, thread of %v: %d of %d lanes have a place", e, fold, n, len(seen), r.Lanes)
				}
			}
		}
	}
}
