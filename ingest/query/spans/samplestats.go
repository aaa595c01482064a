package spans

import (
	"context"
	"slices"

	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/ingest/query/scan"
)

// Presence says where a function is in records that are not spans: how
// often it was seen, when, and how long on end.
type Presence struct {
	Basis analyze.Basis
	// Records is how many have the function in their stack, Leaf in how many it
	// is the innermost; Of is how many there are.
	Records, Leaf, Of int64
	// Total and Self are the same in the metric's units, OfWeight what all
	// weigh.
	Total, Self, OfWeight int64
	// Negative adds up the records of Total that are below zero.
	Negative int64
	// OverTime counts the samples with the function by moment, OfOverTime all
	// of them; nil if records have no time of their own.
	OverTime, OfOverTime []Bin
	// Runs are stretches in which every sample of a thread has the function;
	// nil as above.
	Runs *Runs
}

// Runs describes stretches of neighbouring samples of one thread that all
// have the function in their stack. A run may be one call or many: nothing
// tells.
type Runs struct {
	// Count is their number; Median, P90 and Most are how many samples they
	// have, nearest rank.
	Count, Median, P90, Most int64
	// Longest is from the first to the last sample of the one that took most
	// time, on Track from Start.
	Longest, Start int64
	Track          int
}

// PresenceOf looks at the records of a query that are no spans: at samples where
// there are some that carry the metric, since they tell more than what was added
// up from them.
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

// reaches is, by track, how far apart two samples may be to count as
// neighbours.
func reaches(rec *recording.Recording, event int) []int64 {
	out := make([]int64, len(rec.Tracks))
	for i, t := range rec.Tracks {
		if s := t.SamplesOf(event); s != nil && s.Len() > 0 {
			// The last one has no next that could cut it short.
			out[i] = s.End(s.Len()-1) - s.Time(s.Len()-1)
		}
	}
	return out
}

// presence counts records as they come: samples track by track, by time.
type presence struct {
	Presence
	leaf, in []bool // by call
	reach    []int64
	runs     []int64
	// The run that is going on, of n samples, and the sample before.
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

// count puts a sample into its moment; they come almost in order.
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

// end closes the run that is going on.
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
