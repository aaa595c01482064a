package ranks

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"ashlar/ingest/model/order"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/compare/stats"
	"ashlar/ingest/query/gpu"
)

// A Report compares the ranks of a job by the operations that all ranks of their group have
// recorded. It needs no common clock: of all ranks, the last to begin an operation takes the
// shortest time for it, and the others take longer by the time for which they wait. Only waits
// during which a GPU computes nothing are counted.
type Report struct {
	Ranks       []Rank
	Collectives []Collective // the longest wait first
	Operations  int
	// Window is the time from the start of the first operation to the end of the last, of the
	// rank for which it is the longest.
	Window int64
	// Straggler is the index of a rank that is last too often and for too long to be chance, -1
	// if there is none. P is the probability that chance makes some rank last as often and as
	// long.
	Straggler int
	P         float64
	Cause     *Cause // what takes longer on the straggler, nil if that is not recorded
}

// Rank is a rank of a job.
type Rank struct {
	Process    int
	Name       string
	Operations int
	// Last is the number of operations that it was the last to begin, and Late the time for
	// which all others waited for it: of each operation, the shortest of their waits.
	Last int
	Late int64
	Wait int64 // its own wait for the last rank
	// Compute is the time in which kernels other than collective operations ran or, without a
	// GPU, the part of its window outside of collective operations.
	Compute int64
}

// Collective is a kind of operation.
type Collective struct {
	Name              string
	Ranks, Operations int
	Wait              int64 // of all ranks
}

// Cause is a function whose time on the straggler differs most from the median of the others.
type Cause struct {
	Function     recording.FuncID
	Time, Median int64
}

// occurrence is one operation on all ranks of its group.
type occurrence struct {
	end  int64 // on the first rank
	late int64
	last int // index of the rank that began last
	of   []int
}

// Of compares the ranks of a recording with the given devices. It returns nil if fewer than two
// ranks have operations that end together.
func Of(ctx context.Context, rec *recording.Recording, devices []*gpu.Device) (*Report, error) {
	members, err := membersOf(ctx, rec, devices)
	if err != nil || len(members) < 2 {
		return nil, err
	}
	r := &Report{Straggler: -1, P: 1}
	for _, m := range members {
		r.Ranks = append(r.Ranks, Rank{Process: m.process, Compute: m.compute()})
	}
	var all []occurrence
	for _, key := range keysOf(members) {
		all = append(all, r.collective(members, key)...)
	}
	if len(all) == 0 {
		return nil, ctx.Err()
	}
	r.Operations = len(all)
	order.By(r.Collectives, func(a, b Collective) int { return cmp.Compare(b.Wait, a.Wait) })
	name(rec, r.Ranks)
	order.By(all, func(a, b occurrence) int { return cmp.Compare(a.end, b.end) })
	if r.find(all); r.Straggler >= 0 {
		r.cause(ctx, rec, members)
	}
	return r, ctx.Err()
}

// keysOf returns the keys of all operations.
func keysOf(members []member) []string {
	keys := map[string]bool{}
	for _, m := range members {
		for key := range m.operations {
			keys[key] = true
		}
	}
	return slices.Sorted(maps.Keys(keys))
}

// collective matches the operations of one kind, adds them up and returns them.
func (r *Report) collective(members []member, key string) (all []occurrence) {
	var of []int // indices of the ranks that have the operations
	for i := range members {
		if len(members[i].operations[key]) > 0 {
			of = append(of, i)
		}
	}
	if len(of) < 2 {
		return nil
	}
	first := members[of[0]].operations[key]
	shift := make([]int, len(of)) // operation n of the first rank is operation n-shift of another
	from, to := 0, len(first)
	for k := 1; k < len(of); k++ {
		operations := members[of[k]].operations[key]
		by, ends := together(first, operations)
		if ends == nil {
			return nil
		}
		shift[k] = by
		from, to = max(from, by), min(to, by+len(operations))
	}
	if from >= to {
		return nil
	}
	c := Collective{Name: nameOf(key), Ranks: len(of), Operations: to - from}
	took := make([]int64, len(of))
	for n := from; n < to; n++ {
		last := 0 // the rank with the shortest time
		for k, i := range of {
			o := members[i].operations[key][n-shift[k]]
			if took[k] = o.end - o.start; took[k] < took[last] {
				last = k
			}
		}
		late := int64(-1)
		for k, i := range of {
			start := members[i].operations[key][n-shift[k]].start
			wait := members[i].idle(start, start+took[k]-took[last])
			r.Ranks[i].Wait += wait
			r.Ranks[i].Operations++
			c.Wait += wait
			if k != last && (late < 0 || wait < late) {
				late = wait
			}
		}
		r.Ranks[of[last]].Last++
		r.Ranks[of[last]].Late += late
		all = append(all, occurrence{first[n].end, late, of[last], of})
	}
	for k, i := range of {
		operations := members[i].operations[key]
		r.Window = max(r.Window, operations[to-1-shift[k]].end-operations[from-shift[k]].start)
	}
	r.Collectives = append(r.Collectives, c)
	return all
}

// Thresholds of a straggler: the largest probability of chance, and the least parts of the time
// for which any rank is late, and of the window.
const (
	mostChance  = .001
	leastOfLate = .5
	leastOfTime = .03
)

// find looks for a straggler. By chance, each of the ranks of an operation would be the last
// equally often, whatever time the others wait. So the time for which they wait for one rank is
// that of as many operations as would count if all took equally long: see effective.
func (r *Report) find(all []occurrence) {
	top := 0
	for i := range r.Ranks {
		if r.Ranks[i].Late > r.Ranks[top].Late {
			top = i
		}
	}
	var sum, squares, expected float64
	quarter := [4][]int64{}
	for q := range quarter {
		quarter[q] = make([]int64, len(r.Ranks))
	}
	for n := range all {
		o := &all[n]
		quarter[4*n/len(all)][o.last] += o.late
		if slices.Contains(o.of, top) {
			late := float64(o.late)
			sum += late
			squares += late * late
			expected += late / float64(len(o.of))
		}
	}
	if squares == 0 {
		return
	}
	late := float64(r.Ranks[top].Late)
	effective := sum * sum / squares
	hits := late / sum * effective
	r.P = min(1, float64(len(r.Ranks))*stats.Counts(hits, effective-hits, expected/sum))
	for q := range quarter {
		if quarter[q][top] < slices.Max(quarter[q]) {
			return // it may have been late for a while
		}
	}
	if r.Operations >= 2*fewest && r.P < mostChance && late >= leastOfLate*sum && late >= leastOfTime*float64(r.Window) {
		r.Straggler = top
	}
}

// compute returns Rank.Compute.
func (m *member) compute() (sum int64) {
	for _, o := range m.computing {
		sum += o.end - o.start
	}
	if m.device != nil {
		return sum
	}
	var all []operation
	for _, operations := range m.operations {
		all = append(all, operations...)
	}
	order.By(all, func(a, b operation) int { return cmp.Compare(a.start, b.start) })
	until := all[0].start
	for _, o := range all {
		sum += max(0, o.start-until)
		until = max(until, o.end)
	}
	return sum
}

// name names the ranks as simply as tells them apart.
func name(rec *recording.Recording, all []Rank) {
	for _, of := range []func(p *recording.Process) string{
		func(p *recording.Process) string { return p.Recording },
		func(p *recording.Process) string { return p.Labels },
		func(p *recording.Process) string { return p.Name },
		func(p *recording.Process) string { return p.Name + " " + p.Labels },
		func(p *recording.Process) string { return p.Name + " " + recording.IDText(p.PID) },
	} {
		names := map[string]bool{}
		for i := range all {
			all[i].Name = of(&rec.Processes[all[i].Process])
			names[all[i].Name] = true
		}
		if len(names) == len(all) && !names[""] {
			return
		}
	}
}
