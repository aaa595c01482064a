package recording

import (
	"fmt"

	"ashlar/ingest/model/lanes"
)

// torn counts the spans of threads that do not nest properly.
type torn struct {
	cut, most int64 // spans cut to end with the one around them, and the largest cut
	lost      int64 // the sum of all cuts
	moved     int64 // spans moved to begin after the one before them
	furthest  int64 // the largest move
	crossing  int64 // spans that overlap another without nesting in it, so they are treated as outermost
	twice     int64 // the time counted more than once by outermost spans that overlap
	filled    int64 // spans named Overlapping
	again     int64 // the time of spans of other tracks that lie in an open span but are outermost
}

// WarnPeriod is the code of the warning that some samples of an event have no weight, so
// that they count as 0.
const WarnPeriod = "period-missing"

// WarnBefore is the code of the warning that a record precedes the start stated in the file.
// Times then count from that record.
const WarnBefore = "before-start"

// WarnUnits is the code of the warning that a metric has values in two units, which are
// summed without conversion.
const WarnUnits = "unit-differs"

// WarnCrossing is the code of the warning that spans of a thread overlap in part, so that
// sums count their common time more than once.
const WarnCrossing = "crossing-spans"

// WarnFilled is the code of the warning that spans overlap inside another span, so that sums
// count their common time more than once.
const WarnFilled = "overlapping-spans"

// WarnCut is the code of the warning that spans end after their parent span, so that sums
// lack the time by which they are cut.
const WarnCut = "overrun"

// warnMoved is the code of the warning that spans begin before the span before them ends.
const warnMoved = "touching-spans"

// count adds the cuts and overlaps of a track's layout.
func (n *torn) count(kind TrackKind, ns *nests) {
	n.moved, n.furthest = n.moved+ns.touch.moved, max(n.furthest, ns.touch.furthest)
	var outer []*lanes.Lane
	for _, nest := range ns.all {
		for _, cuts := range nest.cuts {
			for _, c := range cuts {
				n.cut, n.most, n.lost = n.cut+1, max(n.most, int64(c.by)), n.lost+int64(c.by)
			}
		}
		if len(nest.lanes) > 0 {
			outer = append(outer, &nest.lanes[0])
		}
	}
	if kind != ThreadTrack {
		n.again += ns.again
		return
	}
	if len(outer) < 2 {
		return
	}
	for k, l := range outer {
		if k > 0 {
			n.crossing += int64(l.Len())
		}
		for i := range l.Len() {
			n.twice += l.End(i) - l.Start(i)
		}
	}
	for start, end := range lanes.Union(outer) {
		n.twice -= end - start
	}
}

// warnTorn adds the warnings about the counts, once.
func (b *Builder) warnTorn() {
	n := &b.torn
	if _, said := b.warn[WarnCut]; n.cut > 0 && !said {
		b.Usual(WarnCut, "", "Spans end up to %s after their parent span. They are shown as ending with it: sums lack up to %s.", readable(n.most), readable(n.lost))
		b.WarnMore(WarnCut, n.cut-1)
	}
	if _, said := b.warn[warnMoved]; n.moved > 0 && !said {
		b.Remark(warnMoved, "", "Spans begin up to %s before the end of the span before them. They are shown as beginning after it.", readable(n.furthest))
		b.WarnMore(warnMoved, n.moved-1)
	}
	if _, said := b.warn[WarnCrossing]; n.crossing > 0 && !said {
		b.Usual(WarnCrossing, "", "Spans of a thread partly overlap: sums count %s more than once.", readable(n.twice))
		b.WarnMore(WarnCrossing, n.crossing-1)
	}
	if _, said := b.warn[WarnFilled]; n.filled > 0 && !said {
		if n.again > 0 {
			b.Usual(WarnFilled, "", "Spans inside another span overlap each other: sums of async spans count %s more than once. Such spans are drawn in further rows, and time covered only by these is shown as %s, not as self time.", readable(n.again), Overlapping)
		} else { // in threads: see WarnCrossing
			b.Usual(WarnFilled, "", "Spans inside another span overlap each other. Such spans are drawn in further rows, and time covered only by these is shown as %s, not as self time.", Overlapping)
		}
		b.WarnMore(WarnFilled, n.filled-1)
	}
}

// readable formats a duration with four digits in the largest unit that fits.
func readable(ps int64) string {
	v, unit := float64(ps), "ps"
	for _, larger := range []string{"ns", "µs", "ms", "s"} {
		if v < 1000 {
			break
		}
		v, unit = v/1000, larger
	}
	return fmt.Sprintf("%.4g %s", v, unit)
}
