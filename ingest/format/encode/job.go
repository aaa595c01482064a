// Package encode provides the parts that format writers share: the [Job] to write, the
// [Report] of what the format cannot hold, exact numbers, rows of values, locations and
// spans in the shapes that formats need, and atomic files ([Create]). Each writer is
// next to its reader.
//
// # What every target gets
//
// Numbers stay exact: fractions are decimals where the target has them, and
// where it only has integers they are rounded so that the sum is right to half
// a unit (see [Rounder]); the report says so.
//
// Threads keep their ids. Those that have none, and those whose ids mean
// another thread already, get new ones (see [ThreadIDs]).
package encode

import (
	"bufio"
	"context"
	"errors"

	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
)

// Options are wishes for a conversion; the zero value is fine.
type Options struct {
	// Event names the event for targets that hold one; "" is the default one.
	Event string
	// Window is how long the time windows are that a SPAA file gets, in
	// picoseconds; 0 leaves them as the recording has them.
	Window int64
	// Progress, if set, is called now and then with how much has been done of
	// all that there is to do, in steps of no particular size.
	Progress func(done, total int64)
}

// ErrNothing is the error for a recording of which a target holds nothing.
var ErrNothing = errors.New("the recording has nothing that this format can hold")

// ChoiceError is about an event that was asked for and is not there.
type ChoiceError struct{ Err error }

func (e *ChoiceError) Error() string { return e.Err.Error() }

func (e *ChoiceError) Unwrap() error { return e.Err }

// Job is one conversion under way: the recording Rec is written to W.
type Job struct {
	Ctx context.Context
	Rec *recording.Recording
	Opt Options
	W   *bufio.Writer
	*Report
	// Total is the number of steps, if known.
	Total int64

	done, next int64
}

// stride is how many steps pass between tellings of the progress.
const stride = 8192

// Tick counts n steps; the error is the context's. It looks at that each time: one
// step may write megabytes.
func (j *Job) Tick(n int64) error {
	if j.done += n; j.done < j.next {
		return j.Ctx.Err()
	}
	j.next = j.done + stride
	if j.Opt.Progress != nil {
		j.Opt.Progress(j.done, max(j.Total, j.done))
	}
	return j.Ctx.Err()
}

// OneEvent chooses the event for a target that holds one and notes the others.
func (j *Job) OneEvent() (int, error) {
	event, _, err := analyze.Choose(j.Rec, j.Opt.Event, "")
	if err != nil {
		return 0, &ChoiceError{err}
	}
	if event < 0 {
		return 0, ErrNothing
	}
	for i := range j.Rec.Events {
		if i != event && j.hasRows(i) {
			j.Lose(1, "events", "%s: the file holds one event; choose it with --event", j.Rec.Events[i].NameOrKind())
		}
	}
	return event, nil
}

// hasRows reports whether an event has records.
func (j *Job) hasRows(event int) bool {
	if s := j.Rec.Stacks[event]; s != nil && s.Len() > 0 {
		return true
	}
	switch j.Rec.Events[event].Basis {
	case recording.FromSpans:
		return j.Rec.Counts.Spans > 0
	case recording.FromStates:
		return j.Rec.Counts.States > 0
	}
	return j.HasSamples(event)
}

// epoch is a time that tells clocks that count from 1970 from those that count
// from when a machine began: the year 2001.
const epoch = 1e18

// WallClock is a time in nanoseconds since 1970 where the recording's clock
// counts from then.
func (j *Job) WallClock(t int64) (ns int64, ok bool) {
	c, ok := NewClockText(&j.Rec.Clock, 1000)
	if !ok {
		return 0, false
	}
	ns, _ = c.At(t)
	return ns, ns >= epoch
}

// UnixOf is a note's time in nanoseconds since 1970, 0 if it is none.
func UnixOf(note string) int64 {
	ns, _ := recording.NoteUnixNanos(note)
	return ns
}

// IsUnix reports whether a note is a time since 1970.
func IsUnix(note string) bool { return UnixOf(note) != 0 }
