package spaa

import (
	"cmp"
	"math"
	"slices"

	"ashlar/ingest/model/recording"
	format "ashlar/spaa"
)

// windowState holds the merger's data about windows that the builder does not hold.
type windowState struct {
	// decided is set once relative is known: whether windows have times relative to the
	// time range's start.
	decided, relative bool
	waiting           []window
	scratch           window
}

// window is a window record with the merger's numbers and, as far as possible, resolved
// ids.
type window struct {
	id         string
	start, end int64
	mended     bool // the end was before the start, and was moved to it
	line       int64
	rows       []windowRow
	weights    []weightRec // metric and unit are numbers in the merger's names
}

type windowRow struct {
	id      uint32
	hasID   bool
	record  int32 // record in the id table, -1 for none
	event   int32
	weights span
}

// window adds a window, or defers it until its stacks are known. To keep windows in file
// order, all windows after a deferred one are deferred too.
func (m *merger) window(mi *mirror, b *batch, r *windowRec, line int64) {
	w := &m.windows.scratch
	*w = window{id: r.id, line: line, rows: w.rows[:0], weights: w.weights[:0]}
	known := true
	for _, row := range b.rows[r.rows.from:r.rows.to] {
		wr := windowRow{hasID: row.id.form != formNone, record: -1}
		if wr.hasID {
			wr.id = m.id(mi, row.id)
			if m.ids.entries[wr.id].first < 0 {
				known = false
			}
		}
		wr.weights.from = uint32(len(w.weights))
		w.weights = append(w.weights, mi.resolve(b.weights[row.weights.from:row.weights.to])...)
		wr.weights.to = uint32(len(w.weights))
		w.rows = append(w.rows, wr)
	}
	w.start, w.end, w.mended = m.windowTimes(mi, b, r, line)
	if known && len(m.windows.waiting) == 0 {
		m.addWindow(w)
		return
	}
	c := *w
	c.rows = append([]windowRow(nil), w.rows...)
	c.weights = append([]weightRec(nil), w.weights...)
	m.windows.waiting = append(m.windows.waiting, c)
	m.b.Cover(c.start, c.end)
}

// windowTimes converts a window's times. They are in the window's unit, or the header's
// if the window has none.
func (m *merger) windowTimes(mi *mirror, b *batch, r *windowRec, line int64) (start, end int64, mended bool) {
	unit := m.names.text[mi.name(r.unit)]
	if unit == "" {
		unit = m.rng.unit
	}
	size, ok := unitSize(unit)
	if !ok && unit != "" {
		m.warn(warnTimeUnit, line, quote(unit))
	}
	if m.clock == nil {
		m.warn(warnNoTimeRange, line, "")
		m.setClock(unit, decimal{r.start.mant, int(r.start.dec)}, line)
	}
	either := func(n number, absolute bool) int64 {
		t, _ := m.clock.far(n.mant, int(n.dec), b.textOf(n), size, absolute)
		return t
	}
	at := func(n number, absolute bool) int64 {
		t, exact := m.clock.far(n.mant, int(n.dec), b.textOf(n), size, absolute)
		if !exact {
			m.warn(warnTimeClamped, line, "")
			t = m.clampTime(t)
		}
		return t
	}
	if !m.windows.decided {
		m.placeWindows(
			span64{either(r.start, true), either(r.end, true)},
			span64{either(r.start, false), either(r.end, false)}, line)
	}
	start, end = at(r.start, !m.windows.relative), at(r.end, !m.windows.relative)
	if end < start {
		m.warn(warnWindowEnd, line, "")
		return start, start, true
	}
	return start, end, false
}

type span64 struct{ from, to int64 }

// placeWindows decides from the first window whether windows have absolute times, like
// samples, or times relative to the start of the time range. The spec's text leaves this
// open, and its example (10 to 11 s) looks relative next to the header's time range
// (12345 to 12405 s). The times are absolute if the window, read as absolute, lies inside
// the time range; otherwise they are relative if the window, read as relative, lies
// inside. If neither does, overlapping the range is enough.
func (m *merger) placeWindows(absolute, relative span64, line int64) {
	w := &m.windows
	w.decided = true
	extent := span64{0, m.rng.duration}
	if !m.rng.set {
		extent.to = math.MaxInt64
	}
	inside := func(s span64) bool { return s.from >= extent.from && s.to <= extent.to }
	touches := func(s span64) bool { return s.to > extent.from && s.from < extent.to }
	switch {
	case inside(absolute):
	case inside(relative):
		w.relative = true
	case touches(absolute):
	case touches(relative):
		w.relative = true
	default:
		m.warn(warnWindowPlace, line, "absolute")
	}
}

// addWindow adds a window to each event of its stacks.
func (m *merger) addWindow(w *window) {
	for i := range w.rows {
		m.resolveRow(w, &w.rows[i])
	}
	if len(w.rows) == 0 && len(m.events) == 0 {
		m.warn(warnWindowEmpty, w.line, "")
		m.leaveOut(int(format.KindWindow), w.line)
		return
	}
	m.keep(format.KindWindow)
	if w.mended {
		m.repair(format.KindWindow, w.line)
	}
	m.shown++
	if len(w.rows) == 0 {
		m.b.AddWindow(0, w.id, w.start, w.end)
		return
	}
	slices.SortStableFunc(w.rows, func(a, b windowRow) int { return cmp.Compare(a.event, b.event) })
	for i := range w.rows {
		row := &w.rows[i]
		if i == 0 || row.event != w.rows[i-1].event {
			m.b.AddWindow(int(row.event), w.id, w.start, w.end)
		}
		m.addRow(w, row)
	}
}

func (m *merger) addRow(w *window, row *windowRow) {
	call, track, ctx := recording.NoCall, int32(recording.NoTrack), recording.ContextID(0)
	if row.record >= 0 {
		e := &m.ids.entries[row.id]
		r := &m.ids.records[row.record]
		call = r.call
		if e.first == e.last { // otherwise the row stands for all records of the id
			track, ctx = r.track, r.context
		}
	}
	values := m.weights(row.event, w.weights[row.weights.from:row.weights.to], w.line)
	m.b.AddWindowStack(int(row.event), call, int(track), ctx, values)
}

// resolveRow finds the stack and event of a row. Windows name no event, so the event is
// that of the stack. If the id has records of several events, the first event with the
// row's first metric is used.
func (m *merger) resolveRow(w *window, row *windowRow) {
	metric := uint32(0)
	if row.weights.from < row.weights.to {
		metric = w.weights[row.weights.from].metric
	}
	if row.hasID {
		e := &m.ids.entries[row.id]
		row.record = e.first
		n := 0
		for k := e.last; k >= 0 && n < mostScanned; k = m.ids.records[k].prev {
			if m.events[m.ids.records[k].event].has(metric) {
				row.record = k
			}
			n++
		}
	}
	if row.record >= 0 {
		row.event = m.ids.records[row.record].event
		return
	}
	if row.hasID {
		m.warn(warnWindowStack, w.line, m.missingID(row.id))
	} else {
		m.warn(warnWindowStack, w.line, "it has no stack_id")
	}
	for i := range m.events {
		if m.events[i].has(metric) {
			row.event = int32(i)
			return
		}
	}
	row.event = m.defaultEvent(w.line)
}

// has reports whether an event has a metric.
func (e *eventState) has(metric uint32) bool {
	for i := range e.metrics {
		if e.metrics[i].name == metric {
			return true
		}
	}
	return false
}

// flushWindows adds the deferred windows.
func (m *merger) flushWindows() {
	for i := range m.windows.waiting {
		m.addWindow(&m.windows.waiting[i])
		m.windows.waiting[i] = window{}
	}
	m.windows.waiting = nil
}
