package spaa

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"ashlar/ingest/format/encode"
	"ashlar/ingest/model/recording"
	format "ashlar/spaa"
)

// samples writes the samples and, with Options.Window, each window after its samples.
func (s *spaaWriter) samples() error {
	var w *windowMaker
	if s.Opt.Window > 0 {
		w = s.newWindows()
	}
	var lost int64
	out := new(format.Sample)
	err := s.EachSample(func(c *encode.SampleCursor) error {
		e := c.S.Event
		ev := &s.Rec.Events[e]
		x := &s.events[e]
		t := &s.threads[c.Track]
		*out = format.Sample{
			Timestamp: s.time(c.Time), PID: format.Some(t.PID), TID: format.Some(t.TID),
			Event: x.name, StackID: s.id(e, c.S.Call(c.I)),
		}
		if cpu := c.S.CPU(c.I); cpu >= 0 {
			out.CPU = format.Some(int64(cpu))
		}
		for m := range ev.Metrics {
			v := c.S.Value(c.I, &ev.Metrics[m], m)
			switch {
			case v == recording.Missing || ev.Metrics[m].PerSample != recording.SampleColumn:
			case m != x.sampled:
				lost++
			default:
				s.text = encode.AppendValue(s.text[:0], v, ev.Metrics[m].Decimals)
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
	s.Lose(lost, "values of single samples", "a sample has only one value, its period; the stacks have the sums")
	return err
}

// mostWindows limits the number of windows that --windows makes.
const mostWindows = 100_000

func (s *spaaWriter) checkWindows(samples int64) error {
	if samples == 0 {
		return errors.New("windows need samples with times, and the recording has none")
	}
	if n := s.Rec.Duration() / s.Opt.Window; n >= mostWindows {
		return fmt.Errorf("the windows are too short: %d windows, at most %d are allowed", n+1, mostWindows)
	}
	return nil
}

// windowMaker sums samples by windows of equal length, which partition the recording. A
// sample at an edge belongs to the window that begins there.
type windowMaker struct {
	*spaaWriter
	n     int64 // number of the current window
	index map[windowKey]int
	keys  []windowKey
	// values of key i are values[i*metrics:][:metrics].
	values  []int64
	metrics int
	sums    encode.Adder
}

type windowKey struct {
	event int
	id    format.ID
}

func (s *spaaWriter) newWindows() *windowMaker {
	w := &windowMaker{spaaWriter: s, index: map[windowKey]int{}}
	for i := range s.Rec.Events {
		w.metrics = max(w.metrics, len(s.Rec.Events[i].Metrics))
	}
	return w
}

func (w *windowMaker) at(i int) []int64 { return w.values[i*w.metrics:][:w.metrics] }

func (w *windowMaker) add(c *encode.SampleCursor, id format.ID) error {
	for (c.Time-w.Rec.Start)/w.Opt.Window > w.n {
		if err := w.flush(); err != nil {
			return err
		}
	}
	k := windowKey{c.S.Event, id}
	i, ok := w.index[k]
	if !ok {
		i = len(w.keys)
		w.index[k] = i
		w.keys = append(w.keys, k)
		for range w.metrics {
			w.values = append(w.values, recording.Missing)
		}
	}
	ms := w.Rec.Events[k.event].Metrics
	for m := range ms {
		w.sums.Add(&w.at(i)[m], c.S.Value(c.I, &ms[m], m))
	}
	return nil
}

// flush writes the current window.
func (w *windowMaker) flush() error {
	start := w.Rec.Start + w.n*w.Opt.Window
	w.n++
	out := &format.Window{
		ID: format.StringID("w" + strconv.FormatInt(w.n, 10)), Unit: "seconds",
		Start: w.time(start), End: w.time(min(recording.Saturated(start, w.Opt.Window), w.Rec.End)),
		ByStack: []format.StackWeights{},
	}
	order := make([]int, len(w.keys))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(w.keys[a].event, w.keys[b].event) })
	for _, i := range order {
		k := w.keys[i]
		n := len(w.Rec.Events[k.event].Metrics)
		out.ByStack = append(out.ByStack, format.StackWeights{StackID: k.id, Weights: w.weights(nil, k.event, w.at(i)[:n])})
	}
	clear(w.index)
	w.keys, w.values = w.keys[:0], w.values[:0]
	return w.out.Write(out)
}

func (w *windowMaker) finish() error {
	w.Lose(w.sums.Overflow, "sums of windows", "values above 64 bits were limited")
	return w.flush()
}

// windows writes the windows of the recording. SPAA files, which can have windows, are
// copied record by record; this is for recordings that other code builds.
func (s *spaaWriter) windows() error {
	if s.Opt.Window > 0 {
		s.LoseWindows("replaced by new windows of the requested length")
		return nil
	}
	for _, set := range s.Rec.Windows {
		for i := range set.Windows {
			win := &set.Windows[i]
			out := &format.Window{ID: format.StringID(win.ID), Start: s.time(win.Start), End: s.time(win.End), Unit: "seconds", ByStack: []format.StackWeights{}}
			values := make([]int64, len(s.Rec.Events[set.Event].Metrics))
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
