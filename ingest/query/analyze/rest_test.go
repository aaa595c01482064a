package analyze

import (
	"testing"

	"ashlar/ingest/model/recording"
)

// TestRestCountsOnce checks that, outside a range, a span counts with its time there, and
// that a span that covers the range is still one span.
func TestRestCountsOnce(t *testing.T) {
	b := recording.NewBuilder()
	b.AddEvent(recording.SpanEvent())
	tr := b.Track(recording.TrackKey{TID: 1})
	tr.Begin(0, frame(b, "main"), 0)
	for _, s := range [][2]int64{{5, 15}, {20, 40}, {60, 90}} {
		tr.Begin(s[0], frame(b, "f"), 0)
		tr.End(s[1])
	}
	tr.End(100)
	rec := b.Finish()
	for _, c := range []struct{ from, to, time, count int64 }{
		{30, 70, 60, 4},  // main and every f, which all extend beyond the range
		{16, 50, 66, 3},  // all except the second f
		{0, 50, 50, 2},   // nothing before it
		{50, 100, 50, 3}, // nothing after it
		{41, 59, 82, 4},
	} {
		q := Query{Scope: recording.Between(c.from, c.to).Rest()}
		time := weigh(t, rec, q)
		q.Metric = recording.SpanCount
		count := weigh(t, rec, q)
		if time.Sum != c.time || count.Sum != c.count || time.Records != c.count {
			t.Errorf("outside %d..%d: time %d, %d spans, want %d and %d", c.from, c.to, time.Sum, count.Sum, c.time, c.count)
		}
		if n := q.Scope.Length(rec); n != c.time {
			t.Errorf("outside %d..%d there are %d", c.from, c.to, n)
		}
	}
}
