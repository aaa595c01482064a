package analyze_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
)

// physical is an address in a stack, with the number of functions inlined there.
type physical struct {
	at      uint64
	inlined int
}

type physicalStack struct {
	stack []physical // from the outermost
	value int64
}

// addressed makes a recording of random stacks of few addresses. A return address and an
// equal sampled address share a frame.
func addressed(seed uint64) (*recording.Recording, []physicalStack) {
	r := rand.New(rand.NewPCG(seed, 11))
	b := recording.NewBuilder()
	b.AddEvent(recording.Event{Name: "cycles", Metrics: []recording.Metric{{Name: "period"}}})
	inlinedAt := []int{r.IntN(3), r.IntN(3), r.IntN(3), r.IntN(3), r.IntN(3), r.IntN(3)}
	var all []physicalStack
	for range 80 {
		var s physicalStack
		var frames []recording.FrameID
		for range r.IntN(8) {
			at := r.IntN(6)
			p := physical{uint64(at), inlinedAt[at]}
			s.stack = append(s.stack, p)
			fn := b.Function(recording.Function{Name: string(rune('a' + at))})
			frames = append(frames, b.Frame(recording.Frame{Func: fn, Addr: 100 + p.at}))
			for depth := 1; depth <= p.inlined; depth++ {
				in := b.Function(recording.Function{Name: string(rune('k' + depth))})
				frames = append(frames, b.Frame(recording.Frame{Func: in, Addr: 100 + p.at, Inlined: true, InlineDepth: uint8(depth)}))
			}
		}
		s.value = r.Int64N(100)
		b.AddStack(0, b.Stack(frames), recording.NoTrack, 0, []int64{s.value})
		all = append(all, s)
	}
	return b.Finish(), all
}

// The cost of an instruction equals a naive count over whole stacks, in which a caller
// counts at the instruction before its return address.
func TestAddressesAreThoseOfANaiveCount(t *testing.T) {
	for seed := range uint64(300) {
		rec, all := addressed(seed)
		w, err := analyze.Weigh(context.Background(), rec, analyze.Query{})
		if err != nil {
			t.Fatal(err)
		}
		// Addresses 101 to 104 are instructions 1 to 4; address 100 is other code.
		code := analyze.Code{Instructions: 5}
		place := func(at uint64) int32 {
			if at >= 1 && at <= 4 {
				return int32(at)
			}
			return -1
		}
		for i := range rec.Frames.Len() {
			at := rec.Frames.At(i).Addr - 100
			code.Ends, code.Calls = append(code.Ends, place(at)), append(code.Calls, place(at-1))
		}
		got := analyze.AddressesOf(rec, w, code)
		want := make([]analyze.AddressCost, 5)
		for _, s := range all {
			var on []int32
			for i, p := range s.stack {
				at := place(p.at - 1)
				if i == len(s.stack)-1 {
					if at = place(p.at); at >= 0 {
						want[at].Self += s.value
						want[at].Count++
					}
				}
				if at >= 0 && !slices.Contains(on, at) {
					want[at].Total += s.value
					on = append(on, at)
				}
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("seed %d\n got %v\nwant %v", seed, got, want)
		}
	}
}
