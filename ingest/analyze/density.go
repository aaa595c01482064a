package analyze

import (
	"context"
	"runtime"

	"ashlar/ingest/recording"
)

// Density tells how much there is in each of many small cells of time, side by
// side from From on, each Width picoseconds wide.
type Density struct {
	From, Width int64
	// Cells has the samples' weight, or the number of spans that begin, by cell.
	// It is nil where neither spans nor samples tell (see Basis).
	Cells []int64
	// Sum is what all cells have together, Most what the fullest has.
	Sum, Most int64
	Basis     Basis
}

// DensityOf looks at a query's event and tracks from a time on, whatever the
// query's range. With functions it counts the spans of these, and the samples
// that have one of them in their stack; with none it counts all.
func DensityOf(ctx context.Context, rec *recording.Recording, q Query, from, width int64, cells int, of []recording.FuncID) (*Density, error) {
	d := &Density{From: from, Width: width, Basis: Stacks}
	if q.Event < 0 || q.Event >= len(rec.Events) || !rec.HasTime || width <= 0 || cells <= 0 {
		return d, nil
	}
	q.Ranged, q.From, q.To = true, from, from+width*int64(cells)
	var is []bool
	if of != nil {
		is = callsOf(rec, of)
	}
	d.Basis = basisOf(rec, q)
	var err error
	switch d.Basis {
	case Spans:
		err = d.spans(ctx, rec, q, cells, is)
	case Samples:
		for c := 1; c < len(is); c++ {
			is[c] = is[c] || is[rec.Calls.Parent(recording.CallID(c))]
		}
		d.Cells = make([]int64, cells)
		err = records(ctx, rec, q, &densitySink{d, is})
	}
	for _, n := range d.Cells {
		d.Sum += n
		d.Most = max(d.Most, n)
	}
	return d, err
}

type densitySink struct {
	*Density
	in []bool
}

func (d *densitySink) window(*recording.Window) {}

func (d *densitySink) add(r *record) {
	if r.value == recording.Missing || d.in != nil && !d.in[r.call] || r.at < d.From {
		return
	}
	// The last moment belongs to the last cell.
	d.Cells[min((r.at-d.From)/d.Width, int64(len(d.Cells)-1))] += r.value
}

func (d *Density) spans(ctx context.Context, rec *recording.Recording, q Query, cells int, is []bool) error {
	found, _, to := selected(rec, &q)
	var items []stretch
	for _, s := range found {
		items = cut(items, s.lane, s.track, s.first, s.last)
	}
	all := make([][]int64, runtime.GOMAXPROCS(0))
	err := spread(ctx, len(items), func(worker, i int) {
		if all[worker] == nil {
			all[worker] = make([]int64, cells)
		}
		counts := all[worker]
		cell, until := int64(-1), d.From // of the span before: mostly the same
		items[i].each(func(starts, _ []int64, calls []recording.CallID) {
			for k, start := range starts {
				if start < d.From || start > to || is != nil && !is[calls[k]] {
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
