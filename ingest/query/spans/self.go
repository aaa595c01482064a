package spans

import (
	"iter"

	"ashlar/ingest/model/recording"
)

// SelfTimes iterates over the functions that have spans, in order, with the time in these
// without their children, in picoseconds.
func SelfTimes(rec *recording.Recording) iter.Seq2[recording.FuncID, int64] {
	self, count := make([]int64, rec.Functions.Len()), make([]int64, rec.Functions.Len())
	for i, n := range rec.SpanCount {
		c := recording.CallID(i)
		if n == 0 || c == recording.NoCall {
			continue
		}
		f, t := rec.Func(c), rec.SpanTime[i]
		recording.Add(&self[f], t)
		recording.Add(&count[f], n)
		if parent := rec.Calls.Parent(c); parent != recording.NoCall {
			recording.Add(&self[rec.Func(parent)], -t)
		}
	}
	return func(yield func(recording.FuncID, int64) bool) {
		for f, n := range count {
			if n > 0 && !yield(recording.FuncID(f), self[f]) {
				return
			}
		}
	}
}
