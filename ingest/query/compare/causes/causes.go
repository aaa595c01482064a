// Package causes explains the differences of a comparison: functions that changed alone,
// and groups of functions between which cost moved.
package causes

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"ashlar/ingest/model/order"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/compare"
	"ashlar/ingest/query/compare/stats"
)

// A Cause is one part of the difference: a function, a group of functions between which
// cost moved, or a function on one side only, together with everything that only it
// calls.
type Cause struct {
	Kind Kind
	// Rows are rows of a table by functions; the first names the cause.
	Rows []*compare.Row
	// Delta is the sum of the rows' differences in self. Cost that moved between the rows
	// cancels out.
	Delta int64
	// Sure is the confidence that Delta is not 0; nil if unknown.
	Sure *compare.Confidence
}

// A Kind is the reason why the rows of a cause belong together.
type Kind string

// Kinds of causes.
const (
	Alone    Kind = ""         // one function, on both sides
	Split    Kind = "split"    // the first row's cost went to functions only in B
	Inlined  Kind = "inlined"  // functions only in A became part of the first row
	Replaced Kind = "replaced" // functions only in A, then their replacements
	Added    Kind = "added"    // the first row is only in B
	Removed  Kind = "removed"  // the first row is only in A
	Callees  Kind = "callees"  // the first row and functions that only it calls
	Inner    Kind = "inner"    // functions only in B, in the place of parts of others: not named
)

const (
	// movedPart is the smallest ratio, smaller to larger, of two costs at a place, one
	// that appeared and one that disappeared, at which they count as one cost that moved.
	movedPart = .25
	// movedOf is the smallest share of all differences at which a moved cost is
	// reported.
	movedOf = .02
	// ownPart is the smallest part of a function's difference that must be at a place for
	// the function to belong to that place.
	ownPart = .7
)

// Of explains the differences of a table by functions. Moved cost forms one cause with
// its destination. The causes are ordered by their remaining difference, the largest
// first. Every row that differs is in exactly one cause.
func Of(c *compare.Comparison, t *compare.Table) []Cause {
	e := &explainer{c: c, t: t, row: map[int32]*compare.Row{}, taken: map[*compare.Row]bool{}}
	for i := range t.Rows {
		if t.Rows[i].Key >= 0 {
			e.row[t.Rows[i].Key] = &t.Rows[i]
		}
	}
	if !c.Tree.Inverted {
		e.moves()
		if c.Method() == compare.FromRuns {
			e.shifted()
		}
		e.oneSided()
		if c.Method() == compare.FromCounts {
			e.owned()
		}
	}
	for i := range t.Rows {
		if r := &t.Rows[i]; !e.taken[r] && r.DeltaSelf() != 0 {
			kind := Alone
			switch r.Status {
			case compare.New:
				kind = Added
			case compare.Gone:
				kind = Removed
			}
			e.add(kind, []*compare.Row{r})
		}
	}
	order.By(e.causes, func(a, b Cause) int { return cmp.Compare(recording.Abs(b.Delta), recording.Abs(a.Delta)) })
	return e.causes
}

type explainer struct {
	c      *compare.Comparison
	t      *compare.Table
	row    map[int32]*compare.Row // index of the row of each function
	taken  map[*compare.Row]bool
	causes []Cause
}

func (e *explainer) add(kind Kind, rows []*compare.Row) {
	cause := Cause{Kind: kind, Rows: rows}
	for _, r := range rows {
		e.taken[r] = true
		recording.Add(&cause.Delta, r.DeltaSelf())
	}
	cause.Sure = e.sure(rows, cause.Delta)
	e.causes = append(e.causes, cause)
}

// sure returns the confidence of a sum of differences. For several rows it is computed
// from the widths of their intervals, as if they varied independently, and corrected for
// the number of rows of the table.
func (e *explainer) sure(rows []*compare.Row, delta int64) *compare.Confidence {
	if len(rows) == 1 {
		return rows[0].Self
	}
	var functions []int32
	for _, r := range rows {
		functions = append(functions, r.Key)
	}
	if conf := e.c.Together(e.t, functions); conf != nil {
		return conf
	}
	square := 0.0
	out := &compare.Confidence{Method: e.c.Method(), Detectable: math.NaN()}
	for _, r := range rows {
		conf := r.Self
		if conf == nil && r.DeltaSelf() != 0 {
			return nil
		} else if conf == nil {
			continue
		}
		if !math.IsNaN(conf.High - conf.Low) {
			half := (conf.High - conf.Low) / (2 * stats.Z95)
			square += half * half
		}
		out.A, out.B = out.A+conf.A, out.B+conf.B
	}
	d, width := float64(delta), math.Sqrt(square)
	out.Low, out.High, out.P = d-stats.Z95*width, d+stats.Z95*width, 1
	if width > 0 {
		out.P = stats.NormalTails(d / width)
	} else if d != 0 {
		return nil
	}
	out.Q = math.Min(1, out.P*float64(len(e.t.Rows)))
	return out
}

// place is a function on both sides, with the functions below it that are on one side
// only.
type place struct {
	anchor int32
	parts  map[int32]int64 // differences in self of the functions below, by function
	own    int64           // change of the function itself, where something came or went
	size   int64
}

// moves finds the places where about as much cost appeared as disappeared.
func (e *explainer) moves() {
	places := e.places()
	order.By(places, func(a, b *place) int {
		return cmp.Or(cmp.Compare(b.size, a.size), cmp.Compare(a.anchor, b.anchor))
	})
	for _, p := range places {
		e.move(p)
	}
}

// places groups the functions that are on one side only by the nearest function above
// that is on both sides.
func (e *explainer) places() (all []*place) {
	nodes := e.c.Tree.Nodes
	by := map[int32]*place{}
	anchors := make([]int32, len(nodes)) // for each node, the nearest node at or above it that both sides have
	counted := map[int32]bool{}
	for i := 1; i < len(nodes); i++ {
		n := &nodes[i]
		if n.A.Here && n.B.Here {
			anchors[i] = int32(i)
			continue
		}
		at := anchors[n.Parent]
		anchors[i] = at
		d := recording.Saturated(n.B.Self, -n.A.Self)
		f := nodes[at].Func
		p := by[f]
		if p == nil {
			p = &place{anchor: f, parts: map[int32]int64{}}
			by[f], all = p, append(all, p)
		}
		if !counted[at] {
			counted[at] = true
			p.own = recording.Saturated(p.own, recording.Saturated(nodes[at].B.Self, -nodes[at].A.Self))
		}
		p.parts[n.Func] = recording.Saturated(p.parts[n.Func], d)
		p.size = recording.Saturated(p.size, recording.Abs(d))
	}
	return all
}

// move makes a cause of a place if about as much cost appeared as disappeared there.
func (e *explainer) move(p *place) {
	var came, went int64
	var gone, fresh []*compare.Row
	belongs := func(r *compare.Row, d int64) bool {
		whole := r.DeltaSelf()
		if r.Status == compare.Changed && r.Self != nil && r.Self.P >= .05 {
			return false // no cost moved
		}
		return whole != 0 && (whole < 0) == (d < 0) && float64(recording.Abs(d)) >= ownPart*float64(recording.Abs(whole)) && float64(recording.Abs(whole)) >= ownPart*float64(recording.Abs(d)) && !e.taken[r]
	}
	count := func(r *compare.Row) {
		if d := r.DeltaSelf(); d > 0 {
			came += d
		} else {
			went -= d
		}
	}
	for f, d := range p.parts {
		r := e.row[f]
		if r == nil || !belongs(r, d) {
			continue
		}
		if count(r); d < 0 {
			gone = append(gone, r)
		} else {
			fresh = append(fresh, r)
		}
	}
	own := e.row[p.anchor]
	if own != nil && !belongs(own, p.own) {
		own = nil
	}
	kind := Replaced
	if own != nil {
		kind = kindOf(own.DeltaSelf(), came-went)
		if kind == Replaced && (came == 0 || went == 0) {
			own = nil
		} else {
			count(own)
		}
	}
	for _, rows := range [][]*compare.Row{gone, fresh} {
		order.By(rows, func(a, b *compare.Row) int {
			return cmp.Or(cmp.Compare(recording.Abs(b.DeltaSelf()), recording.Abs(a.DeltaSelf())), cmp.Compare(a.Key, b.Key))
		})
	}
	less, more := float64(min(came, went)), float64(max(came, went))
	if less < movedPart*more || less < movedOf*float64(e.t.Moved) || less == 0 {
		if more >= movedOf*float64(e.t.Moved) && rearranged(gone, fresh) {
			e.add(Inner, slices.DeleteFunc(fresh, func(r *compare.Row) bool { return r.Status != compare.New }))
		}
		return
	}
	switch rows := append(gone, fresh...); {
	case own == nil:
		e.add(Replaced, rows)
	case kind == Replaced:
		e.add(kind, append(rows, own))
	default:
		e.add(kind, append([]*compare.Row{own}, rows...))
	}
}

// rearranged reports whether more than new calls were added at a place: functions came, and
// others, which are on both sides, changed with them, for example because parts of a library
// are no longer inlined. So a function above is the one to name: see [Callers].
func rearranged(gone, fresh []*compare.Row) bool {
	has := map[compare.Status]bool{}
	for _, r := range append(slices.Clone(gone), fresh...) {
		has[r.Status] = true
	}
	return has[compare.New] && has[compare.Changed]
}

// kindOf returns what happened at a place, given the change of the function's own cost
// and the change of the cost of the functions below it that are on one side only.
func kindOf(own, below int64) Kind {
	switch {
	case own < 0 && below > 0:
		return Split
	case own > 0 && below < 0:
		return Inlined
	}
	return Replaced
}

// owned groups each function with those that only it calls, unless exactly one of them
// changed: samples shift between them from run to run.
func (e *explainer) owned() {
	top := func(f int32) int32 {
		for range len(e.t.Rows) { // mutual recursion has no top
			p := e.c.Owner(f)
			if p < 0 || e.row[p] == nil || e.taken[e.row[p]] || e.c.Chosen(e.row[p]) {
				break
			}
			f = p
		}
		return f
	}
	below := map[int32][]*compare.Row{}
	for i := range e.t.Rows {
		if r := &e.t.Rows[i]; r.Key >= 0 && !e.taken[r] {
			if t := top(r.Key); t != r.Key {
				below[t] = append(below[t], r)
			}
		}
	}
	for _, t := range slices.Sorted(maps.Keys(below)) {
		rows := append([]*compare.Row{e.row[t]}, below[t]...)
		changed, differs := 0, false
		for _, r := range rows {
			differs = differs || r.DeltaSelf() != 0
			if r.Self != nil && r.Self.P < .05 {
				changed++
			}
		}
		if differs && changed != 1 {
			e.add(Callees, rows)
		}
	}
}

// shifted groups each function with functions that only it calls and that changed. Those that
// changed in the opposite direction exchanged cost with it; that is inlining if one of them, or
// a function that only they call, is on one side only. Otherwise it groups those that changed
// in about the same proportion, because it calls them more or less often.
func (e *explainer) shifted() {
	changed := func(r *compare.Row) bool { return r.Self != nil && r.Self.P < .05 && r.DeltaSelf() != 0 }
	below := map[int32][]*compare.Row{}
	for i := range e.t.Rows {
		if r := &e.t.Rows[i]; r.Key >= 0 && !e.taken[r] && e.c.Owner(r.Key) >= 0 {
			below[e.c.Owner(r.Key)] = append(below[e.c.Owner(r.Key)], r)
		}
	}
	for _, f := range slices.Sorted(maps.Keys(below)) {
		top := e.row[f]
		if top == nil || e.taken[top] || top.DeltaSelf() == 0 || e.c.Chosen(top) {
			continue
		}
		var opposite, alike []*compare.Row
		for _, r := range below[f] {
			small := recording.Abs(top.DeltaSelf()) <= recording.Abs(r.DeltaSelf())/2
			switch {
			case e.taken[r] || !changed(r):
			case (r.DeltaSelf() < 0) == (top.DeltaSelf() < 0):
				if (changed(top) || small) && alikeChange(r, top) {
					alike = append(alike, r)
				}
			case changed(top):
				opposite = append(opposite, r)
				for _, callee := range below[r.Key] {
					if callee.OneSided() {
						opposite = append(opposite, callee)
					}
				}
			}
		}
		group := func(kind Kind, rows []*compare.Row) { e.add(kind, append([]*compare.Row{top}, rows...)) }
		switch {
		case slices.ContainsFunc(opposite, (*compare.Row).OneSided) && top.DeltaSelf() > 0:
			group(Inlined, opposite)
		case slices.ContainsFunc(opposite, (*compare.Row).OneSided):
			group(Split, opposite)
		case len(alike) > 0:
			group(Callees, alike)
		}
	}
}

// alikeChange reports whether the costs of two rows changed in about the same proportion.
func alikeChange(x, y *compare.Row) bool {
	const near = .15 // difference of the logarithms
	change := func(r *compare.Row) float64 { return math.Log(float64(r.BSelf) / float64(r.ASelf)) }
	d := math.Abs(change(x) - change(y))
	return d <= math.Max(near, math.Abs(change(y))/2)
}

// oneSided groups each function that is on one side only under the outermost function
// above it that is on that side only too: the cost of the inner ones is a detail of the
// outer one's.
func (e *explainer) oneSided() {
	if !slices.ContainsFunc(e.t.Rows, func(r compare.Row) bool { return r.OneSided() }) {
		return
	}
	nodes := e.c.Tree.Nodes
	top := make([]int32, len(nodes)) // the function under which a node is grouped, -1 for none
	weight := map[[2]int32]int64{}
	top[0] = -1
	for i := 1; i < len(nodes); i++ {
		n := &nodes[i]
		top[i] = -1
		r := e.row[n.Func]
		if r == nil || e.taken[r] || !r.OneSided() {
			continue
		}
		if top[i] = top[n.Parent]; top[i] < 0 || e.row[top[i]].Status != r.Status {
			top[i] = n.Func
		}
		k := [2]int32{n.Func, top[i]}
		weight[k] = recording.Saturated(weight[k], recording.Abs(recording.Saturated(n.B.Total, -n.A.Total)))
	}
	best := map[int32]int32{}
	for k, w := range weight {
		b, ok := best[k[0]]
		if old := weight[[2]int32{k[0], b}]; !ok || w > old || w == old && k[1] < b {
			best[k[0]] = k[1]
		}
	}
	below := map[int32][]*compare.Row{}
	for f, t := range best {
		if f != t && best[t] == t {
			below[t] = append(below[t], e.row[f])
		}
	}
	for _, t := range slices.Sorted(maps.Keys(below)) {
		r, rows := e.row[t], below[t]
		order.By(rows, func(a, b *compare.Row) int {
			return cmp.Or(cmp.Compare(recording.Abs(b.DeltaSelf()), recording.Abs(a.DeltaSelf())), cmp.Compare(a.Key, b.Key))
		})
		kind := Added
		if r.Status == compare.Gone {
			kind = Removed
		}
		e.add(kind, append([]*compare.Row{r}, rows...))
	}
}
