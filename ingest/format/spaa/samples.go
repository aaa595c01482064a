package spaa

import (
	"ashlar/ingest/model/recording"
	format "ashlar/spaa"
)

// deferredSamples are samples that came before their stack record, in file order.
type deferredSamples struct {
	chunks [][]deferredSample
}

const deferredChunk = 4096

// deferredSample is a sample that waits for its stack. It copies the data that would not
// outlive the batch, and takes 48 bytes.
type deferredSample struct {
	at, period int64
	line       uint32
	id         uint32
	track      int32
	event      int32 // -1: not named
	comm       uint32
	cpu        int16
	decimals   int8 // decimals of period; -1: there is none
	flags      uint8
}

const (
	flagInexact  = 1 << iota // the period is not exact
	flagNoThread             // the sample names no thread
)

func (d *deferredSamples) add(s deferredSample) {
	if k := len(d.chunks); k == 0 || len(d.chunks[k-1]) == deferredChunk {
		d.chunks = append(d.chunks, make([]deferredSample, 0, deferredChunk))
	}
	last := &d.chunks[len(d.chunks)-1]
	*last = append(*last, s)
}

// sample adds a sample to its track, or keeps it until its stack is known.
func (m *merger) sample(mi *mirror, b *batch, s *sampleRec, line int64) {
	at, ok := m.time(s.time, b, line)
	if !ok {
		m.leaveOut(int(format.KindSample), line)
		return
	}
	ts := m.track(s.who)
	d := deferredSample{
		at: at, period: s.period.mant, line: uint32(line),
		track: ts.index, event: -1, comm: mi.name(s.who.comm), cpu: int16(s.cpu), decimals: -1,
	}
	if s.period.set {
		d.decimals = int8(s.period.dec)
	}
	if s.period.inexact {
		d.flags |= flagInexact
	}
	if !s.who.hasTID {
		d.flags |= flagNoThread
	}
	if d.comm != 0 {
		m.seen(ts, d.comm)
	}
	if s.event != 0 {
		d.event = m.event(mi.name(s.event), line)
	}
	m.keep(format.KindSample)
	m.shown++
	if s.id.form == formNone {
		m.placeSample(&d, ts, recording.NoCall)
		return
	}
	id := mi.ref(s.id)
	call, event, found := m.ids.named(id.word, id.form, m.seeker(&d, ts))
	if !found {
		d.id = m.ids.index(id.word, id.form)
		m.b.Cover(d.at, d.at)
		m.deferred.add(d)
		return
	}
	if d.event < 0 {
		d.event = event
	}
	m.placeSample(&d, ts, call)
}

func (m *merger) seeker(d *deferredSample, ts *trackState) seeker {
	s := seeker{event: d.event, track: d.track, process: ts.process, comm: d.comm}
	if d.flags&flagNoThread != 0 {
		s.track = recording.NoTrack
	}
	return s
}

// placeSample adds a sample whose call is known.
func (m *merger) placeSample(d *deferredSample, ts *trackState, call recording.CallID) {
	line := int64(d.line)
	if d.event < 0 {
		d.event = m.defaultEvent(line)
	}
	m.events[d.event].samples++
	k := -1
	if d.decimals < 0 {
		ev := &m.events[d.event]
		if ev.noPeriod++; ev.noPeriod == 1 || line < ev.noPeriodLine {
			ev.noPeriodLine = line
		}
	} else {
		if k = m.periodMetric(d.event); k < 0 {
			m.warn(warnSamplePeriod, line, quote(m.names.text[m.events[d.event].name]))
		}
	}
	// Every column gets a value, so that all columns stay as long as the list of samples.
	values := m.values[:0]
	for range m.events[d.event].columns {
		values = append(values, recording.Missing)
	}
	m.values = values
	if k >= 0 {
		n := number{mant: d.period, dec: uint8(d.decimals), set: true, inexact: d.flags&flagInexact != 0}
		values[k] = m.value(d.event, k, n, line)
	}
	ts.tb.Sample(int(d.event), d.at, call, int(d.cpu), values)
}

// periodMetric returns the metric that the period of an event's samples measures:
// "period", else the primary metric unless it counts samples, -1 if there is none.
func (m *merger) periodMetric(event int32) int {
	ev := &m.events[event]
	if ev.periodOf == len(ev.metrics) && ev.periodOf > 0 {
		return ev.period
	}
	if ev.periodOf == 0 && len(ev.metrics) == 0 {
		// No record declares a metric, so the samples' period becomes one.
		m.metric(event, m.names.id("period"), 0, 0)
	}
	ev.period, ev.periodOf = -1, len(ev.metrics)
	e := m.b.Event(int(event))
	if k := e.Metric("period"); k >= 0 {
		ev.period = k
	} else if k := e.Primary; !ev.metrics[k].count {
		ev.period = k
	}
	if ev.period >= 0 {
		e.Metrics[ev.period].PerSample = recording.SampleColumn
		ev.columns = max(ev.columns, ev.period+1)
	}
	return ev.period
}

// time converts the time of a sample; ok is false if it is too far from the start to be
// shown.
func (m *merger) time(n number, b *batch, line int64) (at int64, ok bool) {
	if m.clock == nil {
		m.warn(warnNoTimeRange, line, "")
		m.setClock("", decimal{n.mant, int(n.dec)}, line)
	}
	at, exact := m.clock.at(n.mant, int(n.dec), b.textOf(n))
	if !exact {
		m.warn(warnTimeFar, line, "")
		return 0, false
	}
	m.latest = max(m.latest, at)
	if at < m.earliest {
		m.earliest, m.earliestLine = at, line
	}
	return at, true
}

// clampTime moves a time that is too far away to the edge of the time range or, without one, of
// the samples so far. Otherwise it would shrink the rest of the timeline to a pixel.
func (m *merger) clampTime(at int64) int64 { return min(max(at, 0), max(m.latest, m.rng.duration)) }

// flushSamples adds the deferred samples, now that every stack is known.
func (m *merger) flushSamples() error {
	d := &m.deferred
	for i, chunk := range d.chunks {
		if m.ctx.Err() != nil {
			return m.ctx.Err()
		}
		for k := range chunk {
			s := &chunk[k]
			ts := m.byIndex[s.track]
			call := recording.NoCall
			if r := m.ids.find(s.id, m.seeker(s, ts), true); r >= 0 {
				call = m.ids.records[r].call
				if s.event < 0 {
					s.event = m.ids.records[r].event
				}
			} else {
				m.warn(warnSampleStack, int64(s.line), m.missingID(s.id))
			}
			m.placeSample(s, ts, call)
		}
		d.chunks[i] = nil
		m.flushWarnings()
		m.b.Progress()
	}
	d.chunks = nil
	return nil
}
