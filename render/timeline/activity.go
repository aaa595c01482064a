package timeline

import (
	"context"
	"math"

	"ashlar/ingest/model/lanes"
	"ashlar/ingest/model/recording"
)

// buckets is the number of equal parts of a recording for which Activity counts.
const buckets = 1 << 14

// Activity is, for each group of tracks, the mean number of its tracks that ran in each
// part of the recording.
type Activity struct {
	of    map[string][]float32
	start int64
	width float64 // width of a bucket, in picoseconds
	most  float64 // number of processors
}

// NewActivity computes the activity of a recording's groups. It fails only if ctx ends.
func NewActivity(ctx context.Context, rec *recording.Recording) (*Activity, error) {
	a := &Activity{of: map[string][]float32{}, start: rec.Start, width: float64(rec.Duration()+1) / buckets}
	n := map[string]int{}
	for _, t := range rec.Tracks {
		if name, ok := groupOf(rec, t); ok {
			n[name]++
		}
		if rec.Processes[t.Process].Member == recording.ProcessorWord && t.Kind == recording.ThreadTrack {
			a.most++
		}
	}
	a.most = max(1, a.most)
	var room lanes.Room
	for _, t := range rec.Tracks {
		name, ok := groupOf(rec, t)
		if !ok || n[name] < 2 && name != SystemGroup {
			continue
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if a.of[name] == nil {
			a.of[name] = make([]float32, buckets)
		}
		a.add(a.of[name], rec, &t.States, &room)
	}
	return a, nil
}

// add adds the time that a thread ran.
func (a *Activity) add(to []float32, rec *recording.Recording, states *lanes.Lane, room *lanes.Room) {
	for i := 0; i < states.Len(); {
		starts, ends, calls := states.Columns(i, states.Len()-i, room)
		for k, c := range calls {
			if s := rec.State(c); s != recording.Running && s != recording.Collecting {
				continue
			}
			from, end := float64(starts[k]-a.start)/a.width, float64(ends[k]-a.start)/a.width
			for b := int(max(0, from)); b < buckets && float64(b) < end; b++ {
				to[b] += float32(min(end, float64(b+1)) - max(from, float64(b)))
			}
		}
		i += len(calls)
	}
}

// mean returns the mean number of tracks that ran between two times.
func (a *Activity) mean(of []float32, from, to int64) float64 {
	x, y := float64(from-a.start)/a.width, float64(to-a.start)/a.width
	sum := 0.
	for b := int(max(0, math.Floor(x))); b < buckets && float64(b) < y; b++ {
		sum += float64(of[b]) * (min(y, float64(b+1)) - max(x, float64(b)))
	}
	return sum / max(y-x, 1e-9)
}
