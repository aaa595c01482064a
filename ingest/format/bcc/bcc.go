// Package bcc reads the stacks that bcc's profile, offcputime, wakeuptime and stackcount
// print without -f: one frame per line, leaf first, then the thread, then a count.
package bcc

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

// Format is the text output of bcc's tools.
var Format = codec.Format{
	Name:       "bcc",
	Title:      "bcc text",
	Holds:      "output of bcc's `profile`, `offcputime`, `wakeuptime` and `stackcount`: stacks with counts or times",
	Extensions: []string{".bcc", ".profile.txt", ".offcputime.txt"},
	Sniff:      Sniff,
	Decode:     Decode,
}

type decoder struct {
	sheet *stacktext.Sheet
	event recording.Event
	parts [][]stacktext.Frame
	stack []stacktext.Frame
	who   stacktext.Who
	named bool // the thread, which is printed below the stack, was read
	began int64

	losses decode.Losses
}

// Decode reads all stacks.
func Decode(ctx context.Context, in *source.Input, b *recording.Builder, _ decode.Options) error {
	d := &decoder{sheet: stacktext.NewSheet(b), event: recording.Event{Metrics: []recording.Metric{{Name: "count", Unit: "count"}}}}
	b.Source().Tool = "bcc"
	err := d.sheet.Read(ctx, in, d.line)
	d.drop()
	d.losses.Close(b, "events-lost", "bcc", "record")
	if none := d.sheet.Close("bcc's tools print one frame per line, then the thread as `- NAME (PID)`, then a count"); err == nil {
		err = none
	}
	return err
}

var (
	thread = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^-\s+(?:b')?(.*?)'? \((\d+)\)$`) })
	pid    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:b')?(\S.*?)'? \[(\d+)\]$`) })
	role   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(target|waker):\s+(\S.*)$`) })
	rate   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^Sampling at (\d+) Hertz`) })
)

func (d *decoder) line(l []byte) {
	body := string(bytes.TrimSpace(l))
	indented := l != nil && stacktext.Indent(l) > 0
	switch n, isNumber := stacktext.Number([]byte(body)); {
	case body == "":
	case !indented:
		d.heading(body)
	case isNumber && (len(d.stack) > 0 || len(d.parts) > 0 || d.named):
		d.count(n)
	case body == "--" || body == "-- --":
		d.endPart()
	case strings.HasPrefix(body, "-"):
		m := thread().FindStringSubmatch(body)
		if m == nil {
			d.sheet.LeaveLine(d.sheet.Line, "not-a-thread", "is neither a frame nor a thread and was left out")
			return
		}
		d.who.Comm = m[1]
		d.who.Set("pid", m[2])
		d.named = true
	case role().MatchString(body):
		m := role().FindStringSubmatch(body)
		d.who.Set(m[1], m[2])
		d.named = true
	case (len(d.stack) > 0 || len(d.parts) > 0) && pid().MatchString(body) && !module(body):
		m := pid().FindStringSubmatch(body)
		d.who.Comm = m[1]
		d.who.Set("pid", m[2])
		d.named = true
	default:
		if len(d.stack) == 0 && len(d.parts) == 0 {
			d.began = d.sheet.Line
		}
		d.stack = append(d.stack, parseFrame(body))
	}
}

// module reports whether the brackets of a line contain a frame's module rather than a
// thread id.
func module(s string) bool { return strings.Contains(s, "+0x") }

func (d *decoder) endPart() {
	if len(d.stack) > 0 {
		d.parts, d.stack = append(d.parts, d.stack), nil
	}
}

// count ends the current stack with its count.
func (d *decoder) count(n int64) {
	d.endPart()
	// If the kernel or the user half is missing, bcc prints a note in brackets instead.
	all := stacktext.Join(d.parts)
	d.sheet.Count(d.sheet.Event(d.event), &d.who, all, []int64{n})
	d.parts, d.who, d.named = nil, stacktext.Who{}, false
}

// drop discards the current stack and counts it as left out: it has no count.
func (d *decoder) drop() {
	if len(d.stack) > 0 || len(d.parts) > 0 {
		d.sheet.LeaveStack(d.began, "cut", "begins a stack without a count, which was left out")
	}
	d.parts, d.stack, d.who, d.named = nil, nil, stacktext.Who{}, false
}

// heading reads an unindented line: the tool's start message, a warning, or a time.
func (d *decoder) heading(s string) {
	d.drop()
	d.sheet.SkipLine(d.sheet.Line)
	place := stacktext.Place(d.sheet.Line)
	switch {
	case strings.HasPrefix(s, "Sampling "):
		d.event = recording.Event{Name: "cpu-clock", Kind: "software", Mode: "frequency", Metrics: []recording.Metric{{Name: "samples", Unit: "count"}}}
		if m := rate().FindStringSubmatch(s); m != nil {
			n, _ := strconv.ParseFloat(m[1], 64)
			d.event.Frequency = n
		} else {
			d.event.Mode = ""
		}
		d.sheet.B.Source().Note("said", s)
	case strings.HasPrefix(s, "Tracing off-CPU time"), strings.HasPrefix(s, "Tracing blocked time"):
		name := "off-cpu"
		if strings.HasPrefix(s, "Tracing blocked") {
			name = "blocked"
		}
		unit := "us"
		if strings.Contains(s, "(ms)") {
			unit = "ms"
		}
		d.event = recording.Event{Name: name, Kind: "software", Metrics: []recording.Metric{{Name: "time", Unit: unit}}}
		d.sheet.B.Source().Note("said", s)
	case strings.HasPrefix(s, "Tracing "):
		d.event = recording.Event{Name: quoted(s), Kind: "probe", Mode: "event", Metrics: []recording.Metric{{Name: "count", Unit: "count"}}}
		d.sheet.B.Source().Note("said", s)
	case strings.HasPrefix(s, "WARNING"), strings.HasPrefix(s, "Possibly lost"):
		d.losses.Add(d.sheet.B, "events-lost", place, "bcc says", s)
	default: // for example the time printed after each interval
		d.sheet.Printed()
	}
}

// quoted returns the text in quotes.
func quoted(s string) string {
	if _, s, ok := strings.Cut(s, `"`); ok {
		name, _, _ := strings.Cut(s, `"`)
		return name
	}
	return ""
}

// parseFrame reads "symbol", "symbol+0x1f", "symbol+0x1f [module]", "b'symbol'", and
// with -v "ffffffff81000012 symbol".
func parseFrame(s string) (f stacktext.Frame) {
	if word, rest, ok := strings.Cut(s, " "); ok {
		if a, isHex := stacktext.Hex(word, 12); isHex {
			f.Addr, s = a, strings.TrimSpace(rest)
		}
	}
	if quoted, ok := strings.CutPrefix(s, "b'"); ok {
		if name, ok := strings.CutSuffix(quoted, "'"); ok {
			s = name
		}
	}
	if t := strings.TrimSuffix(s, "_[k]"); t != s {
		s, f.Kind = t, recording.KindKernel
	}
	if i := strings.LastIndex(s, " ["); i > 0 && strings.HasSuffix(s, "]") {
		s, f.Module = s[:i], strings.TrimSuffix(s[i+2:], "]")
		if f.Module == "kernel" {
			f.Kind = recording.KindKernel
		}
	}
	if a, isHex := stacktext.Hex(s, 12); isHex {
		f.Addr = a
		return f
	}
	f.Name, f.Offset = stacktext.Offset(s, 16)
	return f
}

var (
	starts = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?m)\A\s*(Sampling at \d+ Hertz|Sampling every \d+ |Tracing off-CPU time \(|Tracing blocked time \(|Tracing \d+ functions for ")`)
	})
	threads = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^ {4}-\s+\S.* \(\d+\)\r?\n {8}-?\d+\r?$`) })
	counts  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^ +\S.*\r?\n {4,8}\d+\r?$`) })
)

// Sniff looks for a thread with a count below it, or for the messages that the tools
// print when they start. A search for "    -" saves the slow one for a thread in most files.
func Sniff(head []byte, whole bool) (decode.Confidence, error) {
	head = decode.Text(head)
	if bytes.IndexByte(head[:min(len(head), 4096)], 0) >= 0 {
		return decode.No, nil
	}
	switch {
	case bytes.Contains(head, []byte("    -")) && threads().Match(head), starts().Match(head) && counts().Match(head):
		return decode.Certain, nil
	}
	return decode.No, nil
}
