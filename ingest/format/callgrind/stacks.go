package callgrind

import (
	"context"
	"path"
	"strconv"
	"strings"

	"ashlar/ingest/format/program"
	"ashlar/ingest/input/safetext"
	"ashlar/ingest/model/funcname"
	"ashlar/ingest/model/recording"
)

// Limits of the stacks built from caller-callee pairs. A branch ends if its cost is below
// the fraction least of the total, at maxDepth frames, or after maxStacks stacks. Costs
// that belong to none of these stacks are assigned to the function alone, without
// callers.
const (
	least     = 1e-6
	maxDepth  = 400
	maxStacks = 400_000
)

// build makes the stacks of all threads.
func (d *decoder) build(ctx context.Context) error {
	e := recording.Event{Kind: "cost", Basis: recording.FromStacks,
		Note: "costs of functions and lines are exact; stacks of more than two functions are estimates, because the file has only pairs of caller and callee"}
	for _, name := range d.events {
		e.Metrics = append(e.Metrics, recording.Metric{Name: name, Unit: "count"})
	}
	event := d.b.AddEvent(e)
	for _, g := range d.order {
		if len(g.fns) == 0 {
			continue
		}
		track := recording.NoTrack
		if g.thread != "" || len(d.order) > 1 {
			track = d.b.Track(recording.TrackKey{Name: "thread " + g.thread}).Index()
		}
		w := &walker{ctx: ctx, d: d, event: event, track: track, metrics: len(d.events), shares: map[*function]*shares{}}
		if err := w.graph(g); err != nil {
			return err
		}
	}
	return nil
}

// shares records the fraction of a function's cost that was assigned to stacks.
type shares struct {
	given  map[spot][]int64
	total  []float64        // total cost: its own and its callees'
	best   recording.CallID // the caller's stack with the highest cost
	weight float64
	stacks int
	open   bool // the function is on the current stack
}

type walker struct {
	ctx     context.Context
	d       *decoder
	event   int
	track   int
	metrics int
	whole   []float64
	shares  map[*function]*shares
	stacks  int
}

// graph distributes the costs of all functions over stacks. It begins with functions that
// have no callers, or that cost more than their callers account for, and continues with
// their callees.
func (w *walker) graph(g *graph) error {
	w.whole = make([]float64, w.metrics)
	for _, f := range g.fns {
		s := &shares{given: map[spot][]int64{}, total: make([]float64, w.metrics)}
		w.shares[f] = s
		for _, at := range f.spots {
			s.given[at] = make([]int64, w.metrics)
			for i, v := range f.self[at] {
				s.total[i] += float64(v)
				w.whole[i] += float64(v)
			}
		}
		for _, c := range f.order {
			if c == f {
				continue
			}
			for i, v := range f.calls[c] {
				s.total[i] += float64(v)
			}
		}
	}
	w.overpaid(g)
	for _, f := range g.fns {
		s := w.shares[f]
		part := make([]float64, w.metrics)
		any := false
		for i := range part {
			paid := int64(0)
			if f.in != nil {
				paid = f.in[i]
			}
			if own := s.total[i] - float64(paid); own > 0 {
				part[i] = own / s.total[i]
				any = true
			}
		}
		if !any {
			continue
		}
		if err := w.visit(f, recording.NoCall, 1, part); err != nil {
			return err
		}
	}
	return w.rest(g)
}

// visit adds the stack of f called from above, assigns the given part of f's costs to it
// (one fraction for each metric), and visits the callees of f.
func (w *walker) visit(f *function, above recording.CallID, depth int, part []float64) error {
	s := w.shares[f]
	call := w.d.b.Call(above, w.d.b.FunctionFrame(w.d.b.Function(w.d.frame(f.name))))
	weight := 0.0
	for i, p := range part {
		if w.whole[i] > 0 {
			weight = max(weight, p*s.total[i]/w.whole[i])
		}
	}
	if s.stacks == 0 || weight > s.weight {
		s.best, s.weight = above, weight
	}
	s.stacks++
	if w.stacks++; w.stacks%1024 == 0 {
		w.d.b.Progress()
		if err := w.ctx.Err(); err != nil {
			return err
		}
	}
	for _, at := range f.spots {
		given, values, any := s.given[at], make([]int64, w.metrics), false
		for i, v := range f.self[at] {
			values[i] = min(int64(float64(v)*part[i]), v-given[i])
			given[i] += values[i]
			any = any || values[i] > 0
		}
		if any {
			w.d.b.AddStack(w.event, w.leaf(f, above, at), w.track, 0, values)
		}
	}
	if weight < least || depth >= maxDepth || w.stacks > maxStacks {
		return nil
	}
	s.open = true
	defer func() { s.open = false }()
	for _, c := range f.order {
		called := w.shares[c]
		if called.open {
			continue // a function that calls itself, perhaps through others
		}
		share := make([]float64, w.metrics)
		for i, v := range f.calls[c] {
			if most := max(called.total[i], float64(c.in[i])); most > 0 {
				share[i] = part[i] * float64(v) / most
			}
		}
		if err := w.visit(c, call, depth+1, share); err != nil {
			return err
		}
	}
	return nil
}

// leaf returns the call for a line of a function.
func (w *walker) leaf(f *function, above recording.CallID, at spot) recording.CallID {
	fn := w.d.b.Function(w.d.frame(f.name))
	fr := recording.Frame{Func: fn}
	if at.line > 0 && at.line < 1<<31 {
		fr.Line = int32(at.line)
	}
	if at.file != f.name.file && at.file != "???" {
		fr.File = at.file
	}
	return w.d.b.Call(above, w.d.b.Frame(fr))
}

// rest assigns the remaining costs: rounding errors to the stack with the highest cost,
// and costs too small to follow to the function alone.
func (w *walker) rest(g *graph) error {
	for _, f := range g.fns {
		s := w.shares[f]
		for _, at := range f.spots {
			values, any, little := make([]int64, w.metrics), false, true
			for i, v := range f.self[at] {
				values[i] = v - s.given[at][i]
				any = any || values[i] > 0
				little = little && values[i] <= int64(s.stacks)+v>>40
			}
			if !any {
				continue
			}
			above := recording.NoCall
			if little && s.stacks > 0 {
				above = s.best
			}
			w.d.b.AddStack(w.event, w.leaf(f, above, at), w.track, 0, values)
		}
	}
	return w.ctx.Err()
}

// mostOverpaid is the maximum number of functions that overpaid checks for cycles, which is
// slow.
const mostOverpaid = 100

// overpaid warns of functions whose calls cost more than the function and its callees
// together. It skips functions on cycles, because the cost of their calls includes the
// calls within the cycle.
func (w *walker) overpaid(g *graph) {
	looked := 0
	for _, f := range g.fns {
		for i, in := range f.in {
			own := w.shares[f].total[i]
			if float64(in) <= own*(1+1e-9) {
				continue
			}
			if looked++; looked > mostOverpaid {
				return
			}
			if !onCycle(f) {
				w.d.b.Warn("calls-cost-more", "", "Calls of %s cost %d %s in the file, but its lines and their calls add up to %.0f; stacks use this sum", safetext.Short(f.name.fn), in, w.d.events[i], own)
			}
			break
		}
	}
}

// onCycle reports whether a chain of calls leads from a function back to itself.
func onCycle(to *function) bool {
	seen := map[*function]bool{}
	for open := []*function{to}; len(open) > 0; {
		f := open[len(open)-1]
		open = open[:len(open)-1]
		for _, c := range f.order {
			if c == to {
				return true
			}
			if !seen[c] {
				seen[c] = true
				open = append(open, c)
			}
		}
	}
	return false
}

// frame returns the recording's form of a function.
func (d *decoder) frame(n name) recording.Function {
	fn := recording.Function{Name: n.fn, Module: base(n.ob), File: n.file}
	if fn.Name == "" {
		fn.Name = funcname.Unknown
	}
	if hex, ok := strings.CutPrefix(fn.Name, "0x"); ok { // no symbol is known
		if _, err := strconv.ParseUint(hex, 16, 64); err == nil {
			fn.Unresolved = true
		}
	}
	if fn.File == "???" {
		fn.File = ""
	}
	if fn.Module != "" {
		fn.Kind = program.KindOf(fn.Module)
	}
	return fn
}

func base(s string) string {
	if s != "" && s != "???" {
		return path.Base(s)
	}
	return ""
}
