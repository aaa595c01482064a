package stacktext

import "ashlar/ingest/model/recording"

// A Tree converts the rows of a call tree, printed with totals and outermost call first,
// to stacks. The self value of a row is its total minus the totals of the rows directly
// below it.
type Tree struct {
	// Self receives each call with its self value, which is negative if the rows below
	// have a larger total.
	Self func(call recording.CallID, self, line int64)

	open []branch
}

type branch struct {
	column      int
	call        recording.CallID
	total, line int64
	below       int64 // total of the rows directly below
}

// Above closes the rows that cannot contain a row indented to column, and returns the call
// of the innermost row that can.
func (t *Tree) Above(column int) recording.CallID {
	for len(t.open) > 0 && t.open[len(t.open)-1].column >= column {
		t.pop()
	}
	if len(t.open) == 0 {
		return recording.NoCall
	}
	return t.open[len(t.open)-1].call
}

// Add adds a row below the one whose call Above returned.
func (t *Tree) Add(column int, call recording.CallID, total, line int64) {
	if n := len(t.open); n > 0 {
		recording.Add(&t.open[n-1].below, total)
	}
	t.open = append(t.open, branch{column: column, call: call, total: total, line: line})
}

// Close ends the tree.
func (t *Tree) Close() {
	for len(t.open) > 0 {
		t.pop()
	}
}

func (t *Tree) pop() {
	b := &t.open[len(t.open)-1]
	t.open = t.open[:len(t.open)-1]
	t.Self(b.call, recording.Saturated(b.total, -b.below), b.line)
}
