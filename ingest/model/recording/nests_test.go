package recording

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"ashlar/ingest/model/unordered"
)

// placeOneByOne returns the nest for a span, found by trying all nests one after another.
func placeOneByOne(nests []*nest, last map[uint32]placed, x *unordered.Span, group uint32) int {
	was, ok := last[group]
	if !ok {
		was = placed{-1, -1}
	}
	for _, k := range []int32{was.nest, was.home} {
		if group != 0 && k >= 0 && nests[k].takes(x, group) && len(nests[k].ends) > 0 {
			return int(k)
		}
	}
	for _, k := range []int32{was.nest, was.home} {
		if group != 0 && k >= 0 && nests[k].holds(group) && nests[k].ends[0] >= needs(x, nests[k].slack) {
			was.home = k // the home wins if both contain the span
		}
	}
	k := -1
	if group == 0 {
		var latest int64
		for i, n := range nests {
			if !n.takes(x, group) || len(n.ends) == 0 {
				continue
			}
			if start := n.lanes[len(n.ends)-1].LastStart(); k < 0 || start > latest {
				k, latest = i, start
			}
		}
	}
	if k < 0 {
		k = 0
		for k < len(nests) && (!nests[k].takes(x, group) || len(nests[k].ends) > 0) {
			k++
		}
	}
	last[group] = placed{int32(k), was.home}
	return k
}

// The index finds the same nests as trying all of them, for spans and groups that overlap,
// touch or have no length.
func TestNests(t *testing.T) {
	for seed := range uint64(3000) {
		rng := random(seed)
		n, span, long, groups := 1+rng.IntN(60), 1+rng.Int64N(40), 1+rng.Int64N(30), 1+rng.IntN(4)
		type grouped struct {
			unordered.Span
			group uint32
		}
		var spans []grouped
		for range n {
			start := rng.Int64N(span)
			x := grouped{unordered.Span{Start: start, End: start + rng.Int64N(long)}, uint32(rng.IntN(groups))}
			if rng.IntN(4) == 0 {
				x.End = start
			}
			spans = append(spans, x)
		}
		slices.SortStableFunc(spans, func(a, b grouped) int {
			return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End))
		})
		b := NewBuilder()
		frame := b.FunctionFrame(b.Function(Function{Name: "f"}))
		slack := rng.Int64N(4)
		found := nests{seen: map[uint32]placed{}, slack: slack}
		var asked []*nest
		last := map[uint32]placed{}
		for i := range spans {
			x := &spans[i]
			x.Frame = uint32(frame)
			k := placeOneByOne(asked, last, &x.Span, x.group)
			if k == len(asked) {
				asked = append(asked, &nest{slack: slack})
			}
			want := asked[k].add(b, &x.Span, x.group, 0)
			if got := found.add(b, &x.Span, x.group, 0); got != want {
				t.Fatalf("seed %d: span %d is call %d, not %d", seed, i, got, want)
			}
			if k := slices.IndexFunc(found.all, func(n *nest) bool { return !sameLanes(n, asked, found.all) }); k >= 0 {
				t.Fatalf("seed %d: nest %d differs after span %d %+v", seed, k, i, x)
			}
		}
	}
}

func sameLanes(n *nest, want, all []*nest) bool {
	k := slices.Index(all, n)
	if len(all) != len(want) || len(n.lanes) != len(want[k].lanes) {
		return false
	}
	for i := range n.lanes {
		if n.lanes[i].Len() != want[k].lanes[i].Len() {
			return false
		}
	}
	return true
}

// If loading is stopped, spans not laid out yet do not count in any number.
func TestLayoutGivenUp(t *testing.T) {
	const n = 4 * unordered.RunSpans
	b := NewBuilder()
	b.AddEvent(SpanEvent())
	frame := b.FunctionFrame(b.Function(Function{Name: "f"}))
	track := b.Track(TrackKey{TID: 1})
	for i := range int64(n) {
		track.Span(10*i, 10*i+5, frame, 0, i%2 == 0)
	}
	ctx, stop := context.WithCancelCause(context.Background())
	b.Until(ctx)
	stop(context.DeadlineExceeded)
	r := b.Finish()
	laid := int64(r.Tracks[0].Spans())
	if laid == 0 || laid == n || r.Counts.Spans != laid || r.Counts.Unfinished != (laid+1)/2 || r.Events[0].Metrics[SpanTime].Total != 5*laid {
		t.Errorf("%d spans are laid out: %+v, %+v", laid, r.Counts, r.Events)
	}
	if len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0].Text, "not shown because the layout failed") {
		t.Errorf("%+v", r.Warnings)
	}
}

// A halted builder adds nothing more, and Finish returns the recording so far.
func TestHalt(t *testing.T) {
	b := NewBuilder()
	b.AddEvent(SpanEvent())
	frame := b.FunctionFrame(b.Function(Function{Name: "f"}))
	track := b.Track(TrackKey{TID: 1})
	depth := 0
	func() {
		defer func() { recover() }()
		for depth < 1000 {
			if depth == 100 {
				b.Halt()
			}
			track.Begin(int64(depth), frame, 0)
			depth++
		}
	}()
	if r := b.Finish(); depth != 100 || r.Tracks[0].Spans() != 100 {
		t.Errorf("%d begun, %d shown", depth, r.Tracks[0].Spans())
	}
}

// An event without metrics gets one that counts its records.
func TestEventWithoutMetric(t *testing.T) {
	b := NewBuilder()
	b.AddEvent(Event{Name: "stacks", Primary: 7})
	b.AddEvent(Event{Name: "samples", Basis: FromSamples})
	call := b.Stack([]FrameID{b.FunctionFrame(b.Function(Function{Name: "f"}))})
	for range 3 {
		b.AddStack(0, call, NoTrack, 0, nil)
	}
	b.AddWindow(0, "w", 0, 10)
	b.AddWindowStack(0, call, NoTrack, 0, nil)
	track := b.Track(TrackKey{TID: 1})
	track.Sample(1, 5, call, -1, nil)
	track.Sample(1, 6, call, -1, nil)
	r := b.Finish()
	for i, want := range []int64{3, 2} {
		e := &r.Events[i]
		if len(e.Metrics) != 1 || e.Primary != 0 || e.Metrics[0].Name != "records" || e.Metrics[0].Total != want {
			t.Errorf("%+v", e)
		}
	}
	if r.Stacks[0].Value(1, 0) != 1 || r.Windows[0].Rows.Value(0, 0) != 1 || r.Tracks[0].SamplesOf(1).Value(0, &r.Events[1].Metrics[0], 0) != 1 {
		t.Error("a record does not count one")
	}
}

// Totals that overflow stop at the limit of int64, with a warning.
func TestTotalsStop(t *testing.T) {
	const days = 53 * 86400 * int64(1e12)
	for _, loose := range []bool{false, true} {
		b := NewBuilder()
		b.AddEvent(SpanEvent())
		frame := b.FunctionFrame(b.Function(Function{Name: "f"}))
		for i := range int64(1000) {
			track := b.Track(TrackKey{TID: i})
			if loose {
				track.Span(0, days, frame, 0, false)
			} else {
				track.Begin(0, frame, 0)
				track.End(days)
			}
		}
		stacks := b.AddEvent(Event{Metrics: []Metric{{Name: "bytes"}}})
		b.AddStack(stacks, 1, NoTrack, 0, []int64{math.MinInt64 + 2})
		b.AddStack(stacks, 1, NoTrack, 0, []int64{-5})
		r := b.Finish()
		if r.Events[0].Metrics[SpanTime].Total != math.MaxInt64 || r.SpanTime[1] != math.MaxInt64 || r.Events[1].Metrics[0].Total != math.MinInt64+1 {
			t.Errorf("loose %v: %+v %v", loose, r.Events, r.SpanTime)
		}
		if len(r.Warnings) != 1 || r.Warnings[0].Code != warnTotal {
			t.Errorf("%+v", r.Warnings)
		}
	}
}

// TestSortingIsOwed checks that Size includes the memory for sorting samples that arrived
// out of order.
func TestSortingIsOwed(t *testing.T) {
	owed := func(backwards bool) int64 {
		b := NewBuilder()
		event := b.AddEvent(Event{Metrics: []Metric{{Name: "samples", PerSample: SampleOne}}})
		call := b.Call(NoCall, b.FunctionFrame(b.Function(Function{Name: "f"})))
		for i := range int64(1000) {
			if backwards {
				i = 1000 - i
			}
			b.Track(TrackKey{}).Sample(event, i, call, -1, []int64{1})
		}
		_, n := b.Size()
		return n
	}
	if in, against := owed(false), owed(true); against-in < 999*8*3 {
		t.Errorf("in order %d, against it %d", in, against)
	}
}
