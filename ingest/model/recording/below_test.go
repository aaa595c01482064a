package recording

import (
	"math/rand/v2"
	"testing"

	"ashlar/ingest/model/column"
)

// Below gives the same calls as Call for each frame, for stacks in any order, and returns
// the number of new calls.
func TestBelowIsCalls(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	one, all := NewBuilder(), NewBuilder()
	for range 9 {
		for _, b := range []*Builder{one, all} {
			f := b.Function(Function{Name: string(rune('a' + b.rec.Functions.Len()))})
			b.FunctionFrame(f)
		}
	}
	for range 400 {
		frames := make([]FrameID, r.IntN(60))
		for i := range frames {
			frames[i] = FrameID(r.IntN(9) * r.IntN(2))
		}
		if r.IntN(50) == 0 { // spans several chunks
			frames = append(frames, make([]FrameID, 2*column.ChunkLen)...)
		}
		want, before := NoCall, one.rec.Calls.Len()
		for _, f := range frames {
			want = one.Call(want, f)
		}
		got, fresh := all.Below(NoCall, frames)
		if got != want || fresh != one.rec.Calls.Len()-before {
			t.Fatalf("the leaf is %d with %d new calls, not %d with %d", got, fresh, want, one.rec.Calls.Len()-before)
		}
	}
	for id := CallID(1); int(id) < one.rec.Calls.Len(); id++ {
		a, b := &one.rec.Calls, &all.rec.Calls
		if a.Parent(id) != b.Parent(id) || a.Frame(id) != b.Frame(id) || a.Depth(id) != b.Depth(id) {
			t.Fatalf("call %d is another", id)
		}
	}
}
