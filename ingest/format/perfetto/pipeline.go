package perfetto

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"

	"ashlar/ingest/input/source"
)

const (
	// maxPacket is the maximum size of a packet, compressed or not; Perfetto's own are
	// below a few megabytes.
	maxPacket = 64 << 20
	// chunkBytes is the number of bytes read at a time: small enough that the results fit
	// in a core's own cache.
	chunkBytes = 128 << 10
	// packetTag begins each packet: field 1, length-delimited.
	packetTag = 1<<3 | 2
	// mostWorkers is the maximum number of workers. One reader cannot keep up even with
	// this many.
	mostWorkers = 6
	// mostReady is the number of batches of one chunk that may wait. Compressed packets
	// make more than one.
	mostReady = 16
	// largeBatch is the number of packets from which a batch is too large to keep for
	// reuse.
	largeBatch = 1 << 14
)

// A batch holds parsed packets.
type batch struct {
	data    []byte // contains the packets; base is its position in the file, -1 for none
	base    int64
	packets []packet
	states  []state
	flows   []uint64 // flows that pass events; ends: flows that end at them
	ends    []uint64
	room    []byte // holds packets that were compressed
	failed  error  // why the following packets cannot be decompressed
}

// A job is a chunk of the trace and the batches made of it.
type job struct {
	data []byte
	base int64
	done chan *batch
	err  error // set before done is closed
}

// pipeline splits the trace into chunks of whole packets, which several workers parse,
// and returns the results in file order.
type pipeline struct {
	ctx    context.Context
	in     *source.Input
	mapped bool
	order  chan *job
	free   chan *batch
	all    sync.WaitGroup

	mu    sync.Mutex
	size  int // size of a chunk
	rest  int // bytes left over from the previous chunk
	ended bool
	err   error // error that ended reading; set before order is closed
	note  *note // a problem with the rest after the last chunk; set before order is closed
}

func startPipeline(ctx context.Context, in *source.Input) *pipeline {
	workers := min(runtime.GOMAXPROCS(0), mostWorkers)
	p := &pipeline{ctx: ctx, in: in, mapped: in.Mapped() != nil, size: in.ChunkSize,
		order: make(chan *job, workers), free: make(chan *batch, 2*(workers+mostReady))}
	if p.size <= 0 {
		p.size = chunkBytes
	}
	for range workers {
		p.all.Go(func() { (&worker{pipeline: p}).run() })
	}
	return p
}

// next returns the next chunk, nil if there are no more.
func (p *pipeline) next() (*job, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for !p.ended {
		// Read a packet that did not fit again, with at least as many new bytes.
		p.in.ChunkSize = max(p.size, p.rest)
		b, base, end := p.in.Next(p.rest)
		used, err := wholePackets(b)
		p.rest = len(b) - used
		j := &job{data: b[:used], base: base, done: make(chan *batch, mostReady)}
		if !p.mapped {
			j.base = -1
		}
		if used > 0 {
			select {
			case p.order <- j:
			case <-p.ctx.Done():
				end = p.ctx.Err()
			}
		}
		switch at := base + int64(used); {
		case err != nil:
			p.end(nil, at, "damaged at byte %d, where a packet should start")
		case end == io.EOF && p.rest > 0:
			p.end(nil, at, "truncated at byte %d")
		case end == io.EOF:
			p.end(nil, 0, "")
		case end != nil:
			p.end(end, 0, "")
		}
		if used > 0 {
			return j, nil
		}
	}
	return nil, nil
}

// end marks the end of the chunks, with an error and a warning if there are any.
func (p *pipeline) end(err error, at int64, what string) {
	if p.ended {
		return
	}
	p.ended, p.err = true, err
	if what != "" {
		what = fmt.Sprintf(what, at)
		p.note = &note{code: "damaged", place: fmt.Sprintf("byte %d", at), text: "The trace is " + what + "; everything before is shown"}
	}
	close(p.order)
}

// wholePackets returns the total size of the whole packets at the start of b. The error
// is errPacket if something else follows.
func wholePackets(b []byte) (used int, err error) {
	for used < len(b) {
		if _, end := shortPacket(b, used); end > 0 {
			if end > len(b) {
				return used, nil
			}
			used = end
			continue
		}
		tag, i := varint(b, used)
		if i > 0 && tag != packetTag {
			return used, errPacket
		}
		if i < 0 {
			return used, wholeVarint(b[used:])
		}
		size, i := varint(b, i)
		if i < 0 {
			return used, wholeVarint(b[used+1:])
		}
		if size > maxPacket {
			return used, errPacket
		}
		if size > uint64(len(b)-i) {
			return used, nil
		}
		used = i + int(size)
	}
	return used, nil
}

// shortPacket returns the start (after its length) and end of the packet at i; the end may
// be after b. It returns 0 if there is no packet at i or its length has more than two
// bytes.
func shortPacket(b []byte, i int) (from, end int) {
	if i > len(b)-3 || b[i] != packetTag {
		return 0, 0
	}
	size := int(b[i+1])
	if size < 0x80 {
		return i + 2, i + 2 + size
	}
	if b[i+2] < 0x80 {
		return i + 3, i + 3 + size&0x7f + int(b[i+2])<<7
	}
	return 0, 0
}

var errPacket = errors.New("no packet")

// wholeVarint returns errPacket if b, which does not begin with a valid varint, is long
// enough for one. Otherwise more bytes may complete the varint.
func wholeVarint(b []byte) error {
	if len(b) < 10 {
		return nil
	}
	return errPacket
}

// batch returns an empty batch.
func (p *pipeline) batch() *batch {
	select {
	case b := <-p.free:
		b.packets, b.states, b.flows, b.ends, b.failed = b.packets[:0], b.states[:0], b.flows[:0], b.ends[:0], nil
		return b
	default:
		return new(batch)
	}
}

// put returns a batch for reuse.
func (p *pipeline) put(b *batch) {
	clear(b.states)
	b.data = nil
	if cap(b.packets) > largeBatch || cap(b.room) > 2*unpackedBytes {
		return
	}
	select {
	case p.free <- b:
	default:
	}
}

// A worker parses packets.
type worker struct {
	*pipeline
	job      *job
	batch    *batch
	unpacker unpacker
	tail     tail
	within   bool // the packets are compressed in another one
}

// run parses chunks until there are no more.
func (w *worker) run() {
	defer w.unpacker.close()
	for {
		err := source.Protect(w.in.Path, func() (err error) {
			w.job, err = w.next()
			return err
		})
		if err != nil {
			w.mu.Lock()
			w.end(err, 0, "")
			w.mu.Unlock()
			return
		}
		if w.job == nil {
			return
		}
		w.job.err = source.Protect(w.in.Path, func() error {
			w.begin(w.job.data, w.job.base)
			w.packets(w.job.data)
			w.give()
			return nil
		})
		close(w.job.done)
	}
}

// begin begins a batch.
func (w *worker) begin(data []byte, base int64) {
	w.batch = w.pipeline.batch()
	w.batch.data, w.batch.base = data, base
}

// give sends the current batch, if not empty.
func (w *worker) give() {
	if len(w.batch.packets) == 0 && w.batch.failed == nil {
		w.put(w.batch)
		return
	}
	select {
	case w.job.done <- w.batch:
	case <-w.ctx.Done():
	}
}

// packets parses whole packets.
func (w *worker) packets(b []byte) {
	for i := 0; i < len(b); {
		from, end := shortPacket(b, i)
		if end == 0 {
			_, from = varint(b, i)
			size := uint64(0)
			size, from = varint(b, from)
			end = from + int(size)
		}
		w.packet(b, from, end)
		i = end
	}
}
