package analyze

import (
	"slices"

	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/waits"
)

// Apart looks up the records of a recording that a scope excludes because they are not work
// of threads: tracks of async operations, idle samples, and idle waits of goroutines of the
// Go runtime.
//
// If a scope's tracks have only async spans, or only states of goroutines of the runtime,
// those count unless the scope excludes them explicitly.
func Apart(rec *recording.Recording, in recording.Scope) recording.Scope {
	in.Beside = nil
	if in.Async != recording.In {
		in.Beside = beside(rec, in, in.Async == recording.Only)
	}
	if in.Idle == "" {
		waiting := waits.NewIdle(rec)
		if waiting != nil && !waiting.Alone(in) || slices.Contains(idleFunctions(rec), true) {
			in.Idle = recording.Out
		}
	}
	return in
}

// beside returns the tracks that a scope excludes: the tracks of async operations or,
// with only, all others. It returns nil if nothing would be left.
func beside(rec *recording.Recording, in recording.Scope, only bool) (out []int) {
	chosen, left := in.TrackTest(), false
	for i, t := range rec.Tracks {
		switch {
		case !chosen(i) || t.Spans() == 0 && len(t.Open) == 0:
		case (t.Kind == recording.AsyncTrack) != only:
			out = append(out, i)
		default:
			left = true
		}
	}
	if !left && !only && in.Async == "" {
		return nil
	}
	return out
}

// Besides returns the scope with only its async operations, for queries that the other
// records cannot answer.
func Besides(rec *recording.Recording, in recording.Scope) recording.Scope {
	in.Async = recording.Only
	return Apart(rec, in)
}

// LeftOut counts the records in a query's scope that were excluded because they are not
// work of threads.
type LeftOut struct {
	// AsyncSpans is the number of async operations, and AsyncTime the time that the
	// outermost ones cover, in picoseconds.
	AsyncSpans, AsyncTime int64
	// IdleRecords counts the idle samples, stack records or waits, and Idle is their weight.
	// Waits is set if they are waits of goroutines of the Go runtime.
	IdleRecords, Idle int64
	Waits             bool
}

// Add adds the counts of another scope.
func (l *LeftOut) Add(o *LeftOut) {
	l.AsyncSpans += o.AsyncSpans
	recording.Add(&l.AsyncTime, o.AsyncTime)
	l.IdleRecords += o.IdleRecords
	recording.Add(&l.Idle, o.Idle)
	l.Waits = l.Waits || o.Waits
}

// IdleName returns the name of the idle records in the plural.
func (l *LeftOut) IdleName() string {
	if l.Waits {
		return IdleWaits
	}
	return "idle samples"
}

// IdleWaits is the name of idle waits of goroutines of the Go runtime.
const IdleWaits = "idle system goroutines"

// async returns the async operations that a scope excludes.
func (q *Query) async(rec *recording.Recording) (out LeftOut) {
	if q.Scope.Async == recording.Only || q.Scope.Calls != nil || len(q.Scope.Beside) == 0 {
		return out
	}
	from, to := q.Scope.Bounds(rec)
	for _, i := range q.Scope.Beside {
		for k := range rec.Tracks[i].Lanes {
			l := &rec.Tracks[i].Lanes[k]
			first, last := q.Scope.SpansIn(l)
			out.AsyncSpans += int64(last - first)
			if first == last || rec.Calls.Depth(l.Call(first)) != 1 {
				continue
			}
			for s := first; s < last; s++ {
				recording.Add(&out.AsyncTime, min(l.End(s), to)-max(l.Start(s), from))
			}
		}
	}
	return out
}

// idleNames are V8's function names for samples taken while no code of the program ran.
var idleNames = []string{"(idle)", "(program)"}

// idleFunctions returns which functions are idle; nil if there are neither samples nor
// stacks.
func idleFunctions(rec *recording.Recording) []bool {
	if rec.Counts.Samples+rec.Counts.Stacks == 0 {
		return nil
	}
	is := make([]bool, rec.Functions.Len())
	for i := range is {
		is[i] = slices.Contains(idleNames, rec.Functions.At(i).Name)
	}
	return is
}

// idle is a sink that drops idle records or, with only, all others.
type idle struct {
	to    sink
	is    []bool      // by function; for records other than states
	waits *waits.Idle // for states
	rec   *recording.Recording
	only  bool
	left  *LeftOut
}

// newIdle returns a sink for a query whose scope excludes or requires idle records.
func newIdle(rec *recording.Recording, q *Query, to sink) *idle {
	f := &idle{to: to, rec: rec, only: q.Scope.Idle == recording.Only}
	if w, ok := to.(*Weights); ok {
		f.left = &w.Left
	}
	if q.Basis(rec) == States {
		f.waits = waits.NewIdle(rec)
	} else {
		f.is = idleFunctions(rec)
	}
	return f
}

func (f *idle) add(r *Record) {
	is := r.Call != recording.NoCall && f.is != nil && f.is[f.rec.Func(r.Call)] || f.waits.Is(r.Track, r.Call)
	if is == f.only {
		f.to.add(r)
		return
	}
	if f.left != nil && !f.only {
		f.left.IdleRecords++
		f.left.Waits = f.waits != nil
		if r.Value != recording.Missing {
			recording.Add(&f.left.Idle, r.Value)
		}
	}
}

func (f *idle) window(w *recording.Window) { f.to.window(w) }
