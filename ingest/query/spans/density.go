package spans

import (
	"context"
	"runtime"

	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/ingest/query/scan"
)

// Density is an amount per cell of time. The cells are adjacent, begin at From, and are
// Width picoseconds wide.
type Density struct {
	From, Width int64
	// Cells holds the weight of samples, or the number of spans that begin, for each
	// cell. It is nil if there are neither spans nor samples (see Basis).
	Cells []int64
	// Sum is the sum of all cells, Most the largest value.
	Sum, Most int64
	Basis     analyze.Basis
}

// DensityOf computes the density of a query's event and tracks from a time on, ignoring
// the query's range. With functions it counts their spans, and samples with one of them
// in the stack; with nil it counts all.
func DensityOf(ctx context.Context, rec *recording.Recording, q analyze.Query, from, width int64, cells int, of []recording.FuncID) (*Density, error) {
	d := &Density{From: from, Width: width, Basis: analyze.Stacks}
	if q.Event < 0 || q.Event >= len(rec.Events) || !rec.HasTime || width <= 0 || cells <= 0 {
		return d, nil
	}
	q.Scope = q.Scope.Between(from, from+width*int64(cells))
	var is []bool
	if of != nil {
		is = scan.Calls(rec, of)
	}
	d.Basis = q.Basis(rec)
	var err error
	switch d.Basis {
	case analyze.Spans:
		err = d.spans(ctx, rec, q.Scope, cells, is)
	case analyze.Samples:
		for c := 1; c < len(is); c++ {
			is[c] = is[c] || is[rec.Calls.Parent(recording.CallID(c))]
		}
		d.Cells = make([]int64, cells)
		err = analyze.Each(ctx, rec, q, func(r *analyze.Record) { d.add(r, is) })
	}
	for _, n := range d.Cells {
		recording.Add(&d.Sum, n)
		d.Most = max(d.Most, n)
	}
	return d, err
}

// add counts a sample if in selects its call.
func (d *Density) add(r *analyze.Record, in []bool) {
	if r.Value == recording.Missing || in != nil && !in[r.Call] || r.At < d.From {
		return
	}
	// The last moment belongs to the last cell.
	recording.Add(&d.Cells[min((r.At-d.From)/d.Width, int64(len(d.Cells)-1))], r.Value)
}

func (d *Density) spans(ctx context.Context, rec *recording.Recording, in recording.Scope, cells int, is []bool) error {
	items := scan.Cut(scan.Lanes(rec, in)...)
	all := make([][]int64, runtime.GOMAXPROCS(0))
	err := scan.Spread(ctx, len(items), func(worker, i int) {
		if all[worker] == nil {
			all[worker] = make([]int64, cells)
		}
		counts := all[worker]
		cell, until := int64(-1), d.From // cell of the last span: mostly the cell of the next, too
		items[i].Each(func(_ int, starts, _ []int64, calls []recording.CallID) {
			for k, start := range starts {
				if start < d.From || start > in.To || is != nil && !is[calls[k]] {
					continue
				}
				if start >= until {
					cell = min((start-d.From)/d.Width, int64(cells-1))
					until = d.From + (cell+1)*d.Width
				}
				counts[cell]++
			}
		})
	})
	d.Cells = make([]int64, cells)
	for _, counts := range all {
		for c, n := range counts {
			d.Cells[c] += n
		}
	}
	return err
}
