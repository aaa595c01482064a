// Package synth generates synthetic recordings of any size in several formats, to test and
// measure a viewer.
//
// Recordings of all kinds are of the same invented program: a few thousand functions in a
// dozen modules, named as if written in Go, C++ and C, that call one another along some
// tens of thousands of different call paths, up to 28 deep, on 8 to 16 threads of two
// processes. Threads handle requests with idle gaps between them; the durations of calls
// are lognormal.
//
// The same options give the same bytes on every machine: times and weights are integers,
// and are computed with integers only. Recordings are written as they are generated, so
// they may be larger than memory. Two kinds need memory: pprof, whose stacks are in no
// order, takes 12 bytes per stack until it is written; shapes of chrome that reorder events
// take 40 bytes per event.
//
// Each recording comes with a [Summary] of its contents, kept while writing, against which
// readers can be checked.
package synth

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// Options describe the recording to generate. Records and Bytes limit its size; if both
// are set, the first limit reached ends it. If neither is set, Records is 100,000.
type Options struct {
	Kind  string // one of [Kinds]
	Shape string // one of [Shapes]; "" is the usual one

	// Records is the number of records. For spall0, spall1, spall3, chrome and perfetto
	// it is the number of event records: a span takes one or two, and as many whole spans
	// are made as fit. For spaa it is the number of samples, for pprof and folded the
	// number of stacks.
	Records int64

	// Bytes is the approximate size of the recording, within a few percent for a large
	// one.
	Bytes int64

	Threads int    // 1 to 2000; 0 stands for 12
	Seed    uint64 // another seed makes another program and another run
	Run     uint64 // another run of the same program
}

// chance returns the seed for everything that differs from run to run.
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

// Kinds returns the kinds of recordings, sorted.
func Kinds() []string {
	var names []string
	for name := range kinds {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Write generates a recording and returns a summary of its contents.
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
