// Package wire reads the raw form of Go execution traces of version 2 (Go 1.22 and later):
// it locates the batches of each generation in the file, reads their string and stack
// tables, and returns all events in one order.
//
// The file layout and the rules for ordering events are those of internal/trace/tracev2
// and internal/trace of Go 1.26, and of runtime/trace*.go.
package wire

import "fmt"

// Kind says what an event tells.
type Kind uint8

// Kinds of events.
const (
	Sync        Kind = iota // a generation begins, or the trace ends
	Transition              // a goroutine goes from one state to the next
	Processor               // a processor does
	Metric                  // a value changes
	Label                   // a goroutine has a label
	Sample                  // a CPU sample
	RangeBegin              // the runtime begins something
	RangeActive             // the runtime has begun something before the generation
	RangeEnd                // the runtime has ended something
	TaskBegin
	TaskEnd
	RegionBegin
	RegionEnd
	Log
	Experimental // of an experiment of the runtime
)

// State is what a goroutine is in.
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

// What ranges are of, and metrics.
const (
	StopTheWorld = iota // of a goroutine; Event.Text is why
	MarkPhase           // of the program
	Sweep               // of a processor
	MarkAssist          // of a goroutine

	MaxProcs
	HeapLive
	HeapGoal
)

// None stands for no processor.
const None = -1

// G is a goroutine. Who reads events may keep there what it knows of it.
type G struct {
	ID  int64
	Own any // the reader's; never touched here

	status uint8
	gone   bool
	seq    counter
	ranges
	regions []region
}

// Event is one event. What Stack, OnStack, Text and More are is known from the tables
// of the generation that it is in.
type Event struct {
	Kind     Kind
	What     uint8 // which range or metric
	From, To State // of a Transition

	Stack   int32 // of what ran where the event was made; 0 for none
	OnStack int32 // of On, which begins or goes on there; 0 if it is not known
	Text    int32 // a name or the reason of a transition; 0 for none
	More    int32 // the message of a Log, whose category Text is

	Time  int64 // ns
	P     int64 // the processor, or None: of a Range, whose it is
	G     *G    // ran where the event was made, before it; or nil
	On    *G    // goes from one state to the next, or has the Range; or nil
	Value uint64

	Gen  *Generation // of a Sync but the last
	Task *Task       // of TaskBegin and TaskEnd
}

// Task is a task of the program. The name of one that began before the trace is "".
type Task struct {
	ID, Parent uint64
	Name       string
}

// Error says what is wrong in a trace, and where.
type Error struct {
	At   int64 // byte
	What string
}

func (e *Error) Error() string { return e.What }

func wrong(at int64, format string, args ...any) error {
	return &Error{at, fmt.Sprintf(format, args...)}
}

// Types of events as they are written.
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

// Those of the experiment AllocFree begin behind 127.
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

// untimed is in argc for what is not an event of a batch of events.
const untimed = 255

// argc is how many numbers are behind the time of an event.
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
