package compare

import "math"

// Overlap tells how much the two sides of a table by functions have in common.
type Overlap struct {
	// Functions is the number of functions on both sides; OfA and OfB are the numbers of
	// functions in A and in B.
	Functions, OfA, OfB int
	// A and B are the fractions of each side's self cost in functions on both sides, from
	// 0 to 1.
	A, B float64
}

// Overlap returns how much of both sides was matched.
func (t *Table) Overlap() (o Overlap) {
	var both, all [2]float64
	for i := range t.Rows {
		r := &t.Rows[i]
		if r.Key < 0 {
			continue
		}
		a, b := math.Abs(float64(r.ASelf)), math.Abs(float64(r.BSelf))
		all[0], all[1] = all[0]+a, all[1]+b
		switch r.Status {
		case Gone:
			o.OfA++
			continue
		case New:
			o.OfB++
			continue
		}
		o.OfA, o.OfB, o.Functions = o.OfA+1, o.OfB+1, o.Functions+1
		both[0], both[1] = both[0]+a, both[1]+b
	}
	for side, of := range []*float64{&o.A, &o.B} {
		if *of = 1; all[side] > 0 {
			*of = both[side] / all[side]
		}
	}
	return o
}

// Nothing reports whether the sides have almost nothing in common, so that comparing them
// is meaningless.
func (o Overlap) Nothing() bool {
	return o.OfA > 0 && o.OfB > 0 && (o.Functions == 0 || max(o.A, o.B) < .01 && 10*o.Functions < min(o.OfA, o.OfB))
}

// Little reports whether less than a tenth of the cost of a side was matched.
func (o Overlap) Little() bool { return o.OfA > 0 && o.OfB > 0 && min(o.A, o.B) < .1 }
