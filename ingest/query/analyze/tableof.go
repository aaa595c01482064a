package analyze

import (
	"ashlar/ingest/model/recording"
)

// TableOf is Table for weights after transforms. Without transforms it makes no tree,
// which takes a tenth of the memory.
func TableOf(rec *recording.Recording, w *Weights, by By, ts ...Transform) []Row {
	if len(ts) > 0 {
		return Table(rec, NewTree(rec, w, ts...), by)
	}
	rows := newRowSums(rec, by)
	n := min(rec.Calls.Len(), len(w.Self))
	if !rows.addAll(w, n) {
		rows = newRowSums(rec, by)
		rows.addDepthFirst(w, n)
	}
	if n > 0 {
		rows.sums[0] = rowSum{self: w.Self[0], total: w.Self[0], count: w.Count[0], any: w.Self[0] != 0 || w.Count[0] != 0}
	}
	return rows.table()
}

// rowStep is a call on the path, as in [Weights.Walk], with its row.
type rowStep struct {
	call recording.CallID
	row  int32
	sum  int64
	any  bool
}

// addAll adds up all weights in the order of calls. It does what [Weights.Walk] does, and
// returns false where that would change to depth first, but takes half of its time: it has
// no functions to call for each call.
func (s *rowSums) addAll(w *Weights, n int) bool {
	parents := &s.rec.Calls
	path, missing := make([]rowStep, 1, 64), []recording.CallID(nil)
	cut := func(above recording.CallID) { // removes the calls after one from the path
		for top := len(path) - 1; path[top].call > above; top-- {
			x := path[top]
			sum := &s.sums[x.row]
			sum.any = sum.any || x.any
			if sum.on--; sum.on == 0 {
				recording.Add(&sum.total, x.sum)
			}
			up := &path[top-1]
			recording.Add(&up.sum, x.sum)
			up.any = up.any || x.any
			path = path[:top]
		}
	}
	moves := 4*n + 1000
	for c := recording.CallID(1); int(c) < n; c++ {
		parent := parents.Parent(c)
		if path[len(path)-1].call != parent {
			missing = missing[:0]
			for at := parent; ; at = parents.Parent(at) {
				if cut(at); path[len(path)-1].call == at {
					break
				}
				missing = append(missing, at)
			}
			for i := len(missing) - 1; i >= 0; i-- {
				row := s.of(missing[i])
				s.sums[row].on++
				path = append(path, rowStep{call: missing[i], row: row})
			}
			if moves -= len(missing); moves < 0 {
				return false
			}
		}
		row := s.of(c)
		sum := &s.sums[row]
		sum.on++
		x := rowStep{call: c, row: row, sum: w.Self[c]}
		if count := w.Count[c]; x.sum != 0 || count != 0 {
			x.any = true
			recording.Add(&sum.self, x.sum)
			sum.count += count
		}
		path = append(path, x)
	}
	cut(0)
	return true
}

// addDepthFirst adds up all weights along the paths.
func (s *rowSums) addDepthFirst(w *Weights, n int) {
	for c := 1; c < n; c++ {
		if w.Self[c] != 0 || w.Count[c] != 0 {
			sum := &s.sums[s.of(recording.CallID(c))]
			recording.Add(&sum.self, w.Self[c])
			sum.count += w.Count[c]
		}
	}
	var path []int32 // rows of the calls on the path
	w.Walk(s.rec, func(c recording.CallID) {
		k := s.of(c)
		s.sums[k].on++
		path = append(path, k)
	}, func(_ recording.CallID, sum int64, any bool) {
		x := &s.sums[path[len(path)-1]]
		path = path[:len(path)-1]
		x.any = x.any || any
		if x.on--; x.on == 0 {
			recording.Add(&x.total, sum)
		}
	})
}

type rowSum struct {
	self, total, count int64
	on                 int32 // number of calls of the row on the current path
	any                bool  // a call of the row has a weight or a count, in itself or below
}

// rowSums maps frames to rows. Row 0 is for weight without a stack.
type rowSums struct {
	rec     *recording.Recording
	by      By
	sums    []rowSum
	ofFrame []int32 // 0 while not known
	// Without groups of functions, the row of a function follows its number.
	ofFunc []int32
	named  map[string]int32
	lines  map[groupID]int32
	rows   []Row // by row, for groups and lines
}

func newRowSums(rec *recording.Recording, by By) *rowSums {
	s := &rowSums{rec: rec, by: by, ofFrame: make([]int32, rec.Frames.Len()), sums: make([]rowSum, 1)}
	switch by {
	case ByFunction, "":
		s.sums = make([]rowSum, 1+rec.Functions.Len())
	case ByLine:
		s.lines, s.rows = map[groupID]int32{}, make([]Row, 1)
	default:
		s.ofFunc, s.named, s.rows = make([]int32, rec.Functions.Len()), map[string]int32{}, make([]Row, 1)
	}
	return s
}

// of returns the row of a call.
func (s *rowSums) of(c recording.CallID) int32 {
	f := s.rec.Calls.Frame(c)
	k := s.ofFrame[f]
	if k == 0 {
		k = s.find(f)
		s.ofFrame[f] = k
	}
	return k
}

func (s *rowSums) find(f recording.FrameID) int32 {
	id := s.rec.Frames.Ref(int(f)).Func
	switch {
	case s.lines != nil:
		line, fn := lineOf(s.rec, f)
		k, ok := s.lines[line]
		if !ok {
			k = s.add(rowOf(&fn, id, ByLine))
			s.lines[line] = k
		}
		return k
	case s.ofFunc == nil:
		return int32(id) + 1
	}
	if s.ofFunc[id] == 0 {
		row := rowOf(s.rec.Functions.Ref(int(id)), id, s.by)
		k, ok := s.named[row.Name]
		if !ok {
			k = s.add(row)
			s.named[row.Name] = k
		}
		s.ofFunc[id] = k
	}
	return s.ofFunc[id]
}

func (s *rowSums) add(row Row) int32 {
	s.rows, s.sums = append(s.rows, row), append(s.sums, rowSum{})
	return int32(len(s.rows) - 1)
}

// table returns the rows that have any weight or count, sorted.
func (s *rowSums) table() []Row {
	n := 0
	for i := range s.sums {
		if s.sums[i].any {
			n++
		}
	}
	rows := make([]Row, 0, n)
	for i := range s.sums {
		x := &s.sums[i]
		if !x.any {
			continue
		}
		row := Row{Name: noStack, Func: NoFunc}
		switch {
		case i == 0:
		case s.rows != nil:
			row = s.rows[i]
		default:
			row = rowOf(s.rec.Functions.Ref(i-1), recording.FuncID(i-1), s.by)
		}
		row.Self, row.Total, row.Count = x.self, x.total, x.count
		rows = append(rows, row)
	}
	SortRows(rows)
	return rows
}
