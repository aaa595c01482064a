package source

import (
	"testing"

	"ashlar/app/core/assembly"
	"ashlar/ingest/format/program/disasm"
)

// TestBuildsBeginAtTheLoop checks that the hot loop is marked and shown first, and that without a
// loop the row with the largest change is.
func TestBuildsBeginAtTheLoop(t *testing.T) {
	code := func(loop bool, costs ...int64) *assembly.Listing {
		l := &assembly.Listing{Parts: []assembly.Part{{Low: 100, High: 200, Last: len(costs)}}}
		for i, self := range costs {
			in := assembly.Inst{Inst: disasm.Inst{Addr: uint64(100 + i), Size: 1, Text: string(rune('a' + i))}}
			in.Self, in.Count = self, self
			if loop && i == 4 {
				in.Kind, in.Target = disasm.Branch, 102
			}
			l.Insts = append(l.Insts, in)
		}
		return l
	}
	b := &builds{loop: [2]int{-1, -1}}
	b.align(code(true, 0, 900, 10, 10, 10), code(true, 0, 0, 50, 60, 50))
	if b.loop != [2]int{2, 4} || b.first != 2 || b.most != 900 || b.said[0] == "" {
		t.Errorf("loop %v, first %d, most %d, %q", b.loop, b.first, b.most, b.said[0])
	}
	b = &builds{loop: [2]int{-1, -1}}
	b.align(code(false, 0, 900, 10, 10, 10), code(false, 0, 0, 50, 60, 50))
	if b.loop != [2]int{-1, -1} || b.first != 1 || b.said[0] != "" {
		t.Errorf("without a loop: %v, first %d, %q", b.loop, b.first, b.said[0])
	}
}
