package waits

import (
	"strings"

	"ashlar/ingest/model/recording"
)

// Kind is what threads wait for at a place.
type Kind uint8

// Kinds, in order of display.
const (
	Locks    Kind = iota // a mutex, monitor or other lock
	Channels             // a channel
	Signals              // a condition, a counter of tasks, another thread's signal
	Others               // input and output, timers, work, unknown
)

// String returns the kind in the plural.
func (k Kind) String() string {
	return [...]string{"locks", "channels", "signals", "other waits"}[k]
}

// A Place is a place of the program at which threads wait, or end waits.
type Place struct {
	// Frame is the innermost frame of the program itself, below libraries; without a
	// stack, Known is false.
	Frame recording.FrameID
	Known bool
	// Via is the outermost function of a library above it, such as sync.(*Mutex).Lock,
	// "" for none.
	Via string
	// System means that all functions of the stack are library functions.
	System bool
}

// placeOf finds the place of a stack.
func placeOf(rec *recording.Recording, stack recording.CallID) (p Place) {
	for c := stack; c != recording.NoCall; c = rec.Calls.Parent(c) {
		f := rec.Functions.At(int(rec.Func(c)))
		if f.State != recording.NoState {
			continue
		}
		p.Frame, p.Known = rec.Calls.Frame(c), true
		if !f.Library() {
			return p
		}
		p.Via = f.Name
	}
	p.System = p.Known
	return p
}

// words lists parts of reasons and function names that identify a kind; the first match
// decides.
var words = []struct {
	kind Kind
	in   []string
}{
	{Signals, []string{"cond", "waitgroup", "object.wait", "semaphore", "latch", "futuretask", "completablefuture"}},
	{Locks, []string{"mutex", "monitor", "lock", "futex"}},
	{Channels, []string{"chan ", "chansend", "chanrecv", "select"}},
	{Signals, []string{"sync", "parked"}},
}

// kindOf returns the kind of a wait, given the reason of the blocked state and the place.
func kindOf(reason string, p *Place) Kind {
	if p.Known && p.System && !strings.HasPrefix(reason, "monitor") {
		return Others // a thread of the runtime itself
	}
	text := strings.ToLower(reason + " " + p.Via)
	for _, w := range words {
		for _, x := range w.in {
			if strings.Contains(text, x) {
				return w.kind
			}
		}
	}
	return Others
}
