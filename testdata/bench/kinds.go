//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"ashlar/testdata/gen/synth"
)

// kind is a format of recordings and the targets for reading it.
type kind struct {
	name, title string // name is the prefix of the names of its rows
	target      string // the targets as text, for the page
	// met is the ratio of the speed to the target speed, nil without a target.
	met     func(r *reading) float64
	picture float64           // the target for the first picture, in ms
	bounds  map[string]string // why a target is missed, from profiles: see reading.missed
	count   func(c *counted) (n int64, unit string)
}

// subject is a recording to measure.
type subject struct {
	recording
	name, what string
	rich       bool // see [reading.Rich]
}

// counted holds what info reports about a recording.
type counted struct {
	Counts struct{ Spans, Samples, Stacks int64 }
	Ledger []struct{ Read int64 }
}

func (c *counted) spans() (int64, string) { return c.Counts.Spans, "spans" }

func (c *counted) events() (n int64, unit string) {
	for _, t := range c.Ledger {
		n += t.Read
	}
	return n, "events"
}

func (c *counted) samples() (int64, string) { return max(c.Counts.Samples, c.Counts.Stacks), "samples" }

// most returns the largest count in a recording, with its unit.
func (c *counted) most() (int64, string) {
	spans, unit := c.spans()
	if samples, other := c.samples(); samples > spans {
		return samples, other
	}
	return spans, unit
}

// Targets for pictures in the window.
const (
	soon       = 200 // ms to the first picture
	soonBehind = 400 // the same, for formats with names at the end of the file
	longest    = 200 // ms between pictures while loading
)

// Targets for Chrome JSON in any shape. Reading must reach one of the two speeds, stay below the
// memory, and be validTimes times as fast as json.Valid. The best shape has its own speed.
const (
	chromeEvents = 4e6 // per second
	chromeBytes  = 400 * mega
	bestBytes    = 800 * mega
	validTimes   = 2
	memoryBeside = 256 * mega // in addition to the recording
	perSpan      = 24
	perPath      = 40 // in recordings with many call paths
)

// inOrder explains why reading events is less than twice as fast as json.Valid.
const inOrder = "Both cores share the parsing, which is half of the work; adding events to the recording, the other half, runs in order on one core. json.Valid only parses."

// mesa explains the time to first pictures without a graphics card; from perf record.
const mesa = "The window itself, before any recording is drawn, needs 0.11 to 0.14 s of it here (0.4 to 0.6 s on slower machines), mostly to load Mesa and compile shaders, on one of the two cores that read."

// manySums explains late pictures of recordings with millions of calls; from perf record.
const manySums = "With millions of calls, each snapshot copies their sums, 16 bytes a call, on the core that builds the recording, a sixth of all work; the flamegraph of what was read takes as much time as reading."

// everyKind explains misses that have the same reason in all kinds; from perf record, and
// from a program that touches each page of 1 GB.
var everyKind = map[string]string{
	"pictures": manySums,
	"kernel":   "Most of it is the first touch of pages, which takes 1.5 µs here, and 9 µs in memory that the virtual machine has not used before.",
	"picture":  mesa,
}

var kinds = []*kind{
	{name: "file", title: "Recordings that other programs wrote", picture: soon, count: (*counted).most,
		target: "First picture within 200 ms and a new one every 200 ms while loading. Chrome JSON of more than 20 MB also has the targets of the next section.",
		bounds: map[string]string{"speed": "Chromium's events are twice as long as generated ones, mostly because of their arguments. Arguments are scanned byte by byte for quotes and brackets, once to read the event and once for its thread clock. Samples come in thousands of chunks, which the core that builds the recording has to parse.",
			besideValid: inOrder,
			"picture":   mesa + " perf's samples are not sorted and get their names only after the recorded binaries have been read. V8 writes sample times at the end of the file, so a Node profile appears only when it is complete."}},
	{name: "chrome", title: "Chrome JSON", picture: soon, count: (*counted).events, met: chromeMet,
		target: "4 M events/s or 400 MB/s (800 MB/s for the best shape), half the time of json.Valid on one core, and at most 256 MB of memory plus 24 bytes per span and, with many call paths, 40 per path.",
		bounds: map[string]string{"speed": "The scanner, half of the work, runs on all cores; one core adds its results to the recording, and one core sorts unordered events at the end. Rows with few busy cores are limited by that core, the others by branches at quotes and commas.",
			besideValid: inOrder,
			"pictures":  "A snapshot of 2,000 threads takes 11 to 15 ms on the core that builds the recording, so there is one every 150 ms, which is then drawn. With few threads, a picture is late when it is due while both cores decode. " + manySums,
			"memory":    "A name for each span takes 500 bytes of the memory: the text, a function, a frame and a call, and the tables that find them."}},
	{name: "spall1", title: "spall v1", picture: soon, count: (*counted).spans,
		met:    func(r *reading) float64 { return min(r.rate()/30e6, r.bytesRate()/2e9) },
		target: "30 M spans/s and 2 GB/s.",
		bounds: map[string]string{"speed": "One core finds record boundaries and calls, which depend on the record before; the other adds spans to lanes. The first waits for memory, because the tables of names and calls exceed the cache. With nearly as many call paths as spans, each span is looked up in a tree of hundreds of megabytes, not found, and added."}},
	{name: "spall3", title: "spall v3", picture: soon, count: (*counted).spans,
		met:    func(r *reading) float64 { return r.rate() / 35e6 },
		target: "35 M spans/s.",
		bounds: map[string]string{"speed": "The same two stages as in spall v1. Small buffers and delta-encoded times have to be read byte by byte."}},
	{name: "spaa", title: "SPAA", picture: soon, count: (*counted).samples, met: spaaMet,
		target: "1 GB/s; with zstd, 1.4 times the time of decompression.",
		bounds: map[string]string{"speed": "All cores parse records, which is half of the work; one core adds them to the recording. With zstd, which decompresses on one core, the records still take several times as long as decompression.",
			"picture": mesa + " Frames and stacks precede samples in the file: with 200,000 frames, nothing can be drawn until all of them are read."}},
	{name: "pprof", title: "pprof", picture: soonBehind, count: (*counted).samples,
		met:    func(r *reading) float64 { return r.BesideSeconds / 2 / r.Seconds },
		target: "Half the time that the library google/pprof/profile needs to parse the file.",
		bounds: map[string]string{"speed": "Each unique label makes a context, and each unique stack makes new calls; the library builds neither. gzip decompresses on one core, and strings and locations follow the samples in the file.",
			"picture":  mesa + " Names are strings at the end of the file, so no sample has a name before all of it is decompressed.",
			"pictures": "Partial results are summed on the same cores that read and draw. Trees of stacks with hundreds of locations take three times as much CPU time as reading them."}},
	{name: "folded", title: "Folded stacks", picture: soon, count: (*counted).samples,
		met:    func(r *reading) float64 { return 1 / r.Seconds },
		target: "1 s.",
		bounds: map[string]string{
			"pictures": "Trees of stacks with hundreds of frames take three times as much CPU time as reading them, and up to 50 ms to lay out, on the same cores that read and draw."}},
}

// chromeMet returns the better of the two ratios of speed to target. Compressed input
// counts at its full size.
func chromeMet(r *reading) float64 {
	return max(r.rate()/chromeEvents, r.bytesRate()/chromeBytes)
}

func spaaMet(r *reading) float64 {
	if r.Packed {
		return 1.4 * r.BesideSeconds / r.Seconds
	}
	return r.bytesRate() / 1e9
}

// sizes holds the sizes of the recordings of each kind: first a recording in the usual
// shape, to which all other figures refer, then recordings in the other shapes.
var sizes = map[string]struct {
	usual  recording
	others synth.Options
}{
	"chrome": {chrome, synth.Options{Bytes: 200_000_000}},
	"spall1": {spall1, synth.Options{Records: 10_000_000}},
	"spall3": {spall3, synth.Options{Records: 20_000_000}},
	"spaa":   {spaa, synth.Options{Bytes: 200_000_000}},
	"pprof":  {pprof, synth.Options{Records: 400_000, Bytes: 10_000_000}},
	"folded": {folded, synth.Options{Bytes: 130_000_000}},
}

// subjectsOf returns the generated recordings of a kind, in every shape.
func subjectsOf(name string) (all []subject) {
	size := sizes[name]
	for _, shape := range synth.Shapes(name) {
		s := subject{recording: size.usual, name: name, what: synth.ShapeIs(name, shape)}
		if shape != "" {
			s.name += "/" + shape
			s.options = size.others
			s.options.Kind, s.options.Shape = name, shape
		}
		s.rich = synth.ManyPaths(shape)
		switch {
		case s.name == "chrome/paths":
			s.recording = chromePaths
		case s.name == "pprof/paths":
			s.recording = pprofPaths
		}
		all = append(all, s)
	}
	switch name {
	case "pprof":
		more := subject{recording: pprofPaths, name: "pprof/more-paths", what: "2 million of these stacks", rich: true}
		more.options.Records = 2_000_000
		all = append(all, more)
	case "chrome":
		packed := all[0]
		packed.name, packed.what, packed.gzip = "chrome/gzip", "the first, with gzip", true
		packed.options.Bytes = size.others.Bytes
		all = append(all, packed)
	case "spaa":
		all = append(all, subject{recording: spaaZ, name: "spaa/zstd", what: "the first, with zstd"})
	}
	return all
}

// readings returns the rows for reading: one for each generated recording and one for the
// given files.
func readings() (all []row) {
	for _, k := range kinds {
		if k.name == "file" {
			all = append(all, row{k.name, func(b *bench) ([]result, error) { return b.files(k) }})
			continue
		}
		for _, s := range subjectsOf(k.name) {
			all = append(all, row{s.name, func(b *bench) ([]result, error) {
				f, err := b.get(s.recording)
				if err != nil {
					return nil, err
				}
				return b.reading(k, s.what, s.rich, f)
			}})
		}
	}
	return all
}

// files measures recordings written by other programs.
func (b *bench) files(k *kind) (out []result, err error) {
	err = eachGiven(b.given, func(name string, f *file) error {
		x, err := b.reading(k, name, false, f)
		out = append(out, x...)
		return err
	})
	return out, err
}

// eachGiven visits the recordings in list: NAME=PATH or PATH, separated by commas. An
// error in one does not stop the others.
func eachGiven(list string, visit func(name string, f *file) error) error {
	var failed []error
	for given := range strings.SplitSeq(list, ",") {
		if given == "" {
			continue
		}
		name, path, named := strings.Cut(given, "=")
		if !named {
			name, path = filepath.Base(given), given
		}
		info, err := os.Stat(path)
		if err == nil {
			err = visit(name, &file{path: path, bytes: info.Size()})
		}
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", name, err))
		}
	}
	return errors.Join(failed...)
}

func kindOf(name string) *kind {
	for _, k := range kinds {
		if k.name == name {
			return k
		}
	}
	return nil
}
