package analyze

import (
	"fmt"
	"path"
	"sort"
	"strings"

	"ashlar/ingest/recording"
)

// By says what rows of a table stand for.
type By string

// What a table can be grouped by.
const (
	ByFunction By = "function"
	ByModule   By = "module"
	ByFile     By = "file"
	ByThread   By = "thread"
)

// ParseBy reads a grouping as the command line names it.
func ParseBy(s string) (By, error) {
	switch b := By(s); b {
	case ByFunction, ByModule, ByFile, ByThread:
		return b, nil
	}
	return "", fmt.Errorf("cannot group by %q: use function, module, file or thread", s)
}

// Row is one line of a table.
type Row struct {
	// Name is the function, module, file or thread; Module only goes with
	// functions. Func is the function, where rows are functions.
	Name, Module string
	Func         recording.FuncID
	Track        int
	// Self and Total are in the metric's units. A function that stands several
	// times in one stack counts once there in Total. Count is the number of
	// spans, samples or records that end in the row.
	Self, Total, Count int64
}

// Table lists self and total by function, module or file, heaviest self
// first, then by total and name.
func Table(rec *recording.Recording, t *Tree, by By) []Row {
	group, rows := groups(rec, t, by)
	on := make([]int32, len(rows)) // how often a row is on the path now
	// Depth first, with an explicit stack: entering adds, leaving takes away.
	stack := []int32{0}
	for len(stack) > 0 {
		i := stack[len(stack)-1]
		if i < 0 {
			stack = stack[:len(stack)-1]
			on[group[^i]]--
			continue
		}
		nd := &t.Nodes[i]
		g := group[i]
		if on[g] == 0 {
			rows[g].Total += nd.Total
		}
		rows[g].Self += nd.Self
		rows[g].Count += nd.Count
		on[g]++
		stack[len(stack)-1] = ^i
		stack = append(stack, t.Children(int(i))...)
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

// SortRows orders rows by self, then total, then name.
func SortRows(rows []Row) {
	sort.SliceStable(rows, func(i, j int) bool {
		a, b := &rows[i], &rows[j]
		if a.Self != b.Self {
			return a.Self > b.Self
		}
		if a.Total != b.Total {
			return a.Total > b.Total
		}
		if a.Name != b.Name {
			return a.Name < b.Name
		}
		return a.Module < b.Module
	})
}

// groups gives each node of the tree a row. Row 0 is the root's.
func groups(rec *recording.Recording, t *Tree, by By) (group []int32, rows []Row) {
	group = make([]int32, len(t.Nodes))
	rows = []Row{{Name: "[no stack]"}}
	byFunc := map[recording.FuncID]int32{}
	byName := map[string]int32{}
	for i := 1; i < len(t.Nodes); i++ {
		f := t.Nodes[i].Func
		g, ok := byFunc[f]
		if !ok {
			fn := rec.Functions.At(int(f))
			row := Row{Name: fn.Name, Module: fn.Module, Func: f}
			switch by {
			case ByModule:
				row = Row{Name: orNone(fn.Module, "[no module]")}
			case ByFile:
				row = Row{Name: orNone(fn.File, "[no file]")}
			}
			if g, ok = byName[row.Name]; by == ByFunction || !ok {
				g = int32(len(rows))
				rows = append(rows, row)
				byName[row.Name] = g
			}
			byFunc[f] = g
		}
		group[i] = g
	}
	return group, rows
}

func orNone(s, none string) string {
	if s == "" {
		return none
	}
	return s
}

// ModuleBase is a module's short name: the last element of its path, "" for
// none.
func ModuleBase(module string) string {
	if module == "" || strings.HasPrefix(module, "[") {
		return module
	}
	return path.Base(strings.ReplaceAll(module, `\`, "/"))
}
