package recording

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"ashlar/ingest/model/column"
	"ashlar/ingest/model/lanes"
	"ashlar/testdata/rounds"
)

// Laying out spans in several parts gives the same result as laying them out at once, and
// earlier snapshots do not change.
func TestLayoutInParts(t *testing.T) {
	for seed := range rounds.Of(uint64(400)) {
		rng := random(seed)
		n := 1 + rng.IntN(300)
		if seed%150 == 149 {
			n = 3 * column.ChunkLen
		}
		spread, long, groups, part := 1+rng.Int64N(500), 1+rng.Int64N(20), uint32(rng.IntN(4)), 1+rng.IntN(n)
		unit, slack, touch := 1+rng.Int64N(2)*math.MaxUint32, rng.Int64N(6), rng.Int64N(4)
		var tracks [2]*TrackBuilder
		var builders [2]*Builder
		for i := range builders {
			b := NewBuilder()
			b.AddEvent(SpanEvent())
			b.Slack(slack * unit)
			b.Touch(touch * unit)
			builders[i], tracks[i] = b, b.Track(TrackKey{TID: 1})
		}
		var shown []*Recording
		var was []string
		for i := range n {
			start := int64(i) + rng.Int64N(spread)
			if rng.IntN(n) == 0 {
				start = rng.Int64N(spread)
			}
			end, group, name, args := start+rng.Int64N(long), uint32(0), rng.IntN(5), uint64(rng.IntN(2))*uint64(i)
			if rng.IntN(4) == 0 {
				end = start
			}
			start, end = start*unit, end*unit
			if groups > 0 {
				group = rng.Uint32N(groups)
			}
			for k, track := range tracks {
				track.SpanOf(group, start, end, builders[k].frameOf(fmt.Sprint("f", name)), args, i%7 == 0)
			}
			if rng.IntN(part) == 0 {
				if rng.IntN(2) == 0 && len(shown) == 0 {
					tracks[1].loose.layout(builders[1], false)
				} else if r := builders[1].Snapshot(); len(shown) < 5 {
					shown, was = append(shown, r), append(was, laidOut(r))
				}
			}
		}
		want, got := laidOut(builders[0].Finish()), laidOut(builders[1].Finish())
		if got != want {
			x, y := strings.Split(got, "\n"), strings.Split(want, "\n")
			k := 0
			for k < min(len(x), len(y))-1 && x[k] == y[k] {
				k++
			}
			t.Fatalf("seed %d: line %d is %.200q where spans are laid out in parts, %.200q at once", seed, k, x[k], y[k])
		}
		for i, r := range shown {
			if laidOut(r) != was[i] {
				t.Fatalf("seed %d: a snapshot has changed", seed)
			}
		}
	}
}

// laidOut formats the spans, bars and sums of a recording, with calls as paths of names.
func laidOut(r *Recording) string {
	var s strings.Builder
	path := func(c CallID) (text string) {
		for _, c := range r.Calls.Path(nil, c) {
			text += "/" + r.Functions.At(int(r.Frames.At(int(r.Calls.Frame(c))).Func)).Name
		}
		return text
	}
	for d := range r.Tracks[0].Lanes {
		l := &r.Tracks[0].Lanes[d]
		fmt.Fprintln(&s, "lane", d, l.Len())
		for i := range l.Len() {
			fmt.Fprintln(&s, l.Start(i), l.End(i), l.Args(i), l.Unfinished(i), path(l.Call(i)))
		}
		for res := int64(1); l.Len() > 0 && res < 2*(l.LastEnd()-l.Start(0)); res *= 4 {
			l.Walk(l.Start(0), math.MaxInt64, res, func(b *lanes.Bar) bool {
				fmt.Fprintln(&s, "at", res, b.Start, b.End, b.Busy, path(b.Call))
				return true
			})
		}
	}
	sums := map[string]callSum{}
	for c, n := range r.SpanCount {
		if n > 0 {
			sums[path(CallID(c))] = callSum{uint64(r.SpanTime[c]), 0, n}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(sums)) {
		fmt.Fprintln(&s, key, sums[key])
	}
	return s.String()
}

// TestLooseSpansKeepArguments checks the arguments of spans that were laid out, shown in a
// snapshot and laid out further. Snapshots are copies of lanes that are still extended, so
// releasing a snapshot's unused capacity must not affect the original.
func TestLooseSpansKeepArguments(t *testing.T) {
	const first, all = 150, 2*column.ChunkLen + 1500
	b := NewBuilder()
	b.AddEvent(SpanEvent())
	track, f := b.Track(TrackKey{TID: 1}), b.frameOf("f")
	args := func(i int64) uint64 { return uint64(1_000_000 + i) }
	add := func(i int64) { track.SpanOf(0, 10*i, 10*i+5, f, args(i), false) }
	for i := int64(first); i > 0; i-- { // descending, so that spans are laid out later
		add(i)
	}
	b.Snapshot()
	for i := int64(first + 1); i <= all; i++ {
		if add(i); i == column.ChunkLen+first {
			track.loose.layout(b, false)
		}
	}
	rec := b.Finish()
	l := &rec.Tracks[0].Lanes[0]
	if l.Len() != all {
		t.Fatalf("there are %d spans, want %d", l.Len(), all)
	}
	for i := range l.Len() {
		if got, want := l.Args(i), args(l.Start(i)/10); got != want {
			t.Fatalf("span %d has the arguments %d, want %d", i, got, want)
		}
	}
}
