package spans

import (
	"context"
	"slices"

	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/ingest/query/scan"
)

// Presence describes a function in records other than spans: how often it was seen, when,
// and for how long at a stretch.
type Presence struct {
	Basis analyze.Basis
	// Records is the number of records with the function in their stack, Leaf the number
	// with it innermost, Of the number of all records.
	Records, Leaf, Of int64
	// Total and Self are the weights of the Records and of the Leaf records in the metric's
	// units; OfWeight is the weight of all records.
	Total, Self, OfWeight int64
	// Negative is the sum of the negative values in Total.
	Negative int64
	// OverTime counts the samples with the function by moment, OfOverTime all samples.
	// Both are nil if records have no time of their own.
	OverTime, OfOverTime []Bin
	// Runs describes stretches in which every sample of a thread has the function; nil if
	// records have no time of their own.
	Runs *Runs
}

// Runs describes runs of neighbouring samples of one thread with the function in their
// stack. A run may be one call or many; samples cannot tell.
type Runs struct {
	// Count is the number of runs. Median, P90 and Most are their numbers of samples, by
	// nearest rank.
	Count, Median, P90, Most int64
	// Longest is the time from the first to the last sample of the longest run, which
	// begins at Start on Track.
	Longest, Start int64
	Track          int
}

// PresenceOf looks at a query's records other than spans. If there are samples with the
// metric, it takes these, because they tell more than sums computed from them.
func PresenceOf(ctx context.Context, rec *recording.Recording, q analyze.Query, of []recording.FuncID) (*Presence, error) {
	if whole := q; !q.Scope.Ranged && rec.HasTime {
		whole.Scope = q.Scope.Between(rec.Start, rec.End)
		if whole.Basis(rec) == analyze.Samples {
			q = whole
		}
	}
	p := &presence{Presence: Presence{Basis: q.Basis(rec)}, leaf: scan.Calls(rec, of), track: recording.NoTrack}
	p.in = slices.Clone(p.leaf)
	for c := 1; c < len(p.in); c++ {
		p.in[c] = p.in[c] || p.in[rec.Calls.Parent(recording.CallID(c))]
	}
	if p.Basis == analyze.Samples && rec.HasTime {
		from, to := q.Scope.Bounds(rec)
		for _, e := range momentEdges(from, to) {
			p.OverTime = append(p.OverTime, Bin{From: e})
		}
		for i := range p.OverTime[1:] {
			p.OverTime[i].To = p.OverTime[i+1].From
		}
		p.OverTime = p.OverTime[:len(p.OverTime)-1]
		p.OfOverTime = slices.Clone(p.OverTime)
		p.reach = reaches(rec, q.Event)
		p.Runs = &Runs{Track: recording.NoTrack}
	}
	if err := analyze.Each(ctx, rec, q, p.add); err != nil {
		return nil, err
	}
	p.end()
	if r := p.Runs; r != nil && len(p.runs) > 0 {
		n := int64(len(p.runs))
		slices.Sort(p.runs)
		r.Count, r.Most = n, p.runs[n-1]
		r.Median, r.P90 = p.runs[rankOf(n, 500)], p.runs[rankOf(n, 900)]
	}
	return &p.Presence, nil
}

// reaches returns, by track, the largest distance of two samples that count as
// neighbours.
func reaches(rec *recording.Recording, event int) []int64 {
	out := make([]int64, len(rec.Tracks))
	for i, t := range rec.Tracks {
		if s := t.SamplesOf(event); s != nil && s.Len() > 0 {
			// The last sample has no successor that could cut it short.
			out[i] = s.End(s.Len()-1) - s.Time(s.Len()-1)
		}
	}
	return out
}

// presence counts records in the order in which they arrive: samples by track, then by
// time.
type presence struct {
	Presence
	leaf, in []bool // by call
	reach    []int64
	runs     []int64
	// The current run: its number of samples, its start and its last sample.
	n           int64
	start, last int64
	track       int
	moment      int
}

func (p *presence) add(r *analyze.Record) {
	in := p.in[r.Call]
	p.Of++
	if r.Value != recording.Missing {
		recording.Add(&p.OfWeight, r.Value)
	}
	if in {
		p.Records++
		if r.Value != recording.Missing {
			recording.Add(&p.Total, r.Value)
			recording.Add(&p.Negative, min(r.Value, 0))
		}
	}
	if p.leaf[r.Call] {
		p.Leaf++
		if r.Value != recording.Missing {
			recording.Add(&p.Self, r.Value)
		}
	}
	if p.Runs == nil {
		return
	}
	p.count(r, in)
	if p.n > 0 && (!in || r.Track != p.track || r.At-p.last > p.reach[r.Track]) {
		p.end()
	}
	if in {
		if p.n == 0 {
			p.start = r.At
		}
		p.n++
	}
	p.last, p.track = r.At, r.Track
}

// count adds a sample to its moment. Samples arrive almost in order.
func (p *presence) count(r *analyze.Record, in bool) {
	if p.moment >= len(p.OverTime) || r.At < p.OverTime[p.moment].From {
		p.moment = 0
	}
	for p.moment < len(p.OverTime)-1 && r.At >= p.OverTime[p.moment].To {
		p.moment++
	}
	p.OfOverTime[p.moment].Count++
	if in {
		p.OverTime[p.moment].Count++
	}
}

// end closes the current run.
func (p *presence) end() {
	if p.n == 0 {
		return
	}
	p.runs = append(p.runs, p.n)
	r := p.Runs
	if long := p.last - p.start; r.Track == recording.NoTrack || long > r.Longest {
		r.Longest, r.Start, r.Track = long, p.start, p.track
	}
	p.n = 0
}
