package chrome

import (
	"fmt"
	"strconv"

	"ashlar/ingest/format/encode"
	"ashlar/ingest/model/recording"
)

// sampled writes the stacks of samples as a tree of frames, and the samples in order of
// time. A frame's number is the id of its call.
func (c *chromeWriter) sampled() error {
	used := make([]bool, c.Rec.Calls.Len())
	for _, t := range c.Rec.Tracks {
		for _, s := range t.Samples {
			for i := range s.Len() {
				for call := s.Call(i); call != recording.NoCall && !used[call]; call = c.Rec.Calls.Parent(call) {
					used[call] = true
				}
			}
		}
	}
	if err := c.stackFrames(used); err != nil {
		return err
	}
	weights := make([]int, len(c.Rec.Events))
	for e := range weights {
		weights[e] = sampleWeight(&c.Rec.Events[e])
	}
	if _, err := c.W.WriteString(",\n\"samples\":["); err != nil {
		return err
	}
	sep := "\n"
	err := c.EachSample(func(s *encode.SampleCursor) error {
		e := &c.Rec.Events[s.S.Event]
		t := &c.threads[s.Track]
		c.b = append(append(c.b[:0], sep...), '{')
		sep = ",\n"
		if cpu := s.S.CPU(s.I); cpu >= 0 {
			c.b = strconv.AppendInt(append(c.b, `"cpu":`...), int64(cpu), 10)
			c.b = append(c.b, ',')
		}
		c.b = encode.AppendJSON(append(c.b, `"name":`...), e.NameOrKind())
		c.int("pid", t.PID)
		c.int("tid", t.TID)
		c.time("ts", s.Time)
		if call := s.S.Call(s.I); call != recording.NoCall {
			c.int("sf", int64(call))
		}
		for m := range e.Metrics {
			if v := s.S.Value(s.I, &e.Metrics[m], m); v != recording.Missing && e.Metrics[m].PerSample == recording.SampleColumn {
				if m != weights[s.S.Event] {
					c.lostValues++
					continue
				}
				c.b = encode.AppendValue(append(c.b, `,"weight":`...), v, e.Metrics[m].Decimals)
			}
		}
		c.b = append(c.b, '}')
		c.Records++
		_, err := c.W.Write(c.b)
		return err
	})
	if err != nil {
		return err
	}
	_, err = c.W.WriteString("\n]")
	return err
}

// sampleWeight returns the index of the metric used as the samples' weight: the primary
// metric if each sample has its own value of it, else the first metric for which that is
// true; -1 for none.
func sampleWeight(e *recording.Event) int {
	best := -1
	for m := range e.Metrics {
		if e.Metrics[m].PerSample == recording.SampleColumn && (best < 0 || m == e.Primary) {
			best = m
		}
	}
	return best
}

func (c *chromeWriter) stackFrames(used []bool) error {
	if _, err := c.W.WriteString(",\n\"stackFrames\":{"); err != nil {
		return err
	}
	first := true
	for call := 1; call < len(used); call++ {
		if !used[call] {
			continue
		}
		id := recording.CallID(call)
		f := c.Rec.Functions.At(int(c.Rec.Func(id)))
		c.b = c.b[:0]
		if !first {
			c.b = append(c.b, ',')
		}
		first = false
		c.b = fmt.Appendf(c.b, "\n\"%d\":{\"name\":", call)
		c.b = encode.AppendJSON(c.b, c.Rec.NameInFile(c.Rec.Func(id)))
		if f.Module != "" {
			c.b = encode.AppendJSON(append(c.b, `,"category":`...), f.Module)
		}
		if p := c.Rec.Calls.Parent(id); p != recording.NoCall {
			c.int("parent", int64(p))
		}
		c.b = append(c.b, '}')
		if _, err := c.W.Write(c.b); err != nil {
			return err
		}
	}
	_, err := c.W.WriteString("\n}")
	return err
}
