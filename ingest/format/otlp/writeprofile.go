package otlp

import (
	"crypto/sha256"
	"slices"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"

	"ashlar/ingest/format/encode"
	"ashlar/ingest/format/encode/sums"
	"ashlar/ingest/model/recording"
)

// timeKey identifies a stack of a thread.
type timeKey struct {
	track int32
	call  recording.CallID
}

// timedStack lists the samples of a stack on a thread.
type timedStack struct{ samples []int32 }

// timesOf groups the samples of an event.
func (w *otlpWriter) timesOf(event int) map[timeKey]*timedStack {
	times := map[timeKey]*timedStack{}
	for ti, t := range w.Rec.Tracks {
		s := t.SamplesOf(event)
		if s == nil {
			continue
		}
		for i := range s.Len() {
			k := timeKey{int32(ti), s.Call(i)}
			if times[k] == nil {
				times[k] = new(timedStack)
			}
			times[k].samples = append(times[k].samples, int32(i))
		}
	}
	return times
}

// otlpProfile is a metric of an event in a process.
type otlpProfile struct {
	*otlpWriter
	event, metric int
	rows          *sums.Rows
	times         map[timeKey]*timedStack
	round         *encode.Rounder
	resource      *otlpResource
	body          []byte
}

func (p *otlpProfile) message(which []int) ([]byte, error) {
	rec, d := p.Rec, p.dict
	ev := &rec.Events[p.event]
	m := &ev.Metrics[p.metric]
	p.body = pbBytes(p.body, 1, d.valueType(encode.PprofMetric(m.Name), encode.PprofUnit(m.Unit)))
	several := map[timeKey]int{}
	for _, i := range which {
		k := p.rows.Keys[i]
		several[timeKey{k.Track, k.Call}]++
	}
	var lost int64
	for _, i := range which {
		k := p.rows.Keys[i]
		s := p.times[timeKey{k.Track, k.Call}]
		if s != nil && (several[timeKey{k.Track, k.Call}] > 1 || !p.timed(k, s, p.rows.At(i)[p.metric])) {
			if m.PerSample != recording.SampleNone {
				lost += int64(len(s.samples))
				s.samples = s.samples[:0] // count them as lost only once
			}
			s = nil
		}
		if s != nil && len(s.samples) > 0 {
			p.withTimes(k, s)
		} else {
			p.sample(k, -1, []int64{p.round.Value(p.rows.At(i)[p.metric])}, nil)
		}
		if err := p.Tick(1); err != nil {
			return nil, err
		}
	}
	p.Lose(lost, "sample times", "the timed values do not add up to the stack's total, or several contexts share them; only the total is written")
	b := p.when(p.body)
	typ, unit, period := encode.SamplingPeriod(ev)
	if period != 0 || ev.Name != "" || ev.PeriodType != "" || ev.PeriodUnit != "" {
		b = pbBytes(b, 5, d.valueType(typ, unit))
		b = pbNumber(b, 6, period)
	}
	id := sha256.Sum256(append(strconv.AppendInt(nil, int64(p.resource.process), 10), b...))
	b = pbBytes(b, 7, id[:16])
	attrs := p.notes()
	if ev.Name != "" && ev.Name != m.Name {
		attrs = append(attrs, d.attr("event.name", anyText(ev.Name)))
	}
	return pbPacked(b, 11, attrs), nil
}

// when appends the time and duration of the recording.
func (p *otlpProfile) when(b []byte) []byte {
	rec := p.Rec
	if rec.HasTime {
		if _, ok := p.WallClock(rec.Start); ok {
			b = pbFixed(b, 3, p.unix(rec.Start))
		}
		b = pbNumber(b, 4, rec.Duration()/1000)
	} else {
		if at, ok := p.WallClock(0); ok {
			b = pbFixed(b, 3, uint64(at))
		} else if times := rec.Source.NotesOf(recording.NoteTime); len(times) > 0 && encode.UnixOf(times[0]) > 0 {
			b = pbFixed(b, 3, uint64(encode.UnixOf(times[0])))
		}
		for _, v := range rec.Source.NotesOf(recording.NoteDuration) {
			if ns, ok := recording.NoteNanos(v); ok {
				b = pbNumber(b, 4, ns)
				break
			}
		}
	}
	return b
}

// timed reports whether the samples of a stack add up to its value.
func (p *otlpProfile) timed(k sums.Key, s *timedStack, value int64) bool {
	m := &p.Rec.Events[p.event].Metrics[p.metric]
	l := p.Rec.Tracks[k.Track].SamplesOf(p.event)
	var sum int64
	for _, i := range s.samples {
		v := l.Value(int(i), m, p.metric)
		if v == recording.Missing {
			return false
		}
		recording.Add(&sum, v)
	}
	return sum == value
}

// withTimes writes the samples of a stack as one message per processor.
func (p *otlpProfile) withTimes(k sums.Key, s *timedStack) {
	m := &p.Rec.Events[p.event].Metrics[p.metric]
	l := p.Rec.Tracks[k.Track].SamplesOf(p.event)
	var cpus []int
	for _, i := range s.samples {
		if cpu := l.CPU(int(i)); !slices.Contains(cpus, cpu) {
			cpus = append(cpus, cpu)
		}
	}
	for _, cpu := range cpus {
		var values []int64
		var times []uint64
		for _, i := range s.samples {
			if l.CPU(int(i)) == cpu {
				values = append(values, p.round.Value(l.Value(int(i), m, p.metric)))
				times = append(times, p.unix(l.Time(int(i))))
			}
		}
		p.sample(k, cpu, values, times)
	}
}

// unix converts a time of the recording to a time of the file.
func (w *otlpWriter) unix(t int64) uint64 {
	ns, rest := w.clock.At(t)
	if rest != 0 {
		w.fine++
	}
	return uint64(ns) + w.shift
}

func (p *otlpProfile) sample(k sums.Key, cpu int, values []int64, times []uint64) {
	x := p.context(otlpContextKey{p.resource.process, k.Track, k.Ctx, cpu}, p.resource)
	b := pbNumber(nil, 1, int64(p.dict.stack(k.Call)))
	b = pbPacked(b, 2, x.attrs)
	b = pbNumber(b, 3, int64(x.link))
	var packed []byte
	for _, v := range values {
		packed = protowire.AppendVarint(packed, uint64(v))
	}
	b = pbBytes(b, 4, packed)
	if len(times) > 0 {
		packed = packed[:0]
		for _, t := range times {
			packed = protowire.AppendFixed64(packed, t)
		}
		b = pbBytes(b, 5, packed)
	}
	p.body = pbBytes(p.body, 2, b)
	p.Records++
}
