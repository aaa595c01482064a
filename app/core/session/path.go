package session

import (
	"context"

	"ashlar/ingest/query/criticalpath"
)

// CriticalPath is the critical path of a scope, with the sums of its steps.
type CriticalPath struct {
	Paths []criticalpath.Path
	// Steps are the steps of all paths, one path after another.
	Steps []criticalpath.Step
	// Sums are the sums by state, thread and function.
	Sums [3][]criticalpath.Sum
	// Err is the reason why there is no critical path.
	Err error
}

// path finds the critical path, or takes it from the previous answer.
func (a *Answer) path(ctx context.Context, old *Answer) error {
	if old != nil && old.Critical != nil && old.Rec == a.Rec && old.Question.Scope.Equal(a.Question.Scope) {
		a.Critical = old.Critical
		return nil
	}
	c := new(CriticalPath)
	if c.Paths, c.Err = criticalpath.Of(ctx, a.Rec, a.Scope); ctx.Err() != nil {
		return ctx.Err()
	}
	for i := range c.Paths {
		c.Steps = append(c.Steps, c.Paths[i].Steps...)
	}
	for i, by := range []criticalpath.By{criticalpath.ByState, criticalpath.ByThread, criticalpath.ByFunction} {
		c.Sums[i] = criticalpath.Sums(a.Rec, c.Paths, by)
	}
	a.Critical = c
	return nil
}
