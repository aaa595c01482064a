package analyze

import (
	"cmp"
	"slices"

	"ashlar/ingest/model/recording"
)

// Neighbours holds a function with its direct callers and callees.
type Neighbours struct {
	// Function is the function with its own self, total and count. If a reference stands
	// for several functions, Func is the first one found.
	Function Row
	// Callers are sorted by total, heaviest first. Total is the weight of the stacks in
	// which the caller calls the function directly, each stack counted once. Self and
	// Count are the weight and number of the stacks that end in the function when called
	// by this caller, so the callers' Self add up to the function's. Calls without a
	// caller are in the row [outermost].
	Callers []Row
	// Callees are the functions called directly. Total is the weight of the stacks in
	// which the function calls the callee directly, each stack counted once. Self and
	// Count are the weight and number of the stacks that end in the callee when called by
	// the function.
	Callees []Row
}

// outermostRow is the caller of outermost calls.
const outermostRow = "[outermost]"

// Around returns the callers and callees of a function. If the reference stands for
// several functions, they are treated as one. A function that calls itself is its own
// caller and callee. If the tree has groups in place of functions, callers and callees
// are groups.
func Around(rec *recording.Recording, t *Tree, of Ref) Neighbours {
	if t.upright != nil {
		t = t.upright
	}
	match := of.matcher(rec, t.Groups)
	known := make([]int8, rec.Functions.Len()+len(t.Groups))
	is := func(node int) bool {
		if node == 0 {
			return false
		}
		k := t.key(rec, node)
		if known[k] == 0 {
			known[k] = -1
			if f := t.Function(rec, node); match(&f) {
				known[k] = 1
			}
		}
		return known[k] > 0
	}
	group, rows := groups(rec, t, ByFunction)
	rows[0].Name = outermostRow
	callers, callees := sides(rows), sides(rows)
	var n Neighbours
	depth := 0 // number of the function's calls on the current path
	t.walk(func(i int) {
		if i == 0 {
			return
		}
		nd := &t.Nodes[i]
		if is(i) {
			if depth == 0 {
				if n.Function.Name == "" {
					n.Function = t.row(rec, i, ByFunction)
				}
				recording.Add(&n.Function.Total, nd.Total)
			}
			recording.Add(&n.Function.Self, nd.Self)
			n.Function.Count += nd.Count
			depth++
			callers.enter(group[nd.Parent], nd)
		}
		if is(int(nd.Parent)) {
			callees.enter(group[i], nd)
		}
	}, func(i int) {
		if i == 0 {
			return
		}
		parent := t.Nodes[i].Parent
		if is(i) {
			depth--
			callers.on[group[parent]]--
		}
		if is(int(parent)) {
			callees.on[group[i]]--
		}
	})
	n.Callers, n.Callees = callers.used(), callees.used()
	return n
}

// side holds the rows for one side of a function, callers or callees.
type side struct {
	rows []Row
	seen []bool
	on   []int32 // how often a row's function is next to the function on the current path
}

func sides(rows []Row) *side {
	return &side{slices.Clone(rows), make([]bool, len(rows)), make([]int32, len(rows))}
}

// enter adds a node to a row. Its total counts only if no node above it is already in the
// row.
func (s *side) enter(row int32, nd *Node) {
	r := &s.rows[row]
	if s.on[row] == 0 {
		recording.Add(&r.Total, nd.Total)
	}
	recording.Add(&r.Self, nd.Self)
	r.Count += nd.Count
	s.on[row]++
	s.seen[row] = true
}

// used returns the rows that have a node, heaviest total first.
func (s *side) used() []Row {
	var out []Row
	for i, r := range s.rows {
		if s.seen[i] {
			out = append(out, r)
		}
	}
	SortRows(out)
	slices.SortStableFunc(out, func(a, b Row) int { return cmp.Compare(b.Total, a.Total) })
	return out
}
