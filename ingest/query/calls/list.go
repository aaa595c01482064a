package calls

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ashlar/ingest/input/safetext"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/scan"
)

// Row is a call or a thread's state: its place, its start and its duration, in
// picoseconds. Lane of a state is recording.StateLane.
type Row struct {
	Track, Lane, Span int
	Call              recording.CallID
	Start, Duration   int64
	// Self is Duration without the time of the call's children.
	Self       int64
	Unfinished bool
}

// Detail is a call with its CPU time and arguments. These are in texts that may be in a
// file larger than memory, so they are read only for the calls that are shown.
type Detail struct {
	*Row
	// CPU is how long the call ran on CPU, if HasCPU.
	CPU    int64
	HasCPU bool
	Args   []Member
}

// Detail reads the CPU time and arguments of a call.
func (r *Row) Detail(rec *recording.Recording) Detail {
	d := Detail{Row: r}
	lane := rec.Tracks[r.Track].Lane(r.Lane)
	d.CPU, d.HasCPU = rec.SpanCPU(lane, r.Span)
	if ref := lane.Args(r.Span); ref != 0 && rec.Args != nil {
		d.Args = Members(rec.Args(ref))
	}
	return d
}

// Arg returns the value of an argument, "" if there is none.
func (d *Detail) Arg(key string) string {
	for i := range d.Args {
		if d.Args[i].Key == key {
			return d.Args[i].Value
		}
	}
	return ""
}

// Waiting returns how long the call was not on CPU, if HasCPU.
func (d *Detail) Waiting() int64 { return d.Duration - d.CPU }

// Details reads the CPU time and arguments of calls.
func Details(ctx context.Context, rec *recording.Recording, rows []Row) ([]Detail, error) {
	const part = 1 << 10
	all := make([]Detail, len(rows))
	err := scan.Spread(ctx, (len(rows)+part-1)/part, func(_, item int) {
		for i := item * part; i < min(len(rows), (item+1)*part); i++ {
			all[i] = rows[i].Detail(rec)
		}
	})
	return all, err
}

// mostLooked is the maximum number of calls that Some returns, First the number of first
// calls among them.
const (
	mostLooked = 1 << 14
	First      = mostLooked / 4
)

// Some returns the first calls and others spread over all calls. The available arguments
// are found from these.
func Some(rows []Row) []Row {
	if len(rows) <= mostLooked {
		return rows
	}
	some := slices.Clone(rows[:First])
	for i := range mostLooked - First {
		some = append(some, rows[First+i*(len(rows)-First)/(mostLooked-First)])
	}
	return some
}

// Sort keys of rows, besides the names of arguments.
const (
	ByStart    = "start"
	ByDuration = "duration"
	BySelf     = "self"
	ByCPU      = "cpu"
	ByWaiting  = "waiting"
	ByThread   = "thread"
	ByFunction = "function"
)

// mostRows bounds how many calls are listed at a time.
const mostRows = 4 << 20

// List returns a row for each call of a scope's set, sorted: durations and other numbers
// largest first, start times and texts in ascending order. A - before the key reverses
// the order. Equal rows are in order of their start.
func List(ctx context.Context, rec *recording.Recording, set *recording.CallSet, by string) ([]Row, error) {
	if set.Calls > mostRows {
		return nil, fmt.Errorf("%s are too many to list (limit %d); restrict them", safetext.Plural(set.Calls, "call"), mostRows)
	}
	items := scan.Cut(scan.Picked(rec, set)...)
	below := nextLanes(rec)
	parts := make([][]Row, len(items))
	err := scan.Spread(ctx, len(items), func(_, i int) {
		s := &items[i]
		s.Each(func(first int, starts, ends []int64, calls []recording.CallID) {
			for k, c := range calls {
				r := Row{Track: s.Track, Lane: s.Row, Span: first + k, Call: c, Start: starts[k], Duration: ends[k] - starts[k], Unfinished: s.Lane.Unfinished(first + k)}
				r.Self = r.Duration - inner(rec, below[s.Lane], starts[k], ends[k], c)
				parts[i] = append(parts[i], r)
			}
		})
	})
	if err != nil {
		return nil, err
	}
	return Sort(ctx, rec, slices.Concat(parts...), by)
}

// Sort returns rows sorted as List does.
func Sort(ctx context.Context, rec *recording.Recording, rows []Row, by string) ([]Row, error) {
	compare := Order(rec, by)
	if compare == nil {
		key, back := strings.CutPrefix(by, "-")
		return orderByDetail(ctx, rec, rows, key, back)
	}
	at := make([]int32, len(rows)) // indices are sorted, because rows are large
	for i := range at {
		at[i] = int32(i)
	}
	slices.SortFunc(at, func(x, y int32) int { return compare(&rows[x], &rows[y]) })
	sorted := make([]Row, len(rows))
	for i, x := range at {
		sorted[i] = rows[x]
	}
	return sorted, nil
}

// Order returns the order of List, in which no two rows are equal; nil if it depends on
// details of the rows.
func Order(rec *recording.Recording, by string) func(a, b *Row) int {
	key, back := strings.CutPrefix(by, "-")
	var compare func(a, b *Row) int
	switch key {
	case ByStart:
		compare = func(a, b *Row) int { return cmp.Compare(a.Start, b.Start) }
	case ByDuration, "":
		compare = func(a, b *Row) int { return cmp.Compare(b.Duration, a.Duration) }
	case BySelf:
		compare = func(a, b *Row) int { return cmp.Compare(b.Self, a.Self) }
	case ByThread:
		compare = func(a, b *Row) int { return cmp.Compare(a.Track, b.Track) }
	case ByFunction:
		compare = func(a, b *Row) int { return strings.Compare(rec.FuncName(a.Call), rec.FuncName(b.Call)) }
	default:
		return nil
	}
	return func(a, b *Row) int {
		c := compare(a, b)
		if back {
			c = -c
		}
		return cmp.Or(c, before(a, b))
	}
}

// before orders equal rows by their start.
func before(a, b *Row) int {
	return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.Track, b.Track), cmp.Compare(a.Lane, b.Lane), cmp.Compare(a.Span, b.Span))
}

// orderByDetail sorts rows by CPU time, waiting time or an argument, reading the texts of
// all of them.
func orderByDetail(ctx context.Context, rec *recording.Recording, rows []Row, key string, back bool) ([]Row, error) {
	details, err := Details(ctx, rec, rows)
	if err != nil {
		return nil, err
	}
	var compare func(a, b *Detail) int
	switch key {
	case ByCPU:
		compare = func(a, b *Detail) int { return cmp.Compare(b.CPU, a.CPU) }
	case ByWaiting:
		waiting := func(d *Detail) int64 {
			if !d.HasCPU {
				return -1
			}
			return d.Waiting()
		}
		compare = func(a, b *Detail) int { return cmp.Compare(waiting(b), waiting(a)) }
	default:
		if !slices.ContainsFunc(details, func(d Detail) bool { return slices.ContainsFunc(d.Args, func(m Member) bool { return m.Key == key }) }) {
			return nil, errors.New("no call has an argument " + strconv.Quote(key))
		}
		compare = func(a, b *Detail) int { return compareValues(a.Arg(key), b.Arg(key)) }
	}
	slices.SortFunc(details, func(a, b Detail) int {
		c := compare(&a, &b)
		if back {
			c = -c
		}
		return cmp.Or(c, before(a.Row, b.Row))
	})
	sorted := make([]Row, len(rows))
	for i := range details {
		sorted[i] = *details[i].Row
	}
	return sorted, nil
}

// compareValues orders numbers first, largest first, then texts, then empty values.
func compareValues(a, b string) int {
	x, xerr := strconv.ParseFloat(a, 64)
	y, yerr := strconv.ParseFloat(b, 64)
	switch {
	case xerr == nil && yerr == nil:
		return cmp.Compare(y, x)
	case (xerr == nil) != (yerr == nil):
		if xerr == nil {
			return -1
		}
		return 1
	case (a == "") != (b == ""):
		if b == "" {
			return -1
		}
		return 1
	}
	return strings.Compare(a, b)
}

// Keys lists the arguments that calls have, the most frequent first, then by name.
func Keys(calls []Detail) (keys []string) {
	n := map[string]int{}
	for i := range calls {
		for _, m := range calls[i].Args {
			if n[m.Key]++; n[m.Key] == 1 {
				keys = append(keys, m.Key)
			}
		}
	}
	slices.SortFunc(keys, func(a, b string) int { return cmp.Or(cmp.Compare(n[b], n[a]), strings.Compare(a, b)) })
	return keys
}
