package folded

import "ashlar/ingest/model/recording"

const (
	// mergeAfter is the number of lines after which lines with the same stack are added
	// up. Files of tools have one line a stack, or one a sample; without this, a small
	// compressed file of equal lines would fill the memory.
	mergeAfter = 1 << 20
	// mostStacks is the number of stacks, and mostLines the number of lines, that are
	// added up before they become records.
	mostStacks = 1 << 16
	mostLines  = 1 << 23
)

// equalLines adds up the counts of lines with the same stack.
type equalLines struct {
	at     map[recording.CallID]int // index of a stack in calls
	calls  []recording.CallID
	values [][2]int64
	lines  int
	merged int64 // lines that became part of others
}

// whole reports whether all counts of a line are whole numbers, so that it can be added
// to others.
func (d *decoder) whole(found int) bool {
	for m := range d.counts {
		if m >= found || d.counts[m].Scale > 0 || d.b.Event(d.event).Metrics[m].Decimals > 0 {
			return false
		}
	}
	return true
}

// add adds a line to those with the same stack.
func (e *equalLines) add(d *decoder, call recording.CallID, values []int64) {
	if e.at == nil {
		e.at = make(map[recording.CallID]int)
	}
	e.lines++
	i, ok := e.at[call]
	if ok && e.fits(i, values) {
		for m, v := range values {
			e.values[i][m] += v
		}
		e.merged++
	} else {
		e.at[call] = len(e.calls)
		e.calls = append(e.calls, call)
		var v [2]int64
		copy(v[:], values)
		e.values = append(e.values, v)
	}
	if len(e.calls) == mostStacks || e.lines == mostLines {
		e.flush(d)
	}
}

// fits reports whether a line's values can be added to those of stack i.
func (e *equalLines) fits(i int, values []int64) bool {
	for m, v := range values {
		sum := e.values[i][m] + v
		if sum == recording.Missing || sum != recording.Saturated(e.values[i][m], v) {
			return false
		}
	}
	return true
}

// flush adds the sums as records.
func (e *equalLines) flush(d *decoder) {
	for i, call := range e.calls {
		d.b.AddStack(d.event, call, recording.NoTrack, 0, e.values[i][:len(d.counts)])
	}
	clear(e.at)
	e.calls, e.values, e.lines = e.calls[:0], e.values[:0], 0
}
