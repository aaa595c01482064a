package shell

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ashlar/render/timeline"
)

// TestSortThreadsByCommand checks the commands that sort threads by name, by running time
// and in file order, also after a thread was moved by hand.
func TestSortThreadsByCommand(t *testing.T) {
	var trace []string
	durations := []int{30, 200, 10, 90} // of threads d, b, a, c, in the file's order
	for i, name := range []string{"d", "b", "a", "c"} {
		trace = append(trace, fmt.Sprintf(`{"ph":"M","pid":1,"tid":%d,"name":"thread_name","args":{"name":"%s"}}`, i+1, name),
			fmt.Sprintf(`{"ph":"M","pid":1,"tid":%d,"name":"thread_sort_index","args":{"sort_index":%d}}`, i+1, i),
			fmt.Sprintf(`{"ph":"X","pid":1,"tid":%d,"ts":1000,"dur":%d,"name":"f"}`, i+1, durations[i]))
	}
	b := newBench(t, "["+strings.Join(trace, ",")+"]")
	names := func() []string {
		b.frame()
		return b.Pane.Plan.Names(timeline.TrackRow)
	}
	for _, c := range []struct {
		command string
		want    []string
	}{
		{"Sort threads by name", []string{"a", "b", "c", "d"}},
		{"Sort threads by activity", []string{"b", "c", "d", "a"}},
		{"Sort threads by file order", []string{"d", "b", "a", "c"}},
	} {
		b.Pane.Order = []int{3, 2, 1, 0}
		if !b.Run(c.command) {
			t.Fatalf("there is no command %q", c.command)
		}
		if got := names(); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.command, got, c.want)
		}
	}
}
