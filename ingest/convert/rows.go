package convert

import (
	"math"
	"slices"

	"ashlar/ingest/recording"
)

// rowKey is what a row of an event stands for.
type rowKey struct {
	track int32
	ctx   recording.ContextID
	call  recording.CallID
}

// rows are an event's values by track, context and stack, whatever records the
// recording has them from. Values of row i are values[i*metrics:][:metrics],
// recording.Missing where there is none.
type rows struct {
	metrics  int
	keys     []rowKey
	values   []int64
	overflow int64 // values that did not fit when added up
	index    map[rowKey]int32
}

func (r *rows) at(i int) []int64 { return r.values[i*r.metrics:][:r.metrics] }

// row finds or makes a row.
func (r *rows) row(k rowKey) []int64 {
	i, ok := r.index[k]
	if !ok {
		i = int32(len(r.keys))
		r.index[k] = i
		r.keys = append(r.keys, k)
		for range r.metrics {
			r.values = append(r.values, recording.Missing)
		}
	}
	return r.at(int(i))
}

// add adds v to a value of a row, Missing being none.
func (r *rows) add(at *int64, v int64) {
	switch {
	case v == recording.Missing:
	case *at == recording.Missing:
		*at = v
	default:
		sum := *at + v
		if (sum > *at) != (v > 0) && v != 0 {
			r.overflow++
			sum = math.MaxInt64
			if v < 0 {
				sum = math.MinInt64 + 1
			}
		}
		*at = sum
	}
}

// rowsOf adds up an event. Spans count with the time that is theirs alone, so
// that the sum over all rows is the time that is covered.
func (j *job) rowsOf(event int) (*rows, error) {
	rec := j.rec
	r := &rows{metrics: len(rec.Events[event].Metrics), index: map[rowKey]int32{}}
	var err error
	switch rec.Events[event].Basis {
	case recording.FromSpans:
		err = r.spans(j)
	case recording.FromSamples:
		err = r.samples(j, event)
	default:
		err = r.stacks(j, event)
	}
	if r.overflow > 0 {
		j.lose(r.overflow, "sums", "they do not fit 64 bits and were cut down")
	}
	return r, err
}

func (r *rows) stacks(j *job, event int) error {
	s := j.rec.Stacks[event]
	if s == nil {
		return nil
	}
	for i := range s.Len() {
		vs := r.row(rowKey{int32(s.Track(i)), s.Context(i), s.Call(i)})
		for m := range vs {
			r.add(&vs[m], s.Value(i, m))
		}
		if err := j.tick(1); err != nil {
			return err
		}
	}
	return nil
}

func (r *rows) samples(j *job, event int) error {
	ms := j.rec.Events[event].Metrics
	for ti, t := range j.rec.Tracks {
		s := t.SamplesOf(event)
		if s == nil {
			continue
		}
		for i := range s.Len() {
			vs := r.row(rowKey{int32(ti), 0, s.Call(i)})
			for m := range vs {
				r.add(&vs[m], s.Value(i, &ms[m], m))
			}
			if err := j.tick(1); err != nil {
				return err
			}
		}
	}
	return nil
}

// spans adds up self time and count by track and call. A track's calls are
// dense enough for columns by call.
func (r *rows) spans(j *job) error {
	calls := &j.rec.Calls
	self, count := make([]int64, calls.Len()), make([]int64, calls.Len())
	seen := make([]bool, calls.Len())
	var touched []recording.CallID
	touch := func(c recording.CallID) {
		if !seen[c] {
			seen[c] = true
			touched = append(touched, c)
		}
	}
	var room recording.Room
	for ti, t := range j.rec.Tracks {
		for k := range t.Lanes {
			l := &t.Lanes[k]
			for i := 0; i < l.Len(); {
				starts, ends, ids := l.Columns(i, &room)
				for n, c := range ids {
					d := ends[n] - starts[n]
					touch(c)
					self[c] += d
					count[c]++
					if p := calls.Parent(c); p != recording.NoCall {
						touch(p)
						self[p] -= d
					}
				}
				i += len(ids)
				if err := j.tick(int64(len(ids))); err != nil {
					return err
				}
			}
		}
		slices.Sort(touched)
		for _, c := range touched {
			vs := r.row(rowKey{int32(ti), 0, c})
			vs[recording.SpanTime], vs[recording.SpanCount] = self[c], count[c]
			self[c], count[c], seen[c] = 0, 0, false
		}
		touched = touched[:0]
	}
	return nil
}
