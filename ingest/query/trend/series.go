package trend

import (
	"cmp"
	"context"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
)

// A Series is a cost by run.
type Series struct {
	// Function is the function; the zero value is the total of the recording.
	Function recording.FuncName
	// Values are the costs by run, in the units of Runs.Metric; 0 where the function does
	// not occur.
	Values  []int64
	Changes []Change
}

// Runs are the costs of several recordings, in order. The zero value holds none. Only the
// sums of a recording are kept, so that any number of recordings fits.
type Runs struct {
	Metric recording.Metric
	Event  string
	Total  Series

	n     int
	of    map[recording.FuncName]int
	funcs []Series
}

// Len returns the number of runs.
func (r *Runs) Len() int { return r.n }

// Add adds a recording as the next run: the self costs of its functions, or with total
// their total costs. It fails if the recording has other units than those before.
func (r *Runs) Add(ctx context.Context, rec *recording.Recording, event, metric string, total bool) error {
	e, m, err := analyze.Choose(rec, event, metric)
	if err != nil {
		return err
	}
	if e < 0 {
		return fmt.Errorf("the recording has no values")
	}
	w, err := analyze.Weigh(ctx, rec, analyze.Query{Event: e, Metric: m, Scope: analyze.Apart(rec, recording.Scope{})})
	if err != nil {
		return err
	}
	own := rec.Events[e].Metrics[m]
	if r.n == 0 {
		r.Metric, r.Event, r.of = own, rec.Events[e].Name, map[recording.FuncName]int{}
	}
	if own.Unit != r.Metric.Unit || own.Name != r.Metric.Name {
		return fmt.Errorf("its metric is %s in %q, not %s in %q; choose one with --metric", own.Name, own.Unit, r.Metric.Name, r.Metric.Unit)
	}
	if err := r.rescale(own.Decimals); err != nil {
		return err
	}
	put := func(s *Series, v int64) error {
		v, err := scaled(v, r.Metric.Decimals-own.Decimals)
		if err != nil {
			return err
		}
		for len(s.Values) < r.n {
			s.Values = append(s.Values, 0)
		}
		if len(s.Values) == r.n {
			s.Values = append(s.Values, 0)
		}
		recording.Add(&s.Values[r.n], v)
		return nil
	}
	if err := put(&r.Total, w.Sum); err != nil {
		return err
	}
	for _, row := range analyze.TableOf(rec, w, analyze.ByFunction) {
		name := recording.FuncName{Name: row.Name, Module: row.Module}
		i, ok := r.of[name]
		if !ok {
			i = len(r.funcs)
			r.of[name], r.funcs = i, append(r.funcs, Series{Function: name})
		}
		v := row.Self
		if total {
			v = row.Total
		}
		if err := put(&r.funcs[i], v); err != nil {
			return err
		}
	}
	r.n++
	return nil
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
		for s := &r.funcs[i]; len(s.Values) < r.n; {
			s.Values = append(s.Values, 0)
		}
	}
	functions = slices.Clone(r.funcs)
	slices.SortStableFunc(functions, func(a, b Series) int {
		return cmp.Or(cmp.Compare(b.Mean(), a.Mean()), strings.Compare(a.Function.Name, b.Function.Name), strings.Compare(a.Function.Module, b.Function.Module))
	})
	if n > 0 && len(functions) > n {
		more, functions = len(functions)-n, functions[:n]
	}
	r.Total.Changes = Changes(floats(r.Total.Values))
	all := make([][]Change, len(functions))
	for i := range functions {
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
		all[i] = Changes(floats(functions[i].Values))
	}
	Sure(all)
	for i := range functions {
		functions[i].Changes = all[i]
	}
	slices.SortStableFunc(functions, func(a, b Series) int { return cmp.Compare(b.step(), a.step()) })
	return functions, more, nil
}

// Mean returns the mean of a series.
func (s *Series) Mean() float64 { return mean(floats(s.Values)) }

// step returns the size of the largest change.
func (s *Series) step() (most float64) {
	for _, c := range s.Changes {
		most = max(most, c.After-c.Before, c.Before-c.After)
	}
	return most
}

func floats(values []int64) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = float64(v)
	}
	return out
}
