package recording

import (
	"cmp"
	"slices"

	"ashlar/ingest/model/column"
	"ashlar/ingest/model/order"
)

// PartSums holds the values of an event's metric by call: Whole from its stack records,
// and Samples and Windows as sums over its samples and windows, nil if they do not carry
// the metric. Windows that overlap are not added up: then each call has its maximum over
// the windows, and Apart is set.
type PartSums struct {
	Whole, Samples, Windows []int64
	Apart                   bool
}

// PartSums computes the sums; see the type.
func (b *Builder) PartSums(event, metric int) (p PartSums) {
	s, m := b.rec.Stacks[event], &b.rec.Events[event].Metrics[metric]
	if s == nil {
		return p
	}
	n := b.rec.Calls.Len()
	p.Whole = column.Fresh[int64](n)
	for i := range s.Len() {
		if v := s.Value(i, metric); v != Missing {
			Add(&p.Whole[s.Call(i)], v)
		}
	}
	if m.PerSample != SampleNone {
		for t := range b.live {
			for k := range t.samples {
				x := t.samples[k].Samples
				if x.Event != event || x.Len() == 0 {
					continue
				}
				if p.Samples == nil {
					p.Samples = column.Fresh[int64](n)
				}
				for i := range x.Len() {
					if v := x.Value(i, m, metric); v != Missing {
						Add(&p.Samples[x.Call(i)], v)
					}
				}
			}
		}
	}
	for _, ws := range b.rec.Windows {
		if ws.Event == event && ws.Rows.Len() > 0 {
			p.windows(ws, metric, n)
		}
	}
	return p
}

func (p *PartSums) windows(ws *WindowSet, metric, calls int) {
	p.Windows = column.Fresh[int64](calls)
	byStart := slices.Clone(ws.Windows)
	order.By(byStart, func(a, b Window) int { return cmp.Compare(a.Start, b.Start) })
	for i := 1; i < len(byStart); i++ {
		p.Apart = p.Apart || byStart[i].Start < byStart[i-1].End
	}
	one := map[CallID]int64{}
	for i := range ws.Windows {
		w := &ws.Windows[i]
		if p.Apart {
			clear(one)
		}
		for r := w.First; r < w.Last; r++ {
			v, c := ws.Rows.Value(r, metric), ws.Rows.Call(r)
			if v == Missing {
				continue
			}
			if !p.Apart {
				Add(&p.Windows[c], v)
				continue
			}
			one[c] = Saturated(one[c], v)
			p.Windows[c] = max(p.Windows[c], one[c])
		}
	}
}
