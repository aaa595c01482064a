package waitreport

import (
	"encoding/json"

	"ashlar/app/core/exactnum"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/calls"
	"ashlar/ingest/query/waits"
	"ashlar/render/units"
)

// Waker is the thread that ended a wait. Stack is its stack at that moment, the innermost function
// first; State is the state that it was in, and Since the time at which that state began.
type Waker struct {
	Thread string      `json:"thread"`
	TID    string      `json:"tid"`
	Stack  []string    `json:"stack"`
	State  string      `json:"state,omitempty"`
	Since  json.Number `json:"since,omitempty"`
}

// A Cell is a column about waits for the list of thread states.
type Cell struct {
	Name string
	Text func(rec *recording.Recording, r *calls.Row) string
}

// Cells lists the columns about waits.
var Cells = []Cell{
	{"stack", func(rec *recording.Recording, r *calls.Row) string {
		return waits.StackText(rec, stackOf(rec, r), textStack)
	}},
	{"woken by", func(rec *recording.Recording, r *calls.Row) string {
		if w := waitOf(rec, r); w != nil {
			return rec.TrackLabel(int(w.Waker.Track))
		}
		return ""
	}},
	{"waker did", func(rec *recording.Recording, r *calls.Row) string {
		w := waitOf(rec, r)
		if w == nil {
			return ""
		}
		call, _ := w.Doing(rec)
		return waits.StackText(rec, call, textStack)
	}},
	{"waker since", func(rec *recording.Recording, r *calls.Row) string {
		w := waitOf(rec, r)
		if w == nil {
			return ""
		}
		state, start := w.Since(rec)
		if state == recording.NoState {
			return ""
		}
		return state.String() + " since " + units.Duration(start-rec.Start)
	}},
}

// waitOf returns the wait of a row, nil if it is not a wait or its waker is unknown.
func waitOf(rec *recording.Recording, r *calls.Row) *waits.Wait {
	if rec.State(r.Call) != recording.Blocked {
		return nil
	}
	w := waits.At(rec, r.Track, r.Span)
	if w.Waker.Track == recording.NoTrack {
		return nil
	}
	return &w
}

func stackOf(rec *recording.Recording, r *calls.Row) recording.CallID {
	w := waits.Wait{Track: r.Track, Start: r.Start, Call: r.Call}
	return w.Stack(rec)
}

// StackOf returns the functions of a state's stack, the innermost first.
func StackOf(rec *recording.Recording, r *calls.Row) []string {
	return waits.Functions(rec, stackOf(rec, r))
}

// WakerOf returns the thread that ended a blocked state, nil if unknown.
func WakerOf(rec *recording.Recording, r *calls.Row) *Waker {
	w := waitOf(rec, r)
	if w == nil {
		return nil
	}
	t := rec.Tracks[w.Waker.Track]
	call, _ := w.Doing(rec)
	x := &Waker{Thread: t.Title(), TID: recording.IDText(t.TID), Stack: append([]string{}, waits.Functions(rec, call)...)}
	if state, start := w.Since(rec); state != recording.NoState {
		x.State, x.Since = state.String(), exactnum.Nanoseconds(start-rec.Start)
	}
	return x
}
