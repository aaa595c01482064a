package analyze

import (
	"context"
	"slices"

	"ashlar/ingest/model/recording"
)

// join passes records to a sink, as records does, and joins halves: if a recorder wrote
// user and kernel stacks separately, it puts each kernel stack on top of the user stacks
// it belongs to (see recording.Halves). Both are views of the same samples, so their
// common weight counts once: the total decreases by Weights.Joined.
//
// The common weight follows from the weights alone. For a pair it is the smaller of the
// two weights; the rest of the larger one stays a stack of its own, for samples in which
// only that half was seen. A record in several pairs gives its weight to them in file
// order, each time as far as both halves have weight left. A half without a value of the
// metric takes the other's. So no weight is counted twice and none is lost: total +
// Joined is the previous total.
//
// Samples on the timeline belong together if they have the same thread and time and their
// stacks are related; rows of windows, if they are in the same window.
type join struct {
	rec *recording.Recording
	q   *Query
	to  sink
	// samples is set if the joined records are samples.
	samples bool
	// byKernel holds, by the kernel's call, the user calls it belongs to.
	byKernel map[recording.CallID][]related
	batch    []Record
	pairs    []pair
}

// related is a user call, and the call it becomes with the kernel's frames on top.
type related struct{ user, joined recording.CallID }

// pair is two records of a batch that belong together.
type pair struct {
	user, kernel int
	joined       recording.CallID
}

// newJoin returns nil if there is nothing to join.
func newJoin(rec *recording.Recording, q *Query, to sink) *join {
	if q.Apart || q.Event >= len(rec.Stacks) || rec.Stacks[q.Event] == nil || len(rec.Stacks[q.Event].Halves()) == 0 {
		return nil
	}
	return &join{rec: rec, q: q, to: to}
}

func (j *join) records(ctx context.Context) error {
	basis := j.q.Basis(j.rec)
	if basis == Stacks {
		return j.stacks(ctx)
	}
	j.samples = basis == Samples
	j.byCall()
	err := plainRecords(ctx, j.rec, *j.q, j)
	j.flush()
	return err
}

// stacks joins stack records: the file says which rows are halves of each other.
func (j *join) stacks(ctx context.Context) error {
	s := j.rec.Stacks[j.q.Event]
	at := map[int]int{} // row to index in the batch
	for _, h := range s.Halves() {
		at[h.User], at[h.Kernel] = -1, -1
	}
	chosen := j.q.Scope.TrackTest()
	for i := range s.Len() {
		if i%checkEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if !chosen(s.Track(i)) {
			continue
		}
		r := Record{Call: s.Call(i), Value: s.Value(i, j.q.Metric), Track: s.Track(i), Context: s.Context(i), CPU: -1, At: int64(i)}
		if _, is := at[i]; is {
			at[i] = len(j.batch)
			j.batch = append(j.batch, r)
			continue
		}
		j.to.add(&r)
	}
	for _, h := range s.Halves() {
		if u, k := at[h.User], at[h.Kernel]; u >= 0 && k >= 0 {
			j.pairs = append(j.pairs, pair{u, k, h.Joined})
		}
	}
	j.share()
	return ctx.Err()
}

// byCall fills byKernel, for records such as samples, whose halves are known only by
// their calls.
func (j *join) byCall() {
	s := j.rec.Stacks[j.q.Event]
	j.byKernel = map[recording.CallID][]related{}
	for _, h := range s.Halves() {
		k, r := s.Call(h.Kernel), related{s.Call(h.User), h.Joined}
		if !slices.Contains(j.byKernel[k], r) {
			j.byKernel[k] = append(j.byKernel[k], r)
		}
	}
}

// add collects the samples of one time and thread, or the rows of a window, into a batch.
func (j *join) add(r *Record) {
	if n := len(j.batch); n > 0 && j.samples && (j.batch[0].At != r.At || j.batch[0].Track != r.Track) {
		j.flush()
	}
	j.batch = append(j.batch, *r)
}

// window begins a window: it joins the rows of the one before.
func (j *join) window(w *recording.Window) {
	j.flush()
	j.to.window(w)
}

// flush joins the collected records.
func (j *join) flush() {
	if len(j.batch) > 1 {
		byCall := map[recording.CallID][]int{}
		for i := range j.batch {
			byCall[j.batch[i].Call] = append(byCall[j.batch[i].Call], i)
		}
		for k := range j.batch {
			for _, r := range j.byKernel[j.batch[k].Call] {
				for _, u := range byCall[r.user] {
					if a, b := j.batch[u].Track, j.batch[k].Track; a == b || a == recording.NoTrack || b == recording.NoTrack {
						j.pairs = append(j.pairs, pair{u, k, r.joined})
					}
				}
			}
		}
	}
	j.share()
}

// share passes on the batch: the common weight of each pair as one record, and the rest
// of each half.
func (j *join) share() {
	if len(j.batch) == 1 { // the most common, by far
		j.to.add(&j.batch[0])
		j.batch = j.batch[:0]
		return
	}
	used := make([]bool, len(j.batch))
	for _, p := range j.pairs {
		u, k := &j.batch[p.user], &j.batch[p.kernel]
		v := recording.InCommon(u.Value, k.Value)
		if v == 0 && (used[p.user] || used[p.kernel]) {
			continue // nothing is left to be shared
		}
		r := *u
		r.Call, r.Value, r.At, r.joined = p.joined, v, min(u.At, k.At), true
		if r.Track == recording.NoTrack {
			r.Track = k.Track
		}
		if r.Context == 0 {
			r.Context = k.Context
		}
		used[p.user], used[p.kernel] = true, true
		if v != recording.Missing {
			take(&u.Value, v)
			take(&k.Value, v)
		}
		j.to.add(&r)
	}
	for i := range j.batch {
		if r := &j.batch[i]; !used[i] || r.Value != 0 && r.Value != recording.Missing {
			j.to.add(r)
		}
	}
	j.batch, j.pairs = j.batch[:0], j.pairs[:0]
}

func take(from *int64, v int64) {
	if *from != recording.Missing {
		*from -= v
	}
}
