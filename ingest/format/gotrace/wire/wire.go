// Package wire reads the raw form of Go execution traces of version 2 (Go 1.22 and later):
// it locates the batches of each generation in the file, reads their string and stack
// tables, and returns all events in one order.
//
// The file layout and the rules for ordering events are those of internal/trace/tracev2
// and internal/trace of Go 1.26, and of runtime/trace*.go.
package wire

import "fmt"

// Kind is the kind of an event.
type Kind uint8

// Kinds of events.
const (
	Sync        Kind = iota // a generation begins, or the trace ends
	Transition              // a goroutine goes from one state to the next
	Processor               // a processor changes its state
	Metric                  // a value changes
	Label                   // a goroutine has a label
	Sample                  // a CPU sample
	RangeBegin              // the runtime begins something
	RangeActive             // a range was open when the generation began
	RangeEnd                // the runtime has ended something
	TaskBegin
	TaskEnd
	RegionBegin
	RegionEnd
	Log
	Experimental // an event of an experiment of the runtime
)

// State is the state of a goroutine.
type State uint8

// States of goroutines.
const (
	Undetermined State = iota // before the trace
	NotExist
	Runnable
	Running
	Waiting
	InSyscall
)

// Kinds of ranges and of metrics.
const (
	StopTheWorld = iota // range of a goroutine; Event.Text is the reason
	MarkPhase           // range of the program
	Sweep               // range of a processor
	MarkAssist          // range of a goroutine

	MaxProcs
	HeapLive
	HeapGoal
)

// None means no processor.
const None = -1

// G is a goroutine. Consumers of events may store their own data in Own.
type G struct {
	ID  int64
	Own any // the consumer's; not used by this package

	status uint8
	gone   bool
	seq    counter
	ranges
	regions []region
	// early are the regions that ended together with one around them; their own ends follow.
	early []region
}

// An Event is one event. Stack, OnStack, Text and More are numbers in the tables of the
// event's generation.
type Event struct {
	Kind     Kind
	What     uint8 // kind of range or metric
	From, To State // old and new state of a Transition

	Stack   int32 // stack of the code that ran at the event; 0 for none
	OnStack int32 // stack of On, where it starts or continues; 0 if unknown
	Text    int32 // a name or the reason of a transition; 0 for none
	More    int32 // the message of a Log; its category is Text

	Time  int64 // ns
	P     int64 // the processor, or None; of a range: its owner
	G     *G    // goroutine that ran just before the event; nil if none
	On    *G    // the goroutine of a transition or range; nil if none
	Value uint64

	Gen  *Generation // the generation that begins; nil for the last Sync
	Task *Task       // task of a TaskBegin or TaskEnd

	// Inner names the open regions inside the one that a RegionEnd ends, outermost first:
	// they end with it. Unbegun means that the goroutine did not begin the ended region in the
	// trace although others are open; then Inner is the innermost of these.
	Inner   []string
	Unbegun bool
}

// A Task is a task of the program. Its name is "" if it began before the trace.
type Task struct {
	ID, Parent uint64
	Name       string
}

// An Error describes an error in a trace, with its position.
type Error struct {
	At   int64 // position in bytes
	What string
}

func (e *Error) Error() string { return e.What }

func wrong(at int64, format string, args ...any) error {
	return &Error{at, fmt.Sprintf(format, args...)}
}

// Types of events as in the file.
const (
	evEventBatch = 1 + iota
	evStacks
	evStack
	evStrings
	evString
	evCPUSamples
	evCPUSample
	evFrequency
	evProcsChange
	evProcStart
	evProcStop
	evProcSteal
	evProcStatus
	evGoCreate
	evGoCreateSyscall
	evGoStart
	evGoDestroy
	evGoDestroySyscall
	evGoStop
	evGoBlock
	evGoUnblock
	evGoSyscallBegin
	evGoSyscallEnd
	evGoSyscallEndBlocked
	evGoStatus
	evSTWBegin
	evSTWEnd
	evGCActive
	evGCBegin
	evGCEnd
	evGCSweepActive
	evGCSweepBegin
	evGCSweepEnd
	evGCMarkAssistActive
	evGCMarkAssistBegin
	evGCMarkAssistEnd
	evHeapAlloc
	evHeapGoal
	evGoLabel
	evUserTaskBegin
	evUserTaskEnd
	evUserRegionBegin
	evUserRegionEnd
	evUserLog
	evGoSwitch
	evGoSwitchDestroy
	evGoCreateBlocked
	evGoStatusStack
	evExperimentalBatch
	evSync
	evClockSnapshot
	evEndOfGeneration
)

// Event types of the experiment AllocFree begin at 128.
const (
	evSpan = 128 + iota
	evSpanAlloc
	evSpanFree
	evHeapObject
	evHeapObjectAlloc
	evHeapObjectFree
	evGoroutineStack
	evGoroutineStackAlloc
	evGoroutineStackFree
)

// untimed is the value in argc of types that do not occur in batches of events.
const untimed = 255

// argc is the number of arguments after an event's time.
var argc = func() (n [256]uint8) {
	for i := range n {
		n[i] = untimed
	}
	for count, types := range [][]uint8{
		{evProcStop, evGoDestroy, evGoDestroySyscall, evGoSyscallEnd, evGoSyscallEndBlocked, evSTWEnd, evGCMarkAssistEnd},
		{evGoCreateSyscall, evGCActive, evGCEnd, evGCSweepActive, evGCSweepBegin, evGCMarkAssistActive, evGCMarkAssistBegin,
			evHeapAlloc, evHeapGoal, evGoLabel, evSpanFree, evHeapObjectFree, evGoroutineStackFree},
		{evProcsChange, evProcStart, evProcStatus, evGoStart, evGoStop, evGoBlock, evGoSyscallBegin, evSTWBegin, evGCBegin, evGCSweepEnd,
			evUserTaskEnd, evGoSwitch, evGoSwitchDestroy, evHeapObject, evHeapObjectAlloc, evGoroutineStack, evGoroutineStackAlloc},
		{evProcSteal, evGoCreate, evGoUnblock, evGoStatus, evUserRegionBegin, evUserRegionEnd, evGoCreateBlocked, evClockSnapshot, evSpan, evSpanAlloc},
		{evUserTaskBegin, evUserLog, evGoStatusStack},
	} {
		for _, t := range types {
			n[t] = uint8(count)
		}
	}
	return n
}()
