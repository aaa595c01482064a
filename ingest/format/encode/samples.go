package encode

import (
	"cmp"
	"container/heap"

	"ashlar/ingest/model/recording"
)

// Samples returns the number of samples on a recording's timeline.
func Samples(rec *recording.Recording) int64 {
	var n int64
	for _, t := range rec.Tracks {
		for _, s := range t.Samples {
			n += int64(s.Len())
		}
	}
	return n
}

// HasSamples reports whether an event has samples on the timeline.
func (j *Job) HasSamples(event int) bool {
	for _, t := range j.Rec.Tracks {
		if s := t.SamplesOf(event); s != nil && s.Len() > 0 {
			return true
		}
	}
	return false
}

// A SampleCursor points to sample I of an event on a track.
type SampleCursor struct {
	S     *recording.Samples
	Track int
	I     int
	Time  int64
}

// sampleOrder merges the samples of all tracks and events by time.
type sampleOrder []*SampleCursor

func (o sampleOrder) Len() int { return len(o) }
func (o sampleOrder) Less(a, b int) bool {
	return cmp.Or(cmp.Compare(o[a].Time, o[b].Time), cmp.Compare(o[a].Track, o[b].Track), cmp.Compare(o[a].S.Event, o[b].S.Event)) < 0
}
func (o sampleOrder) Swap(a, b int) { o[a], o[b] = o[b], o[a] }

// Push and Pop implement heap.Interface.
func (o *sampleOrder) Push(x any) { *o = append(*o, x.(*SampleCursor)) }

// Pop removes and returns the last cursor.
func (o *sampleOrder) Pop() any {
	n := len(*o) - 1
	x := (*o)[n]
	*o = (*o)[:n]
	return x
}

// EachSample visits all samples in order of time.
func (j *Job) EachSample(visit func(*SampleCursor) error) error {
	var order sampleOrder
	for ti, t := range j.Rec.Tracks {
		for _, s := range t.Samples {
			if s.Len() > 0 {
				order = append(order, &SampleCursor{S: s, Track: ti, Time: s.Time(0)})
			}
		}
	}
	heap.Init(&order)
	for len(order) > 0 {
		c := order[0]
		if err := visit(c); err != nil {
			return err
		}
		if c.I++; c.I == c.S.Len() {
			heap.Pop(&order)
		} else {
			c.Time = c.S.Time(c.I)
			heap.Fix(&order, 0)
		}
		if err := j.Tick(1); err != nil {
			return err
		}
	}
	return nil
}
