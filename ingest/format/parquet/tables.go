package parquet

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"

	"ashlar/ingest/format/decode"
	"ashlar/ingest/model/recording"
)

// tables reads a recording back from its tables in a data set. IDs in the tables are row
// numbers, so lists map them to the builder's.
type tables struct {
	ctx       context.Context
	b         *recording.Builder
	dir, name string
	err       error
	bytes     int64
	tally     *recording.Tally
	texts     decode.Texts
	timed     bool // some spans have CPU times
	lost      string

	functions []recording.FuncID
	files     []string // of functions
	frames    []recording.FrameID
	calls     []recording.CallID // from call 0, which is none
	depths    []int32
	processes []int64 // PIDs
	tracks    []*recording.TrackBuilder
	metrics   [][2]int // event and metric
	contexts  []recording.ContextID
	values    []int64
	key       []byte
}

// decodeTables reads the recording for which a file of the table recordings stands.
func decodeTables(ctx context.Context, path string, b *recording.Builder) error {
	dir, name, ok := Partition(path)
	if !ok {
		return errors.New(`this is the table "recordings" of a recording, without the other tables beside it. Open the folder that ashlar tables wrote`)
	}
	d := &tables{ctx: ctx, b: b, dir: dir, name: name, tally: b.Tally("row"), calls: []recording.CallID{recording.NoCall}, depths: []int32{0}, contexts: []recording.ContextID{0}}
	b.SetArgs(d.args)
	for _, read := range []func(){
		d.recording, d.readMetrics, d.readProcesses, d.readThreads, d.readFunctions, d.readFrames, d.readCalls, d.readLabels,
		d.spans, d.states, d.samples, d.stacks, d.windows, d.counters, d.instants, d.flows, d.warnings,
	} {
		if read(); d.err != nil {
			break
		}
	}
	if d.lost != "" {
		b.Remark("tables-lack", "", "The tables do not have: %s", d.lost)
	}
	d.texts.WarnDropped(b, "row")
	if b.Source().Bytes = d.bytes; d.timed {
		b.SetCPU(d.cpuOf)
	}
	return d.err
}

// fail ends reading; the first error counts.
func (d *tables) fail(err error) bool {
	if d.err == nil {
		d.err = err
	}
	return false
}

// each reads a table: row is called with the columns of each row, and returns false if the row
// refers to what does not exist.
func (d *tables) each(table string, columns []string, row func(t *tableFile, c []cell) bool) {
	t := d.open(table, columns...)
	defer t.close()
	for t.next() {
		d.tally.Read++
		if !row(t, t.cells) {
			if d.err != nil {
				return
			}
			place := fmt.Sprintf("row %d of %s", t.row+1, table)
			d.tally.Leave(place)
			d.b.Warn("refers-to-nothing", place, "Rows of the table %s refer to rows of other tables that do not exist, and were left out", table)
			continue
		}
		d.tally.Kept++
	}
}

// at returns element i of a list, false if there is none.
func at[T any](list []T, i int64, known bool) (x T, ok bool) {
	if !known || i < 0 || i >= int64(len(list)) {
		return x, false
	}
	return list[i], true
}

// call returns the call of a cell: NULL is no call.
func (d *tables) call(c *cell) (recording.CallID, bool) { return at(d.calls, c.or(0), true) }

func columns(names string) []string { return strings.Fields(names) }

func (d *tables) recording() {
	format := ""
	d.each("recordings", columns("version tool command duration_ps clock_unit clock_unit_ps clock_start lost format"), func(t *tableFile, c []cell) bool {
		s := d.b.Source()
		s.Version, s.Tool, s.Command = fmt.Sprint(c[0].or(0)), c[1].string(), c[2].string()
		if end, ok := c[3].int(); ok && end >= 0 {
			d.b.Cover(0, end)
		}
		clock := d.b.Clock()
		clock.Unit, clock.PerUnit = c[4].string(), max(0, c[5].or(0))
		if n, ok, fits := decode.ParseNumber([]byte(c[6].string())); ok && fits && n.Scale >= 0 && n.Scale <= maxScale {
			clock.Origin = recording.Decimal{Mantissa: n.Mantissa, Scale: n.Scale}
		}
		d.lost, format = c[7].string(), c[8].string()
		return true
	})
	d.each("notes", columns("key value"), func(_ *tableFile, c []cell) bool {
		d.b.Source().Note(c[0].string(), c[1].string())
		return true
	})
	d.b.Source().Note("original format", format)
}

// maxScale is the maximum number of decimal places.
const maxScale = 18

// named returns the value of a list with a name, the first one if there is none.
func named[T fmt.Stringer](list []T, name string) T {
	for _, x := range list {
		if x.String() == name {
			return x
		}
	}
	return list[0]
}

var (
	kinds       = []recording.Kind{recording.KindUnknown, recording.KindUser, recording.KindKernel, recording.KindManaged}
	metricKinds = []recording.MetricKind{recording.Sum, recording.Level, recording.Peak}
	stateKinds  = append([]recording.State{recording.NoState}, recording.States...)
)

func (d *tables) readMetrics() {
	var events []recording.Event
	d.each("metrics", columns("metric_id event_id event basis metric unit decimals kind is_primary per_sample event_kind event_mode event_label event_note period period_type period_unit frequency"), func(t *tableFile, c []cell) bool {
		if !t.number(0) {
			return false
		}
		id := c[1].or(-1)
		if id == int64(len(events)) {
			e := recording.Event{Name: c[2].string(), Kind: c[10].string(), Mode: c[11].string(), Label: c[12].string(), Note: c[13].string(),
				Period: c[14].or(0), PeriodType: c[15].string(), PeriodUnit: c[16].string(), Frequency: c[17].real()}
			e.Basis = map[string]recording.Basis{"spans": recording.FromSpans, "samples": recording.FromSamples, "states": recording.FromStates}[c[3].string()]
			events = append(events, e)
		}
		m := recording.Metric{Name: c[4].string(), Unit: c[5].string(), Decimals: int(c[6].or(0)), Kind: named(metricKinds, c[7].string())}
		m.PerSample = map[string]recording.SampleWeight{"1": recording.SampleOne, "value": recording.SampleColumn}[c[9].string()]
		if id < 0 || id != int64(len(events))-1 || m.Decimals < 0 || m.Decimals > maxScale {
			return t.fail(errors.New("its events are not in order"))
		}
		e := &events[id]
		if c[8].is() {
			e.Primary = len(e.Metrics)
		}
		d.metrics = append(d.metrics, [2]int{int(id), len(e.Metrics)})
		e.Metrics = append(e.Metrics, m)
		return true
	})
	for _, e := range events {
		if e.Basis == recording.FromSpans && len(e.Metrics) <= recording.SpanCount || e.Basis == recording.FromStates && len(e.Metrics) <= recording.StateSyscall {
			d.fail(errors.New("the table metrics is damaged: an event has too few metrics"))
			return
		}
		d.b.AddEvent(e.Plain())
	}
}

func (d *tables) readProcesses() {
	d.each("processes", columns("process_id pid name labels sort grouped"), func(t *tableFile, c []cell) bool {
		if !t.number(0) {
			return false
		}
		pid, known := c[1].int()
		if !known {
			pid = recording.TextID - t.row
		}
		d.processes = append(d.processes, pid)
		p := d.b.ProcessInfo(d.b.Process(pid))
		p.Name, p.Labels, p.Sort, p.Grouped = c[2].string(), c[3].string(), int(c[4].or(0)), c[5].is()
		return true
	})
}

func (d *tables) readThreads() {
	used := map[recording.TrackKey]bool{}
	d.each("threads", columns("thread_id process_id tid name kind sort"), func(t *tableFile, c []cell) bool {
		process, known := c[1].int()
		pid, known := at(d.processes, process, known)
		if !t.number(0) || !known {
			return t.fail(errors.New("a thread is of no process"))
		}
		tid, known := c[2].int()
		name := c[3].string()
		switch {
		case !known:
			tid = recording.TextID - t.row
		case name == fmt.Sprintf("thread %d", tid):
			name = ""
		}
		k := recording.TrackKey{PID: pid, TID: tid, Name: name}
		if word := c[4].string(); word == recording.AsyncWord {
			k.Kind = recording.AsyncTrack
		} else if word != "thread" {
			d.b.ProcessInfo(d.b.Process(pid)).Member = word
		}
		for used[k] {
			k.Name += "'"
		}
		used[k] = true
		track := d.b.Track(k)
		track.SetName(name)
		track.SetSort(int(c[5].or(0)))
		d.tracks = append(d.tracks, track)
		return true
	})
}

func (d *tables) readFunctions() {
	d.each("functions", columns("function_id name module file kind symbol unresolved demangled state"), func(t *tableFile, c []cell) bool {
		f := recording.Function{Name: c[1].string(), Module: c[2].string(), File: c[3].string(), Kind: named(kinds, c[4].string()), Symbol: c[5].string(),
			Unresolved: c[6].is(), Demangled: c[7].is(), State: named(stateKinds, c[8].string())}
		d.functions, d.files = append(d.functions, d.b.Function(f)), append(d.files, f.File)
		return t.number(0)
	})
}

func (d *tables) readFrames() {
	d.each("frames", columns("frame_id function_id address file line column_number start_line inlined build_id inline_depth symbol_offset folded kind"), func(t *tableFile, c []cell) bool {
		id, known := c[1].int()
		function, known := at(d.functions, id, known)
		if !t.number(0) || !known {
			return t.fail(errors.New("a frame is of no function"))
		}
		f := recording.Frame{Func: function, Addr: uint64(c[2].or(0)), File: c[3].string(), Line: small(&c[4]), Column: small(&c[5]), StartLine: small(&c[6]),
			Inlined: c[7].is(), BuildID: c[8].string(), InlineDepth: uint8(c[9].or(0)), Offset: uint64(c[10].or(0)), Folded: c[11].is(), Kind: named(kinds, c[12].string())}
		if f.File == d.files[id] {
			f.File = ""
		}
		d.frames = append(d.frames, d.b.Frame(f))
		return true
	})
}

// small returns a line or column, 0 if it is none.
func small(c *cell) int32 { return int32(max(0, min(c.or(0), math.MaxInt32))) }

func (d *tables) readCalls() {
	d.each("calls", columns("call_id parent_id frame_id"), func(t *tableFile, c []cell) bool {
		parent, known := d.call(&c[1])
		id, framed := c[2].int()
		frame, framed := at(d.frames, id, framed)
		if !t.number(1) || !known || !framed {
			return t.fail(errors.New("a call has no caller or frame"))
		}
		d.calls, d.depths = append(d.calls, d.b.Call(parent, frame)), append(d.depths, d.depths[c[1].or(0)]+1)
		return true
	})
}

func (d *tables) readLabels() {
	var attrs []recording.Attr
	last := int64(0)
	done := func() {
		if last > 0 {
			d.contexts = append(d.contexts, d.b.Context(attrs))
		}
		attrs = attrs[:0]
	}
	d.each("labels", columns("context_id key value"), func(t *tableFile, c []cell) bool {
		if id := c[0].or(-1); id != last {
			if done(); id != int64(len(d.contexts)) {
				return t.fail(errors.New("its rows are not sorted by context_id"))
			}
			last = id
		}
		attrs = append(attrs, recording.Attr{Key: c[1].string(), Value: c[2].string()})
		return true
	})
	done()
}

// keep stores the arguments of a span or instant with its CPU time, and returns a reference.
func (d *tables) keep(args, cpu *cell) uint64 {
	ps, known := int64(0), false
	if cpu != nil {
		ps, known = cpu.int()
	}
	if args.null && !known {
		return 0
	}
	d.key = append(d.key[:0], 0)
	if known {
		d.timed = true
		d.key = binary.AppendVarint(append(d.key[:0], 1), ps)
	}
	if !args.null {
		d.key = append(d.key, args.b...)
	}
	return d.texts.Add(d.key)
}

// kept returns what keep stored.
func (d *tables) kept(ref uint64) (args string, ps int64, known bool) {
	s := d.texts.Text(ref)
	if s == "" {
		return "", 0, false
	}
	if s[0] == 0 {
		return s[1:], 0, false
	}
	var head [binary.MaxVarintLen64]byte
	ps, n := binary.Varint(head[:copy(head[:], s[1:])])
	return s[1+max(0, n):], ps, n > 0
}

func (d *tables) args(ref uint64) string {
	args, _, _ := d.kept(ref)
	return args
}

func (d *tables) cpuOf(ref uint64) (ps int64, known bool) {
	_, ps, known = d.kept(ref)
	return ps, known
}
