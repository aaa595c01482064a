package view

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"ashlar/ingest/format/program/disasm"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/ingest/query/calls"
	"ashlar/ingest/query/compare"
	"ashlar/ingest/query/compare/match"
	"ashlar/render/theme"
	"ashlar/render/timeline"
)

// Field describes one property of a State. Addresses, the command line's flags, copied
// commands, undo, remembered settings, the frame log and the table in the manual are all
// derived from it.
type Field struct {
	// Key is the field's name in addresses. Fields of the second recording end in .b.
	Key string
	// Doc describes the value.
	Doc string
	// Flag is the name of the field's command line flag, "" for none, and FlagDoc the
	// flag's help. Only a field with a single text has a flag.
	Flag, FlagDoc string
	// Choices returns all valid values, nil if any text is valid. Initial is the value in
	// a new window, which a State stores as "".
	Choices func() []string
	Initial string
	// Pick is true if the field is a selection or a position rather than a setting of the
	// view. Undo leaves it alone.
	Pick bool
	// Remembered is true if the value is kept between runs.
	Remembered bool

	// check returns a one-sentence error if a text is not valid. It is nil if every text
	// is valid.
	check func(string) error

	// args returns the command line arguments for a field that is not written as Flag
	// with its text. ok is false if no command line can express the field.
	args  func(v *State, rec *recording.Recording) (args []string, ok bool)
	write func(*State) (value string, ok bool)
	read  func(*State, string) error
	plain func(*State) *string // set if the field is a single text
}

// FieldOf returns the field with a key, nil for none.
func FieldOf(key string) *Field {
	i, ok := fieldOf[key]
	if !ok {
		return nil
	}
	return &Fields[i]
}

// Text returns the field of a State as written in addresses; "" if it has the value of a
// new window.
func (f *Field) Text(v *State) string {
	if text, ok := f.write(v); ok {
		return text
	}
	return ""
}

// Kept holds the remembered fields of a State by key, as written in addresses.
type Kept map[string]string

// Kept returns the remembered fields of a State, leaving out those with the value of a
// new window.
func (v *State) Kept() Kept {
	k := Kept{}
	for i := range Fields {
		if f := &Fields[i]; f.Remembered && f.Text(v) != "" {
			k[f.Key] = f.Text(v)
		}
	}
	return k
}

// State returns a State with the kept values; empty texts count as absent. Invalid values
// are ignored, because the user cannot fix them.
func (k Kept) State() *State {
	v := new(State)
	for i := range Fields {
		f := &Fields[i]
		text := k[f.Key]
		if text == "" || !f.Remembered {
			continue
		}
		if with := *v; f.read(&with, text) == nil { // copies a large struct, only for fields that are set: this runs in each frame
			*v = with
		}
	}
	return v
}

// Fields lists all fields, in the order in which addresses write them.
var Fields = fields()

var fieldOf = func() map[string]int {
	m := make(map[string]int, len(Fields))
	for i := range Fields {
		m[Fields[i].Key] = i
	}
	return m
}()

func fields() []Field {
	fs := []Field{
		many("file", "a path, - for standard input, or demo: for the built-in recording; a second file key is B of a comparison", func(v *State) *[]string { return &v.Files }, escape, unescape),
		many("content", "SIZE-DIGITS of each file, to find it after it has moved", func(v *State) *[]Content { return &v.Contents }, Content.String, ParseContent),
		one("part", "FROM..TO, FROM.. or ..TO, the only part of the file that is opened", func(v *State) *recording.Range { return &v.Part }, recording.Range.String, parseRange),
		many("only", "the only threads that are opened, by id, name or part of a name", func(v *State) *[]string { return &v.Only }, escape, unescape),
		text("exe", "the program with the function names", func(v *State) *string { return &v.Exe }),
		text("view", "the visible parts: both (default), timeline, flame, or lower for the tab's panel", func(v *State) *string { return &v.Parts }),
		text("layout", "position of A's timeline: beside (default) or above", func(v *State) *string { return &v.Layout }).remembered().
			flag("layout", "with two files, `WHERE` to put the first timeline: beside or above the second", "beside", Above),
	}
	fs = append(fs, sideFields(0)...)
	fs = append(fs, sideFields(1)...)
	fs = append(fs,
		text("event", "the event's name", func(v *State) *string { return &v.Event }).typed(func(v *State, _ *recording.Recording) ([]string, bool) {
			return []string{"--event", v.Event}, true
		}),
		text("metric", "the metric's name", func(v *State) *string { return &v.Metric }).typed(func(v *State, _ *recording.Recording) ([]string, bool) {
			return []string{"--metric", v.Metric}, true
		}),
		many("transform", "the transforms of stacks, in order", func(v *State) *[]analyze.Transform { return &v.Transforms }, transformText, parseTransform).typed(transformArgs),
		many("zoom", "the functions from the root to the bar that fills the flamegraph: NAME or NAME:MODULE", func(v *State) *[]recording.FuncName { return &v.Zoom }, functionText, parseFunction),
		text("find", "the search text", func(v *State) *string { return &v.Find }).
			flag("search", "search for `TEXT` or /expression/ in names, modules and files; the prefix name:, package:, module:, file:, thread: or arg: limits where to look"),
		text("tab", "the tab of the lower half", func(v *State) *string { return &v.Tab }),
		maybe("function", "the selected function: NAME or NAME:MODULE; NAME alone is the function without a module or, if there is none, of any module", func(v *State) **recording.FuncName { return &v.Function }, functionText, parseFunction).pick(),
		many("node", "the functions from the root to the selected bar of the flamegraph", func(v *State) *[]recording.FuncName { return &v.Node }, functionText, parseFunction).pick(),
		maybe("around", "the function of the callers and callees, if not the selected one", func(v *State) **recording.FuncName { return &v.Around }, functionText, parseFunction),
		many("callers", "the callers from the shown function to the zoomed bar", func(v *State) *[]recording.FuncName { return &v.Callers }, functionText, parseFunction),
		many("callees", "the callees from the shown function to the zoomed bar", func(v *State) *[]recording.FuncName { return &v.Callees }, functionText, parseFunction),
		many("mark", "PLACE:TEXT, where PLACE is a TIME, FROM..TO, or f:NAME:MODULE", func(v *State) *[]Mark { return &v.Marks }, Mark.text, parseMark),
		text("colour", "colour by function (default), package, name, module, kind, thread or search", func(v *State) *string { return &v.Colour }).remembered().
			flag("colour", "colour by `WHAT`: function, package, name (numbers folded), module, kind, thread or search", colours()...),
		text("table", "the grouping of the table's rows", func(v *State) *string { return &v.Group }),
		text("sort", "the sort column; a leading - reverses the order", func(v *State) *string { return &v.Sort }).remembered(),
		many("columns", "the visible columns", func(v *State) *[]string { return &v.Columns }, escape, unescape).remembered(),
		many("widths", "NAME:DP, the widths of resized columns", func(v *State) *[]Width { return &v.Widths }, Width.text, parseWidth),
		many("rows", "the row filters of the difference table and of the matching tab", func(v *State) *[]string { return &v.Rows }, escape, unescape),
		text("calls-sort", "the sort column of the list of calls; a leading - reverses the order", func(v *State) *string { return &v.List.By }),
		text("calls-filter", "the filter of the list of calls: conditions as in --calls, or text in arguments", func(v *State) *string { return &v.List.Only }),
		many("calls-columns", "the columns of the list of calls", func(v *State) *[]string { return &v.List.Columns }, escape, unescape),
		text("sql", "the SQL query of the tab query", func(v *State) *string { return &v.SQL }),
		one("split", "the timeline's share of the height, 0 to 1", func(v *State) *float32 { return &v.Split }, decimalText, parseDecimal).remembered(),
		one("down", "the scroll position of the tab, in DP", func(v *State) *float32 { return &v.Down }, decimalText, parseDecimal).pick(),
		one("line", "the selected source line", func(v *State) *int { return &v.Line }, strconv.Itoa, func(s string) (int, error) { return parseNumber(s, math.MaxInt32) }).pick(),
		text("syntax", "how instructions are written: gnu (default), go or intel", func(v *State) *string { return &v.Syntax }).remembered().checked(checkSyntax),
		Field{Key: "with", Doc: "switches: " + switchDoc(), write: writeSwitches, read: readSwitches},
		text("normalize", "the normalisation of a comparison", func(v *State) *string { return &v.Normalize }).
			flag("normalize", "with two files, scale B to A `BY` total, duration, samples or calls; raw does not scale", string(compare.Raw), string(compare.Total), string(compare.Duration), string(compare.Samples), string(compare.Calls)),
		text("width", "whose width bars have in a comparison: A's, B's, or the larger of the two", func(v *State) *string { return &v.Width }).
			flag("width", "with two files, the `WIDTHS` of bars: a, b or larger", string(compare.WidthLarger), string(compare.WidthA), string(compare.WidthB)),
		many("pair", "A:B, functions paired by hand", func(v *State) *[]match.Pair { return &v.Pairs }, pairText, parsePair),
		many("apart", "A:B: never match A with B as renamed", func(v *State) *[]match.Pair { return &v.Apart }, pairText, parsePair),
	)
	return fs
}

// text returns a field with a single text.
func text(key, doc string, of func(*State) *string) Field {
	f := one(key, doc, of, escape, unescape)
	f.plain = of
	return f
}

// flag adds a flag to a field with a single text. Choices are the valid values, beginning
// with the value in a new window. Without choices, any text is valid.
func (f Field) flag(name, doc string, choices ...string) Field {
	f.Flag, f.FlagDoc = name, doc
	if len(choices) > 0 {
		f.Choices, f.Initial = func() []string { return choices }, choices[0]
	}
	return f
}

// checked makes a field reject texts for which check returns an error.
func (f Field) checked(check func(string) error) Field {
	f.check = check
	read := f.read
	f.read = func(v *State, s string) error {
		if err := read(v, s); err != nil {
			return err
		}
		return check(*f.plain(v))
	}
	return f
}

// CallsDoc is the help for flags that select calls.
const CallsDoc = "only these `CALLS` and everything inside them: 'FUNCTION[60ms..320ms]', 'FUNCTION[KEY=VALUE]', 'FUNCTION[slowest 25]', …; see help calls"

func checkCalls(text string) error {
	if _, err := calls.Parse(text); err != nil {
		return fmt.Errorf("names no calls: %w", err)
	}
	return nil
}

func checkSyntax(text string) error {
	_, err := disasm.ParseSyntax(text)
	return err
}

// typed sets how a field without a plain flag is written on a command line. For a second
// recording the field cannot be written.
func (f Field) typed(args func(v *State, rec *recording.Recording) ([]string, bool)) Field {
	f.args = args
	return f
}

func (f Field) pick() Field       { f.Pick = true; return f }
func (f Field) remembered() Field { f.Remembered = true; return f }

// A toggle is a setting that is on or off. If it is on, its word is in the value of the
// key with.
type toggle struct {
	word, doc string
	of        func(*State) *bool
}

var switches = []toggle{
	{"up", "flamegraph with the root at the bottom", func(v *State) *bool { return &v.Up }},
	{"lists", "callers and callees as lists", func(v *State) *bool { return &v.Lists }},
	{"linear", "linear scale of durations", func(v *State) *bool { return &v.Linear }},
	{"dots", "one dot per call instead of a histogram", func(v *State) *bool { return &v.Dots }},
	{"assembly", "instructions instead of source lines", func(v *State) *bool { return &v.Assembly }},
	{"both", "source lines beside the instructions", func(v *State) *bool { return &v.Both }},
	{"all-calls", "calls of all functions, not only of the selected one", func(v *State) *bool { return &v.List.All }},
	{"chart", "the answer of a query as a chart", func(v *State) *bool { return &v.Chart }},
	{"total", "differences of total instead of self", func(v *State) *bool { return &v.Totals }},
	{"self-times", "distribution of self times", func(v *State) *bool { return &v.SelfTimes }},
	{"unlinked", "sides of a comparison scroll independently", func(v *State) *bool { return &v.Unlinked }},
	{"by-call", "sides linked by calls", func(v *State) *bool { return &v.ByCall }},
	{"b", "keyboard focus on B", func(v *State) *bool { return &v.FocusB }},
	{"rest", "A is the rest of the recording, outside its selected range", func(v *State) *bool { return &v.Sides[0].Rest }},
	{"rest-b", "B is the rest of the recording, outside its selected range", func(v *State) *bool { return &v.Sides[1].Rest }},
	{"no-module", "do not match functions by name and module", func(v *State) *bool { return &v.NoModule }},
	{"no-name", "do not match functions by name alone", func(v *State) *bool { return &v.NoName }},
	{"no-similar", "do not match functions by similar name", func(v *State) *bool { return &v.NoSimilar }},
	{"no-order", "do not match threads by order", func(v *State) *bool { return &v.NoOrder }},
	{"no-renamed", "do not match renamed functions", func(v *State) *bool { return &v.NoRenamed }},
}

// onlyPrefix begins the word for a selected function that exists only on one side.
const onlyPrefix = "only-"

func switchDoc() string {
	var words []string
	for _, s := range switches {
		words = append(words, s.word+" ("+s.doc+")")
	}
	return strings.Join(append(words, "only-a or only-b (the selected function exists only on that side)"), ", ")
}

func writeSwitches(v *State) (string, bool) {
	var words []string
	for _, s := range switches {
		if *s.of(v) {
			words = append(words, s.word)
		}
	}
	if v.OnlyOn != "" {
		words = append(words, onlyPrefix+escape(v.OnlyOn))
	}
	return strings.Join(words, ","), len(words) > 0
}

func readSwitches(v *State, text string) error {
	words, err := parseList(text, unescape)
	for _, word := range words {
		i := slices.IndexFunc(switches, func(t toggle) bool { return t.word == word })
		side, only := strings.CutPrefix(word, onlyPrefix)
		switch {
		case i >= 0:
			*switches[i].of(v) = true
		case only && (side == "a" || side == "b"):
			v.OnlyOn = side
		default:
			v.Unknown = append(v.Unknown, "with="+word)
		}
	}
	return err
}

// sorts returns the orders of threads, with the file's order first.
func sorts() []string {
	names := []string{"file"}
	for _, s := range timeline.Sorts {
		if s != timeline.SortFile {
			names = append(names, string(s))
		}
	}
	return names
}

// colours returns the colour modes, with the default first.
func colours() (names []string) {
	for _, m := range theme.Modes {
		names = append(names, string(m))
	}
	return names
}

func sideFields(i int) []Field {
	side := func(v *State) *Side { return &v.Sides[i] }
	threads := func(key, doc string, of func(*Side) *[]Thread) Field {
		return many(key, doc, func(v *State) *[]Thread { return of(side(v)) }, Thread.text, parseThread)
	}
	fs := []Field{
		one("show", "FROM..TO, the visible time range", func(v *State) *recording.Range { return &side(v).Show }, recording.Range.String, parseRange),
		one("select", "FROM..TO, the selected time range", func(v *State) *recording.Range { return &side(v).Select }, recording.Range.String, parseRange).typed(func(v *State, _ *recording.Recording) ([]string, bool) {
			return []string{"--range", side(v).Select.String()}, true
		}),
		many("runs", "FILE or FILE:off, additional runs of this side of a comparison; :off excludes a run", func(v *State) *[]Run { return &side(v).Runs }, Run.text, parseRun),
		text("calls", "the selected calls, as --calls takes them", func(v *State) *string { return &side(v).Calls }).checked(checkCalls).
			flag("calls", CallsDoc),
		text("async", "async spans: out (default), in or only", func(v *State) *string { return &side(v).Async }).
			flag("async", "`HOW` to count async spans: in, out or only (default: out, unless there are no others)", recording.Aparts...),
		text("idle", "idle samples, (idle) and (program), and idle system goroutines: out (default), in or only", func(v *State) *string { return &side(v).Idle }).
			flag("idle", "`HOW` to count idle samples, (idle) and (program), and waits of idle goroutines of the Go runtime: in, out or only (default: out)", recording.Aparts...),
		threads("thread", "PID:TID or PID:TID:NAME, the selected threads", func(s *Side) *[]Thread { return &s.Threads }).typed(func(v *State, rec *recording.Recording) ([]string, bool) {
			return threadArgs(rec, side(v).Threads)
		}),
		threads("fold", "folded threads", func(s *Side) *[]Thread { return &s.Fold }),
		threads("unfold", "unfolded threads", func(s *Side) *[]Thread { return &s.Unfold }),
		threads("hide", "hidden threads", func(s *Side) *[]Thread { return &s.Hide }),
		threads("pin", "pinned threads", func(s *Side) *[]Thread { return &s.Pin }),
		threads("order", "threads in the order set by dragging", func(s *Side) *[]Thread { return &s.Order }),
		many("close", "PID or PID:NAME, the collapsed processes", func(v *State) *[]Process { return &side(v).Close }, Process.text, parseProcess),
		many("open-groups", "the opened groups of goroutines, by function, and the opened recordings of a joined one", func(v *State) *[]string { return &side(v).OpenGroups }, escape, unescape),
		many("close-groups", "the closed groups of goroutines, by function, and the closed recordings of a joined one", func(v *State) *[]string { return &side(v).CloseGroups }, escape, unescape),
		text("threads", "the order of threads: file (default), name or busiest", func(v *State) *string { return &side(v).Sort }).
			flag("threads-by", "sort threads by `ORDER`: file, name or busiest", sorts()...),
		text("filter", "the thread filter", func(v *State) *string { return &side(v).Filter }),
		one("scroll", "the scroll position of the timeline, in DP", func(v *State) *float32 { return &side(v).Scroll }, decimalText, parseDecimal),
		maybe("goal", "the time entered with Go to time", func(v *State) **int64 { return &side(v).Goal }, recording.Offset, parseTime).pick(),
		maybe("bar", "THREAD@LANE@TIME, the selected bar of the timeline and its start", func(v *State) **Bar { return &side(v).Bar }, Bar.text, parseBar).pick(),
		one("anchor", "the time at which the linked sides of a comparison are aligned", func(v *State) *int64 { return &side(v).Anchor }, recording.Offset, parseTime),
	}
	for k := range fs {
		if i == 1 {
			fs[k].Key += ".b"
			fs[k].Doc += " (second recording)"
			fs[k].Flag, fs[k].args = "", nil // the flag is for both recordings
		}
	}
	return fs
}

// one returns a field with a value; the zero value is left out.
func one[T comparable](key, doc string, of func(*State) *T, text func(T) string, parse func(string) (T, error)) Field {
	return Field{Key: key, Doc: doc,
		write: func(v *State) (string, bool) {
			var zero T
			x := *of(v)
			return text(x), x != zero
		},
		read: func(v *State, s string) (err error) { *of(v), err = parse(s); return err },
	}
}

// maybe returns a field with a value that may be absent.
func maybe[T any](key, doc string, of func(*State) **T, text func(T) string, parse func(string) (T, error)) Field {
	return Field{Key: key, Doc: doc,
		write: func(v *State) (string, bool) {
			if x := *of(v); x != nil {
				return text(*x), true
			}
			return "", false
		},
		read: func(v *State, s string) error {
			x, err := parse(s)
			*of(v) = &x
			return err
		},
	}
}

// many returns a field with a list of values; an empty list is left out.
func many[T any](key, doc string, of func(*State) *[]T, text func(T) string, parse func(string) (T, error)) Field {
	return Field{Key: key, Doc: doc,
		write: func(v *State) (string, bool) {
			parts := make([]string, len(*of(v)))
			for i, x := range *of(v) {
				parts[i] = text(x)
			}
			return strings.Join(parts, ","), len(parts) > 0
		},
		read: func(v *State, s string) (err error) { *of(v), err = parseList(s, parse); return err },
	}
}

// addFile adds the value of a file key.
func (v *State) addFile(s string) error {
	f, err := unescape(s)
	if err == nil && f == "" {
		err = errors.New("names no file")
	}
	v.Files = append(v.Files, f)
	return err
}
