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
	for c := 1; c < n; c++ {
		if w.Self[c] != 0 || w.Count[c] != 0 {
			s := &rows.sums[rows.of(recording.CallID(c))]
			recording.Add(&s.self, w.Self[c])
			s.count += w.Count[c]
		}
	}
	var path []int32 // rows of the calls on the path
	w.Walk(rec, func(c recording.CallID) {
		k := rows.of(c)
		rows.sums[k].on++
		path = append(path, k)
	}, func(_ recording.CallID, sum int64, any bool) {
		s := &rows.sums[path[len(path)-1]]
		path = path[:len(path)-1]
		s.any = s.any || any
		if s.on--; s.on == 0 {
			recording.Add(&s.total, sum)
		}
	})
	if n > 0 {
		rows.sums[0] = rowSum{self: w.Self[0], total: w.Self[0], count: w.Count[0], any: w.Self[0] != 0 || w.Count[0] != 0}
	}
	return rows.table()
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
