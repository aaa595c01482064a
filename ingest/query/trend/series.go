package trend

import (
	"cmp"
	"context"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"ashlar/ingest/model/order"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/ingest/query/scan"
)

// A Series is a cost by run.
type Series struct {
	// Function is the function; the zero value is the total of the recording.
	Function recording.FuncName
	// Values are the costs by run, in the units of Runs.Metric. Has reports whether the
	// function occurs in the run or is known to cost nothing there (see [Sum.Complete]);
	// else its value is 0 and does not count.
	Values  []int64
	Has     []bool
	Changes []Change
}

// A Sum holds the costs of one recording. It is small, so that any number of recordings
// can be summed up one after another or at once.
type Sum struct {
	Event  string
	Metric recording.Metric
	Total  int64
	// Complete reports whether every call was recorded, so that a function that is missing
	// did not run. A sampled function that is missing was not hit by a sample.
	Complete bool

	names  []recording.FuncName
	values []int64
}

// SumOf sums up a recording: the self costs of its functions, or with total their total
// costs.
func SumOf(ctx context.Context, rec *recording.Recording, event, metric string, total bool) (*Sum, error) {
	e, m, err := analyze.Choose(rec, event, metric)
	if err != nil {
		return nil, err
	}
	if e < 0 {
		return nil, fmt.Errorf("the recording has no values")
	}
	w, err := analyze.Weigh(ctx, rec, analyze.Query{Event: e, Metric: m, Scope: analyze.Apart(rec, recording.Scope{})})
	if err != nil {
		return nil, err
	}
	s := &Sum{Event: rec.Events[e].Name, Metric: rec.Events[e].Metrics[m], Total: w.Sum, Complete: w.Basis == analyze.Spans && !damaged(rec)}
	for _, row := range analyze.TableOf(rec, w, analyze.ByFunction) {
		v := row.Self
		if total {
			v = row.Total
		}
		// Copies, because names may be parts of a mapped file.
		s.names = append(s.names, recording.FuncName{Name: strings.Clone(row.Name), Module: strings.Clone(row.Module)})
		s.values = append(s.values, v)
	}
	return s, nil
}

// damaged reports whether records are known to be missing.
func damaged(rec *recording.Recording) bool {
	return slices.ContainsFunc(rec.Warnings, func(w recording.Warning) bool { return w.Error && !w.Minor })
}

// Runs are the costs of several recordings, in order. The zero value holds none.
type Runs struct {
	Metric recording.Metric
	Event  string
	Total  Series

	n        int
	complete []bool
	of       map[recording.FuncName]int
	funcs    []Series
}

// Len returns the number of runs.
func (r *Runs) Len() int { return r.n }

// Add adds a recording as the next run. It fails if its units differ from those of the
// runs before.
func (r *Runs) Add(sum *Sum) error {
	own := sum.Metric
	if r.n == 0 {
		r.Metric, r.Event, r.of = own, sum.Event, map[recording.FuncName]int{}
	}
	if own.Unit != r.Metric.Unit || own.Name != r.Metric.Name {
		return fmt.Errorf("its metric is %s in %q, not %s in %q; choose a metric that all runs have", own.Name, own.Unit, r.Metric.Name, r.Metric.Unit)
	}
	if err := r.rescale(own.Decimals); err != nil {
		return err
	}
	put := func(s *Series, v int64) error {
		v, err := scaled(v, r.Metric.Decimals-own.Decimals)
		if err != nil {
			return err
		}
		r.fill(s, r.n+1)
		recording.Add(&s.Values[r.n], v)
		s.Has[r.n] = true
		return nil
	}
	r.complete = append(r.complete, sum.Complete)
	if err := put(&r.Total, sum.Total); err != nil {
		return err
	}
	for k, name := range sum.names {
		i, ok := r.of[name]
		if !ok {
			i = len(r.funcs)
			r.of[name], r.funcs = i, append(r.funcs, Series{Function: name})
		}
		if err := put(&r.funcs[i], sum.values[k]); err != nil {
			return err
		}
	}
	r.n++
	return nil
}

// fill gives a series n values.
func (r *Runs) fill(s *Series, n int) {
	for len(s.Values) < n {
		s.Has = append(s.Has, r.complete[len(s.Values)])
		s.Values = append(s.Values, 0)
	}
}

// rescale gives all values at least as many decimals.
func (r *Runs) rescale(decimals int) (err error) {
	by := decimals - r.Metric.Decimals
	if by <= 0 {
		return nil
	}
	r.Metric.Decimals = decimals
	all := []*Series{&r.Total}
	for i := range r.funcs {
		all = append(all, &r.funcs[i])
	}
	for _, s := range all {
		for k := range s.Values {
			if s.Values[k], err = scaled(s.Values[k], by); err != nil {
				return err
			}
		}
	}
	return nil
}

// scaled multiplies a value by a power of ten.
func scaled(v int64, decimals int) (int64, error) {
	if decimals == 0 || v == 0 {
		return v, nil
	}
	x := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(decimals)), nil)
	if x.Mul(x, big.NewInt(v)); !x.IsInt64() {
		return 0, fmt.Errorf("the values are too large to compare")
	}
	return x.Int64(), nil
}

// Find finds the changes of the total and of the functions with the largest mean costs, n
// of them or all if n is 0. It returns those functions, changed ones first by the size of
// their largest change, then by cost; more is the number of functions left out.
func (r *Runs) Find(ctx context.Context, n int) (functions []Series, more int, err error) {
	for i := range r.funcs {
		r.fill(&r.funcs[i], r.n)
	}
	functions = slices.Clone(r.funcs)
	order.By(functions, func(a, b Series) int {
		return cmp.Or(cmp.Compare(b.sum(), a.sum()), strings.Compare(a.Function.Name, b.Function.Name), strings.Compare(a.Function.Module, b.Function.Module))
	})
	if n > 0 && len(functions) > n {
		more, functions = len(functions)-n, functions[:n]
	}
	r.Total.Changes = r.Total.changes()
	all := make([][]Change, len(functions))
	if err := scan.Spread(ctx, len(functions), func(_, i int) { all[i] = functions[i].changes() }); err != nil {
		return nil, 0, err
	}
	Sure(all)
	for i := range functions {
		functions[i].Changes = all[i]
	}
	order.By(functions, func(a, b Series) int { return cmp.Compare(b.step(), a.step()) })
	return functions, more, nil
}

// Mean returns the mean of the runs that have the series.
func (s *Series) Mean() float64 {
	_, values := s.known()
	return mean(values)
}

// sum returns the sum of a series, by which functions rank.
func (s *Series) sum() (sum float64) {
	for _, v := range s.Values {
		sum += float64(v)
	}
	return sum
}

// known returns the runs that have the series, and its values there.
func (s *Series) known() (at []int, values []float64) {
	for i, v := range s.Values {
		if s.Has[i] {
			at, values = append(at, i), append(values, float64(v))
		}
	}
	return at, values
}

// changes finds the changes among the runs that have the series.
func (s *Series) changes() []Change {
	at, values := s.known()
	all := Changes(values)
	for i := range all {
		c := &all[i]
		if c.At, c.From = at[c.At], at[c.From]; c.To == len(at) {
			c.To = len(s.Values)
		} else {
			c.To = at[c.To]
		}
	}
	return all
}

// Span returns the runs from..to-1 that have the series if the function is new or was
// removed: no run in between lacks it, but at least three runs before or after do. ok is
// false otherwise.
func (s *Series) Span() (from, to int, ok bool) {
	at, _ := s.known()
	if len(at) < least {
		return 0, 0, false
	}
	from, to = at[0], at[len(at)-1]+1
	return from, to, to-from == len(at) && (from >= least || len(s.Values)-to >= least)
}

// Largest returns the largest change, nil for none.
func (s *Series) Largest() (c *Change) {
	for i := range s.Changes {
		if c == nil || s.Changes[i].size() > c.size() {
			c = &s.Changes[i]
		}
	}
	return c
}

// step returns the size of the largest change.
func (s *Series) step() float64 {
	if c := s.Largest(); c != nil {
		return c.size()
	}
	return 0
}

// size returns the absolute difference between the means.
func (c *Change) size() float64 { return max(c.After-c.Before, c.Before-c.After) }
