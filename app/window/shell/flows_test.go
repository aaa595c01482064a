package shell

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"ashlar/app/window/timeline"
)

// TestArrowsEndAtWhatStaysAtTheTop checks arrows to rows hidden behind a pinned thread:
// they end at the edge of the pinned thread. An arrow with both ends hidden is not drawn.
func TestArrowsEndAtWhatStaysAtTheTop(t *testing.T) {
	var events []string
	for tid := range 30 {
		events = append(events, fmt.Sprintf(`{"ph":"X","pid":1,"tid":%d,"ts":%d,"dur":500,"name":"work"}`, tid, 1000+10*tid))
	}
	for _, ends := range [][2]int{{2, 20}, {3, 4}} {
		events = append(events, fmt.Sprintf(`{"ph":"s","id":%d,"pid":1,"tid":%d,"ts":1300,"name":"post","cat":"x"},{"ph":"f","bp":"e","id":%d,"pid":1,"tid":%d,"ts":1400,"name":"post","cat":"x"}`, ends[0], ends[0], ends[0], ends[1]))
	}
	b := newBench(t, "["+strings.Join(events, ",\n")+"]")
	p := b.Pane
	p.Pinned = []int{0}
	curve := regexp.MustCompile(`d="M([\d.-]+)[ ,]([\d.-]+)C`)
	starts := func(track int) (ys []float64) {
		h, _ := timeline.BarAt(p.Rec.Tracks[track], track, 0, 0)
		p.PickHit(h)
		b.settled()
		p.View.Scroll = p.Plan.Rows[12].Y
		for _, m := range curve.FindAllStringSubmatch(b.shapes(), -1) {
			y, err := strconv.ParseFloat(m[2], 64)
			if err != nil {
				t.Fatal(err)
			}
			ys = append(ys, y)
		}
		return ys
	}
	across, behind := starts(20), starts(4)
	if edge := float64(p.Bounds.Lanes.Min.Y + p.Plan.Held); len(across) == 0 || across[0] != edge || p.Plan.Held == 0 {
		t.Errorf("arrows begin at %v, the edge is %v", across, edge)
	}
	if len(behind) != 0 {
		t.Errorf("arrows are drawn at %v, where both ends are hidden", behind)
	}
}
