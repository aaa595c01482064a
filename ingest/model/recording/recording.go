package recording

import (
	"math/big"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"ashlar/ingest/input/decimal"
	"ashlar/ingest/model/column"
	"ashlar/ingest/model/durations"
)

// Source says what file a recording came from.
type Source struct {
	Path, Name  string
	Dir         string // that a relative Path is below, "" for the folder in which the program runs
	Format      string // "spaa", "spall", …
	Version     string // the format's version, as the file says
	Compression string // "none", "gzip" or "zstd"
	Tool        string // the program that recorded
	Command     string // what was recorded, where the file says
	Bytes       int64  // the file's size; -1 for a pipe
	// Notes are the other things that the file says of itself, in its order; see Note.
	// MoreNotes is how many beyond those it has.
	Notes     []Note
	MoreNotes int64
	// Mappings and FrameTypes are what frames refer to: where binaries lay in memory, and
	// the kinds of code by OpenTelemetry's names ("jvm").
	Mappings   []Mapping
	FrameTypes []string
	// Redacted says that names were left out, and Path has no folder: see package redact.
	// Content is then what the file holds, as addresses name it, "" if that is not known.
	Redacted bool
	Content  string
}

// At is a path that is where Path does.
func (s *Source) At(path string) string {
	if s.Dir == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(s.Dir, path)
}

// Decimal is an exact number: Mantissa times 10^-Scale.
type Decimal = decimal.Decimal

// Clock relates a recording's picoseconds to the file's own times.
type Clock struct {
	// Unit is the file's unit: "seconds", "us", "ns" …; "" when it has none.
	Unit string
	// PerUnit is the number of picoseconds per unit.
	PerUnit int64
	// Origin is the file's time, in Unit, of picosecond 0.
	Origin Decimal
}

// Text gives picosecond t as the file would write it: an exact decimal in
// Unit.
func (c Clock) Text(t int64) string {
	if c.PerUnit <= 0 {
		return strconv.FormatInt(t, 10)
	}
	r := new(big.Rat).SetFrac64(t, c.PerUnit)
	pow := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(c.Origin.Scale)), nil)
	r.Add(r, new(big.Rat).SetFrac(big.NewInt(c.Origin.Mantissa), pow))
	s := r.FloatString(15)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}

// Counts are how many there are of each thing.
type Counts struct {
	Spans, Unfinished, Samples, Stacks, Frames, Functions int64
	Windows, Instants, Counters, Flows, States            int64
}

// Recording is an immutable view of a recorded run, complete when Done.
type Recording struct {
	Source Source
	Clock  Clock
	// Start and End bound everything that has a time, in picoseconds; both 0
	// when nothing has (see HasTime).
	Start, End int64
	// Behind is set where a part was opened that begins behind the end.
	Behind *BehindEnd
	// HasTime is false for a recording without a timeline.
	HasTime bool

	Functions column.Vec[Function]
	Frames    column.Vec[Frame]
	Calls     Calls
	Contexts  column.Vec[Context]

	Events    []Event
	Processes []Process
	Tracks    []*Track
	// Stacks has one entry an event, nil if it has no stack records.
	Stacks   []*Stacks
	Windows  []*WindowSet
	Counters []*Counter
	Flows    []Flow

	// SpanTime and SpanCount give for each call the time covered by its spans
	// in picoseconds (their children's included) and their number, over the
	// whole recording. They may be shorter than Calls.
	SpanTime, SpanCount []int64
	// Durations, of a recording that was stored, are what comparisons need of spans; nil
	// where they have to be visited for that.
	Durations *durations.Table

	// shared counts, by function, the symbols beside its own; see share.
	shared sharedSymbols

	Counts Counts
	// Part is the opened part of the file; Start and End are the whole file's.
	Part     Part
	Warnings []Warning
	Ledger   []Tally

	// Args gives the text of a reference from Lane.Args or an instant; nil
	// when the recording has none.
	Args func(ref uint64) string
	// ArgState, where references are places in the file that was read, gives what has
	// to be known beside that file to read them again; see codec.Format.Args. In a
	// recording that was stored beside its file it is there and Args is nil.
	ArgState func() []byte
	// CPU is how long the span with such arguments ran on CPU, in
	// picoseconds, where the file tells; nil when it never does.
	CPU func(ref uint64) (ps int64, known bool)
	// CPUTimes keeps the same of all spans, once somebody has asked.
	CPUTimes *CPUTimes

	// Version grows with each snapshot of a recording; Done marks the last.
	Version int
	Done    bool
}

// Func returns the function that runs in a call.
func (r *Recording) Func(id CallID) FuncID {
	f := r.Calls.Frame(id)
	return r.Frames.Ref(int(f)).Func
}

// FuncName is the name of the function that runs in a call; "all" for the
// root.
func (r *Recording) FuncName(id CallID) string {
	if id == NoCall {
		return "all"
	}
	return r.Functions.At(int(r.Func(id))).Name
}

// Duration is the length of the recording in picoseconds.
func (r *Recording) Duration() int64 { return r.End - r.Start }

// DefaultEvent is the event to show first: the first that anything was recorded of.
func (r *Recording) DefaultEvent() int {
	for i := range r.Events {
		if slices.ContainsFunc(r.Events[i].Metrics, func(m Metric) bool { return m.Total != 0 && m.Total != Missing }) {
			return i
		}
	}
	return 0
}
