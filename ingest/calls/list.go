package calls

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ashlar/ingest/plain"
	"ashlar/ingest/recording"
	"ashlar/ingest/scan"
)

// Row is a call: where it is, when it began and how long it took, in picoseconds.
type Row struct {
	Track, Lane, Span int
	Call              recording.CallID
	Start, Duration   int64
	// Self is Duration without what it called. CPU is how long it ran on a processor,
	// where HasCPU.
	Self, CPU          int64
	HasCPU, Unfinished bool
	Args               []Member
}

// Arg is the value of an argument, "" for none.
func (r *Row) Arg(key string) string {
	for i := range r.Args {
		if r.Args[i].Key == key {
			return r.Args[i].Value
		}
	}
	return ""
}

// Waiting is how long it ran on no processor, where HasCPU.
func (r *Row) Waiting() int64 { return r.Duration - r.CPU }

// What rows can be sorted by, beside the names of arguments.
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

// List makes a row of each call of a scope's set, and puts them in order: numbers
// from the largest on, times and texts from the first on; with - before it from the
// other end. Rows that are alike come in the order of their start.
func List(ctx context.Context, rec *recording.Recording, set *recording.CallSet, by string) ([]Row, error) {
	if set.Calls > mostRows {
		return nil, fmt.Errorf("%s are too many to list, at most %d are; say which are meant", plain.Plural(set.Calls, "call"), mostRows)
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
				r.CPU, r.HasCPU = rec.SpanCPU(s.Lane, first+k)
				if ref := s.Lane.Args(first + k); ref != 0 && rec.Args != nil {
					r.Args = Members(rec.Args(ref))
				}
				parts[i] = append(parts[i], r)
			}
		})
	})
	if err != nil {
		return nil, err
	}
	rows := slices.Concat(parts...)
	return rows, order(rec, rows, by)
}

// order sorts rows.
func order(rec *recording.Recording, rows []Row, by string) error {
	key, back := strings.CutPrefix(by, "-")
	slices.SortFunc(rows, func(a, b Row) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.Track, b.Track), cmp.Compare(a.Lane, b.Lane), cmp.Compare(a.Span, b.Span))
	})
	number := func(of func(*Row) int64) func(a, b *Row) int {
		return func(a, b *Row) int { return cmp.Compare(of(b), of(a)) }
	}
	var compare func(a, b *Row) int
	switch key {
	case ByStart:
		compare = func(a, b *Row) int { return cmp.Compare(a.Start, b.Start) }
	case ByDuration, "":
		compare = number(func(r *Row) int64 { return r.Duration })
	case BySelf:
		compare = number(func(r *Row) int64 { return r.Self })
	case ByCPU:
		compare = number(func(r *Row) int64 { return r.CPU })
	case ByWaiting:
		compare = number(func(r *Row) int64 {
			if !r.HasCPU {
				return -1
			}
			return r.Waiting()
		})
	case ByThread:
		compare = func(a, b *Row) int { return cmp.Compare(a.Track, b.Track) }
	case ByFunction:
		compare = func(a, b *Row) int { return strings.Compare(rec.FuncName(a.Call), rec.FuncName(b.Call)) }
	default:
		if !slices.ContainsFunc(rows, func(r Row) bool { return slices.ContainsFunc(r.Args, func(m Member) bool { return m.Key == key }) }) {
			return errors.New("no call has an argument " + strconv.Quote(key))
		}
		compare = func(a, b *Row) int { return compareValues(a.Arg(key), b.Arg(key)) }
	}
	slices.SortStableFunc(rows, func(a, b Row) int {
		if back {
			return compare(&b, &a)
		}
		return compare(&a, &b)
	})
	return nil
}

// compareValues puts numbers first, the largest first, then texts, then what has no
// value.
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

// Keys lists the arguments that rows have, the most frequent first, then by name.
func Keys(rows []Row) (keys []string) {
	n := map[string]int{}
	for i := range rows {
		for _, m := range rows[i].Args {
			if n[m.Key]++; n[m.Key] == 1 {
				keys = append(keys, m.Key)
			}
		}
	}
	slices.SortFunc(keys, func(a, b string) int { return cmp.Or(cmp.Compare(n[b], n[a]), strings.Compare(a, b)) })
	return keys
}
