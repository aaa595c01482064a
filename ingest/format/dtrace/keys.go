package dtrace

import (
	"slices"
	"strconv"
	"strings"

	"ashlar/ingest/format/stacktext"
	"ashlar/ingest/model/recording"
)

// keyed is a row of an aggregation without stacks, or a probe that fired without one. It
// is shown only if no stack is in the whole text.
type keyed struct {
	line   int64
	keys   []string
	bucket string // of a distribution
	values []int64
	unit   string
	fired  *probe
}

// alone reports whether the text has had no stack so far.
func (d *decoder) alone() bool {
	return d.sheet.Stack.Kept == 0 && len(d.stack) == 0 && len(d.parts) == 0
}

// keepRow collects a line with keys and a value that no stack followed; it returns false
// for other lines.
func (d *decoder) keepRow(t text) bool {
	v, ok := parseValue(t.body)
	if !ok || !d.alone() {
		return false
	}
	r := keyed{line: t.line, keys: split(v.keys), values: v.numbers, unit: v.unit}
	if n := len(v.numbers) - 1; len(r.keys) == 0 && n > 0 { // keys may be numbers
		for _, k := range v.numbers[:n] {
			r.keys = append(r.keys, strconv.FormatInt(k, 10))
		}
		r.values = v.numbers[n:]
	}
	if len(r.keys) == 0 {
		return false
	}
	d.rows = append(d.rows, r)
	return true
}

// keepFiring collects a probe that fired and printed no stack.
func (d *decoder) keepFiring() {
	if d.probe != nil && d.alone() {
		d.rows = append(d.rows, keyed{line: d.probeLine, fired: d.probe})
	}
}

// distributionKeys takes the line above a distribution as its keys, if no stack is open.
func (d *decoder) distributionKeys() {
	if d.keys = nil; d.alone() && len(d.texts) > 0 {
		last := len(d.texts) - 1
		d.keys = split(d.texts[last].body)
		d.sheet.SkipLine(d.texts[last].line)
		d.texts = d.texts[:last]
	}
}

// showKeys ends a text. Without any stack, the keys of rows become frames, the first key
// outermost, and a probe that fired becomes one frame.
func (d *decoder) showKeys() {
	rows := d.rows
	d.rows = nil
	counted := slices.ContainsFunc(rows, func(r keyed) bool { return r.fired == nil })
	if d.sheet.Stack.Kept > 0 {
		for _, r := range rows {
			if r.fired == nil {
				d.sheet.LeaveLine(r.line, "no-stack", "has a count without a stack and was left out")
			}
		}
		return
	}
	if len(rows) > 0 {
		d.sheet.B.Remark("no-stacks", stacktext.Place(rows[0].line), "The text has no stacks. The keys of each count, or the probe that fired, are shown as frames; add stack() or ustack() to the script for stacks")
	}
	seen := map[string]bool{}
	for _, r := range rows {
		switch {
		case r.fired != nil && counted: // the probe that printed the counts
			d.sheet.SkipLine(r.line)
		case r.fired != nil:
			d.showFiring(r.fired)
		default:
			key := strings.Join(r.keys, "\x00") + "\x00\x00" + r.bucket
			if seen[key] { // the table was printed again
				d.sheet.Printed()
				clear(seen)
			}
			seen[key] = true
			d.showRow(r)
		}
	}
}

func (d *decoder) showRow(r keyed) {
	var w stacktext.Who
	if r.bucket != "" {
		w.Set("bucket", r.bucket)
	}
	var frames []stacktext.Frame
	for _, k := range slices.Backward(r.keys) {
		frames = append(frames, stacktext.Frame{Name: k})
	}
	d.sheet.Count(d.event(len(r.values), r.unit), &w, frames, r.values)
}

func (d *decoder) showFiring(p *probe) {
	w := stacktext.Who{Attrs: []recording.Attr{{Key: "cpu", Value: strconv.Itoa(p.cpu)}}}
	at := stacktext.Said(p.rest, &w)
	d.sheet.Sample(d.sheet.Event(firings(p.name)), &w, p.cpu, []stacktext.Frame{{Name: p.name}}, at)
}

// firings returns the event of a probe that fired.
func firings(name string) recording.Event {
	return recording.Event{Name: name, Kind: "probe", Mode: "event", Metrics: []recording.Metric{{Name: "samples", Unit: "count", PerSample: recording.SampleOne}}}
}
