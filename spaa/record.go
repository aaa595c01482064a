package spaa

import (
	"encoding/json"
	"slices"
)

// Opt is a value that a record may omit. An absent key is not the same as a key with the
// default value, so that files are written back as they were read.
type Opt[T comparable] struct {
	V  T
	OK bool // the key is present
}

// Some returns a present value.
func Some[T comparable](v T) Opt[T] { return Opt[T]{v, true} }

// Or returns the value, or def if the key is absent.
func (o Opt[T]) Or(def T) T {
	if o.OK {
		return o.V
	}
	return def
}

// Kind is the type of a record.
type Kind uint8

// The record types of SPAA 1.0. KindUnknown is any other type.
const (
	KindUnknown Kind = iota
	KindHeader
	KindDSO
	KindFrame
	KindThread
	KindStack
	KindSample
	KindWindow
	kindCount
)

var kindNames = [kindCount]string{"unknown", "header", "dso", "frame", "thread", "stack", "sample", "window"}

// String returns the value of the record's type key.
func (k Kind) String() string { return kindNames[k] }

func kindOf(name string) Kind {
	return Kind(max(0, slices.Index(kindNames[1:], name)+1))
}

// Record is one line of a file: *[Header], *[DSO], *[Frame], *[Thread],
// *[Stack], *[Sample], *[Window] or *[Unknown].
type Record interface {
	// RecordType returns the value of the record's type key.
	RecordType() string
}

// The tags of the fields of records, and of the objects within them, describe the keys of
// the format: the name, and these words:
//
// 	required  without it, the object is useless
// 	needed    required, and the struct cannot express that it is absent
// 	always    written even if the field has its zero value, unless Extra has
// 	          the key; without always, fields with zero values are left out
//
// Reading, writing and checking use package-wide plans made from the tags.

// Extra holds the keys of an object that are not in its struct: keys that the spec does
// not know, and known keys whose value is null, empty (if the field's zero value means
// absent) or of another JSON type than the field. The values are compact JSON. Extra is
// nil if there are none.
//
// When a record is written, extras follow the known keys, sorted by name; an extra is
// left out if the struct's field of the same name is written.
type Extra map[string]json.RawMessage

// Header is the first record of a file (spec 3.1).
type Header struct {
	Format      string     `spaa:"format"`          // "spaa"
	Version     string     `spaa:"version"`         // "1.0"
	SourceTool  string     `spaa:"source_tool"`     // "perf", "dtrace", …
	FrameOrder  string     `spaa:"frame_order"`     // LeafToRoot or RootToLeaf: the order of every stack's frames
	Events      []Event    `spaa:"events,required"` // nil: the key is absent
	TimeRange   *TimeRange `spaa:"time_range"`
	Source      *Source    `spaa:"source"`
	StackIDMode string     `spaa:"stack_id_mode"` // ContentAddressable or Local
	Extra       Extra
}

// Values of [Header.FrameOrder] and [Header.StackIDMode].
const (
	LeafToRoot         = "leaf_to_root"
	RootToLeaf         = "root_to_leaf"
	ContentAddressable = "content_addressable"
	Local              = "local"
)

// Event describes what was measured, and how (spec 3.1, 9.1).
type Event struct {
	Name               string              `spaa:"name"`
	Kind               string              `spaa:"kind"` // hardware, software, allocation, deallocation, timer, probe
	Sampling           Sampling            `spaa:"sampling,always"`
	AllocationTracking *AllocationTracking `spaa:"allocation_tracking"`
	Extra              Extra
}

// Sampling describes how the samples of an event were collected.
type Sampling struct {
	Mode          string `spaa:"mode"`           // period, frequency, event
	PrimaryMetric string `spaa:"primary_metric"` // the metric that weighs stacks
	SamplePeriod  Number `spaa:"sample_period"`
	FrequencyHz   Number `spaa:"frequency_hz"`
	Extra         Extra
}

// AllocationTracking describes the events that an allocation profiler captured (spec 9.1).
type AllocationTracking struct {
	TracksFrees   Opt[bool] `spaa:"tracks_frees"`
	HasTimestamps Opt[bool] `spaa:"has_timestamps"`
	Extra         Extra
}

// TimeRange is the time that the file covers.
type TimeRange struct {
	Start Number `spaa:"start"`
	End   Number `spaa:"end"`
	Unit  string `spaa:"unit"` // "seconds", …
	Extra Extra
}

// Source names the tool that recorded the data.
type Source struct {
	Tool        string `spaa:"tool"`
	Command     string `spaa:"command"`
	ToolVersion string `spaa:"tool_version"`
	Extra       Extra
}

// DSO is a binary, a shared library or a kernel image (spec 3.2).
type DSO struct {
	ID       int64     `spaa:"id,needed"` // unique in the file
	Name     string    `spaa:"name,required,always"`
	BuildID  string    `spaa:"build_id"` // lower-case hexadecimal digits
	IsKernel Opt[bool] `spaa:"is_kernel"`
	Extra    Extra
}

// Frame is one stack frame identity (spec 3.3).
type Frame struct {
	ID              int64      `spaa:"id,needed"`
	Func            string     `spaa:"func,required,always"`
	FuncResolved    Opt[bool]  `spaa:"func_resolved"` // default true; when false, Func has the raw address
	DSO             int64      `spaa:"dso,needed"`
	IP              string     `spaa:"ip"`               // "0x401234"
	SymOff          string     `spaa:"symoff"`           // "0x54"
	SrcLine         string     `spaa:"srcline"`          // "src/parse.rs:214"
	SrcLineResolved Opt[bool]  `spaa:"srcline_resolved"` // default true
	Inlined         Opt[bool]  `spaa:"inlined"`          // default false
	InlineDepth     Opt[int64] `spaa:"inline_depth"`     // 0: the physical frame; 1 and more: inlined into it
	Kind            string     `spaa:"kind,required"`    // user, kernel, unknown
	Extra           Extra
}

// Thread is a thread of a process (spec 3.3).
type Thread struct {
	PID   int64  `spaa:"pid,needed"`
	TID   int64  `spaa:"tid,needed"`
	Comm  string `spaa:"comm"`
	Extra Extra
}

// Stack is one call stack with the weights of all its samples (spec 4). Ids are not
// unique in real files: records with the same id may belong to different threads or
// events.
type Stack struct {
	ID            ID         `spaa:"id,required"`
	Frames        []int64    `spaa:"frames,needed,always"` // frame ids in the header's frame order
	StackType     string     `spaa:"stack_type"`           // unified (the default), user, kernel
	Context       *Context   `spaa:"context,needed"`
	Weights       []Weight   `spaa:"weights,needed,always"`
	Exclusive     *Exclusive `spaa:"exclusive"`
	RelatedStacks []ID       `spaa:"related_stacks"` // nil: the key is absent
	Extra         Extra
}

// Context describes where a stack or sample was recorded (spec 4.3).
type Context struct {
	Event       string          `spaa:"event"` // the name of one of the header's events
	PID         Opt[int64]      `spaa:"pid"`
	TID         Opt[int64]      `spaa:"tid"`
	CPU         Opt[int64]      `spaa:"cpu"`
	Comm        string          `spaa:"comm"`
	Probe       *Probe          `spaa:"probe"`
	ExecName    string          `spaa:"execname"`
	UID         Opt[int64]      `spaa:"uid"`
	ZoneName    string          `spaa:"zonename"`
	TraceFields json.RawMessage `spaa:"trace_fields"` // a perf tracepoint's fields: a JSON object
	Extra       Extra
}

// Probe names a DTrace probe.
type Probe struct {
	Provider string `spaa:"provider"`
	Module   string `spaa:"module"`
	Function string `spaa:"function"`
	Name     string `spaa:"name"`
	Extra    Extra
}

// Weight is the value of one metric.
type Weight struct {
	Metric string `spaa:"metric,required,always"`
	Value  Number `spaa:"value,required"`
	Unit   string `spaa:"unit"`
	Extra  Extra
}

// Exclusive holds the weights of a stack's leaf frame (spec 4.5).
type Exclusive struct {
	Frame   int64    `spaa:"frame,needed"` // the leaf of the stack's frames
	Weights []Weight `spaa:"weights"`
	Extra   Extra
}

// Sample is one raw sample (spec 5.1).
type Sample struct {
	Timestamp Number     `spaa:"timestamp,required"` // absolute, in the unit and epoch of the header's time range
	PID       Opt[int64] `spaa:"pid"`
	TID       Opt[int64] `spaa:"tid"`
	CPU       Opt[int64] `spaa:"cpu"`
	Event     string     `spaa:"event"`
	Period    Number     `spaa:"period"`
	StackID   ID         `spaa:"stack_id,required"`
	Context   *Context   `spaa:"context"`
	Extra     Extra
}

// Window holds the weights of stacks in a time range (spec 5.2). Windows may overlap.
type Window struct {
	ID      ID             `spaa:"id"`
	Start   Number         `spaa:"start,required"`
	End     Number         `spaa:"end,required"`
	Unit    string         `spaa:"unit"`
	ByStack []StackWeights `spaa:"by_stack,required"`
	Extra   Extra
}

// StackWeights are the weights of one stack within a window.
type StackWeights struct {
	StackID ID       `spaa:"stack_id,required"`
	Weights []Weight `spaa:"weights"`
	Extra   Extra
}

// Unknown is a record of a type that the spec does not have.
type Unknown struct {
	Type   string
	Fields Extra // all keys but the type
}

// RecordType returns "header".
func (*Header) RecordType() string { return "header" }

// RecordType returns "dso".
func (*DSO) RecordType() string { return "dso" }

// RecordType returns "frame".
func (*Frame) RecordType() string { return "frame" }

// RecordType returns "thread".
func (*Thread) RecordType() string { return "thread" }

// RecordType returns "stack".
func (*Stack) RecordType() string { return "stack" }

// RecordType returns "sample".
func (*Sample) RecordType() string { return "sample" }

// RecordType returns "window".
func (*Window) RecordType() string { return "window" }

// RecordType returns the file's type for the record.
func (u *Unknown) RecordType() string { return u.Type }

// Event returns the event with the given name, or nil.
func (h *Header) Event(name string) *Event {
	for i := range h.Events {
		if h.Events[i].Name == name {
			return &h.Events[i]
		}
	}
	return nil
}

// Leaf returns the id of the innermost frame under the header's frame order;
// ok is false for a stack without frames.
func (s *Stack) Leaf(frameOrder string) (id int64, ok bool) {
	if len(s.Frames) == 0 {
		return 0, false
	}
	if frameOrder == RootToLeaf {
		return s.Frames[len(s.Frames)-1], true
	}
	return s.Frames[0], true
}

// Weight returns the value of a metric, "" if the stack does not have it.
func (s *Stack) Weight(metric string) Number { return WeightOf(s.Weights, metric) }

// WeightOf returns the value of a metric among weights, "" if it is not among them.
func WeightOf(weights []Weight, metric string) Number {
	for i := range weights {
		if weights[i].Metric == metric {
			return weights[i].Value
		}
	}
	return ""
}
