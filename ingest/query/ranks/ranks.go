// Package ranks compares the processes of a distributed job, its ranks, by the collective
// operations in which all of them take part, such as all-reduce.
//
// A rank is a process that runs collective operations: a GPU whose kernels communicate or, if
// there is none, a process with calls of a communication library. The ranks run the same
// operations in the same order, and none can end an operation before the last has begun it.
// Times are in picoseconds.
package ranks

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"ashlar/ingest/input/jsonscan"
	"ashlar/ingest/model/order"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/gpu"
)

// operation is the time of a collective operation on one rank.
type operation struct{ start, end int64 }

// member is a rank.
type member struct {
	process    int
	device     *gpu.Device            // nil for a process that is none
	operations map[string][]operation // by key, in the order of their ends
	computing  []operation            // times in which the device computed, in order
}

// membersOf returns the ranks of a recording in the order of their processes.
func membersOf(ctx context.Context, rec *recording.Recording, devices []*gpu.Device) ([]member, error) {
	var all []member
	for _, d := range devices {
		m := member{process: d.Process, device: d, operations: map[string][]operation{}}
		for i := range d.Work {
			switch w := &d.Work[i]; {
			case w.Kind != gpu.Kernel:
			case w.Collective:
				m.add(rec.FuncName(w.Call), w.Args(rec), w.Start, w.End)
			default:
				m.computes(w.Start, w.End)
			}
		}
		if len(m.operations) > 0 {
			all = append(all, m)
		}
	}
	if len(all) > 0 {
		return sorted(all), nil
	}
	is := collectives(rec)
	if is == nil {
		return nil, nil
	}
	of := map[int]int{} // indices in all, by process
	for _, t := range rec.Tracks {
		if t.Kind != recording.ThreadTrack {
			continue
		}
		for i := range t.Lanes {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			l := &t.Lanes[i]
			for n := range l.Len() {
				c := l.Call(n)
				if !is.outermost(rec, c) || l.Unfinished(n) {
					continue
				}
				k, ok := of[t.Process]
				if !ok {
					k = len(all)
					of[t.Process] = k
					all = append(all, member{process: t.Process, operations: map[string][]operation{}})
				}
				args := ""
				if ref := l.Args(n); ref != 0 && rec.Args != nil {
					args = rec.Args(ref)
				}
				all[k].add(rec.FuncName(c), args, l.Start(n), l.End(n))
			}
		}
	}
	return sorted(all), nil
}

func sorted(all []member) []member {
	for _, m := range all {
		for _, operations := range m.operations {
			order.By(operations, func(a, b operation) int { return cmp.Compare(a.end, b.end) })
		}
	}
	order.By(all, func(a, b member) int { return cmp.Compare(a.process, b.process) })
	return all
}

// groupArguments are the arguments that tell apart the operations of groups of ranks in
// PyTorch's and JAX's traces, whose names are often the same.
var groupArguments = []string{"Collective name", "Process Group Name", "Process Group Ranks", "hlo_op"}

// add adds an operation under a key that is the same on all ranks.
func (m *member) add(name, args string, start, end int64) {
	key := name
	for _, a := range groupArguments {
		if args == "" {
			break
		}
		key += "\x00" + string(jsonscan.Member([]byte(args), a))
	}
	if between := strings.ToLower(key); strings.Contains(between, "send") || strings.Contains(between, "recv") {
		return // between two ranks
	}
	m.operations[key] = append(m.operations[key], operation{start, end})
}

// computes adds a time to computing. Times come in the order of their starts.
func (m *member) computes(start, end int64) {
	if n := len(m.computing); n > 0 && start <= m.computing[n-1].end {
		m.computing[n-1].end = max(m.computing[n-1].end, end)
	} else {
		m.computing = append(m.computing, operation{start, end})
	}
}

// idle returns the part of a time in which the device computes nothing.
func (m *member) idle(from, to int64) int64 {
	sum := to - from
	i, _ := slices.BinarySearchFunc(m.computing, from, func(o operation, from int64) int { return cmp.Compare(o.end, from) })
	for ; i < len(m.computing) && m.computing[i].start < to; i++ {
		sum -= min(to, m.computing[i].end) - max(from, m.computing[i].start)
	}
	return sum
}

// nameOf returns the name in a key.
func nameOf(key string) string {
	name, _, _ := strings.Cut(key, "\x00")
	return name
}

// calls tells of functions whether they are collective operations.
type calls map[recording.FuncID]bool

// collectives returns the functions of a recording that are collective operations, nil if there
// are none.
func collectives(rec *recording.Recording) (is calls) {
	for f := range rec.Functions.Len() {
		name := rec.Functions.At(f).Name
		if lower := strings.ToLower(name); gpu.IsCollective(name) || strings.HasPrefix(lower, "gloo:") || strings.HasPrefix(lower, "mpi_barrier") {
			if is == nil {
				is = calls{}
			}
			is[recording.FuncID(f)] = true
		}
	}
	return is
}

// outermost reports whether a call is a collective operation that was called by no other.
func (is calls) outermost(rec *recording.Recording, c recording.CallID) bool {
	if !is[rec.Func(c)] {
		return false
	}
	for c = rec.Calls.Parent(c); c != recording.NoCall; c = rec.Calls.Parent(c) {
		if is[rec.Func(c)] {
			return false
		}
	}
	return true
}

// Limits on the search for the operations that two ranks have in common: how many more one rank
// may have recorded, how many it may have recorded before the other, and how many are compared.
const (
	mostMore     = 1000
	mostShifts   = 32
	mostCompared = 512
)

// distances returns the ends of a's operations minus those of b's, where operation i of b is
// operation first+i of a. It returns at most the given number of them, from the middle.
func distances(a, b []operation, first, most int) (ends []int64) {
	from, to := max(0, -first), min(len(b), len(a)-first)
	if more := to - from - most; more > 0 {
		from += more / 2
		to = from + most
	}
	for i := from; i < to; i++ {
		ends = append(ends, a[first+i].end-b[i].end)
	}
	return ends
}

// match returns which operation of a is the first of b: that for which the ends of both are at
// the most constant distance. Unless others fit much better, all operations of one rank are
// among those of the other.
func match(a, b []operation) (first int) {
	low, high := max(-mostMore, min(0, len(a)-len(b))), min(mostMore, max(0, len(a)-len(b)))
	usual, least := int64(-1), int64(-1) // spreads
	other := 0
	for k := low - mostShifts; k <= high+mostShifts; k++ {
		if both := min(len(b), len(a)-k) - max(0, -k); 4*both < 3*min(len(a), len(b)) {
			continue
		}
		ends := distances(a, b, k, mostCompared)
		_, spread := middle(ends)
		if low <= k && k <= high && (usual < 0 || spread < usual) {
			first, usual = k, spread
		}
		if least < 0 || spread < least {
			other, least = k, spread
		}
	}
	if usual > 4*least {
		return other
	}
	return first
}

// middle returns the median of some values and the median distance from it.
func middle(values []int64) (median, spread int64) {
	if len(values) == 0 {
		return 0, 0
	}
	s := slices.Clone(values)
	slices.Sort(s)
	median = s[len(s)/2]
	for i, v := range s {
		s[i] = max(v-median, median-v)
	}
	slices.Sort(s)
	return median, s[len(s)/2]
}

// gap returns the median time from the end of one operation to that of the next.
func gap(all []operation) int64 {
	var apart []int64
	for i := 1; i < len(all); i++ {
		apart = append(apart, all[i].end-all[i-1].end)
	}
	m, _ := middle(apart)
	return m
}

// fewest is the minimum number of operations that two ranks must have in common, and tight the
// least ratio of the time between operations to the spread of the distances of their ends.
const (
	fewest = 8
	tight  = 20
)

// together returns the distances between the ends of operations of two ranks, nil if they do not
// end together: if the distances are not constant to a part of the time between two operations.
// Ends are a's minus b's; operation i of b is operation first+i of a, where first may be negative.
func together(a, b []operation) (first int, ends []int64) {
	if len(a) < fewest || len(b) < fewest {
		return 0, nil
	}
	first = match(a, b)
	ends = distances(a, b, first, len(a))
	if _, spread := middle(ends); tight*spread > gap(a) {
		return 0, nil
	}
	return first, ends
}
