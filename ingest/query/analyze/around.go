package analyze

import (
	"cmp"
	"slices"

	"ashlar/ingest/model/recording"
)

// Neighbours are a function and what is directly around it in stacks.
type Neighbours struct {
	// Function has the function's own self, total and count; its Func is the
	// first of them where a reference stands for several.
	Function Row
	// Callers have as Total the weight of the stacks in which they call the
	// function directly, each stack once, as Self that of the stacks which end
	// there, and as Count these stacks' number. So the callers' Self add up to
	// the function's; calls from nobody are in the row [outermost]. Heaviest
	// total first.
	Callers []Row
	// Callees have as Total the weight of the stacks in which the function calls
	// them directly, each stack once, and as Self and Count that of the stacks
	// which end there.
	Callees []Row
}

// outermostRow is the caller of functions that nobody calls.
const outermostRow = "[outermost]"

// Around describes the callers and callees of a function: of those that a
// reference stands for, as if they were one. A function that calls itself is
// its own caller and callee. Where the tree's groups stand for functions, these
// are what is called.
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
	depth := 0 // how many of the function are on the path
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

// side lists one side of a function: rows like those of a table.
type side struct {
	rows []Row
	seen []bool
	on   []int32 // how often a row is beside the function on the path now
}

func sides(rows []Row) *side {
	return &side{slices.Clone(rows), make([]bool, len(rows)), make([]int32, len(rows))}
}

// enter adds a node to a row: all of its weight, unless it is below another
// that has been added.
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

// used are the rows that were entered, heaviest total first.
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
