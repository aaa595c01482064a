package verdict_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"ashlar/app/core/verdict"
	"ashlar/ingest/query/compare"
)

// TestLengthOfSeveralRuns checks that B is called longer only if the durations of several
// runs differ by more than they vary, as on a busy machine.
func TestLengthOfSeveralRuns(t *testing.T) {
	for _, c := range []struct {
		a, b   []int // durations in ms
		longer bool
	}{
		{[]int{300, 500, 320, 900, 340}, []int{600, 310, 1100, 330, 700}, false},
		{[]int{300, 310, 320, 305, 315}, []int{600, 610, 620, 605, 615}, true},
	} {
		var sides [2][]compare.Input
		for side, lengths := range [2][]int{c.a, c.b} {
			for i, ms := range lengths {
				text := fmt.Sprintf(`[{"ph":"X","name":"work","pid":1,"tid":1,"ts":0,"dur":%d},{"ph":"X","name":"end","pid":1,"tid":1,"ts":%d,"dur":5}]`, 200000+100*i, 1000*ms)
				sides[side] = append(sides[side], input(t, fmt.Sprintf("%d-%d.json", side, i), []byte(text)))
			}
		}
		d, err := compare.Compare(context.Background(), sides[0], sides[1], compare.Options{Normalize: compare.Auto})
		if err != nil {
			t.Fatal(err)
		}
		table, err := d.Table(context.Background(), compare.ByFunction, true)
		if err != nil {
			t.Fatal(err)
		}
		if got := verdict.Of(d, table); strings.Contains(got, "longer (") != c.longer {
			t.Errorf("%d and %d ms: %q", c.a, c.b, got)
		}
	}
}

// TestRoundingIsNoChange checks that equal costs of 9 and of 10 runs do not differ, although
// the parts of their means are rounded.
func TestRoundingIsNoChange(t *testing.T) {
	var sides [2][]compare.Input
	for side, n := range [2]int{9, 10} {
		for i := range n {
			text := fmt.Sprintf(`[{"ph":"X","name":"same","pid":1,"tid":1,"ts":0,"dur":4.8},{"ph":"X","name":"other","pid":1,"tid":1,"ts":100,"dur":%d}]`, 1+i%3)
			sides[side] = append(sides[side], input(t, fmt.Sprintf("%d-%d.json", side, i), []byte(text)))
		}
	}
	c, err := compare.Compare(context.Background(), sides[0], sides[1], compare.Options{})
	if err != nil {
		t.Fatal(err)
	}
	table, err := c.Table(context.Background(), compare.ByFunction, true)
	if err != nil {
		t.Fatal(err)
	}
	for i := range table.Rows {
		if r := &table.Rows[i]; r.Name == "same" && r.Self.Level() > .5 {
			t.Errorf("%d and %d differ: %+v", r.ASelf, r.BSelf, *r.Self)
		}
	}
}
