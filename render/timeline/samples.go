package timeline

import (
	"ashlar/ingest/model/lanes"
	"ashlar/ingest/model/recording"
)

// rowSamples holds the visible samples of a row. At each depth, neighbouring samples with
// the same call form one bar.
type rowSamples struct {
	row  *Row
	y    int // the row's top
	bars []sampleBar

	path []recording.CallID
	open []openBar
}

// sampleBar is a bar of x0..x1 whose top is at y.
type sampleBar struct {
	x0, x1, y int
	call      recording.CallID
	out       bool // no sample of the bar is within the picture's Sets
}

// openBar is a bar that is still growing at one depth.
type openBar struct {
	x0   int
	call recording.CallID
	has  bool
}

// lookSamples finds the visible samples of a row. It may run on several goroutines, one
// row each.
func (p *Picture) lookSamples(s *rowSamples) {
	r := s.row
	depths := r.Depths
	end := 0
	closeFrom := func(d, x1 int) {
		for k := d; k < len(s.open); k++ {
			top := s.y + p.Plan.laneTop(r, r.Spans+k)
			if top < p.h && top+p.px(laneHeight) > 0 && x1 > s.open[k].x0 {
				s.bars = append(s.bars, sampleBar{s.open[k].x0, x1, top, s.open[k].call, !s.open[k].has})
			}
		}
		s.open = s.open[:min(d, len(s.open))]
	}
	r.Samples.Walk(p.View.From, p.View.To, p.res(), func(b *lanes.Bar) bool {
		x0, x1 := p.x(b.Start), p.x(b.End)
		x1 = max(x1, x0+1)
		if x0 > end {
			closeFrom(0, end)
		}
		s.path = p.Rec.Calls.Path(s.path[:0], b.Call)
		if len(s.path) == 0 {
			s.path = append(s.path, recording.NoCall)
		}
		path := s.path[:min(depths, len(s.path))]
		same := 0
		for same < len(path) && same < len(s.open) && s.open[same].call == path[same] {
			same++
		}
		closeFrom(same, x0)
		has := p.sampled(r.Index, b.Start, b.End)
		for k := range s.open {
			s.open[k].has = s.open[k].has || has
		}
		for _, c := range path[same:] {
			s.open = append(s.open, openBar{x0, c, has})
		}
		end = max(end, x1)
		return true
	})
	closeFrom(0, end)
}

// samples draws the samples of the next row that has some.
func (p *Picture) samples() {
	s := p.nextSamples()
	p.hit = p.MarkAt != nil && p.MarkAt(p.of, -1, 0, 0)
	for i := range s.bars {
		b := &s.bars[i]
		p.out = b.out
		p.bar(b.x0, b.x1, b.y, b.call, false)
	}
}
