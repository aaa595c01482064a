package calls

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"ashlar/ingest/input/decimal"
	"ashlar/ingest/input/safetext"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/ingest/query/spans"
)

// If no calls are slow by spans.Durations.Slow, the slowest tenth is, but at most mostSlow
// calls.
const (
	slowShare = 10
	mostSlow  = 100_000
)

// Slow splits the calls of a query into the slow ones and the rest. The slow ones are those
// that spans.Durations.Slow finds or, if it finds none, the slowest tenth. found describes
// the rule that was used.
func (q *Query) Slow(ctx context.Context, rec *recording.Recording, in recording.Scope) (slow, rest *Query, found string, err error) {
	d, err := q.durations(ctx, rec, in)
	if err != nil {
		return nil, nil, "", err
	}
	if d.Count < 2 {
		return nil, nil, "", fmt.Errorf("a comparison needs two calls, but %s has %s", q, map[bool]string{true: "one", false: "none"}[d.Count == 1])
	}
	if q.Others || q.Slowest > 0 {
		return nil, nil, "", errors.New("the slow calls of " + q.String() + " are undefined; name the calls without ! and slowest")
	}
	a, b := *q, *q
	slowest, apart := d.Slow()
	if apart {
		border := slowest.From
		a.Duration = between(q.Duration, border, -1)
		b.Duration = between(q.Duration, -1, border)
		return &a, &b, "slow mode (" + decimal.Length(border) + " and more)", nil
	}
	a.Slowest = int(tenth(d))
	b.Slowest, b.Others = a.Slowest, true
	return &a, &b, "slowest tenth", nil
}

// tenth returns the number of slow calls among d if none stand out.
func tenth(d *spans.Durations) int64 { return max(1, min(d.Count/slowShare, mostSlow)) }

// SlowCount counts the calls of functions in a scope: the slow ones, as Slow defines
// them, and all. apart reports whether the slow ones stand apart from the others.
func SlowCount(ctx context.Context, rec *recording.Recording, in recording.Scope, functions []recording.FuncID) (slow, all int64, apart bool, err error) {
	bound, err := Bind(ctx, rec, in.Of(nil))
	if err != nil {
		return 0, 0, false, err
	}
	d, err := Durations(ctx, rec, bound, functions, recording.SpanTime)
	if err != nil || d.Count < 2 {
		return 0, 0, false, err
	}
	if m, ok := d.Slow(); ok {
		return m.Count, d.Count, true, nil
	}
	return tenth(d), d.Count, false, nil
}

// Typical returns a typical call of the same function as the one call that the query
// selects: the median (by nearest rank) of the other calls in its mode or, if it is alone
// in its mode, of the fullest mode. of is the number of calls from which the median is
// taken.
func (q *Query) Typical(ctx context.Context, rec *recording.Recording, in recording.Scope) (typical *Query, of int, err error) {
	set, err := Bind(ctx, rec, in.Of(&recording.CallSet{Text: q.String()}))
	if err != nil {
		return nil, 0, err
	}
	if set.Calls.Calls != 1 {
		return nil, 0, fmt.Errorf("%s selects %s; --typical needs exactly one", q, safetext.Plural(set.Calls.Calls, "call"))
	}
	one, err := List(ctx, rec, set.Calls, ByStart)
	if err != nil {
		return nil, 0, err
	}
	f := rec.Functions.At(int(rec.Func(one[0].Call)))
	same := &Query{Functions: []string{analyze.RefTo(f).Typed(rec)}}
	all, err := Bind(ctx, rec, in.Of(&recording.CallSet{Text: same.String()}))
	if err != nil {
		return nil, 0, err
	}
	d, err := spans.DurationsIn(ctx, rec, all)
	if err != nil {
		return nil, 0, err
	}
	rows, err := List(ctx, rec, all.Calls, "-"+ByDuration)
	if err != nil {
		return nil, 0, err
	}
	rows = slices.DeleteFunc(rows, func(r Row) bool { return r.Track == one[0].Track && r.Lane == one[0].Lane && r.Span == one[0].Span })
	hs := d.Modes()
	slices.SortStableFunc(hs, func(a, b spans.Mode) int { return cmp.Compare(b.Count, a.Count) })
	own := slices.IndexFunc(hs, func(h spans.Mode) bool { return one[0].Duration >= h.From && one[0].Duration < h.To })
	for _, k := range []int{own, 0} {
		if k < 0 {
			continue
		}
		in := slices.DeleteFunc(slices.Clone(rows), func(r Row) bool { return r.Duration < hs[k].From || r.Duration >= hs[k].To })
		if len(in) > 0 {
			r := &in[(len(in)-1)/2]
			return &Query{Functions: same.Functions, At: []Place{placeOf(rec, r.Track, r.Start)}, Duration: recording.Offsets(r.Duration, r.Duration+1)}, len(in), nil
		}
	}
	return nil, 0, fmt.Errorf("%s has no other call", same)
}

// placeOf returns the place where a call begins.
func placeOf(rec *recording.Recording, track int, start int64) Place {
	t := rec.Tracks[track]
	return Place{PID: t.PID, TID: t.TID, Name: t.Name, Time: start - rec.Start}
}

// durations measures the calls that a query selects.
func (q *Query) durations(ctx context.Context, rec *recording.Recording, in recording.Scope) (*spans.Durations, error) {
	bound, err := Bind(ctx, rec, in.Of(&recording.CallSet{Text: q.String()}))
	if err != nil {
		return nil, err
	}
	return spans.DurationsIn(ctx, rec, bound)
}

// between narrows a range; -1 means no limit on that side.
func between(r recording.Range, from, to int64) recording.Range {
	if from >= 0 && (!r.HasFrom || from > r.From) {
		r.From, r.HasFrom = from, true
	}
	if to >= 0 && (!r.HasTo || to < r.To) {
		r.To, r.HasTo = to, true
	}
	return r
}
