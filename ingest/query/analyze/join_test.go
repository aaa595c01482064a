package analyze

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"ashlar/ingest/model/recording"
)

// tableOf returns self and total by function, and the weights, for a query.
func tableOf(t *testing.T, rec *recording.Recording, q Query) (map[string][2]int64, *Weights) {
	t.Helper()
	w, err := Weigh(context.Background(), rec, q)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][2]int64{}
	for _, r := range Table(rec, NewTree(rec, w), ByFunction) {
		out[r.Name] = [2]int64{r.Self, r.Total}
	}
	return out, w
}

// halvesFor makes a recording with user and kernel stacks of one event, and joins some
// pairs.
func halvesFor(rng *rand.Rand) *recording.Recording {
	b := recording.NewBuilder()
	ev := b.AddEvent(recording.Event{Name: "profile-997", Metrics: []recording.Metric{{Name: "samples", Unit: "count"}}})
	stack := func(prefix string) recording.CallID {
		var frames []recording.FrameID
		for range 1 + rng.IntN(3) {
			leaf := prefix + string(rune('a'+rng.IntN(4)))
			frames = append(frames, b.FunctionFrame(b.Function(recording.Function{Name: leaf})))
		}
		return b.Stack(frames)
	}
	var users, kernels []int
	for range 3 + rng.IntN(20) {
		c := stack("u")
		users = append(users, b.AddStack(ev, c, recording.NoTrack, 0, []int64{rng.Int64N(20)}))
		if rng.IntN(2) == 0 {
			c := stack("k")
			kernels = append(kernels, b.AddStack(ev, c, recording.NoTrack, 0, []int64{rng.Int64N(20)}))
		}
	}
	for range rng.IntN(30) {
		if len(kernels) > 0 {
			b.Join(ev, users[rng.IntN(len(users))], kernels[rng.IntN(len(kernels))])
		}
	}
	return b.Finish()
}

// Joining keeps the total of every function and the self weight of kernel functions. The
// self weight of user functions decreases by exactly the joined weight, which then counts
// once.
func TestJoinKeepsEveryTotal(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 14))
	joined := int64(0)
	for round := range 300 {
		rec := halvesFor(rng)
		before, w0 := tableOf(t, rec, Query{Apart: true})
		after, w1 := tableOf(t, rec, Query{})
		if m := rec.Events[0].Metrics[0]; m.Total != w1.Sum {
			t.Fatalf("round %d: the recording's total is %d and that of its stacks %d", round, m.Total, w1.Sum)
		}
		if w1.Sum+w1.Joined != w0.Sum {
			t.Fatalf("round %d: %d and %d joined are not the %d of before", round, w1.Sum, w1.Joined, w0.Sum)
		}
		joined += w1.Joined
		less := int64(0)
		for name, v := range before {
			if after[name][1] != v[1] {
				t.Fatalf("round %d: total of %s was %d and is %d", round, name, v[1], after[name][1])
			}
			if strings.HasPrefix(name, "k") && after[name][0] != v[0] {
				t.Fatalf("round %d: self of %s was %d and is %d", round, name, v[0], after[name][0])
			}
			less += v[0] - after[name][0]
		}
		if less != w1.Joined {
			t.Fatalf("round %d: self became less by %d, joined are %d", round, less, w1.Joined)
		}
	}
	if joined == 0 {
		t.Fatal("nothing was ever joined")
	}
}

// selves returns the self weights by path and count.
func selves(t *testing.T, rec *recording.Recording, q Query) map[string]int64 {
	t.Helper()
	w, err := Weigh(context.Background(), rec, q)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]int64{}
	for c, v := range w.Self {
		if w.Count[c] == 0 {
			continue
		}
		var names []string
		for _, p := range rec.Calls.Path(nil, recording.CallID(c)) {
			names = append(names, rec.FuncName(p))
		}
		out[fmt.Sprintf("%s×%d", strings.Join(names, ";"), w.Count[c])] = v
	}
	return out
}

// oneRun makes a recording with the two halves of a stack in every kind of record: stack
// records with the given weights, samples at two times, and rows of a window.
func oneRun(user, kernel int64) *recording.Recording {
	b := recording.NewBuilder()
	ev := b.AddEvent(recording.Event{Metrics: []recording.Metric{{Name: "samples", PerSample: recording.SampleOne}, {Name: "bytes"}}})
	tb := b.Track(recording.TrackKey{PID: 1, TID: 2})
	call := func(names ...string) recording.CallID {
		var frames []recording.FrameID
		for _, n := range names {
			frames = append(frames, b.FunctionFrame(b.Function(recording.Function{Name: n})))
		}
		return b.Stack(frames)
	}
	u, k := call("main", "work"), call("trap", "read")
	ur := b.AddStack(ev, u, tb.Index(), 0, []int64{user, 100})
	kr := b.AddStack(ev, k, tb.Index(), 0, []int64{kernel, 40})
	b.AddStack(ev, u, tb.Index(), 0, []int64{7, 1}) // the same stack, not joined
	b.Join(ev, ur, kr)
	tb.Sample(ev, 10, u, -1, nil)
	tb.Sample(ev, 10, k, -1, nil)
	tb.Sample(ev, 20, u, -1, nil)
	tb.Sample(ev, 30, k, -1, nil)
	b.AddWindow(ev, "w", 0, 100)
	b.AddWindowStack(ev, u, tb.Index(), 0, []int64{recording.Missing, 60})
	b.AddWindowStack(ev, k, tb.Index(), 0, []int64{recording.Missing, 50})
	return b.Finish()
}

func TestJoinByBasis(t *testing.T) {
	const uu, kk, both = "main;work", "trap;read", "main;work;trap;read"
	for _, c := range []struct {
		name         string
		user, kernel int64
		q            Query
		want         map[string]int64
	}{
		{"apart", 5, 3, Query{Apart: true}, map[string]int64{uu + "×2": 12, kk + "×1": 3}},
		{"user has more", 5, 3, Query{}, map[string]int64{uu + "×2": 9, both + "×1": 3}},
		{"kernel has more", 3, 5, Query{}, map[string]int64{uu + "×1": 7, both + "×1": 3, kk + "×1": 2}},
		{"the same", 4, 4, Query{}, map[string]int64{uu + "×1": 7, both + "×1": 4}},
		{"one is missing", recording.Missing, 4, Query{}, map[string]int64{uu + "×1": 7, both + "×1": 4}},
		{"the other is missing", 4, recording.Missing, Query{}, map[string]int64{uu + "×1": 7, both + "×1": 4}},
		{"both are nothing", 0, 0, Query{}, map[string]int64{uu + "×1": 7, both + "×1": 0}},
		{"another thread", 4, 4, Query{Scope: recording.Scope{Tracks: []int{}}}, map[string]int64{}},
		{"samples", 5, 3, Query{Scope: recording.Between(0, 40)}, map[string]int64{uu + "×1": 1, both + "×1": 1, kk + "×1": 1}},
		{"samples of a part", 5, 3, Query{Scope: recording.Between(0, 15)}, map[string]int64{both + "×1": 1}},
		{"windows", 5, 3, Query{Metric: 1, Scope: recording.Between(0, 40)}, map[string]int64{uu + "×1": 10, both + "×1": 50}},
	} {
		rec := oneRun(c.user, c.kernel)
		if got := selves(t, rec, c.q); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
		rows, err := ByTrack(context.Background(), rec, c.q)
		if err != nil {
			t.Fatal(err)
		}
		var sum, want int64
		for _, r := range rows {
			sum += r.Self
		}
		for _, v := range c.want {
			want += v
		}
		if sum != want {
			t.Errorf("%s: threads have %d together, want %d", c.name, sum, want)
		}
	}
}

// A kernel stack joined with two user stacks gives its weight to them in file order.
func TestJoinSharesInOrder(t *testing.T) {
	b := recording.NewBuilder()
	ev := b.AddEvent(recording.Event{Metrics: []recording.Metric{{Name: "samples"}}})
	add := func(name string, v int64) int {
		return b.AddStack(ev, b.Call(0, b.FunctionFrame(b.Function(recording.Function{Name: name}))), recording.NoTrack, 0, []int64{v})
	}
	k, u1, u2 := add("k", 12), add("u1", 10), add("u2", 10)
	b.Join(ev, u1, k)
	b.Join(ev, u2, k)
	want := map[string]int64{"u1;k×1": 10, "u2;k×1": 2, "u2×1": 8}
	rec := b.Finish()
	if got := selves(t, rec, Query{}); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	split := Transform{Op: OpSplitRelated}
	if split.Check() != nil || !(Query{}).With(rec, []Transform{{Op: OpInvert}, split}).Apart || (Query{Apart: true}).With(rec, nil).Apart {
		t.Error("the transform is not known")
	}
}
