package perfetto

import (
	"bytes"
	"fmt"
	"io"

	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
	"google.golang.org/protobuf/encoding/protowire"
)

const (
	maxPacked     = 512 << 20 // maximum size of the packets compressed in one
	unpackedBytes = 256 << 10 // bytes decompressed at a time
)

// unpacker decompresses packets and reuses one decompressor of each kind.
type unpacker struct {
	zlib io.ReadCloser
	zstd *zstd.Decoder
}

func (u *unpacker) close() {
	if u.zstd != nil {
		u.zstd.Close()
	}
}

// broken is the reader of data that cannot be decompressed.
type broken struct{ err error }

func (b broken) Read([]byte) (int, error) { return 0, b.err }

func (u *unpacker) open(kind protowire.Number, b []byte) io.Reader {
	open := u.unzlib
	if kind == packetZstd {
		open = u.unzstd
	}
	r, err := open(bytes.NewReader(b))
	if err != nil {
		return broken{err}
	}
	return r
}

func (u *unpacker) unzlib(from io.Reader) (r io.Reader, err error) {
	if u.zlib == nil {
		u.zlib, err = zlib.NewReader(from)
	} else {
		err = u.zlib.(zlib.Resetter).Reset(from, nil)
	}
	return u.zlib, err
}

func (u *unpacker) unzstd(from io.Reader) (r io.Reader, err error) {
	if u.zstd == nil {
		u.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(64<<20))
	}
	if err == nil {
		err = u.zstd.Reset(from)
	}
	return u.zstd, err
}

// unpack parses the packets compressed in a packet, in batches of their own. They come
// before the packet's other fields, so the packet itself moves to a new batch after them.
func (w *worker) unpack(p *packet, kind protowire.Number, packed []byte) *packet {
	var said state
	if p.state != 0 {
		said = *w.stateOf(p)
	}
	if w.dropFlows(p) {
		p.is |= hasMore // the flows must be read again
	}
	is := *p
	w.batch.packets = w.batch.packets[:len(w.batch.packets)-1]
	w.within = true
	w.give()
	w.begin(nil, -1)
	w.batch.failed = w.unpacked(w.unpacker.open(kind, packed))
	w.give()
	w.within = false
	w.begin(w.job.data, w.job.base)
	w.batch.packets = append(w.batch.packets, is)
	p = &w.batch.packets[len(w.batch.packets)-1]
	if p.state != 0 {
		p.state = 0
		*w.stateOf(p) = said
	}
	return p
}

// unpacked parses packets while they are decompressed. It fills batches and leaves the
// last one to the caller to pass on. It returns an error if the data ends early or is
// invalid.
func (w *worker) unpacked(from io.Reader) error {
	for n, total := 0, 0; ; {
		room := w.batch.room[:cap(w.batch.room)]
		if len(room) == 0 {
			room = make([]byte, unpackedBytes)
		} else if n == len(room) { // only part of a longer packet fits
			room = append(room, make([]byte, len(room))...)
		}
		w.batch.room = room
		got, end := readMost(from, room[n:])
		n, total = n+got, total+got
		used, err := wholePackets(room[:n])
		w.batch.data = room[:used]
		w.packets(room[:used])
		switch rest := n - used; {
		case err != nil:
			return err
		case end == io.EOF && rest == 0:
			return nil
		case total >= maxPacked:
			return fmt.Errorf("more than %d MB", maxPacked>>20)
		case end == io.EOF:
			return io.ErrUnexpectedEOF
		case end != nil:
			return end
		case w.ctx.Err() != nil:
			return w.ctx.Err()
		case used == 0:
			n = rest
		default:
			next := w.pipeline.batch()
			if next.base = -1; cap(next.room) < len(room) {
				next.room = make([]byte, len(room))
			}
			n = copy(next.room[:cap(next.room)], room[used:n])
			w.give()
			w.batch = next
		}
	}
}

// readMost reads until the buffer is full or the input ends.
func readMost(from io.Reader, to []byte) (n int, err error) {
	for n < len(to) && err == nil {
		got := 0
		got, err = from.Read(to[n:])
		n += got
	}
	return n, err
}
