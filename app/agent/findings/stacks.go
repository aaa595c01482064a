package findings

import (
	"slices"
	"strings"

	"ashlar/app/core/evidence"
	"ashlar/app/core/view"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
)

// classed is the total of the stacks that contain a function of a class, each stack
// counted once. callers divides it by the function that calls into the class, and first
// by the outermost function of the class.
type classed struct {
	total   int64
	callers map[recording.FuncID]int64
	first   map[recording.FuncID]int64 // by outermost function of the class
}

// classed adds up the stacks that contain a function of class c and none of class
// without.
func (l *look) classed(c, without class) classed {
	of := [2]class{c, without}
	if sum, ok := l.classSums[of]; ok {
		return sum
	}
	sum := l.costOf(c, without)
	if l.classSums == nil {
		l.classSums = map[[2]class]classed{}
	}
	l.classSums[of] = sum
	return sum
}

// costOf does the work of classed.
func (l *look) costOf(c, without class) classed {
	sum := classed{callers: map[recording.FuncID]int64{}, first: map[recording.FuncID]int64{}}
	if l.weights == nil || !slices.ContainsFunc(l.classes, func(is class) bool { return is&c != 0 }) {
		return sum
	}
	var path []class // of the functions on the path
	var in, out int  // the path lengths at which the first function of c, and of without, was found; 0 for none
	var minus int64  // the cost below in of stacks with a function of without
	l.weights.Walk(l.rec, func(call recording.CallID) {
		is := l.classes[l.rec.Func(call)]
		path = append(path, is)
		switch {
		case out != 0:
		case is&without != 0:
			out = len(path)
		case in == 0 && is&c != 0:
			in, minus = len(path), 0
		}
	}, func(call recording.CallID, cost int64, _ bool) {
		n := len(path)
		path = path[:n-1]
		switch n {
		case out:
			out = 0
			minus += cost
		case in:
			in = 0
			cost -= minus
			sum.total += cost
			fn := l.rec.Func(call)
			sum.first[fn] += cost
			if up := l.rec.Calls.Parent(call); up != recording.NoCall {
				sum.callers[l.rec.Func(up)] += cost
			}
		}
	})
	return sum
}

// most returns the function with the largest cost, and that cost.
func most(of map[recording.FuncID]int64) (f recording.FuncID, cost int64) {
	for k, v := range of {
		if v > cost || v == cost && k < f {
			f, cost = k, v
		}
	}
	return f, cost
}

// busy returns the total cost, excluding stacks of idle functions.
func (l *look) busy() int64 {
	return l.sum - l.classed(idling, 0).total
}

// waiting returns for each call of the tree whether its path has an idle function; nil if
// no function is idle.
func (l *look) waiting() []bool {
	if !slices.ContainsFunc(l.classes, func(is class) bool { return is&idling != 0 }) {
		return nil
	}
	is := make([]bool, len(l.weights.Self))
	for c := 1; c < len(is); c++ {
		up := l.rec.Calls.Parent(recording.CallID(c))
		is[c] = l.classes[l.rec.Func(recording.CallID(c))]&idling != 0 || up != recording.NoCall && is[up]
	}
	return is
}

func (l *look) share(part, whole int64) float64 {
	if whole <= 0 || part <= 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

func (l *look) gc(r rule) error {
	l.gcPauses(r)
	if l.weights == nil || l.metric.Kind != recording.Sum {
		return nil
	}
	gc, busy := l.classed(collecting, idling), l.busy()
	sure, ok := l.above(gc.total, busy, .2)
	if !ok {
		return nil
	}
	id, _ := most(gc.first)
	f := l.rec.Functions.At(int(id))
	cost := l.stacksWith(gc.first, gc.total)
	found := Finding{Function: f.Name, Size: l.sizeOf(gc.total, busy), Confidence: sure}.saying("Garbage collection: %s (%s)", cost.sum, cost.share)
	l.sayCost(&found, &cost)
	found.say(".")
	l.add(r, found, of(f, "callers"), "top", evidence.File(l.rec), "--callees-of", typed(l.rec, f))
	return nil
}

// gcPauses adds up the pauses that a Java machine records as spans beside its samples.
func (l *look) gcPauses(r rule) {
	whole := l.rec.Duration()
	if !l.sampled() || whole <= 0 {
		return
	}
	var sum, times int64
	var id recording.FuncID
	for c := 1; c < min(l.rec.Calls.Len(), len(l.rec.SpanTime)); c++ {
		if l.rec.SpanCount[c] == 0 {
			continue
		}
		if f := l.rec.Func(recording.CallID(c)); strings.HasPrefix(l.rec.Functions.At(int(f)).Name, "GCPhasePause: ") {
			recording.Add(&sum, int64(l.rec.SpanTime[c]))
			recording.Add(&times, int64(l.rec.SpanCount[c]))
			id = f
		}
	}
	if 10*sum >= whole {
		f := l.rec.Functions.At(int(id))
		const pauses = "/^GCPhasePause: /"
		l.add(r, Finding{Function: f.Name, Size: timePart(sum, whole)}.saying("Garbage collection paused the program %s times, for %s of %s.",
			count(times).by("count", "stats", evidence.File(l.rec), "--function", pauses), l.overAll(part(sum, whole), "sum", "calls", evidence.File(l.rec), pauses, "-n", "1"), duration(whole).by("time.duration_ns", "info", evidence.File(l.rec))), of(f, "statistics"), "stats", evidence.File(l.rec), "--function", pauses)
	}
}

func (l *look) lock(r rule) error {
	if err := l.contention(r); err != nil || l.weights == nil || l.event.Metric("contentions") >= 0 || l.metric.Kind != recording.Sum {
		return err
	}
	waits := l.classed(l.locks(), joining)
	sure, ok := l.above(waits.total, l.sum, .1)
	if !ok {
		return nil
	}
	id, _ := most(waits.first)
	f := l.rec.Functions.At(int(id))
	amount, share := l.cost(id, waits.total)
	names := l.expression(waits.first)
	if joins, ok := l.without(joining); ok && names != "" && (amount.args == nil || joins != nil) {
		args, whole := l.withMetric(slices.Concat([]string{"top", evidence.File(l.rec), "--search", names, "-n", "1"}, joins)...), "total"
		if joins != nil {
			whole = "whole"
		}
		amount, share = amount.by("matched.total", args...), share.over("matched.total", whole, args...)
	}
	others := ""
	if len(waits.first) > 1 {
		others = " and others"
	}
	found := Finding{Function: f.Name, Size: l.size(waits.total), Confidence: sure}.saying("Lock waits in %s%s: %s (%s) of %s", quoted(f.Name), others, amount, share, l.costName())
	if who, cost := most(waits.callers); cost > 0 {
		found.say(", %s of it below %s", l.caller(part(cost, waits.total), waits.first, who, cost, waits.total), quoted(l.rec.Functions.At(int(who)).Name))
	}
	threads, err := l.threadsWith(f)
	if err != nil {
		return err
	}
	if threads > 1 {
		n := plural(threads, l.threadWord())
		if query := l.threadsQuery(id); query != "" {
			n = l.sql(n, 0, 0, query)
		}
		found.say(", on %s", n)
	}
	found.say(".")
	l.add(r, found, of(f, "callers"), "top", evidence.File(l.rec), "--callers-of", typed(l.rec, f))
	return nil
}

// threadsWith counts the threads with a function in their stacks.
func (l *look) threadsWith(f recording.Function) (n int, err error) {
	rows, err := analyze.ByTrack(l.ctx, l.rec, l.query, analyze.Focus(analyze.RefTo(f)))
	for i := range rows {
		if rows[i].Track != recording.NoTrack && rows[i].Total > 0 {
			n++
		}
	}
	return n, err
}

// contention examines profiles that record only waiting for locks, such as Go's mutex
// profiles.
func (l *look) contention(r rule) error {
	for e := range l.rec.Events {
		m := l.rec.Events[e].Metric("delay")
		if m < 0 || l.rec.Events[e].Metric("contentions") < 0 {
			continue
		}
		other, err := l.other(e, m)
		if err != nil {
			return err
		}
		// Charge the innermost function that is not part of the lock's own code.
		by := map[recording.FuncID]int64{}
		for n, self := range other.weights.Self {
			if self <= 0 {
				continue
			}
			k := recording.CallID(n)
			for k != recording.NoCall && isSync(l.rec.FuncName(k)) {
				k = l.rec.Calls.Parent(k)
			}
			if k != recording.NoCall {
				by[l.rec.Func(k)] += self
			}
		}
		id, cost := most(by)
		sure, ok := other.above(cost, other.sum, .5)
		if every := &l.rec.Events[e]; every.Period == 1 && 2*cost >= other.sum { // nothing was sampled
			sure, ok = nil, cost > 0
		}
		if ok {
			f := l.rec.Functions.At(int(id))
			amount, share := other.cost(id, cost)
			found := Finding{Function: f.Name, Size: other.size(cost), Confidence: sure}.saying("%s causes %s (%s) of all lock waits", quoted(f.Name), amount, share)
			delete(by, id)
			if second, more := most(by); 4*more >= other.sum {
				_, share := other.cost(second, more)
				found.say(", %s %s", quoted(l.rec.Functions.At(int(second)).Name), share)
			}
			found.say(".")
			other.add(r, found, of(f, "callers"), "top", evidence.File(l.rec), "--callees-of", typed(l.rec, f))
			l.out = other.out
		}
		return nil
	}
	return nil
}

func isSync(name string) bool {
	for _, p := range []string{"sync.", "internal/sync.", "runtime.", "internal/poll."} {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}

func (l *look) kernel(r rule) error {
	if l.weights == nil || !l.sampled() || l.metric.Kind != recording.Sum {
		return nil
	}
	user := false
	for i := range l.rec.Functions.Len() {
		if f := l.rec.Functions.At(i); f.Kind != recording.KindKernel && !isUnnamed(f) {
			user = true
			break
		}
	}
	if !user { // only the kernel was recorded
		return nil
	}
	in, busy := l.classed(inKernel, idling), l.busy()
	sure, ok := l.above(in.total, busy, .5)
	if !ok {
		return nil
	}
	all, modules := l.counted(in.total, ""), l.kernelModules()
	if modules != "" {
		all = l.counted(in.total, "matched.total", "--search", modules)
	}
	found := Finding{Size: l.sizeOf(in.total, busy), Confidence: sure}.saying("Kernel: %s (%s)", all.sum, all.share)
	l.sayCost(&found, &all)
	callers := in.callers
	if own := l.kernelOwners(); own != nil {
		callers = own
	}
	if who, cost := most(callers); 5*cost > in.total {
		found.say(", %s of it below %s", l.owner(part(cost, in.total), modules, who, cost, in.total), quoted(l.rec.Functions.At(int(who)).Name))
	}
	found.say(".")
	state := view.State{Tab: "flamegraph", Colour: "kind"}
	l.add(r, found, state, "top", evidence.File(l.rec), "--hide-kernel")
	return nil
}

// kernelOwners divides the cost of the kernel, without idle stacks, by the program's own
// functions rather than those of the C library. It returns nil if too few stacks show them.
func (l *look) kernelOwners() map[recording.FuncID]int64 {
	owners, ok := l.owners()
	if !ok {
		return nil
	}
	cost := map[recording.FuncID]int64{}
	idle := make([]bool, len(owners))
	var all, known int64
	for c := 1; c < len(owners); c++ {
		is := l.classes[l.rec.Func(recording.CallID(c))]
		up := l.rec.Calls.Parent(recording.CallID(c))
		idle[c] = is&idling != 0 || up != recording.NoCall && idle[up]
		if self := l.weights.Self[c]; self != 0 && is&inKernel != 0 && !idle[c] {
			recording.Add(&all, self)
			if owners[c] != nobody {
				recording.Add(&known, self)
				cost[owners[c]] += self
			}
		}
	}
	if 2*known < all {
		return nil
	}
	return cost
}

func (l *look) hot(r rule) error {
	least := .5
	if devices, err := l.gpus(); err != nil || !l.ofCode() {
		if err != nil || !l.ofSpans() || len(devices) > 0 {
			return err
		}
		least = .75 // functions that nobody timed count for their callers
	}
	row, self, ok := l.heaviest()
	if !ok {
		return nil
	}
	f := l.rec.Functions.At(int(row.Func))
	busy := l.busy()
	sure, ok := l.above(self, busy, least)
	if !ok || isUnnamed(f) || !l.sampled() && (2*self < l.sum || isWait(f.Name) || !l.among(row.Func)) {
		return nil
	}
	cost := l.counted(self, "function.self", "--callees-of", typed(l.rec, f))
	found := Finding{Function: f.Name, Size: l.sizeOf(self, busy), Confidence: sure}.saying("%s has the highest self cost", quoted(f.Name))
	if busy != l.sum {
		found.say(" outside waits")
	}
	found.say(": %s (%s)", cost.sum, cost.share)
	l.sayCost(&found, &cost)
	found.say(".")
	l.add(r, found, of(f, "callers"), "top", evidence.File(l.rec), "--callers-of", typed(l.rec, f))
	return nil
}

// among reports whether a trace has timed other functions beside one, so that its self time
// tells something: at least three that are not its callees.
func (l *look) among(f recording.FuncID) bool {
	beside := map[recording.FuncID]bool{}
	for c := 1; c < len(l.weights.Self); c++ {
		id := recording.CallID(c)
		if l.weights.Count[c] > 0 && l.rec.Func(id) != f && !l.below(id, f) {
			beside[l.rec.Func(id)] = true
		}
	}
	return len(beside) >= 3
}

// below reports whether a call has a function among its callers.
func (l *look) below(c recording.CallID, f recording.FuncID) bool {
	for c = l.rec.Calls.Parent(c); c != recording.NoCall; c = l.rec.Calls.Parent(c) {
		if l.rec.Func(c) == f {
			return true
		}
	}
	return false
}

// deep is how often a function must occur in one stack to be reported.
const deep = 16

// recursive is the share of the total that recursion must have to be reported.
const recursive = .25

// mayRecur reports whether some stack has at least deep calls of functions with enough
// cost. Most recordings have none, and to know this takes a sixth of the time of finding
// out which function recurs.
func (l *look) mayRecur() bool {
	enough := make([]bool, l.rec.Functions.Len())
	for _, row := range l.functions(func(r *analyze.Row) bool { return l.share(r.Total, l.sum) >= recursive }) {
		enough[row.Func] = true
	}
	calls := make([]int32, min(l.rec.Calls.Len(), len(l.weights.Self))) // calls of functions with enough cost, by path
	for c := 1; c < len(calls); c++ {
		id := recording.CallID(c)
		if calls[c] = calls[l.rec.Calls.Parent(id)]; !enough[l.rec.Func(id)] {
			continue
		}
		if calls[c]++; calls[c] >= deep {
			return true
		}
	}
	return false
}

func (l *look) recursion(r rule) error {
	if l.weights == nil || l.metric.Kind != recording.Sum {
		return nil
	}
	if !l.mayRecur() {
		return nil
	}
	cost := map[recording.FuncID]int64{}
	times, deepest := make([]int32, l.rec.Functions.Len()), make([]int32, l.rec.Functions.Len())
	l.weights.Walk(l.rec, func(call recording.CallID) { times[l.rec.Func(call)]++ }, func(call recording.CallID, sum int64, any bool) {
		f := l.rec.Func(call)
		if any {
			deepest[f] = max(deepest[f], times[f])
			if times[f] == deep {
				cost[f] += sum
			}
		}
		times[f]--
	})
	id, c := most(cost)
	sure, ok := l.above(c, l.sum, recursive)
	if !ok {
		return nil
	}
	f := l.rec.Functions.At(int(id))
	amount, share := l.cost(id, c)
	l.add(r, Finding{Function: f.Name, Size: l.size(c), Confidence: sure}.saying("%s recurses up to %s deep: stacks where it is at least %s deep have %s (%s) of %s.",
		quoted(f.Name), count(deepest[id]), count(deep), amount, share, l.costName()), of(f, "callers"), "top", evidence.File(l.rec), "--callers-of", typed(l.rec, f), "--collapse-recursion-of", typed(l.rec, f), "--tree")
	return nil
}
