package parquet

import (
	"bytes"
	"encoding/binary"
	"encoding/json"

	"ashlar/ingest/format/decode"
	"ashlar/ingest/model/recording"
)

// start returns the time of the row.
func (d *loader) start() (int64, bool) {
	c := d.by[roleStart]
	t, ok := c.time(c.one(), c.exp)
	if !ok {
		d.leave("no-time", "have no time")
		return 0, false
	}
	at, ok := t.Since(d.origin)
	if !ok {
		d.leave("time-too-far", "are too far in time from the others")
	}
	return at, ok
}

// span adds the row as a span.
func (d *loader) span() {
	from, ok := d.start()
	if !ok {
		return
	}
	var to int64
	if c := d.by[roleEnd]; c != nil {
		t, known := c.time(c.one(), c.exp)
		to, ok = t.Since(d.origin)
		ok = ok && known
	} else {
		c := d.by[roleDuration]
		t, known := c.time(c.one(), c.exp)
		length, near := t.Since(decode.Picos{})
		to, ok = from+length, near && known
	}
	if !ok {
		d.leave("no-end", "have no end")
		return
	}
	if to < from {
		d.leave("ends-early", "end before they start")
		return
	}
	c := d.by[roleName]
	c.row[0].b = orUnnamed(c.one())
	unfinished := false
	if u := d.by[roleUnfinished]; u != nil {
		n, ok := u.number(u.one())
		unfinished = ok && n.Mantissa != 0
	}
	d.track().Span(from, to, d.frame(c.row[0].b), d.arguments(), unfinished)
	d.tally.Kept++
}

// orUnnamed returns the text of a value, or what stands for none.
func orUnnamed(v *value) []byte {
	if v.null || len(v.b) == 0 {
		return []byte("[unnamed]")
	}
	return v.b
}

func (d *loader) frame(name []byte) recording.FrameID {
	id, ok := d.frames[string(name)]
	if !ok {
		id = d.b.FunctionFrame(d.b.Function(recording.Function{Name: string(name)}))
		d.frames[string(name)] = id
	}
	return id
}

// arguments returns the reference of the span's arguments, 0 for none.
func (d *loader) arguments() uint64 {
	var given []byte
	if c := d.by[roleArgs]; c != nil && !c.row[0].null {
		given = bytes.TrimSpace(c.row[0].b)
	}
	var a decode.Args
	if len(given) > 0 && (given[0] != '{' || !json.Valid(given)) {
		a.Text(d.by[roleArgs].name, string(given))
		given = nil
	}
	for _, c := range d.args {
		a.Raw(c.name, c.json(&c.row[0]))
	}
	text := a.JSON()
	switch {
	case len(given) == 0:
	case text == nil:
		text = given
	case len(bytes.TrimSpace(given[1:len(given)-1])) > 0:
		text = append(append(given[:len(given)-1:len(given)-1], ','), text[1:]...)
	}
	if len(text) == 0 {
		return 0
	}
	return d.texts.Add(text)
}

// track returns the thread of the row.
func (d *loader) track() *recording.TrackBuilder {
	d.key = d.key[:0]
	for _, r := range []role{roleRecording, roleProcess, rolePID, roleThread, roleTID} {
		c := d.by[r]
		switch {
		case c == nil || c.row[0].null:
			d.key = append(d.key, 0)
			continue
		case c.physical == physicalBytes:
			d.key = binary.AppendUvarint(append(d.key, 1), uint64(len(c.row[0].b)))
			d.key = append(d.key, c.row[0].b...)
		default:
			d.key = append(append(d.key, 2), c.leaf.text(&c.row[0])...)
		}
	}
	t := d.tracks[string(d.key)]
	if t == nil {
		t = d.newTrack()
		d.tracks[string(d.key)] = t
	}
	return t
}

func (d *loader) newTrack() *recording.TrackBuilder {
	name, recorded := d.by[roleProcess].text(), d.by[roleRecording].text()
	key := recorded + "\x00" + name + "\x00" + d.by[rolePID].text()
	pid, ok := d.procs[key]
	if !ok {
		pid = recording.TextID - int64(len(d.procs))
		if c := d.by[rolePID]; c != nil && recorded == "" {
			if n, known := c.number(c.one()); known && n.Scale == 0 && n.Mantissa >= 0 {
				pid = n.Mantissa
			}
		}
		d.procs[key] = pid
		switch {
		case recorded != "" && name != "":
			name = recorded + ": " + name
		case recorded != "" && d.by[rolePID] != nil:
			name = recorded + ": process " + d.by[rolePID].text()
		case recorded != "":
			name = recorded
		}
		if name != "" {
			d.b.ProcessInfo(d.b.Process(pid)).Name = name
		}
	}
	d.threads++
	tid := recording.TextID - d.threads
	if c := d.by[roleTID]; c != nil {
		if n, known := c.number(c.one()); known && n.Scale == 0 && n.Mantissa >= 0 {
			tid = n.Mantissa
		}
	}
	thread := d.by[roleThread].text()
	switch {
	case thread != "" || tid >= 0:
	case d.by[roleThread] != nil || d.by[roleTID] != nil:
		thread = "[unnamed]"
	default:
		thread = "rows"
	}
	t := d.b.Track(recording.TrackKey{PID: pid, TID: tid, Name: thread})
	if thread != "" {
		t.SetName(thread)
	}
	return t
}

// call returns the innermost call of the row's stack.
func (d *loader) call() recording.CallID {
	c := d.by[roleStack]
	if c == nil {
		return d.b.Call(recording.NoCall, d.frame(orUnnamed(d.by[roleName].one())))
	}
	var names [][]byte
	if c.maxRep == 0 {
		if c.row[0].null || len(c.row[0].b) == 0 {
			return recording.NoCall
		}
		if id, ok := d.stacks[string(c.row[0].b)]; ok {
			return id
		}
		d.key = append(d.key[:0], c.row[0].b...)
		names = bytes.Split(c.row[0].b, []byte(";"))
	} else {
		d.key = d.key[:0]
		for i := range c.row {
			v := &c.row[i]
			if v.def < c.listDef {
				continue // the list is empty or NULL
			}
			names = append(names, orUnnamed(v))
			d.key = append(binary.AppendUvarint(d.key, uint64(len(v.b))), v.b...)
		}
		if len(names) == 0 {
			return recording.NoCall
		}
		if id, ok := d.stacks[string(d.key)]; ok {
			return id
		}
	}
	d.list = d.list[:0]
	for _, name := range names {
		d.list = append(d.list, d.frame(orUnnamed(&value{b: name})))
	}
	id := d.b.Stack(d.list)
	d.stacks[string(d.key)] = id
	return id
}

// metricValues returns the values of the row by metric.
func (d *loader) metricValues() []int64 {
	d.values = d.values[:0]
	for i, c := range d.metrics {
		n, ok := c.number(&c.row[0])
		if _, exp, known := unitOf(c.name); known && exp == 0 {
			n.Scale += 3 // picoseconds are shown in nanoseconds
		}
		if !ok {
			d.values = append(d.values, recording.Missing)
			continue
		}
		m := &d.b.Event(d.event).Metrics[i]
		if n.Scale > m.Decimals {
			for to := min(n.Scale, maxDecimals); to > m.Decimals && !d.b.SetDecimals(d.event, i, to); to-- {
			}
			m = &d.b.Event(d.event).Metrics[i]
		}
		v, fits := n.Round(m.Decimals).At(m.Decimals)
		if !fits {
			d.b.Warn("value-too-large", d.place(), "Values are too large and were left out, first %q in row %d", c.name, d.row)
			v = recording.Missing
		}
		d.values = append(d.values, v)
	}
	if len(d.metrics) == 0 {
		d.values = append(d.values, 1)
	}
	return d.values
}

// maxDecimals is the maximum number of decimals of values.
const maxDecimals = 9

// sample adds the row as a sample.
func (d *loader) sample() {
	at, ok := d.start()
	if !ok {
		return
	}
	call := d.call()
	d.track().Sample(d.event, at, call, -1, d.metricValues())
	d.tally.Kept++
}

// stack adds the row as an aggregated stack.
func (d *loader) stack() {
	track := recording.NoTrack
	for r := roleThread; r <= roleRecording; r++ {
		if d.by[r] != nil {
			track = d.track().Index()
			break
		}
	}
	d.attrs = d.attrs[:0]
	for _, c := range d.labels {
		if s := c.text(); s != "" {
			d.attrs = append(d.attrs, recording.Attr{Key: c.name, Value: s})
		}
	}
	ctx := recording.ContextID(0)
	if len(d.attrs) > 0 {
		ctx = d.b.Context(d.attrs)
	}
	d.b.AddStack(d.event, d.call(), track, ctx, d.metricValues())
	d.tally.Kept++
}
