package compare

import (
	"context"
	"runtime"
	"sync"

	"ashlar/ingest/model/durations"
	"ashlar/ingest/model/lanes"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/scan"
)

// SumDurations sums up the durations of all spans of a recording for comparisons, to be
// stored with it. It returns nil if there are no spans.
func SumDurations(ctx context.Context, rec *recording.Recording) (*durations.Table, error) {
	if rec.Counts.Spans == 0 {
		return nil, ctx.Err()
	}
	n := rec.Functions.Len()
	p := &pass{run: &Run{Input: Input{Rec: rec}}, self: true, sums: []sums{
		{slotOf: sync.OnceValue(func() []int32 { return functionParts(rec) }), slots: 2 * n, most: mostOf(n)},
		{whole: true, slots: 1, most: mostSpans},
	}}
	if err := p.collect(ctx); err != nil {
		return nil, err
	}
	d := new(durations.Table)
	for _, s := range p.sums {
		for i := range s.parts {
			x := &s.parts[i]
			d.Parts = append(d.Parts, durations.Part{Spans: x.n, Total: x.total, Total2: x.total2, Self: x.self, Self2: x.self2, Drawn: len(x.kept)})
			d.Draws = append(d.Draws, x.kept...)
		}
	}
	return d, nil
}

// stored returns the parts of a stored recording.
func stored(d *durations.Table) []part {
	parts, draws := make([]part, len(d.Parts)), d.Draws
	for i := range d.Parts {
		x := &d.Parts[i]
		parts[i] = part{n: x.Spans, total: x.Total, total2: x.Total2, self: x.Self, self2: x.Self2, kept: draws[:x.Drawn:x.Drawn]}
		draws = draws[x.Drawn:]
	}
	return parts
}

// functionParts returns, for each call, the index of its entry in the Parts of a
// [durations.Table]; -1 for the root.
func functionParts(rec *recording.Recording) []int32 {
	own := make([]int32, rec.Functions.Len())
	for f := range own {
		own[f] = int32(f)
	}
	return slotsOf(rec, own, len(own))
}

// sums collects the parts for the rows of a table, or for the whole recording.
type sums struct {
	// slotOf returns the slot of each call, -1 for none. If it is nil, slots depend on the
	// track: track is the row of each track, and each row has two slots, the second for
	// outermost spans.
	slotOf func() []int32
	track  []int32
	// rows, if set, is the row of each function, -1 for none; rows have two slots as in
	// [slotsOf].
	rows  []int32
	whole bool // the only slot has the outermost spans
	slots int
	most  int // how many spans to keep per slot

	// parts are the results. Slot i has parts[from[i]:from[i+1]], or just parts[i] if
	// from is nil.
	parts []part
	from  []int32
}

// of returns the parts of slots first to last-1.
func (s *sums) of(first, last int) []part {
	if s.from != nil {
		first, last = int(s.from[first]), int(s.from[last])
	}
	return s.parts[first:last]
}

// covers reports whether every part keeps enough spans.
func (s *sums) covers(parts []part) bool {
	for i := range parts {
		if int64(len(parts[i].kept)) < min(int64(s.most), parts[i].n) {
			return false
		}
	}
	return true
}

// fill takes the results from the stored parts: one part for each function slot, and a
// last one for all outermost spans. It returns false if slots would need only a portion
// of a part.
func (s *sums) fill(functions func() []int32, parts []part) bool {
	last := len(parts) - 1
	if s.whole {
		parts = parts[last:]
	} else {
		parts = parts[:last]
	}
	if s.slotOf == nil && !s.whole || !s.covers(parts) {
		return false
	}
	if s.whole {
		s.parts = parts
		return true
	}
	of := s.ofParts(len(parts))
	if of == nil {
		of = make([]int32, len(parts))
		at := s.slotOf()
		for c, f := range functions() {
			if f < 0 {
				continue
			}
			if of[f] == 0 {
				of[f] = at[c] + 2
			} else if of[f] != at[c]+2 {
				return false
			}
		}
	}
	s.from = make([]int32, s.slots+1)
	for _, k := range of {
		if k > 1 {
			s.from[k-1]++
		}
	}
	for i := range s.slots {
		s.from[i+1] += s.from[i]
	}
	next := append([]int32(nil), s.from...)
	s.parts = make([]part, s.from[s.slots])
	for f, k := range of {
		if k > 1 {
			s.parts[next[k-2]] = parts[f]
			next[k-2]++
		}
	}
	return true
}

// ofParts returns 2 + the slot of each part of the functions, as far as that follows from
// the rows of the functions: no two functions share a row. Otherwise it returns nil.
func (s *sums) ofParts(n int) []int32 {
	if s.rows == nil {
		return nil
	}
	of, used := make([]int32, n), make([]bool, s.slots/2)
	for f, row := range s.rows {
		switch {
		case row < 0:
			continue
		case used[row]:
			return nil
		}
		used[row] = true
		of[2*f], of[2*f+1] = 2*row+2, 2*row+3
	}
	return of
}

// pass visits spans of one recording.
type pass struct {
	run  *Run
	self bool
	sums []sums
	// depths limits the pass to spans at these depths; nil for all.
	depths map[int]bool
	// also is a function that is called with all visited spans, nil for none; worker is the number
	// of the goroutine, less than GOMAXPROCS.
	also func(worker int, r *spanRun)
}

// everything reports whether the pass visits all spans of the recording.
func (p *pass) everything() bool {
	in := &p.run.query.Scope
	if in.Ranged || in.Calls != nil {
		return false
	}
	chosen := in.TrackTest()
	for ti := range p.run.Rec.Tracks {
		if !chosen(ti) {
			return false
		}
	}
	return true
}

// find computes all sums: from stored parts if possible, the others in a pass.
func (p *pass) find(ctx context.Context) error {
	d := p.run.Rec.Durations
	if d == nil || !p.everything() {
		return p.collect(ctx)
	}
	parts, functions := stored(d), sync.OnceValue(func() []int32 { return functionParts(p.run.Rec) })
	var rest []int
	for i := range p.sums {
		if !p.sums[i].fill(functions, parts) {
			rest = append(rest, i)
		}
	}
	if len(rest) == 0 {
		return ctx.Err()
	}
	other := pass{run: p.run, self: p.self}
	for _, i := range rest {
		other.sums = append(other.sums, p.sums[i])
	}
	if err := other.collect(ctx); err != nil {
		return err
	}
	for k, i := range rest {
		p.sums[i] = other.sums[k]
	}
	return nil
}

// collect visits the spans. In the rare case that too few spans have dice below the
// limit, it visits them again with a higher limit.
func (p *pass) collect(ctx context.Context) error {
	chosen := p.run.query.Scope.TrackTest()
	w := newSpanWalk(p.run, p.self)
	w.depths = p.depths
	counts := p.expect(w, chosen)
	pieces := w.pieces(chosen)
	for wider := 1.0; ; wider *= 2 {
		visitors := make([]*visitor, runtime.GOMAXPROCS(0))
		err := scan.Spread(ctx, len(pieces), func(worker, i int) {
			if visitors[worker] == nil {
				visitors[worker] = newVisitor(p.sums, counts, wider)
			}
			v := visitors[worker]
			_ = w.each(ctx, &pieces[i], func(r *spanRun) { // it fails only if ctx ends
				if v.visit(r); p.also != nil {
					p.also(worker, r)
				}
			})
		})
		if err != nil {
			return err
		}
		if p.join(visitors) {
			return nil
		}
	}
}

// expect returns the number of spans that each slot will have.
func (p *pass) expect(w *spanWalk, chosen func(int) bool) [][]int64 {
	calls := make([]int64, p.run.Rec.Calls.Len())
	into := calls
	if p.everything() {
		copy(calls, p.run.Rec.SpanCount)
		into = nil
	}
	out := make([][]int64, len(p.sums))
	for i := range p.sums {
		out[i] = make([]int64, p.sums[i].slots)
	}
	for ti := range p.run.Rec.Tracks {
		if !chosen(ti) {
			continue
		}
		all, outermost := w.count(ti, into)
		for i := range p.sums {
			switch s := &p.sums[i]; {
			case s.whole:
				out[i][0] += outermost
			case s.slotOf == nil:
				out[i][2*s.track[ti]] += all - outermost
				out[i][2*s.track[ti]+1] += outermost
			}
		}
	}
	for i := range p.sums {
		if p.sums[i].slotOf == nil {
			continue
		}
		for c, slot := range p.sums[i].slotOf() {
			if slot >= 0 {
				out[i][slot] += calls[c]
			}
		}
	}
	return out
}

// join merges the visitors' results. It returns false if the sample of a part has too few
// spans.
func (p *pass) join(visitors []*visitor) bool {
	enough := true
	for i := range p.sums {
		s := &p.sums[i]
		s.parts = nil
		for _, v := range visitors {
			switch {
			case v == nil:
			case s.parts == nil:
				s.parts = v.parts[i]
			default:
				for k := range s.parts {
					s.parts[k].join(&v.parts[i][k])
				}
			}
		}
		if s.parts == nil {
			s.parts = make([]part, s.slots)
		}
		for k := range s.parts {
			x := &s.parts[k]
			x.kept = lowest(x.kept, s.most)
		}
		enough = enough && s.covers(s.parts)
	}
	return enough
}

// visitor adds up the spans that one goroutine visits in a pass.
type visitor struct {
	sums  []sums
	at    [][]int32 // the slots of calls, by sums; nil if they depend on the track
	parts [][]part  // by sums, then slot
	dice  [lanes.RoomLen]uint32
	none  [lanes.RoomLen]int64 // self times, if not wanted
}

func newVisitor(all []sums, counts [][]int64, wider float64) *visitor {
	v := &visitor{sums: all}
	for i := range all {
		parts := make([]part, all[i].slots)
		for k := range parts {
			parts[k].limit = limitOf(counts[i][k], all[i].most, wider)
		}
		v.parts, v.at = append(v.parts, parts), append(v.at, nil)
		if all[i].slotOf != nil {
			v.at[i] = all[i].slotOf()
		}
	}
	return v
}

func (v *visitor) visit(r *spanRun) {
	n := len(r.starts)
	dice, starts, ends, selfs := v.dice[:n], r.starts, r.ends[:n], r.selfs
	if rollDice(r.track, r.lane, r.first, dice); selfs == nil {
		selfs = v.none[:]
	}
	selfs = selfs[:n]
	for i := range v.sums {
		s, at, parts := &v.sums[i], v.at[i], v.parts[i]
		if at != nil {
			calls := r.calls[:n]
			for j, start := range starts {
				if slot := at[calls[j]]; slot >= 0 {
					parts[slot].add(dice[j], ends[j]-start, selfs[j])
				}
			}
			continue
		}
		slot := 0
		switch {
		case !s.whole:
			if slot = int(2 * s.track[r.track]); r.outer {
				slot++
			}
		case !r.outer:
			continue
		}
		for j, start := range starts {
			parts[slot].add(dice[j], ends[j]-start, selfs[j])
		}
	}
}
