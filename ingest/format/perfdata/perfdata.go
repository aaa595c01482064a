// Package perfdata reads the output of `perf record`: perf.data files, including
// compressed ones (-z), and pipe output. The file layout is in
// tools/perf/Documentation/perf.data-file-format.txt of the kernel's sources, the record
// layout in include/uapi/linux/perf_event.h.
//
// The scheduler's events become thread states and CPU tracks.
//
// Each sample has an event, period, thread, CPU and stack, as in the output of `perf
// script`. Function names come from the symbol tables of binaries on this machine whose
// build ids match, with files, lines and inlined functions if there is debug
// information. Other functions are named by their address in the binary.
//
// Addresses in no binary are "[unknown]", as in `perf script`. perf follows frame pointers
// even in programs compiled without them, and then finds random numbers instead of code
// addresses. So callers outside known code share one frame without an address, and several
// in a row are merged. Leaf frames keep their address, because the program was executing
// there.
package perfdata

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"ashlar/ingest/format/codec"
	"ashlar/ingest/format/decode"
	"ashlar/ingest/format/program"
	"ashlar/ingest/format/sched"
	"ashlar/ingest/input/source"
	"ashlar/ingest/model/recording"
)

// Format is the perf.data format.
var Format = codec.Format{
	Name:       "perf-data",
	Title:      "perf.data",
	Plural:     "perf.data files",
	Holds:      "output of `perf record`, also piped or compressed: samples with periods and stacks, function names from symbols of binaries and the kernel, source lines and inlined functions",
	Extensions: []string{".data", ".perf.data"},
	Sniff:      Sniff,
	Decode:     Decode,
}

const magic = "PERFILE2"

// Sniff looks for the magic number.
func Sniff(head []byte, _ bool) (decode.Confidence, error) {
	const way = "on the machine that recorded it, convert it with `perf script -i FILE > run.perf`"
	begins := func(s string) bool { return bytes.HasPrefix(head, []byte(s)) }
	switch {
	case begins(magic):
		return decode.Certain, nil
	case begins("2ELIFREP"):
		return decode.Certain, errors.New("this perf.data file has the wrong byte order; " + way)
	case begins("PERFFILE"), begins("ELIFFREP"):
		return decode.Certain, errors.New("this perf.data file is from before 2012; " + way)
	}
	return decode.No, nil
}

// Sizes of the layout.
const (
	pipeHeader  = 16
	fileHeader  = 104
	leastAttr   = 64
	recordHead  = 8
	maxMeta     = 256 << 20 // maximum size of the parts before and after the records
	maxFeatures = 256
)

var le = binary.LittleEndian

type decoder struct {
	b    *recording.Builder
	path string
	events

	flushed uint64 // time of the latest record

	zero   uint64 // time at picosecond 0
	zeroed bool

	processes map[int32]*process
	kernel    *maps
	ids       map[string][]byte // build ids of binaries, by name
	numbers   map[string]uint32 // numbers of binaries, by name
	binaries  map[string]*program.Program
	frames    map[frameKey]frames
	recent    [1 << recentBits]recentFrames
	versions  uint64 // number of versions of maps
	threads   map[int32]*thread
	missing   int64
	changed   int64
	kernelSymbolsPart

	samples, records *recording.Tally
	lost             int64
	cut              bool // the part after the records is cut off
	unwound          bool // the warning about stacks that are not unwound was added
	stack            []recording.FrameID
	stray            uint32 // stray of the last frame in stack
	addresses        int64  // number of addresses in stacks
	strays           int64  // number of callers outside known code

	last    int64 // picoseconds of the last sample
	states  *sched.Builder
	formats map[string]map[string]field // fields of the scheduler's tracepoints, by name
}

// Decode reads all samples into b. If the file is cut or damaged, it reads the part
// before the damage.
func Decode(ctx context.Context, in *source.Input, b *recording.Builder, _ decode.Options) error {
	d := &decoder{b: b, path: in.Path, events: newEvents(), processes: map[int32]*process{}, kernel: new(maps),
		ids: map[string][]byte{}, numbers: map[string]uint32{}, binaries: map[string]*program.Program{}, frames: map[frameKey]frames{}, threads: map[int32]*thread{},
		states: sched.New(b), formats: map[string]map[string]field{}, samples: b.Tally("sample"), records: b.Tally("other record")}
	read := func(ctx context.Context, out chan<- batch) error {
		r := &reader{ctx: ctx, in: bufio.NewReaderSize(&decode.Reader{In: in}, 1<<20), out: out, events: newEvents()}
		in.OnSilence(func() bool {
			r.send()
			return true
		})
		return r.all(in)
	}
	if err := decode.Beside(ctx, in, b, 0, read, d.take); err != nil {
		return err
	}
	d.states.End(d.last)
	d.warnMissing()
	if d.samples.Read == 0 {
		return errors.New("the recording has no samples")
	}
	return nil
}

func place(off int64) string { return fmt.Sprintf("byte %d", off) }
