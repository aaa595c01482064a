package spaa

import "encoding/json"

// Record is one line of a file: *[Header], *[DSO], *[Frame], *[Thread],
// *[Stack], *[Sample], *[Window] or *[Unknown].
type Record interface {
	// RecordType returns the value of the record's type key.
	RecordType() string
}

// Extra has the keys of an object that are not fields of its struct: keys that
// the spec does not know, and known keys whose value is null, empty (where the
// field's zero value means absent) or of another JSON type than the field. The
// values are compact JSON. It is nil when there are none.
//
// When a record is written, extras follow the known keys, sorted by name; an
// extra is left out where the struct's own field is written under its name.
type Extra map[string]json.RawMessage

// Header is the first record of a file (spec 3.1).
type Header struct {
	Format      string  // "spaa"
	Version     string  // "1.0"
	SourceTool  string  // "perf", "dtrace", …
	FrameOrder  string  // LeafToRoot or RootToLeaf: the order of every stack's frames
	Events      []Event // nil: the key is absent
	TimeRange   *TimeRange
	Source      *Source
	StackIDMode string // ContentAddressable or Local
	Extra       Extra
}

// Values of [Header.FrameOrder] and [Header.StackIDMode].
const (
	LeafToRoot         = "leaf_to_root"
	RootToLeaf         = "root_to_leaf"
	ContentAddressable = "content_addressable"
	Local              = "local"
)

// Event says what was measured, and how (spec 3.1, 9.1).
type Event struct {
	Name               string
	Kind               string // hardware, software, allocation, deallocation, timer, probe
	Sampling           Sampling
	AllocationTracking *AllocationTracking
	Extra              Extra
}

// Sampling says how the samples of an event were collected.
type Sampling struct {
	Mode          string // period, frequency, event
	PrimaryMetric string // the metric that weighs stacks
	SamplePeriod  Number
	FrequencyHz   Number
	Extra         Extra
}

// AllocationTracking says what an allocation profiler captured (spec 9.1).
type AllocationTracking struct {
	TracksFrees   Opt[bool]
	HasTimestamps Opt[bool]
	Extra         Extra
}

// TimeRange is the time that the file covers.
type TimeRange struct {
	Start, End Number
	Unit       string // "seconds", …
	Extra      Extra
}

// Source names the tool that recorded the data.
type Source struct {
	Tool        string
	Command     string
	ToolVersion string
	Extra       Extra
}

// DSO is a binary, a shared library or a kernel image (spec 3.2).
type DSO struct {
	ID       int64 // unique in the file
	Name     string
	BuildID  string // lower-case hexadecimal digits
	IsKernel Opt[bool]
	Extra    Extra
}

// Frame is one stack frame identity (spec 3.3).
type Frame struct {
	ID              int64
	Func            string
	FuncResolved    Opt[bool] // default true; when false, Func has the raw address
	DSO             int64
	IP              string     // "0x401234"
	SymOff          string     // "0x54"
	SrcLine         string     // "src/parse.rs:214"
	SrcLineResolved Opt[bool]  // default true
	Inlined         Opt[bool]  // default false
	InlineDepth     Opt[int64] // 0: the physical frame; 1 and more: inlined into it
	Kind            string     // user, kernel, unknown
	Extra           Extra
}

// Thread is a thread of a process (spec 3.3).
type Thread struct {
	PID, TID int64
	Comm     string
	Extra    Extra
}

// Stack is one call stack with the weights of all its samples (spec 4). Ids
// are not unique in real files: records of one id may stand for different
// threads or events.
type Stack struct {
	ID            ID
	Frames        []int64 // frame ids in the header's frame order
	StackType     string  // unified (the default), user, kernel
	Context       Context
	Weights       []Weight
	Exclusive     *Exclusive
	RelatedStacks []ID // nil: the key is absent
	Extra         Extra
}

// Context says where a stack or sample was seen (spec 4.3).
type Context struct {
	Event       string // the name of one of the header's events
	PID         Opt[int64]
	TID         Opt[int64]
	CPU         Opt[int64]
	Comm        string
	Probe       *Probe
	ExecName    string
	UID         Opt[int64]
	ZoneName    string
	TraceFields json.RawMessage // a perf tracepoint's fields: a JSON object
	Extra       Extra
}

// Probe names a DTrace probe. An empty part is written as the empty string, as
// DTrace does.
type Probe struct {
	Provider, Module, Function, Name string
	Extra                            Extra
}

// Weight is the value of one metric.
type Weight struct {
	Metric string
	Value  Number
	Unit   string
	Extra  Extra
}

// Exclusive has the weights of a stack's leaf frame (spec 4.5).
type Exclusive struct {
	Frame   int64 // the leaf of the stack's frames
	Weights []Weight
	Extra   Extra
}

// Sample is one raw sample (spec 5.1).
type Sample struct {
	Timestamp     Number // absolute, in the unit and epoch of the header's time range
	PID, TID, CPU Opt[int64]
	Event         string
	Period        Number
	StackID       ID
	Context       *Context
	Extra         Extra
}

// Window has the weights of stacks in a span of time (spec 5.2). Windows may
// overlap.
type Window struct {
	ID         ID
	Start, End Number
	Unit       string
	ByStack    []StackWeights
	Extra      Extra
}

// StackWeights are the weights of one stack within a window.
type StackWeights struct {
	StackID ID
	Weights []Weight
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

// Weight returns the value of a metric, "" where the stack does not have it.
func (s *Stack) Weight(metric string) Number { return WeightOf(s.Weights, metric) }

// WeightOf returns the value of a metric among weights, "" where it is not.
func WeightOf(weights []Weight, metric string) Number {
	for i := range weights {
		if weights[i].Metric == metric {
			return weights[i].Value
		}
	}
	return ""
}
