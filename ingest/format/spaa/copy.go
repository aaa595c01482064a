package spaa

import (
	"errors"
	"fmt"
	"io"
	"math/big"
	"slices"
	"strconv"

	"ashlar/ingest/format/encode"
	format "ashlar/spaa"
)

// copyRecords writes the records of SPAA text in canonical form. It keeps everything else:
// unknown records and keys, the spelling of numbers, violations of the format, and the
// order. Lines that are not records are left out and reported.
//
// Records without a required key are copied as they are written.
//
// With Options.Window, time windows computed from the samples follow the records, unless
// the file has windows.
func copyRecords(j *encode.Job, r io.Reader) error {
	c := &copier{Job: j, reader: format.NewReader(r), cut: newCutter(j.Opt.Window)}
	return c.run()
}

type copier struct {
	*encode.Job
	reader *format.Reader
	line   []byte
	header *format.Header
	had    bool // the file has windows
	cut    *cutter
}

func (c *copier) run() error {
	for {
		if err := c.Tick(1); err != nil {
			return err
		}
		rec, err := c.reader.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		var bad *format.LineError
		if errors.As(err, &bad) {
			var other *format.FormatError
			if errors.As(err, &other) {
				return err
			}
			var missing *format.MissingError
			if errors.As(err, &missing) {
				if err := c.writeLine(append(c.line[:0], validText(c.reader.Text())...)); err != nil {
					return err
				}
				continue
			}
			c.Lose(1, "lines", "only SPAA records are kept")
			continue
		}
		if err != nil {
			return err
		}
		c.look(rec)
		if err := c.write(rec); err != nil {
			return err
		}
	}
	if c.Records == 0 {
		return errors.New("the file has no SPAA records")
	}
	return c.windows()
}

func (c *copier) write(rec format.Record) error {
	var err error
	if c.line, err = format.AppendRecord(c.line[:0], rec); err != nil {
		return err
	}
	return c.writeLine(c.line)
}

func (c *copier) writeLine(line []byte) error {
	c.Records++
	c.line = append(line, '\n')
	_, err := c.W.Write(c.line)
	return err
}

// look collects the data for windows from a record.
func (c *copier) look(rec format.Record) {
	switch rec := rec.(type) {
	case *format.Header:
		if c.header == nil {
			c.header = rec
		}
	case *format.Window:
		c.had = true
	case *format.Sample:
		if c.Opt.Window > 0 {
			c.cut.add(rec, c.header)
		}
	}
}

func (c *copier) windows() error {
	switch {
	case c.Opt.Window <= 0:
		return nil
	case c.had:
		c.Lose(1, "requested windows", "the file already has windows, which were kept")
		return nil
	}
	ws, err := c.cut.windows(c.header)
	if err != nil {
		return err
	}
	for _, w := range ws {
		if err := c.write(w); err != nil {
			return err
		}
	}
	return nil
}

// cutter sums the samples of a SPAA file by window, in exact decimals.
type cutter struct {
	size  *big.Rat // window size in seconds
	wins  map[int64]map[format.ID]*cutSum
	order map[int64][]format.ID
	start *big.Rat // start of the header's time range, else time of the first sample
	last  *big.Rat // the latest sample
	unit  string   // unit of the file's times
}

// cutSum is the weight of a stack in a window.
type cutSum struct {
	samples int64
	metric  string
	period  *big.Rat
}

func newCutter(window int64) *cutter {
	return &cutter{
		size: big.NewRat(window, encode.Second), wins: map[int64]map[format.ID]*cutSum{}, order: map[int64][]format.ID{},
	}
}

func (c *cutter) begin(first *big.Rat, h *format.Header) {
	c.start, c.unit = first, "seconds"
	if h != nil && h.TimeRange != nil {
		if h.TimeRange.Unit != "" {
			c.unit = h.TimeRange.Unit
		}
		if at, ok := new(big.Rat).SetString(string(h.TimeRange.Start)); ok {
			c.start = at
		}
	}
	unit, _ := unitSize(c.unit)
	c.size.Mul(c.size, big.NewRat(second, unit))
}

func (c *cutter) add(s *format.Sample, h *format.Header) {
	at, ok := new(big.Rat).SetString(string(s.Timestamp))
	if !ok || s.StackID.IsZero() {
		return
	}
	if c.start == nil {
		c.begin(at, h)
	}
	d := new(big.Rat).Sub(at, c.start)
	d.Quo(d, c.size)
	n := new(big.Int).Div(d.Num(), d.Denom()) // rounds down
	if !n.IsInt64() {
		return
	}
	if c.last == nil || at.Cmp(c.last) > 0 {
		c.last = at
	}
	w := c.wins[n.Int64()]
	if w == nil {
		w = map[format.ID]*cutSum{}
		c.wins[n.Int64()] = w
	}
	sum := w[s.StackID]
	if sum == nil {
		sum = &cutSum{metric: periodMetric(h, s.Event)}
		w[s.StackID] = sum
		c.order[n.Int64()] = append(c.order[n.Int64()], s.StackID)
	}
	sum.samples++
	if p, ok := new(big.Rat).SetString(string(s.Period)); ok && sum.metric != "" {
		if sum.period == nil {
			sum.period = new(big.Rat)
		}
		sum.period.Add(sum.period, p)
	}
}

// periodMetric returns the metric that the sample period of an event measures.
func periodMetric(h *format.Header, event string) string {
	if h == nil || len(h.Events) == 0 {
		return "period"
	}
	e := h.Event(event)
	if e == nil {
		e = &h.Events[0]
	}
	switch p := e.Sampling.PrimaryMetric; p {
	case "samples", "count", "":
		return "period"
	default:
		return p
	}
}

func (c *cutter) windows(h *format.Header) ([]*format.Window, error) {
	if c.start == nil {
		return nil, errors.New("windows need samples with times, and the file has none")
	}
	if len(c.wins) > mostWindows {
		return nil, fmt.Errorf("the windows are too short (more than %d windows); make them longer", mostWindows)
	}
	var ns []int64
	for n := range c.wins {
		ns = append(ns, n)
	}
	slices.Sort(ns)
	var out []*format.Window
	for i, n := range ns {
		start := new(big.Rat).Add(c.start, new(big.Rat).Mul(c.size, new(big.Rat).SetInt64(n)))
		end := new(big.Rat).Add(start, c.size)
		if h != nil && h.TimeRange != nil {
			if limit, ok := new(big.Rat).SetString(string(h.TimeRange.End)); ok && end.Cmp(limit) > 0 && c.last.Cmp(limit) <= 0 {
				end = limit
			}
		}
		w := &format.Window{ID: format.StringID("w" + strconv.Itoa(i+1)), Start: ratNumber(start), End: ratNumber(end), Unit: c.unit}
		for _, id := range c.order[n] {
			sum := c.wins[n][id]
			ws := []format.Weight{{Metric: "samples", Value: format.IntNumber(sum.samples)}}
			if sum.period != nil {
				ws = append(ws, format.Weight{Metric: sum.metric, Value: ratNumber(sum.period)})
			}
			w.ByStack = append(w.ByStack, format.StackWeights{StackID: id, Weights: ws})
		}
		out = append(out, w)
	}
	return out, nil
}

// ratNumber formats a number that is a finite decimal, as all numbers here are.
func ratNumber(r *big.Rat) format.Number {
	n, _ := r.FloatPrec()
	return format.Number(r.FloatString(n))
}
