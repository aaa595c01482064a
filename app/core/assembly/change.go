package assembly

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"ashlar/ingest/format/program/disasm"
	"ashlar/render/units"
)

// LoopChange describes how the hot loop of B differs from A's.
type LoopChange struct {
	First, Last    int // instructions of B
	Added          []int
	Removed        []int // instructions of A
	SelfA, SelfB   int64
	CountA, CountB int64 // samples or records behind SelfA and SelfB
	// Exits counts the added branches that leave the loop, Checks those that lead to a failed
	// bounds check.
	Exits, Checks int
}

// HotLoop compares the hot loop of B with the same code in A; nil if B has none.
func (al *Alignment) HotLoop() *LoopChange {
	first, last, self := al.B.HotLoop()
	if self == 0 {
		return nil
	}
	c := &LoopChange{First: first, Last: last, SelfB: self}
	from, to := al.rows(first, last)
	for _, r := range al.Rows[from : to+1] {
		if r.A >= 0 {
			c.SelfA += al.A.Insts[r.A].Self
			c.CountA += al.A.Insts[r.A].Count
		}
		if r.B >= 0 {
			c.CountB += al.B.Insts[r.B].Count
		}
		if r.A < 0 {
			c.Added = append(c.Added, r.B)
			in := &al.B.Insts[r.B]
			if in.Kind == disasm.Branch && (in.Target < al.B.Insts[first].Addr || in.Target > al.B.Insts[last].Addr) {
				c.Exits++
			}
		} else if r.B < 0 {
			c.Removed = append(c.Removed, r.A)
		}
	}
	// The loop may end with a branch back that is the check: the code behind it fails.
	for i, r := range al.Rows[from:min(to+2, len(al.Rows))] {
		behind := from+i > to
		if r.A < 0 && al.B.checks(r.B, behind) {
			c.Checks++
		} else if r.B < 0 && al.A.checks(r.A, behind) {
			c.Checks--
		}
	}
	c.Checks = max(0, c.Checks)
	return c
}

// rows returns the rows of two instructions of B.
func (al *Alignment) rows(first, last int) (from, to int) {
	for i, r := range al.Rows {
		if r.B == first {
			from = i
		}
		if r.B == last {
			to = i
		}
	}
	return from, to
}

// panics are parts of the names of functions that report a failed bounds check, in Go and Rust.
var panics = []string{"runtime.panicIndex", "runtime.panicSlice", "runtime.goPanicIndex", "runtime.panicBounds", "panic_bounds_check", "slice_index_fail", "slice_end_index_len_fail", "slice_start_index_len_fail"}

// checks reports whether an instruction is a branch to code that reports a failed bounds check or,
// behind a loop, such code.
func (l *Listing) checks(i int, behind bool) bool {
	in := &l.Insts[i]
	return in.Kind == disasm.Branch && l.failsCheck(in.Target) || behind && l.failsCheck(in.Addr)
}

// failsCheck reports whether the code at an address soon calls a function that reports a failed
// bounds check.
func (l *Listing) failsCheck(at uint64) bool {
	const most = 8 // instructions: a jump and those that pass the index and the length
	i := int(l.find(at))
	for n := 0; n < most && i >= 0 && i < len(l.Insts); n++ {
		in := &l.Insts[i]
		if in.Kind == disasm.Call || in.Kind == disasm.Jump {
			if slices.ContainsFunc(panics, func(name string) bool { return strings.Contains(in.Text, name) }) {
				return true
			}
		}
		switch in.Kind {
		case disasm.Jump:
			i = int(l.find(in.Target))
		case disasm.Call, disasm.Return, disasm.Branch:
			return false
		default:
			i++
		}
	}
	return false
}

// Certain reports whether the change of the cost is more than chance: more than three standard
// deviations of the number of samples.
func (c *LoopChange) Certain() bool {
	d := math.Abs(float64(c.CountB - c.CountA))
	return d > 3*math.Sqrt(float64(c.CountA+c.CountB))
}

// Sentence describes the change of the hot loop, "" if there is none or the alignment is
// doubtful: "The loop at +0x54 gained a bounds check (3 instructions): self +12.0 %." noise
// reports that the change of the whole function is known to be within noise.
func (al *Alignment) Sentence(noise bool) string {
	c := al.HotLoop()
	if c == nil || al.Doubt != "" {
		return ""
	}
	certain := c.Certain() && !noise
	if len(c.Added)+len(c.Removed) == 0 && !certain {
		return ""
	}
	s := fmt.Sprintf("The loop at +%#x ", al.B.Offset(c.First))
	added, lost := units.Plural(int64(len(c.Added)), "instruction"), len(c.Removed)
	switch {
	case c.Checks > 0:
		what := "a bounds check"
		if c.Checks > 1 {
			what = fmt.Sprintf("%d bounds checks", c.Checks)
		}
		if lost > 0 {
			added += fmt.Sprintf(" added, %d removed", lost)
		}
		s += fmt.Sprintf("gained %s (%s)", what, added)
	case len(c.Added) > 0:
		s += "gained " + added
		if c.Exits > 0 {
			s += fmt.Sprintf(" (%s out of the loop)", units.Plural(int64(c.Exits), "branch"))
		}
		if lost > 0 {
			s += fmt.Sprintf(" and lost %d", lost)
		}
	case lost > 0:
		s += "lost " + units.Plural(int64(lost), "instruction")
	default:
		s += "has the same code"
	}
	if c.SelfA > 0 {
		s += ": self " + units.Change(c.SelfA, c.SelfB)
		if !certain {
			s += fmt.Sprintf(", which may be chance (A %d, B %s)", c.CountA, units.Plural(c.CountB, "sample"))
		}
	}
	return s + "."
}
