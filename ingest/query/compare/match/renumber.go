package match

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// mostNumbered bounds the closures of one function that are put in order.
const mostNumbered = 64

// numbered lists the closures and lambdas that differ by their number alone and of which
// a side has several: compilers number them in the order of the source, so that a new one
// shifts all behind it.
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

// compareNumbers orders names with numbers in them by these.
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

// renumber matches numbered functions in their order wherever that agrees much better
// with what they do than their numbers.
func (r *renamer) renumber(groups [][2][]int32) (pairs []match) {
	const better = .4 // by how much likenesses have to add up to more
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

// align finds the pairs in both orders whose likenesses add up to most: for each of the
// first what it goes with, -1 for none.
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

// keepRule keeps the rules by which a function was matched.
const keepRule Rule = "keep"

// repaired is the matching with pairs of a function of A and one of B put together;
// what these were matched with before is left alone. at are the pairs' functions in it.
func (r *renamer) repaired(pairs []match) (out *Matching, at []int32) {
	m, sides := r.m, r.sides
	out = &Matching{base: m, IDs: make([][]int32, len(m.IDs))}
	for k := range m.IDs {
		out.IDs[k] = make([]int32, len(m.IDs[k]))
	}
	var partner [2]map[int32]int // the pair that a function's side is in
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
