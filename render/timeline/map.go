package timeline

import (
	"math"

	"ashlar/ingest/model/lanes"
	"ashlar/ingest/model/recording"
	"ashlar/render/raster"
	"ashlar/render/theme"
)

// MapWidth is the width of the map of the rows, in dp.
const MapWidth = 14

// PaintMap draws all rows, one above the other, over the height of a surface. The
// strength of a line shows the row's activity over the whole recording: the share of time
// covered for lanes, the number of samples for samples.
func PaintMap(c raster.Surface, rec *recording.Recording, p *Plan, th *theme.Theme) {
	w, h := c.Size()
	if p.Height == 0 {
		return
	}
	l := .72
	if th.Dark {
		l = .56
	}
	col := raster.Pack(theme.OKLCH(l, .07, 250))
	lane := raster.Pack(th.Surface)
	rule := raster.Pack(th.Rule)
	c.Rect(0, 0, w, h, lane)
	// If rows are lower than a pixel, a pixel shows the busiest of the rows in it.
	first := 0
	for y := range h {
		from, to := y*p.Height/h, max(y*p.Height/h+1, (y+1)*p.Height/h)
		for first < len(p.Rows)-1 && p.Rows[first].Y+p.Rows[first].Height <= from {
			first++
		}
		most, header := float32(0), false
		for i := first; i < len(p.Rows) && p.Rows[i].Y < to; i++ {
			r := &p.Rows[i]
			most = max(most, r.activity(rec, p, max(from, r.Y)-r.Y))
			header = header || r.Kind == ProcessRow && r.Y >= from
		}
		if most > 0 {
			c.Shade(1, y, w-1, y+1, col, uint32(60+195*math.Sqrt(float64(min(1, most)))))
		}
		if header {
			c.Rect(0, y, w, y+1, rule)
		}
	}
}

// activity returns how busy a row is at one height within it, 0 to 1.
func (r *Row) activity(rec *recording.Recording, p *Plan, in int) float32 {
	switch r.Kind {
	case WindowRow, CounterRow:
		return .2
	case GroupRow, ProcessRow:
		return r.Busy
	case TrackRow:
	default:
		return 0
	}
	lane := int(float32(in) / (laneHeight * p.Scale))
	if lane >= r.Lanes {
		return 0
	}
	t := rec.Tracks[r.Index]
	if lane == 0 || lane >= r.SpanLanes || lane >= len(t.Lanes) || rec.Duration() <= 0 {
		return r.Busy
	}
	var busy float64
	t.Lanes[lane].Walk(rec.Start, rec.End+1, math.MaxInt64, func(b *lanes.Bar) bool {
		busy += float64(b.Busy)
		return true
	})
	return float32(busy / float64(rec.Duration()))
}
