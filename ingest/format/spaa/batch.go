package spaa

import (
	"ashlar/ingest/model/recording"
	format "ashlar/spaa"
)

// batch is a worker's result for a piece: records in file order, without pointers into
// the file. Strings, stacks and contexts are numbers in the worker's dict; a batch
// carries the additions that its piece made to the dict.
type batch struct {
	worker int
	lines  uint32
	// items are the records and the problems found in them, in file order.
	items []item
	notes []string // details of warnings
	err   error    // why the rest of the piece could not be read
	text  []byte   // the piece's text; see strictText

	headers []*format.Header
	dsos    []dsoRec
	frames  []frameRec
	threads []threadRec
	stacks  []stackRec
	samples []sampleRec
	windows []windowRec
	rows    []rowRec // rows of windows
	weights []weightRec
	related []idRef
	texts   []string // literals of numbers too large or too long for a mantissa

	reset    bool // the dict was emptied before this piece
	strings  []string
	nodes    []node
	bigs     []int64
	contexts []contextRec
}

// itemKind is the kind of an item.
type itemKind uint8

const (
	itemRecord  itemKind = iota // a record to merge; uses rec and at
	itemLeftOut                 // a record of kind rec that cannot be used
	itemWarning                 // a warning; uses code and at (1 + index in notes; 0: none)
	itemBad                     // a line that is not a record
)

type item struct {
	kind itemKind
	rec  format.Kind
	code code
	line uint32 // line number in the piece, from 0
	at   uint32
}

// number is mant·10^-dec. If the number is not exact, mant is the nearest value that
// fits, and text (1 + index in texts) is the literal, if it matters.
type number struct {
	mant    int64
	text    uint32
	dec     uint8
	set     bool
	inexact bool
}

// textOf returns the literal of an inexact number, else "".
func (b *batch) textOf(n number) string {
	if n.text == 0 {
		return ""
	}
	return b.texts[n.text-1]
}

// idRef is the id of a stack (see [format.ID.Key]). For formText and formNumberText, word
// is a string number of the dict.
type idRef struct {
	word uint64
	form uint8
}

const (
	formNone       = 255
	formNumberText = 254
	formText       = uint8(format.IDText)
)

type dsoRec struct {
	id            int64
	name, buildID uint32
	kernel        bool
}

type frameRec struct {
	id, dso      int64
	addr, offset uint64
	name, file   uint32
	line, column int32
	depth        uint8
	kind         recording.Kind
	more         *frameMore // nil if absent
	hasDSO       bool
	inlined      bool
	unresolved   bool
}

type threadRec struct {
	pid, tid int64
	comm     uint32
}

type stackRec struct {
	id      idRef
	leaf    uint32 // node of the dict
	context uint32 // number in the dict
	weights span
	related span
	half    half
}

// span is a range of a slice of the batch.
type span struct{ from, to uint32 }

type weightRec struct {
	metric, unit uint32
	value        number
}

type sampleRec struct {
	time, period number
	id           idRef
	who          owner
	event        uint32
	cpu          int32 // -1: not recorded
}

// owner is the thread of a record, as far as the record names it.
type owner struct {
	pid, tid       int64
	comm           uint32
	hasPID, hasTID bool
}

type windowRec struct {
	id         string
	start, end number
	unit       uint32
	rows       span
}

type rowRec struct {
	id      idRef
	weights span
}

// node is a call in the dict's call tree; node 0 is the root. frame is a frame id of the
// file, or bigFrame plus an index in the dict's bigs.
type node struct{ parent, frame uint32 }

const bigFrame = 1 << 31

// contextRec is a distinct context.
type contextRec struct {
	attrs []recording.Attr
	event uint32 // 0: not named
	who   owner
}

// clear empties a batch for the next piece and keeps its memory.
func (b *batch) clear() {
	clear(b.notes)
	clear(b.headers)
	clear(b.texts)
	clear(b.windows)
	*b = batch{
		worker: b.worker, items: b.items[:0], notes: b.notes[:0],
		headers: b.headers[:0], dsos: b.dsos[:0], frames: b.frames[:0], threads: b.threads[:0],
		stacks: b.stacks[:0], samples: b.samples[:0], windows: b.windows[:0], rows: b.rows[:0],
		weights: b.weights[:0], related: b.related[:0], texts: b.texts[:0],
		strings: b.strings[:0], nodes: b.nodes[:0], bigs: b.bigs[:0], contexts: b.contexts[:0],
	}
}
