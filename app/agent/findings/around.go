package findings

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"ashlar/app/core/evidence"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
)

// around returns the callers and callees of functions.
func (l *look) around(of analyze.Ref) analyze.Neighbours {
	if l.tree == nil {
		l.tree = analyze.NewTree(l.rec, l.weights)
	}
	return analyze.Around(l.rec, l.tree, of)
}

// callees sets top as the source of numbers about a function's direct calls of another, unless it
// prints others: the part of its total that they have, and their number, and the number of
// functions that it calls beside that one. of are the function's own calls.
func (l *look) callees(outer, inner recording.FuncID, share *Number, part, whole int64, times, of, beside *Number) {
	f := l.rec.Functions.At(int(outer))
	a := l.around(analyze.RefTo(f))
	args := l.withMetric("top", evidence.File(l.rec), "--callees-of", typed(l.rec, f))
	set := func(n *Number, value int64, path string, more ...string) {
		if n != nil && fmt.Sprint(value) == n.Value.String() {
			*n = n.by(path, append(args, more...)...)
		}
	}
	set(beside, int64(len(a.Callees)-1), "more", "-n", "1")
	set(of, a.Function.Count, "function.count")
	for i, row := range a.Callees {
		if row.Func != inner {
			continue
		}
		set(times, row.Count, fmt.Sprintf("rows[%d].count", i))
		if row.Total == part && a.Function.Total == whole {
			*share = share.over(fmt.Sprintf("rows[%d].total", i), "function.total", args...)
		}
	}
}

// caller sets top as the source of the part of some functions' total for which a function calls
// them directly, unless top prints another.
func (l *look) caller(share Number, of map[recording.FuncID]int64, outer recording.FuncID, part, whole int64) Number {
	names := l.expression(of)
	if names == "" {
		return share
	}
	a := l.around(analyze.Named(names))
	for i, row := range a.Callers {
		if row.Func == outer && row.Total == part && a.Function.Total == whole {
			return share.over(fmt.Sprintf("rows[%d].total", i), "function.total", l.withMetric("top", evidence.File(l.rec), "--callers-of", names)...)
		}
	}
	return share
}

// owner sets top as the source of the part of the stacks that names, an expression, selects for
// which a function is the innermost one of the program, unless top prints another.
func (l *look) owner(share Number, names string, owner recording.FuncID, part, whole int64) Number {
	drop, ok := l.without(idling)
	if names == "" || !ok {
		return share
	}
	ts := []analyze.Transform{analyze.Only(names), {Op: analyze.OpHideLibrary}}
	if drop != nil {
		ts = slices.Insert(ts, 0, analyze.Transform{Op: analyze.OpDrop, Ref: analyze.Named(drop[1])})
	}
	f, tree := l.rec.Functions.At(int(owner)), analyze.NewTree(l.rec, l.weights, ts...)
	var sum int64
	for i := range tree.Nodes {
		recording.Add(&sum, tree.Nodes[i].Self)
	}
	if sum != whole || analyze.Around(l.rec, tree, analyze.RefTo(f)).Function.Self != part {
		return share
	}
	args := slices.Concat([]string{"top", evidence.File(l.rec)}, drop, []string{"--only", names, "--hide-library", "--callees-of", typed(l.rec, f), "-n", "1"})
	return share.over("function.self", "total", l.withMetric(args...)...)
}

// kernelModules returns an expression that matches the functions of the kernel by their modules,
// "" if it would match others, or not all.
func (l *look) kernelModules() string {
	var modules []string
	for i := range l.rec.Functions.Len() {
		if f := l.rec.Functions.At(i); f.Kind == recording.KindKernel && !slices.Contains(modules, f.Module) {
			if modules = append(modules, f.Module); f.Module == "" || len(modules) > mostNames {
				return ""
			}
		}
	}
	slices.Sort(modules)
	for i := range modules {
		modules[i] = regexp.QuoteMeta(modules[i])
	}
	source := "^(" + strings.Join(modules, "|") + ")$"
	is, err := regexp.Compile(source)
	if err != nil {
		return ""
	}
	for i := range l.rec.Functions.Len() {
		if f := l.rec.Functions.At(i); f.Kind != recording.KindKernel && (is.MatchString(f.Name) || is.MatchString(f.Module) || is.MatchString(f.File)) {
			return ""
		}
	}
	return "/" + source + "/"
}
