package match

import (
	"cmp"
	"iter"
	"maps"
	"math"
	"slices"
	"strings"

	"ashlar/ingest/model/order"
	"ashlar/ingest/model/recording"
)

// RuleRenamed matches functions that are on one side only, by their callers, callees and
// cost. See [Matching.Renamed].
const RuleRenamed Rule = "renamed"

// A Rename is a function found under another name.
type Rename struct {
	A, B recording.FuncName
	// Func is the function's index in Matching.Funcs. Likeness, from 0 to 1, is how much
	// the two agree in callers, callees, cost and name, without callees that changed.
	Func     int32
	Likeness float64
}

const (
	// mostRenames limits the number of functions per side that are compared with the
	// other side's.
	mostRenames = 384
	// leastCost is the least part of a side's total that a function must cost to be
	// compared.
	leastCost = 1e-3
	// alikeNames is the smallest likeness at which a pair matches if half of the letters
	// of the names are the same, strangers the smallest if not. Functions that call
	// nothing have only their cost and number of calls to compare; for them leaves and
	// leafCalls are the smallest likeness of these two.
	alikeNames, strangers, leaves = .8, .9, .95
	leafCalls                     = .99
	// fewestSamples is the number of samples that a sampled function needs to be compared: a
	// few say nothing about its callers, callees and cost.
	fewestSamples = 8
	// leafSelf is the smallest part of a function's total that must be self for the
	// function to count as calling nothing.
	leafSelf = .9
	// sameCallee is the smallest ratio of the costs of a callee of two functions for it to
	// count as unchanged. leastKept is the smallest part of a function's total that must be
	// left without changed callees.
	sameCallee   = .8
	leastKept    = .25
	renameRounds = 12
)

// trait describes what a function does on one side.
type trait struct {
	total, above     float64 // above is the cost of its callers
	calls            float64
	callers, callees map[int32]float64
}

type renamer struct {
	m      *Matching
	recs   []*recording.Recording
	sides  int
	apart  []Pair
	spans  bool           // counts are numbers of calls
	alias  []int32        // for a function of B, its counterpart in A; indexed by function
	known  map[int32]bool // functions of A that have an alias
	traits [2]map[int32]*trait
}

// nobody stands for all functions that are on one side only.
const nobody = -2

// Costs are the costs of functions on both sides, by which renamed functions are found.
type Costs struct {
	// Calls reports whether counts are numbers of calls.
	Calls bool
	// Total is the cost of A and of B, Samples the number of samples behind it; 0 if unknown.
	Total, Samples [2]int64
	// Funcs is the number of functions in the tree; the functions of the matching come
	// first.
	Funcs int
	// Nodes yields all nodes of the tree of both sides except the root.
	Nodes iter.Seq[Node]
}

// Node is a node of the tree of both sides: what a function costs below a caller, which is -1
// for outermost functions.
type Node struct {
	Func, Caller int32
	On           [2]Amount // of A and B
}

// An Amount is the cost of a node on one side; Above is the cost of its caller. All
// fields are zero if the side does not have the node (Here is false).
type Amount struct {
	Here                      bool
	Self, Total, Count, Above int64
}

func newRenamer(m *Matching, recs []*recording.Recording, sides int, o Options, funcs int) *renamer {
	r := &renamer{m: m, recs: recs, sides: sides, apart: o.Apart, alias: make([]int32, funcs), known: map[int32]bool{}}
	for f := range r.alias {
		r.alias[f] = int32(f)
	}
	return r
}

// MayRename reports whether a function of the recordings could have been renamed. The
// first sides recordings are those of side A.
func (m *Matching) MayRename(recs []*recording.Recording, sides int, o Options) bool {
	if o.NoRenamed {
		return false
	}
	r := newRenamer(m, recs, sides, o, 0)
	alone := r.alone()
	return len(alone[0]) > 0 && len(alone[1]) > 0 || len(r.numbered()) > 0
}

// Renamed finds the functions with another name on the other side, and returns a matching
// that combines them. Callers are matched before their callees, so that a whole subtree
// can have new names.
func (m *Matching) Renamed(recs []*recording.Recording, sides int, o Options, costs Costs) (*Matching, []Rename) {
	r := newRenamer(m, recs, sides, o, costs.Funcs)
	r.spans = costs.Calls
	alone, numbered := r.alone(), r.numbered()
	r.measure(alone, numbered, costs.Nodes)
	pairs := r.renumber(numbered)
	taken := map[int32]bool{}
	for _, p := range pairs {
		taken[p.a], taken[p.b] = true, true
	}
	for side := range alone {
		alone[side] = r.costly(side, alone[side], taken, costs)
	}
	pairs = append(pairs, r.pair(alone)...)
	if len(pairs) == 0 {
		return m, nil
	}
	order.By(pairs, func(x, y match) int { return cmp.Compare(r.cost(y), r.cost(x)) })
	repaired, at := r.repaired(pairs)
	out := make([]Rename, len(pairs))
	for i, p := range pairs {
		out[i] = Rename{A: r.name(0, p.a), B: r.name(1, p.b), Func: at[i], Likeness: p.like}
	}
	return repaired, out
}

// alone lists the functions on one side only.
func (r *renamer) alone() (alone [2][]int32) {
	for f := range r.m.Funcs {
		switch a, b := r.has(int32(f)); {
		case a && !b:
			alone[0] = append(alone[0], int32(f))
		case b && !a:
			alone[1] = append(alone[1], int32(f))
		}
	}
	return alone
}

// cost returns the larger cost of a pair of functions.
func (r *renamer) cost(m match) float64 { return max(r.traits[0][m.a].total, r.traits[1][m.b].total) }

func (r *renamer) has(f int32) (a, b bool) {
	for k, i := range r.m.Funcs[f].In {
		if i >= 0 && k < r.sides {
			a = true
		} else if i >= 0 {
			b = true
		}
	}
	return a, b
}

// name returns the name of a function on a side.
func (r *renamer) name(side int, f int32) recording.FuncName {
	fn := r.function(side, f)
	return fn.FuncName()
}

func (r *renamer) function(side int, f int32) (fn recording.Function) {
	for k, i := range r.m.Funcs[f].In {
		if i >= 0 && (k >= r.sides) == (side == 1) {
			return r.recs[k].Functions.At(int(i))
		}
	}
	return fn
}

// measure collects the traits of the functions to compare.
func (r *renamer) measure(alone [2][]int32, numbered [][2][]int32, nodes iter.Seq[Node]) {
	for side := range r.traits {
		r.traits[side] = map[int32]*trait{}
		want := func(fs []int32) {
			for _, f := range fs {
				r.traits[side][f] = &trait{callers: map[int32]float64{}, callees: map[int32]float64{}}
			}
		}
		want(alone[side])
		for _, g := range numbered {
			want(g[side])
		}
	}
	for n := range nodes {
		for side := range n.On {
			amount := &n.On[side]
			if x := r.traits[side][n.Func]; x != nil && amount.Here {
				v := float64(amount.Total)
				x.total += v
				x.calls += float64(amount.Count)
				x.callers[n.Caller] += v
				x.callees[-1] += float64(amount.Self)
				x.above += float64(amount.Above)
			}
			if x := r.traits[side][n.Caller]; x != nil && amount.Here {
				x.callees[n.Func] += float64(amount.Total)
			}
		}
	}
}

// costly returns the costliest functions of a side, at most mostRenames.
func (r *renamer) costly(side int, fs []int32, taken map[int32]bool, costs Costs) []int32 {
	least := leastCost
	if n := costs.Samples[side]; n > 0 && !costs.Calls {
		least = max(least, fewestSamples/float64(n))
	}
	least *= float64(costs.Total[side])
	fs = slices.DeleteFunc(slices.Clone(fs), func(f int32) bool { return taken[f] || r.traits[side][f].total < least })
	order.By(fs, func(a, b int32) int {
		return cmp.Or(cmp.Compare(r.traits[side][b].total, r.traits[side][a].total), strings.Compare(r.m.Funcs[a].Name, r.m.Funcs[b].Name), cmp.Compare(a, b))
	})
	return fs[:min(len(fs), mostRenames)]
}

// match is a pair of functions of A and B that are assumed to be the same.
type match struct {
	a, b int32
	like float64
}

// pair matches functions on one side only, the most alike first.
func (r *renamer) pair(alone [2][]int32) (pairs []match) {
	taken := map[int32]bool{}
	for range renameRounds {
		var found []match
		for _, a := range alone[0] {
			for _, b := range alone[1] {
				if taken[a] || taken[b] {
					continue
				}
				if m := (match{a, b, r.like(a, b)}); m.like > 0 && !r.isApart(m) {
					found = append(found, m)
				}
			}
		}
		order.By(found, func(x, y match) int {
			return cmp.Or(cmp.Compare(y.like, x.like), strings.Compare(r.m.Funcs[x.a].Name+r.m.Funcs[x.b].Name, r.m.Funcs[y.a].Name+r.m.Funcs[y.b].Name))
		})
		before := len(pairs)
		for _, m := range found {
			if taken[m.a] || taken[m.b] {
				continue
			}
			taken[m.a], taken[m.b] = true, true
			r.alias[m.b], r.known[m.a] = m.a, true
			pairs = append(pairs, m)
		}
		if len(pairs) == before {
			break
		}
	}
	return pairs
}

// isApart reports whether the user ruled out the pair.
func (r *renamer) isApart(m match) bool {
	a, b := r.name(0, m.a), r.name(1, m.b)
	return slices.ContainsFunc(r.apart, func(p Pair) bool { return p.A == a.String() && p.B == b.String() })
}

// like returns how much two functions agree; 0 if they do not match.
func (r *renamer) like(a, b int32) float64 {
	x, y := r.traits[0][a], r.traits[1][b]
	whole := r.alike(x, y)
	if whole < .3 {
		return 0
	}
	if a, b, ok := r.withoutChanges(x, y); ok {
		whole = max(whole, r.alike(a, b))
	}
	names := likeNames(r.name(0, a).Name, r.name(1, b).Name)
	like := whole + (1-whole)*.7*names
	switch leaf := min(x.callees[-1]/x.total, y.callees[-1]/y.total) >= leafSelf; {
	case names >= .5 && like >= alikeNames, !leaf && like >= strangers && r.related(x, y):
		return like
	case leaf && r.spans && like >= leaves && ratio(x.calls, y.calls) >= leafCalls:
		return like
	}
	return 0
}

// related reports whether two functions share a caller, or at least a quarter of their cost
// as self time and callees that both have. Without this check, functions of unrelated programs,
// such as both main functions, could match by their cost alone.
func (r *renamer) related(x, y *trait) bool {
	callers, _ := r.overlap(x.callers, y.callers, false)
	_, root := x.callers[-1] // called by none
	_, callees := r.overlap(x.callees, y.callees, true)
	return callers > 0 && !root || callees >= .25
}

// alike returns how much callers, callees and costs agree.
func (r *renamer) alike(x, y *trait) float64 {
	if x.total <= 0 || y.total <= 0 {
		return 0
	}
	cost := ratio(x.total, y.total)
	if x.above > 0 && y.above > 0 { // costs relative to the callers' costs, in case all costs differ
		cost = max(cost, ratio(x.total/x.above, y.total/y.above))
	}
	callers, _ := r.overlap(x.callers, y.callers, false)
	callees, _ := r.overlap(x.callees, y.callees, true)
	return cost * callers * callees
}

// withoutChanges returns the traits of two functions without the callees whose cost changed
// or that only one of them has: a renamed function is the same if a function that it calls
// became slower, or if it newly calls one. ok is false if there are no such callees, or if
// they are nearly all of the cost.
func (r *renamer) withoutChanges(x, y *trait) (a, b *trait, ok bool) {
	kept := [2]*trait{}
	for side, t := range [2]*trait{x, y} {
		c := *t
		c.callees = maps.Clone(t.callees)
		kept[side] = &c
	}
	drop := func(side int, f int32) {
		t := kept[side]
		v := t.callees[f]
		delete(t.callees, f)
		t.total -= v
		t.above -= v
		ok = true
	}
	var own [2][]int32 // callees that are on one side only
	for side, t := range [2]*trait{x, y} {
		for f, v := range t.callees {
			switch k := r.key(f, true); {
			case k == nobody:
				own[side] = append(own[side], f)
			case side == 1 && f >= 0:
				if u, both := x.callees[k]; both && ratio(u, v) < sameCallee {
					drop(0, k)
					drop(1, f)
				}
			}
		}
	}
	for side := range own {
		if len(own[1-side]) == 0 {
			for _, f := range own[side] {
				drop(side, f)
			}
		}
	}
	return kept[0], kept[1], ok && kept[0].total >= leastKept*x.total && kept[1].total >= leastKept*y.total
}

func ratio(x, y float64) float64 { return math.Min(x, y) / math.Max(x, y) }

// overlap returns how much two distributions of costs have in common, from 0 to 1. All
// callees that are on one side only count as the same callee; known excludes it.
func (r *renamer) overlap(x, y map[int32]float64, callees bool) (all, known float64) {
	shares := func(in map[int32]float64) map[int32]float64 {
		sum, out := 0.0, map[int32]float64{}
		for _, f := range slices.Sorted(maps.Keys(in)) { // in order, so that rounding is always the same
			v := max(0, in[f])
			sum += v
			out[r.key(f, callees)] += v
		}
		for k := range out {
			out[k] /= max(sum, 1)
		}
		return out
	}
	a, b := shares(x), shares(y)
	for _, k := range slices.Sorted(maps.Keys(a)) {
		both := math.Min(a[k], b[k])
		if all += both; k != nobody {
			known += both
		}
	}
	return min(1, all), min(1, known)
}

// key returns the function by which callers or callees of both sides are compared.
func (r *renamer) key(f int32, callee bool) int32 {
	if f < 0 {
		return f
	}
	k := r.alias[f]
	if callee && k == f && int(f) < len(r.m.Funcs) {
		if a, b := r.has(f); a != b && !r.known[f] {
			return nobody
		}
	}
	return k
}

// likeNames returns how much of two names is equal at both ends, ignoring package and
// namespace.
func likeNames(a, b string) float64 {
	a, b = leafName(normalName(a)), leafName(normalName(b))
	if a == b {
		return 1
	}
	n := min(len(a), len(b))
	pre, post := 0, 0
	for pre < n && a[pre] == b[pre] {
		pre++
	}
	for post < n-pre && a[len(a)-1-post] == b[len(b)-1-post] {
		post++
	}
	return float64(pre+post) / float64(max(len(a), len(b)))
}

// leafName returns a name without its package or namespace.
func leafName(name string) string {
	head, _, _ := strings.Cut(name, "(")
	if i := strings.LastIndex(head, "::"); i >= 0 {
		return name[i+2:]
	}
	i := strings.LastIndexByte(head, '/') + 1
	if j := strings.IndexByte(name[i:], '.'); j >= 0 && i+j+1 < len(name) {
		return name[i+j+1:]
	}
	return name[i:]
}
