// Package pprof reads profiles in pprof's profile.proto, and the older text
// and binary profiles that pprof's own library still takes: heap, growth,
// contention, thread and count profiles and the binary CPU profiles of C++ and
// Java.
//
// Numbers agree with `go tool pprof -top` (see the tests): functions are one
// by name, as there, whatever files and binaries their lines lie in.
package pprof

import (
	"context"
	"fmt"
	"strings"

	"github.com/google/pprof/profile"

	"ashlar/ingest/codec"
	"ashlar/ingest/decode"
	"ashlar/ingest/recording"
	"ashlar/ingest/source"
)

// Format is pprof.
var Format = codec.Format{
	Name:       "pprof",
	Title:      "pprof",
	Holds:      "all sample types, labels, inlined frames; legacy profiles too",
	Extensions: []string{".pprof", ".pb", ".prof"},
	Sniff:      Sniff,
	Decode:     Decode,
	Encode:     &codec.Encoder{Extensions: []string{".pb", ".pprof"}, Packed: []string{".pprof"}, OneEvent: true, Write: write},
}

// maxContent bounds the uncompressed profile: the library needs all of it in
// memory, and about six times as much for what it makes of it.
const maxContent = 4 << 30

// Decode reads a profile into one event without a name whose metrics are the
// profile's sample types. Samples become stack records; where a label says
// when a sample was taken it stands on a timeline too.
func Decode(ctx context.Context, in *source.Input, b *recording.Builder, _ decode.Options) error {
	content, readErr := in.All(maxContent)
	if len(content) == 0 && readErr != nil {
		return readErr
	}
	p, all, err := read(content, b)
	if err != nil {
		if readErr != nil {
			return readErr
		}
		return err
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	c := &converter{b: b, p: p, samples: all}
	if err := c.convert(ctx); err != nil {
		return err
	}
	return readErr
}

// Convert puts a profile that was read otherwise into a recording, as Decode
// does. Its samples are used up.
func Convert(ctx context.Context, p *profile.Profile, b *recording.Builder) error {
	c := &converter{b: b, p: p, samples: &samples{all: p.Sample, count: len(p.Sample)}}
	return c.convert(ctx)
}

// converter carries a parsed profile over into a recording.
type converter struct {
	b       *recording.Builder
	p       *profile.Profile // without samples, which are in samples
	event   int
	samples *samples
	// frames of each location, outermost first; a location's ID is its index
	// here once number has run. nil where no stack needed it yet.
	frames [][]recording.FrameID
	files  map[recording.FuncID]string // the source file of each function
	// modules has the binary of each function's name.
	modules map[string]string
	labels  labels

	path  []*profile.Location // of the sample before, outermost first
	calls []recording.CallID  // after each location of path
}

func (c *converter) convert(ctx context.Context) error {
	c.checkSamples()
	c.number()
	c.dropFrames()
	c.describe()
	c.addEvent()
	c.frames = make([][]recording.FrameID, len(c.p.Location))
	c.files = map[recording.FuncID]string{}
	c.modules = c.findModules()
	c.labels.init(c.b, c.samples)
	return c.addSamples(ctx)
}

// checkSamples takes references to locations that do not exist out of the
// stacks.
func (c *converter) checkSamples() {
	warn := func(i, n int) {
		if n > 0 {
			c.b.Warn("location-missing", place(i), "Sample %d names %d locations that are not in the profile; its stack is shorter by them", i+1, n)
		}
	}
	for i, s := range c.samples.all {
		kept := s.Location[:0]
		for _, l := range s.Location {
			if l != nil {
				kept = append(kept, l)
			}
		}
		warn(i, len(s.Location)-len(kept))
		s.Location = kept
	}
	if c.samples.missing {
		c.samples.each(func(i int, s *oneSample) bool {
			warn(i, s.missing)
			return true
		})
	}
}

// number makes each location's ID its index, which tables can use.
func (c *converter) number() {
	for i, l := range c.p.Location {
		l.ID = uint64(i)
	}
}

// dropFrames takes the frames out that the profile asks not to be shown, just
// as pprof does: its recorders mark their own innermost frames so.
func (c *converter) dropFrames() {
	frames := func() int64 {
		n := c.samples.frames
		for _, s := range c.samples.all {
			for _, l := range s.Location {
				n += int64(max(1, len(l.Line)))
			}
		}
		return n
	}
	t := c.b.Tally("frame in a stack")
	t.Read = frames()
	if c.p.DropFrames != "" {
		if err := c.p.RemoveUninteresting(); err != nil {
			c.b.Warn("drop-frames", "", "The profile's own rule for frames to be hidden cannot be used, so all are shown: %v", err)
		}
	}
	t.Kept = t.Read
	if c.p.DropFrames != "" {
		t.Kept = frames()
	}
	if t.LeftOut = t.Read - t.Kept; t.LeftOut > 0 {
		t.FirstLeftOut = "by the profile's drop_frames"
	}
}

// describe carries over what the profile says about itself.
func (c *converter) describe() {
	if len(c.p.Mapping) > 0 {
		c.b.Source().Command = c.p.Mapping[0].File
	}
	src := c.b.Source()
	for _, text := range c.p.Comments {
		src.Note(recording.NoteComment, text)
	}
	src.Note(recording.NoteDoc, c.p.DocURL)
	if c.p.DurationNanos != 0 {
		src.Note(recording.NoteDuration, recording.NoteSeconds(c.p.DurationNanos))
	}
	src.Note(recording.NoteDrop, c.p.DropFrames)
	src.Note(recording.NoteKeep, c.p.KeepFrames)
	if c.p.TimeNanos != 0 {
		src.Note(recording.NoteTime, recording.NoteUnix(c.p.TimeNanos))
		*c.b.Clock() = recording.Clock{Unit: "ns", PerUnit: 1000, Origin: recording.Decimal{Mantissa: c.p.TimeNanos}}
	}
}

// addEvent makes the event and its metrics.
func (c *converter) addEvent() {
	e := recording.Event{Basis: recording.FromStacks, Mode: "period", Period: c.p.Period}
	if pt := c.p.PeriodType; pt != nil {
		switch pt.Type {
		case "cpu", "wall":
			e.Kind = "timer"
			if pt.Unit == "nanoseconds" && c.p.Period > 0 {
				e.Mode, e.Frequency = "frequency", 1e9/float64(c.p.Period)
			}
		case "space", "heap":
			e.Kind = "allocation"
		}
	}
	for _, st := range c.p.SampleType {
		e.Metrics = append(e.Metrics, recording.Metric{Name: st.Type, Unit: st.Unit, Kind: metricKind(st.Type)})
	}
	// The default, where none is named or the name is unknown, is the last.
	e.Primary, _ = c.p.SampleIndexByName("")
	c.event = c.b.AddEvent(e)
}

// metricKind tells states at a moment from what adds up over time. Profiles do
// not say; these are the names that the runtimes use.
func metricKind(name string) recording.MetricKind {
	switch {
	case strings.HasPrefix(name, "inuse_"), strings.HasPrefix(name, "live"), strings.HasPrefix(name, "goroutine"), name == "inuse":
		return recording.Level
	}
	return recording.Sum
}

// stride is how many samples pass between looks at the clock.
const stride = 4096

func (c *converter) addSamples(ctx context.Context) error {
	t := c.b.Tally("sample")
	metrics := len(c.p.SampleType)
	values := make([]int64, metrics)
	c.samples.each(func(i int, s *oneSample) bool {
		if i%stride == 0 {
			c.b.Progress()
			if ctx.Err() != nil {
				return false
			}
		}
		t.Read++
		t.Kept++
		if !c.values(i, &s.Sample, values) {
			t.Repaired++
			if t.FirstRepaired == "" {
				t.FirstRepaired = place(i)
			}
		}
		call := c.call(s.Location)
		track, ctxID := c.labels.of(c.samples, s)
		c.b.AddStack(c.event, call, track, ctxID, values)
		c.labels.sample(i, &s.Sample, c.event, call, track, values)
		if c.samples.all != nil {
			// The library's samples are large; let go of them as they are used.
			c.samples.all[i] = nil
			c.p.Sample[i] = nil
		}
		return true
	})
	return ctx.Err()
}

// values copies a sample's values; it reports false when it had to mend them.
func (c *converter) values(i int, s *profile.Sample, values []int64) bool {
	ok := true
	if len(s.Value) != len(values) {
		ok = false
		c.b.Warn("value-count", place(i), "Sample %d has %d values where the profile has %d sample types", i+1, len(s.Value), len(values))
	}
	metrics := c.b.Event(c.event).Metrics
	for m := range values {
		values[m] = recording.Missing
		if m >= len(s.Value) {
			continue
		}
		v, total := s.Value[m], metrics[m].Total
		if v > 0 && total+v < total || v < 0 && total+v > total || v == recording.Missing {
			ok = false
			c.b.Warn("value-too-large", place(i), "The %s of sample %d does not fit 64 bits together with those before and was left out", metrics[m].Name, i+1)
			continue
		}
		values[m] = v
	}
	return ok
}

// call interns a stack of locations, leaf first. Neighbouring samples often
// share their outer locations.
func (c *converter) call(leafFirst []*profile.Location) recording.CallID {
	n := len(leafFirst)
	same := 0
	for same < n && same < len(c.path) && c.path[same] == leafFirst[n-1-same] {
		same++
	}
	c.path, c.calls = c.path[:same], c.calls[:same]
	call := recording.NoCall
	if same > 0 {
		call = c.calls[same-1]
	}
	for i := n - 1 - same; i >= 0; i-- {
		l := leafFirst[i]
		for _, f := range c.location(l) {
			call = c.b.Call(call, f)
		}
		c.path = append(c.path, l)
		c.calls = append(c.calls, call)
	}
	return call
}

func place(i int) string { return fmt.Sprintf("sample %d", i+1) }
