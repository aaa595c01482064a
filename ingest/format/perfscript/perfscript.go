// Package perfscript reads the text output of `perf script`, and of simpleperf's
// report-sample, which imitates it. Each sample is a line with the fields chosen with -F
// (thread, CPU, time, period, event), then the stack, leaf first, one frame per line,
// then a blank line.
//
// The format has no specification; the field order comes from tools/perf/builtin-script.c
// in the Linux kernel source.
package perfscript

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"ashlar/ingest/format/codec"
	"ashlar/ingest/format/decode"
	"ashlar/ingest/input/source"
	"ashlar/ingest/model/recording"
)

// Format is perf script text.
var Format = codec.Format{
	Name:       "perf-script",
	Title:      "perf script",
	Holds:      "text output of `perf script`: samples and stacks",
	Extensions: []string{".perf", ".perf-script", ".linux-perf.txt", ".perf.txt"},
	Sniff:      Sniff,
	Decode:     Decode,
}

// headLen is the number of bytes examined before the first sample is read.
const headLen = 64 << 10

// decoder reads line by line. It collects a sample in head and stack until the next
// header or the end of the text. A blank line separates samples. It always ends a sample
// without a header, but some tools also put blank lines between a header and its frames,
// or among the frames.
type decoder struct {
	b    *recording.Builder
	line int64
	rows rows
	meta meta
	time clock

	head    header
	opened  int64  // the line of head, 0 when no sample is open
	cut     bool   // a line of the open sample is cut
	gap     bool   // the last line of the open sample was followed by a blank line
	headed  bool   // the open sample has a header
	first   []byte // the line of the open sample's first frame
	bare    bool   // the first frame is only a number, perhaps the sample's period
	event   []byte // event of the latest header that names one; nil before
	stack   []*frame
	frames  map[string]*frame // keyed by the whole line
	noEvent bool              // headers do not name the event
	placed  bool              // headers have a time or a thread
	begin   *header           // of the first sample
	latest  int64             // the latest time

	headers, lines *recording.Tally

	losses decode.Losses
}

// Decode reads all samples. Each perf event becomes an event with the metric "samples"
// and, if printed, "period". Samples are summed by event, thread and stack; samples with
// a time also go on their thread's track.
func Decode(ctx context.Context, in *source.Input, b *recording.Builder, _ decode.Options) error {
	d := &decoder{b: b, frames: map[string]*frame{}, headers: b.Tally("sample"), lines: b.Tally("frame line")}
	d.rows.init(b, &d.meta)
	head, _, err := in.Head(headLen)
	if err != nil {
		return err
	}
	times := timesIn(head)
	if d.time.deltas = areDeltas(times); d.time.deltas {
		b.Remark("time-deltas", "", "Times start at 0 and decrease repeatedly, so they are read as differences (perf script --deltatime) and added up")
	} else {
		d.rows.anchor(times)
	}
	err = d.read(ctx, in)
	d.close()
	d.rows.flush()
	d.rows.warnWithout(d.place)
	d.losses.Close(b, "samples-lost", "perf", "sample")
	d.meta.apply(b)
	if err == nil && d.headers.Kept == 0 {
		return errors.New("the text has no samples: perf script prints each as a line with thread, time and event, then one line per frame")
	}
	return err
}

func (d *decoder) read(ctx context.Context, in *source.Input) error {
	in.OnSilence(d.show)
	next := func(rest int) ([]byte, error) {
		chunk, _, err := in.Next(rest)
		return chunk, err
	}
	return decode.WholeLines(ctx, next, d.b, func() {
		d.line++
		d.b.Warn("line-too-long", d.place(d.line), "Line %d is longer than %d MB and was left out", d.line, decode.MaxLine>>20)
	}, func(line []byte, ended bool) {
		d.line++
		d.text(line, !ended)
	})
}

// show publishes the samples read so far, including the sums of stacks, while a pipe is
// silent.
func (d *decoder) show() bool {
	if d.b.OnPublish == nil {
		return true // nobody is watching; the grouping of stacks must not depend on timing
	}
	if d.gap {
		d.close()
	}
	d.rows.flush()
	return d.b.Progress()
}

// text reads one line. last reports whether the line has no line end, so that it may be
// cut off.
func (d *decoder) text(l []byte, last bool) {
	l = bytes.TrimRight(l, "\r")
	body := bytes.TrimSpace(l)
	switch {
	case len(body) == 0:
		d.gap = d.opened != 0
	case body[0] == '#' && !d.hashHeader(body):
		d.meta.comment(body)
	case !blank(l[0]) || !d.frameLine(l, body, last):
		d.headerLine(l, last)
	}
}

// hashHeader reports whether a line that begins with # is a sample header whose thread
// name begins with #, not a comment.
func (d *decoder) hashHeader(body []byte) bool {
	var h header
	return parseHeader(body, &h) && h.hasTime && h.hasTID
}

// frameLine reads an indented line. It returns false if the line is the header of the
// next sample: without stacks, perf right-aligns comms.
func (d *decoder) frameLine(l, body []byte, last bool) bool {
	f := d.frames[string(l)]
	if f == nil {
		// A tab precedes only frames; spaces may also precede a comm that looks like an
		// address.
		f = parseFrame(body)
		var h header
		if l[0] != '\t' && parseHeader(body, &h) && (h.hasTime || h.event != nil && f == nil) {
			return false
		}
		if n := len(d.stack); n > 0 && d.stack[n-1].hasAddr && bytes.HasPrefix(l, []byte("  ")) && !last {
			if file, line, ok := sourceLine(body); ok {
				d.stack[n-1] = d.stack[n-1].at(file, line)
				return true
			}
		}
		if f == nil {
			if d.opened == 0 {
				return false
			}
			d.leaveOut(d.lines, "not-a-frame", "is neither a frame nor a sample and was left out")
			return true
		}
		if last && !f.whole {
			d.cut = true
			d.leaveOut(d.lines, "cut", "is cut off at the end of the text; the stack is shown without what follows")
			return true
		}
		d.frames[string(l)] = f
	}
	if d.gap && !d.headed {
		d.close()
	}
	if d.gap {
		d.gap = false
		d.b.Warn("blank-line", d.place(d.line), "A blank line before line %d splits a sample; its frames were joined", d.line)
	}
	if d.opened == 0 {
		d.unheaded()
		_, d.bare = integer(body)
		d.bare = d.bare && l[0] != '\t'
	} else if d.bare && len(d.stack) == 1 && l[0] == '\t' {
		// The previous line, a number without a tab, was not a frame but the period: -F
		// period,ip prints it alone on a line.
		d.head.period, d.head.hasPeriod = integer(bytes.TrimSpace(d.first))
		d.stack, d.bare = d.stack[:0], false
		d.lines.Read--
		d.lines.Kept--
	}
	if len(d.stack) == 0 {
		d.first = l
	}
	d.lines.Read++
	d.lines.Kept++
	d.stack = append(d.stack, f)
	return true
}

// unheaded opens a sample that has no header: perf script -F ip,sym prints none at all.
// If other samples have one, this sample's header could not be read.
func (d *decoder) unheaded() {
	d.head, d.opened, d.headed = header{cpu: -1, event: d.event}, d.line, false
	if d.event != nil {
		d.b.Warn("no-header", d.place(d.line), "The stack on line %d has no header; it counts for the event of the previous sample, %s, without a thread", d.line, d.event)
	}
}

// headerLine begins a sample.
func (d *decoder) headerLine(l []byte, last bool) {
	d.close()
	body := bytes.TrimSpace(l)
	d.head = header{cpu: -1}
	ok := parseHeader(body, &d.head)
	switch placed := d.head.hasTime || d.head.hasTID; {
	case !ok:
	case last && d.head.event == nil && !d.noEvent:
		ok = false
	case d.placed && !placed:
		ok = false // "Warning: …" looks like an event
	default:
		d.placed = placed
	}
	if ok && d.head.hasTime {
		d.head.ns = d.time.at(d.head.ns)
	}
	switch {
	case !ok:
		d.leaveOut(d.headers, "not-a-sample", "is neither the start of a sample nor a frame and was left out")
	case d.head.side != nil:
		d.sideBand()
	default:
		d.headed = true
		if d.head.event != nil {
			d.event = d.head.event
		}
		d.noEvent = d.noEvent || d.head.event == nil && !d.head.weak
		d.opened = d.line
		// d.head may keep slices of the line, because chunks live as long as the input.
	}
}

// sideBand counts a line about a process or a mapping, not a sample.
func (d *decoder) sideBand() {
	t := d.b.Tally("side-band record")
	t.Read++
	t.LeftOut++
	if t.FirstLeftOut == "" {
		t.FirstLeftOut = d.place(d.line)
	}
	if bytes.HasPrefix(d.head.side, []byte("PERF_RECORD_LOST")) {
		d.losses.Add(d.b, "samples-lost", d.place(d.line), "perf lost samples while it recorded", string(bytes.TrimSpace(d.head.rest)))
	}
}

// close ends the open sample and puts it into the recording.
func (d *decoder) close() {
	if d.opened == 0 {
		return
	}
	h, at := &d.head, d.opened
	d.opened, d.gap, d.bare = 0, false, false
	if len(d.stack) == 0 && h.weak {
		d.leaveOutAt(at, d.headers, "not-a-sample", "is neither the start of a sample nor a frame and was left out")
		return
	}
	if len(d.stack) == 0 && len(h.rest) > 0 {
		// Without stacks, perf prints the address on the header line.
		if f := parseFrame(h.rest); f != nil && f.whole {
			d.stack, h.rest = append(d.stack, f), nil
		}
	}
	if len(h.rest) > 0 {
		d.b.Remark("fields-not-shown", d.place(at), "Line %d has fields after the event name (tracepoint arguments, registers, branches) that are not shown", at)
	}
	d.noteRepeat(h, at)
	d.headers.Read++
	d.headers.Kept++
	if d.cut {
		d.cut = false
		d.headers.Repaired++
		if d.headers.FirstRepaired == "" {
			d.headers.FirstRepaired = d.place(at)
		}
	}
	d.rows.add(h, d.stack, d.place, at)
	d.stack = d.stack[:0]
}

// noteRepeat warns if the first sample comes again after later ones. Then somebody has probably
// appended the output for the same recording.
func (d *decoder) noteRepeat(h *header, line int64) {
	if !h.hasTime || !h.hasTID || d.time.deltas {
		return
	}
	f := d.begin
	if f == nil {
		d.begin, d.latest = new(*h), h.ns
		return
	}
	// Relative times begin at 0 in every recording.
	if f.ns != 0 && h.ns == f.ns && d.latest > f.ns && h.tid == f.tid && h.cpu == f.cpu && h.period == f.period && bytes.Equal(h.comm, f.comm) && bytes.Equal(h.event, f.event) {
		d.b.Warn("repeated", d.place(line), "The sample on line %d is the same as the first one: the text seems to hold the same samples twice, and all are counted", line)
	}
	d.latest = max(d.latest, h.ns)
}

func (d *decoder) place(line int64) string { return fmt.Sprintf("line %d", line) }

func (d *decoder) leaveOut(t *recording.Tally, code, what string) {
	d.leaveOutAt(d.line, t, code, what)
}

func (d *decoder) leaveOutAt(line int64, t *recording.Tally, code, what string) {
	t.Read++
	t.LeftOut++
	if t.FirstLeftOut == "" {
		t.FirstLeftOut = d.place(line)
	}
	d.b.Warn(code, d.place(line), "Line %d %s", line, what)
}

func blank(c byte) bool { return c == ' ' || c == '\t' }
