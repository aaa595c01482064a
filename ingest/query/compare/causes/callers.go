package causes

import (
	"cmp"
	"slices"

	"ashlar/ingest/model/order"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/ingest/query/compare"
)

// A Caller is a function whose total changed although no single function below it accounts
// for that, for example because a new call spreads over many library functions.
type Caller struct {
	Row *compare.Row
	// Delta is the difference in its total.
	Delta int64
	// From is a node whose function called the caller for nearly all of the difference; -1 if
	// several did.
	From int
	// Calls are the functions it calls whose difference below it goes the same way, the
	// largest first. An entry with Func -1 is the caller's own code.
	Calls []Callee
}

// A Callee is a function called directly by a [Caller].
type Callee struct {
	Func  int32 // index in Tree.Funcs; -1 for the caller itself
	Node  int   // the node that differs most
	Delta int64
	// Status is New if the caller calls it only in B, and Gone if only in A.
	Status compare.Status
}

const (
	// If a function has at least nearly of the difference of its caller, it is named instead of
	// the caller.
	nearly = .8
	// unexplained is the smallest part of a function's difference that the named causes must leave
	// unexplained for the function to be reported. It is also the smallest part by which the
	// difference must deviate from the change of the rest of the program.
	unexplained = .5
	// If at least ownCode of a function's difference in total is in its self, the function itself
	// changed.
	ownCode = .8
	// A function with at least wholeShare of the total on both sides stands for the whole program.
	wholeShare = .9
	// leastCall is the smallest difference of a callee, as a part of the largest callee's.
	leastCall = .2
)

// Callers returns at most the given number of functions whose totals changed with at least a
// confidence of least, unless the named causes, or cost that moved between functions, explain the
// change. Of nested functions that changed together it returns the innermost one with nearly the
// whole change, or the one that newly calls or no longer calls the others. It leaves out functions
// that changed like the rest of the program.
func Callers(c *compare.Comparison, t *compare.Table, all []Cause, named []*Cause, least float64, most int) (callers []Caller) {
	if t.By != compare.ByFunction || !t.Judged || c.Tree.Inverted {
		return nil
	}
	f := &callerFinder{tree: c.Tree, rows: map[int32]*compare.Row{}}
	known := map[int32]bool{}
	know := func(cause *Cause) {
		for _, r := range cause.Rows {
			known[r.Key] = true
		}
	}
	for _, cause := range named {
		know(cause)
	}
	for i := range all {
		switch all[i].Kind {
		case Split, Inlined, Replaced:
			know(&all[i])
		}
	}
	for i := range t.Rows {
		r := &t.Rows[i]
		same := (r.DeltaSelf() < 0) == (r.DeltaTotal() < 0)
		if r.Key < 0 || known[r.Key] && same || r.DeltaTotal() == 0 || r.Interrupted() || r.Total == nil || r.Total.Level() < least {
			continue
		}
		if !same || part(r.DeltaSelf(), r.DeltaTotal()) < ownCode {
			f.rows[r.Key] = r
		}
	}
	if len(f.rows) == 0 {
		return nil
	}
	f.index()
	f.leave(known)
	for len(callers) < most {
		r := f.largest()
		if r == nil {
			break
		}
		caller := f.descend(f.climb(r))
		f.explain(caller.Row.Key)
		callers = append(callers, caller)
	}
	return callers
}

// CallsOf returns the functions that a row's function calls directly and whose change below
// it goes the same way as its own, the largest first; among them its own code.
func CallsOf(c *compare.Comparison, r *compare.Row) []Callee {
	f := &callerFinder{tree: c.Tree}
	f.index()
	return f.calls(r)
}

type callerFinder struct {
	tree *compare.Tree
	rows map[int32]*compare.Row // functions whose totals changed for certain
	// of are the nodes of each function at from[f]:from[f+1]; outer reports whether no
	// node above has the same function.
	of, from []int32
	outer    []bool
	// left is the difference in self of each node, 0 if it is explained.
	left []int64
}

// index finds the nodes of each function.
func (f *callerFinder) index() {
	nodes := f.tree.Nodes
	row := make([]int32, len(nodes))
	f.from = make([]int32, len(f.tree.Funcs)+2)
	for i := 1; i < len(nodes); i++ {
		row[i] = nodes[i].Func + 1
		f.from[nodes[i].Func+2]++
	}
	for i := 1; i < len(f.from); i++ {
		f.from[i] += f.from[i-1]
	}
	f.of = make([]int32, len(nodes)-1)
	for i := 1; i < len(nodes); i++ {
		at := &f.from[nodes[i].Func+1]
		f.of[*at] = int32(i)
		*at++
	}
	f.outer = analyze.Outermost(len(nodes), func(i int32) int32 { return nodes[i].Parent }, row, len(f.tree.Funcs)+1)
}

// leave records the differences of all functions except the known ones as unexplained.
func (f *callerFinder) leave(known map[int32]bool) {
	nodes := f.tree.Nodes
	f.left = make([]int64, len(nodes))
	for i := 1; i < len(nodes); i++ {
		if n := &nodes[i]; !known[n.Func] {
			f.left[i] = recording.Saturated(n.B.Self, -n.A.Self)
		}
	}
}

// nodes returns the nodes of a function.
func (f *callerFinder) nodes(fn int32) []int32 { return f.of[f.from[fn]:f.from[fn+1]] }

// largest returns the row with the largest unexplained difference, of those whose
// difference is mostly unexplained and unlike that of the rest of the program.
func (f *callerFinder) largest() (best *compare.Row) {
	sums := slices.Clone(f.left)
	for i := len(sums) - 1; i > 0; i-- {
		recording.Add(&sums[f.tree.Nodes[i].Parent], sums[i])
	}
	most := int64(0)
	for fn, r := range f.rows {
		left := int64(0)
		for _, i := range f.nodes(fn) {
			if f.outer[i] {
				recording.Add(&left, sums[i])
			}
		}
		d := r.DeltaTotal()
		if (left < 0) != (d < 0) || part(left, d) < unexplained {
			delete(f.rows, fn)
			continue
		}
		if size := recording.Abs(left); f.standsOut(r) && !f.moved(r) && (size > most || size == most && (best == nil || r.Key < best.Key)) {
			best, most = r, size
		}
	}
	return best
}

// part returns the size of a difference as a part of another's.
func part(v, of int64) float64 {
	return float64(recording.Abs(v)) / float64(recording.Abs(of))
}

// standsOut reports whether a function changed differently from the rest of the program.
func (f *callerFinder) standsOut(r *compare.Row) bool {
	root := &f.tree.Nodes[0]
	a, b := float64(root.A.Total), float64(root.B.Total)
	restA, restB := a-float64(r.ATotal), b-float64(r.BTotal)
	if restA <= (1-wholeShare)*a && restB <= (1-wholeShare)*b {
		return false
	}
	expected := 0.0
	if restA > 0 {
		expected = (max(restB, 0)/restA - 1) * float64(r.ATotal)
	}
	d := float64(r.DeltaTotal())
	return max(d-expected, expected-d) >= unexplained*max(d, -d)
}

// moved reports whether a function is on one side only and its cost came from, or went to,
// others below the same functions: a call was put in between, or replaced.
func (f *callerFinder) moved(r *compare.Row) bool {
	if !r.OneSided() {
		return false
	}
	nodes, above, sum := f.tree.Nodes, map[int32]bool{}, int64(0)
	for _, i := range f.nodes(r.Key) {
		at := nodes[i].Parent
		for at != 0 && nodes[at].A.Here != nodes[at].B.Here {
			at = nodes[at].Parent
		}
		if !above[at] {
			above[at] = true
			recording.Add(&sum, recording.Saturated(nodes[at].B.Total, -nodes[at].A.Total))
		}
	}
	d := r.DeltaTotal()
	return (sum < 0) != (d < 0) || part(sum, d) < unexplained
}

// descend returns the innermost function below a row's with nearly the whole change.
func (f *callerFinder) descend(r *compare.Row) Caller {
	whole, seen := r.DeltaTotal(), map[int32]bool{}
	for {
		seen[r.Key] = true
		calls := f.calls(r)
		if len(calls) == 0 || calls[0].Func < 0 || calls[0].Status != compare.Changed || part(calls[0].Delta, whole) < nearly {
			break
		}
		next := f.rows[calls[0].Func]
		if next == nil || seen[next.Key] || (next.DeltaTotal() < 0) != (whole < 0) {
			break
		}
		r = next
	}
	caller := Caller{Row: r, Delta: r.DeltaTotal(), From: -1, Calls: f.calls(r)}
	if from, d := f.calledBy(r); from > 0 && part(d, caller.Delta) >= nearly {
		caller.From = from
	}
	return caller
}

// climb returns the outermost function above a row's that changed as much, through calls
// from one to the next.
func (f *callerFinder) climb(r *compare.Row) *compare.Row {
	seen := map[int32]bool{}
	for {
		seen[r.Key] = true
		from, d := f.calledBy(r)
		above := f.rows[f.tree.Nodes[from].Func]
		if above == nil || seen[above.Key] || part(d, r.DeltaTotal()) < nearly || part(r.DeltaTotal(), above.DeltaTotal()) < nearly ||
			(above.DeltaTotal() < 0) != (r.DeltaTotal() < 0) || !f.standsOut(above) {
			return r
		}
		r = above
	}
}

// calledBy returns a node of the function whose calls of a row's function differ most, and
// by how much.
func (f *callerFinder) calledBy(r *compare.Row) (from int, most int64) {
	sums, first := map[int32]int64{}, map[int32]int32{}
	for _, i := range f.nodes(r.Key) {
		if !f.outer[i] {
			continue
		}
		n := &f.tree.Nodes[i]
		fn := f.tree.Nodes[n.Parent].Func
		sums[fn] = recording.Saturated(sums[fn], recording.Saturated(n.B.Total, -n.A.Total))
		if _, ok := first[fn]; !ok {
			first[fn] = n.Parent
		}
	}
	for fn, d := range sums {
		if node := int(first[fn]); (d < 0) == (r.DeltaTotal() < 0) && (recording.Abs(d) > recording.Abs(most) || d == most && node < from) {
			from, most = node, d
		}
	}
	return from, most
}

// calls returns the callees of a row's function that account for its change.
func (f *callerFinder) calls(r *compare.Row) (all []Callee) {
	type sum struct {
		Callee
		here [2]bool
		most int64
	}
	by := map[int32]*sum{}
	own := &sum{Callee: Callee{Func: -1}, here: [2]bool{true, true}}
	add := func(s *sum, node int, d int64) {
		recording.Add(&s.Delta, d)
		if size := recording.Abs(d); size >= s.most {
			s.Node, s.most = node, size
		}
	}
	var visit func(i int32)
	visit = func(i int32) {
		n := &f.tree.Nodes[i]
		add(own, int(i), recording.Saturated(n.B.Self, -n.A.Self))
		for _, k := range f.tree.Children(int(i)) {
			kid := &f.tree.Nodes[k]
			if kid.Func == r.Key {
				visit(k)
				continue
			}
			s := by[kid.Func]
			if s == nil {
				s = &sum{Callee: Callee{Func: kid.Func}}
				by[kid.Func] = s
			}
			s.here[0], s.here[1] = s.here[0] || kid.A.Here, s.here[1] || kid.B.Here
			add(s, int(k), recording.Saturated(kid.B.Total, -kid.A.Total))
		}
	}
	for _, i := range f.nodes(r.Key) {
		if f.outer[i] {
			visit(i)
		}
	}
	by[-1] = own
	d := r.DeltaTotal()
	for _, s := range by {
		if s.Delta == 0 || (s.Delta < 0) != (d < 0) {
			continue
		}
		switch {
		case !s.here[0]:
			s.Status = compare.New
		case !s.here[1]:
			s.Status = compare.Gone
		default:
			s.Status = compare.Changed
		}
		all = append(all, s.Callee)
	}
	order.By(all, func(x, y Callee) int {
		return cmp.Or(cmp.Compare(recording.Abs(y.Delta), recording.Abs(x.Delta)), cmp.Compare(x.Func, y.Func))
	})
	largest := int64(0)
	return slices.DeleteFunc(all, func(k Callee) bool {
		if k.Func >= 0 {
			largest = max(largest, recording.Abs(k.Delta))
			return part(k.Delta, largest) < leastCall
		}
		return part(k.Delta, all[0].Delta) < leastCall
	})
}

// explain marks all that runs in a function as explained.
func (f *callerFinder) explain(fn int32) {
	below := make([]bool, len(f.left))
	for i := 1; i < len(below); i++ {
		if n := &f.tree.Nodes[i]; n.Func == fn || below[n.Parent] {
			below[i], f.left[i] = true, 0
		}
	}
	delete(f.rows, fn)
}
