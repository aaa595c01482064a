package recording

import (
	"ashlar/ingest/model/column"
	"ashlar/ingest/model/lanes"
)

// Kind is the kind of code of a function or frame.
type Kind uint8

// Kinds of code. Managed covers code run by an interpreter or a virtual
// machine (JavaScript, Python, Java …).
const (
	KindUnknown Kind = iota
	KindUser
	KindKernel
	KindManaged
)

// String returns the kind in lower case, as SPAA writes it.
func (k Kind) String() string {
	switch k {
	case KindUser:
		return "user"
	case KindKernel:
		return "kernel"
	case KindManaged:
		return "managed"
	}
	return "unknown"
}

// FuncID is the index of a Function in a Recording.
type FuncID uint32

// FuncName identifies a function, within a recording and across recordings: two functions
// are the same if both name and module are equal.
type FuncName struct {
	Name   string `json:"name"`
	Module string `json:"module,omitempty"`
}

// String returns NAME, or NAME@MODULE if there is a module, the form in which users type
// it.
func (n FuncName) String() string {
	if n.Module == "" {
		return n.Name
	}
	return n.Name + "@" + n.Module
}

// FuncName returns the identity of the function.
func (f Function) FuncName() FuncName { return FuncName{f.Name, f.Module} }

// Function is a function as users understand it: views merge everything by function. Two
// functions are the same if their FuncNames are equal.
type Function struct {
	Name   string
	Module string // binary, shared library, script or category; may be empty
	File   string // source file of the first frame seen, if known
	Kind   Kind   // kind of the first frame seen
	// Unresolved marks a name that is only an address.
	Unresolved bool
	// Symbol is the linker's name if it differs from Name. Demangled means that the file
	// has Symbol, and Name was derived from it; see Recording.NameInFile.
	Symbol    string
	Demangled bool
	// State is set if this is not code but stands for a state of threads; see
	// Builder.StateFrame.
	State State
}

// FrameID is the index of a Frame in a Recording.
type FrameID uint32

// Frame is a place in a function, as exact as the file knows it. Profiles have one frame
// per sampled address; traces have one per function.
type Frame struct {
	Func FuncID
	// Mapping and Type are 1 + an index of Source.Mappings and of Source.FrameTypes; 0 if
	// the file has none.
	Mapping uint16
	Type    uint8
	// Folded marks an address that several functions share because the linker merged
	// their identical code; Func is one of them.
	Folded bool
	// Addr is the instruction address, Offset the offset from the symbol's
	// start; 0 when not recorded.
	Addr, Offset uint64
	// File is the source file if it differs from the function's; Line and Column are
	// 1-based, 0 if unknown.
	File         string
	Line, Column int32
	Inlined      bool
	InlineDepth  uint8
	Kind         Kind
	StartLine    int32 // where the function begins in its file, 0 when unknown
	BuildID      string
}

// CallID names a node of the call tree.
type CallID = lanes.CallID

// NoCall is the root of the call tree: no frame, no parent.
const NoCall = lanes.NoCall

// Calls is the call tree: for each call its parent, its frame and its depth.
// Call 0 is the root; its depth is 0 and an outermost call's depth is 1.
// A parent always has a smaller id than its children.
type Calls struct {
	parent column.Vec[CallID]
	frame  column.Vec[FrameID]
	depth  column.Vec[uint32]
}

// Len counts the calls, the root included.
func (c *Calls) Len() int { return c.parent.Len() }

// Parent returns the parent of a call; the root is its own parent.
func (c *Calls) Parent(id CallID) CallID { return c.parent.At(int(id)) }

// Frame returns the frame that runs in a call. It must not be called for the root, which
// has none.
func (c *Calls) Frame(id CallID) FrameID { return c.frame.At(int(id)) }

// Depth returns the number of frames from the outermost one to this one: 0 for the root.
func (c *Calls) Depth(id CallID) int { return int(c.depth.At(int(id))) }

// Path appends the calls from the outermost to id and returns the slice.
func (c *Calls) Path(dst []CallID, id CallID) []CallID {
	n := c.Depth(id)
	base := len(dst)
	for range n {
		dst = append(dst, 0)
	}
	for i := base + n - 1; i >= base; i-- {
		dst[i] = id
		id = c.Parent(id)
	}
	return dst
}

// Ancestor returns the ancestor of id at the given depth (1 is the outermost
// call); id itself when it is no deeper than that.
func (c *Calls) Ancestor(id CallID, depth int) CallID {
	for n := c.Depth(id); n > depth; n-- {
		id = c.Parent(id)
	}
	return id
}
