package perfetto

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
)

const (
	// maxPacket is how long a packet may be, packed or not; Perfetto's own are
	// below a few megabytes.
	maxPacket = 64 << 20
	maxPacked = 512 << 20 // of those that are packed in one
	// chunkBytes is how much is read at a time.
	chunkBytes = 1 << 20
	// packetTag begins each packet: field 1, which has a length.
	packetTag = 1<<3 | 2
)

var errPacket = errors.New("no packet")

// packetsOf takes the packets of b that are whole, which stands at a place of the file
// (-1 for what stands in none), and returns how many bytes they take. The error is
// errPacket where something else stands.
func (r *reader) packetsOf(b []byte, at int64) (used int, err error) {
	for used < len(b) {
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
		end := i + int(size)
		where := int64(-1)
		if at >= 0 {
			where = at + int64(i)
		}
		if err := r.packet(b[i:end], where); err != nil {
			return used, err
		}
		used = end
	}
	return used, nil
}

// wholeVarint says of bytes that begin with no number whether more of them could.
func wholeVarint(b []byte) error {
	if len(b) < 10 {
		return nil
	}
	return errPacket
}

// all reads the trace, and hands on what is left.
func (r *reader) all() error {
	err := r.file()
	if r.zstd != nil {
		r.zstd.Close()
	}
	if r.ctx.Err() != nil {
		return r.ctx.Err()
	}
	r.endHeaps()
	if more := r.flush(true); more != nil {
		return more
	}
	return err
}

// file reads packets, each with its length, from the first to the last.
func (r *reader) file() error {
	size := r.in.ChunkSize
	if size <= 0 {
		size = chunkBytes
	}
	for rest := 0; ; {
		// A packet that did not fit is read again with at least as much behind it.
		r.in.ChunkSize = max(size, rest)
		b, base, end := r.in.Next(rest)
		where := base
		if !r.args.mapped() {
			where = -1
		}
		used, err := r.packetsOf(b, where)
		at := base + int64(used)
		switch rest = len(b) - used; {
		case errors.Is(err, errPacket):
			r.note("damaged", fmt.Sprintf("byte %d", at), false, "The trace is damaged at byte %d, where no packet stands; what stands before is shown", at)
			return nil
		case err != nil:
			return err
		case end == io.EOF && rest > 0:
			r.note("damaged", fmt.Sprintf("byte %d", at), false, "The trace is cut short at byte %d; what stands before is shown", at)
			return nil
		case end == io.EOF:
			return nil
		case end != nil:
			return end
		}
	}
}

// broken is a reader of what cannot be unpacked.
type broken struct{ err error }

func (b broken) Read([]byte) (int, error) { return 0, b.err }

// unzlib and unzstd read packed bytes, with one unpacker for all of them.
func (r *reader) unzlib(b []byte) io.Reader {
	var err error
	if r.zlib == nil {
		r.zlib, err = zlib.NewReader(bytes.NewReader(b))
	} else {
		err = r.zlib.(zlib.Resetter).Reset(bytes.NewReader(b), nil)
	}
	if err != nil {
		return broken{err}
	}
	return r.zlib
}

func (r *reader) unzstd(b []byte) io.Reader {
	var err error
	if r.zstd == nil {
		r.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(64<<20))
	}
	if err == nil {
		err = r.zstd.Reset(bytes.NewReader(b))
	}
	if err != nil {
		return broken{err}
	}
	return r.zstd
}

// packed reads packets that are packed in one.
func (r *reader) packed(from io.Reader) error {
	if r.within {
		return nil // nobody packs twice
	}
	r.within = true
	defer func() { r.within = false }()
	if r.room == nil {
		r.room = make([]byte, 256<<10)
	}
	room, n, total := r.room, 0, 0
	for {
		if n == len(room) { // a packet is longer, of which so much is there
			room = append(room, make([]byte, len(room))...)
		}
		got, end := from.Read(room[n:])
		n, total = n+got, total+got
		if end == nil && got == 0 {
			continue
		}
		used, err := r.packetsOf(room[:n], -1)
		if err != nil && !errors.Is(err, errPacket) {
			return err
		}
		n = copy(room, room[used:n])
		switch {
		case err != nil:
		case end == io.EOF && n == 0:
			return nil
		case total >= maxPacked:
			err = fmt.Errorf("they are more than %d MB", maxPacked>>20)
		case end == io.EOF:
			err = io.ErrUnexpectedEOF
		default:
			err = end
		}
		if err != nil {
			r.note("packed", "", false, "Packets that are packed in another cannot all be unpacked (%v); those before are shown", err)
			return nil
		}
	}
}
