package gpu

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"strings"

	"ashlar/ingest/model/funcname"
	"ashlar/ingest/model/lanes"
	"ashlar/ingest/model/order"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/spans"
)

// Step is one pass of the loop that launches work.
type Step struct {
	Span
	// Work is the number of kernels, copies and fills that the program launched in it, and
	// GPU the time in which at least one of them ran.
	Work int
	GPU  int64
	// Slow is the measure by which the step is slow; see Steps.
	Slow Measure
}

// Measure is a measure of steps.
type Measure uint8

// Measures of steps.
const (
	None     Measure = iota
	Duration         // how long the step was
	GPUTime          // running time of the work that the step launched
)

// Of returns a step's value of a measure.
func (s *Step) Of(m Measure) int64 {
	if m == GPUTime {
		return s.GPU
	}
	return s.End - s.Start
}

// Steps are the passes of a loop, in order of time.
type Steps struct {
	Name  string // without numbers: ProfilerStep
	Steps []Step
	// Median holds the medians by measure. Slow lists the slow steps' indices: those whose
	// Measure stands out; see spans.StandOut.
	Median  [GPUTime + 1]int64
	Slow    []int
	Measure Measure
	// Trend tells by measure whether steps get slower.
	Trend [GPUTime + 1]spans.Trend
	// Excess is the time of the slow steps beyond the median, as a fraction of the time
	// from the first step to the end of the last one and of its work.
	Excess float64
	// Causes are the functions that take longer in a slow step than in a usual one, the
	// largest difference first: kernels if Measure is GPUTime, functions of the step's
	// thread by self time otherwise.
	Causes []Cause

	end int64 // end of the last step and its work
}

// Cause is a function's mean time in slow steps and in usual ones.
type Cause struct {
	Function    recording.FuncID
	Slow, Usual int64
}

// fewest is the minimum number of steps of a loop.
const fewest = 8

// StepsOf returns the steps in which the work of devices was launched, nil if the trace
// has none: outermost calls of one thread whose names differ only in numbers.
func StepsOf(ctx context.Context, rec *recording.Recording, devices []*Device) (*Steps, error) {
	s := loop(rec, devices)
	if s == nil {
		return nil, nil
	}
	ran := make([][]*Work, len(s.Steps))
	for _, d := range devices {
		for i := range d.Work {
			w := &d.Work[i]
			if n := s.during(w.Launch.Start); w.Launch.Track != recording.NoTrack && n >= 0 {
				ran[n] = append(ran[n], w)
			}
		}
	}
	for n, all := range ran {
		order.By(all, func(a, b *Work) int { return cmp.Compare(a.Start, b.Start) })
		step, until := &s.Steps[n], int64(math.MinInt64)
		for _, w := range all {
			step.GPU += max(0, w.End-max(w.Start, until))
			until = max(until, w.End)
		}
		step.Work, s.end = len(all), max(s.end, step.End, until)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for _, m := range []Measure{Duration, GPUTime} {
		s.Median[m] = median(len(s.Steps), func(i int) int64 { return s.Steps[i].Of(m) })
		s.Trend[m] = s.trend(m)
		// Where the GPU's time explains most of a step's, the program only waits for it.
		if slow := s.outliers(m); len(slow) > 0 && (s.Slow == nil || 2*s.excess(slow, m) > s.excess(s.Slow, s.Measure)) {
			s.Slow, s.Measure = slow, m
		}
	}
	for _, i := range s.Slow {
		s.Steps[i].Slow = s.Measure
	}
	s.Excess = s.excess(s.Slow, s.Measure)
	if s.Slow != nil {
		s.causes(rec, ran)
	}
	return s, nil
}

// loop finds the steps: repeated outermost calls in which at least half of all work was launched,
// on a thread that launches work. Calls whose names differ in numbers are preferred; others must
// launch at least two pieces of work per call on average. Among equals, it takes the calls with
// the most work.
func loop(rec *recording.Recording, devices []*Device) *Steps {
	launched := map[int][]int64{} // by track
	total := 0
	for _, d := range devices {
		for i := range d.Work {
			if l := &d.Work[i].Launch; l.Track != recording.NoTrack {
				launched[l.Track] = append(launched[l.Track], l.Start)
				total++
			}
		}
	}
	var best *Steps
	most, numbered := 0, false
	for _, t := range slices.Sorted(maps.Keys(launched)) {
		for _, s := range repeated(rec, t) {
			work := 0
			for _, all := range launched {
				for _, at := range all {
					if s.during(at) >= 0 {
						work++
					}
				}
			}
			of := rec.FuncName(s.Steps[0].Call) != s.Name
			if 2*work < total || !of && work < 2*len(s.Steps) || best != nil && (numbered && !of || numbered == of && work <= most) {
				continue
			}
			best, most, numbered = s, work, of
		}
	}
	return best
}

// mostLoops is the maximum number of names per track that are looked at.
const mostLoops = 8

// repeated returns the outermost calls of a track by name without numbers, for names with
// at least fewest calls; the largest total duration comes first.
func repeated(rec *recording.Recording, track int) []*Steps {
	folded, found := map[recording.FuncID]string{}, map[string]*Steps{}
	var all []*Steps
	for _, l := range rec.Tracks[track].Outermost(&rec.Calls) {
		each(l, func(call recording.CallID, start, end int64) {
			f := rec.Func(call)
			name, ok := folded[f]
			if !ok {
				name = funcname.FoldDigits(rec.Functions.At(int(f)).Name)
				folded[f] = name
			}
			s := found[name]
			if s == nil {
				s = &Steps{Name: strings.TrimRight(name, "# ")}
				found[name] = s
				all = append(all, s)
			}
			s.Steps = append(s.Steps, Step{Span: Span{track, call, start, end}})
		})
	}
	all = slices.DeleteFunc(all, func(s *Steps) bool { return len(s.Steps) < fewest })
	order.By(all, func(a, b *Steps) int { return cmp.Compare(b.total(), a.total()) })
	all = all[:min(len(all), mostLoops)]
	for _, s := range all {
		order.By(s.Steps, func(a, b Step) int { return cmp.Compare(a.Start, b.Start) })
	}
	return all
}

func (s *Steps) total() (sum int64) {
	for i := range s.Steps {
		sum += s.Steps[i].Of(Duration)
	}
	return sum
}

func each(l *lanes.Lane, visit func(call recording.CallID, start, end int64)) {
	for i := range l.Len() {
		visit(l.Call(i), l.Start(i), l.End(i))
	}
}

// during returns the step at a moment, -1 for none.
func (s *Steps) during(at int64) int {
	i, ok := slices.BinarySearchFunc(s.Steps, at, func(s Step, at int64) int { return cmp.Compare(s.Start, at) })
	if !ok {
		i--
	}
	if i < 0 || s.Steps[i].End <= at {
		return -1
	}
	return i
}

func median(n int, of func(int) int64) int64 {
	all := make([]int64, n)
	for i := range all {
		all[i] = of(i)
	}
	slices.Sort(all)
	return all[n/2]
}

// mostMoments is the maximum number of moments from which a trend is computed: it takes
// time in proportion to their square.
const mostMoments = 200

func (s *Steps) trend(m Measure) spans.Trend {
	var all []spans.Moment
	each := (len(s.Steps) + mostMoments - 1) / mostMoments
	for part := range slices.Chunk(s.Steps[1:], each) { // programs prepare in the first step
		middle := median(len(part), func(i int) int64 { return part[i].Of(m) })
		all = append(all, spans.Moment{From: part[0].Start, To: part[len(part)-1].End, Count: int64(len(part)), Median: middle})
	}
	return spans.TrendOf(all)
}

// outliers returns the slow steps by a measure: those that stand out. The first step does
// not count, because programs prepare in it.
func (s *Steps) outliers(m Measure) (slow []int) {
	later := make([]int64, len(s.Steps)-1)
	for i := range later {
		later[i] = s.Steps[i+1].Of(m)
	}
	slices.Sort(later)
	n := spans.StandOut(later)
	for i := 1; i < len(s.Steps) && n > 0; i++ {
		if s.Steps[i].Of(m) >= later[len(later)-n] {
			slow = append(slow, i)
		}
	}
	return slow
}

// excess returns Excess for slow steps by a measure.
func (s *Steps) excess(slow []int, m Measure) float64 {
	var more float64
	for _, i := range slow {
		more += float64(s.Steps[i].Of(m) - s.Median[m])
	}
	return more / float64(max(1, s.end-s.Steps[0].Start))
}

// causes compares the functions and work in slow steps with those in the others.
func (s *Steps) causes(rec *recording.Recording, ran [][]*Work) {
	slow, usual := map[recording.FuncID]int64{}, map[recording.FuncID]int64{}
	own := rec.Func(s.Steps[0].Call)
	for i := range s.Steps {
		into := usual
		switch {
		case s.Steps[i].Slow != None:
			into = slow
		case i == 0:
			continue
		}
		if s.Measure == GPUTime {
			for _, w := range ran[i] {
				into[rec.Func(w.Call)] += w.End - w.Start
			}
			continue
		}
		step := &s.Steps[i]
		t := rec.Tracks[step.Track]
		if columns := t.Columns(&rec.Calls); len(columns) > 0 {
			t.Innermost(columns[0], recording.NoCall, step.Start, step.End, func(call recording.CallID, time int64) {
				switch call {
				case recording.NoCall:
				case step.Call:
					into[own] += time // each step has a name of its own
				default:
					into[rec.Func(call)] += time
				}
			})
		}
	}
	others := int64(max(1, len(s.Steps)-1-len(s.Slow)))
	for f, v := range slow {
		c := Cause{f, v / int64(len(s.Slow)), usual[f] / others}
		if c.Slow > c.Usual {
			s.Causes = append(s.Causes, c)
		}
	}
	order.By(s.Causes, func(a, b Cause) int {
		return cmp.Or(cmp.Compare(b.Slow-b.Usual, a.Slow-a.Usual), cmp.Compare(a.Function, b.Function))
	})
}

// String returns the measure in a word, "" for None.
func (m Measure) String() string { return [...]string{"", "duration", "gpu"}[m] }
