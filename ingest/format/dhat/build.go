package dhat

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strconv"
	"strings"

	"ashlar/ingest/format/decode"
	"ashlar/ingest/model/recording"
)

// A measure is a number of each program point that can be summed over points, and the
// metric it becomes. Heap profiles use pprof's metric names; the other modes ("copy",
// "ad-hoc") have names and units of their own.
type measure struct {
	key, heap, other string
	unit             string // the file's key for the unit, for profiles other than heap
	kind             recording.MetricKind
}

var measures = []measure{
	{"tb", "alloc_space", "total", "bsu", recording.Sum},
	{"tbk", "alloc_objects", "count", "bksu", recording.Sum},
	{"gb", "peak_space", "peak", "bsu", recording.Level},
	{"gbk", "peak_objects", "peak_count", "bksu", recording.Level},
	{"eb", "inuse_space", "at_end", "bsu", recording.Level},
	{"ebk", "inuse_objects", "at_end_count", "bksu", recording.Level},
	{"mb", "max_space", "max", "bsu", recording.Peak},
	{"mbk", "max_objects", "max_count", "bksu", recording.Peak},
	{"tl", "lifetime", "lifetime", "tu", recording.Sum}, // total over all blocks
	{"rb", "read", "read", "bsu", recording.Sum},
	{"wb", "written", "written", "bsu", recording.Sum},
}

func indexOf(list []measure, key string) int {
	for i := range list {
		if list[i].key == key {
			return i
		}
	}
	return -1
}

// event describes the event of the recording, and returns the indices of the measures
// that points have.
func (d *decoder) event() (e recording.Event, columns []int) {
	heap := strings.Contains(d.about["mode"], "heap")
	e = recording.Event{Kind: "allocation", Basis: recording.FromStacks}
	if !heap {
		e.Kind = d.about["mode"]
	}
	units := map[string]string{"bsu": "bytes", "bksu": "count", "tu": d.about["tu"]}
	for key, unit := range units {
		if s := d.about[key]; s != "" && !heap || unit == "" {
			units[key] = cmp.Or(s, "count")
		}
	}
	for i, m := range d.measure {
		if !d.used[i] {
			continue
		}
		x := recording.Metric{Name: m.other, Unit: units[m.unit], Kind: m.kind}
		if heap {
			x.Name = m.heap
		}
		e.Metrics, columns = append(e.Metrics, x), append(columns, i)
	}
	return e, columns
}

// build turns the program points into stacks.
func (d *decoder) build(ctx context.Context) error {
	s := d.b.Source()
	s.Version, s.Command = d.about["dhatFileVersion"], d.about["cmd"]
	s.Tool = "DHAT"
	for _, key := range []string{"mode", "pid", "te", "tg", "tu"} {
		if v := d.about[key]; v != "" {
			s.Note(notes[key], v)
		}
	}
	e, columns := d.event()
	event := d.b.AddEvent(e)
	frames := slices.Repeat([]recording.FrameID{unmade}, 2*len(d.frames)) // by place: as a function, inlined
	tally := d.b.Tally("program point")
	values := make([]int64, len(columns))
	for i := range d.points {
		if i%8192 == 0 {
			if err := decode.Tick(ctx, d.b); err != nil {
				return err
			}
		}
		p := &d.points[i]
		tally.Read++
		if p.bad != "" {
			tally.Leave(decode.Byte(p.from))
			d.b.Warn("bad-value", decode.Byte(p.from), "The value %[2]q of the program point at byte %[1]d is not a number or too large and was left out", p.from, p.bad)
			continue
		}
		tally.Kept++
		d.compare(p)
		for k, c := range columns {
			values[k] = p.values[c]
		}
		d.b.AddStack(event, d.call(p, frames), recording.NoTrack, 0, values)
	}
	return nil
}

// compare warns of a program point that has more bytes at one time than it ever allocated.
func (d *decoder) compare(p *point) {
	all := p.values[indexOf(measures, "tb")]
	for _, key := range []string{"gb", "eb", "mb"} {
		if v := p.values[indexOf(measures, key)]; v > all {
			d.b.Warn("more-than-allocated", decode.Byte(p.from), "The program point at byte %[1]d has %[2]d as %[3]q, more than its total \"tb\", %[4]d", p.from, v, key, all)
			return
		}
	}
}

// notes maps keys of the file's metadata to the names to show.
var notes = map[string]string{"mode": "mode", "pid": "process", "te": "time at the end", "tg": "time of the peak", "tu": "unit of time"}

// unmade stands for a frame that has not been created yet.
const unmade = ^recording.FrameID(0)

// call returns the call of a program point's leaf.
func (d *decoder) call(p *point, frames []recording.FrameID) recording.CallID {
	call := recording.NoCall
	for i := len(p.frames) - 1; i >= 0; i-- {
		n := int(p.frames[i])
		if n < 0 || n >= len(d.frames) {
			d.b.Warn("no-frame", decode.Byte(p.from), "The program point at byte %d refers to a missing frame, which was left out of the stack", p.from)
			continue
		}
		pl := &d.frames[n]
		if pl.root {
			continue // the common root of all stacks, not a function
		}
		// Adjacent places with the same address are one instruction: the outermost is the
		// function that contains it, the others were inlined there.
		inlined := i+1 < len(p.frames) && pl.addr != 0 && pl.addr == d.addr(p.frames[i+1])
		slot := 2 * n
		if inlined {
			slot++
		}
		if frames[slot] == unmade {
			frames[slot] = d.frame(pl, inlined)
		}
		call = d.b.Call(call, frames[slot])
	}
	return call
}

func (d *decoder) addr(n int32) uint64 {
	if n < 0 || int(n) >= len(d.frames) {
		return 0
	}
	return d.frames[n].addr
}

func (d *decoder) frame(p *place, inlined bool) recording.FrameID {
	fn := d.b.Function(recording.Function{Name: p.name, Module: p.module, File: p.file, Unresolved: p.unresolved})
	return d.b.Frame(recording.Frame{Func: fn, Addr: p.addr, File: p.file, Line: p.line, Column: p.column, Inlined: inlined})
}

// A place is an entry of the file's frame table.
type place struct {
	addr         uint64
	name         string
	module, file string
	line, column int32
	root         bool
	unresolved   bool
}

// parsePlace parses "0x490E477: name (file.c:744)". A column may follow the line; "(in
// /path/of/binary)" may replace the file. Names may contain brackets.
func parsePlace(text string) place {
	p := place{name: text}
	if text == "[root]" {
		p.root = true
		return p
	}
	if addr, rest, ok := strings.Cut(text, ": "); ok && strings.HasPrefix(addr, "0x") {
		if n, err := strconv.ParseUint(addr[2:], 16, 64); err == nil {
			p.addr, p.name = n, rest
		}
	}
	if open := strings.LastIndex(p.name, " ("); open >= 0 && strings.HasSuffix(p.name, ")") {
		inside := p.name[open+2 : len(p.name)-1]
		if binary, ok := strings.CutPrefix(inside, "in "); ok {
			p.name, p.module = p.name[:open], path.Base(binary)
		} else if file, line, column, ok := cutLine(inside); ok {
			p.name, p.file, p.line, p.column = p.name[:open], file, line, column
		}
	}
	switch {
	case p.name != "???":
	case p.addr != 0: // the address in memory: the file has no offset in the binary
		p.name, p.unresolved = "0x"+strconv.FormatUint(p.addr, 16), true
	default:
		p.name = "<unknown>"
	}
	return p
}

// cutLine splits a line, and a column if there is one, from the end of a file's name.
func cutLine(s string) (file string, line, column int32, ok bool) {
	file, last, ok := cutNumber(s)
	if !ok {
		return s, 0, 0, false
	}
	if f, first, ok := cutNumber(file); ok {
		return f, first, last, true
	}
	return file, last, 0, true
}

func cutNumber(s string) (rest string, n int32, ok bool) {
	i := strings.LastIndexByte(s, ':')
	if i <= 0 {
		return s, 0, false
	}
	v, err := strconv.ParseUint(s[i+1:], 10, 31)
	return s[:i], int32(v), err == nil
}
