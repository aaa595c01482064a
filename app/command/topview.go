package command

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"ashlar/app/core/exactnum"
	"ashlar/app/core/missing"
	"ashlar/app/core/tabular"
	"ashlar/ingest/input/safetext"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/ingest/query/search"
	"ashlar/render/units"
)

// topView holds the fields that transforms and a search add to the answer.
type topView struct {
	// Transforms were applied to the stacks in this order. Whole is the total without
	// transforms and label filters.
	Transforms []analyze.Transform `json:"transforms,omitempty"`
	Whole      json.Number         `json:"whole,omitempty"`
	// Pairs is the number of user stacks that were joined with a kernel stack, and Joined
	// the value that is counted once because of that.
	Pairs  int64       `json:"pairs,omitempty"`
	Joined json.Number `json:"joined,omitempty"`
	// Negative is the sum of the negative parts of the total, such as freed memory;
	// absent if there are none.
	Negative json.Number `json:"negative,omitempty"`
	// Function is the function whose callers or callees are listed.
	Function *topRow `json:"function,omitempty"`
	// Matched is the total of the search's matches.
	Matched *topMatched `json:"matched,omitempty"`
	// Cut is the number of rows of an inverted tree that end early: light branches are
	// cut off.
	Cut int `json:"cut,omitempty"`

	joined, negative int64
	around           string // "callers of f", for rows around a function
	side             analyze.Transform
	whole            int64
}

// topMatched is the part of the total whose stacks contain a match, each stack counted
// once.
type topMatched struct {
	Search  string      `json:"search"`
	Total   json.Number `json:"total"`
	Records int64       `json:"records"`
	// Functions counts the matching functions, including modules and files after a merge.
	Functions int `json:"functions"`

	total int64
}

// looks checks that the flags about the view fit together.
func (o *topOptions) looks() error {
	var sides []string
	tree := o.tree || o.zoom != nil
	for _, t := range o.Transforms {
		switch t.Op {
		case analyze.OpCallersOf, analyze.OpCalleesOf:
			sides = append(sides, "--"+string(t.Op))
		case analyze.OpInvert, analyze.OpByTime:
			tree = true // only a tree has a direction and an order in time
		}
	}
	if tree && o.by != analyze.ByFunction {
		return misuse("--tree lists functions; leave out --by %s", o.by)
	}
	if o.tree = tree; tree {
		if o.sort != "" {
			return misuse("--tree has its own order; leave out --sort")
		}
		return nil
	}
	if key := o.sort.key(); key != "" && !key.of(o.by) {
		return misuse("--sort %s works only for functions; leave out --by %s or sort by another column", o.sort, o.by)
	}
	switch {
	case len(sides) > 1:
		return misuse("%s and %s cannot be combined without --tree", sides[0], sides[1])
	case len(sides) == 1 && o.by != analyze.ByFunction:
		return misuse("%s lists functions; leave out --by %s", sides[0], o.by)
	}
	return nil
}

// look applies the view to the weights and returns the rows.
func (t *top) look(c *call, rec *recording.Recording, q analyze.Query, w *analyze.Weights, o *topOptions) ([]analyze.Row, error) {
	ts := o.Transforms
	around := -1
	if !o.tree {
		around = slices.IndexFunc(ts, func(t analyze.Transform) bool {
			return t.Op == analyze.OpCallersOf || t.Op == analyze.OpCalleesOf
		})
	}
	if around >= 0 {
		ts = slices.Delete(slices.Clone(ts), around, around+1)
	}
	t.negative = w.Negative()
	var tree *analyze.Tree
	if o.tree || around >= 0 || len(ts) > 0 || o.Find != "" || t.negative != 0 && !o.by.Listed() {
		tree = analyze.NewTree(rec, w, ts...)
	}
	t.inTree = ts
	if len(o.Transforms) > 0 {
		t.Transforms, t.Whole = o.Transforms, exactnum.Value(t.whole, t.metric)
		t.sum, t.Records = sumOf(tree)
		t.Total, t.Cut = exactnum.Value(t.sum, t.metric), tree.Cut
	}
	if tree != nil {
		t.negative = tree.Negative
	}
	if t.negative != 0 {
		t.Negative = exactnum.Value(t.negative, t.metric)
	}
	if w.Pairs > 0 {
		t.Pairs, t.Joined, t.joined = w.Pairs, exactnum.Value(w.Joined, t.metric), w.Joined
	}
	var rows []analyze.Row
	var err error
	if around >= 0 {
		rows = t.sides(rec, tree, o.Transforms[around])
	} else {
		rows, err = t.list(c, rec, q, w, tree, o)
	}
	if o.Find != "" && err == nil {
		rows, err = t.search(c, rec, q, tree, o, rows)
	}
	if err != nil {
		return nil, err
	}
	return rows, t.sort(c, rec, q, o, rows)
}

// list returns the rows: branches of the tree, or the rows of --by. tree may be nil if
// neither branches nor transforms are wanted.
func (t *top) list(c *call, rec *recording.Recording, q analyze.Query, w *analyze.Weights, tree *analyze.Tree, o *topOptions) ([]analyze.Row, error) {
	if o.tree {
		t.Tree = true
		return t.branches(rec, tree, o)
	}
	rows, err := analyze.RowsBy(c.ctx, rec, q, o.by, func() []analyze.Row {
		if tree == nil {
			return analyze.TableOf(rec, w, o.by)
		}
		return analyze.Table(rec, tree, o.by)
	}, t.inTree...)
	if errors.Is(err, analyze.ErrNoStates) {
		err = fmt.Errorf("%w: %s", err, missing.Reason(missing.OffCPU, rec))
	}
	if err != nil && c.ctx.Err() == nil {
		err = misfit(rec, err)
	}
	return rows, err
}

// sumOf returns the sum of all nodes' self weights and records.
func sumOf(tree *analyze.Tree) (sum, records int64) {
	for i := range tree.Nodes {
		sum += tree.Nodes[i].Self
		records += tree.Nodes[i].Count
	}
	return sum, records
}

// sides lists the callers or callees of a function.
func (t *top) sides(rec *recording.Recording, tree *analyze.Tree, of analyze.Transform) []analyze.Row {
	n := analyze.Around(rec, tree, of.Ref)
	row := t.row(rec, &n.Function)
	t.Function = &row
	t.around, t.side = of.String(), of
	if of.Op == analyze.OpCallersOf {
		t.By = "caller"
		return n.Callers
	}
	t.By = "callee"
	return n.Callees
}

// search sets the total of the matches and returns the matching rows. A tree keeps all
// rows, because a match means little without its callers.
func (t *top) search(c *call, rec *recording.Recording, q analyze.Query, tree *analyze.Tree, o *topOptions, rows []analyze.Row) ([]analyze.Row, error) {
	p, err := search.Parse(o.Find)
	if err != nil {
		return rows, nil // already checked
	}
	var m *analyze.Matched
	var found *search.Hits
	if p.OfFunctions() {
		m = analyze.Match(rec, tree, p)
	} else {
		if found, err = search.Find(c.ctx, rec, p); err != nil {
			return nil, err
		}
		if m, err = analyze.MatchHits(c.ctx, rec, tree, q, found); err != nil {
			return nil, err
		}
	}
	t.Matched = &topMatched{o.Find, exactnum.Value(m.Total, t.metric), m.Count, m.Functions, m.Total}
	if o.tree {
		for i := range t.matches {
			t.matches[i] = m.Nodes[t.nodes[i]]
		}
		return rows, nil
	}
	return slices.DeleteFunc(rows, func(r analyze.Row) bool {
		switch {
		case o.by == analyze.ByThread && p.Field() == search.InThread:
			return r.Track == recording.NoTrack || !p.MatchTrack(rec.Tracks[r.Track])
		case found != nil && (o.by == analyze.ByFunction || o.by == analyze.ByLine):
			return !found.Matches(r.Func)
		}
		f := r.Function(rec)
		if o.by != analyze.ByFunction {
			f.File = r.Place
		}
		return !p.MatchFunction(&f)
	}), nil
}

// branches lists the heaviest nodes of a tree, callers before callees.
func (t *top) branches(rec *recording.Recording, tree *analyze.Tree, o *topOptions) ([]analyze.Row, error) {
	from, under, err := zoomed(rec, tree, o.zoom)
	if err != nil {
		return nil, err
	}
	chosen := heaviest(tree, from, under, o.rows)
	var rows []analyze.Row
	stack := slices.Clone(tree.Children(0))
	slices.Reverse(stack)
	all := len(tree.Nodes) - 1
	if from != 0 {
		stack, all = []int32{int32(from)}, 0
		for _, in := range under {
			all += b2i(in)
		}
	} else if nd := &tree.Nodes[0]; nd.Self != 0 || nd.Count != 0 {
		stack = append(stack, 0)
	}
	for len(stack) > 0 {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if !chosen[n] {
			continue
		}
		nd := &tree.Nodes[n]
		f := tree.Function(rec, int(n))
		row := analyze.Row{Name: f.Name, Module: f.Module, Func: nd.Func, Self: nd.Self, Total: nd.Total, Count: nd.Count}
		if n == 0 {
			row.Name, row.Total = "[no stack]", row.Self
		}
		rows = append(rows, row)
		t.nodes, t.depths = append(t.nodes, n), append(t.depths, max(1, int(nd.Depth)))
		if n != 0 {
			for i := len(tree.Children(int(n))) - 1; i >= 0; i-- {
				stack = append(stack, tree.Children(int(n))[i])
			}
		}
	}
	t.More = all - len(rows)
	t.matches = make([]bool, len(rows))
	return rows, nil
}

// heaviest chooses the heaviest nodes, at most rows of them (0 for all), and adds their
// callers up to from. If under is not nil, it chooses only nodes in under.
func heaviest(tree *analyze.Tree, from int, under []bool, rows int) []bool {
	chosen := make([]bool, len(tree.Nodes))
	if rows == 0 || rows >= len(tree.Nodes)-1 {
		for i := range chosen {
			chosen[i] = true
		}
		return chosen
	}
	var order []int
	for i := range tree.Nodes {
		if under == nil || under[i] {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		x, y := &tree.Nodes[a], &tree.Nodes[b]
		return cmp.Or(cmp.Compare(y.Total, x.Total), cmp.Compare(x.Depth, y.Depth))
	})
	for _, n := range order[:min(len(order), rows+b2i(from == 0))] {
		for ; !chosen[n]; n = int(tree.Nodes[n].Parent) {
			chosen[n] = true
		}
	}
	return chosen
}

// zoomed returns the node at the end of a path, and under, which tells for each node
// whether it is that node or below it. under is nil for the root.
func zoomed(rec *recording.Recording, tree *analyze.Tree, path []string) (from int, under []bool, err error) {
	if len(path) == 0 {
		return 0, nil, nil
	}
	refs := make([]analyze.Ref, len(path))
	for i, name := range path {
		refs[i] = analyze.Named(name)
	}
	from, missing := tree.Find(rec, refs)
	if missing >= 0 {
		if err := refs[missing].Check(); err != nil {
			return 0, nil, misfit(rec, err)
		}
	}
	if missing == 0 {
		return 0, nil, misfit(rec, fmt.Errorf("no call path begins with %s", safetext.Short(path[0])))
	} else if missing > 0 {
		return 0, nil, misfit(rec, fmt.Errorf("%s does not call %s on this path", safetext.Short(path[missing-1]), safetext.Short(path[missing])))
	}
	under = make([]bool, len(tree.Nodes))
	todo := []int32{int32(from)}
	for len(todo) > 0 {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		under[n] = true
		todo = append(todo, tree.Children(int(n))...)
	}
	return from, under, nil
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// viewText writes the part of the heading about transforms, the function and the search.
func (t *top) viewText(b *strings.Builder) {
	if len(t.Transforms) > 0 {
		var names []string
		for _, x := range t.Transforms {
			if s := x.String(); s != t.around {
				names = append(names, safetext.Short(s))
			}
		}
		if len(names) > 0 {
			fmt.Fprintf(b, "\nstacks: %s", strings.Join(names, ", then "))
		}
	}
	switch {
	case t.Pairs > 0:
		fmt.Fprintf(b, "\nuser and kernel stacks joined: %s; their %s counts once (--split-related shows both halves)", units.Plural(t.Pairs, "pair"), units.Value(t.joined, t.metric))
	}
	if t.Function != nil {
		f := t.Function
		fmt.Fprintf(b, "\n%s: self %s (%s), total %s (%s)", safetext.Short(t.around), units.Value(f.row.Self, t.metric),
			units.Percent(f.row.Self, t.sum), units.Value(f.row.Total, t.metric), units.Percent(f.row.Total, t.sum))
	}
	if m := t.Matched; m != nil {
		fmt.Fprintf(b, "\n%s matches %s (%s), %s", safetext.Short(m.Search), units.Value(m.total, t.metric),
			units.Percent(m.total, t.sum), t.counted(m.Records))
	}
	if t.Cut > 0 {
		fmt.Fprintf(b, "\nnot shown: %s", units.Plural(int64(t.Cut), "light branch"))
	}
}

// deepestIndent is the maximum indent of a tree row; deeper rows show their depth as a
// number.
const deepestIndent = 40

// treeRows writes the rows of a tree.
func (t *top) treeRows(b *strings.Builder) {
	table := [][]string{{"total", "", "self", "", "count", "function"}}
	for i := range t.Rows {
		r := &t.Rows[i]
		name := safetext.Short(r.Name)
		if r.Match {
			name = "* " + name
		}
		indent := strings.Repeat("  ", min(deepestIndent, r.Depth-1))
		if r.Depth-1 > deepestIndent {
			indent += fmt.Sprintf("%d: ", r.Depth)
		}
		if m := safetext.Short(analyze.ModuleBase(r.Module)); m != "" {
			name += "  " + m
		}
		table = append(table, []string{units.Value(r.row.Total, t.metric), units.Percent(r.row.Total, t.sum),
			units.Value(r.row.Self, t.metric), units.Percent(r.row.Self, t.sum), tabular.Dash(r.Count), indent + name})
	}
	tabular.Columns(b, "", "rrrrrl", table)
}
