package analyze

import "ashlar/ingest/model/recording"

// Walk visits the calls of weights along their paths, without making a tree. enter is
// called for each call that joins the path from the root, and leave when it leaves the
// path, with the weight of the calls visited in between, the call itself included; any
// reports whether one of them has a weight or a count. A call joins the path again if more
// calls below it follow, so its total is the sum over all its visits.
//
// Neighbouring calls mostly lie on neighbouring paths, because calls are numbered as they
// occur, and their memory is near. So calls are visited by number, which moves the path
// from one to the next. If that moves too much, as when two deep stacks grow by turns, the
// rest is visited depth first.
func (w *Weights) Walk(rec *recording.Recording, enter func(call recording.CallID), leave func(call recording.CallID, sum int64, any bool)) {
	k := callWalk{calls: &rec.Calls, w: w, enter: enter, leave: leave, path: make([]callStep, 1, 64)}
	n := min(rec.Calls.Len(), max(1, len(w.Self)))
	moves := 4*n + 1000
	for c := recording.CallID(1); int(c) < n; c++ {
		if moves -= k.goTo(k.calls.Parent(c)); moves < 0 {
			k.cut(1)
			k.depthFirst(c, n)
			return
		}
		k.push(c, true)
	}
	k.cut(1)
}

// callStep is a call on the path, with the sum of the weights visited since it joined.
type callStep struct {
	call recording.CallID
	any  bool
	sum  int64
}

type callWalk struct {
	calls   *recording.Calls
	w       *Weights
	path    []callStep // from the root; the numbers of the calls ascend
	missing []recording.CallID
	enter   func(call recording.CallID)
	leave   func(call recording.CallID, sum int64, any bool)
}

// push extends the path; visit adds the call's own weight.
func (k *callWalk) push(c recording.CallID, visit bool) {
	s := callStep{call: c}
	if visit {
		s.sum = k.w.Self[c]
		s.any = s.sum != 0 || k.w.Count[c] != 0
	}
	k.path = append(k.path, s)
	k.enter(c)
}

// pop shortens the path by a call.
func (k *callWalk) pop() {
	last := len(k.path) - 1
	s, up := &k.path[last], &k.path[last-1]
	k.leave(s.call, s.sum, s.any)
	recording.Add(&up.sum, s.sum)
	up.any = up.any || s.any
	k.path = k.path[:last]
}

// cut shortens the path to a length.
func (k *callWalk) cut(n int) {
	for len(k.path) > n {
		k.pop()
	}
}

// goTo makes the path the one to a call and returns how many calls joined it.
func (k *callWalk) goTo(c recording.CallID) int {
	k.missing = k.missing[:0]
	for at := c; ; at = k.calls.Parent(at) {
		for k.path[len(k.path)-1].call > at {
			k.pop()
		}
		if k.path[len(k.path)-1].call == at {
			break
		}
		k.missing = append(k.missing, at)
	}
	for i := len(k.missing) - 1; i >= 0; i-- {
		k.push(k.missing[i], false)
	}
	return len(k.missing)
}

// depthFirst visits the calls from..n-1, with the paths to them.
func (k *callWalk) depthFirst(from recording.CallID, n int) {
	first, next := make([]recording.CallID, n), make([]recording.CallID, n)
	for c := recording.CallID(n - 1); c > 0; c-- {
		p := k.calls.Parent(c)
		next[c], first[p] = first[p], c
	}
	for c := first[0]; c != 0; {
		k.push(c, c >= from)
		if first[c] != 0 {
			c = first[c]
			continue
		}
		for c != 0 && next[c] == 0 { // go up until a call has a next sibling
			k.pop()
			c = k.path[len(k.path)-1].call
		}
		if c != 0 {
			k.pop()
			c = next[c]
		}
	}
}

// Outermost reports for each of n nodes of a tree, whose parents have smaller numbers,
// whether no node above it, except the root (node 0), has the same row. rows is the number
// of rows; a negative row means none.
func Outermost(n int, parent func(i int32) int32, row []int32, rows int) []bool {
	o := outermost{parent: parent, row: row, on: make([]int32, rows), outer: make([]bool, n), path: make([]int32, 1, 64)}
	moves := 4*n + 1000
	for i := int32(1); int(i) < n; i++ {
		if moves -= o.goTo(parent(i)); moves < 0 {
			o.depthFirst(n)
			break
		}
		o.push(i)
	}
	return o.outer
}

type outermost struct {
	parent        func(i int32) int32
	row, on       []int32 // on is how often a row is on the path
	outer         []bool
	path, missing []int32 // see callWalk
}

func (o *outermost) push(i int32) {
	o.path = append(o.path, i)
	if r := o.row[i]; r >= 0 {
		o.outer[i] = o.on[r] == 0
		o.on[r]++
	}
}

func (o *outermost) pop() {
	last := len(o.path) - 1
	if r := o.row[o.path[last]]; r >= 0 {
		o.on[r]--
	}
	o.path = o.path[:last]
}

// goTo makes the path the one to a node and returns how many nodes joined it.
func (o *outermost) goTo(i int32) int {
	o.missing = o.missing[:0]
	for at := i; ; at = o.parent(at) {
		for o.path[len(o.path)-1] > at {
			o.pop()
		}
		if o.path[len(o.path)-1] == at {
			break
		}
		o.missing = append(o.missing, at)
	}
	for k := len(o.missing) - 1; k >= 0; k-- {
		o.push(o.missing[k])
	}
	return len(o.missing)
}

// depthFirst visits all nodes again, depth first.
func (o *outermost) depthFirst(n int) {
	for len(o.path) > 1 {
		o.pop()
	}
	first, next := make([]int32, n), make([]int32, n)
	for i := int32(n - 1); i > 0; i-- {
		p := o.parent(i)
		next[i], first[p] = first[p], i
	}
	for i := first[0]; i != 0; {
		o.push(i)
		if first[i] != 0 {
			i = first[i]
			continue
		}
		for i != 0 && next[i] == 0 { // go up until a node has a next sibling
			o.pop()
			i = o.path[len(o.path)-1]
		}
		if i != 0 {
			o.pop()
			i = next[i]
		}
	}
}
