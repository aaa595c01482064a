package stacktext

import "ashlar/ingest/model/recording"

// Tree makes stacks of the rows of a call tree that is printed with totals, the
// outermost call first. What a row has beyond the rows below it is its own.
type Tree struct {
	// Self receives each call with what is its own, which is below 0 if the rows
	// below it have more than it has itself.
	Self func(call recording.CallID, self, line int64)

	open []branch
}

type branch struct {
	column      int
	call        recording.CallID
	total, line int64
	below       int64 // total of the rows directly below
}

// Above closes the rows that a row in a column does not belong to, and returns the
// call of the row that it does belong to.
func (t *Tree) Above(column int) recording.CallID {
	for len(t.open) > 0 && t.open[len(t.open)-1].column >= column {
		t.pop()
	}
	if len(t.open) == 0 {
		return recording.NoCall
	}
	return t.open[len(t.open)-1].call
}

// Add adds a row below the one that Above named.
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
