package match

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// mostNumbered bounds the closures of one function that are put in order.
const mostNumbered = 64

// numbered lists groups of closures and lambdas that differ only by their number, if a
// side has several. Compilers number them in source order, so a new one shifts the
// numbers of all that follow.
func (r *renamer) numbered() (groups [][2][]int32) {
	by := map[string]*[2][]int32{}
	for f := range r.m.Funcs {
		fn := &r.m.Funcs[f]
		if !strings.ContainsAny(fn.Name, "0123456789") || fn.Rule() == RuleHand {
			continue
		}
		key := normalName(fn.Name)
		if key == fn.Name && !strings.ContainsAny(key, "0") {
			continue
		}
		g := by[key]
		if g == nil {
			g = new([2][]int32)
			by[key] = g
		}
		a, b := r.has(int32(f))
		if a {
			g[0] = append(g[0], int32(f))
		}
		if b {
			g[1] = append(g[1], int32(f))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(by)) {
		g := by[key]
		if n := max(len(g[0]), len(g[1])); n < 2 || n > mostNumbered || len(g[0]) == 0 || len(g[1]) == 0 {
			continue
		}
		for side := range g {
			slices.SortFunc(g[side], func(x, y int32) int { return compareNumbers(r.name(side, x).Name, r.name(side, y).Name) })
		}
		groups = append(groups, *g)
	}
	return groups
}

// compareNumbers orders names by the numbers in them.
func compareNumbers(a, b string) int {
	for {
		i, j := strings.IndexAny(a, "0123456789"), strings.IndexAny(b, "0123456789")
		if i < 0 || j < 0 || a[:i] != b[:j] {
			return strings.Compare(a, b)
		}
		x, y := strings.TrimLeft(a[i:], "0"), strings.TrimLeft(b[j:], "0")
		n := len(x) - len(strings.TrimLeft(x, "0123456789"))
		m := len(y) - len(strings.TrimLeft(y, "0123456789"))
		if c := cmp.Or(cmp.Compare(n, m), strings.Compare(x[:n], y[:m])); c != 0 {
			return c
		}
		a, b = x[n:], y[m:]
	}
}

// renumber matches numbered functions by their order, if their callers, callees and costs
// then agree much better than with equal numbers.
func (r *renamer) renumber(groups [][2][]int32) (pairs []match) {
	const better = .4 // how much higher the sum of likenesses must be
	for _, g := range groups {
		as, bs := g[0], g[1]
		like := make([][]float64, len(as))
		now := 0.0
		for i, a := range as {
			like[i] = make([]float64, len(bs))
			for j, b := range bs {
				if v := r.alike(r.traits[0][a], r.traits[1][b]); v >= .5 {
					like[i][j] = v
				}
				if a == b {
					now += like[i][j]
				}
			}
		}
		best, order := align(like)
		if best < now+better {
			continue
		}
		kept := false
		var found []match
		for i, j := range order {
			if j < 0 || as[i] == bs[j] {
				continue
			}
			m := match{as[i], bs[j], like[i][j]}
			kept = kept || r.isApart(m)
			found = append(found, m)
		}
		if !kept {
			pairs = append(pairs, found...)
		}
	}
	return pairs
}

// align returns the order-preserving pairs with the highest sum of likenesses: for each
// item on the first side its partner, or -1.
func align(like [][]float64) (best float64, order []int) {
	n, m := len(like), len(like[0])
	sums := make([][]float64, n+1)
	for i := range sums {
		sums[i] = make([]float64, m+1)
	}
	for i := n - 1; i >= 0; i-- {
		for j := m - 1; j >= 0; j-- {
			sums[i][j] = max(sums[i+1][j], sums[i][j+1], like[i][j]+sums[i+1][j+1])
		}
	}
	order = make([]int, n)
	for i, j := 0, 0; i < n; i++ {
		order[i] = -1
		for j < m && sums[i][j] == sums[i][j+1] && sums[i][j] > sums[i+1][j] {
			j++
		}
		if j < m && like[i][j] > 0 && sums[i][j] == like[i][j]+sums[i+1][j+1] {
			order[i] = j
			j++
		}
	}
	return sums[0][0], order
}

// keepRule keeps the rules that matched a function before.
const keepRule Rule = "keep"

// repaired returns the matching with each pair combined into one function; former
// partners of the pair's functions stay unmatched. at are the indices of the combined
// functions.
func (r *renamer) repaired(pairs []match) (out *Matching, at []int32) {
	m, sides := r.m, r.sides
	out = &Matching{base: m, IDs: make([][]int32, len(m.IDs))}
	for k := range m.IDs {
		out.IDs[k] = make([]int32, len(m.IDs[k]))
	}
	var partner [2]map[int32]int // the pair of each paired function, by side
	for side := range partner {
		partner[side] = map[int32]int{}
	}
	for k, p := range pairs {
		partner[0][p.a], partner[1][p.b] = k, k
	}
	at = make([]int32, len(pairs))
	add := func(a, b int32, rule Rule) int32 {
		at := int32(len(out.Funcs))
		f := Func{In: make([]int32, len(m.IDs)), By: make([]Rule, len(m.IDs))}
		for k := range f.In {
			from := a
			if k >= sides {
				from = b
			}
			if f.In[k] = -1; from < 0 || m.Funcs[from].In[k] < 0 {
				continue
			}
			f.In[k], f.By[k] = m.Funcs[from].In[k], m.Funcs[from].By[k]
			if k >= sides && rule != keepRule {
				f.By[k] = rule
			}
			out.IDs[k][f.In[k]] = at
		}
		fn := r.function(0, max(a, 0))
		if a < 0 || fn.Name == "" && fn.Module == "" {
			fn = r.function(1, b)
		}
		f.FuncName, f.File = fn.FuncName(), fn.File
		out.Funcs = append(out.Funcs, f)
		return at
	}
	for f := range m.Funcs {
		f := int32(f)
		k, inA := partner[0][f]
		_, inB := partner[1][f]
		onA, onB := r.has(f)
		switch {
		case inA:
			at[k] = add(f, pairs[k].b, RuleRenamed)
			if !inB && onB {
				add(-1, f, Unmatched)
			}
		case inB:
			if onA {
				add(f, -1, Unmatched)
			}
		default:
			add(f, f, keepRule)
		}
	}
	return out, at
}
