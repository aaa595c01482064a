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
//	view       both (when left out), timeline or flame: the parts that are shown
//	layout     beside (when left out) or above: where the first of two recordings
//	           has its timeline
//	show       FROM..TO, the time that the timeline shows
//	select     FROM..TO, the selected time
//	thread     PID:TID or PID:TID:NAME, the selected threads, with commas between
//	event      the event's name
//	metric     the metric's name
//	transform  what is done to stacks, in order, with commas between (see below)
//	zoom       the functions from the root to the bar that fills the flamegraph:
//	           NAME or NAME:MODULE, with commas between
//	find       the text that is searched for
//	tab        the lower half's tab
//	function   the function that is marked: NAME or NAME:MODULE
//	mark       PLACE:TEXT, with commas between, where PLACE is a TIME, FROM..TO,
//	           or f:NAME:MODULE
//
// Times count from the recording's start. They are exact decimals with a unit:
// ps, ns, us, ms or s. A transform is its operation (see
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
	"strings"

	"ashlar/ingest/analyze"
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
	// Parts are both when empty, timeline or flame.
	Parts string
	// Layout is beside when empty, or above.
	Layout string
	// Show is the time that the timeline shows, nil for all of it; Select the
	// time that is selected.
	Show, Select  *Range
	Threads       []Thread
	Event, Metric string
	Transforms    []analyze.Transform
	// Zoom is the path of functions to the flamegraph's widest bar.
	Zoom     []Function
	Find     string
	Tab      string
	Function *Function
	Marks    []Mark

	// Unknown are the keys that are not understood, in order; they are not
	// written.
	Unknown []string
}

// Range is a stretch of time in picoseconds from the recording's start.
type Range struct{ From, To int64 }

// Thread is told by its ids, and by its name where these do not tell.
type Thread struct {
	PID, TID int64
	Name     string
}

// Function is told by its name, and by its module where there is one.
type Function struct {
	Name   string `json:"name"`
	Module string `json:"module,omitempty"`
}

// Place is what a mark is on: a function when Func is set, else From..To, which
// is a moment when both are the same.
type Place struct {
	From int64     `json:"from_ps"`
	To   int64     `json:"to_ps"`
	Func *Function `json:"function,omitempty"`
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
	var keys []string
	add := func(key, value string) { keys = append(keys, key+"="+value) }
	text := func(key, value string) {
		if value != "" {
			add(key, escape(value))
		}
	}
	for _, f := range v.Files {
		add("file", strings.ReplaceAll(escape(f), "%3A", ":"))
	}
	text("view", v.Parts)
	text("layout", v.Layout)
	if v.Show != nil {
		add("show", v.Show.String())
	}
	if v.Select != nil {
		add("select", v.Select.String())
	}
	list(add, "thread", v.Threads, Thread.text)
	text("event", v.Event)
	text("metric", v.Metric)
	list(add, "transform", v.Transforms, transformText)
	list(add, "zoom", v.Zoom, Function.text)
	text("find", v.Find)
	text("tab", v.Tab)
	if v.Function != nil {
		add("function", v.Function.text())
	}
	list(add, "mark", v.Marks, Mark.text)
	return Scheme + version + "?" + strings.Join(keys, "&")
}

func list[T any](add func(key, value string), key string, of []T, text func(T) string) {
	if len(of) == 0 {
		return
	}
	parts := make([]string, len(of))
	for i, x := range of {
		parts[i] = text(x)
	}
	add(key, strings.Join(parts, ","))
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
		read := readers[key]
		switch {
		case read == nil:
			v.Unknown = append(v.Unknown, key)
			continue
		case seen[key] && key != "file":
			return nil, fmt.Errorf("the address has %s twice", key)
		}
		seen[key] = true
		if err := read(v, value); err != nil {
			return nil, fmt.Errorf("the part %q of the address %w", part, err)
		}
	}
	if len(v.Files) > 2 {
		return nil, fmt.Errorf("the address names %d files; at most two are shown", len(v.Files))
	}
	return v, nil
}
