package session

import (
	"context"

	"ashlar/ingest/query/waits"
)

// Locks are the locks of a scope, and the time that threads were blocked. Idle is the time
// of idle waits that are left out.
type Locks struct {
	All     []waits.Lock
	Blocked int64
	Idle    int64
}

// blocked finds the locks of the scope, or takes them from the previous answer.
func (a *Answer) blocked(ctx context.Context, old *Answer) error {
	if old != nil && old.Locks != nil && old.Rec == a.Rec && old.Question.Scope.Equal(a.Question.Scope) {
		a.Locks = old.Locks
		return nil
	}
	all, err := waits.Of(ctx, a.Rec, a.Scope)
	if err != nil {
		return err
	}
	_, idle, err := waits.LeftOut(ctx, a.Rec, a.Scope)
	if err != nil {
		return err
	}
	a.Locks = &Locks{All: all, Idle: idle}
	for i := range all {
		a.Locks.Blocked += all[i].Lost
	}
	return nil
}
