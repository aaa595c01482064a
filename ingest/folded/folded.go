// Package folded reads folded stacks: one stack a line, frames from the
// outermost to the leaf with semicolons between them, then a count. It is what
// stackcollapse-*.pl, inferno, async-profiler, py-spy and bpftrace scripts
// write and what flamegraph.pl reads.
package folded

import (
	"context"
	"fmt"
	"io"

	"ashlar/ingest/decode"
	"ashlar/ingest/recording"
	"ashlar/ingest/source"
)

// Format is folded stacks.
var Format = decode.Format{
	Name:       "folded",
	Title:      "folded stacks",
	Extensions: []string{".folded", ".collapsed", ".stacks"},
	Sniff:      Sniff,
	Decode:     Decode,
}

const (
	// maxLine bounds what is held of one line.
	maxLine = 16 << 20
	// stride is how many lines pass between looks at the clock.
	stride = 1024
)

// decoder turns lines into stack records. The recording gets one event without
// a name, whose metric is "samples" in "count".
type decoder struct {
	b     *recording.Builder
	event int
	tally *recording.Tally
	line  int64

	// frames maps the text between two semicolons to its frame.
	frames map[string]recording.FrameID
	// Neighbouring lines mostly share their outer frames. prev is the stack
	// part of the line before; its frame i ends at ends[i] and is calls[i].
	prev  []byte
	ends  []int
	calls []recording.CallID
	value [1]int64
}

// Decode reads all lines into b. Lines that are no stack are left out with a
// warning that names the first one; a file without any stack is an error.
func Decode(ctx context.Context, in *source.Input, b *recording.Builder, _ decode.Options) error {
	d := &decoder{b: b, frames: map[string]recording.FrameID{}, tally: b.Tally("line")}
	d.event = b.AddEvent(recording.Event{
		Basis:   recording.FromStacks,
		Metrics: []recording.Metric{{Name: "samples", Unit: "count"}},
	})
	txt, err := newText(in)
	if err != nil {
		return err
	}
	if err := d.read(ctx, txt); err != nil {
		return err
	}
	if txt.damaged > 0 {
		b.Warn("utf-16", "", "%d UTF-16 code units at the end or in half pairs are not text and show as U+FFFD", txt.damaged)
	}
	if d.tally.Kept == 0 {
		return fmt.Errorf("none of the %d lines is a stack (frames with ';' between them, a space and a count)", d.line)
	}
	return nil
}

// read takes the text apart into lines.
func (d *decoder) read(ctx context.Context, txt *text) error {
	txt.in.OnSilence(d.b.Progress)
	rest, skipping := 0, false
	for {
		chunk, err := txt.next(rest)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		for len(chunk) > 0 {
			end := newline(chunk)
			if end < 0 && err == nil {
				break
			}
			l := chunk
			if end >= 0 {
				l, chunk = chunk[:end], chunk[end+1:]
			} else {
				chunk = nil
			}
			if skipping {
				skipping = false
				continue
			}
			d.line++
			if d.line%stride == 0 {
				d.b.Progress()
				if ctx.Err() != nil {
					return ctx.Err()
				}
			}
			d.record(l)
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		rest = len(chunk)
		if rest > maxLine || skipping {
			if !skipping {
				d.line++
				d.tally.Read++
				d.leaveOut("line-too-long", "is longer than %d MB and was left out", maxLine>>20)
				skipping = true
			}
			rest = 0
		}
		d.b.Progress()
	}
}

// record reads one line, without its line end.
func (d *decoder) record(l []byte) {
	l = trim(l)
	if len(l) == 0 {
		return
	}
	d.tally.Read++
	stack, n, status := split(l)
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
	case tooLarge:
		d.leaveOut("count-too-large", "has a count that does not fit 64 bits and was left out")
		return
	}
	v, cut, ok := d.scale(n)
	total := d.b.Event(d.event).Metrics[0].Total
	if !ok || (v > 0 && total+v < total) || (v < 0 && total+v > total) || v == recording.Missing {
		d.leaveOut("count-too-large", "has a count that does not fit 64 bits, by itself or added to those before, and was left out")
		return
	}
	if cut {
		d.repaired()
		d.b.Warn("count-rounded", d.place(), "The count on line %d has more decimals than fit beside the others; they were cut off", d.line)
	}
	if status == noCount {
		d.repaired()
		d.b.Warn("count-missing", d.place(), "Line %d has no count; it counts as 1", d.line)
	}
	d.tally.Kept++
	d.value[0] = v
	d.b.AddStack(d.event, d.call(stack), recording.NoTrack, 0, d.value[:])
}

// scale gives a count in the metric's units, making them finer when needed;
// cut tells that decimals were lost because that was not possible.
func (d *decoder) scale(n number) (v int64, cut, ok bool) {
	dec := d.b.Event(d.event).Metrics[0].Decimals
	if n.scale > dec {
		if d.b.RaiseDecimals(d.event, 0, n.scale) {
			dec = n.scale
		} else {
			cut = true
			for ; n.scale > dec; n.scale-- {
				n.mantissa /= 10
			}
		}
	}
	v, ok = n.at(dec)
	return v, cut, ok
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
