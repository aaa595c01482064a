package sql

import (
	"math"
	"slices"
	"strings"

	"ashlar/ingest/model/recording"
	"ashlar/ingest/model/relation"
)

// LeadKind is the kind of thing that a Lead refers to.
type LeadKind uint8

const (
	NoLead       LeadKind = iota
	SpanLead              // the span or state Index of Lane of Track
	TimeLead              // the time From..To, on Track unless it is recording.NoTrack
	CallLead              // Call
	FunctionLead          // Function
)

// Lead is the part of a recording that a row of a result is about. Times are those of the
// recording's clock.
type Lead struct {
	Kind        LeadKind
	Track       int
	Lane, Index int
	From, To    int64
	Call        recording.CallID
	Function    recording.FuncID
}

// Leads finds what rows are about by the names of the columns: span_id; a time such as
// start_ps, from_ms or time_ps, perhaps with an end or a duration and with thread_id; call_id;
// function_id or function.
type Leads struct {
	rec *recording.Recording
	set *relation.Set
	// Indices of the columns, -1 for none.
	span, thread, call, functionID, function int
	from, to, length                         timeColumn
	moment                                   bool // from is a moment, not the start of something
}

// timeColumn is a column of times.
type timeColumn struct {
	column int
	unit   float64 // in picoseconds
}

// unitsOf are the ends of the names of columns of times.
var unitsOf = map[string]float64{"ps": 1, "ns": 1e3, "us": 1e6, "ms": 1e9, "s": 1e12}

// TimeUnit returns the unit of a column of times in picoseconds, by its name; 0 for other
// columns.
func TimeUnit(column string) float64 {
	i := strings.LastIndexByte(column, '_')
	if i < 1 {
		return 0
	}
	return unitsOf[strings.ToLower(column[i+1:])]
}

// NewLeads returns the leads of a result about a recording.
func NewLeads(r *Result, rec *recording.Recording, set *relation.Set) *Leads {
	at := func(names ...string) int {
		for _, name := range names {
			if i := slices.IndexFunc(r.Columns, func(c string) bool { return strings.EqualFold(c, name) }); i >= 0 {
				return i
			}
		}
		return -1
	}
	times := func(names ...string) timeColumn {
		for _, name := range names {
			for i, c := range r.Columns {
				if unit := TimeUnit(c); unit > 0 && strings.EqualFold(c[:strings.LastIndexByte(c, '_')], name) {
					return timeColumn{i, unit}
				}
			}
		}
		return timeColumn{column: -1}
	}
	l := &Leads{rec: rec, set: set, span: at("span_id"), thread: at("thread_id"), call: at("call_id"), functionID: at("function_id"), function: at("function"),
		from: times("start", "from", "begin"), to: times("end", "to"), length: times("duration", "gap")}
	if l.from.column < 0 {
		l.from, l.moment = times("time", "moment", "at"), true
	}
	return l
}

// Any reports whether rows lead anywhere.
func (l *Leads) Any() bool {
	return l.span >= 0 || l.from.column >= 0 && l.rec.HasTime || l.call >= 0 || l.functionID >= 0 || l.function >= 0
}

// integerOf returns a value as an integer, false if it is none.
func integerOf(v relation.Value) (int64, bool) {
	switch {
	case v.Null || v.Type == relation.Text:
		return 0, false
	case v.Type == relation.Real:
		return int64(v.Real), v.Real == math.Trunc(v.Real) && math.Abs(v.Real) < 1<<53
	}
	return v.Int, true
}

func cell(row []relation.Value, column int) (int64, bool) {
	if column < 0 {
		return 0, false
	}
	return integerOf(row[column])
}

// time returns a time of a row in picoseconds.
func (c timeColumn) time(row []relation.Value) (int64, bool) {
	if c.column < 0 {
		return 0, false
	}
	v := row[c.column]
	if n, ok := integerOf(v); ok && c.unit == 1 {
		return n, true
	}
	x := v.Real
	if v.Type == relation.Integer {
		x = float64(v.Int)
	}
	x = math.Round(x * c.unit)
	return int64(x), !v.Null && v.Type != relation.Text && math.Abs(x) < 1<<62
}

// Of returns what a row is about.
func (l *Leads) Of(row []relation.Value) Lead {
	if id, ok := cell(row, l.span); ok {
		if track, lane, i, ok := l.set.Span(id); ok {
			return l.spanAt(track, lane, i)
		}
	}
	at := Lead{Track: recording.NoTrack}
	if id, ok := cell(row, l.thread); ok && id >= 0 && id < int64(len(l.rec.Tracks)) {
		at.Track = int(id)
	}
	if start, ok := l.from.time(row); ok && l.rec.HasTime && start <= l.rec.End-l.rec.Start && start >= 0 {
		at.From = l.rec.Start + start
		at.Kind, at.To = TimeLead, at.From
		end, known := l.to.time(row)
		if !known {
			end, known = l.length.time(row)
			end += start
		}
		if known && end >= start && end <= l.rec.End-l.rec.Start {
			at.To = l.rec.Start + end
		}
		if !l.moment {
			if x, ok := l.find(at, known, row); ok {
				return x
			}
		}
		return at
	}
	if id, ok := cell(row, l.call); ok && id > 0 && id < int64(l.rec.Calls.Len()) {
		return Lead{Kind: CallLead, Call: recording.CallID(id)}
	}
	if f, ok := l.functionOf(row); ok {
		return Lead{Kind: FunctionLead, Function: f}
	}
	return Lead{}
}

func (l *Leads) spanAt(track, lane, i int) Lead {
	of := l.rec.Tracks[track].Lane(lane)
	return Lead{Kind: SpanLead, Track: track, Lane: lane, Index: i, From: of.Start(i), To: of.End(i), Call: of.Call(i)}
}

// functionOf returns the function that a row names.
func (l *Leads) functionOf(row []relation.Value) (recording.FuncID, bool) {
	n := l.rec.Functions.Len()
	if id, ok := cell(row, l.functionID); ok && id >= 0 && id < int64(n) {
		return recording.FuncID(id), true
	}
	if l.function < 0 || row[l.function].Null {
		return 0, false
	}
	for i := range n {
		if l.rec.Functions.Ref(i).Name == row[l.function].Text {
			return recording.FuncID(i), true
		}
	}
	return 0, false
}

// find returns the outermost span, or else the state, that begins at a time. If the row also
// has its end, its function or its thread, these agree.
func (l *Leads) find(at Lead, ended bool, row []relation.Value) (Lead, bool) {
	call, called := cell(row, l.call)
	name, id := "", int64(-1)
	if l.function >= 0 && !row[l.function].Null {
		name = row[l.function].Text
	}
	if n, ok := cell(row, l.functionID); ok {
		id = n
	}
	best, depth := Lead{}, math.MaxInt
	look := func(track, lane int) {
		of := l.rec.Tracks[track].Lane(lane)
		if of == nil {
			return
		}
		for i := of.From(at.From); i < of.Len() && of.Start(i) == at.From; i++ {
			c := of.Call(i)
			if ended && of.End(i) != at.To || lane != recording.StateLane && (called && int64(c) != call || id >= 0 && int64(l.rec.Func(c)) != id || name != "" && l.rec.FuncName(c) != name) {
				continue
			}
			d := l.rec.Calls.Depth(c)
			if lane == recording.StateLane {
				d = math.MaxInt - 1
			}
			if d < depth {
				best, depth = l.spanAt(track, lane, i), d
			}
		}
	}
	for track := range l.rec.Tracks {
		if at.Track != recording.NoTrack && track != at.Track {
			continue
		}
		for lane := range l.rec.Tracks[track].Lanes {
			look(track, lane)
		}
		look(track, recording.StateLane)
	}
	return best, depth < math.MaxInt
}
