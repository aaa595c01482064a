package analyze

import (
	"cmp"
	"slices"

	"ashlar/ingest/model/order"
	"ashlar/ingest/model/recording"
)

// SourceLine is the cost of a line of a source file.
type SourceLine struct {
	// Line is 1-based; 0 is for frames of the file without a known line.
	Line int32
	// Self and Total are in the metric's units; a line that occurs several times in one
	// stack counts once in Total. Count is the number of spans, samples or records that
	// end on the line.
	Self, Total, Count int64
	// Funcs are the functions with frames on the line, in order: more than one if code
	// was inlined or made from a template.
	Funcs []recording.FuncID
}

// SourceCost is the cost of the lines of a file.
type SourceCost struct {
	File string
	// Lines are the lines with any cost, in order.
	Lines []SourceLine
	// Self is the sum of the lines' Self. Total is the weight of the stacks that contain
	// any line of the file, each counted once.
	Self, Total int64
	// Most is the greatest Self of a line, MostTotal the greatest Total: for
	// drawing.
	Most, MostTotal int64
}

// Line returns the cost of a line, zero if it has none.
func (s *SourceCost) Line(n int32) SourceLine {
	i, ok := slices.BinarySearchFunc(s.Lines, n, func(l SourceLine, n int32) int { return cmp.Compare(l.Line, n) })
	if !ok {
		return SourceLine{Line: n}
	}
	return s.Lines[i]
}

// fileOf returns the source file of a frame, "" if unknown.
func fileOf(rec *recording.Recording, f *recording.Frame) string {
	if f.File != "" {
		return f.File
	}
	return rec.Functions.At(int(f.Func)).File
}

// SourceOf adds up weights by the lines of a source file, given by its name in the
// recording.
func SourceOf(rec *recording.Recording, w *Weights, file string) *SourceCost {
	s := &sourceSum{index: map[int32]int{}, rec: rec}
	s.File = file
	lines := s.lines(file)
	below, first, next := weighed(rec, w)
	on := make([]int32, len(s.Lines)) // how often a line is on the current path
	inFile := 0
	enter := func(c recording.CallID) {
		i := lines[c]
		if i < 0 {
			return
		}
		l := &s.Lines[i]
		recording.Add(&l.Self, w.Self[c])
		l.Count += w.Count[c]
		recording.Add(&s.Self, w.Self[c])
		if on[i] == 0 {
			recording.Add(&l.Total, below[c])
		}
		if inFile == 0 {
			recording.Add(&s.Total, below[c])
		}
		on[i]++
		inFile++
	}
	leave := func(c recording.CallID) {
		if i := lines[c]; i >= 0 {
			on[i]--
			inFile--
		}
	}
	if len(first) > 0 {
		walkCalls(first, next, enter, leave)
	}
	s.finish()
	return &s.SourceCost
}

// weighed returns the weight of each call including its callees, and the tree of the calls
// with a weight: the first child of each call, and its next sibling.
func weighed(rec *recording.Recording, w *Weights) (below []int64, first, next []recording.CallID) {
	n := min(len(w.Self), rec.Calls.Len())
	below = slices.Clone(w.Self[:n])
	alive := make([]bool, n)
	first, next = make([]recording.CallID, n), make([]recording.CallID, n)
	for c := n - 1; c > 0; c-- {
		alive[c] = alive[c] || w.Self[c] != 0 || w.Count[c] != 0
		if !alive[c] {
			continue
		}
		p := rec.Calls.Parent(recording.CallID(c))
		alive[p] = true
		recording.Add(&below[p], below[c])
		next[c], first[p] = first[p], recording.CallID(c)
	}
	return below, first, next
}

// walkCalls visits calls depth first: it calls enter before a call's children, and leave
// after them.
func walkCalls(first, next []recording.CallID, enter, leave func(recording.CallID)) {
	var path []recording.CallID
	for c := first[0]; ; {
		for c != 0 {
			enter(c)
			path = append(path, c)
			c = first[c]
		}
		if len(path) == 0 {
			return
		}
		c = path[len(path)-1]
		path = path[:len(path)-1]
		leave(c)
		c = next[c]
	}
}

// sourceSum is a SourceCost that is being made.
type sourceSum struct {
	SourceCost
	rec   *recording.Recording
	index map[int32]int // index of each line
}

// lines returns each call's index in Lines, -1 if it is in another file.
func (s *sourceSum) lines(file string) []int32 {
	byFrame := make([]int32, s.rec.Frames.Len())
	for i := range byFrame {
		f := s.rec.Frames.At(i)
		byFrame[i] = -1
		if fileOf(s.rec, &f) == file {
			byFrame[i] = s.place(f.Line, f.Func)
		}
	}
	out := make([]int32, s.rec.Calls.Len())
	out[0] = -1
	for c := 1; c < len(out); c++ {
		out[c] = byFrame[s.rec.Calls.Frame(recording.CallID(c))]
	}
	return out
}

func (s *sourceSum) place(line int32, f recording.FuncID) int32 {
	line = max(0, line)
	i, ok := s.index[line]
	if !ok {
		i = len(s.Lines)
		s.index[line] = i
		s.Lines = append(s.Lines, SourceLine{Line: line})
	}
	if l := &s.Lines[i]; !slices.Contains(l.Funcs, f) {
		l.Funcs = append(l.Funcs, f)
	}
	return int32(i)
}

// finish removes lines without cost and sorts the rest.
func (s *sourceSum) finish() {
	s.Lines = slices.DeleteFunc(s.Lines, func(l SourceLine) bool { return l.Self == 0 && l.Total == 0 && l.Count == 0 })
	order.By(s.Lines, func(a, b SourceLine) int { return cmp.Compare(a.Line, b.Line) })
	for i := range s.Lines {
		l := &s.Lines[i]
		slices.Sort(l.Funcs)
		s.Most, s.MostTotal = max(s.Most, l.Self), max(s.MostTotal, l.Total)
	}
}
