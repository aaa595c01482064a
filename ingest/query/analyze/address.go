package analyze

import "ashlar/ingest/model/recording"

// AddressCost is the cost of an instruction.
type AddressCost struct {
	// Self and Total are in the metric's units; an instruction that occurs several times
	// in one stack counts once in Total. Count is the number of samples or records that
	// end on the instruction.
	Self, Total, Count int64
}

// Code assigns the frames of a recording to the instructions of some code.
type Code struct {
	// Ends and Calls hold, by frame, the instruction at its address if it is the
	// innermost, and the instruction that called if it is not: formats that record return
	// addresses give the one after it. Other frames have -1.
	Ends, Calls []int32
	// Instructions is the number of instructions.
	Instructions int
}

// AddressesOf adds up weights by instruction.
func AddressesOf(rec *recording.Recording, w *Weights, code Code) []AddressCost {
	out := make([]AddressCost, code.Instructions)
	below, first, next := weighed(rec, w)
	if len(first) == 0 {
		return out
	}
	here, count, inlined := atAddress(rec, w, len(first))
	on := make([]int32, code.Instructions) // by instruction: number of its calls on the current path
	at := func(c recording.CallID) (ends, calls int32) {
		if f := int(rec.Calls.Frame(c)); !inlined[c] && f < len(code.Ends) {
			return code.Ends[f], code.Calls[f]
		}
		return -1, -1
	}
	enter := func(c recording.CallID) {
		ends, calls := at(c)
		if ends >= 0 {
			recording.Add(&out[ends].Self, here[c])
			out[ends].Count += count[c]
			if on[ends] == 0 {
				recording.Add(&out[ends].Total, here[c])
			}
		}
		if calls >= 0 {
			if on[calls] == 0 {
				recording.Add(&out[calls].Total, below[c]-here[c])
			}
			on[calls]++
		}
	}
	leave := func(c recording.CallID) {
		if _, calls := at(c); calls >= 0 {
			on[calls]--
		}
	}
	walkCalls(first, next, enter, leave)
	return out
}

// atAddress returns, for each call, the weight and the number of records that end at its
// address: in the call itself or in functions inlined there. It marks the calls of inlined
// functions whose address is their caller's.
func atAddress(rec *recording.Recording, w *Weights, n int) (here, count []int64, inlined []bool) {
	here, count, inlined = make([]int64, n), make([]int64, n), make([]bool, n)
	copy(here, w.Self)
	copy(count, w.Count)
	for c := recording.CallID(n - 1); c > 0; c-- {
		f := rec.Frames.Ref(int(rec.Calls.Frame(c)))
		p := rec.Calls.Parent(c)
		if !f.Inlined || p == recording.NoCall {
			continue
		}
		if g := rec.Frames.Ref(int(rec.Calls.Frame(p))); g.Addr == f.Addr && g.InlineDepth < f.InlineDepth {
			inlined[c] = true
			recording.Add(&here[p], here[c])
			count[p] += count[c]
		}
	}
	return here, count, inlined
}
