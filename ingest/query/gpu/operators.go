package gpu

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"ashlar/ingest/model/funcname"
	"ashlar/ingest/model/order"
	"ashlar/ingest/model/recording"
)

// A Group is the GPU work of an operator, a module or an annotation of the program. Its times are
// sums of the durations of kernels, copies and fills. If several run at the same time, each
// counts, as in PyTorch's tables.
type Group struct {
	Name string // "" for work outside of all groups
	// Total is the time of the work launched in the group, Self without that in groups
	// within it, and Outermost without that in groups around it. In a list of groups, Self
	// adds up to the time of all work, and so does Outermost. A work counts once in a group
	// that calls itself.
	Self, Total, Outermost int64
	// Backward is the part of a module's Total that the backward pass launched.
	Backward int64
	Work     int // in Total
	// Calls counts the group's calls in the program, 0 if the trace has only its work.
	Calls int
	// Parts are the kernels, copies and fills of Self by name, the longest first.
	Parts []Part
}

// Part is the work of one name in a group.
type Part struct {
	Function recording.FuncID
	Count    int
	Time     int64
}

// Groups are the groups that launched the work of all devices. Each list is in order of
// Total and has a group for the other work; it is nil if the trace has no such groups.
type Groups struct {
	Time int64 // of all work
	// Operators are those of PyTorch, or in JAX's traces the operations of XLA and, around
	// them, the compiled functions. Modules are PyTorch's modules, or the scopes of JAX's
	// names, with the operation last. Annotations are the program's own, without steps.
	Operators, Modules, Annotations []Group
}

// tables are the lists in Groups.
const (
	operators = iota
	modules
	annotations
	tables
)

// modulePrefix begins the names of calls of modules in PyTorch's traces.
const modulePrefix = "nn.Module: "

// groupOf returns the list and the name of the group that a function of the program is.
func groupOf(f recording.Function) (table int, name string) {
	switch f.Module {
	case "cpu_op", "Operator": // as in 2020
		return operators, f.Name
	case "user_annotation":
		return annotations, f.Name
	}
	if name, ok := strings.CutPrefix(f.Name, modulePrefix); ok {
		return modules, name
	}
	return tables, ""
}

// path are the groups around a launch: each once, the innermost first, and the outermost.
type path struct {
	within    []*Group
	outermost *Group
}

// add adds the group around those in the path.
func (p *path) add(g *Group) {
	if !slices.Contains(p.within, g) {
		p.within = append(p.within, g)
	}
	p.outermost = g
}

// grouping adds up the work of groups.
type grouping struct {
	rec    *recording.Recording
	steps  *Steps // nil for none
	groups [tables]map[string]*Group
	parts  map[partKey]*Part
	paths  map[recording.CallID]*[tables]path
	inner  inner
	// forward leads from the start of a call of the backward pass to that of the call of
	// the forward pass with the same operands.
	forward map[moment]moment
}

type partKey struct {
	group    *Group
	function recording.FuncID
}

// GroupsOf returns the groups that launched the work of devices. Steps may be nil.
func GroupsOf(ctx context.Context, rec *recording.Recording, devices []*Device, steps *Steps) (*Groups, error) {
	g := &grouping{rec: rec, steps: steps, parts: map[partKey]*Part{}, paths: map[recording.CallID]*[tables]path{}, inner: newInner(rec), forward: map[moment]moment{}}
	for i := range g.groups {
		g.groups[i] = map[string]*Group{}
	}
	for i := range rec.Flows {
		if f := &rec.Flows[i]; strings.HasPrefix(f.Name, "fwd") || strings.HasPrefix(f.Name, "forward") {
			for _, s := range f.Steps[1:] {
				g.forward[s] = f.Steps[0]
			}
		}
	}
	all := &Groups{}
	for _, d := range devices {
		for i := range d.Work {
			if i%4096 == 0 && ctx.Err() != nil {
				return nil, ctx.Err()
			}
			w := &d.Work[i]
			all.Time += w.End - w.Start
			g.add(w)
		}
	}
	if err := g.count(ctx, devices); err != nil {
		return nil, err
	}
	for k, list := range []*[]Group{&all.Operators, &all.Modules, &all.Annotations} {
		*list = g.list(k)
	}
	return all, nil
}

// add adds a piece of work to the groups that launched it.
func (g *grouping) add(w *Work) {
	paths := *g.pathsOf(w.in.Call)
	backward := paths[operators].within == nil && g.name(w, &paths)
	if paths[modules].within == nil && len(g.forward) > 0 && w.in.Track != recording.NoTrack {
		if from, ok := g.forwardOf(w.in); ok {
			paths[modules], backward = g.pathsOf(g.inner.at(from.Track, from.Time))[modules], true
		}
	}
	time, f := w.End-w.Start, g.rec.Func(w.Call)
	for k, p := range paths {
		if p.within == nil {
			p.add(g.group(k, ""))
		}
		p.within[0].Self += time
		p.outermost.Outermost += time
		for _, in := range p.within {
			in.Total += time
			in.Work++
			if backward && k == modules {
				in.Backward += time
			}
		}
		key := partKey{p.within[0], f}
		part := g.parts[key]
		if part == nil {
			part = &Part{Function: f}
			g.parts[key] = part
		}
		part.Count++
		part.Time += time
	}
}

func (g *grouping) group(table int, name string) *Group {
	in := g.groups[table][name]
	if in == nil {
		in = &Group{Name: name}
		g.groups[table][name] = in
	}
	return in
}

// pathsOf returns the groups around a call of the program, by list.
func (g *grouping) pathsOf(call recording.CallID) *[tables]path {
	p := g.paths[call]
	if p == nil {
		p = new([tables]path)
		g.paths[call] = p
		for c := call; c != recording.NoCall; c = g.rec.Calls.Parent(c) {
			table, name := groupOf(g.rec.Functions.At(int(g.rec.Func(c))))
			if table == tables || table == annotations && g.steps != nil && strings.TrimRight(funcname.FoldDigits(name), "# ") == g.steps.Name {
				continue
			}
			p[table].add(g.group(table, name))
		}
	}
	return p
}

// name sets the groups named in the arguments of the work, as in JAX's traces: hlo_op and
// hlo_module, and the scopes in name or tf_op, such as jit(f)/jvp(Net)/Dense_0/dot_general. It
// reports whether the work is of the backward pass.
func (g *grouping) name(w *Work, paths *[tables]path) (backward bool) {
	if w.args == 0 || g.rec.Args == nil {
		return false
	}
	args := g.rec.Args(w.args)
	for _, key := range []string{"hlo_op", "hlo_module"} {
		if name := argument(args, key); name != "" {
			paths[operators].add(g.group(operators, name))
		}
	}
	if paths[operators].within == nil {
		return false
	}
	name, _, _ := strings.Cut(cmp.Or(argument(args, "tf_op"), argument(args, "name")), ":") // TensorFlow's type follows
	var scopes []string
	for scope := range strings.SplitSeq(name, "/") {
		for {
			of, inside, _ := strings.Cut(scope, "(")
			if !slices.Contains(transforms, of) || !strings.HasSuffix(inside, ")") {
				break
			}
			scope, backward = strings.TrimSuffix(inside, ")"), backward || of == "transpose"
			if of == "jit" || of == "pjit" {
				scope = ""
			}
		}
		if scope != "" {
			scopes = append(scopes, scope)
		}
	}
	paths[modules] = path{}
	for n := len(scopes); n > 0; n-- {
		paths[modules].add(g.group(modules, strings.Join(scopes[:n], "/")))
	}
	return backward
}

// transforms are JAX's functions that wrap scopes. The backward pass is in transpose(jvp(Net)).
var transforms = []string{"jit", "pjit", "jvp", "transpose", "vmap", "remat", "checkpoint"}

// forwardOf returns the start of the call of the forward pass to which the calls of the
// backward pass around a launch belong.
func (g *grouping) forwardOf(launch Span) (moment, bool) {
	t := g.rec.Tracks[launch.Track]
	for i := len(t.Lanes) - 1; i >= 0; i-- {
		l := &t.Lanes[i]
		if n := l.Search(launch.Start); n < l.Len() && l.Start(n) <= launch.Start {
			if from, ok := g.forward[moment{Track: launch.Track, Time: l.Start(n)}]; ok {
				return from, true
			}
		}
	}
	return moment{}, false
}

// count counts the calls of the groups with work.
func (g *grouping) count(ctx context.Context, devices []*Device) error {
	of := map[recording.FuncID]*Group{}
	for i := range g.rec.Functions.Len() {
		if table, name := groupOf(g.rec.Functions.At(i)); table != tables && g.groups[table][name] != nil {
			of[recording.FuncID(i)] = g.groups[table][name]
		}
	}
	for i, t := range g.rec.Tracks {
		if t.Kind != recording.ThreadTrack || len(of) == 0 || slices.ContainsFunc(devices, func(d *Device) bool { return slices.Contains(d.Streams, i) }) {
			continue
		}
		for k := range t.Lanes {
			if err := ctx.Err(); err != nil {
				return err
			}
			each(&t.Lanes[k], func(call recording.CallID, _, _ int64) {
				if in := of[g.rec.Func(call)]; in != nil {
					in.Calls++
				}
			})
		}
	}
	return nil
}

// list returns the groups of a list that have work, nil if that is only the one for other
// work.
func (g *grouping) list(table int) (all []Group) {
	parts := map[*Group][]Part{}
	for k, p := range g.parts {
		parts[k.group] = append(parts[k.group], *p)
	}
	for _, name := range slices.Sorted(maps.Keys(g.groups[table])) {
		if in := g.groups[table][name]; in.Work > 0 {
			in.Parts = parts[in]
			order.By(in.Parts, func(a, b Part) int {
				return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.Function, b.Function))
			})
			all = append(all, *in)
		}
	}
	if len(all) == 1 && all[0].Name == "" {
		return nil
	}
	order.By(all, func(a, b Group) int { return cmp.Or(cmp.Compare(b.Total, a.Total), cmp.Compare(b.Self, a.Self)) })
	return all
}
