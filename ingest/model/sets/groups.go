package sets

// Groups puts things together that are of the same: it has their places by what they are of. Its zero value is empty; it is
// used again and again, since it keeps its memory.
type Groups struct {
	slot   []int32 // 1 + the group of a number; 0 for none
	seen   []int32 // numbers, in the order in which they came
	of     []int32 // the number of each thing
	ends   []int32 // of groups in places
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
		g.ends[i] = sum // where it begins, and once places are known ends
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

// Len is how many groups there are.
func (g *Groups) Len() int { return len(g.seen) }

// Of are the places of the things of a group, in order.
func (g *Groups) Of(i int) []int32 {
	if i == 0 {
		return g.places[:g.ends[0]]
	}
	return g.places[g.ends[i-1]:g.ends[i]]
}
