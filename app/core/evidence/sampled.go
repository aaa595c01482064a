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

// Sampled says how many Samples are behind a sum, and that they are Worth as many of one
// weight. Both are 0 if nothing was sampled, or nothing says how many there are.
//
// Samples of different weights tell less than as many of one. Those of one call are taken
// to have its mean weight: recordings keep no more. Worth is Kish's effective size, the
// square of the sum of all weights by the sum of their squares.
type Sampled struct {
	Samples int64
	Worth   float64

	signed bool             // shares of what is partly below zero have no bounds
	spread *analyze.Weights // the sum of the squares of weights, by call, in unit
	of     int64            // what transforms leave of its sum
	unit   float64
	rows   map[row][2]int64 // spread by self and total
}

// row is what tells rows of a table apart.
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

// Spread has the sums of squares of weights, in a unit of its own, by call; nil if
// nothing was sampled.
func (s *Sampled) Spread() *analyze.Weights { return s.spread }

// By has the bounds of a table's rows be those of their own samples.
func (s *Sampled) By(rec *recording.Recording, by analyze.By, transforms ...analyze.Transform) {
	if s.spread != nil {
		s.Rows(analyze.Table(rec, analyze.NewTree(rec, s.spread, transforms...), by))
	}
}

// Rows has the bounds of rows be those of their own samples; all are rows of the spread.
func (s *Sampled) Rows(all []analyze.Row) {
	s.rows = make(map[row][2]int64, len(all))
	for i := range all {
		s.rows[rowOf(&all[i])] = [2]int64{all[i].Self, all[i].Total}
	}
}

// Shares are the parts of a whole that a row of a table has by itself and in total, from 0
// to 1.
type Shares struct {
	SelfShare  json.Number `json:"self_share"`
	TotalShare json.Number `json:"total_share"`
	// The intervals have the shares that they really are with a confidence of 95 %, as
	// far as chance goes; only where they were sampled and are more than nothing.
	SelfInterval  *[2]json.Number `json:"self_interval,omitempty"`
	TotalInterval *[2]json.Number `json:"total_interval,omitempty"`
}

// Row has the shares of a row.
func (s *Sampled) Row(r *analyze.Row, whole int64) Shares {
	if of, ok := s.rows[rowOf(r)]; ok {
		return s.Shares(r.Self, r.Total, whole, of)
	}
	return Shares{Share(r.Self, whole), Share(r.Total, whole), s.Interval(r.Self, whole), s.Interval(r.Total, whole)}
}

// Shares are the self and total shares of a row with their intervals.
func (s *Sampled) Shares(self, total, whole int64, spread [2]int64) Shares {
	return Shares{Share(self, whole), Share(total, whole), s.Bounds(self, whole, spread[0]), s.Bounds(total, whole, spread[1])}
}

// Interval has the bounds between which the share of a whole that a part of it has really
// is with a confidence of 95 %, as far as chance is all that samples suffer from; nil if
// nothing was sampled.
func (s *Sampled) Interval(part, whole int64) *[2]json.Number {
	return s.wilson(part, whole, s.Worth)
}

// Bounds is Interval of a part of which the spread is known: what its samples are worth is
// told from their own weights and those of all others.
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

// Share is a part of a whole, from 0 to 1.
func Share(part, whole int64) json.Number {
	if whole == 0 {
		return "0"
	}
	return fraction(float64(part) / float64(whole))
}

func fraction(f float64) json.Number { return json.Number(strconv.FormatFloat(f, 'f', 4, 64)) }
