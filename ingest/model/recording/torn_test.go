package recording

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestSlack checks that a span that ends a little later than the span around it is cut to
// end with it, that nothing else changes, and that other overlaps are counted, with the
// time that counts twice.
func TestSlack(t *testing.T) {
	const slack = 10
	cut := 0
	for seed := range uint64(60) {
		rng := random(seed)
		b := NewBuilder()
		b.AddEvent(SpanEvent())
		b.Slack(slack)
		tb := b.Track(TrackKey{})
		var want []span
		for i := range 200 {
			start := rng.Int64N(2000)
			end := start + rng.Int64N(1+rng.Int64N(300))
			if i > 0 && rng.IntN(2) == 0 { // ends near the end of another
				start = max(0, want[i-1].end-rng.Int64N(100))
				end = max(start, want[i-1].end+rng.Int64N(2*slack))
			}
			tb.Span(start, end, b.frameOf(fmt.Sprint("f", rng.IntN(5))), uint64(i+1), false)
			want = append(want, span{start, end, "", false, uint64(i + 1)})
			if i%70 == 60 {
				b.Snapshot()
			}
		}
		r := b.Finish()
		got := all(t, r, r.Tracks[0])
		totals(t, r, got)
		got = slices.DeleteFunc(got, func(s span) bool { return strings.HasSuffix(s.path, Overlapping) })
		cuts, times := 0, make([]int, 4000)
		for _, s := range got {
			w := want[s.args-1]
			by := w.end - s.end
			if s.start != w.start || by < 0 || by > min(slack, (w.end-w.start)/2) {
				t.Fatalf("seed %d: %+v was added, and is %+v", seed, w, s)
			}
			parent, _, nested := cutLast(s.path)
			if by > 0 {
				cuts++
				if !nested || !slices.ContainsFunc(got, func(o span) bool { return o.path == parent && o.start <= s.start && o.end == s.end }) {
					t.Fatalf("seed %d: %+v is cut, and nothing around it ends then", seed, s)
				}
			}
			if !nested {
				for at := s.start; at < s.end; at++ {
					times[at]++
				}
			}
		}
		twice := int64(0)
		for _, n := range times {
			twice += int64(max(0, n-1))
		}
		if len(got) != len(want) || b.torn.cut != int64(cuts) || b.torn.twice != twice || (twice > 0) != (b.torn.crossing > 0) {
			t.Errorf("seed %d: %d spans, %d cut and %d counted twice; told are %+v", seed, len(got), cuts, twice, b.torn)
		}
		cut += cuts
	}
	if cut < 100 {
		t.Errorf("only %d spans were cut", cut)
	}
}

// TestRounded checks that spans whose times and durations were rounded apart nest as they did
// before, in whatever order they come: none is taken for an overlap.
func TestRounded(t *testing.T) {
	const unit, slack = 100, 1000
	moved := int64(0)
	for seed := range uint64(200) {
		rng := random(seed)
		var exact []span
		// fill adds spans one after another between two times, with spans in them.
		var fill func(path string, from, to int64, depth int)
		fill = func(path string, from, to int64, depth int) {
			for at := from; depth < 5; {
				end := at + 20*unit + rng.Int64N(max(1, (to-from)/6))
				if end > to {
					break
				}
				own := strings.TrimPrefix(fmt.Sprintf("%s;f%d", path, rng.IntN(5)), ";")
				exact = append(exact, span{at, end, own, false, uint64(len(exact) + 1)})
				fill(own, at+2*unit+rng.Int64N(unit), end, depth+1) // what begins together has no order
				at = end
			}
		}
		fill("", 0, 100_000, 0)
		b := NewBuilder()
		b.AddEvent(SpanEvent())
		b.Slack(slack)
		b.Touch(unit)
		tb := b.Track(TrackKey{})
		round := func(v int64) int64 { return (v + unit/2) / unit * unit }
		order := rng.Perm(len(exact))
		if seed%2 == 0 {
			slices.Sort(order)
		}
		for n, i := range order {
			s := exact[i]
			_, name, _ := cutLast(s.path)
			start := round(s.start)
			tb.Span(start, start+round(s.end-s.start), b.frameOf(name), s.args, false)
			if n%50 == 40 {
				b.Snapshot()
			}
		}
		r := b.Finish()
		got := all(t, r, r.Tracks[0])
		totals(t, r, got)
		for _, s := range got {
			if want := exact[max(1, s.args)-1]; s.path != want.path || s.end < s.start || max(s.start-want.start, want.start-s.start, s.end-want.end, want.end-s.end) > 2*unit {
				t.Fatalf("seed %d: %+v was written, %+v is shown", seed, want, s)
			}
		}
		if len(got) != len(exact) || b.torn.crossing > 0 {
			t.Fatalf("seed %d: %d spans of %d, %d of them cross", seed, len(got), len(exact), b.torn.crossing)
		}
		moved += b.torn.moved
	}
	if moved < 400 {
		t.Errorf("only %d spans began before the end of another", moved)
	}
}

func cutLast(path string) (before, last string, ok bool) {
	i := strings.LastIndex(path, ";")
	return path[:max(i, 0)], path[i+1:], i >= 0
}

// TestTornWarnings checks the warnings about spans that do not nest.
func TestTornWarnings(t *testing.T) {
	const us = 1e6
	for _, c := range []struct {
		name  string
		spans [][2]int64
		want  string
	}{
		{"nested", [][2]int64{{0, 50}, {10, 50}}, ""},
		{"a hundredth too early", [][2]int64{{0, 50*us + us/100}, {50 * us, 60 * us}, {55 * us, 60*us + us/100}, {60 * us, 70 * us}},
			"overrun 1: Spans end up to 10 ns after their parent span. They are shown as ending with it: sums lack up to 10 ns.; touching-spans 1: Spans begin up to 10 ns before the end of the span before them. They are shown as beginning after it."},
		{"a tenth too long", [][2]int64{{4 * us / 10, 80004 * us / 10}, {6 * us / 10, 80005 * us / 10}},
			"overrun 1: Spans end up to 100 ns after their parent span. They are shown as ending with it: sums lack up to 100 ns."},
		{"two that are too long", [][2]int64{{0, 50 * us}, {10 * us, 50*us + us/10}, {20 * us, 50*us + us/5}},
			"overrun 2: Spans end up to 200 ns after their parent span. They are shown as ending with it: sums lack up to 300 ns."},
		{"two that overlap", [][2]int64{{100 * us, 150 * us}, {140 * us, 200 * us}, {200 * us, 210 * us}},
			"crossing-spans 1: Spans of a thread partly overlap: sums count 10 µs more than once."},
		{"short ones that overlap", [][2]int64{{0, us}, {9 * us / 10, 15 * us / 10}},
			"crossing-spans 1: Spans of a thread partly overlap: sums count 100 ns more than once."},
	} {
		b := NewBuilder()
		b.AddEvent(SpanEvent())
		b.Slack(us)
		b.Touch(us / 100)
		tb := b.Track(TrackKey{TID: 1})
		for _, s := range c.spans {
			tb.Span(s[0], s[1], b.frameOf("f"), 0, false)
		}
		var told []string
		for _, w := range b.Finish().Warnings {
			told = append(told, fmt.Sprintf("%s %d: %s", w.Code, w.Count, w.Text))
		}
		if got := strings.Join(told, "; "); got != c.want {
			t.Errorf("%s: told is %q, want %q", c.name, got, c.want)
		}
	}
}
