package spaa

// Opt is a value that a record may leave out. A key that is absent is not the
// same as one with the default value: files come back as they were.
type Opt[T comparable] struct {
	V  T
	OK bool // the key is present
}

// Some returns a present value.
func Some[T comparable](v T) Opt[T] { return Opt[T]{v, true} }

// Or returns the value, or def where the key is absent.
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
func (k Kind) String() string {
	if k < kindCount {
		return kindNames[k]
	}
	return kindNames[KindUnknown]
}

func kindOf(name []byte) Kind {
	switch string(name) {
	case "header":
		return KindHeader
	case "dso":
		return KindDSO
	case "frame":
		return KindFrame
	case "thread":
		return KindThread
	case "stack":
		return KindStack
	case "sample":
		return KindSample
	case "window":
		return KindWindow
	}
	return KindUnknown
}

// Line is one parsed line: a union, of which Kind says what part counts. Fill
// it with [Parser.Parse] again and again; its slices are reused.
//
// Nothing in it is copied: byte slices are parts of the line's text (or of the
// parser's side buffer where a string holds escapes), valid until the next
// Parse and as long as the text is. A byte slice is nil where the key is
// absent, and empty but not nil where the file has the empty string.
type Line struct {
	Kind Kind
	Type []byte // the type key as the file gives it

	DSO    DSOLine    // KindDSO
	Frame  FrameLine  // KindFrame
	Thread ThreadLine // KindThread
	Stack  StackLine  // KindStack
	Sample SampleLine // KindSample
	Window WindowLine // KindWindow

	// Context is the context of a stack or of a sample.
	Context    ContextLine
	HasContext bool

	// Extra has the record's other keys: unknown ones, and known ones whose
	// value is null or of a wrong JSON type. Of equal keys the last counts.
	// It is not filled for KindHeader and KindUnknown, which are rare and
	// read from the text: see [Line.Record].
	Extra []RawField

	// Duplicates counts known keys that stood twice in one object of the
	// line; the last counts.
	Duplicates int

	text []byte
	id   RawID
	has  keySet
}

// RawField is a key and the text of its JSON value.
type RawField struct {
	Key   []byte
	Value []byte
	// Mistyped: this is a known key with a value of the wrong JSON type
	// (null is not counted as wrong: it is the same as absent).
	Mistyped bool

	bit uint64 // of a known key, among those of its object
}

// DSOLine is a binary, library or kernel image (spec 3.2).
type DSOLine struct {
	ID       Opt[int64]
	Name     []byte
	BuildID  []byte
	IsKernel Opt[bool]
}

// FrameLine is one frame identity (spec 3.3).
type FrameLine struct {
	ID              Opt[int64]
	DSO             Opt[int64]
	Func            []byte
	FuncResolved    Opt[bool] // default true
	IP              []byte
	SymOff          []byte
	SrcLine         []byte
	SrcLineResolved Opt[bool] // default true
	Inlined         Opt[bool] // default false
	InlineDepth     Opt[int64]
	Kind            []byte
}

// ThreadLine is a thread (spec 3.3).
type ThreadLine struct {
	PID, TID Opt[int64]
	Comm     []byte
}

// StackLine is one aggregated call stack (spec 4). Its context is
// [Line.Context].
type StackLine struct {
	ID           RawID
	Frames       []int64 // frame ids in the header's frame_order
	StackType    []byte
	Weights      []WeightLine
	Exclusive    ExclusiveLine
	HasExclusive bool
	Related      []RawID // related_stacks
}

// WeightLine is one metric value.
type WeightLine struct {
	Metric []byte
	Value  RawNumber
	Unit   []byte
	Extra  []RawField
}

// ExclusiveLine is the weight of a stack's leaf frame.
type ExclusiveLine struct {
	Frame   Opt[int64]
	Weights []WeightLine
	Extra   []RawField
}

// ContextLine is the context of a stack or sample (spec 4.3).
type ContextLine struct {
	Event       []byte
	PID         Opt[int64]
	TID         Opt[int64]
	CPU         Opt[int64]
	Comm        []byte
	ExecName    []byte
	UID         Opt[int64]
	ZoneName    []byte
	Probe       []byte // JSON text of the object: see [ParseProbe]
	TraceFields []byte // JSON text of the object
	Extra       []RawField
}

// SampleLine is one raw sample (spec 5.1). Its context is [Line.Context].
type SampleLine struct {
	Timestamp     RawNumber // in the unit and epoch of the header's time_range
	PID, TID, CPU Opt[int64]
	Event         []byte
	Period        RawNumber
	StackID       RawID
}

// WindowLine is the weight of stacks in a span of time (spec 5.2).
type WindowLine struct {
	ID         RawID
	Start, End RawNumber
	Unit       []byte
	ByStack    []StackWeightsLine
}

// StackWeightsLine is the part of a window that fell on one stack.
type StackWeightsLine struct {
	StackID RawID
	Weights []WeightLine
	Extra   []RawField
}

// keySet has a bit for each known key of a record.
type keySet uint64

const (
	hasType keySet = 1 << iota
	hasID
	hasName
	hasBuildID
	hasIsKernel
	hasFunc
	hasFuncResolved
	hasDSO
	hasIP
	hasSymOff
	hasSrcLine
	hasSrcLineResolved
	hasInlined
	hasInlineDepth
	hasKind
	hasPID
	hasTID
	hasComm
	hasFrames
	hasStackType
	hasContext
	hasWeights
	hasExclusive
	hasRelated
	hasTimestamp
	hasCPU
	hasEvent
	hasPeriod
	hasStackID
	hasStart
	hasEnd
	hasUnit
	hasByStack
)

const (
	dsoOwn    = hasName | hasBuildID | hasIsKernel
	frameOwn  = hasFunc | hasFuncResolved | hasDSO | hasIP | hasSymOff | hasSrcLine | hasSrcLineResolved | hasInlined | hasInlineDepth | hasKind
	stackOwn  = hasFrames | hasStackType | hasWeights | hasExclusive | hasRelated
	sampleOwn = hasTimestamp | hasCPU | hasEvent | hasPeriod | hasStackID | hasPID | hasTID
	windowOwn = hasStart | hasEnd | hasUnit | hasByStack
)

// keyBits is recordKey's table for the slow paths.
var keyBits = map[string]keySet{
	"type": hasType, "id": hasID, "name": hasName, "build_id": hasBuildID, "is_kernel": hasIsKernel,
	"func": hasFunc, "func_resolved": hasFuncResolved, "dso": hasDSO, "ip": hasIP, "symoff": hasSymOff,
	"srcline": hasSrcLine, "srcline_resolved": hasSrcLineResolved, "inlined": hasInlined,
	"inline_depth": hasInlineDepth, "kind": hasKind, "pid": hasPID, "tid": hasTID, "comm": hasComm,
	"frames": hasFrames, "stack_type": hasStackType, "context": hasContext, "weights": hasWeights,
	"exclusive": hasExclusive, "related_stacks": hasRelated, "timestamp": hasTimestamp, "cpu": hasCPU,
	"event": hasEvent, "period": hasPeriod, "stack_id": hasStackID, "start": hasStart, "end": hasEnd,
	"unit": hasUnit, "by_stack": hasByStack,
}

// kindKeys are the keys that a record of each kind may have.
var kindKeys = [kindCount]keySet{
	KindDSO:    hasType | hasID | dsoOwn,
	KindFrame:  hasType | hasID | frameOwn,
	KindThread: hasType | hasPID | hasTID | hasComm,
	KindStack:  hasType | hasID | hasContext | stackOwn,
	KindSample: hasType | hasContext | sampleOwn,
	KindWindow: hasType | hasID | windowOwn,
}

// reset clears what the last line filled and keeps the slices' memory.
func (l *Line) reset(text []byte) {
	if l.has&(dsoOwn|hasID) != 0 {
		l.DSO = DSOLine{}
	}
	if l.has&(frameOwn|hasID) != 0 {
		l.Frame = FrameLine{}
	}
	if l.has&(hasPID|hasTID|hasComm) != 0 {
		l.Thread = ThreadLine{}
	}
	if l.has&(stackOwn|hasID) != 0 {
		s := &l.Stack
		e := &s.Exclusive
		*s = StackLine{
			Frames: s.Frames[:0], Weights: s.Weights[:0], Related: s.Related[:0],
			Exclusive: ExclusiveLine{Weights: e.Weights[:0], Extra: e.Extra[:0]},
		}
	}
	if l.has&sampleOwn != 0 {
		l.Sample = SampleLine{}
	}
	if l.has&(windowOwn|hasID) != 0 {
		l.Window = WindowLine{ByStack: l.Window.ByStack[:0]}
	}
	if l.has&hasContext != 0 {
		l.Context = ContextLine{Extra: l.Context.Extra[:0]}
		l.HasContext = false
	}
	l.Kind, l.Type = KindUnknown, nil
	l.Extra = l.Extra[:0]
	l.Duplicates = 0
	l.text = text
	l.id = RawID{}
	l.has = 0
}

// requiredKeys are the keys without which a record says nothing.
var requiredKeys = [kindCount][]string{
	KindDSO:    {"id", "name"},
	KindFrame:  {"id", "func", "dso", "kind"},
	KindThread: {"pid", "tid"},
	KindStack:  {"id", "frames", "context", "weights"},
	KindSample: {"timestamp", "stack_id"},
	KindWindow: {"start", "end", "by_stack"},
}

var requiredBits = func() (bits [kindCount]keySet) {
	for k, names := range requiredKeys {
		for _, name := range names {
			bits[k] |= keyBits[name]
		}
	}
	return bits
}()

// Missing returns the required keys of the record's kind that the line lacks
// or that have a value of the wrong JSON type; nil is the usual answer. A
// header is checked when it is decoded: see [Line.Record].
func (l *Line) Missing() []string {
	lacking := requiredBits[l.Kind] &^ l.has
	if lacking == 0 {
		return nil
	}
	var names []string
	for _, name := range requiredKeys[l.Kind] {
		if keyBits[name]&lacking != 0 {
			names = append(names, name)
		}
	}
	return names
}
