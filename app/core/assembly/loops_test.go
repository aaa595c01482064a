package assembly_test

import (
	"testing"

	"ashlar/app/core/assembly"
	"ashlar/ingest/format/program/disasm"
	"ashlar/ingest/query/analyze"
)

// TestHotLoop checks that the hot loop is the innermost of the loops with nearly the largest
// cost.
func TestHotLoop(t *testing.T) {
	l := &assembly.Listing{Parts: []assembly.Part{{Low: 0, High: 10}}}
	self := []int64{1, 0, 40, 50, 0, 2, 30, 0, 3, 0}
	back := map[int]uint64{5: 2, 7: 6, 8: 1} // the loops 2..5, within 1..8, and 6..7
	for i, v := range self {
		in := assembly.Inst{Inst: disasm.Inst{Addr: uint64(i), Size: 1}, AddressCost: analyze.AddressCost{Self: v}}
		if to, ok := back[i]; ok {
			in.Kind, in.Target = disasm.Branch, to
		}
		l.Insts = append(l.Insts, in)
	}
	// 1..8 costs 125, 2..5 costs 92 and 6..7 costs 30.
	if first, last, sum := l.HotLoop(); first != 1 || last != 8 || sum != 125 {
		t.Errorf("%d..%d with %d", first, last, sum)
	}
	l.Insts[6].Self = 3
	// 1..8 costs 98, 2..5 costs 92: the inner one has nearly all.
	if first, last, sum := l.HotLoop(); first != 2 || last != 5 || sum != 92 {
		t.Errorf("%d..%d with %d", first, last, sum)
	}
	if _, _, sum := new(assembly.Listing).HotLoop(); sum != 0 {
		t.Errorf("nothing has a loop with %d", sum)
	}
}
