package chrome

import (
	"fmt"
	"math/rand/v2"
	"sort"
	"strings"
	"testing"

	"ashlar/ingest/model/recording"
)

// TestAsyncNestsWithinItsID checks that a span's parent always belongs to the same
// operation, even if other operations on the track overlap it.
func TestAsyncNestsWithinItsID(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 3))
	for round := range 50 {
		type event struct {
			at   int
			text string
		}
		var events []event
		want := map[string]int{} // number of spans by path, "outer;inner"
		for id := range 1 + rng.IntN(8) {
			at := rng.IntN(50)
			var open []string
			depth := 1 + rng.IntN(4)
			say := func(ph, name string) {
				events = append(events, event{at, fmt.Sprintf(`{"ph":%q,"cat":"net","id":%d,"name":%q,"pid":1,"tid":1,"ts":%d}`, ph, id, name, at)})
				at += 1 + rng.IntN(20)
			}
			for d := range depth {
				name := "request"
				if d > 0 {
					name = fmt.Sprintf("part%d of %d", d, id)
				}
				open = append(open, name)
				want[strings.Join(open, ";")]++
				say("b", name)
			}
			for len(open) > 0 {
				say("e", open[len(open)-1])
				open = open[:len(open)-1]
			}
		}
		sort.SliceStable(events, func(a, b int) bool { return events[a].at < events[b].at })
		var lines []string
		for _, e := range events {
			lines = append(lines, e.text)
		}
		rec := readText(t, "["+strings.Join(lines, ",\n")+"]")
		balanced(t, rec)
		got := map[string]int{}
		for c := 1; c < rec.Calls.Len(); c++ {
			var names []string
			for _, p := range rec.Calls.Path(nil, recording.CallID(c)) {
				names = append(names, rec.FuncName(p))
			}
			if n := rec.SpanCount[c]; n > 0 {
				got[strings.Join(names, ";")] += int(n)
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("round %d: got %v, want %v\n%s", round, got, want, strings.Join(lines, "\n"))
		}
	}
}
