package findings

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"ashlar/app/core/evidence"
	"ashlar/app/core/view"
	"ashlar/ingest/model/recording"
	"ashlar/render/units"
)

// levels are words in the names of counters that show a level, such as the length of a queue,
// rather than a sum. A level should come down again.
var levels = []string{"queue", "pending", "backlog", "depth", "waiting", "outstanding", "in flight", "inflight", "memory", "heap", "allocated", "rss", "in use", "inuse", "live", "resident"}

// climb looks for queues and memory that grow throughout.
func (l *look) climb(r rule) error {
	for id, c := range l.rec.Counters {
		counter := c.Label()
		if c.Len() < 50 || !isLevel(counter) {
			continue
		}
		from, to := c.Time(0), c.Time(c.Len()-1)
		low := lows(c, from, to)
		n := climbs(low)
		if n == 0 || c.Unit == "bytes" && released(low, n) {
			continue
		}
		first, last, query := low[0], low[n-1], lowsQuery(id, c.Unit == "bytes")
		if n < len(low) {
			to = from + (to-from)/parts*int64(n)
		}
		if isHeap(counter) && to-from < longEnough && l.collections(from, to) < enoughCollections {
			continue // the program may only be warming up
		}
		unit := c.Unit
		number := func(v float64) Number { return Number{Text: jsonNumber(v).String(), Value: jsonNumber(v)} }
		size := Size{Value: jsonNumber(last - first), Unit: unit, Metric: counter, Of: jsonNumber(last), share: (last - first) / last}
		size.Share = *decimal(size.share)
		switch unit {
		case "":
		case "bytes":
			number = func(v float64) Number {
				return Number{Text: units.Bytes(int64(v)), Value: jsonNumber(v), Unit: c.Unit}
			}
			unit = ""
		default:
			unit = " " + unit
		}
		until := 1
		if n == len(low) {
			until = 2
		}
		state := view.State{}
		state.Sides[0].Select = recording.Offsets(from-l.rec.Start, to-l.rec.Start)
		l.add(r, Finding{Size: size}.saying("Counter %s rises for %s of %s, from %s%s to %s%s (lowest values in each twentieth of the time).",
			quoted(counter), l.sql(duration(to-from), n-1, until, query), l.sql(duration(c.Time(c.Len()-1)-from), 0, 2, query), l.sql(number(first), 0, 0, query), name(unit), l.sql(number(last), n-1, 0, query), name(unit)), state, "top", evidence.File(l.rec), "--by", "thread", "--range", state.Sides[0].Select.String())
		return nil
	}
	return nil
}

// A heap that grows is worth a finding after this time (10 s), or after this many garbage
// collections that left more in use.
const (
	longEnough        = 10e12
	enoughCollections = 4
)

// isHeap reports whether a counter shows memory that a garbage collector may release later.
// Memory of other kinds, such as that of a GPU, is given back by the program itself.
func isHeap(name string) bool { return strings.Contains(strings.ToLower(name), "heap") }

// collections counts the garbage collections that end in a time.
func (l *look) collections(from, to int64) (n int) {
	for _, t := range l.rec.Tracks {
		if !strings.EqualFold(t.Name, "garbage collection") {
			continue
		}
		for _, lane := range t.Outermost(&l.rec.Calls) {
			for i := range lane.Len() {
				if end := lane.End(i); end > from && end <= to {
					n++
				}
			}
		}
	}
	return n
}

// parts is the number of parts of a counter's time that are compared.
const parts = 20

// lows returns the lowest value of a counter in each part of its time that has values. A level
// that comes down at times has no rising lows.
func lows(c *recording.Counter, from, to int64) (low []float64) {
	for k := range int64(parts) {
		i, j := c.Search(from+(to-from)/parts*k-1), c.Len()
		if k < parts-1 {
			j = c.Search(from + (to-from)/parts*(k+1) - 1)
		}
		if i < j {
			v, _ := c.Extent(i, j)
			low = append(low, v)
		}
	}
	return low
}

// steady is the least mean of a level's steps, in standard errors. The steps of a level that
// goes up and down by chance have a mean around zero, even if it ends far above its start.
const steady = 8

// climbs returns how many of the lows lead up to the highest one, inclusive, if they climb to
// it: over at least half of them, at least threefold, and in steps too even for a level that
// moves by chance. Otherwise it returns 0.
func climbs(low []float64) int {
	at := 0
	for i, v := range low {
		if v > low[at] {
			at = i
		}
	}
	n := float64(at)
	if len(low) < parts/2 || 2*at < len(low) || low[at] < 3*low[0] || low[at]-low[0] < 10 {
		return 0
	}
	mean, squares := (low[at]-low[0])/n, 0.
	for i := range at {
		d := low[i+1] - low[i] - mean
		squares += d * d
	}
	if mean < steady*math.Sqrt(squares/(n-1)/n) {
		return 0
	}
	return at + 1
}

// released reports whether, after n lows up to the highest, memory is released over at least
// a fifth of the time, as in the backward pass of a training's only step.
func released(low []float64, n int) bool {
	return 5*(len(low)-n) >= len(low) && 2*(low[len(low)-1]-low[0]) < low[n-1]-low[0]
}

func isLevel(name string) bool {
	name = strings.ToLower(name)
	for _, w := range levels {
		if strings.Contains(name, w) {
			return true
		}
	}
	return false
}

func jsonNumber(v float64) json.Number { return json.Number(strconv.FormatFloat(v, 'f', -1, 64)) }
