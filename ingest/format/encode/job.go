// Package encode provides the parts that format writers share: the [Job] to write, the
// [Report] of what the format cannot hold, exact numbers, locations and spans in the shapes
// that formats need, and atomic files ([Create]). Each writer is next to its reader.
//
// # What every target gets
//
// Numbers stay exact: fractions are written as decimals if the target has them. If it has
// only integers, they are rounded so that the sum is right to half a unit (see
// [Rounder]), and the report says so.
//
// Threads keep their ids. Threads without an id, or whose id already belongs to another
// thread, get a new one (see [ThreadIDs]).
package encode

import (
	"bufio"
	"context"
	"errors"

	"ashlar/ingest/model/recording"
)

// Options are the options of a conversion; the zero value is valid.
type Options struct {
	// Event names the event to write, for targets that hold only one; "" is the default
	// event.
	Event string
	// Window is the length of the time windows of a SPAA file, in picoseconds; 0 keeps
	// the recording's windows.
	Window int64
	// Limit, if set, ends the conversion before a file becomes unexpectedly large.
	Limit *Limit
	// Progress, if set, is called now and then with the steps done so far and their
	// total; steps have no particular size.
	Progress func(done, total int64)
}

// ErrNothing is the error if a recording has nothing that the target can hold.
var ErrNothing = errors.New("this format can hold none of the recording's data")

// A ChoiceError reports that the requested event does not exist.
type ChoiceError struct{ Err error }

func (e *ChoiceError) Error() string { return e.Err.Error() }

func (e *ChoiceError) Unwrap() error { return e.Err }

// A Job is a conversion in progress: it writes the recording Rec to W.
type Job struct {
	Ctx context.Context
	Rec *recording.Recording
	Opt Options
	W   *bufio.Writer
	*Report
	// Total is the number of steps, if known.
	Total int64

	done, next int64

	expected, rows, deep int64 // bytes, stacks and frames: see Expect
}

// stride is the number of steps between calls of Progress.
const stride = 8192

// Tick counts n steps and returns the context's error. It checks the context every time
// because one step may write megabytes.
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

// epoch separates clocks that count from 1970 from clocks that count from boot: 10^18 ns
// after 1970 is September 2001.
const epoch = 1e18

// WallClock converts a time to nanoseconds since 1970; ok is false if the recording's
// clock does not count from then.
func (j *Job) WallClock(t int64) (ns int64, ok bool) {
	c, ok := NewClockText(&j.Rec.Clock, 1000)
	if !ok {
		return 0, false
	}
	ns, _ = c.At(t)
	return ns, ns >= epoch
}

// UnixOf returns a note's time in nanoseconds since 1970, 0 if the note is not a time.
func UnixOf(note string) int64 {
	ns, _ := recording.NoteUnixNanos(note)
	return ns
}

// IsUnix reports whether a note is a time since 1970.
func IsUnix(note string) bool { return UnixOf(note) != 0 }
