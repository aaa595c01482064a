// Package repeat finds calls that repeat on a thread, such as the frames of a game or the
// requests of a server, and explains the slow ones: by an argument, by the callees, by
// what other threads did meanwhile, and by their rhythm.
package repeat

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"ashlar/ingest/model/lanes"
	"ashlar/ingest/model/order"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/scan"
	"ashlar/ingest/query/spans"
)

// A Loop is the calls that repeat on a track, in order of time. Names that differ only in
// their digits are one name.
type Loop struct {
	Track, Lane int
	// Outer is set if the calls are the outermost of the track.
	Outer bool
	// Name is the common name: that of the function or, if Numbered, the name without its
	// digits. Function is the function of the first call.
	Name     string
	Numbered bool
	Function recording.FuncID
	// Spans are the indices of the calls in the lane, Total is the sum of their durations.
	Spans []int
	Total int64

	rec   *recording.Recording
	lane  *lanes.Lane
	below []int // the lanes of the callees, outermost first
}

const (
	fewest  = 50     // calls of a loop
	most    = 20_000 // calls of a loop
	deepest = 8      // lanes of a thread that are examined

	fewestSlow = 4 // slow calls of a loop
)

// Of finds the loop of each thread, the one with the largest total first. A thread's loop
// is in the outermost lane in which calls of one name repeat at least 50 times; they take at
// least a twentieth of the recording.
func Of(ctx context.Context, rec *recording.Recording, skip func(track int) bool) (loops []Loop, err error) {
	names := newStems(rec)
	for i, t := range rec.Tracks {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if t.Kind != recording.ThreadTrack || skip(i) {
			continue
		}
		var best *Loop
		for _, column := range t.Columns(&rec.Calls) {
			for k, lane := range column[:min(len(column), deepest)] {
				l := names.loop(i, lane, &t.Lanes[lane])
				if l == nil {
					continue
				}
				l.rec, l.lane, l.below, l.Outer = rec, &t.Lanes[lane], column[k+1:], k == 0
				if 20*l.Total < rec.Duration() {
					break
				}
				if best == nil || l.Total > best.Total {
					best = l
				}
				break
			}
		}
		if best != nil {
			loops = append(loops, *best)
		}
	}
	order.By(loops, func(a, b Loop) int { return cmp.Compare(b.Total, a.Total) })
	return loops, nil
}

// On returns the calls of a function in a lane of a track; nil if they are fewer than 50
// or very many.
func On(rec *recording.Recording, track, row int, f recording.FuncID) *Loop {
	lane := &rec.Tracks[track].Lanes[row]
	l := &Loop{Track: track, Lane: row, Function: f, Name: rec.Functions.At(int(f)).Name, rec: rec, lane: lane}
	whole(lane).Each(func(first int, starts, ends []int64, calls []recording.CallID) {
		for i, c := range calls {
			if rec.Func(c) == f {
				l.Spans = append(l.Spans, first+i)
				l.Total += ends[i] - starts[i]
			}
		}
	})
	if len(l.Spans) < fewest || len(l.Spans) > most {
		return nil
	}
	return l
}

// stems are the names of functions without digits, each numbered once.
type stems struct {
	rec  *recording.Recording
	of   []int32 // by function: 1 + the number of its stem
	ids  map[string]int32
	text []string
	// sums are the calls of a lane by stem, seen the stems with calls.
	sums []sum
	seen []int32
}

type sum struct {
	total int64
	count int
}

func newStems(rec *recording.Recording) *stems {
	return &stems{rec: rec, of: make([]int32, rec.Functions.Len()), ids: map[string]int32{}}
}

func (s *stems) stem(f recording.FuncID) int32 {
	if s.of[f] == 0 {
		text := Stem(s.rec.Functions.At(int(f)).Name)
		id, ok := s.ids[text]
		if !ok {
			id = int32(len(s.text))
			s.ids[text] = id
			s.text = append(s.text, text)
			s.sums = append(s.sums, sum{})
		}
		s.of[f] = id + 1
	}
	return s.of[f] - 1
}

// Stem returns a name without its digits.
func Stem(name string) string {
	if !strings.ContainsAny(name, "0123456789") {
		return name
	}
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return -1
		}
		return r
	}, name)
}

// whole is the stretch of all spans of a lane.
func whole(l *lanes.Lane) *scan.Stretch { return &scan.Stretch{Lane: l, Last: l.Len()} }

// loop groups the calls of a lane by their names without digits, and returns the group that
// takes the most time of those that are neither too small nor too large; nil if there is none.
func (s *stems) loop(track, row int, l *lanes.Lane) *Loop {
	if l.Len() < fewest {
		return nil
	}
	whole(l).Each(func(_ int, starts, ends []int64, calls []recording.CallID) {
		for i, c := range calls {
			k := s.stem(s.rec.Func(c))
			x := &s.sums[k]
			if x.count == 0 {
				s.seen = append(s.seen, k)
			}
			x.count++
			x.total += ends[i] - starts[i]
		}
	})
	best := int32(-1)
	var of sum
	for _, k := range s.seen {
		if x := s.sums[k]; x.count >= fewest && x.count <= most && (best < 0 || x.total > of.total || x.total == of.total && k < best) {
			best, of = k, x
		}
		s.sums[k] = sum{}
	}
	s.seen = s.seen[:0]
	if best < 0 {
		return nil
	}
	o := &Loop{Track: track, Lane: row, Total: of.total, Spans: make([]int, 0, of.count)}
	whole(l).EachCall(func(first int, calls []recording.CallID) {
		for i, c := range calls {
			f := s.rec.Func(c)
			if s.stem(f) != best {
				continue
			}
			if len(o.Spans) == 0 {
				o.Function, o.Name = f, s.rec.Functions.At(int(f)).Name
			} else if f != o.Function {
				o.Numbered, o.Name = true, s.text[best]
			}
			o.Spans = append(o.Spans, first+i)
		}
	})
	return o
}

// Start, End and Duration return the times of a call of the loop, in picoseconds.
func (l *Loop) Start(i int) int64    { return l.lane.Start(l.Spans[i]) }
func (l *Loop) End(i int) int64      { return l.lane.End(l.Spans[i]) }
func (l *Loop) Duration(i int) int64 { return l.lane.Duration(l.Spans[i]) }

// Gaps returns the times between the end of each call and the start of the next, 0 where
// they touch or overlap.
func (l *Loop) Gaps() []int64 {
	gaps := make([]int64, len(l.Spans)-1)
	for i := range gaps {
		gaps[i] = max(0, l.Start(i+1)-l.End(i))
	}
	return gaps
}

// Sleeps reports whether the gaps between the calls hardly depend on the calls before them: they
// vary less than half as much as the times from start to start, by their quartiles.
func (l *Loop) Sleeps() bool {
	gaps, starts := l.Gaps(), make([]int64, len(l.Spans)-1)
	for i := range starts {
		starts[i] = l.Start(i+1) - l.Start(i)
	}
	spread := func(of []int64) int64 {
		slices.Sort(of)
		return of[3*len(of)/4] - of[len(of)/4]
	}
	return 2*spread(gaps) < spread(starts)
}

// Slow holds the slow calls of a loop, in order of time: those that last at least From.
// Median is the median of the other calls, and Excess the time of the slow calls beyond it.
type Slow struct {
	Calls, Others  []int
	From           int64
	Median, Excess int64
	// Apart is set if no other call lasts more than four fifths of From.
	Apart bool
}

// Slow returns the slow calls, as [spans.SlowOf] finds them: at most 30 % of all and at
// least four; nil if there are none.
func (l *Loop) Slow() *Slow {
	n := len(l.Spans)
	all := make([]int64, n)
	for i := range all {
		all[i] = l.Duration(i)
	}
	mode, ok := spans.SlowOf(all)
	if !ok || mode.Count < fewestSlow || 10*mode.Count > 3*int64(n) {
		return nil
	}
	slices.Sort(all)
	border, _ := slices.BinarySearch(all, mode.From)
	s := &Slow{From: all[border], Median: all[(border-1)/2], Apart: 4*all[border] >= 5*all[border-1]}
	for i := range n {
		if d := l.Duration(i); d >= s.From {
			s.Calls = append(s.Calls, i)
			s.Excess += d - s.Median
		} else {
			s.Others = append(s.Others, i)
		}
	}
	return s
}
