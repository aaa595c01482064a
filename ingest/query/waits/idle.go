package waits

import (
	"context"

	"ashlar/ingest/model/recording"
)

// Idle tells which waits are idle: those in which a goroutine of the Go runtime waits for
// work, with no function of the program on its stack.
type Idle struct {
	rec     *recording.Recording
	runtime []bool // by track
}

// NewIdle returns the Idle of a recording, or nil if it has no runtime goroutines.
func NewIdle(rec *recording.Recording) *Idle {
	if rec.Counts.States == 0 {
		return nil
	}
	var x *Idle
	for i, t := range rec.Tracks {
		if t.States.Len() == 0 || !rec.OfRuntime(t) {
			continue
		}
		if x == nil {
			x = &Idle{rec, make([]bool, len(rec.Tracks))}
		}
		x.runtime[i] = true
	}
	return x
}

// Alone reports whether a scope has states of no other threads than goroutines of the
// runtime.
func (x *Idle) Alone(in recording.Scope) bool {
	chosen := in.TrackTest()
	for i, t := range x.rec.Tracks {
		if t.States.Len() > 0 && !x.runtime[i] && chosen(i) {
			return false
		}
	}
	return true
}

// Is reports whether a state of a track, given its call, is an idle wait.
func (x *Idle) Is(track int, call recording.CallID) bool {
	if x == nil || track < 0 || track >= len(x.runtime) || !x.runtime[track] || x.rec.State(call) != recording.Blocked {
		return false
	}
	p := placeOf(x.rec, x.rec.Calls.Parent(call))
	return !p.Known || p.System
}

// LeftOut returns the number of idle waits that a scope leaves out, and their time.
func LeftOut(ctx context.Context, rec *recording.Recording, in recording.Scope) (n, time int64, err error) {
	if in.Idle != recording.Out || NewIdle(rec) == nil {
		return 0, 0, nil
	}
	in.Idle = recording.Only
	err = Each(ctx, rec, in, func(_ *Wait, from, to int64) {
		n++
		recording.Add(&time, to-from)
	})
	return n, time, err
}
