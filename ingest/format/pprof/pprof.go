// Package pprof reads pprof profiles (profile.proto) and the legacy formats that pprof's
// own library accepts: text profiles of heap, growth, contention and threads, and the
// binary CPU profiles of C++ and Java.
//
// Numbers agree with `go tool pprof -top` (see the tests): as there, functions are
// identified by name alone, across files and binaries.
package pprof

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/google/pprof/profile"

	"ashlar/ingest/format/codec"
	"ashlar/ingest/format/decode"
	"ashlar/ingest/input/safetext"
	"ashlar/ingest/input/source"
	"ashlar/ingest/model/recording"
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

// maxContent limits the uncompressed size of a profile, which must fit in memory.
const maxContent = 4 << 30

// Decode reads a profile into one unnamed event whose metrics are the profile's sample
// types. Samples become stack records; samples whose labels have a time are also on a
// timeline.
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
	c := &converter{b: b, p: p, samples: all, name: in.Path}
	if err := c.convert(ctx); err != nil {
		return err
	}
	return readErr
}

// Convert adds a profile that the caller has parsed to a recording, as Decode does. It
// consumes the profile's samples.
func Convert(ctx context.Context, p *profile.Profile, b *recording.Builder) error {
	c := &converter{b: b, p: p, samples: librarySamples(p), name: "profile"}
	return c.convert(ctx)
}

// converter copies a parsed profile to a recording.
type converter struct {
	b       *recording.Builder
	p       *profile.Profile // its samples are in samples
	name    string           // name of the file, for errors
	event   int
	related related
	samples *samples
	// frames holds the frames of each location, outermost first; nil until a stack needs
	// them. After a call of number, a location's ID is its index in frames.
	frames [][]recording.FrameID
	files  map[recording.FuncID]string // the source file of each function
	mapped map[*profile.Mapping]uint16
	// modules maps each function name to its binary.
	modules map[string]string
	labels  labels
	active  []int32             // buffer of lookUp
	rest    []recording.FrameID // buffer of newCalls
}

func (c *converter) convert(ctx context.Context) error {
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

// number sets each location's ID to its index, for use in slices.
func (c *converter) number() {
	for i, l := range c.p.Location {
		l.ID = uint64(i)
	}
}

// dropFrames finds the frames that the profile asks to hide, usually the innermost frames
// of the recorder itself. To ask pprof's library about a location, it puts the location
// between two others that stay.
func (c *converter) dropFrames() {
	c.p.Sample = nil
	if c.p.DropFrames == "" {
		return
	}
	n := uint64(len(c.p.Location))
	below, above := &profile.Location{ID: n}, &profile.Location{ID: n + 1}
	for _, l := range c.p.Location {
		c.p.Sample = append(c.p.Sample, &profile.Sample{Location: []*profile.Location{below, l, above}})
	}
	if err := c.p.RemoveUninteresting(); err != nil {
		c.p.Sample = nil
		c.b.Warn("drop-frames", "", "The profile's drop_frames is not a valid expression, so all frames are shown: %v", err)
		return
	}
	c.samples.hides = make([]hidden, n)
	for i, s := range c.p.Sample {
		left := len(s.Location)
		c.samples.hides[i] = hidden{on: left < 3, whole: left < 2, shown: int32(max(1, len(c.p.Location[i].Line)))}
	}
	c.p.Sample = nil
}

// describe copies the profile's metadata.
func (c *converter) describe() {
	if len(c.p.Mapping) > 0 {
		c.b.Source().Command = c.p.Mapping[0].File
	}
	c.mapped = map[*profile.Mapping]uint16{}
	for _, m := range c.p.Mapping {
		c.mapped[m] = c.b.Mapping(recording.Mapping{
			Start: m.Start, Limit: m.Limit, Offset: m.Offset, File: m.File, BuildID: m.BuildID,
			HasFunctions: m.HasFunctions, HasFilenames: m.HasFilenames, HasLineNumbers: m.HasLineNumbers, HasInlineFrames: m.HasInlineFrames,
		})
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
		e.PeriodType, e.PeriodUnit = pt.Type, pt.Unit
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
	// If the profile names no default metric, or an unknown one, the default is the last
	// metric.
	e.Primary, _ = c.p.SampleIndexByName("")
	if said := c.p.DefaultSampleType; said != "" && len(e.Metrics) > 0 && !slices.ContainsFunc(e.Metrics, func(m recording.Metric) bool { return m.Name == said }) {
		c.b.Remark("default-type", "", "The profile's default sample type %s is not one of its types; the default is %s", safetext.Short(said), safetext.Short(e.Metrics[e.Primary].Name))
	}
	c.event = c.b.AddEvent(e)
	c.related = relatedOf(c.b.Event(c.event).Metrics, c.p)
}

// metricKind distinguishes levels at a moment from sums over time. Profiles do not say
// which they have; these are the names that runtimes use.
func metricKind(name string) recording.MetricKind {
	switch {
	case strings.HasPrefix(name, "inuse_"), strings.HasPrefix(name, "live"), strings.HasPrefix(name, "goroutine"), name == "inuse":
		return recording.Level
	}
	return recording.Sum
}

func (c *converter) addSamples(ctx context.Context) error {
	frames, t := c.b.Tally(recording.TallyFrames), c.b.Tally("sample")
	values := make([]int64, len(c.p.SampleType))
	return c.samples.batches(ctx, c.name, func(b *batch) {
		c.b.Progress()
		frames.Read += b.frames
		frames.Kept += b.frames - b.hidden
		if frames.LeftOut += b.hidden; b.hidden > 0 {
			frames.FirstLeftOut = "by the profile's drop_frames"
		}
		c.lookUp(b)
		for i := range b.rows {
			one := &b.rows[i]
			if one.damaged >= 0 {
				c.leaveOut(one)
				continue
			}
			if one.missing > 0 {
				c.b.Warn("location-missing", place(one.n), "Sample %d refers to %s not in the profile; its stack is shorter", one.n+1, safetext.Plural(one.missing, "location"))
			}
			t.Read++
			t.Kept++
			if !c.values(one.n, b.values[one.values:][:one.count], values) {
				t.Repaired++
				if t.FirstRepaired == "" {
					t.FirstRepaired = place(one.n)
				}
			}
			call := c.call(b, one)
			l := c.labels.of(b, one)
			c.b.AddStack(c.event, call, l.track, l.ctx, values)
			c.labels.sample(one.n, &l, c.event, call, values)
		}
	})
}

// leaveOut counts an unreadable sample and warns about it.
func (c *converter) leaveOut(one *record) {
	t := damagedFields(c.b, c.samples.fields)
	t.Kept--
	leaveOut(t, one.damaged)
	c.b.Warn("damaged-field", byteAt(one.damaged), "Field %d of the profile at byte %d is damaged and left out", fieldSample, one.damaged)
}

// values copies a sample's values. It returns false if it had to repair them.
func (c *converter) values(i int, given, values []int64) bool {
	ok := true
	if len(given) != len(values) {
		ok = false
		c.b.Warn("value-count", place(i), "Sample %d has %s, but the profile has %s", i+1, safetext.Plural(len(given), "value"), safetext.Plural(len(values), "sample type"))
	}
	metrics := c.b.Event(c.event).Metrics
	for m := range values {
		values[m] = recording.Missing
		if m >= len(given) {
			continue
		}
		values[m] = given[m]
		if given[m] == recording.Missing { // the only number that the recording cannot hold
			ok = false
			values[m]++
			c.b.Warn("value-too-large", place(i), "Metric %s of sample %d is −2^63 and was limited to −2^63 + 1", metrics[m].Name, i+1)
		}
	}
	c.contradictions(i, values)
	return ok
}

func place(i int) string { return fmt.Sprintf("sample %d", i+1) }
