// Package synth generates synthetic recordings of any size in several formats, to test and
// measure a viewer.
//
// What is recorded is an invented program: a few thousand functions in a dozen
// modules, written as if in Go, C++ and C, that call one another along some tens
// of thousands of different call paths, up to 28 deep, on 8 to 16 threads of two
// processes. Threads handle requests with idle gaps between them; how long a
// call takes is spread lognormally. All kinds share this program.
//
// The same options give the same bytes, on every machine: times and weights are
// whole numbers, and so is the arithmetic behind them. Recordings are written as
// they are made, so they may be larger than memory (except for pprof, whose stacks
// are in no order: each takes 12 bytes until it is written, and for shapes of
// chrome whose events are put in another order: 40 bytes).
//
// With each recording comes a [Summary] of what was written, kept while writing,
// that readers can be checked against.
package synth

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// Options say what to make. Either Records or Bytes, or both, should limit it;
// where both do, the one that is reached first. With neither, Records is 100,000.
type Options struct {
	Kind  string // one of [Kinds]
	Shape string // one of [Shapes], the usual one where it is ""

	// Records is how much to make: for spall0, spall1, spall3, chrome and perfetto, the
	// event records, of which a span takes one or two (and of which as many are
	// made as fit, whole spans only); for spaa the samples, for pprof and folded
	// the stacks.
	Records int64

	// Bytes is about how long the recording should be: to a few percent for a
	// large one.
	Bytes int64

	Threads int    // 1 to 2000; 0 stands for 12
	Seed    uint64 // another seed makes another program and another run
	Run     uint64 // another run of the same program
}

// chance is the seed of what differs from run to run.
func (o *Options) chance() uint64 { return o.Seed ^ o.Run<<32 }

const (
	defaultRecords = 100_000
	defaultThreads = 12
	maxThreads     = 2000
)

var kinds = map[string]func(*output, Options) (*Summary, error){
	"spall0": writeSpall0,
	"spall1": writeSpall1,
	"spall3": writeSpall3,
	"chrome": writeChrome,
	"spaa":   writeSPAA,
	"folded": writeFolded,
	"pprof":  writePprof,

	"perfetto": writePerfetto,
}

// Kinds returns the kinds of recordings that there are, sorted.
func Kinds() []string {
	var names []string
	for name := range kinds {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Write makes a recording and returns what is in it.
func Write(w io.Writer, o Options) (*Summary, error) {
	write, ok := kinds[o.Kind]
	if !ok {
		return nil, fmt.Errorf("there is no kind %q: choose one of %s", o.Kind, strings.Join(Kinds(), ", "))
	}
	if err := checkShape(o.Kind, o.Shape); err != nil {
		return nil, err
	}
	if o.Records < 0 || o.Bytes < 0 {
		return nil, errors.New("a recording can't have a negative size")
	}
	if o.Threads < 0 || o.Threads > maxThreads {
		return nil, fmt.Errorf("%d threads are too many or too few: choose 1 to %d", o.Threads, maxThreads)
	}
	if o.Threads == 0 {
		o.Threads = defaultThreads
	}
	if o.Shape == oneThread {
		o.Threads = 1
	}
	if o.Records == 0 {
		o.Records = defaultRecords
		if o.Bytes > 0 {
			o.Records = math.MaxInt64
		}
	}
	if o.Bytes == 0 {
		o.Bytes = math.MaxInt64
	}
	out := newOutput(w)
	sum, err := write(out, o)
	if err != nil {
		return nil, err
	}
	out.flush()
	if out.err != nil {
		return nil, out.err
	}
	sum.Kind, sum.Shape, sum.Seed, sum.Bytes = o.Kind, o.Shape, o.Seed, out.bytes()
	sum.Duration = sum.End - sum.Start
	return sum, nil
}
