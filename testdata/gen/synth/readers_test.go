package synth

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/google/pprof/profile"
)

// The readers here are simple and slow, and written from the formats' descriptions only, so
// that they do not share bugs with the generator.

// A stackOf holds the start times of the open spans, by thread.
type stackOf map[string][]int64

func (c *counted) begin(open stackOf, thread, name string, at int64) {
	c.at(at)
	c.spans++
	c.threadSpans[thread]++
	c.functions[name] = true
	open[thread] = append(open[thread], at)
	c.depth = max(c.depth, len(open[thread]))
}

func (c *counted) finish(open stackOf, thread string, at int64) error {
	n := len(open[thread])
	if n == 0 {
		return fmt.Errorf("an end on thread %s with nothing open", thread)
	}
	c.span(open[thread][n-1], at, n == 1)
	open[thread] = open[thread][:n-1]
	return nil
}

func (c *counted) span(start, end int64, root bool) {
	c.at(start)
	c.at(end)
	c.spanTime += end - start
	if root {
		c.rootTime += end - start
	}
}

func (open stackOf) empty() error {
	for thread, spans := range open {
		if len(spans) > 0 {
			return fmt.Errorf("%d spans of thread %s have no end", len(spans), thread)
		}
	}
	return nil
}

func readSpallFlat(b []byte) (*counted, error) {
	le := binary.LittleEndian
	unit := math.Float64frombits(le.Uint64(b[16:])) * 1000
	if le.Uint64(b) != 0x0BADF00D || unit != 1 && unit != 1000 {
		return nil, errors.New("the header is wrong")
	}
	version := le.Uint64(b[8:])
	double := func(at int) int64 { return int64(math.Round(math.Float64frombits(le.Uint64(b[at:])) * unit)) }
	c, open := newCounted(), stackOf{}
	for p := 32; p < len(b); c.records++ {
		switch kind := b[p]; {
		case kind == 3 && version == 1:
			name := int(b[p+18])
			c.begin(open, ids(b[p+2:]), string(b[p+20:p+20+name]), double(p+10))
			p += 20 + name + int(b[p+19])
		case kind == 3:
			name := int(b[p+17])
			c.begin(open, ids(b[p+1:]), string(b[p+18:p+18+name]), double(p+9))
			p += 18 + name
		case kind == 4:
			if err := c.finish(open, ids(b[p+1:]), double(p+9)); err != nil {
				return nil, err
			}
			p += 17
		case kind == 2 && version == 0:
			thread, start := ids(b[p+1:]), double(p+9)
			name := int(b[p+25])
			c.begin(open, thread, string(b[p+26:p+26+name]), start)
			if err := c.finish(open, thread, start+double(p+17)); err != nil {
				return nil, err
			}
			p += 26 + name
		default:
			return nil, fmt.Errorf("type %d at byte %d", kind, p)
		}
	}
	return c, open.empty()
}

func ids(b []byte) string {
	return fmt.Sprintf("%d/%d", binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:]))
}

func readSpall3(b []byte) (*counted, error) {
	le := binary.LittleEndian
	if le.Uint64(b) == 0xABADF00D {
		return readSpallAuto(b)
	}
	if le.Uint64(b) != 0x0BADF00D || le.Uint64(b[8:]) != 3 || math.Float64frombits(le.Uint64(b[16:])) != 1 {
		return nil, errors.New("the header is wrong")
	}
	c, open := newCounted(), stackOf{}
	for b = b[32:]; len(b) > 0; {
		size := int(le.Uint32(b))
		thread := fmt.Sprintf("%d/%d", le.Uint32(b[8:]), le.Uint32(b[4:]))
		events := b[20 : 20+size]
		b = b[20+size:]
		for p := 0; p < size; c.records++ {
			switch events[p] {
			case 3:
				name := int(events[p+9])
				c.begin(open, thread, string(events[p+11:p+11+name]), int64(le.Uint64(events[p+1:])))
				p += 11 + name + int(events[p+10])
			case 4:
				if err := c.finish(open, thread, int64(le.Uint64(events[p+1:]))); err != nil {
					return nil, err
				}
				p += 9
			case 8, 9:
				p += 2 + int(events[p+1])
			default:
				return nil, fmt.Errorf("type %d", events[p])
			}
		}
	}
	return c, open.empty()
}

func readSpallAuto(b []byte) (*counted, error) {
	le := binary.LittleEndian
	if le.Uint64(b[8:]) != 3 || math.Float64frombits(le.Uint64(b[16:])) != 1 || le.Uint16(b[32:]) != 0 {
		return nil, errors.New("the header is wrong")
	}
	c, open := newCounted(), stackOf{}
	for b = b[34:]; len(b) > 0; {
		thread := fmt.Sprintf("0/%d", le.Uint32(b[4:]))
		at, addr, caller := int64(le.Uint64(b[8:])), uint64(0), uint64(0)
		events := b[20 : 20+le.Uint32(b)]
		b = b[20+len(events):]
		read := func(bits byte) (v uint64) {
			n := 1 << (bits & 3)
			for i := range n {
				v |= uint64(events[i]) << (8 * i)
			}
			events = events[n:]
			return v
		}
		for ; len(events) > 0; c.records++ {
			kind := events[0]
			events = events[1:]
			switch kind >> 6 {
			case 0:
				at += int64(read(kind >> 4))
				addr ^= read(kind >> 2)
				caller ^= read(kind)
				if caller == addr && len(open[thread]) == 0 {
					return nil, errors.New("the outermost function calls itself")
				}
				c.begin(open, thread, fmt.Sprint(addr), at)
			case 1:
				at += int64(read(kind >> 4))
				if err := c.finish(open, thread, at); err != nil {
					return nil, err
				}
			default:
				return nil, fmt.Errorf("event %d", kind)
			}
		}
	}
	return c, open.empty()
}

func readChrome(b []byte) (*counted, error) {
	var file struct {
		TraceEvents []struct {
			Ph, Name, ID string
			Ts, Dur      json.Number
			Pid, Tid     int
			Args         map[string]any
		}
	}
	if err := json.Unmarshal(b, &file); err != nil {
		return nil, err
	}
	// X events are in the file in order of their ends. Collect all spans first, because the
	// depth is computed from their times.
	type span struct{ start, end int64 }
	byThread := map[string][]span{}
	open := map[string][]int{}
	c := newCounted()
	c.records = int64(len(file.TraceEvents))
	for _, e := range file.TraceEvents {
		thread := fmt.Sprintf("%d/%d", e.Pid, e.Tid)
		spans := byThread[thread]
		switch e.Ph {
		case "M", "i", "s", "f":
			continue
		case "B", "b":
			open[thread] = append(open[thread], len(spans))
			byThread[thread] = append(spans, span{start: thousandths(e.Ts)})
		case "E", "e":
			n := len(open[thread])
			spans[open[thread][n-1]].end = thousandths(e.Ts)
			open[thread] = open[thread][:n-1]
			continue
		case "X":
			at := thousandths(e.Ts)
			byThread[thread] = append(spans, span{at, at + thousandths(e.Dur)})
		default:
			return nil, fmt.Errorf("phase %q", e.Ph)
		}
		c.functions[e.Name] = true
		c.threadSpans[thread]++
	}
	for thread, spans := range byThread {
		if len(open[thread]) > 0 {
			return nil, fmt.Errorf("%d spans of thread %s have no end", len(open[thread]), thread)
		}
		// Spans nest, so the depth of a span is the number of spans open at its start.
		edges := map[int64]int{}
		for _, s := range spans {
			if edges[s.start] != 0 || edges[s.end] != 0 || s.end <= s.start {
				return nil, fmt.Errorf("spans of thread %s share the time %d or %d", thread, s.start, s.end)
			}
			edges[s.start], edges[s.end] = 1, -1
		}
		depths := depthsAt(edges)
		for _, s := range spans {
			c.spans++
			c.span(s.start, s.end, depths[s.start] == 1)
			c.depth = max(c.depth, depths[s.start])
		}
	}
	return c, nil
}

func thousandths(n json.Number) int64 {
	r, ok := new(big.Rat).SetString(string(n))
	if !ok {
		return math.MinInt64
	}
	r.Mul(r, big.NewRat(1000, 1))
	return r.Num().Int64() / r.Denom().Int64()
}

type spaaWeight struct {
	Metric string
	Value  int64
}

// A spaaRecord holds the keys of all types of record.
type spaaRecord struct {
	Type, Func, Event string
	ID                any
	Frames            []int
	Timestamp         json.Number
	PID, TID          int
	Period            int64
	StackID           string                           `json:"stack_id"`
	TimeRange         struct{ Start, End json.Number } `json:"time_range"`
	Context           struct {
		Event    string
		PID, TID int
	}
	Weights   []spaaWeight
	Exclusive struct {
		Frame   int
		Weights []spaaWeight
	}
	ByStack []struct {
		StackID string `json:"stack_id"`
		Weights []spaaWeight
	} `json:"by_stack"`
}

// A spaaGroup identifies the samples of one stack record.
type spaaGroup struct {
	id, event string
	tid       int
}

type spaaReader struct {
	*counted
	header          spaaRecord
	funcs           map[float64]string
	stacks, samples map[spaaGroup][2]int64 // samples and period
	last            int64
}

func readSPAA(b []byte) (*counted, error) {
	s := &spaaReader{counted: newCounted(), funcs: map[float64]string{}}
	s.stacks, s.samples = map[spaaGroup][2]int64{}, map[spaaGroup][2]int64{}
	lines := bufio.NewScanner(bytes.NewReader(b))
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var r spaaRecord
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return nil, err
		}
		if err := s.record(r); err != nil {
			return nil, err
		}
	}
	if !maps.Equal(s.stacks, s.samples) {
		return nil, fmt.Errorf("the %d stacks are not the sums of their samples", len(s.stacks))
	}
	times := s.header.TimeRange
	if thousandths(times.Start+"e6") != s.start || thousandths(times.End+"e6") != s.end {
		return nil, fmt.Errorf("the header's time range is %+v", times)
	}
	return s.counted, lines.Err()
}

func (s *spaaReader) record(r spaaRecord) error {
	if s.records++; (s.records == 1) != (r.Type == "header") {
		return fmt.Errorf("record %d is a %s", s.records, r.Type)
	}
	switch r.Type {
	case "header":
		s.header = r
	case "frame":
		s.funcs[r.ID.(float64)] = r.Func
	case "stack":
		return s.stack(r)
	case "sample":
		s.counted.samples++
		at := thousandths(r.Timestamp + "e6")
		if at < s.last {
			return errors.New("samples are not in the order of time")
		}
		s.last = at
		s.at(at)
		g := spaaGroup{r.StackID, r.Event, r.TID}
		sum := s.samples[g]
		s.samples[g] = [2]int64{sum[0] + 1, sum[1] + r.Period}
		s.threadSamples[fmt.Sprintf("%d/%d", r.PID, r.TID)]++
	case "window":
		s.windows++
		for _, stack := range r.ByStack {
			s.windowWeight += stack.Weights[0].Value
		}
	}
	return nil
}

func (s *spaaReader) stack(r spaaRecord) error {
	s.counted.stacks++
	for _, f := range r.Frames {
		name, ok := s.funcs[float64(f)]
		if !ok {
			return fmt.Errorf("a stack names frame %d before it is there", f)
		}
		s.functions[name] = true
	}
	if r.Exclusive.Frame != r.Frames[0] || !slices.Equal(r.Exclusive.Weights, r.Weights) {
		return errors.New("exclusive is not the leaf's")
	}
	s.depth = max(s.depth, len(r.Frames))
	for _, w := range r.Weights {
		s.weights[r.Context.Event+"/"+w.Metric] += w.Value
	}
	g := spaaGroup{r.ID.(string), r.Context.Event, r.Context.TID}
	if _, ok := s.stacks[g]; ok {
		return fmt.Errorf("two stacks of %v", g)
	}
	s.stacks[g] = [2]int64{r.Weights[0].Value, r.Weights[1].Value}
	return nil
}

func readFolded(b []byte) (*counted, error) {
	c := newCounted()
	known := map[string]bool{}
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSuffix(line, "\n")
		space := strings.LastIndexByte(line, ' ')
		count, err := strconv.ParseInt(line[space+1:], 10, 64)
		if err != nil || count < 1 {
			return nil, fmt.Errorf("count of %q: %v", line, err)
		}
		if known[line[:space]] {
			return nil, fmt.Errorf("twice: %q", line)
		}
		known[line[:space]] = true
		frames := strings.Split(line[:space], ";")
		c.records++
		c.stacks++
		c.samples += count
		c.weights["/samples"] += count
		c.threadSamples[frames[0]] += count
		c.depth = max(c.depth, len(frames))
		for _, f := range frames[1:] {
			c.functions[f] = true
		}
	}
	return c, nil
}

func readPprof(b []byte) (*counted, error) {
	p, err := profile.ParseData(b)
	if err != nil {
		return nil, err
	}
	if err := p.CheckValid(); err != nil {
		return nil, err
	}
	c := newCounted()
	c.start, c.end = p.TimeNanos, p.TimeNanos+p.DurationNanos
	known := map[string]bool{}
	for _, s := range p.Sample {
		c.records++
		c.stacks++
		c.samples += s.Value[0]
		for i, v := range s.Value {
			c.weights["/"+p.SampleType[i].Type] += v
		}
		c.threadSamples[s.Label["thread"][0]] += s.Value[0]
		stack := s.Label["thread"][0]
		depth := 0
		for _, l := range s.Location {
			stack += fmt.Sprintf(" %d", l.ID)
			for _, line := range l.Line {
				depth++
				c.functions[line.Function.Name] = true
			}
		}
		c.depth = max(c.depth, depth)
		known[stack] = true
	}
	if len(known)*100 < len(p.Sample)*99 {
		return nil, fmt.Errorf("of %d stacks only %d are different", len(p.Sample), len(known))
	}
	return c, nil
}

// depthsAt returns the number of open spans right after each edge. edges has +1 at each
// start and -1 at each end.
func depthsAt(edges map[int64]int) map[int64]int {
	depths := make(map[int64]int, len(edges))
	depth := 0
	for _, at := range slices.Sorted(maps.Keys(edges)) {
		depth += edges[at]
		depths[at] = depth
	}
	return depths
}
