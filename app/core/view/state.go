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

// version is the version of the addresses that String writes.
const version = "1"

// Above is the Layout in which the first of two timelines is above the second.
const Above = "above"

// Demo is the file that stands for the built-in recording.
const Demo = "demo:"

// State describes what is shown. The zero value is an empty window; empty slices are nil.
// It leaves out what belongs to the user and not to the view: theme, scale and window
// size.
type State struct {
	// Files holds one path, or two to compare. "-" is standard input, [Demo] the built-in
	// recording.
	Files []string
	// Contents holds the content digests of the files, in the same order, as far as
	// known.
	Contents []Content
	// Part and Only limit how much of the file is opened. Exe is the program from which
	// names are taken.
	Part recording.Range
	Only []string
	Exe  string
	// Parts are the visible parts of the window: "" for both, timeline, flame or lower.
	// Layout places two timelines: "" for side by side, or above.
	Parts, Layout string
	// Sides is the view of each recording.
	Sides [2]Side
	// Event and Metric are names; "" stands for the first event with data and for
	// the event's primary metric.
	Event, Metric string
	Stacks
	// Zoom is the path of functions to the bar that the flamegraph is zoomed to, Node the
	// path to the selected bar.
	Zoom, Node []recording.FuncName
	Tab        string
	// Function is the selected function. OnlyOn is "a" or "b" if the function exists only
	// on that side, although the other side has a function of the same name.
	Function *recording.FuncName
	OnlyOn   string
	// Around is the function whose callers and callees are shown, nil for the selected one.
	// Callers and Callees are the paths from it to the bar to which each side is zoomed, nil for
	// the function itself.
	Around           *recording.FuncName
	Callers, Callees []recording.FuncName
	Marks            []Mark
	Colour           string
	Table
	Split, Down float32
	Line        int  // the selected source line, from 1
	Up          bool // the flamegraph's root is at the bottom
	Display
	Comparison

	// Unknown holds the keys that were not understood, in order; String does not write
	// them.
	Unknown []string
}

// Display holds the settings of single panels, the same in a State as in a [Look].
type Display struct {
	// Lists shows callers and callees as lists, Linear draws distributions of durations on
	// a linear scale, Dots draws each call as a dot.
	Lists, Linear, Dots bool
	// Assembly shows instructions instead of source lines, Both shows both.
	Assembly, Both bool
	// Syntax is the name of a disasm.Syntax, "" for the default.
	Syntax string
	List   List
	// SQL is the query whose answer is shown, Chart draws the answer instead of listing it.
	SQL   string
	Chart bool
}

// clone returns a deep copy.
func (d Display) clone() Display {
	d.List = d.List.Clone()
	return d
}

// Table describes a table: how its rows are grouped and which columns it has.
type Table struct {
	// Group is the grouping of the rows: "" is by function. Sort is the sort column, "" for
	// the default; a leading - reverses the order.
	Group, Sort string
	Columns     []string
	Widths      []Width
	// Rows are the row filters, nil for all rows: kinds of differences in the table of
	// differences, matching rules in the list of matches.
	Rows []string
}

// List describes the list of single calls: the sort column (a leading - reverses the
// order), a filter and the chosen columns. All lists the calls of all functions even if
// one is selected.
type List struct {
	By, Only string
	Columns  []string
	All      bool
}

// Clone returns a deep copy.
func (l List) Clone() List {
	l.Columns = slices.Clone(l.Columns)
	return l
}

// Comparison describes how two recordings are compared.
type Comparison struct {
	// Normalize is "" for raw numbers; Width is "" for the larger of both widths.
	Normalize, Width string
	// Pairs are matched by hand; Apart are never matched as renamed functions.
	Pairs, Apart []match.Pair
	// Totals makes the table compare totals, SelfTimes makes the distribution show self
	// times.
	Totals, SelfTimes bool
	Unlinked, ByCall  bool
	FocusB            bool
	// The rules of matching that are switched off.
	NoModule, NoName, NoSimilar, NoOrder, NoRenamed bool
}

// Side is the view of one recording.
type Side struct {
	// Show is the visible time, Select the selected time.
	Show, Select recording.Range
	// Rest selects the time outside Select instead, for one side of a comparison of parts.
	Rest    bool
	Threads []Thread
	// Runs are the additional recordings of the side.
	Runs []Run
	// Calls are the selected calls, in the syntax of package calls.
	Calls string
	// Async and Idle say whether async operations and idle samples count: "" for no, in,
	// or only (see recording.Apart).
	Async, Idle string
	// Fold, Unfold, Hide, Pin and Order list threads, Close lists processes.
	Fold, Unfold, Hide, Pin, Order []Thread
	Close                          []Process
	// OpenGroups and CloseGroups are the names of groups of goroutines, and of recordings of
	// a joined one, opened and closed by hand.
	OpenGroups, CloseGroups []string
	// Sort is the order of threads, Filter the thread filter.
	Sort, Filter string
	Scroll       float32 // dp
	// Goal is the time entered with Go to time, nil for none.
	Goal *int64
	// Bar is the selected bar. Anchor is the time at which linked sides are aligned.
	Bar    *Bar
	Anchor int64
}

// Run is an additional recording of a side of a comparison. Off means that it does not
// count.
type Run struct {
	File string
	Off  bool
}

// Content identifies the contents of a file, regardless of its path, by its size and the
// beginning of its key; "" if unknown.
type Content struct {
	Size int64
	Key  string
}

// KeyDigits is the number of a key's digits that a Content keeps.
const KeyDigits = 12

// Bar identifies a bar of the timeline by its start.
type Bar struct {
	Thread Thread
	Lane   int
	Time   int64
}

// Process identifies a process by its id, and also by its name if two have that id.
type Process struct {
	PID  int64
	Name string
}

// Width is the width of a column, in dp.
type Width struct {
	Column string
	DP     float32
}

// Thread identifies a thread by its ids, and also by its name if two have these ids.
type Thread struct {
	PID, TID int64
	Name     string
}

// Place is what a mark is attached to: a function if Func is set, otherwise the time
// From..To, a moment if both are equal.
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

// Mark is a note on a place. Addresses contain only the place and the text.
type Mark struct {
	// ID identifies the mark, even among marks from other machines.
	ID string `json:"id"`
	Place
	Text    string    `json:"text"`
	Created time.Time `json:"created"`
}

// NewMark returns a mark with an id of its own.
func NewMark(at Place, text string) Mark {
	return Mark{rand.Text(), at, text, time.Now().UTC().Truncate(time.Second)}
}

// SameAs reports whether both marks have the same text and place.
func (m Mark) SameAs(o Mark) bool {
	return m.Text == o.Text && m.From == o.From && m.To == o.To && (m.Func == nil) == (o.Func == nil) && (m.Func == nil || *m.Func == *o.Func)
}

// IsAddress reports whether a command line's argument is an address and not a file.
func IsAddress(s string) bool { return strings.HasPrefix(s, Scheme) }

// String returns the address. It leaves credentials out of URLs (see [safetext.URL])
// because addresses are shared.
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

// Parse parses an address. The error is one sentence that names the invalid part.
func Parse(s string) (*State, error) {
	rest, ok := strings.CutPrefix(s, Scheme)
	if !ok {
		return nil, fmt.Errorf("%q is not an address; addresses begin with %s", s, Scheme)
	}
	ver, rest, ok := strings.Cut(rest, "?")
	if ver != version || !ok {
		return nil, fmt.Errorf("unknown version: the address begins with %s%s instead of %s%s?", Scheme, ver, Scheme, version)
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
