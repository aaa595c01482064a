package synth

import "strconv"

// folded writes folded stacks, one per line: thread;root;…;leaf count.
type folded struct {
	*output
	prog *program
	sum  *Summary
	path []uint32
	turn int // number of times that each stack is repeated
	seen []bool
}

// The approximate lengths of a line.
const (
	foldedLineBytes = 440
	foldedPathBytes = 660 // if every stack has 28 frames
)

// The maximum number of stacks in the shape that has few, heavy stacks, and the factor by
// which their counts are multiplied.
const (
	foldedHeavy  = 500
	foldedWeight = 1_000_000_007
)

func writeFolded(out *output, o Options) (*Summary, error) {
	line := int64(foldedLineBytes)
	if o.Shape == manyPaths {
		line = foldedPathBytes
	}
	want, weight := min(o.Records, max(o.Bytes/line/int64(turns(o.Shape)), 1)), int64(1)
	if o.Shape == heavyStacks {
		want, weight = min(want, foldedHeavy), foldedWeight
	}
	p := programWithStacks(o, want)
	f := &folded{output: out, prog: p, sum: newSummary(p), seen: make([]bool, len(p.calls)), turn: turns(o.Shape)}
	total := int64(0)
	p.eachStack(o.chance(), want, func(s weighedStack) {
		s.count *= weight
		f.line(s)
		total += s.count
		f.sum.Threads[s.thread].Samples += s.count
	})
	f.sum.Samples = total
	f.sum.Weights = []Weight{{Metric: "samples", Primary: true, Total: total}}
	f.sum.count(p, f.seen)
	return f.sum, nil
}

func (f *folded) line(s weighedStack) {
	f.path = f.prog.path(f.path[:0], s.call)
	f.buf = append(f.buf, f.prog.threads[s.thread].name...)
	for range f.turn {
		for i := len(f.path) - 1; i >= 0; i-- {
			f.seen[f.path[i]] = true
			f.buf = append(f.buf, ';')
			f.buf = append(f.buf, f.prog.name(f.path[i])...)
		}
	}
	f.buf = append(f.buf, ' ')
	f.buf = strconv.AppendInt(f.buf, s.count, 10)
	f.buf = append(f.buf, '\n')
	f.sum.Records++
	f.sum.Stacks++
	f.sum.MaxDepth = max(f.sum.MaxDepth, f.turn*len(f.path)+1) // the thread counts as a frame
	f.settle()
}
