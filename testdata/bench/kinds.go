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

// kind is a format of recordings, and what is asked of reading them.
type kind struct {
	name, title string // name begins those of its rows
	asked       string // in words, as the page has it
	// share is how much of the asked speed there is: 1 is enough. It is nil where none
	// is asked.
	share   func(r *reading) float64
	picture float64           // within how many ms there has to be one
	bounds  map[string]string // why something is missed, as profiles say: see reading.missed
	count   func(c *counted) (n int64, unit string)
}

// subject is a recording that is measured.
type subject struct {
	recording
	name, what string
}

// counted is what info says is in a recording.
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

// most counts what a recording has most of.
func (c *counted) most() (int64, string) {
	spans, unit := c.spans()
	if samples, other := c.samples(); samples > spans {
		return samples, other
	}
	return spans, unit
}

// What is asked of a picture in the window.
const (
	soon       = 200 // ms until the first one
	soonBehind = 400 // where what has to be known first stands behind all else
	longest    = 200 // ms until the next one, while there is more to come
)

// What is asked of Chrome JSON in any shape: one of the speeds, the memory, and that
// json.Valid takes as many times as long. The best shape has a speed of its own.
const (
	chromeEvents = 4e6 // a second
	chromeBytes  = 400 * mega
	bestBytes    = 800 * mega
	validTimes   = 2
	memoryBeside = 256 * mega // beside the recording
	perSpan      = 24
)

// inOrder bounds how much faster than json.Valid events are read.
const inOrder = "Two cores share half of the work, taking events apart, which is what json.Valid does with one; the other half, adding them to the recording, is in order and one's."

// mesa bounds first pictures without a graphics card, as perf record tells.
const mesa = "Of the time until a first picture 100 to 160 ms are Mesa's, on one of the cores that read: its libraries are loaded and programs for drawing compiled."

var kinds = []*kind{
	{name: "file", title: "Recordings that other programs wrote", picture: soon, count: (*counted).most,
		asked: "A first picture within 200 ms, and then the next within 200 ms as long as there is more to come; of Chrome JSON of more than 20 MB also what is asked of it below.",
		bounds: map[string]string{"speed": "Events that Chromium writes have twice the bytes of made ones, most of them of arguments, whose quotes and brackets are looked for one by one: when events are read, and again for their time by the thread's clock, which info counts. Their samples come in some thousand pieces, which the one core takes apart that adds to the recording.",
			besideValid: inOrder,
			"picture":   mesa + " What perf records is in no order, and has its names when the programs that ran have been read. V8 writes when samples were taken behind all of them: a profile of Node's is shown when it has been read."}},
	{name: "chrome", title: "Chrome JSON", picture: soon, count: (*counted).events, share: chromeShare,
		asked: "4 M events/s or 400 MB/s (800 MB/s of the best shape), half the time that json.Valid takes with one core, and at most 24 bytes a span and 256 MB of memory.",
		bounds: map[string]string{"speed": "The scanner runs on all cores and has half the work; what it found is added to the recording by one core, and what was in no order is laid out by one when all is there. Where few cores are busy, it is that one; where all are, it is branches at every quote and comma.",
			besideValid: inOrder,
			"picture":   mesa,
			"pictures":  "A snapshot of 2,000 threads takes 11 to 15 ms of the core that adds to the recording, so there is one in 150 ms; then it is drawn. Of few threads a picture is late now and then, when one is due while both cores decode."}},
	{name: "spall1", title: "spall v1", picture: soon, count: (*counted).spans,
		share:  func(r *reading) float64 { return min(r.rate()/30e6, r.bytesRate()/2e9) },
		asked:  "30 M spans/s and 2 GB/s.",
		bounds: map[string]string{"speed": "One core tells where records end and which call each begins, which needs the record before; another adds spans to lanes. The first waits for slots of names and calls, which are larger together than what lies near a core; the system needs a fifth of the time, for pages of the file and of columns."}},
	{name: "spall3", title: "spall v3", picture: soon, count: (*counted).spans,
		share:  func(r *reading) float64 { return r.rate() / 35e6 },
		asked:  "35 M spans/s.",
		bounds: map[string]string{"speed": "The same two stages as those of spall v1. Small buffers and differences of times need a look at every byte."}},
	{name: "spaa", title: "SPAA", picture: soon, count: (*counted).samples, share: spaaShare,
		asked: "1 GB/s; with zstd 1.4 times what decompression takes.",
		bounds: map[string]string{"speed": "All cores take records apart, which is half the work; one adds them. With zstd, which one core unpacks, the records take several times what decompression does.",
			"picture": "Frames and stacks stand before samples: of 200,000 frames nothing can be drawn before all are read."}},
	{name: "pprof", title: "pprof", picture: soonBehind, count: (*counted).samples,
		share: func(r *reading) float64 { return r.BesideSeconds / 2 / r.Seconds },
		asked: "Half the time that its library (google/pprof/profile) needs to parse it.",
		bounds: map[string]string{"speed": "Labels that no other sample has make a context each, and stacks that no other has are new calls for each location; the library makes neither. Unpacking gzip is one core's, and strings and locations stand behind the samples.",
			"picture":  "No sample has a name before the end of the file, where the strings stand, has been unpacked.",
			"pictures": "What has been read is added up on the cores that read and draw. Trees of stacks of hundreds of locations take three times the processor time of reading them."}},
	{name: "folded", title: "Folded stacks", picture: soon, count: (*counted).samples,
		share: func(r *reading) float64 { return 1 / r.Seconds },
		asked: "1 s.",
		bounds: map[string]string{
			"pictures": "Trees of stacks of hundreds of frames take three times the processor time of reading them, and to lay out a picture of one up to 50 ms, on the cores that read and draw."}},
}

// chromeShare is the better one of the two speeds; what is packed counts as it is unpacked.
func chromeShare(r *reading) float64 {
	return max(r.rate()/chromeEvents, r.bytesRate()/chromeBytes)
}

func spaaShare(r *reading) float64 {
	if r.Packed {
		return 1.4 * r.BesideSeconds / r.Seconds
	}
	return r.bytesRate() / 1e9
}

// sizes are how large recordings of each kind are: one in its usual shape, for figures
// that everything else refers to, and those in all other shapes.
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

// subjectsOf are the recordings of a kind that are made, in every shape.
func subjectsOf(name string) (all []subject) {
	size := sizes[name]
	for _, shape := range synth.Shapes(name) {
		s := subject{recording: size.usual, name: name, what: synth.ShapeIs(name, shape)}
		if shape != "" {
			s.name += "/" + shape
			s.options = size.others
			s.options.Kind, s.options.Shape = name, shape
		}
		all = append(all, s)
	}
	switch name {
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

// readings are rows, one a recording that is made; and one for those that are given.
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
				return b.reading(k, s.what, f)
			}})
		}
	}
	return all
}

// files measures recordings that others wrote.
func (b *bench) files(k *kind) (out []result, err error) {
	err = eachGiven(b.given, func(name string, f *file) error {
		x, err := b.reading(k, name, f)
		out = append(out, x...)
		return err
	})
	return out, err
}

// eachGiven visits recordings that are given as NAME=PATH or PATH, with commas between;
// what goes wrong with one leaves the others.
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
