package stacktext

import (
	"testing"

	"ashlar/ingest/model/recording"
)

// TestStrayTimes checks that one time far from the others leaves only its own sample off the
// timeline, wherever it stands, and however few or many samples there are.
func TestStrayTimes(t *testing.T) {
	for _, n := range []int{3, mostHeld, 3 * mostHeld} {
		for _, odd := range []int{0, 1, n - 1} {
			b := recording.NewBuilder()
			s := NewSheet(b)
			e := s.Event(recording.Event{Name: "probe", Metrics: []recording.Metric{{Name: "samples", PerSample: recording.SampleOne}}})
			for i := range n {
				at := 1_700_000_000_000_000_000 + int64(i)*1_000_000
				if i == odd {
					at = 12345
				}
				s.Line = int64(10 * (i + 1))
				s.Sample(e, &Who{}, -1, []Frame{{Name: "f"}}, &at)
			}
			if err := s.Close("stacks"); err != nil {
				t.Fatal(err)
			}
			r := b.Finish()
			if r.Counts.Samples != int64(n-1) || r.Duration() > int64(n)*1e9 || len(r.Tracks) != 1 {
				t.Errorf("%d samples, number %d odd: %d are on the timeline, which has %d ps", n, odd, r.Counts.Samples, r.Duration())
			}
			if len(r.Warnings) != 1 || r.Warnings[0].First != Place(int64(10*(odd+1))) || r.Events[e].Metrics[0].Total != int64(n) {
				t.Errorf("%d samples, number %d odd: warnings %v, total %d", n, odd, r.Warnings, r.Events[e].Metrics[0].Total)
			}
		}
	}
}
