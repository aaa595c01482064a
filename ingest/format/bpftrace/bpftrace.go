// Package bpftrace reads the stacks that bpftrace prints: maps with kstack and ustack
// among their keys and counts, statistics or histograms as values, and single stacks
// printed by scripts. See "Map functions" and "kstack" in bpftrace's manual.
package bpftrace

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

// Format is the text output of bpftrace.
var Format = codec.Format{
	Name:       "bpftrace",
	Title:      "bpftrace text",
	Holds:      "maps with stacks in their keys: counts, statistics, histograms; stacks printed one by one",
	Extensions: []string{".bpftrace", ".bt.txt"},
	Sniff:      Sniff,
	Decode:     Decode,
}

// decoder reads maps, which begin with @, and stacks outside of them.
type decoder struct {
	sheet *stacktext.Sheet

	// The current entry of a map.
	inKey bool
	began int64
	name  string
	keys  []string
	parts [][]stacktext.Frame
	stack []stacktext.Frame

	// The entry whose histogram or stack follows.
	open    bool
	kept    bool // at least one of its rows was read
	printed map[string]bool
	apart   bool // a blank line followed the last entry
	last    string

	// A stack outside of maps, and the line above it.
	loose    [][]stacktext.Frame
	gap      bool
	said     string
	saidLine int64

	losses decode.Losses
}

// Decode reads all entries of maps and all stacks between them.
func Decode(ctx context.Context, in *source.Input, b *recording.Builder, _ decode.Options) error {
	d := &decoder{sheet: stacktext.NewSheet(b), printed: map[string]bool{}}
	b.Source().Tool = "bpftrace"
	err := d.sheet.Read(ctx, in, d.line)
	if d.inKey {
		d.sheet.LeaveStack(d.began, "cut", "begins a map entry that is truncated at the end of the text and was left out")
	}
	d.endEntry()
	d.endLoose()
	d.losses.Close(b, "events-lost", "bpftrace", "event")
	if none := d.sheet.Close("bpftrace prints a map entry as @[, one frame per line, then ]: and a value"); err == nil {
		err = none
	}
	return err
}

func (d *decoder) line(l []byte) {
	body := bytes.TrimSpace(l)
	switch {
	case d.inKey:
		d.key(l, body)
	case len(body) == 0:
		if d.open && d.kept {
			d.endEntry()
		}
		d.gap, d.apart = true, true
	case l[0] == '@':
		d.endEntry()
		d.endLoose()
		d.entry(string(l))
	case d.open && d.below(l, body):
	case l[0] == ' ' || l[0] == '\t':
		d.endEntry()
		d.frame(l, body)
	default:
		d.endEntry()
		d.endLoose()
		d.text(string(body))
	}
}

// entry begins an entry of a map: its name, and the part of the key on this line.
func (d *decoder) entry(l string) {
	i := strings.IndexAny(l, "[:")
	if i < 0 || strings.ContainsAny(l[:i], " \t") {
		d.sheet.SkipLine(d.sheet.Line)
		return
	}
	d.name, d.keys, d.parts, d.stack = l[:i], nil, nil, nil
	d.began = d.sheet.Line
	if l[i] == ':' { // a map without keys
		d.value(strings.TrimSpace(l[i+1:]))
		return
	}
	d.rest(l[i+1:])
}

// key reads a line within the brackets.
func (d *decoder) key(l, body []byte) {
	switch {
	case len(body) == 0:
	case (l[0] == ' ' || l[0] == '\t') && !closes(string(body)):
		d.stack = append(d.stack, parseFrame(string(body)))
	default:
		d.endPart()
		d.rest(strings.TrimPrefix(string(body), ","))
	}
}

func (d *decoder) endPart() {
	if len(d.stack) > 0 {
		d.parts, d.stack = append(d.parts, d.stack), nil
	}
}

// rest reads the keys other than stacks, and the end of the key if it is on this line.
func (d *decoder) rest(s string) {
	value, ended := "", false
	if i := closing(s); i >= 0 {
		s, value, ended = s[:i], strings.TrimSpace(s[i+2:]), true
	}
	for _, k := range strings.Split(s, ", ") {
		if k = strings.Trim(k, " ,\t"); k != "" {
			d.keys = append(d.keys, k)
		}
	}
	d.inKey = !ended
	if ended {
		d.value(value)
	}
}

func closes(s string) bool { return (s[0] == ']' || s[0] == ',') && closing(s) >= 0 }

// ending matches the value after "]:".
var ending = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*$|^\s*-?\d+$|^\s*count -?\d+, average -?\d+, total -?\d+$|^\s*\(.*\)$|^\s*-?\d+(\.\d+)?( [a-z]+)?$`)
})

// closing returns the position of the "]:" that ends a key, -1 if there is none. A name in
// the key may contain "]:" too, so it takes the last one with a valid value after it.
func closing(s string) int {
	for i := len(s); ; {
		i = strings.LastIndex(s[:i], "]:")
		if i < 0 {
			return -1
		}
		if ending().MatchString(s[i+2:]) {
			return i
		}
	}
}

// value reads the text after a key.
func (d *decoder) value(s string) {
	d.endPart()
	if d.apart && d.printed[d.name] {
		d.sheet.Printed()
		clear(d.printed)
	}
	d.printed[d.name], d.apart, d.last = true, false, d.name
	if s == "" { // rows of a histogram or a stack follow
		d.open, d.kept = true, false
		return
	}
	metrics, values, ok := parseValue(s)
	switch {
	case len(d.parts) == 0:
		d.sheet.LeaveLine(d.began, "no-stack", "has a map entry without a stack, which was left out")
	case !ok:
		d.sheet.LeaveStack(d.began, "no-value", "begins a map entry with a value that is not a number, %.40q; it was left out", s)
	default:
		w := d.who()
		d.sheet.Count(d.event(metrics), &w, stacktext.Join(d.parts), values)
	}
	d.parts = nil
}

func (d *decoder) event(metrics []recording.Metric) int {
	return d.sheet.Event(recording.Event{Name: strings.TrimPrefix(d.name, "@"), Metrics: metrics})
}

func (d *decoder) who() (w stacktext.Who) {
	for i, k := range d.keys {
		key := "key"
		if len(d.keys) > 1 {
			key += strconv.Itoa(i + 1)
		}
		w.Set(key, k)
	}
	return w
}

var counted = []recording.Metric{{Name: "count", Unit: "count"}}

// below reads a row of a histogram, or a frame if the value is a stack.
func (d *decoder) below(l, body []byte) bool {
	if body[0] == '[' || body[0] == '(' {
		row := string(body)
		end := strings.IndexAny(row, "])") // "(..., 0)" is a row, too
		if end < 0 {
			return false
		}
		rest, _, _ := bytes.Cut(body[end+1:], []byte("|"))
		n, ok := stacktext.Number(bytes.TrimSpace(rest))
		if !ok {
			return false
		}
		if len(d.parts) == 0 {
			if !d.kept {
				d.sheet.LeaveLine(d.began, "no-stack", "has a map entry without a stack, which was left out")
			}
			d.kept = true
			return true
		}
		d.kept = true
		if n == 0 {
			return true
		}
		w := d.who()
		w.Set("bucket", row[:end+1])
		d.sheet.Count(d.event(counted), &w, stacktext.Join(d.parts), []int64{n})
		return true
	}
	if l[0] != ' ' && l[0] != '\t' || len(d.parts) > 0 {
		return false
	}
	d.stack, d.kept = append(d.stack, parseFrame(string(body))), true
	return true
}

// endEntry closes an entry whose value is a histogram or a stack.
func (d *decoder) endEntry() {
	if d.open && len(d.stack) > 0 {
		w := d.who()
		stacktext.Split(d.stack)
		d.sheet.Count(d.event(counted), &w, d.stack, []int64{1})
	} else if d.open && !d.kept && len(d.parts) > 0 {
		d.sheet.LeaveStack(d.began, "no-value", "begins a map entry without a value; it was left out")
	}
	d.open, d.stack, d.parts = false, nil, nil
}

// frame adds a frame to a stack outside of maps.
func (d *decoder) frame(l, body []byte) {
	if len(d.loose) == 0 || d.gap && len(d.loose[len(d.loose)-1]) > 0 {
		d.loose = append(d.loose, nil)
	}
	n := len(d.loose) - 1
	d.loose[n] = append(d.loose[n], parseFrame(string(body)))
	d.gap = false
}

// endLoose ends a stack outside maps, which counts as one sample.
func (d *decoder) endLoose() {
	if len(d.loose) > 0 {
		var w stacktext.Who
		at := stacktext.Said(d.said, &w)
		e := recording.Event{Kind: "probe", Mode: "event", Metrics: []recording.Metric{{Name: "samples", Unit: "count", PerSample: recording.SampleOne}}}
		d.sheet.Sample(d.sheet.Event(e), &w, -1, stacktext.Join(d.loose), at)
		d.loose = nil
	} else if d.said != "" {
		d.sheet.SkipLine(d.saidLine)
	}
	d.said, d.gap = "", false
}

var lost = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(Lost|Skipped) (\d+) ?(?:events|stacks?)?`) })

// text reads a line that is part of no stack.
func (d *decoder) text(s string) {
	place := stacktext.Place(d.sheet.Line)
	switch {
	case lost().MatchString(s):
		d.sheet.SkipLine(d.sheet.Line)
		d.losses.Add(d.sheet.B, "events-lost", place, "bpftrace lost events while it recorded", s)
	case attaching(s), s == "^C":
		d.sheet.SkipLine(d.sheet.Line)
	case strings.HasPrefix(s, "WARNING: "), strings.HasPrefix(s, "ERROR: "), strings.HasPrefix(s, "stdin:"):
		d.sheet.SkipLine(d.sheet.Line)
		d.sheet.B.Warn("bpftrace", place, "bpftrace says: %s", s)
	default:
		d.said, d.saidLine = s, d.sheet.Line
	}
}

func attaching(s string) bool {
	return (strings.HasPrefix(s, "Attaching ") || strings.HasPrefix(s, "Attached ")) && strings.Contains(s, " probe")
}
