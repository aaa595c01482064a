// Package dtrace reads the stacks that DTrace prints: aggregations with stack(), ustack()
// and other keys, their distributions, and single probe firings with stacks. The D manual
// describes the parts (Actions and Subroutines, Aggregations, Output Formatting); the
// text as a whole has no specification.
package dtrace

import (
	"bytes"
	"context"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"ashlar/ingest/format/codec"
	"ashlar/ingest/format/decode"
	"ashlar/ingest/format/stacktext"
	"ashlar/ingest/input/source"
	"ashlar/ingest/model/recording"
)

// Format is DTrace's text output.
var Format = codec.Format{
	Name:       "dtrace",
	Title:      "DTrace text",
	Holds:      "aggregations and firings of probes with stacks: counts, sums, distributions, keys, times",
	Extensions: []string{".dtrace", ".stacks", ".kern_stacks", ".user_stacks"},
	Sniff:      Sniff,
	Decode:     Decode,
}

const headLen = 64 << 10

// decoder collects a record: the text above its stack, the stack in one or two parts, and
// the values below it.
type decoder struct {
	sheet *stacktext.Sheet
	// firings means that text below a stack belongs to the next stack (printf before
	// stack()).
	firings bool

	texts   []text // texts since the previous record
	head    []text // texts of the current record
	parts   [][]stacktext.Frame
	stack   []stacktext.Frame
	began   int64 // the line of the first frame
	indent  int   // indentation of the last frame
	gap     bool  // a blank line came before the current line
	probe   *probe
	table   bool  // the current line is inside a distribution
	counted bool  // the distribution had a row
	keyed   bool  // the last counted stack had keys above it
	last    *text // a line below the current stack that may be a truncated count; see text

	rows      []keyed  // rows without a stack
	keys      []string // of the current distribution, if it has no stack
	probeLine int64    // the line of probe

	title     string // title of the current aggregation
	names     []string
	described string // the requested probe
	cache     map[string]frameLine

	losses decode.Losses
}

// A text is a line that is not a frame.
type text struct {
	line   int64
	indent int
	body   string
	gap    bool // a blank line came before it
}

// Decode reads all records.
func Decode(ctx context.Context, in *source.Input, b *recording.Builder, _ decode.Options) error {
	head, _, err := in.Head(headLen)
	if err != nil {
		return err
	}
	d := &decoder{sheet: stacktext.NewSheet(b), firings: areFirings(head), cache: map[string]frameLine{}}
	b.Source().Tool = "DTrace"
	err = d.sheet.Read(ctx, in, d.line)
	d.finish(true)
	if d.keyed && len(d.texts) > 0 && d.texts[0].indent > 0 {
		d.sheet.LeaveStack(d.texts[0].line, "cut", "has a key without a stack, because the text is truncated there, and was left out")
	}
	d.drop()
	d.showKeys()
	d.losses.Close(b, "events-lost", "DTrace", "event")
	if none := d.sheet.Close("DTrace prints one frame per line, such as unix`idle+0xa7, and below them a count or nothing"); err == nil {
		err = none
	}
	return err
}

// line reads one line.
func (d *decoder) line(l []byte) {
	body := bytes.TrimSpace(l)
	if t := d.last; t != nil {
		d.last = nil
		d.finish(false)
		d.keep(*t)
	}
	k, frame := classify(l, body, d.cache)
	if k != row && k != blank {
		d.endTable()
	}
	switch k {
	case blank:
		d.endTable()
		d.gap = true
	case message:
		d.message(string(body))
	case columns:
		d.finish(false)
		d.sheet.SkipLine(d.sheet.Line)
	case firing:
		d.finish(false)
		d.drop()
		d.sheet.Printed()
		p := parseProbe(body)
		d.probe, d.probeLine = &p, d.sheet.Line
		d.gap = false
	case distribution:
		d.table = true
		d.distributionKeys()
	case row:
		if !d.table { // bars in place of a distribution (-x agghist)
			d.text(l, body)
			return
		}
		d.row(body)
	case frameOf:
		d.frame(frame, stacktext.Indent(l))
	default:
		d.text(l, body)
	}
}

// frame adds a frame to the current record.
func (d *decoder) frame(f stacktext.Frame, indent int) {
	if len(d.stack) == 0 && len(d.parts) == 0 {
		d.begin(indent)
	}
	if d.gap && len(d.stack) > 0 {
		d.parts, d.stack = append(d.parts, d.stack), nil
	}
	d.stack = append(d.stack, f)
	d.gap, d.indent = false, indent
}

// begin opens a record with the lines directly above its first frame. Lines indented like
// that frame become frames without a module, for example of a virtual machine.
func (d *decoder) begin(indent int) {
	d.began = d.sheet.Line
	n := len(d.texts)
	if d.gap && !d.firings {
		n = 0
	}
	above := d.texts[len(d.texts)-n:]
	from := len(above)
	for from > 0 && !d.gap && indent > 0 && above[from-1].indent == indent {
		from--
		if above[from].gap {
			break
		}
	}
	for _, t := range above[from:] {
		d.stack = append(d.stack, bare(t.body))
	}
	above = above[:from]
	if !d.firings {
		// Only the lines after the last blank line are keys: the stack itself begins with
		// a newline.
		first := len(above)
		for first > 0 {
			first--
			if above[first].gap {
				break
			}
		}
		d.headings(d.texts[:len(d.texts)-n+first])
		above = above[first:]
	}
	d.head = append(d.head[:0], above...)
	d.texts = d.texts[:0]
}

// text reads a line that is neither a frame nor a message of DTrace.
func (d *decoder) text(l, body []byte) {
	open := len(d.stack) > 0 || len(d.parts) > 0
	indent := stacktext.Indent(l)
	v, isValue := parseValue(string(body))
	note := strings.HasPrefix(string(body), "[ ") && strings.HasSuffix(string(body), " ]")
	switch {
	case open && !d.gap && note && len(d.stack) > 0:
		// An annotation from a helper names the frame above, if that frame has no name.
		if f := &d.stack[len(d.stack)-1]; f.Name == "" {
			f.Name = bare(string(body)).Name
		} else {
			d.sheet.SkipLine(d.sheet.Line)
		}
		return
	case open && !d.gap && indent > 0 && indent == d.indent && !(isValue && v.keys == ""):
		d.stack = append(d.stack, bare(string(body)))
		return
	case open && isValue && !(d.firings && d.probe == nil):
		d.count(v)
		return
	}
	t := text{d.sheet.Line, indent, string(body), d.gap}
	if open && d.aggregated() {
		d.last, d.gap = &t, false // if it is the last line, its count is cut off
		return
	}
	d.finish(false)
	d.keep(t)
}

// aggregated reports whether the current stack is one of an aggregation, after others
// that had counts.
func (d *decoder) aggregated() bool {
	return !d.firings && d.probe == nil && d.sheet.Stack.Kept > 0
}

// keep adds a text that may belong to the next stack.
func (d *decoder) keep(t text) {
	d.texts = append(d.texts, t)
	if len(d.texts) > 64 {
		d.skip(d.texts[0])
		d.texts = d.texts[1:]
	}
	d.gap = false
}

// headings reads the lines above an aggregation that do not belong to its rows.
func (d *decoder) headings(texts []text) {
	if len(texts) == 0 {
		return
	}
	d.sheet.Printed()
	for i, t := range texts {
		if i < len(texts)-1 {
			d.skip(t)
			continue
		}
		var w stacktext.Who
		if at := stacktext.Said(t.body, &w); at != nil && len(w.Attrs) == 0 && w.Comm == "" {
			d.sheet.SkipLine(t.line)
			continue // the time at which the output was printed
		}
		if v, isValue := parseValue(t.body); isValue && v.keys != "" || len(t.body) > 80 {
			d.skip(t)
			continue
		}
		d.names = columnNames(t.body)
		d.title = strings.TrimRight(t.body, " :=-")
		if d.names != nil {
			d.title = ""
		}
		d.sheet.SkipLine(t.line)
	}
}

// drop leaves out the collected lines, because no stack followed them.
func (d *decoder) drop() {
	for _, t := range d.texts {
		d.skip(t)
	}
	d.texts = d.texts[:0]
}

func (d *decoder) skip(t text) {
	if d.keepRow(t) {
		return
	}
	if _, isValue := parseValue(t.body); isValue {
		d.sheet.LeaveLine(t.line, "no-stack", "has a count without a stack and was left out")
		return
	}
	d.sheet.SkipLine(t.line)
}

// whole closes the current stack and returns it, leaf first.
func (d *decoder) whole() []stacktext.Frame {
	if len(d.stack) > 0 {
		d.parts = append(d.parts, d.stack)
	}
	all := stacktext.Join(d.parts)
	d.parts, d.stack, d.gap = d.parts[:0], nil, false
	return all
}

// who returns the thread and the labels of the stack, from the lines above it and a line
// below.
func (d *decoder) who(below string) (w stacktext.Who) {
	var keys []string
	for _, t := range d.head {
		keys = append(keys, split(t.body)...)
	}
	keys = append(keys, split(below)...)
	unnamed := 0
	for _, k := range keys {
		var one stacktext.Who
		stacktext.Said(k, &one)
		if len(one.Attrs) == 1 && one.Attrs[0].Key == "text" || len(one.Attrs) == 0 && one.Comm == "" && !one.HasPID && !one.HasTID {
			unnamed++
		}
	}
	n := 0
	for _, k := range keys {
		var one stacktext.Who
		stacktext.Said(k, &one)
		switch {
		case len(one.Attrs) > 0 && one.Attrs[0].Key == "text" && len(one.Attrs) == 1, len(one.Attrs) == 0 && one.Comm == "" && !one.HasPID && !one.HasTID:
			n++
			name := "key"
			if unnamed > 1 {
				name += strconv.Itoa(n)
			}
			w.Set(name, k)
		default:
			stacktext.Said(k, &w)
		}
	}
	return w
}

// count closes the current record with the values below its stack.
func (d *decoder) count(v value) {
	w := d.who(v.keys)
	d.keyed = len(d.head) > 0
	d.sheet.Count(d.event(len(v.numbers), v.unit), &w, d.whole(), v.numbers)
	d.probe = nil
}

// row reads a line of a distribution.
func (d *decoder) row(body []byte) {
	bucket, n, ok := stacktext.Bar(body)
	v, isNumber := stacktext.Number(n)
	if !ok || !isNumber {
		d.sheet.SkipLine(d.sheet.Line)
		return
	}
	if len(d.stack) == 0 && len(d.parts) == 0 {
		if len(d.keys) > 0 && v == 0 {
			return
		}
		if len(d.keys) > 0 {
			d.rows = append(d.rows, keyed{line: d.sheet.Line, keys: d.keys, bucket: string(bucket), values: []int64{v}})
			return
		}
		if !d.counted {
			d.sheet.LeaveLine(d.sheet.Line, "no-stack", "has a count without a stack and was left out")
		}
		return
	}
	d.counted = true
	if v == 0 {
		return
	}
	if len(d.stack) > 0 {
		d.parts, d.stack = append(d.parts, d.stack), nil
	}
	w := d.who("")
	w.Set("bucket", string(bucket))
	d.sheet.Count(d.event(1, ""), &w, stacktext.Join(d.parts), []int64{v})
}

// endTable closes a distribution and its record.
func (d *decoder) endTable() {
	if d.table && d.counted {
		d.whole()
		d.head, d.probe = d.head[:0], nil
	}
	d.table, d.counted = false, false
}

// event returns the event for rows with this number of values.
func (d *decoder) event(values int, unit string) int {
	e := recording.Event{Name: d.title}
	if e.Name == "" && d.described != "" {
		e.Kind = "probe"
	}
	if e.Name == "" {
		e.Name = d.described
	}
	for i := range values {
		m := recording.Metric{Name: "count", Unit: "count"}
		switch n := len(d.names) - values + i; {
		case len(d.names) >= values && n >= 0:
			m.Name = d.names[n]
		case values > 1:
			m.Name = "value" + strconv.Itoa(i+1)
		}
		switch m.Name {
		case "min", "max", "avg", "average", "stddev":
			m.Kind = recording.Peak
		}
		if unit != "" {
			m.Unit = unit
			if m.Name == "count" {
				m.Name = "value"
			}
		}
		e.Metrics = append(e.Metrics, m)
	}
	return d.sheet.Event(e)
}

// finish closes the current record as a probe firing, because no values follow its stack.
// At the end of the text of an aggregation the record was cut off, and is left out.
func (d *decoder) finish(end bool) {
	if len(d.stack) == 0 && len(d.parts) == 0 {
		d.keepFiring()
		d.probe = nil
		return
	}
	if end && d.aggregated() {
		d.whole()
		d.sheet.LeaveStack(d.began, "cut", "begins a stack that is truncated at the end of the text and was left out")
		return
	}
	var w stacktext.Who
	var said []string
	for _, t := range d.head {
		said = append(said, t.body)
	}
	e := firings(d.described)
	cpu := -1
	if p := d.probe; p != nil {
		cpu = p.cpu
		e.Name = p.name
		said = append(said, p.rest)
		w.Attrs = append(w.Attrs, recording.Attr{Key: "cpu", Value: strconv.Itoa(p.cpu)})
	}
	at := stacktext.Said(strings.Join(said, " "), &w)
	d.sheet.Sample(d.sheet.Event(e), &w, cpu, d.whole(), at)
	d.head, d.probe = d.head[:0], nil
}

var (
	drops   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^dtrace: \d+ .*\bdrops?\b`) })
	matched = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^dtrace: (description|script) '([^']*)' matched \d+ probes?`)
	})
)

// message reads a message of DTrace itself.
func (d *decoder) message(s string) {
	at := stacktext.Place(d.sheet.Line)
	d.sheet.SkipLine(d.sheet.Line)
	if m := matched().FindStringSubmatch(s); m != nil {
		if m[1] == "description" {
			d.described = strings.TrimSpace(m[2])
		}
		d.sheet.B.Source().Note(m[1], strings.TrimSpace(m[2]))
		return
	}
	said := strings.TrimPrefix(s, "dtrace: ")
	switch {
	case drops().MatchString(s):
		d.losses.Add(d.sheet.B, "events-lost", at, "DTrace lost events while it recorded", said)
	case strings.HasPrefix(said, "error on enabled probe"):
		d.sheet.B.Warn("probe-error", at, "DTrace reported an error at a probe: %s", said)
	case strings.HasPrefix(said, "processing aborted"), strings.HasPrefix(said, "failed"), strings.HasPrefix(said, "buffer size lowered"):
		d.sheet.B.Warn("dtrace", at, "DTrace says: %s", said)
	}
}
