package convert

import (
	"cmp"
	"container/heap"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"ashlar/ingest/recording"
	format "ashlar/spaa"
)

// sampleCursor stands at a sample of a track's event.
type sampleCursor struct {
	s     *recording.Samples
	track int
	i     int
	time  int64
}

// sampleOrder merges the samples of all tracks and events by time.
type sampleOrder []*sampleCursor

func (o sampleOrder) Len() int { return len(o) }
func (o sampleOrder) Less(a, b int) bool {
	return cmp.Or(cmp.Compare(o[a].time, o[b].time), cmp.Compare(o[a].track, o[b].track), cmp.Compare(o[a].s.Event, o[b].s.Event)) < 0
}
func (o sampleOrder) Swap(a, b int) { o[a], o[b] = o[b], o[a] }

// Push and Pop are for package heap.
func (o *sampleOrder) Push(x any) { *o = append(*o, x.(*sampleCursor)) }

// Pop takes the last cursor off.
func (o *sampleOrder) Pop() any {
	n := len(*o) - 1
	x := (*o)[n]
	*o = (*o)[:n]
	return x
}

// eachSample visits all samples in order of time.
func (j *job) eachSample(visit func(*sampleCursor) error) error {
	var order sampleOrder
	for ti, t := range j.rec.Tracks {
		for _, s := range t.Samples {
			if s.Len() > 0 {
				order = append(order, &sampleCursor{s: s, track: ti, time: s.Time(0)})
			}
		}
	}
	heap.Init(&order)
	for len(order) > 0 {
		c := order[0]
		if err := visit(c); err != nil {
			return err
		}
		if c.i++; c.i == c.s.Len() {
			heap.Pop(&order)
		} else {
			c.time = c.s.Time(c.i)
			heap.Fix(&order, 0)
		}
		if err := j.tick(1); err != nil {
			return err
		}
	}
	return nil
}

// samples writes the samples, and between them the windows that they fill.
func (s *spaaWriter) samples() error {
	var w *windowMaker
	if s.opt.Window > 0 {
		w = s.newWindows()
	}
	var lost int64
	out := new(format.Sample)
	err := s.eachSample(func(c *sampleCursor) error {
		e := c.s.Event
		ev := &s.rec.Events[e]
		x := &s.events[e]
		t := &s.threads[c.track]
		*out = format.Sample{
			Timestamp: s.time(c.time), PID: format.Some(t.pid), TID: format.Some(t.tid),
			Event: x.name, StackID: s.id(e, c.s.Call(c.i)),
		}
		if cpu := c.s.CPU(c.i); cpu >= 0 {
			out.CPU = format.Some(int64(cpu))
		}
		for m := range ev.Metrics {
			v := c.s.Value(c.i, &ev.Metrics[m], m)
			switch {
			case v == recording.Missing || ev.Metrics[m].PerSample != recording.SampleColumn:
			case m != x.sampled:
				lost++
			default:
				s.text = appendValue(s.text[:0], v, ev.Metrics[m].Decimals)
				out.Period = format.Number(s.text)
			}
		}
		if w != nil {
			if err := w.add(c, out.StackID); err != nil {
				return err
			}
		}
		return s.out.Write(out)
	})
	if err == nil && w != nil {
		err = w.finish()
	}
	s.lose(lost, "values of single samples", "a sample has one value, its period; their sums are in the stacks")
	return err
}

// mostWindows bounds what --windows makes of a recording.
const mostWindows = 100_000

func (s *spaaWriter) checkWindows(samples int64) error {
	if samples == 0 {
		return errors.New("windows are made of samples with times, and the recording has none")
	}
	if n := s.rec.Duration() / s.opt.Window; n >= mostWindows {
		return fmt.Errorf("windows that short would be %d; %d are enough, so make them longer", n+1, mostWindows)
	}
	return nil
}

// windowMaker adds samples up by windows of equal length, which partition the
// recording. A sample at an edge belongs to the window that begins there.
type windowMaker struct {
	*spaaWriter
	n     int64 // of the current window
	index map[windowKey]int
	keys  []windowKey
	sums  rows
}

type windowKey struct {
	event int
	id    format.ID
}

func (s *spaaWriter) newWindows() *windowMaker {
	w := &windowMaker{spaaWriter: s, index: map[windowKey]int{}}
	for i := range s.rec.Events {
		w.sums.metrics = max(w.sums.metrics, len(s.rec.Events[i].Metrics))
	}
	return w
}

func (w *windowMaker) add(c *sampleCursor, id format.ID) error {
	for c.time-w.rec.Start >= (w.n+1)*w.opt.Window {
		if err := w.flush(); err != nil {
			return err
		}
	}
	k := windowKey{c.s.Event, id}
	i, ok := w.index[k]
	if !ok {
		i = len(w.keys)
		w.index[k] = i
		w.keys = append(w.keys, k)
		for range w.sums.metrics {
			w.sums.values = append(w.sums.values, recording.Missing)
		}
	}
	ms := w.rec.Events[k.event].Metrics
	for m := range ms {
		w.sums.add(&w.sums.at(i)[m], c.s.Value(c.i, &ms[m], m))
	}
	return nil
}

// flush writes the current window.
func (w *windowMaker) flush() error {
	start := w.rec.Start + w.n*w.opt.Window
	w.n++
	out := &format.Window{
		ID: format.StringID("w" + strconv.FormatInt(w.n, 10)), Unit: "seconds",
		Start: w.time(start), End: w.time(min(start+w.opt.Window, w.rec.End)),
		ByStack: []format.StackWeights{},
	}
	order := make([]int, len(w.keys))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(w.keys[a].event, w.keys[b].event) })
	for _, i := range order {
		k := w.keys[i]
		n := len(w.rec.Events[k.event].Metrics)
		out.ByStack = append(out.ByStack, format.StackWeights{StackID: k.id, Weights: w.weights(nil, k.event, w.sums.at(i)[:n])})
	}
	clear(w.index)
	w.keys, w.sums.values = w.keys[:0], w.sums.values[:0]
	return w.out.Write(out)
}

func (w *windowMaker) finish() error {
	w.lose(w.sums.overflow, "sums of windows", "they do not fit 64 bits and were cut down")
	return w.flush()
}

// windows writes those that the recording has. Such come from SPAA, which is
// copied record by record; this is for the recordings that others build.
func (s *spaaWriter) windows() error {
	if s.opt.Window > 0 {
		s.loseWindows("new ones were asked for")
		return nil
	}
	for _, set := range s.rec.Windows {
		for i := range set.Windows {
			win := &set.Windows[i]
			out := &format.Window{ID: format.StringID(win.ID), Start: s.time(win.Start), End: s.time(win.End), Unit: "seconds", ByStack: []format.StackWeights{}}
			values := make([]int64, len(s.rec.Events[set.Event].Metrics))
			for r := win.First; r < win.Last; r++ {
				for m := range values {
					values[m] = set.Rows.Value(r, m)
				}
				out.ByStack = append(out.ByStack, format.StackWeights{StackID: s.id(set.Event, set.Rows.Call(r)), Weights: s.weights(nil, set.Event, values)})
			}
			if err := s.out.Write(out); err != nil {
				return err
			}
		}
	}
	return nil
}
