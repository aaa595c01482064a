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

// Source describes the file that a recording came from.
type Source struct {
	Path, Name  string
	Dir         string // folder that a relative Path is based on, "" for the working directory
	Format      string // "spaa", "spall", …
	Version     string // the format's version, from the file
	Compression string // "none", "gzip" or "zstd"
	Tool        string // the program that recorded
	Command     string // the recorded command, if the file has it
	Bytes       int64  // the file's size; -1 for a pipe
	// Notes are the file's other statements about itself, in file order; see Note. MoreNotes is
	// the number of notes that were not kept.
	Notes     []Note
	MoreNotes int64
	// Mappings and FrameTypes are referred to by frames: the ranges of memory with
	// binaries, and the kinds of code by OpenTelemetry's names ("jvm").
	Mappings   []Mapping
	FrameTypes []string
	// Redacted means that names were removed, and that Path has no folder: see package
	// redact. Content then identifies the file's content, in the form used in addresses, ""
	// if unknown.
	Redacted bool
	Content  string
	// Checked means that the file was checked strictly, and Errors is the number of errors
	// found. Otherwise the errors are those of the warnings.
	Checked bool
	Errors  int64
}

// At returns path, based on Dir if it is relative.
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
	// Unit is the file's unit: "seconds", "us", "ns" …; "" if the file has none.
	Unit string
	// PerUnit is the number of picoseconds per unit.
	PerUnit int64
	// Origin is the file's time, in Unit, of picosecond 0.
	Origin Decimal
}

// Text formats picosecond t as the file would: an exact decimal in Unit.
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

// Counts are the numbers of records of each kind.
type Counts struct {
	Spans, Unfinished, Samples, Stacks, Frames, Functions int64
	Windows, Instants, Counters, Flows, States            int64
}

// Recording is an immutable view of a recorded run, complete when Done.
type Recording struct {
	Source Source
	Clock  Clock
	// Start and End are the first and last time of anything, in picoseconds; both are 0
	// if nothing has a time (see HasTime).
	Start, End int64
	// Behind is set if the opened part begins beyond the recording's end.
	Behind *BehindEnd
	// HasTime is false for a recording without a timeline.
	HasTime bool

	Functions column.Vec[Function]
	Frames    column.Vec[Frame]
	Calls     Calls
	Contexts  column.Vec[Context]
	// Wakers are the wakers of threads' states, each once; the first stands for none. See
	// Waker.
	Wakers column.Vec[Waker]

	Events    []Event
	Processes []Process
	Tracks    []*Track
	// Stacks has one entry per event, nil for events without stack records.
	Stacks   []*Stacks
	Windows  []*WindowSet
	Counters []*Counter
	Flows    []Flow

	// SpanTime and SpanCount hold, for each call, the time covered by its spans in
	// picoseconds (including their children) and the number of its spans, over the whole
	// recording. They may be shorter than Calls.
	SpanTime, SpanCount Sums
	// Durations, in a stored recording, summarizes the spans for comparisons; nil if
	// comparisons have to visit the spans.
	Durations *durations.Table

	// shared counts the additional symbols of each function; see share.
	shared sharedSymbols

	Counts Counts
	// Part is the opened part of the file; Start and End are the whole file's.
	Part     Part
	Warnings []Warning
	Ledger   []Tally

	// Args returns the text of a reference from Lane.Args or an instant; nil if the
	// recording has no arguments.
	Args func(ref uint64) string
	// ArgState is set if references are places in the original file. It returns the state
	// needed, in addition to that file, to read them again; see codec.Format.Args. In a
	// recording stored beside its file, ArgState is set and Args is nil.
	ArgState func() []byte
	// CPU returns how long the span with these arguments ran on CPU, in picoseconds; known
	// is false if the file does not have it. CPU is nil if the file has no CPU times.
	CPU func(ref uint64) (ps int64, known bool)
	// CPUTimes caches the CPU times of all spans, once requested.
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

// FuncName returns the name of the function that runs in a call; "all" for the root.
func (r *Recording) FuncName(id CallID) string {
	if id == NoCall {
		return "all"
	}
	return r.Functions.At(int(r.Func(id))).Name
}

// Duration returns the length of the recording in picoseconds.
func (r *Recording) Duration() int64 { return r.End - r.Start }

// DefaultEvent returns the event to show first: the first with any records.
func (r *Recording) DefaultEvent() int {
	for i := range r.Events {
		if slices.ContainsFunc(r.Events[i].Metrics, func(m Metric) bool { return m.Total != 0 && m.Total != Missing }) {
			return i
		}
	}
	return 0
}
