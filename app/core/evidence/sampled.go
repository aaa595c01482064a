package evidence

import (
	"context"
	"encoding/json"
	"math"
	"strconv"

	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/ingest/query/compare"
	"ashlar/ingest/query/compare/stats"
)

// Sampled is the number of samples behind a sum, and Worth the equivalent number of
// samples of equal weight. Both are 0 if nothing was sampled or the number is unknown.
//
// Samples of different weights carry less information than the same number of samples of
// equal weight. The samples of a call are assumed to have the call's mean weight, because
// recordings keep no more. Worth is Kish's effective sample size: the square of the sum
// of all weights divided by the sum of their squares.
type Sampled struct {
	Samples int64
	Worth   float64

	signed bool             // no bounds: some values are negative
	spread *analyze.Weights // sum of the squared weights by call, in units of unit
	of     int64            // sum of spread after transforms
	unit   float64
	rows   map[row][2]int64 // spread of each row's self and total
}

// row identifies a row of a table.
type row struct{ name, module, place string }

func rowOf(r *analyze.Row) row { return row{r.Name, r.Module, r.Place} }

// SampledOf returns the sampling data of a query's weights; transforms may have removed a
// part of them.
func SampledOf(ctx context.Context, rec *recording.Recording, q analyze.Query, w *analyze.Weights, transforms ...analyze.Transform) (s Sampled, err error) {
	if q.Event < 0 || q.Event >= len(rec.Events) || rec.Events[q.Event].Basis == recording.FromSpans {
		return s, nil
	}
	behind, err := compare.SamplesBehind(ctx, rec, q, w)
	if behind == nil || err != nil || behind.Sum <= 0 {
		return s, err
	}
	if s.Samples = behind.Sum; len(transforms) > 0 {
		s.Samples = analyze.NewTree(rec, behind, transforms...).Nodes[0].Total
	}
	if s.signed = w.Negative() != 0; s.signed {
		s.Worth = float64(s.Samples)
		return s, nil
	}
	mean := func(c int) float64 { return float64(w.Self[c]) / float64(max(1, behind.Self[c])) }
	for c := range w.Self {
		s.unit = max(s.unit, mean(c))
	}
	if s.unit == 0 {
		return s, nil
	}
	s.spread = &analyze.Weights{Self: make([]int64, len(w.Self)), Count: w.Count, Basis: w.Basis, Records: w.Records}
	for c, v := range w.Self {
		if v > 0 {
			s.spread.Self[c] = max(1, int64(float64(v)*(mean(c)/s.unit)))
			recording.Add(&s.spread.Sum, s.spread.Self[c])
		}
	}
	if s.of = s.spread.Sum; len(transforms) > 0 {
		s.of = analyze.NewTree(rec, s.spread, transforms...).Nodes[0].Total
	}
	s.Worth = float64(s.Samples) * min(1, float64(w.Sum)/float64(s.spread.Sum)*(float64(w.Sum)/s.unit)/float64(behind.Sum))
	return s, nil
}

// Spread returns the sums of the squared weights by call, in a unit of its own; nil if
// nothing was sampled.
func (s *Sampled) Spread() *analyze.Weights { return s.spread }

// By makes Row use each row's own samples for the intervals of a table.
func (s *Sampled) By(rec *recording.Recording, by analyze.By, transforms ...analyze.Transform) {
	if s.spread != nil {
		s.Rows(analyze.TableOf(rec, s.spread, by, transforms...))
	}
}

// Rows makes Row use the given rows' own samples; all must be rows computed from Spread.
func (s *Sampled) Rows(all []analyze.Row) {
	s.rows = make(map[row][2]int64, len(all))
	for i := range all {
		s.rows[rowOf(&all[i])] = [2]int64{all[i].Self, all[i].Total}
	}
}

// Shares are a row's self and total as parts of the whole, from 0 to 1.
type Shares struct {
	SelfShare  json.Number `json:"self_share"`
	TotalShare json.Number `json:"total_share"`
	// The intervals are the 95 % confidence intervals of the shares, for sampling error
	// only; present only for sampled shares above zero.
	SelfInterval  *[2]json.Number `json:"self_interval,omitempty"`
	TotalInterval *[2]json.Number `json:"total_interval,omitempty"`
}

// Row returns the shares of a row, with their intervals.
func (s *Sampled) Row(r *analyze.Row, whole int64) Shares {
	if of, ok := s.rows[rowOf(r)]; ok {
		return s.Shares(r.Self, r.Total, whole, of)
	}
	return Shares{Share(r.Self, whole), Share(r.Total, whole), s.Interval(r.Self, whole), s.Interval(r.Total, whole)}
}

// Shares returns the self and total shares of a row, with their intervals.
func (s *Sampled) Shares(self, total, whole int64, spread [2]int64) Shares {
	return Shares{Share(self, whole), Share(total, whole), s.Bounds(self, whole, spread[0]), s.Bounds(total, whole, spread[1])}
}

// Interval returns the 95 % confidence interval of a part's share of a whole, assuming
// that sampling error is the only error; nil if nothing was sampled.
func (s *Sampled) Interval(part, whole int64) *[2]json.Number {
	return s.wilson(part, whole, s.Worth)
}

// Bounds is Interval for a part with a known spread: the effective sample size follows
// from the weights of the part's own samples and of all others.
func (s *Sampled) Bounds(part, whole, spread int64) *[2]json.Number {
	if s.spread == nil || whole <= 0 {
		return nil
	}
	p := float64(part) / float64(whole)
	in, out := float64(spread), float64(max(0, s.of-spread))
	worth := p * (1 - p) / (in*(1-p)*(1-p) + out*p*p) * float64(whole) / s.unit * float64(whole)
	if part == whole || math.IsNaN(worth) || math.IsInf(worth, 0) {
		worth = s.Worth
	}
	return s.wilson(part, whole, worth)
}

func (s *Sampled) wilson(part, whole int64, n float64) *[2]json.Number {
	if n <= 0 || s.signed || part <= 0 || whole <= 0 || part > whole {
		return nil
	}
	low, high := stats.ShareInterval(n*float64(part)/float64(whole), n)
	return &[2]json.Number{fraction(low), fraction(high)}
}

// Share returns a part of a whole as a number from 0 to 1.
func Share(part, whole int64) json.Number {
	if whole == 0 {
		return "0"
	}
	return fraction(float64(part) / float64(whole))
}

func fraction(f float64) json.Number { return json.Number(strconv.FormatFloat(f, 'f', 4, 64)) }
