package analyze

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"ashlar/ingest/input/safetext"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/waits"
)

// RowsBy returns self and total by the given grouping. table makes the rows of groupings of
// stacks, with Table or TableOf, from the query's weights after transforms; those of other
// groupings (see Listed) are computed here. If the recording lacks the data for a
// grouping, the error says so.
func RowsBy(ctx context.Context, rec *recording.Recording, q Query, by By, table func() []Row, ts ...Transform) ([]Row, error) {
	if err := checkBy(rec, q, by, ts); err != nil {
		return nil, err
	}
	if key, ok := by.ContextKey(); ok {
		return ByContext(ctx, rec, q, key, ts...)
	}
	if key, ok := by.ArgumentKey(); ok {
		return ByArgument(ctx, rec, q, key)
	}
	switch by {
	case ByThread:
		return ByTrack(ctx, rec, q, ts...)
	case ByState:
		return StateRows(ctx, rec, q, ts...)
	}
	if by.OfWaits() {
		return waitRows(ctx, rec, q, waits.By(by), ts...)
	}
	return table(), nil
}

// Listed reports whether rows are computed without a tree. That is so for threads,
// states, and values of labels and arguments, which are not functions.
func (b By) Listed() bool {
	_, context := b.ContextKey()
	_, argument := b.ArgumentKey()
	return context || argument || b == ByThread || b == ByState || b.OfWaits()
}

// OfWaits reports whether rows are groups of waits: of blocked states.
func (b By) OfWaits() bool { return b == ByWaker || b == ByWakerStack || b == ByWaiterStack }

// waitStack is the number of functions of a stack in the name of a row.
const waitStack = 6

// waitRows groups the blocked time of a query, as ByTrack does by thread.
func waitRows(ctx context.Context, rec *recording.Recording, q Query, by waits.By, ts ...Transform) ([]Row, error) {
	var only func(*waits.Wait) bool
	if in := left(rec, ts); in != nil {
		only = func(w *waits.Wait) bool { return in(w.Call) }
	}
	sums, err := waits.Sums(ctx, rec, q.Scope, by, only)
	rows := make([]Row, 0, len(sums))
	for _, s := range sums {
		r := Row{Name: "[waker unknown]", Track: s.Track, Self: s.Time, Count: s.Count}
		switch {
		case s.Track != recording.NoTrack:
			r.Name = rec.TrackLabel(s.Track)
		case by == waits.ByWaiterStack:
			r.Name = noStack
		}
		if s.Call != recording.NoCall {
			r.Name = waits.StackText(rec, s.Call, waitStack)
		}
		rows = append(rows, r)
	}
	return used(rows), err
}

func checkBy(rec *recording.Recording, q Query, by By, ts []Transform) error {
	if key, ok := by.ContextKey(); ok {
		keys := ContextKeys(rec)
		if slices.Contains(keys, key) {
			return nil
		}
		has := "none"
		if len(keys) > 0 {
			has = safetext.Short(strings.Join(keys, ", "))
		}
		return fmt.Errorf("the recording has no context key %q; it has %s", key, has)
	}
	_, argument := by.ArgumentKey()
	switch {
	case argument && len(ts) > 0:
		return fmt.Errorf("transforms remove the arguments of spans; leave out %q, or choose the spans with --calls", ts[0].String())
	case by == ByState && (q.Event < 0 || q.Event >= len(rec.Events) || q.Basis(rec) != States):
		return ErrNoStates
	case by.OfWaits() && (q.Event < 0 || q.Event >= len(rec.Events) || q.Basis(rec) != States || q.Metric != recording.StateBlocked):
		return fmt.Errorf("grouping by %s needs the metric blocked of thread states", by)
	case by == ByCategory && !HasCategories(rec):
		return errors.New("only Chrome traces have categories; group by module")
	}
	return nil
}

// ErrNoStates means that the metric does not consist of thread states.
var ErrNoStates = errors.New("the recording has no thread states")
