// Package address writes what is shown as one string that names it, to be kept,
// shared and opened again by a person or a program:
//
//	ashlar:1?file=/tmp/run.spall&select=1.2s..1.5s&thread=42:43&tab=functions
//
// After the scheme and the version come keys with values, in the order of the
// table; a key whose list is empty, or whose value is what the window begins
// with, is left out.
//
//	file       a path, or - for standard input, or demo: for the built-in one;
//	           a second file key names the run that is compared with the first
//	part       FROM..TO, FROM.. or ..TO: only this part of the file is opened
//	only       only threads with these ids, names or parts of names are opened
//	exe        the program that names of functions are taken from
//	view       both (when left out), timeline, flame or lower: the parts that
//	           are shown; lower is what the tab shows
//	layout     beside (when left out) or above: where the first of two recordings
//	           has its timeline
//	event      the event's name
//	metric     the metric's name
//	transform  what is done to stacks, in order, with commas between (see below)
//	zoom       the functions from the root to the bar that fills the flamegraph:
//	           NAME or NAME:MODULE, with commas between
//	find       the text that is searched for
//	tab        the lower half's tab
//	function   the function that is marked: NAME or NAME:MODULE
//	node       the functions from the root to the marked bar of the flamegraph
//	around     the function whose callers and callees are shown, where it is not
//	           the one that is marked
//	callers    the functions from that one outwards to the bar that fills the
//	           callers' side
//	callees    the same for what it calls
//	mark       PLACE:TEXT, with commas between, where PLACE is a TIME, FROM..TO,
//	           or f:NAME:MODULE
//	colour     what colours tell: function (when left out), module, kind, thread
//	           or search
//	table      what the rows of the table stand for
//	sort       the column it is sorted by, with - before it from the other end
//	columns    the columns it has
//	widths     NAME:DP, the widths of columns that were chosen
//	rows       which rows the table of differences has, and in the list of what
//	           was paired how
//	split      the timeline's share of the height, 0 to 1
//	down       how far the tab is scrolled down, in DP
//	line       the marked line of the source
//	with       words, with commas between, for what is switched: up (the root of
//	           the flamegraph is at the bottom), lists (of callers and callees),
//	           linear (the scale of statistics), and of a comparison total (the
//	           table has it, not self), self-times (the distribution has them),
//	           unlinked, by-call (linked by calls), b (B has the focus),
//	           only-a and only-b (the marked function is of that side alone),
//	           no-module, no-name, no-similar and no-order (rules of matching that
//	           are switched off)
//	normalize  how the numbers of a comparison are normalised
//	width      whose widths the bars of a comparison have
//	pair       A:B, functions that were paired by hand
//
// and of the recording, or with .b behind it of the second,
//
//	show       FROM..TO, the time that the timeline shows
//	select     FROM..TO, the selected time
//	thread     PID:TID or PID:TID:NAME, the selected threads, with commas between
//	fold       threads that show one lane, unfold those that show all of theirs
//	hide       threads that are not shown
//	pin        threads that stand first
//	order      threads in the order they were dragged to
//	close      PID or PID:NAME, the processes that are closed
//	threads    name or busiest: how threads are sorted
//	filter     the text that threads are filtered by
//	scroll     how far rows are scrolled, in DP
//	goal       the time that was gone to
//	bar        THREAD@LANE@TIME, the bar of the timeline that is marked, by where
//	           it begins
//	anchor     the time from which the linked sides of a comparison count
//
// Times count from the recording's start. They are exact decimals with a unit:
// ps, ns, us, ms or s. DP are decimals. What belongs to the person and not to the
// view is left out: theme, scale and size of the window. A transform is its operation (see
// [analyze.Transform]), OP:TEXT, OP:TEXT:MODULE, or OP!NAME:MODULE for just one
// function. In texts all but letters, digits and -._~/@*()[]^$ are written as
// the bytes of their UTF-8 as %XX (a path keeps its colons), so that an address has no blanks, commas,
// quotes or colons but those above.
//
// What a version can say will never change its meaning; new keys may come, and
// a program that does not know them tells so ([View.Unknown]).
package address

import (
	"fmt"
	"slices"
	"strings"

	"ashlar/ingest/analyze"
	"ashlar/ingest/compare"
	"ashlar/ingest/recording"
)

// Scheme begins every address.
const Scheme = "ashlar:"

// version is that of the addresses that are written.
const version = "1"

// Above is the Layout in which the first of two timelines is above the second.
const Above = "above"

// Demo is the file that stands for the built-in recording.
const Demo = "demo:"

// View is what an address names. The zero value is an empty window; empty
// slices are nil.
type View struct {
	// Files are one path, or two that are compared.
	Files []string
	// Part and Only limit what is opened of the file, Exe is the program that names
	// are taken from.
	Part Part
	Only []string
	Exe  string
	// Parts are both when empty, timeline, flame or lower.
	Parts string
	// Layout is beside when empty, or above.
	Layout string
	// Side is what is shown of the recording, Beside of the second.
	Side
	Beside        Side
	Event, Metric string
	Transforms    []analyze.Transform
	// Zoom is the path of functions to the flamegraph's widest bar, Node that to
	// the marked one.
	Zoom, Node []recording.FuncName
	Find       string
	Tab        string
	// Function is marked; Around is the one whose callers are shown.
	Function, Around *recording.FuncName
	// Callers and Callees are the paths from that one to the widest bar of each
	// side, nil where it is itself.
	Callers, Callees []recording.FuncName
	Marks            []Mark
	Colour           string
	// Table, Sort, Columns, Widths and Rows are about the table.
	Table, Sort string
	Columns     []string
	Widths      []Width
	Rows        []string
	Split, Down float32
	Line        int
	With        []string
	// Normalize, Width and Pairs are about a comparison.
	Normalize, Width string
	Pairs            []compare.Pair

	// Unknown are the keys that are not understood, in order; they are not
	// written.
	Unknown []string
}

// Side is what is shown of one recording.
type Side struct {
	// Show is the time that the timeline shows, nil for all of it; Select the
	// time that is selected.
	Show, Select *Range
	Threads      []Thread
	// Fold, Unfold, Hide, Pin and Order are threads, Close processes.
	Fold, Unfold, Hide, Pin, Order []Thread
	Close                          []Process
	// Sort is how threads are sorted, Filter what they are filtered by.
	Sort, Filter string
	Scroll       float32 // dp
	// Goal is the time that was gone to, nil for none.
	Goal   *int64
	Bar    *Bar
	Anchor int64
}

// Part is a part of a file, in picoseconds from its start.
type Part struct {
	From, To       int64
	HasFrom, HasTo bool
}

// Bar is one of the timeline, by where it begins.
type Bar struct {
	Thread Thread
	Lane   int
	Time   int64
}

// Process is told by its id, and by its name where that does not tell.
type Process struct {
	PID  int64
	Name string
}

// Width is that of a column, in dp.
type Width struct {
	Column string
	DP     float32
}

// Range is a stretch of time in picoseconds from the recording's start.
type Range struct{ From, To int64 }

// Thread is told by its ids, and by its name where these do not tell.
type Thread struct {
	PID, TID int64
	Name     string
}

// Place is what a mark is on: a function when Func is set, else From..To, which
// is a moment when both are the same.
type Place struct {
	From int64               `json:"from_ps"`
	To   int64               `json:"to_ps"`
	Func *recording.FuncName `json:"function,omitempty"`
}

// Mark is a note on a place.
type Mark struct {
	Place
	Text string
}

// Is tells whether a command line's argument is an address and not a file.
func Is(s string) bool { return strings.HasPrefix(s, Scheme) }

// String writes the address.
func (v *View) String() string {
	var parts []string
	for _, f := range v.Files {
		parts = append(parts, "file="+strings.ReplaceAll(escape(f), "%3A", ":"))
	}
	for _, k := range keys {
		if value, ok := k.write(v); ok {
			parts = append(parts, k.name+"="+value)
		}
	}
	return Scheme + version + "?" + strings.Join(parts, "&")
}

// Parse reads an address. The error is one sentence that names the part that
// cannot be read.
func Parse(s string) (*View, error) {
	rest, ok := strings.CutPrefix(s, Scheme)
	if !ok {
		return nil, fmt.Errorf("%q is not an address: it should begin with %s", s, Scheme)
	}
	ver, rest, ok := strings.Cut(rest, "?")
	if ver != version || !ok {
		return nil, fmt.Errorf("the address begins with %s%s, which this program does not know; it knows %s%s?", Scheme, ver, Scheme, version)
	}
	v := new(View)
	seen := map[string]bool{}
	for _, part := range strings.Split(rest, "&") {
		if part == "" {
			continue
		}
		key, value, ok := strings.Cut(part, "=")
		if !ok {
			return nil, fmt.Errorf("the part %q of the address has no =", part)
		}
		if key == "file" {
			if err := v.addFile(value); err != nil {
				return nil, fmt.Errorf("the part %q of the address %w", part, err)
			}
			continue
		}
		i := slices.IndexFunc(keys, func(k keyInfo) bool { return k.name == key })
		switch {
		case i < 0:
			v.Unknown = append(v.Unknown, key)
			continue
		case seen[key]:
			return nil, fmt.Errorf("the address has %s twice", key)
		}
		seen[key] = true
		if err := keys[i].read(v, value); err != nil {
			return nil, fmt.Errorf("the part %q of the address %w", part, err)
		}
	}
	if len(v.Files) > 2 {
		return nil, fmt.Errorf("the address names %d files; at most two are shown", len(v.Files))
	}
	return v, nil
}
