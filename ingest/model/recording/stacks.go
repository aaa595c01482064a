package recording

import "ashlar/ingest/model/column"

// ContextID is the index of a Context in a Recording; 0 is the empty one.
type ContextID uint32

// Attr is one key of a context with its value as text.
type Attr struct{ Key, Value string }

// Context describes where a stack record was taken: pid, tid, cpu,
// comm, labels. Sorted by key.
type Context []Attr

// LabelRecording is the key of the name of the recording that a stack record came from, in a
// recording joined from several; see also Process.Recording.
const LabelRecording = "recording"

// Get returns the value of a key, "" if the context does not have it.
func (c Context) Get(key string) string {
	for _, a := range c {
		if a.Key == key {
			return a.Value
		}
	}
	return ""
}

// NoTrack marks a record that names no thread.
const NoTrack = -1

// Stacks are aggregated records of one event: a call (the leaf of the stack), its track,
// its context and a value for each metric of the event. Rows are as in the file; the same
// call may occur in several.
type Stacks struct {
	calls    column.Vec[CallID]
	tracks   column.Vec[int32]
	contexts column.Vec[ContextID]
	values   []column.Vec[int64]
	halves   []Halves
	ones     bool // every record counts one: there are no values
}

func newStacks(s *column.Shelf) *Stacks {
	return &Stacks{calls: column.On[CallID](s), tracks: column.On[int32](s), contexts: column.On[ContextID](s)}
}

// Len returns the number of records.
func (s *Stacks) Len() int { return s.calls.Len() }

// Call returns the innermost call of record i.
func (s *Stacks) Call(i int) CallID { return s.calls.At(i) }

// Track returns the index in Recording.Tracks of record i's thread, or NoTrack.
func (s *Stacks) Track(i int) int { return int(s.tracks.At(i)) }

// Context returns record i's context.
func (s *Stacks) Context(i int) ContextID { return s.contexts.At(i) }

// Value returns record i's value of a metric of the event, Missing if the record has
// none.
func (s *Stacks) Value(i, metric int) int64 {
	if s.ones && metric == 0 {
		return 1
	}
	if metric >= len(s.values) || i >= s.values[metric].Len() {
		return Missing
	}
	return s.values[metric].At(i)
}

// AnyBelow reports whether any record has a value of a metric below zero.
func (s *Stacks) AnyBelow(metric int) bool {
	if s == nil || metric >= len(s.values) {
		return false
	}
	values := &s.values[metric]
	for i := 0; i < values.Len(); {
		run := values.Chunk(i)
		for _, v := range run {
			if v < 0 && v != Missing {
				return true
			}
		}
		i += len(run)
	}
	return false
}

// append adds a record; values[m] belongs to metric m, and values beyond the end of a
// shorter slice are missing.
func (s *Stacks) append(call CallID, track int, ctx ContextID, values []int64) int {
	n := s.Len()
	s.calls.Append(call)
	s.tracks.Append(int32(track))
	s.contexts.Append(ctx)
	for len(s.values) < len(values) {
		s.values = append(s.values, column.On[int64](s.calls.Shelf()))
	}
	for m := range s.values {
		col := &s.values[m]
		for col.Len() < n {
			col.Append(Missing)
		}
		if m < len(values) {
			col.Append(values[m])
		} else {
			col.Append(Missing)
		}
	}
	return n
}

func (s *Stacks) snapshot() *Stacks {
	c := *s
	c.values = append([]column.Vec[int64](nil), s.values...)
	return &c
}

// Window is a stretch of time with its own aggregated stacks: rows
// First..Last-1 of the event's WindowSet.
type Window struct {
	ID          string
	Start, End  int64 // picoseconds
	First, Last int
}

// WindowSet are the windows of one event, in file order; they may overlap.
type WindowSet struct {
	Event   int
	Windows []Window
	Rows    Stacks
}
