// Package folded reads folded stacks: one stack per line, frames from the outermost to the
// leaf separated by semicolons, then a count. stackcollapse-*.pl, inferno, async-profiler,
// py-spy and bpftrace scripts write this format, and flamegraph.pl reads it. difffolded.pl
// writes two counts per line, one for each of two runs.
package folded

import (
	"context"
	"fmt"

	"ashlar/ingest/format/codec"
	"ashlar/ingest/format/decode"
	"ashlar/ingest/input/safetext"
	"ashlar/ingest/input/source"
	"ashlar/ingest/model/recording"
)

// Format is the folded stacks format.
var Format = codec.Format{
	Name:       "folded",
	Title:      "folded stacks",
	Holds:      "stacks with one count or two",
	Extensions: []string{".folded", ".collapsed", ".stacks"},
	Sniff:      Sniff,
	Decode:     Decode,
	Encode:     &codec.Encoder{Extensions: []string{".folded"}, OneEvent: true, Write: write},
}

// headLen is the number of bytes used to find out how many counts a line has.
const headLen = 64 << 10

// The metrics of a file with two counts per line: one for the first run, one for the
// second.
const (
	Before = "A"
	After  = "B"
)

// decoder turns lines into stack records. The recording gets one unnamed event. Its
// metric is "samples" in "count"; files with two counts give two metrics.
type decoder struct {
	b     *recording.Builder
	event int
	tally *recording.Tally
	line  int64
	// finest is the maximum number of decimals of each metric. It is reduced when a value
	// or the sum would not fit.
	finest [2]int
	counts []decode.Number // counts of the current line, one for each metric

	// frames maps the text between two semicolons to its frame.
	frames map[string]recording.FrameID
	// Adjacent lines usually share their outer frames. prev is the stack of the previous
	// line; its frame i ends at ends[i] and has the call calls[i].
	prev   []byte
	ends   []int
	calls  []recording.CallID
	values [2]int64
	equal  equalLines
}

// Decode reads all lines into b. Lines without a stack are left out, with a warning that
// names the first one; a file without any stack is an error.
func Decode(ctx context.Context, in *source.Input, b *recording.Builder, _ decode.Options) error {
	head, whole, err := in.Head(headLen)
	if err != nil {
		return err
	}
	d := &decoder{b: b, frames: map[string]recording.FrameID{}, tally: b.Tally("line"), finest: [2]int{decode.MaxScale, decode.MaxScale}}
	metrics := []recording.Metric{{Name: "samples", Unit: "count"}}
	if take(utf8Of(head), whole).columns() == 2 {
		metrics = []recording.Metric{{Name: Before, Unit: "count"}, {Name: After, Unit: "count"}}
	}
	d.counts = make([]decode.Number, len(metrics))
	d.event = b.AddEvent(recording.Event{Basis: recording.FromStacks, Metrics: metrics})
	txt := newText(in, head)
	err = d.read(ctx, txt)
	d.equal.flush(d)
	if err != nil {
		return err
	}
	if d.equal.merged > 0 {
		b.Warn("lines-merged", "", "After the first %d million lines, lines with a stack that came before were added to it (lines added: %d)", mergeAfter>>20, d.equal.merged)
	}
	if txt.damaged > 0 {
		b.Warn("utf-16", "", "%d UTF-16 code units (half of a pair, or cut off at the end) are invalid and shown as U+FFFD", txt.damaged)
	}
	if d.tally.Kept == 0 {
		return fmt.Errorf("none of %s is a stack (frames with ';' between them, a space and a count)", safetext.Plural(d.line, "line"))
	}
	return nil
}

// read splits the text into lines.
func (d *decoder) read(ctx context.Context, txt *text) error {
	txt.in.OnSilence(d.b.Progress)
	return decode.WholeLines(ctx, txt.next, d.b, func() {
		d.line++
		d.tally.Read++
		d.leaveOut("line-too-long", "is longer than %d MB and was left out", decode.MaxLine>>20)
	}, func(line []byte, _ bool) {
		d.line++
		d.record(line)
	})
}

// record reads one line, without its line end.
func (d *decoder) record(l []byte) {
	l = trim(l)
	if len(l) == 0 {
		return
	}
	d.tally.Read++
	stack, found, status := split(l, d.counts)
	switch status {
	case notStack:
		d.leaveOut("not-a-stack", "is not a stack (frames with ';' between them, a space and a count) and was left out")
		return
	case comment:
		d.tally.LeftOut++
		if d.tally.FirstLeftOut == "" {
			d.tally.FirstLeftOut = d.place()
		}
		return
	}
	merge := d.tally.Kept >= mergeAfter && d.whole(found)
	if !merge {
		d.equal.flush(d)
	}
	values, rounded, limited := d.values[:0], false, status == tooLarge
	for m, n := range d.counts {
		if m >= found {
			values = append(values, recording.Missing)
			continue
		}
		v, r := d.scale(m, n)
		values, rounded = append(values, v), rounded || r
	}
	switch {
	case limited:
		d.b.Warn("count-too-large", d.place(), "Line %d has a count beyond ±(2^63 − 1), which was limited", d.line)
	case status == noCount:
		d.b.Warn("count-missing", d.place(), "Line %d has no count; it counts as 1", d.line)
	case found < len(d.counts):
		d.b.Warn("count-single", d.place(), "Line %d has one count instead of two; it counts as %s", d.line, Before)
	case rounded:
		d.b.Warn("count-rounded", d.place(), "The count on line %d has too many digits and was rounded", d.line)
	}
	if limited || status == noCount || found < len(d.counts) || rounded {
		d.repaired()
	}
	d.tally.Kept++
	if merge {
		d.equal.add(d, d.call(stack), values)
	} else {
		d.b.AddStack(d.event, d.call(stack), recording.NoTrack, 0, values)
	}
}

// scale converts a count to a metric's unit. The unit becomes finer for a count with more
// decimals, and coarser as long as the sum does not fit.
func (d *decoder) scale(metric int, n decode.Number) (v int64, rounded bool) {
	m := &d.b.Event(d.event).Metrics[metric]
	for to := min(n.Scale, d.finest[metric]); to > m.Decimals && !d.b.SetDecimals(d.event, metric, to); to-- {
		d.finest[metric] = to - 1
	}
	for {
		n = n.Round(m.Decimals)
		v, ok := n.At(m.Decimals) // always fits without decimals
		if sum := m.Total + v; m.Decimals == 0 || ok && sum != recording.Missing && sum == recording.Saturated(m.Total, v) {
			return v, n.Rounded
		}
		d.finest[metric] = m.Decimals - 1
		d.b.SetDecimals(d.event, metric, d.finest[metric])
		n.Rounded = true
	}
}

func (d *decoder) place() string { return fmt.Sprintf("line %d", d.line) }

func (d *decoder) leaveOut(code, what string, args ...any) {
	d.tally.LeftOut++
	if d.tally.FirstLeftOut == "" {
		d.tally.FirstLeftOut = d.place()
	}
	d.b.Warn(code, d.place(), "Line %d "+what, append([]any{d.line}, args...)...)
}

func (d *decoder) repaired() {
	d.tally.Repaired++
	if d.tally.FirstRepaired == "" {
		d.tally.FirstRepaired = d.place()
	}
}
