package otlp

import (
	"context"
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"strings"

	"ashlar/ingest/format/decode"
	"ashlar/ingest/input/safetext"
	"ashlar/ingest/model/recording"
)

// converter converts messages to a recording.
type converter struct {
	b        *recording.Builder
	messages []*message
	profiles int
	spans    [][2]uint64 // times and durations of the profiles
	events   map[eventKey]int
	old      map[*profile]bool // profiles that a later one includes or replaces
	origin   int64             // ns since 1970
	timed    bool

	// State for the current message, resource, scope and profile.
	d         *dictionary
	frames    [][]recording.FrameID // by location
	calls     []recording.CallID    // by stack, NoCall until needed
	contexts  map[string]sampleContext
	outer     []recording.Attr // attributes of resource, scope and profile
	processes int              // number of resources without a pid so far
	home      process          // process of the current resource

	samples, profileTally *recording.Tally
	n                     int64 // samples so far
}

// eventKey identifies an event: profiles of the same kind belong together,
// whatever resource they come from.
type eventKey struct {
	typ, unit, periodType, periodUnit string
	period                            int64
}

// process is the process of a resource, from its attributes.
type process struct {
	pid  int64
	name string
}

// sampleContext is the context given by a sample's attributes.
type sampleContext struct {
	id    recording.ContextID
	track *recording.TrackBuilder
	// thread means that the track is a thread's, not a process's.
	thread bool
	cpu    int
}

func newConverter(b *recording.Builder, messages []*message) *converter {
	return &converter{
		b: b, messages: messages, events: map[eventKey]int{},
		samples: b.Tally("sample"), profileTally: b.Tally("profile"),
	}
}

func (c *converter) convert(ctx context.Context) error {
	c.findOrigin()
	c.supersede()
	for _, m := range c.messages {
		c.d = &m.dict
		c.frames = make([][]recording.FrameID, len(m.dict.locations))
		c.calls = make([]recording.CallID, len(m.dict.stacks))
		for i := range m.resources {
			if err := c.resource(ctx, &m.resources[i]); err != nil {
				return err
			}
		}
	}
	c.noteTimes()
	return nil
}

// farNS is the maximum distance of a time from the origin in nanoseconds. Distances up to
// farNS fit in 64 bits as picoseconds, with a margin.
const farNS = math.MaxInt64 / 2000

// findOrigin sets the recording's origin to the earliest time that is not implausibly far from
// the others.
func (c *converter) findOrigin() {
	var earliest, latest uint64
	each := func(do func(t uint64)) {
		c.eachSample(func(s *sample) {
			for _, t := range s.times {
				if t != 0 && t <= math.MaxInt64 {
					do(t)
				}
			}
		})
	}
	each(func(t uint64) {
		if !c.timed {
			c.timed, earliest, latest = true, t, t
		}
		earliest, latest = min(earliest, t), max(latest, t)
	})
	if latest-earliest > farNS {
		var times []int64
		each(func(t uint64) { times = append(times, int64(t)) })
		earliest = uint64(decode.Origin(times))
	}
	c.origin = int64(earliest)
	if !c.timed {
		for _, m := range c.messages {
			for i := range m.resources {
				for k := range m.resources[i].scopes {
					for _, p := range m.resources[i].scopes[k].profiles {
						if t := p.time; t > 0 && t <= math.MaxInt64 && (c.origin == 0 || int64(t) < c.origin) {
							c.origin = int64(t)
						}
					}
				}
			}
		}
	}
	if c.origin != 0 {
		*c.b.Clock() = recording.Clock{Unit: "ns", PerUnit: 1000, Origin: recording.Decimal{Mantissa: c.origin}}
	}
}

func (c *converter) eachSample(f func(*sample)) {
	for _, m := range c.messages {
		for i := range m.resources {
			for k := range m.resources[i].scopes {
				for p := range m.resources[i].scopes[k].profiles {
					samples := m.resources[i].scopes[k].profiles[p].samples
					for s := range samples {
						f(&samples[s])
					}
				}
			}
		}
	}
}

func (c *converter) resource(ctx context.Context, r *resource) error {
	attrs := c.attrs(nil, r.attrs)
	c.home = c.process(attrs)
	noteResource(c.b.Source(), attrs)
	if pid, ok := pidOf(attrs); ok {
		c.home.pid = pid
	} else {
		// Resources are different processes, or groups of processes. Those without a pid
		// get an unused number.
		c.processes++
		if c.home.pid = 0; c.processes > 1 {
			c.home.pid = int64(1 - c.processes)
		}
	}
	for i := range r.scopes {
		s := &r.scopes[i]
		outer := c.attrs(attrs[:len(attrs):len(attrs)], s.attrs)
		noteResource(c.b.Source(), outer[len(attrs):])
		if s.name != "" {
			c.b.Source().Tool = strings.TrimSpace(s.name + " " + s.version)
		}
		for k := range s.profiles {
			if err := c.profile(ctx, &s.profiles[k], outer); err != nil {
				return err
			}
		}
	}
	return nil
}

// profile adds a profile's samples to the event of its kind.
func (c *converter) profile(ctx context.Context, p *profile, outer []recording.Attr) error {
	c.profiles++
	c.profileTally.Read++
	if c.old[p] {
		c.profileTally.Leave(fmt.Sprintf("profile %d", c.profiles))
		return nil
	}
	c.profileTally.Kept++
	c.outer = outer[:len(outer):len(outer)]
	for _, i := range p.attrs {
		if !c.note(i) {
			c.outer = c.attr(c.outer, i)
		}
	}
	for _, i := range p.comments {
		c.b.Source().Note(recording.NoteComment, c.d.str(i))
	}
	c.spans = append(c.spans, [2]uint64{p.time, p.duration})
	c.contexts = map[string]sampleContext{}
	if p.payload > 0 {
		c.b.Remark("original-payload", "", "A profile also contains its original form (%s), which is not read", safetext.Plural(p.payload, "byte"))
	}
	if p.droppedAttrs > 0 {
		c.b.Usual("attributes-dropped", "", "The recorder dropped %d attributes of a profile", p.droppedAttrs)
	}
	event := c.event(p)
	for i := range p.samples {
		if i%1024 == 0 {
			c.b.Progress()
			if ctx.Err() != nil {
				return ctx.Err()
			}
		}
		c.sample(event, &p.samples[i])
	}
	return nil
}

// event returns the event of a profile, and adds it if it is new.
func (c *converter) event(p *profile) int {
	k := eventKey{c.d.str(p.sampleType), c.d.str(p.sampleUnit), c.d.str(p.periodType), c.d.str(p.periodUnit), p.period}
	i, ok := c.events[k]
	if !ok {
		metric := recording.Metric{Name: k.typ, Unit: k.unit, PerSample: recording.SampleOne}
		if metric.Name == "" {
			metric.Name = "samples"
		}
		if metric.Unit == "" {
			metric.Unit = "count"
		}
		if level(k.typ) {
			metric.Kind = recording.Level
		}
		e := recording.Event{Name: metric.Name, Basis: recording.FromStacks, Mode: "period", Period: p.period, PeriodType: k.periodType, PeriodUnit: k.periodUnit, Metrics: []recording.Metric{metric}}
		if k.periodType == "cpu" {
			e.Kind = "timer"
			if k.periodUnit == "nanoseconds" && p.period > 0 {
				e.Mode, e.Frequency = "frequency", 1e9/float64(p.period)
			}
		}
		i = c.b.AddEvent(e)
		c.events[k] = i
	}
	if m := &c.b.Event(i).Metrics[0]; m.PerSample == recording.SampleOne {
		for s := range p.samples {
			if len(p.samples[s].values) > 0 {
				m.PerSample = recording.SampleColumn
				break
			}
		}
	}
	return i
}

// sample adds a sample as a stack record, and as a timeline sample for each timestamp.
func (c *converter) sample(event int, s *sample) {
	c.n++
	c.samples.Read++
	place := fmt.Sprintf("sample %d", c.n)
	if len(s.values) == 0 && len(s.times) == 0 {
		c.samples.LeftOut++
		if c.samples.FirstLeftOut == "" {
			c.samples.FirstLeftOut = place
		}
		c.b.Warn("sample-empty", place, "Sample %d has neither values nor timestamps and was left out", c.n)
		return
	}
	c.samples.Kept++
	repaired := false
	var sum int64
	var own recording.Wide
	if len(s.values) == 0 {
		sum = int64(len(s.times))
	}
	for _, v := range s.values {
		own.Add(v)
	}
	if len(s.values) > 0 {
		var exact bool
		if sum, exact = own.Limited(), own.Exact(); !exact {
			repaired = true
			c.b.Warn("value-too-large", place, "The values of sample %d add up to a number beyond ±(2^63 − 1), which was limited", c.n)
		}
	}
	if len(s.values) > 0 && len(s.times) > 0 && len(s.values) != len(s.times) {
		repaired = true
		c.b.Warn("values-and-times", place, "Sample %d has %s but %s", c.n, safetext.Plural(len(s.values), "value"), safetext.Plural(len(s.times), "timestamp"))
	}
	call, ok := c.call(s.stack)
	if !ok {
		repaired = true
		c.b.Warn("stack-missing", place, "Sample %d refers to a stack or location that is not in the dictionary", c.n)
	}
	x := c.context(s)
	track := recording.NoTrack
	if x.thread || len(s.times) > 0 {
		track = x.track.Index()
	}
	c.b.AddStack(event, call, track, x.id, []int64{sum})
	for i, t := range s.times {
		at := int64(t) - c.origin
		if t == 0 || t > math.MaxInt64 || at > farNS || at < -farNS {
			repaired = true
			c.b.Warn("time-too-far", place, "A timestamp of sample %d (%d) is too far from the others; it is not on the timeline", c.n, t)
			continue
		}
		v := int64(1)
		if i < len(s.values) {
			v = s.values[i]
		} else if len(s.values) > 0 {
			v = recording.Missing
		}
		x.track.Sample(event, at*1000, call, x.cpu, []int64{v})
	}
	if repaired {
		c.samples.Repaired++
		if c.samples.FirstRepaired == "" {
			c.samples.FirstRepaired = place
		}
	}
}

// attrs resolves attributes and appends them.
func (c *converter) attrs(dst []recording.Attr, in []attribute) []recording.Attr {
	for i := range in {
		dst = append(dst, c.resolve(&in[i]))
	}
	return dst
}

// attr appends entry i of the attribute table.
func (c *converter) attr(dst []recording.Attr, i int32) []recording.Attr {
	if i < 0 || int(i) >= len(c.d.attrs) {
		c.b.Warn("attribute-missing", "", "Attribute %d is used but not in the dictionary", i)
		return dst
	}
	if a := c.resolve(&c.d.attrs[i]); a.Key != "" {
		dst = append(dst, a)
	}
	return dst
}

func (c *converter) resolve(a *attribute) recording.Attr {
	v := a.value.string(c.d)
	if unit := c.d.str(a.unitIdx); unit != "" {
		v += " " + unit
	}
	return recording.Attr{Key: a.name(c.d), Value: v}
}

// context interns the attributes of a sample, its profile, scope and resource, and finds
// its thread.
func (c *converter) context(s *sample) sampleContext {
	key := make([]byte, 0, 64)
	for _, i := range s.attrs {
		key = strconv.AppendInt(append(key, ','), int64(i), 10)
	}
	key = strconv.AppendInt(append(key, '/'), int64(s.link), 10)
	if x, ok := c.contexts[string(key)]; ok {
		return x
	}
	var own []recording.Attr
	for _, i := range s.attrs {
		own = c.attr(own, i)
	}
	x := c.thread(own)
	all := append(c.outer[:len(c.outer):len(c.outer)], own...)
	if s.link > 0 && int(s.link) < len(c.d.links) {
		l := &c.d.links[s.link]
		all = append(all, recording.Attr{Key: "trace_id", Value: hex.EncodeToString(l.trace)}, recording.Attr{Key: "span_id", Value: hex.EncodeToString(l.span)})
	}
	x.id = c.b.Context(all)
	c.contexts[string(key)] = x
	return x
}

// thread finds the track of a sample by its attributes.
func (c *converter) thread(own []recording.Attr) sampleContext {
	x := sampleContext{cpu: -1}
	p := c.process(own)
	if pid, ok := pidOf(own); ok {
		p.pid = pid
	} else {
		p.pid = c.home.pid
		if p.name == "" {
			p.name = c.home.name
		}
	}
	k := recording.TrackKey{PID: p.pid}
	name := get(own, "thread.name")
	if tid, err := strconv.ParseInt(get(own, "thread.id"), 10, 64); err == nil {
		k.TID, x.thread = tid, true
	} else if name != "" {
		k.Name, x.thread = name, true
	}
	if cpu, err := strconv.ParseInt(get(own, "cpu.logical_number"), 10, 32); err == nil {
		x.cpu = int(cpu)
	}
	x.track = c.b.Track(k)
	if x.track.Name() == "" {
		x.track.SetName(name)
	}
	if info := c.b.ProcessInfo(c.b.Process(p.pid)); p.name != "" && (info.Name == "" || info.Name == c.home.name) {
		info.Name = p.name
	}
	return x
}

// process returns a process named after its attributes: the executable, else the service,
// else the container.
func (c *converter) process(attrs []recording.Attr) (p process) {
	for _, key := range []string{"process.executable.name", "service.name", "container.id"} {
		if p.name = get(attrs, key); p.name != "" {
			if key == "container.id" && len(p.name) > 12 {
				p.name = p.name[:12]
			}
			break
		}
	}
	return p
}

func pidOf(attrs []recording.Attr) (int64, bool) {
	pid, err := strconv.ParseInt(get(attrs, "process.pid"), 10, 64)
	return pid, err == nil
}

func get(attrs []recording.Attr, key string) string {
	for _, a := range attrs {
		if a.Key == key {
			return a.Value
		}
	}
	return ""
}
