package trend

import (
	"ashlar/app/core/series"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/trend"
)

// row is a series with its changes. A function that is new or removed has one change if
// no other was found.
type row struct {
	*trend.Series
	changes []trend.Change
	chosen  int // the change to open, -1 for none
	found   bool
}

func (r *row) total() bool { return r.Function == recording.FuncName{} }

func (r *row) name() string {
	if r.total() {
		return "Total"
	}
	return r.Function.Name
}

// change returns the chosen change, nil for none.
func (r *row) change() *trend.Change {
	if r.chosen < 0 {
		return nil
	}
	return &r.changes[r.chosen]
}

// rowOf returns the row of a series over n runs.
func rowOf(s *trend.Series, n int) row {
	r := row{Series: s, changes: s.Changes, chosen: -1, found: len(s.Changes) > 0}
	for i := range r.changes {
		if &r.changes[i] == s.Largest() {
			r.chosen = i
		}
	}
	if from, to, ok := s.Span(); ok && !r.found {
		at := from
		if from == 0 {
			at = to
		}
		r.changes, r.chosen = []trend.Change{{At: at, To: n}}, 0
	}
	return r
}

// size words a row's chosen change: +48.2 %, new, or gone.
func (r *row) size() string {
	c := r.change()
	switch {
	case c == nil:
		return ""
	case r.found:
		return series.Size(c)
	case r.Has[c.At]:
		return "new"
	}
	return "gone"
}

// sign is positive if the cost grew.
func (r *row) sign() int {
	c := r.change()
	if up := c.After > c.Before; r.found && up || !r.found && r.Has[c.At] {
		return 1
	}
	return -1
}
