package assembly

import "ashlar/ingest/format/program/disasm"

// Jumps reports whether an instruction is a jump, conditional or not, to a known address.
func (in *Inst) Jumps() bool {
	return in.Target != 0 && (in.Kind == disasm.Jump || in.Kind == disasm.Branch)
}

// HotLoop returns the first and last instruction of the loop with the largest self cost, and
// this cost. If nested loops have nearly the same cost, it returns the innermost. A loop is
// the code from the target of a jump back to the jump. self is 0 if there is none.
func (l *Listing) HotLoop() (first, last int, self int64) {
	sums := make([]int64, len(l.Insts)+1)
	for i := range l.Insts {
		sums[i+1] = sums[i] + l.Insts[i].Self
	}
	type loop struct{ first, last int }
	var all []loop
	for i := range l.Insts {
		in := &l.Insts[i]
		if !in.Jumps() || in.Target > in.Addr {
			continue
		}
		if to := int(l.find(in.Target)); to >= 0 && l.Insts[to].Part == in.Part {
			all = append(all, loop{to, i})
			self = max(self, sums[i+1]-sums[to])
		}
	}
	least, best := self-self/10, -1
	for k, x := range all {
		if sums[x.last+1]-sums[x.first] >= least && (best < 0 || x.last-x.first < all[best].last-all[best].first) {
			best = k
		}
	}
	if best < 0 || self == 0 {
		return 0, 0, 0
	}
	x := all[best]
	return x.first, x.last, sums[x.last+1] - sums[x.first]
}
