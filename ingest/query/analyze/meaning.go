package analyze

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"ashlar/ingest/model/funcname"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/scan"
)

// Groupings of functions by the meaning of their names.
const (
	ByPackage  By = "package"
	ByName     By = "name" // digits replaced by #
	ByCategory By = "category"
)

// byArgument begins a grouping of spans by the value of an argument, like arg:detail.
const byArgument = "arg:"

// ArgumentKey returns the key of a grouping by argument; ok is false for other groupings.
func (b By) ArgumentKey() (string, bool) { return strings.CutPrefix(string(b), byArgument) }

// scripts lists extensions of files that count as packages of their own.
var scripts = []string{".js", ".mjs", ".cjs", ".ts", ".jsx", ".tsx", ".py", ".rb", ".php", ".lua"}

// PackageOf returns the package of a function: for scripts the file, otherwise the
// package, namespace or crate in its name, or else the last part of its module; "" if
// unknown.
func PackageOf(f *recording.Function) string {
	if slices.Contains(scripts, strings.ToLower(path.Ext(strings.SplitN(f.File, "?", 2)[0]))) {
		return f.File
	}
	if p := funcname.Package(f.Name); p != "" {
		return p
	}
	return ModuleBase(f.Module)
}

// HasCategories reports whether a recording's modules are the categories of trace
// events.
func HasCategories(rec *recording.Recording) bool { return rec.Source.Format == "chrome" }

// Meaning returns the group of a function by the meaning of its name; ok is false for
// other groupings.
func (b By) Meaning(f *recording.Function) (name string, ok bool) {
	switch b {
	case ByPackage:
		return orNone(PackageOf(f), "[no package]"), true
	case ByName:
		return funcname.FoldDigits(f.Name), true
	case ByCategory:
		return orNone(f.Module, "[no category]"), true
	}
	return "", false
}

// WorthFolding returns the number of names that differ only in numbers if OpFoldDigits
// makes a picture easier to read: they fill at least a tenth of its width, or they are at
// least 50 and half of all names. It returns 0 otherwise. It fails only if ctx ends.
func WorthFolding(ctx context.Context, rec *recording.Recording, q Query) (n int, err error) {
	const visible, many = .1, 50
	w, err := Weigh(ctx, rec, q)
	if err != nil {
		return 0, err
	}
	n, share, err := Numbered(ctx, rec, w)
	if err != nil || share < visible && (n < many || 2*n < rec.Functions.Len()) {
		return 0, err
	}
	return n, nil
}

// fewestNumbered is the minimum number of names worth folding: fewer can be distinguished
// at a glance.
const fewestNumbered = 5

// Numbered counts the functions whose names differ from others of their module only in
// numbers: those that OpFoldDigits merges. share is the largest fraction of the total
// weight, and so of a flamegraph's width, that a group of at least five such functions
// fills at one depth. It fails only if ctx ends.
func Numbered(ctx context.Context, rec *recording.Recording, w *Weights) (n int, share float64, err error) {
	type group struct{ name, module string }
	groups, members := map[group]int{}, []int(nil)
	of := make([]int, rec.Functions.Len()) // 1 + the function's group
	for i := range of {
		if i%4096 == 0 && ctx.Err() != nil {
			return 0, 0, ctx.Err()
		}
		f := rec.Functions.At(i)
		if name := funcname.FoldDigits(f.Name); name != f.Name {
			k := group{name, f.Module}
			if groups[k] == 0 {
				members = append(members, 0)
				groups[k] = len(members)
			}
			of[i] = groups[k]
			members[of[i]-1]++
		}
	}
	for _, k := range members {
		if k > 1 {
			n += k
		}
	}
	type level struct{ group, depth int }
	filled := map[level]int64{}
	total := slices.Clone(w.Self)
	for i := len(total) - 1; i > 0; i-- { // parents precede their children
		if i%4096 == 0 && ctx.Err() != nil {
			return 0, 0, ctx.Err()
		}
		c := recording.CallID(i)
		total[rec.Calls.Parent(c)] += total[c]
		if g := of[rec.Func(c)]; g > 0 && members[g-1] >= fewestNumbered {
			filled[level{g, rec.Calls.Depth(c)}] += total[c]
		}
	}
	for _, v := range filled {
		share = max(share, float64(v)/float64(max(1, w.Sum)))
	}
	return n, share, nil
}

// meaningGroup returns the key of a function's group.
func (p *callPaths) meaningGroup(by By) func(*recording.Function) uint32 {
	return func(f *recording.Function) uint32 {
		name, _ := by.Meaning(f)
		g := recording.Function{Name: name, Kind: f.Kind}
		if by == ByName {
			g.Module = f.Module
			return p.group(groupID{by: by, name: name + "\x00" + f.Module}, g)
		}
		return p.group(groupID{by: by, name: name}, g)
	}
}

// argumentValue returns the value of an argument in the text of all arguments, as in JSON
// but strings without quotes. Members of nested objects are named KEY.KEY.
func argumentValue(text, key string) (string, bool) {
	for text != "" {
		var m map[string]json.RawMessage
		if json.Unmarshal([]byte(text), &m) != nil {
			return "", false
		}
		if raw, ok := m[key]; ok {
			var s string
			if json.Unmarshal(raw, &s) == nil {
				return s, true
			}
			return string(raw), true
		}
		head, rest, ok := strings.Cut(key, ".")
		if !ok {
			return "", false
		}
		text, key = string(m[head]), rest
	}
	return "", false
}

// ByArgument lists the time of spans by the value of one of their arguments. Total counts
// a span inside another with the same value only once. A span without the argument counts
// for the nearest span above that has it.
func ByArgument(ctx context.Context, rec *recording.Recording, q Query, key string) ([]Row, error) {
	if q.Event < 0 || q.Event >= len(rec.Events) || rec.Events[q.Event].Basis != recording.FromSpans || q.Metric > recording.SpanCount {
		return nil, fmt.Errorf("grouping by argument %q supports only the metrics time and count of spans", key)
	}
	b := &argumentRows{rec: rec, key: key, at: map[string]int{}, timed: q.Metric == recording.SpanTime}
	b.from, b.to = q.Scope.Bounds(rec)
	b.row(WithoutArgument(key)) // row 0
	stretches := map[[2]int]scan.Stretch{}
	for _, s := range q.lanes(rec) {
		stretches[[2]int{s.Track, s.Row}] = s
	}
	for ti, t := range rec.Tracks {
		for _, column := range t.Columns(&rec.Calls) {
			var above []argued
			for _, li := range column {
				s, ok := stretches[[2]int{ti, li}]
				if !ok {
					above = nil
					continue
				}
				if above = b.lane(s, above); ctx.Err() != nil {
					return nil, ctx.Err()
				}
			}
		}
	}
	rows := slices.DeleteFunc(b.rows, func(r Row) bool { return r.Count == 0 })
	if !b.timed {
		for i := range rows {
			rows[i].Total = rows[i].Self
		}
	}
	SortRows(rows)
	return rows, nil
}

// WithoutArgument returns the name of the row of [ByArgument] for spans without the
// argument.
func WithoutArgument(key string) string { return "[no " + key + "]" }

// argumentRows collects the rows of [ByArgument].
type argumentRows struct {
	rec      *recording.Recording
	key      string
	from, to int64
	timed    bool // the query is for time, not for the count
	rows     []Row
	at       map[string]int // index of the row of each value
}

func (b *argumentRows) row(value string) int {
	i, ok := b.at[value]
	if !ok {
		i = len(b.rows)
		b.at[value] = i
		b.rows = append(b.rows, Row{Name: value, Track: recording.NoTrack})
	}
	return i
}

// lane counts the spans of a lane. It returns them, because the lane below needs them.
func (b *argumentRows) lane(s scan.Stretch, above []argued) (here []argued) {
	s.Each(func(first int, starts, ends []int64, calls []recording.CallID) {
		for k, c := range calls {
			x := argued{start: starts[k], end: ends[k], call: c}
			for len(above) > 0 && above[0].end < x.start {
				above = above[1:]
			}
			up := b.over(&x, above)
			if up != nil {
				x.row, x.within = up.row, up.within
			}
			if ref := s.Lane.Args(first + k); ref != 0 && b.rec.Args != nil {
				if v, ok := argumentValue(b.rec.Args(ref), b.key); ok {
					x.row = b.row(v)
				}
			}
			b.count(&x, up)
			here = append(here, x)
		}
	})
	return here
}

// over returns the span above that contains x, nil if there is none.
func (b *argumentRows) over(x *argued, above []argued) *argued {
	for i := range above {
		switch up := &above[i]; {
		case up.start > x.start:
			return nil
		case up.end >= x.end && up.call == b.rec.Calls.Parent(x.call):
			return up
		}
	}
	return nil
}

func (b *argumentRows) count(x, up *argued) {
	took := int64(1)
	if b.timed {
		if took = min(x.end, b.to) - max(x.start, b.from); up != nil {
			recording.Add(&b.rows[up.row].Self, -took)
		}
	}
	recording.Add(&b.rows[x.row].Self, took)
	b.rows[x.row].Count++
	if slices.Contains(x.within, x.row) {
		return
	}
	x.within = append(slices.Clip(x.within), x.row)
	if b.timed {
		recording.Add(&b.rows[x.row].Total, took)
	}
}

// argued is a span with the row it counts in; within lists the rows of the spans around
// it and its own.
type argued struct {
	start, end int64
	call       recording.CallID
	row        int
	within     []int
}
