// Package callgrind reads the profiles of Valgrind's Callgrind, which Xdebug and others
// also write: lines of text with the self cost of each source line of each function, and
// the total cost of the calls from one function to another. See
// https://valgrind.org/docs/manual/cl-format.html.
//
// Self costs are exact, to the line. The file does not contain stacks, only pairs of
// caller and callee, so stacks are built from the pairs as in gprof: the cost of a
// function with several callers is divided among them in proportion to the total cost of
// their calls. Stacks of two functions are exact except for rounding and recursion; longer
// ones are estimates.
package callgrind

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"ashlar/ingest/format/codec"
	"ashlar/ingest/format/decode"
	"ashlar/ingest/input/safetext"
	"ashlar/ingest/input/source"
	"ashlar/ingest/model/recording"
)

// Format is the Callgrind profile format.
var Format = codec.Format{
	Name:       "callgrind",
	Title:      "Callgrind profile",
	Plural:     "Callgrind profiles",
	Holds:      "exact costs of functions and lines; stacks estimated from callers and callees",
	Extensions: []string{".out", ".callgrind", ".cachegrind"},
	Sniff:      Sniff,
	Decode:     Decode,
}

var header = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)\A(?:# callgrind format\s*$|(?:(?:version|creator|pid|cmd|part|thread|desc|positions|event|summary|ob):.*\n|\s*\n|#.*\n)*events: .*$)`)
})

// Sniff looks for the first line of newer files, or for a header line of any version.
func Sniff(head []byte, _ bool) (decode.Confidence, error) {
	head = decode.Text(head)
	if bytes.HasPrefix(head, []byte("# callgrind format")) {
		return decode.Certain, nil
	}
	if header().Match(bytes.ReplaceAll(head, []byte("\r\n"), []byte("\n"))) {
		return decode.Likely, nil
	}
	return decode.No, nil
}

// name identifies a function by its binary, source file and name.
type name struct{ ob, file, fn string }

// spot is a place in a function that has a cost: a line and its file, which differs from
// the function's if the code was inlined.
type spot struct {
	file string
	line int64
}

type function struct {
	name  name
	spots []spot
	self  map[spot][]int64
	calls map[*function][]int64 // total cost of the calls, by metric
	order []*function           // callees, in the order of the file
	in    []int64               // total cost of the calls to it, by metric
}

// graph holds the calls and costs of one thread.
type graph struct {
	thread string
	byName map[name]*function
	fns    []*function
}

type decoder struct {
	b      *recording.Builder
	tally  *recording.Tally
	calls  *recording.Tally
	line   int
	events []string
	instr  bool // positions begin with an address
	lines  bool
	names  [3]map[string]string // compressed names of binaries, files and functions

	graphs map[string]*graph
	order  []*graph
	g      *graph

	// State from the previous lines.
	ob, file, inlined, fn string
	cob, cfile, cfn       string
	hasCob, hasCfile      bool
	called                *function // callee whose cost is on the next line
	at                    [2]int64  // the address and line before
	cost                  []int64   // the previous costs: some writers give costs relative to them
	current               *function
	totals, summaries     sums
	dump                  dump
	dumps                 map[dump]bool
}

// dump identifies a part of a file: Callgrind numbers the dumps of a process.
type dump struct{ pid, part, thread, totals string }

// Decode reads a profile into an event with a metric for each of the file's events.
func Decode(ctx context.Context, in *source.Input, b *recording.Builder, _ decode.Options) error {
	d := &decoder{b: b, tally: b.Tally("cost"), calls: b.Tally("call"), graphs: map[string]*graph{}, lines: true}
	for i := range d.names {
		d.names[i] = map[string]string{}
	}
	d.thread("")
	if err := decode.Lines(ctx, in, b, d.read); err != nil {
		return err
	}
	if d.called != nil {
		d.warn("cut", "The file is truncated at line %d: the cost of a call is missing", d.line)
	}
	if d.tally.Kept+d.calls.Kept == 0 {
		return errors.New("the profile has no costs")
	}
	d.check()
	return d.build(ctx)
}

func (d *decoder) place() string { return fmt.Sprintf("line %d", d.line) }

func (d *decoder) warn(code, format string, args ...any) {
	d.b.Warn(code, d.place(), format, args...)
}

func (d *decoder) thread(id string) {
	g := d.graphs[id]
	if g == nil {
		g = &graph{thread: id, byName: map[name]*function{}}
		d.graphs[id] = g
		d.order = append(d.order, g)
	}
	d.g, d.current = g, nil
}

// cutCall leaves out a call whose cost does not follow. Functions of different threads do
// not call each other.
func (d *decoder) cutCall() {
	if d.called == nil {
		return
	}
	d.called = nil
	d.calls.Read++
	d.calls.Leave(d.place())
	d.warn("cut-call", "Line %d is not the cost of the call before it; the call was left out", d.line)
}

func (d *decoder) read(line []byte) error {
	d.line++
	if len(line) == 0 || line[0] == '#' {
		return nil
	}
	switch c := line[0]; {
	case c >= '0' && c <= '9' || c == '+' || c == '-' || c == '*':
		d.costs(line)
		return nil
	}
	i := bytes.IndexAny(line, "=:")
	if i < 0 {
		d.warn("not-a-line", "Line %d is not valid in a Callgrind file and was left out", d.line)
		return nil
	}
	key, value := string(line[:i]), strings.TrimSpace(string(line[i+1:]))
	if line[i] == ':' {
		return d.header(key, value)
	}
	d.position(key, value)
	return nil
}

// maxEvents is the maximum number of events in a file.
const maxEvents = 64

func (d *decoder) header(key, value string) error {
	src := d.b.Source()
	switch key {
	case "events":
		events := strings.Fields(value)
		if len(events) == 0 || len(events) > maxEvents {
			return fmt.Errorf("line %d has %d events; supported are 1 to %d", d.line, len(events), maxEvents)
		}
		if d.events == nil {
			d.events, d.cost = events, make([]int64, len(events))
		} else if strings.Join(events, " ") != strings.Join(d.events, " ") {
			return fmt.Errorf("line %d has different events than the earlier parts", d.line)
		}
	case "positions":
		d.instr, d.lines = strings.Contains(value, "instr"), strings.Contains(value, "line")
	case "thread":
		d.cutCall()
		d.thread(value)
		d.dump.thread = value
	case "part":
		d.cutCall()
		d.dump.part, d.dump.thread = value, ""
		d.at, d.current = [2]int64{}, nil
	case "creator":
		src.Tool = value
	case "cmd":
		src.Command = value
	case "version":
		src.Version = value
	case "totals":
		d.totals.add(value)
		d.dumped(value)
	case "summary":
		d.summaries.add(value)
	case "pid":
		d.dump.pid = value
	case "event": // the description of an event name
		src.Note("event", value)
	default:
		src.Note(key, value)
	}
	return nil
}

// dumped warns at the end of a part that the file has twice.
func (d *decoder) dumped(totals string) {
	k := d.dump
	if k.totals = totals; k.pid == "" || k.part == "" {
		return
	}
	if d.dumps[k] {
		d.warn("part-repeated", "The part that ends on line %d is in the file twice, with the same process, number and total; both are counted", d.line)
	}
	if d.dumps == nil {
		d.dumps = map[dump]bool{}
	}
	d.dumps[k] = true
}

// sums holds the sum of each event over all parts of the file, nil if the file has no sums.
type sums []int64

func (s *sums) add(value string) {
	for i, w := range strings.Fields(value) {
		if i == len(*s) {
			*s = append(*s, 0)
		}
		if v, err := strconv.ParseInt(w, 10, 64); err == nil {
			recording.Add(&(*s)[i], v)
		}
	}
}

// check compares the sums of the lines with those in the file: totals at the end of each
// part or, where the file is cut before them, summaries at the start.
func (d *decoder) check() {
	said := d.totals
	if said == nil {
		said = d.summaries
	}
	own := make([]int64, len(d.events))
	for _, g := range d.order {
		for _, f := range g.fns {
			for _, values := range f.self {
				for i, v := range values {
					recording.Add(&own[i], v)
				}
			}
		}
	}
	for i, t := range said[:min(len(said), len(own))] {
		if own[i] != t {
			d.b.Warn("totals-differ", "", "The total of %s is %d in the file, but its lines add up to %d", d.events[i], t, own[i])
		}
	}
}

// Kinds of names that may be compressed.
const (
	binaries = iota
	files
	functions
)

// position reads a line that sets the binary, file or function of the lines that follow, or
// that announces a call.
func (d *decoder) position(key, value string) {
	switch key {
	case "ob":
		d.ob, d.current = d.whole(binaries, value), nil
	case "fl":
		d.file = d.whole(files, value)
		d.inlined, d.current = d.file, nil
	case "fi", "fe":
		d.inlined = d.whole(files, value)
	case "fn":
		d.fn = d.whole(functions, value)
		d.inlined, d.current = d.file, nil
	case "cob":
		d.cob, d.hasCob = d.whole(binaries, value), true
	case "cfi", "cfl":
		if d.cfile = d.whole(files, value); value != "" {
			d.hasCfile = true
		}
	case "cfn":
		d.cfn = d.whole(functions, value)
	case "calls":
		n := name{d.ob, d.file, d.cfn}
		if d.hasCob {
			n.ob = d.cob
		}
		if d.hasCfile {
			n.file = d.cfile
		}
		d.called, d.hasCob, d.hasCfile = d.function(n), false, false
	case "jump", "jcnd", "jfi", "jfn":
		// jumps within a function have no cost
	default:
		d.warn("not-a-line", "Line %d is not valid in a Callgrind file and was left out", d.line)
	}
}

// whole resolves a compressed name, which may consist of its number only.
func (d *decoder) whole(kind int, value string) string {
	if !strings.HasPrefix(value, "(") {
		return value
	}
	id, text, ok := strings.Cut(value, ")")
	if !ok {
		return value
	}
	if text = strings.TrimSpace(text); text != "" {
		d.names[kind][id] = text
		return text
	}
	text, ok = d.names[kind][id]
	if !ok {
		d.warn("no-name", "Line %d refers to the name number %s), which is not defined; the number is shown", d.line, id)
		return id + ")"
	}
	return text
}

func (d *decoder) function(n name) *function {
	f := d.g.byName[n]
	if f == nil {
		f = &function{name: n, self: map[spot][]int64{}, calls: map[*function][]int64{}}
		d.g.byName[n] = f
		d.g.fns = append(d.g.fns, f)
	}
	return f
}

// costs reads the costs of a source line, or of a call from it.
func (d *decoder) costs(line []byte) {
	called := d.called
	d.called = nil
	tally := d.tally
	if called != nil {
		tally = d.calls
	}
	tally.Read++
	if d.events == nil {
		tally.Leave(d.place())
		d.warn("no-events", "Line %d has costs before the events are defined and was left out", d.line)
		return
	}
	words := strings.Fields(string(line))
	first := 0
	for i, has := range [2]bool{d.instr, d.lines} {
		if !has {
			continue
		}
		if first >= len(words) || !relative(&d.at[i], words[first]) {
			tally.Leave(d.place())
			d.warn("not-a-place", "Line %d does not start with a position and was left out", d.line)
			return
		}
		first++
	}
	values := make([]int64, len(d.events))
	if len(words)-first > len(values) {
		tally.Leave(d.place())
		d.warn("many-costs", "Line %d has %s, but the file has %s; the line was left out", d.line, safetext.Plural(len(words)-first, "cost"), safetext.Plural(len(values), "event"))
		return
	}
	for i := range values {
		ok := true
		if first+i < len(words) { // omitted costs are 0
			values[i] = d.cost[i]
			ok = relative(&values[i], words[first+i]) && values[i] >= 0
		}
		if !ok {
			tally.Leave(d.place())
			d.warn("not-a-cost", "The cost %.40q on line %d is invalid or too large; the line was left out", words[first+i], d.line)
			return
		}
	}
	tally.Kept++
	copy(d.cost, values)
	d.add(called, values)
}

func (d *decoder) add(called *function, values []int64) {
	if d.current == nil {
		d.current = d.function(name{d.ob, d.file, d.fn})
	}
	f := d.current
	if called != nil {
		if called.in == nil {
			called.in = make([]int64, len(values))
		}
		sum, ok := f.calls[called]
		if !ok {
			sum = make([]int64, len(values))
			f.calls[called] = sum
			f.order = append(f.order, called)
		}
		for i, v := range values {
			recording.Add(&sum[i], v)
			if called != f { // callers are not charged for a function's calls to itself
				recording.Add(&called.in[i], v)
			}
		}
		return
	}
	at := spot{d.inlined, d.at[1]}
	sum, ok := f.self[at]
	if !ok {
		sum = make([]int64, len(values))
		f.self[at] = sum
		f.spots = append(f.spots, at)
	}
	for i, v := range values {
		recording.Add(&sum[i], v)
	}
}

// relative parses a number, which may be relative to the previous one.
func relative(last *int64, word string) bool {
	switch word[0] {
	case '*':
		return word == "*"
	case '+', '-':
		n, err := strconv.ParseInt(word[1:], 0, 64)
		if err != nil {
			return false
		}
		if word[0] == '-' {
			n = -n
		}
		if sum := *last + n; (sum > *last) == (n > 0) || n == 0 {
			*last = sum
			return true
		}
		return false
	}
	n, err := strconv.ParseUint(word, 0, 64)
	if err != nil || n > math.MaxInt64 {
		return false
	}
	*last = int64(n)
	return true
}
