package decode

import (
	"encoding/binary"
	"sync"

	"github.com/klauspost/compress/zstd"

	"ashlar/ingest/input/safetext"
	"ashlar/ingest/model/recording"
)

const (
	// slab is the number of bytes compressed in one piece: large enough to exploit
	// repetition, small enough to decompress on a click.
	slab = 256 << 10
	// offsetBits is the number of bits of a reference that hold the offset in the slab.
	offsetBits = 20
	// maxSpool is the maximum size of the compressed texts in memory, in bytes; at the
	// usual ratio they hold a gigabyte of text.
	maxSpool = 128 << 20
)

// Texts stores the arguments of events in compressed slabs, for formats that cannot read
// them again from the file. Its methods may be called from any goroutine, but Add from
// one only. The zero value is empty.
type Texts struct {
	// Dropped is the number of texts dropped for lack of room.
	Dropped int64

	mu    sync.RWMutex
	slabs [][]byte
	open  []byte // the slab that is being filled

	// The last decompressed slab, for callers that walk over all events.
	cacheMu sync.Mutex
	cached  int // its index, plus 1
	cache   []byte

	enc     *zstd.Encoder
	spooled int
}

// Add stores a text and returns a reference to it, or 0 if there is no room left.
func (t *Texts) Add(text []byte) uint64 {
	if t.spooled >= maxSpool {
		t.Dropped++
		return 0
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	ref := uint64(len(t.slabs))<<offsetBits | uint64(len(t.open))
	t.open = binary.AppendUvarint(t.open, uint64(len(text)))
	t.open = append(t.open, text...)
	if len(t.open) >= slab {
		if t.enc == nil {
			t.enc, _ = zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1))
		}
		z := t.enc.EncodeAll(t.open, nil)
		t.slabs = append(t.slabs, z)
		t.spooled += len(z)
		t.open = t.open[:0]
	}
	return ref + 1
}

// WarnDropped reports how many texts were dropped for lack of room.
func (t *Texts) WarnDropped(b *recording.Builder, what string) {
	if t.Dropped > 0 {
		b.Remark("args-dropped", "", "Too many arguments; those of %s are left out", safetext.Plural(t.Dropped, what))
	}
}

// Text returns the text of a reference, "" for 0.
func (t *Texts) Text(ref uint64) string {
	if ref == 0 {
		return ""
	}
	ref--
	i, at := int(ref>>offsetBits), int(ref&(1<<offsetBits-1))
	t.mu.RLock()
	if i >= len(t.slabs) {
		defer t.mu.RUnlock()
		if i > len(t.slabs) {
			return ""
		}
		return entry(t.open, at)
	}
	packed := t.slabs[i]
	t.mu.RUnlock()
	return entry(t.unpacked(i, packed), at)
}

// entry returns the text at an offset of a slab.
func entry(b []byte, at int) string {
	if at >= len(b) {
		return ""
	}
	n, k := binary.Uvarint(b[at:])
	if k <= 0 || n > uint64(len(b)-at-k) {
		return ""
	}
	return string(b[at+k:][:n])
}

// unpacked returns the content of slab i.
func (t *Texts) unpacked(i int, packed []byte) []byte {
	t.cacheMu.Lock()
	defer t.cacheMu.Unlock()
	if t.cached == i+1 {
		return t.cache
	}
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil
	}
	defer dec.Close()
	b, err := dec.DecodeAll(packed, nil)
	if err != nil {
		return nil
	}
	t.cached, t.cache = i+1, b
	return b
}
