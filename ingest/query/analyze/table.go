package analyze

import (
	"cmp"
	"fmt"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/waits"
)

// By is the grouping of a table's rows.
type By string

// Groupings of a table.
const (
	ByFunction By = "function"
	ByModule   By = "module"
	ByFile     By = "file"
	ByLine     By = "line"
	ByThread   By = "thread"
	ByState    By = "state"
	// ByWaker groups blocked time by the thread that ended it, ByWakerStack by what that
	// thread was doing, and ByWaiterStack by the stack of the blocked thread.
	ByWaker       By = By(waits.ByWaker)
	ByWakerStack  By = By(waits.ByWakerStack)
	ByWaiterStack By = By(waits.ByWaiterStack)
)

// byContext begins a grouping by the values of a context key, like context:cpu.
const byContext = "context:"

// ParseBy parses a grouping as used on the command line: one of the constants,
// context:KEY or arg:KEY.
func ParseBy(s string) (By, error) {
	switch b := By(s); b {
	case ByFunction, ByModule, ByFile, ByLine, ByThread, ByState, ByPackage, ByName, ByCategory, ByWaker, ByWakerStack, ByWaiterStack:
		return b, nil
	}
	for _, prefix := range []string{byContext, byArgument} {
		if len(s) > len(prefix) && strings.HasPrefix(s, prefix) {
			return By(s), nil
		}
	}
	return "", fmt.Errorf("cannot group by %q: use function, package, name, category, module, file, line, thread, state, waker, waker-stack or waiter-stack, or context:KEY, arg:KEY", s)
}

// ContextKey returns the key of a grouping by context; ok is false for other groupings.
func (b By) ContextKey() (string, bool) { return strings.CutPrefix(string(b), byContext) }

// Row is one line of a table.
type Row struct {
	// Name is the function, module, file or thread; Module is set only for functions.
	// Func is the function if rows are functions or lines; see IsFunction.
	Name, Module string
	Func         recording.FuncID
	// Place is a line's file:line, or only the file if the line is unknown; Name is then
	// the function of the line.
	Place string
	Track int
	// Self and Total are in the metric's units. A function that occurs several times in
	// one stack counts once in Total. Count is the number of spans, samples or records
	// that end in the row.
	Self, Total, Count int64
}

// Function returns the function of a row, or describes the row as if it were one.
func (r *Row) Function(rec *recording.Recording) recording.Function {
	if r.IsFunction(rec) {
		return rec.Functions.At(int(r.Func))
	}
	return recording.Function{Name: r.Name, Module: r.Module}
}

// IsFunction reports whether Func is the function of the row. It is not in rows of
// modules and files, nor in the row of weight without a stack.
func (r *Row) IsFunction(rec *recording.Recording) bool {
	if int(r.Func) >= rec.Functions.Len() {
		return false
	}
	f := rec.Functions.At(int(r.Func))
	return f.Name == r.Name && f.Module == r.Module
}

// NoFunc is the Func of the row of weight without a stack. It is out of range in every
// recording.
const NoFunc recording.FuncID = math.MaxUint32

// Names of rows that have none.
const (
	noModule = "[no module]"
	noFile   = "[no file]"
	noStack  = "[no stack]"
)

// Table lists self and total by function, module, file or line, heaviest self first, then
// by total and name. Inverting a tree does not change its table.
func Table(rec *recording.Recording, t *Tree, by By) []Row {
	if t.upright != nil {
		t = t.upright
	}
	if by == ByLine {
		t = byLines(rec, t)
	}
	group, rows := groups(rec, t, by)
	outer := t.outermost(group, len(rows))
	for i := range t.Nodes {
		nd := &t.Nodes[i]
		r := &rows[group[i]]
		if outer[i] {
			recording.Add(&r.Total, nd.Total)
		}
		recording.Add(&r.Self, nd.Self)
		r.Count += nd.Count
	}
	// The root is a row only when records have empty stacks.
	if r := &rows[0]; r.Self == 0 && r.Count == 0 {
		rows = rows[1:]
	} else {
		r.Total = r.Self
	}
	SortRows(rows)
	return rows
}

// outermost reports for each node whether no node above it has its row.
func (t *Tree) outermost(row []int32, rows int) []bool {
	on := make([]int32, rows) // how often a row is on the current path
	outer := make([]bool, len(t.Nodes))
	t.EachPath(func(i int32) {
		outer[i] = on[row[i]] == 0
	}, func(i int32) { on[row[i]]++ }, func(i int32) { on[row[i]]-- })
	return outer
}

// SortRows orders rows by self, then total, then name.
func SortRows(rows []Row) {
	// There may be very many rows, and a row is large, so only the sort keys are sorted.
	type key struct {
		self, total int64
		row         int
	}
	keys := make([]key, len(rows))
	for i := range rows {
		keys[i] = key{rows[i].Self, rows[i].Total, i}
	}
	slices.SortFunc(keys, func(a, b key) int {
		if a.self != b.self {
			return cmp.Compare(b.self, a.self)
		}
		if a.total != b.total {
			return cmp.Compare(b.total, a.total)
		}
		x, y := &rows[a.row], &rows[b.row]
		return cmp.Or(cmp.Compare(x.Name, y.Name), cmp.Compare(x.Module, y.Module), cmp.Compare(x.Place, y.Place), cmp.Compare(a.row, b.row))
	})
	// Move rows in place, along the cycles of the permutation: memory may be too short
	// for a copy.
	for i := range keys {
		if keys[i].row < 0 {
			continue
		}
		first := rows[i]
		for to := i; ; {
			from := keys[to].row
			keys[to].row = -1
			if from == i {
				rows[to] = first
				break
			}
			rows[to] = rows[from]
			to = from
		}
	}
}

// groups assigns a row to each node of the tree. Row 0 is the root's.
func groups(rec *recording.Recording, t *Tree, by By) (group []int32, rows []Row) {
	group = make([]int32, len(t.Nodes))
	rows = []Row{{Name: noStack, Func: NoFunc}}
	byKey := make([]int32, rec.Functions.Len()+len(t.Groups)) // 0 while not known
	byName := map[string]int32{}
	shared := by != ByFunction && by != "" && by != ByLine
	if !shared { // growing the slice of rows, which can be very long, would take twice the memory
		rows = append(make([]Row, 0, 1+t.distinct(rec)), rows...)
	}
	for i := 1; i < len(t.Nodes); i++ {
		key := t.key(rec, i)
		g := byKey[key]
		if g == 0 {
			row := t.row(rec, i, by)
			if shared {
				g = byName[row.Name]
			}
			if g == 0 {
				g = int32(len(rows))
				rows = append(rows, row)
				if shared {
					byName[row.Name] = g
				}
			}
			byKey[key] = g
		}
		group[i] = g
	}
	return group, rows
}

// distinct counts the functions and groups of the nodes.
func (t *Tree) distinct(rec *recording.Recording) (n int) {
	seen := make([]bool, rec.Functions.Len()+len(t.Groups))
	for i := 1; i < len(t.Nodes); i++ {
		if key := t.key(rec, i); !seen[key] {
			seen[key] = true
			n++
		}
	}
	return n
}

// key returns the number of a node's function or group: functions first, then groups.
func (t *Tree) key(rec *recording.Recording, node int) int {
	if g := t.Nodes[node].Group; g > 0 {
		return rec.Functions.Len() + int(g) - 1
	}
	return int(t.Nodes[node].Func)
}

func (t *Tree) row(rec *recording.Recording, node int, by By) Row {
	fn := t.Function(rec, node)
	return rowOf(&fn, t.Nodes[node].Func, by)
}

// rowOf returns the row of a function, or of a line or group described as one.
func rowOf(fn *recording.Function, id recording.FuncID, by By) Row {
	if name, ok := by.Meaning(fn); ok {
		return Row{Name: name}
	}
	switch by {
	case ByModule:
		return Row{Name: orNone(fn.Module, noModule)}
	case ByFile:
		return Row{Name: orNone(fn.File, noFile)}
	case ByLine:
		return Row{Name: fn.Name, Module: fn.Module, Func: id, Place: fn.File}
	}
	return Row{Name: fn.Name, Module: fn.Module, Func: id}
}

// byLines rebuilds the tree with a node for each line. Its nodes are groups whose File is
// file:line.
func byLines(rec *recording.Recording, t *Tree) *Tree {
	p := pathsOf(rec, t.Weights)
	p.apply(t.Transforms)
	before := uint32(len(p.groups))
	keys := make([]uint32, rec.Frames.Len()) // by frame; 0 while not known
	for i := 1; i < len(p.key); i++ {
		if p.key[i] >= p.functions && p.key[i] < p.functions+before {
			continue // a module or file, made by a transform
		}
		f := rec.Calls.Frame(p.call[i])
		if keys[f] == 0 {
			keys[f] = 1 + p.line(f)
		}
		p.key[i] = keys[f] - 1
	}
	p.inverted = false
	return p.tree(t.Weights)
}

// line returns the key of the line of a frame.
func (p *callPaths) line(f recording.FrameID) uint32 { return p.group(lineOf(p.rec, f)) }

// lineOf returns the line of a frame, described as a function whose File is file:line.
func lineOf(rec *recording.Recording, f recording.FrameID) (groupID, recording.Function) {
	frame := rec.Frames.At(int(f))
	fn := rec.Functions.At(int(frame.Func))
	if frame.File != "" {
		fn.File = frame.File
	}
	id := groupID{ByLine, fn.File, frame.Func, max(0, frame.Line)}
	if frame.Line > 0 {
		fn.File += ":" + strconv.Itoa(int(frame.Line))
	}
	return id, fn
}

func orNone(s, none string) string {
	if s == "" {
		return none
	}
	return s
}

// ModuleBase returns a module's short name: the last element of its path, "" if there is
// no module.
func ModuleBase(module string) string {
	if module == "" || strings.HasPrefix(module, "[") {
		return module
	}
	return path.Base(strings.ReplaceAll(module, `\`, "/"))
}
