package compare

import (
	"hash/fnv"
	"math"
	"slices"

	"ashlar/ingest/compare/stats"
)

// How many spans of a row are kept a side: enough to show a shift of a tenth of
// their spread. Where there are very many rows it is fewer, so that all rows take
// no more than some ten megabytes. Of nodes there are many, and what they show is
// a colour.
const (
	mostSpans      = 2048
	leastSpans     = 128
	mostNodeSpans  = 256
	leastNodeSpans = 64
	keptSpans      = 2 << 20
)

// length is the duration of a span in picoseconds, to 24 bits. As numbers lengths
// have the order of what they stand for.
type length uint32

func newLength(ps float64) length { return length(math.Float32bits(float32(max(0, ps)))) }

// ps is the duration in picoseconds.
func (l length) ps() float64 { return float64(math.Float32frombits(uint32(l))) }

// durationsOf are sorted lengths as numbers.
func durationsOf(ls []length) []float64 {
	out := make([]float64, len(ls))
	for i, l := range ls {
		out[i] = l.ps()
	}
	return out
}

// drawn are durations of spans: their number and sums, and some of them, which
// are kept.
type drawn struct {
	n         int64
	sum, sum2 float64 // of picoseconds
	kept      []length
}

func (d *drawn) variance() float64 {
	if d.n < 2 {
		return math.NaN()
	}
	n := float64(d.n)
	return math.Max(0, (d.sum2-d.sum*d.sum/n)/(n-1))
}

// draws are the drawn durations of all rows of a side. How many spans a row will
// have must be planned; all are kept if they are few, and else one of each of as
// many equal parts of their sequence as are to be kept, each with the same
// chance. Dice begin with the rows' names, so that both sides, and each time,
// draw alike.
type draws struct {
	rows []drawn
	// left is by row how many spans on the next one lies that is kept.
	left  []int32
	plans []plan
	most  int
}

type plan struct {
	n    int64  // how many spans there will be
	at   int64  // the one of them that is kept next
	dice uint64 // never 0
}

// newDraws are draws of rows with these names.
func newDraws(rows, most int, name func(row int) string, salt uint64) *draws {
	ds := &draws{rows: make([]drawn, rows), left: make([]int32, rows), plans: make([]plan, rows), most: most}
	for i := range ds.plans {
		h := fnv.New64a()
		h.Write([]byte(name(i)))
		ds.plans[i].dice = (h.Sum64()^salt)*0x9E3779B97F4A7C15 | 1
	}
	return ds
}

// expect plans for more spans of a row.
func (ds *draws) expect(row int32, n int64) { ds.plans[row].n += n }

// begin makes room once all spans are expected.
func (ds *draws) begin() {
	all := 0
	for i := range ds.plans {
		all += ds.keeps(i)
	}
	room := make([]length, all)
	for i := range ds.rows {
		k := ds.keeps(i)
		ds.rows[i].kept, room = room[:0:k], room[k:]
		ds.plans[i].at = -1
		ds.next(int32(i))
	}
}

func (ds *draws) keeps(row int) int { return int(min(int64(ds.most), ds.plans[row].n)) }

// next finds the next span of a row that is kept: one from the next part.
func (ds *draws) next(row int32) {
	p := &ds.plans[row]
	part, parts := int64(len(ds.rows[row].kept)), int64(ds.keeps(int(row)))
	if part >= parts {
		ds.left[row] = math.MaxInt32 // none, ever
		return
	}
	if parts == p.n { // all
		ds.left[row], p.at = 1, part
		return
	}
	at := part * p.n / parts
	if wide := uint64((part+1)*p.n/parts - at); wide > 1 {
		p.dice ^= p.dice << 13
		p.dice ^= p.dice >> 7
		p.dice ^= p.dice << 17
		at += int64(p.dice % wide)
	}
	ds.left[row], p.at = int32(min(math.MaxInt32, at-p.at)), at
}

// pass lets a span of a row go by and keeps it if its turn has come.
func (ds *draws) pass(row int32, ps float64) {
	if ds.left[row]--; ds.left[row] == 0 {
		ds.keep(row, ps)
	}
}

// keep keeps the span whose turn it is.
func (ds *draws) keep(row int32, ps float64) {
	d := &ds.rows[row]
	d.kept = append(d.kept, newLength(ps))
	ds.next(row)
}

// add notes spans of a row with the sums of their durations.
func (ds *draws) add(row int32, n int64, sum, sum2 float64) {
	d := &ds.rows[row]
	d.n += n
	d.sum += sum
	d.sum2 += sum2
}

// shift says how two sets of sorted lengths differ; nil where one is empty.
func shift(a, b []length) *Shift {
	if len(a) == 0 || len(b) == 0 {
		return nil
	}
	x, y := durationsOf(a), durationsOf(b)
	s := &Shift{MedianA: stats.Quantile(x, .5), MedianB: stats.Quantile(y, .5)}
	s.By, s.Low, s.High = stats.Shift(x, y)
	return s
}

// end sorts what was kept.
func (ds *draws) end() {
	room := make([]length, ds.most)
	for i := range ds.rows {
		sortLengths(ds.rows[i].kept, room)
	}
	ds.left, ds.plans = nil, nil
}

// sortLengths sorts what has at most as many elements as room. There are millions in
// all, so that many are not compared but sorted by one byte after the other, from the
// lowest on: mostly the two highest of a row's are all alike but for few.
func sortLengths(ls, room []length) {
	const few = 128
	if len(ls) < few {
		slices.Sort(ls)
		return
	}
	var counts [4][256]uint32
	for _, l := range ls {
		counts[0][l&255]++
		counts[1][l>>8&255]++
		counts[2][l>>16&255]++
		counts[3][l>>24]++
	}
	from, to := ls, room[:len(ls)]
	for digit := range counts {
		of, shift := &counts[digit], 8*digit
		if of[from[0]>>shift&255] == uint32(len(ls)) {
			continue // all are alike
		}
		sum := uint32(0)
		for i, n := range of {
			of[i], sum = sum, sum+n
		}
		for _, l := range from {
			at := &of[l>>shift&255]
			to[*at] = l
			*at++
		}
		from, to = to, from
	}
	copy(ls, from) // where it does not lie there
}
