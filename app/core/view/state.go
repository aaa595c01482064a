// Package view holds the state of the view as one value that can be saved, shared and
// restored.
//
// A [State] consists of names and of times relative to the start of the recording, without
// indices, pointers or anything that draws. So it outlives the recording it was taken
// from. It serves as the address that a person copies, as an undo step, to restore the
// view after a followed file is reloaded, as the input of render, and in the frame log.
// [Fields] is the table of its members. A [Look] is a State resolved to the indices of one
// recording by [Bind]; [Look.Unbind] converts it back.
//
// As text a State is an address:
//
//	ashlar:1?file=/tmp/run.spall&select=1.2s..1.5s&thread=42:43&tab=functions
//
// After the scheme and the version come keys with values, in the order of [Fields]. Keys
// with empty lists or initial values are left out. Times are exact decimals with a unit:
// ps, ns, us, ms or s. DP are decimals. A transform is an operation (see
// [analyze.Transform]), OP:TEXT, OP:TEXT:MODULE, or OP!NAME:MODULE for exactly one
// function. In texts, all characters except letters, digits and -._~/@*()[]^$ are
// percent-encoded UTF-8 (paths keep their colons), so that blanks, commas, quotes and
// colons occur only as separators.
//
// The meaning of a key never changes within a version. New keys may be added; a program
// reports the keys that it does not know ([State.Unknown]).
package view

import (
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"time"

	"ashlar/ingest/input/safetext"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/compare/match"
	"ashlar/render/units"
)

// Scheme begins every address.
const Scheme = "ashlar:"

// version is that of the addresses that are written.
const version = "1"

// Above is the Layout in which the first of two timelines is above the second.
const Above = "above"

// Demo is the file that stands for the built-in recording.
const Demo = "demo:"

// State says what is shown. The zero value is an empty window; empty slices are
// nil. What belongs to the person and not to the view (theme, scale, the
// window's size) is not in it.
type State struct {
	// Files are one path, or two that are compared. "-" is standard input, [Demo]
	// the built-in recording.
	Files []string
	// Contents are the content digests of the files, in their order, as far as known.
	Contents []Content
	// Part and Only limit what is opened of the file, Exe is the program that names
	// are taken from.
	Part recording.Range
	Only []string
	Exe  string
	// Parts of the window that are shown: "" for both, timeline, flame or lower.
	// Layout is "" if two timelines are beside each other, or above.
	Parts, Layout string
	// Sides is the view of each recording.
	Sides [2]Side
	// Event and Metric are names; "" is the first, and the event's primary one.
	Event, Metric string
	Stacks
	// Zoom is the path of functions to the flamegraph's widest bar, Node that to
	// the marked one.
	Zoom, Node []recording.FuncName
	Tab        string
	// Function is marked. OnlyOn is the side, "a" or "b", that alone has it where
	// both have one of that name.
	Function *recording.FuncName
	OnlyOn   string
	// Around is the function whose callers and callees are shown, nil for the
	// marked one. Callers and Callees are the paths from it to the widest bar of
	// each side, nil where it is itself.
	Around           *recording.FuncName
	Callers, Callees []recording.FuncName
	Marks            []Mark
	Colour           string
	Table
	Split, Down float32
	Line        int // the marked line of the source, from 1 on
	// Up puts the flamegraph's root at the bottom, Lists shows callers and callees
	// as lists, Linear gives pictures of durations a linear scale, Dots shows each
	// call as a dot.
	Up, Lists, Linear, Dots bool
	List                    List
	Comparison

	// Unknown are the keys that are not understood, in order; they are not
	// written.
	Unknown []string
}

// Table is how the rows of a table are made and which columns it has.
type Table struct {
	// Group is the grouping of the rows: "" is by function. Sort is the sort column, "" for
	// the default; - before it reverses the order.
	Group, Sort string
	Columns     []string
	Widths      []Width
	// Rows are the kinds of differences that are listed, nil for all; in the list
	// of what was paired, how.
	Rows []string
}

// List is how calls are listed one by one: sorted by a column (with - before it from
// the other end), only those that a filter leaves, with the columns that were chosen.
// All has the calls of all functions, also where one is picked.
type List struct {
	By, Only string
	Columns  []string
	All      bool
}

// Clone is a copy that shares nothing.
func (l List) Clone() List {
	l.Columns = slices.Clone(l.Columns)
	return l
}

// Comparison is how two recordings are put together.
type Comparison struct {
	// Normalize and Width are "" for raw numbers and the larger width.
	Normalize, Width string
	// Pairs were made by hand; Apart are those that are not to be made for what functions
	// do.
	Pairs, Apart []match.Pair
	// Totals and SelfTimes choose what the table and the distribution are of.
	Totals, SelfTimes bool
	Unlinked, ByCall  bool
	FocusB            bool
	// The rules of matching that are switched off.
	NoModule, NoName, NoSimilar, NoOrder, NoRenamed bool
}

// Side is the view of one recording.
type Side struct {
	// Show is the time that the timeline shows, Select the time that is selected.
	Show, Select recording.Range
	Threads      []Thread
	// Calls are those that are selected, as package calls writes them.
	Calls string
	// Async and Idle say what of it counts beside the work of threads: "" for not,
	// in, or only (see recording.Apart).
	Async, Idle string
	// Fold, Unfold, Hide, Pin and Order are threads, Close processes.
	Fold, Unfold, Hide, Pin, Order []Thread
	Close                          []Process
	// Sort is how threads are sorted, Filter what they are filtered by.
	Sort, Filter string
	Scroll       float32 // dp
	// Goal is the time that was gone to, nil for none.
	Goal *int64
	// Bar is the one that is marked. Anchor is the time from which linked sides
	// count.
	Bar    *Bar
	Anchor int64
}

// Content names what a file holds, wherever it is: by its size and the beginning of
// its key, "" for what is not known.
type Content struct {
	Size int64
	Key  string
}

// KeyDigits is how much of a key a Content has.
const KeyDigits = 12

// Bar is one of the timeline, by where it begins.
type Bar struct {
	Thread Thread
	Lane   int
	Time   int64
}

// Process names a process by its id, and by its name where two have that.
type Process struct {
	PID  int64
	Name string
}

// Width is the width of a column, in dp.
type Width struct {
	Column string
	DP     float32
}

// Thread names a thread by its ids, and by its name where two have these.
type Thread struct {
	PID, TID int64
	Name     string
}

// Place says what a mark is on: a function when Func is set, else From..To, which
// is a moment when both are the same.
type Place struct {
	From int64               `json:"from_ps"`
	To   int64               `json:"to_ps"`
	Func *recording.FuncName `json:"function,omitempty"`
}

// String returns the name of the place.
func (at Place) String() string {
	switch {
	case at.Func != nil:
		return at.Func.Name
	case at.From == at.To:
		return "at " + units.Duration(at.From)
	}
	return units.Duration(at.From) + " to " + units.Duration(at.To)
}

// Mark is a note on a place. An address has its place and its text.
type Mark struct {
	// ID tells marks apart, also those that come from another machine.
	ID string `json:"id"`
	Place
	Text    string    `json:"text"`
	Created time.Time `json:"created"`
}

// NewMark returns a mark with an id of its own.
func NewMark(at Place, text string) Mark {
	return Mark{rand.Text(), at, text, time.Now().UTC().Truncate(time.Second)}
}

// SameAs reports whether both say the same of the same place.
func (m Mark) SameAs(o Mark) bool {
	return m.Text == o.Text && m.From == o.From && m.To == o.To && (m.Func == nil) == (o.Func == nil) && (m.Func == nil || *m.Func == *o.Func)
}

// IsAddress reports whether a command line's argument is an address and not a file.
func IsAddress(s string) bool { return strings.HasPrefix(s, Scheme) }

// String writes the address. Of a URL it has nothing that lets in (see
// [safetext.URL]): addresses are shared.
func (v *State) String() string {
	var parts []string
	for _, f := range v.Files {
		parts = append(parts, "file="+strings.ReplaceAll(escape(safetext.URL(f)), "%3A", ":"))
	}
	for i := range Fields {
		f := &Fields[i]
		if value, ok := f.write(v); ok && f.Key != "file" {
			parts = append(parts, f.Key+"="+value)
		}
	}
	return Scheme + version + "?" + strings.Join(parts, "&")
}

// Parse reads an address. The error is one sentence that names the part that
// cannot be read.
func Parse(s string) (*State, error) {
	rest, ok := strings.CutPrefix(s, Scheme)
	if !ok {
		return nil, fmt.Errorf("%q is not an address; addresses begin with %s", s, Scheme)
	}
	ver, rest, ok := strings.Cut(rest, "?")
	if ver != version || !ok {
		return nil, fmt.Errorf("the address begins with %s%s, which this program does not know; it knows %s%s?", Scheme, ver, Scheme, version)
	}
	v := new(State)
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
		f := FieldOf(key)
		switch {
		case f == nil:
			v.Unknown = append(v.Unknown, key)
			continue
		case seen[key]:
			return nil, fmt.Errorf("the address has %s twice", key)
		}
		seen[key] = true
		if err := f.read(v, value); err != nil {
			return nil, fmt.Errorf("the part %q of the address %w", part, err)
		}
	}
	if len(v.Files) > 2 {
		return nil, fmt.Errorf("the address names %d files; at most two are shown", len(v.Files))
	}
	return v, nil
}
