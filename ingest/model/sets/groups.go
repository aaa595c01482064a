package sets

// Groups groups indices by key. The zero value is empty. A Groups is meant to be reused,
// because it keeps its memory.
type Groups struct {
	slot   []int32 // 1 + the group of a key; 0 for none
	seen   []int32 // keys, in order of first occurrence
	of     []int32 // the key of each index
	ends   []int32 // ends of groups in places
	places []int32
}

// By groups the indices 0 to n-1 by their keys, which are below most.
func (g *Groups) By(n, most int, of func(i int) int32) {
	if len(g.slot) < most {
		g.slot = make([]int32, 2*most)
	}
	if len(g.places) < n {
		g.places, g.of = make([]int32, n), make([]int32, n)
	}
	g.seen, g.ends = g.seen[:0], g.ends[:0]
	for i := range n {
		k := of(i)
		g.of[i] = k
		if g.slot[k] == 0 {
			g.seen, g.ends = append(g.seen, k), append(g.ends, 0)
			g.slot[k] = int32(len(g.seen))
		}
		g.ends[g.slot[k]-1]++
	}
	sum := int32(0)
	for i, n := range g.ends {
		g.ends[i] = sum // the start of the group; becomes its end as places are filled
		sum += n
	}
	for i, k := range g.of[:n] {
		end := &g.ends[g.slot[k]-1]
		g.places[*end] = int32(i)
		*end++
	}
	for _, k := range g.seen {
		g.slot[k] = 0
	}
}

// Len returns the number of groups.
func (g *Groups) Len() int { return len(g.seen) }

// Of returns the indices in a group, in order.
func (g *Groups) Of(i int) []int32 {
	if i == 0 {
		return g.places[:g.ends[0]]
	}
	return g.places[g.ends[i-1]:g.ends[i]]
}
