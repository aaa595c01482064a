// Package appletext reads the call trees that Apple's tools print: the reports of
// sample(1) and spindump(8), and call trees copied from Instruments ("Deep Copy"). Each
// row of a tree has a total; its self value is the total minus those of its children.
package appletext

import (
	"bytes"
	"context"
	"regexp"
	"strings"
	"sync"

	"ashlar/ingest/format/codec"
	"ashlar/ingest/format/decode"
	"ashlar/ingest/format/stacktext"
	"ashlar/ingest/input/source"
	"ashlar/ingest/model/recording"
)

// Sample is the report format of sample(1) and of Activity Monitor.
var Sample = codec.Format{
	Name:       "sample",
	Title:      "macOS sample report",
	Plural:     "macOS sample reports",
	Holds:      "output of `sample` and Activity Monitor: samples by thread and stack",
	Extensions: []string{".sample.txt", ".sample"},
	Sniff:      sniffSample,
	Decode:     DecodeSample,
}

// tree collects the stacks of a report.
type tree struct {
	sheet *stacktext.Sheet
	tree  stacktext.Tree
	who   stacktext.Who
	event int
}

func newTree(b *recording.Builder) *tree {
	t := &tree{sheet: stacktext.NewSheet(b)}
	t.tree.Self = t.self
	return t
}

// add makes a row the child of the nearest preceding row with less indentation.
func (t *tree) add(column int, f stacktext.Frame, total int64) recording.CallID {
	above := t.tree.Above(column)
	call := t.sheet.B.Call(above, t.sheet.Frame(f))
	t.tree.Add(column, call, total, t.sheet.Line)
	return call
}

// self adds a row's self value.
func (t *tree) self(call recording.CallID, self, line int64) {
	switch {
	case self > 0:
		t.sheet.CountCall(t.event, &t.who, call, []int64{self})
	case self < 0:
		t.sheet.B.Warn("tree-sum", stacktext.Place(line), "The row on line %d has a smaller value than the sum of the rows below it; the sum is used", line)
	}
}

// sampleReader reads a report of sample.
type sampleReader struct {
	*tree
	inGraph, done bool
	process       string
	pid           int64
	hasPID        bool
}

// DecodeSample reads the call graph. Each thread is a track.
func DecodeSample(ctx context.Context, in *source.Input, b *recording.Builder, _ decode.Options) error {
	d := &sampleReader{tree: newTree(b)}
	b.Source().Tool = "sample"
	d.event = d.sheet.Event(recording.Event{Metrics: []recording.Metric{{Name: "samples", Unit: "count"}}})
	err := d.sheet.Read(ctx, in, d.line)
	d.tree.tree.Close()
	if d.inGraph && d.sheet.Stack.Kept > 0 { // after the graph, sample lists functions and binaries
		b.Warn("cut", stacktext.Place(d.sheet.Line), "The report is truncated in its call graph, at line %d: rows are missing, so the callers of the last rows have too much self", d.sheet.Line)
	}
	if none := d.sheet.Close("each row of a sample call graph has a count, a function and (in MODULE)"); err == nil {
		err = none
	}
	return err
}

var (
	analysed = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(?:Analysis of sampling|Sampling process) (.*?)(?: \(pid (\d+)\))?(?: every (\d+) millisecond| for |$)`)
	})
	sampleRow  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([ +!:|]*?)(\d+) (.*)$`) })
	threadName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^Thread_([0-9a-fA-Fx]+)(?:[:\s]+(.*))?$`) })
	inModule   = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(.*?)\s+\(in (.+?)\)(?:\s+(?:\+ ([\d,.]+)|load address (0x[0-9a-f]+) \+ (0x[0-9a-f]+)))?(?:\s+\[([^\]]*)\])?(?:\s+(\S.*:\d+))?\s*$`)
	})
)

func (d *sampleReader) line(l []byte) {
	s := string(l)
	body := strings.TrimSpace(s)
	switch {
	case body == "":
	case !d.inGraph && !d.done && strings.HasPrefix(body, "Call graph:"):
		d.inGraph = true
	case d.inGraph && (s[0] != ' '):
		d.inGraph, d.done = false, true // the line "Total number in stack" ends the graph
		d.tree.tree.Close()
		d.sheet.SkipLine(d.sheet.Line)
	case d.inGraph:
		d.row(s)
	case d.done:
		d.sheet.SkipLine(d.sheet.Line)
	default:
		d.header(body)
	}
}

func (d *sampleReader) header(s string) {
	if m := analysed().FindStringSubmatch(s); m != nil {
		if n, ok := stacktext.Number([]byte(m[2])); ok {
			d.pid, d.hasPID = n, true
		}
		if n, ok := stacktext.Number([]byte(m[3])); ok && n > 0 {
			e := d.sheet.B.Event(d.event)
			e.Mode, e.Frequency = "frequency", 1000/float64(n)
		}
		d.process = m[1]
	} else if key, value, ok := strings.Cut(s, ":"); ok && d.process != "" {
		note(d.sheet.B, key, strings.TrimSpace(value))
	}
	d.sheet.SkipLine(d.sheet.Line)
}

// note records a header line about the process or the machine.
func note(b *recording.Builder, key, value string) {
	switch key {
	case "Process", "Command":
		b.Source().Command = value
	case "Date/Time":
		b.Source().Note(recording.NoteTime, value)
	case "Path", "Identifier", "Version", "Code Type", "Architecture", "OS Version", "Platform", "Hardware model", "Duration", "Steps", "Physical footprint", "Report Version", "Analysis Tool":
		b.Source().Note(key, value)
	}
}

// row reads a row of the call graph.
func (d *sampleReader) row(s string) {
	m := sampleRow().FindStringSubmatch(s)
	if m == nil {
		d.sheet.LeaveLine(d.sheet.Line, "not-a-row", "is not a row of the call graph and was left out")
		return
	}
	total, ok := stacktext.Number([]byte(m[2]))
	if !ok {
		d.sheet.LeaveLine(d.sheet.Line, "not-a-row", "has a count that exceeds 64 bits and was left out")
		return
	}
	column := len(m[1])
	if t := threadName().FindStringSubmatch(m[3]); t != nil {
		d.tree.tree.Close()
		d.thread(t[1], strings.TrimSpace(t[2]))
		// The thread's row has no frame, so its self value counts the samples without a
		// stack.
		d.tree.tree.Add(column, recording.NoCall, total, d.sheet.Line)
		return
	}
	f := parseSampleFrame(m[3])
	d.add(column, f, total)
}

// thread sets the thread of the rows that follow.
func (d *sampleReader) thread(id, name string) {
	d.who = stacktext.Who{PID: d.pid, HasPID: d.hasPID, Comm: strings.Join(strings.Fields(name), " ")}
	if n, ok := stacktext.Number([]byte(id)); ok {
		d.who.TID, d.who.HasTID = n, true
	} else if n, ok := stacktext.Hex(id, 1); ok {
		d.who.TID, d.who.HasTID = int64(n), true
	}
	if d.who.Comm == "" {
		d.who.Comm = "Thread_" + id
	}
}

// parseSampleFrame reads "function  (in Module) + 12  [0x7f00]  file.m:12".
func parseSampleFrame(s string) (f stacktext.Frame) {
	m := inModule().FindStringSubmatch(s)
	if m == nil {
		if a, rest, ok := strings.Cut(s, "  ["); ok && strings.HasSuffix(rest, "]") {
			s = strings.TrimSpace(a)
			f.Addr, _ = stacktext.Hex(strings.TrimSuffix(rest, "]"), 17)
		}
		if a, isHex := stacktext.Hex(s, 17); isHex {
			f.Addr = a
		} else {
			f.Name = s
		}
		return f
	}
	f.Name, f.Module = m[1], m[2]
	if n, ok := stacktext.Number([]byte(m[3])); ok && n >= 0 {
		f.Offset = uint64(n)
	}
	f.Addr, _ = stacktext.Hex(m[6], 17)
	if f.Name == "???" {
		f.Name = ""
		f.Offset, _ = stacktext.Hex(m[5], 17)
	}
	if f.Kind = recording.KindUser; f.Module == "kernel" || f.Module == "mach_kernel" || strings.HasPrefix(f.Module, "com.apple.") {
		f.Kind = recording.KindKernel
	}
	placeIn(&f, m[7])
	return f
}

// placeIn reads "file.m:12".
func placeIn(f *stacktext.Frame, s string) {
	if i := strings.LastIndexByte(s, ':'); i > 0 {
		if n, ok := stacktext.Number([]byte(s[i+1:])); ok && n > 0 && n < 1<<31 {
			f.File, f.Line = s[:i], int32(n)
		}
	}
}

func sniffSample(head []byte, _ bool) (decode.Confidence, error) {
	first, _, _ := bytes.Cut(bytes.TrimLeft(head, " \t\r\n"), []byte("\n"))
	switch {
	case bytes.HasPrefix(first, []byte("Analysis of sampling ")):
		return decode.Certain, nil
	case bytes.HasPrefix(first, []byte("Sampling process ")) && bytes.Contains(head, []byte("Call graph:")):
		return decode.Certain, nil
	case bytes.HasPrefix(first, []byte("Call graph:")) && bytes.Contains(head, []byte("Thread_")):
		return decode.Likely, nil
	}
	return decode.No, nil
}
