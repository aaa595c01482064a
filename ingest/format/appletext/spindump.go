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

// Spindump is the report format of spindump(8), which macOS writes for programs that
// hang.
var Spindump = codec.Format{
	Name:       "spindump",
	Title:      "macOS spindump report",
	Plural:     "macOS spindump reports",
	Holds:      "output of `spindump`: samples of all processes by thread and stack, with times if the report has them",
	Extensions: []string{".spin", ".spindump", ".hang", ".spindump.txt"},
	Sniff:      sniffSpindump,
	Decode:     DecodeSpindump,
}

// maxSteps is the maximum number of samples of a thread on the timeline: more than a day
// at spindump's shortest interval.
const maxSteps = 1 << 24

type spindumpReader struct {
	*tree
	process  stacktext.Who
	inThread bool
	step     int64 // nanoseconds
	steps    []recording.CallID
}

// DecodeSpindump reads the threads of all processes.
func DecodeSpindump(ctx context.Context, in *source.Input, b *recording.Builder, _ decode.Options) error {
	d := &spindumpReader{tree: newTree(b)}
	b.Source().Tool = "spindump"
	d.event = d.sheet.Event(recording.Event{Metrics: []recording.Metric{{Name: "samples", Unit: "count", PerSample: recording.SampleOne}}})
	err := d.sheet.Read(ctx, in, d.line)
	d.endThread()
	if none := d.sheet.Close("each row of a spindump tree has a count, a function and (MODULE + OFFSET)"); err == nil {
		err = none
	}
	return err
}

var (
	spinThread = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^\s+Thread (0x[0-9a-fA-F]+)\s+(.*)$`)
	})
	spinRow = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(\s+)(\*?)(\d+) +(\S.*)$`) })
	spinFn  = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(.*?)(?: \+ (\d+))? \((?:([^()]*:\d+) in )?([^()]*?(?:\([^()]*\))?[^()]*?)(?: \+ (\d+))?\)(?: \[(0x[0-9a-f]+)\])?((?: \([^()]*\))*)(?:\s+(\d+)(?:-(\d+))?)?\s*$`)
	})
	spinProcess = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^Process:\s+(\S.*?) \[(\d+)\]`) })
	interval    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\d+ \(([\d.]+)(ms|us|s) sampling interval\)`) })
	quotedName  = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?:Thread name|DispatchQueue) "?([^"]*?)"?(?:\s{2,}|\(\d+\)|$)`)
	})
)

func (d *spindumpReader) line(l []byte) {
	s := string(l)
	body := strings.TrimSpace(s)
	switch {
	case body == "":
		d.endThread()
		return
	case d.inThread && s[0] == ' ':
		if m := spinRow().FindStringSubmatch(s); m != nil {
			d.row(m)
		} else {
			d.sheet.SkipLine(d.sheet.Line) // "<darwinbg …>": the thread's state changed
		}
		return
	}
	d.endThread()
	if m := spinThread().FindStringSubmatch(s); m != nil {
		d.thread(m[1], m[2])
		return
	}
	if m := spinProcess().FindStringSubmatch(s); m != nil {
		d.process = stacktext.Who{}
		d.process.Set("pid", m[2])
		d.process.Comm = m[1]
	}
	if key, value, ok := strings.Cut(body, ":"); ok && s[0] != ' ' {
		value = strings.TrimSpace(value)
		if m := interval().FindStringSubmatch(value); m != nil && key == "Steps" {
			d.every(m[1], m[2])
		}
		if d.process.Comm == "" || key == "Process" && d.sheet.B.Source().Command == "" {
			note(d.sheet.B, key, value)
		}
	}
	d.sheet.SkipLine(d.sheet.Line)
}

// every sets the sampling interval.
func (d *spindumpReader) every(number, unit string) {
	n, ok, fits := decode.ParseNumber([]byte(number))
	scale := map[string]int{"s": 9, "ms": 6, "us": 3}[unit]
	if !ok || !fits || n.Scale > scale || n.Mantissa <= 0 {
		return
	}
	if v, ok := n.At(scale); ok && v > 0 && v < 1e12 {
		d.step = v
		e := d.sheet.B.Event(d.event)
		e.Mode, e.Frequency = "frequency", 1e9/float64(v)
	}
}

func (d *spindumpReader) thread(id, rest string) {
	d.inThread = true
	d.who = d.process
	n, _ := stacktext.Hex(id, 17)
	d.who.TID, d.who.HasTID = int64(n), true
	if m := quotedName().FindStringSubmatch(rest); m != nil && m[1] != "" {
		d.who.Comm = m[1]
	}
	d.steps = d.steps[:0]
}

// endThread closes the tree of a thread and puts its samples on the timeline. Deeper rows
// come after their parents, so the last row that lists a step is its leaf.
func (d *spindumpReader) endThread() {
	if !d.inThread {
		return
	}
	d.inThread = false
	d.tree.tree.Close()
	if d.step > 0 {
		for i, call := range d.steps {
			if call != recording.NoCall {
				d.sheet.Point(d.event, &d.who, call, int64(i)*d.step)
			}
		}
	}
}

func (d *spindumpReader) row(m []string) {
	total, ok := stacktext.Number([]byte(m[3]))
	if !ok {
		d.sheet.LeaveLine(d.sheet.Line, "not-a-row", "has a count that exceeds 64 bits and was left out")
		return
	}
	f, from, to := parseSpinFrame(m[4], m[2] == "*")
	// A kernel row has a star in place of its last blank, so the star counts as
	// indentation.
	call := d.add(len(m[1])+len(m[2]), f, total)
	if from <= 0 || to < from || to > maxSteps {
		return
	}
	for int64(len(d.steps)) <= to {
		d.steps = append(d.steps, recording.NoCall)
	}
	for i := from; i <= to; i++ {
		d.steps[i] = call
	}
}

// parseSpinFrame parses "function + 12 (Module + 345) [0x7f00] (running) 1-20"; from and
// to are the samples in which the frame was seen, 0 if the row does not say.
func parseSpinFrame(s string, kernel bool) (f stacktext.Frame, from, to int64) {
	m := spinFn().FindStringSubmatch(s)
	if m == nil {
		f.Name = s
	} else {
		f.Name, f.Module = m[1], m[4]
		if n, ok := stacktext.Number([]byte(m[2])); ok && n >= 0 {
			f.Offset = uint64(n)
		}
		f.Addr, _ = stacktext.Hex(m[6], 17)
		if f.Name == "???" {
			f.Name = ""
			if n, ok := stacktext.Number([]byte(m[5])); ok && n >= 0 {
				f.Offset = uint64(n)
			}
		}
		placeIn(&f, m[3])
		from, _ = stacktext.Number([]byte(m[8]))
		if to = from; m[9] != "" {
			to, _ = stacktext.Number([]byte(m[9]))
		}
	}
	if f.Kind = recording.KindUser; kernel {
		f.Kind = recording.KindKernel
	}
	return f, from, to
}

func sniffSpindump(head []byte, _ bool) (decode.Confidence, error) {
	first := head[:min(len(head), 4096)]
	switch {
	case bytes.Contains(first, []byte("sampling interval)")) && bytes.Contains(first, []byte("Steps:")),
		bytes.Contains(head, []byte("Heaviest stack for the ")) && bytes.Contains(head, []byte("Thread 0x")):
		return decode.Certain, nil
	}
	return decode.No, nil
}
