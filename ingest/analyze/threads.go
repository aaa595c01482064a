package analyze

import (
	"context"
	"fmt"

	"ashlar/ingest/recording"
)

// ByTrack lists how much each track has of what a query selects, heaviest
// first, in one pass over the records. A track stands for itself alone, so Self
// and Total are the same, and their sum is Weights.Sum. Records that name no
// thread have a row with Track recording.NoTrack. Tracks without any record in
// the selection have no row.
func ByTrack(ctx context.Context, rec *recording.Recording, q Query) ([]Row, error) {
	if q.Event < 0 || q.Event >= len(rec.Events) {
		return nil, nil
	}
	t := trackSums{rows: make([]Row, len(rec.Tracks)+1)}
	switch basisOf(rec, q) {
	case Spans:
		t.spans(ctx, rec, q)
	case Samples:
		t.samples(rec, q)
	case Windows:
		t.windows(rec, q)
	default:
		t.stacks(rec, q)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return t.finish(rec), nil
}

// trackSums has a row for each track, the last for records without one.
type trackSums struct{ rows []Row }

func (t *trackSums) add(track int, v int64) {
	r := &t.rows[len(t.rows)-1]
	if track >= 0 && track < len(t.rows)-1 {
		r = &t.rows[track]
	}
	r.Count++
	if v != recording.Missing {
		r.Self += v
	}
}

func (t *trackSums) stacks(rec *recording.Recording, q Query) {
	s := rec.Stacks[q.Event]
	if s == nil {
		return
	}
	chosen := q.chosen()
	for i := range s.Len() {
		if track := s.Track(i); chosen(track) {
			t.add(track, s.Value(i, q.Metric))
		}
	}
}

func (t *trackSums) samples(rec *recording.Recording, q Query) {
	m := &rec.Events[q.Event].Metrics[q.Metric]
	chosen := q.chosen()
	for ti, track := range rec.Tracks {
		s := track.SamplesOf(q.Event)
		if s == nil || !chosen(ti) {
			continue
		}
		from, to := q.samples(rec, s)
		if m.PerSample == recording.SampleOne {
			t.rows[ti].Self += int64(max(0, to-from))
			t.rows[ti].Count += int64(max(0, to-from))
			continue
		}
		for i := from; i < to; i++ {
			t.add(ti, s.Value(i, m, q.Metric))
		}
	}
}

func (t *trackSums) windows(rec *recording.Recording, q Query) {
	chosen := q.chosen()
	for _, ws := range rec.Windows {
		if ws.Event != q.Event {
			continue
		}
		for _, i := range cover(ws.Windows, q.From, q.To) {
			for r := ws.Windows[i].First; r < ws.Windows[i].Last; r++ {
				if track := ws.Rows.Track(r); chosen(track) {
					t.add(track, ws.Rows.Value(r, q.Metric))
				}
			}
		}
	}
}

// spans counts the spans of each track and adds up what its outermost ones
// cover.
func (t *trackSums) spans(ctx context.Context, rec *recording.Recording, q Query) {
	from, to := rec.Start, rec.End
	if q.Ranged {
		from, to = q.From, q.To
	}
	chosen := q.chosen()
	for ti, track := range rec.Tracks {
		if !chosen(ti) {
			continue
		}
		r := &t.rows[ti]
		for i := range track.Lanes {
			l := &track.Lanes[i]
			first, last := spansIn(l, from, to)
			r.Count += int64(last - first)
			// All spans of a lane are equally deep; several lanes of a track
			// are outermost where spans overlap without nesting.
			if first < last && q.Metric != recording.SpanCount && rec.Calls.Depth(l.Call(first)) == 1 {
				r.Self += covered(ctx, l, first, last, from, to)
			}
		}
		if q.Metric == recording.SpanCount {
			r.Self = r.Count
		}
	}
}

// covered adds up how much of from..to the spans first..last-1 of a lane cover.
func covered(ctx context.Context, l *recording.Lane, first, last int, from, to int64) int64 {
	var sum int64
	for i := first; i < last && ctx.Err() == nil; {
		starts, ends, _ := l.Columns(i)
		n := min(len(starts), last-i)
		for k := range n {
			sum += min(ends[k], to) - max(starts[k], from)
		}
		i += n
	}
	return sum
}

func (t *trackSums) finish(rec *recording.Recording) []Row {
	var rows []Row
	for i, r := range t.rows {
		if r.Count == 0 {
			continue
		}
		r.Track, r.Name, r.Total = recording.NoTrack, "[no thread]", r.Self
		if i < len(rec.Tracks) {
			r.Track, r.Name = i, TrackName(rec.Tracks[i])
		}
		rows = append(rows, r)
	}
	SortRows(rows)
	return rows
}

// TrackName is what a track is called where it has no room for more: its name,
// else its thread id.
func TrackName(t *recording.Track) string {
	if t.Name != "" {
		return t.Name
	}
	return fmt.Sprintf("thread %d", t.TID)
}
