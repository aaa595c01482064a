package parquet

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"ashlar/ingest/input/memory"
)

const (
	// maxPage is the maximum size of an uncompressed page in bytes.
	maxPage = 128 << 20
	// maxValues is the maximum number of values of a page.
	maxValues = 64 << 20
)

// value is a value of a leaf in a row, or the lack of one.
type value struct {
	rep, def int
	null     bool
	i        int64 // of integers and booleans
	f        float64
	b        []byte // of bytes; shared with the page
}

// reader reads the values of a chunk in order. It decodes each value when it is asked for, so
// that memory is bounded by the size of a page.
type reader struct {
	leaf  *leaf
	codec int
	c     compact // the pages
	start int64   // offset of the chunk in the file
	err   error

	left     int // values left in the page
	rep, def hybrid
	values   decoder
	dict     *plain
}

// errPage is the error for a page that contradicts itself.
var errPage = errors.New("the page is damaged")

func newReader(f *file, l *leaf, x *chunk) (*reader, error) {
	switch {
	case x.encrypted:
		return nil, errEncrypted
	case x.foreign:
		return nil, fmt.Errorf("the values of the column %q are in another file, which is not supported", l.name())
	case x.offset < 4 || x.size < 0 || x.offset > int64(len(f.content)) || x.size > int64(len(f.content))-x.offset:
		return nil, fmt.Errorf("the column %q is damaged: its values lie outside the file", l.name())
	}
	return &reader{leaf: l, codec: x.codec, start: x.offset, c: compact{b: f.content[x.offset : x.offset+x.size]}}, nil
}

// next reads the next value. It returns false at the end of the chunk, or with r.err.
func (r *reader) next(v *value) bool {
	if !r.fill() {
		return false
	}
	r.left--
	v.rep, v.def = 0, r.leaf.maxDef
	ok := true
	if r.leaf.maxRep > 0 {
		v.rep, ok = r.rep.next()
	}
	if ok && r.leaf.maxDef > 0 {
		v.def, ok = r.def.next()
	}
	if v.null = v.def < r.leaf.maxDef; ok && !v.null {
		ok = r.values.next(v)
	}
	if !ok {
		r.left = 0
		r.err = fmt.Errorf("the page before byte %d of the column %q ends early", r.start+int64(r.c.at), r.leaf.name())
	}
	return ok
}

// fill reads pages until there is a value. It returns false at the end of the chunk, or with
// r.err.
func (r *reader) fill() bool {
	for r.left == 0 {
		if r.err != nil || r.c.rest() == 0 {
			return false
		}
		at := r.c.at
		if err := r.page(); err != nil {
			r.err = fmt.Errorf("the page at byte %d of the column %q cannot be read: %w", r.start+int64(at), r.leaf.name(), err)
			return false
		}
	}
	return true
}

// inner reports whether the next value continues the list of the value before.
func (r *reader) inner() bool { return r.leaf.maxRep > 0 && r.fill() && r.rep.peek() > 0 }

// Kinds of pages.
const (
	pageData       = 0
	pageDictionary = 2
	pageDataV2     = 3
)

type pageHeader struct {
	kind, size, packed    int
	values, encoding      int
	repEncoding, defBytes int
	defEncoding, repBytes int
	uncompressed          bool
}

func (r *reader) header() (h pageHeader) {
	c := &r.c
	c.fields(func(id int, kind byte) {
		switch {
		case id <= 3 && kind == 5:
			*[]*int{&h.kind, &h.size, &h.packed}[id-1] = int(c.int())
		case (id == 5 || id == 7) && kind == 12:
			c.fields(func(id int, kind byte) {
				if id > 4 || kind != 5 {
					c.skip(kind)
					return
				}
				*[]*int{&h.values, &h.encoding, &h.defEncoding, &h.repEncoding}[id-1] = int(c.int())
			})
		case id == 8 && kind == 12:
			c.fields(func(id int, kind byte) {
				switch {
				case id == 1 && kind == 5:
					h.values = int(c.int())
				case id == 4 && kind == 5:
					h.encoding = int(c.int())
				case id == 5 && kind == 5:
					h.defBytes = int(c.int())
				case id == 6 && kind == 5:
					h.repBytes = int(c.int())
				case id == 7:
					h.uncompressed = kind == compactFalse
				default:
					c.skip(kind)
				}
			})
		default:
			c.skip(kind)
		}
	})
	return h
}

// page reads a page and leaves its values to next.
func (r *reader) page() error {
	h := r.header()
	switch {
	case r.c.bad || h.packed < 0 || h.size < 0 || h.values < 0 || h.defBytes < 0 || h.repBytes < 0 || h.packed > r.c.rest():
		r.c.bad, r.c.at = true, len(r.c.b)
		return errPage
	case h.values > maxValues:
		return fmt.Errorf("it has %d values, more than %d", h.values, maxValues)
	case h.size > maxPage:
		return fmt.Errorf("it has %d MB, more than %d MB", h.size>>20, maxPage>>20)
	}
	data := r.c.b[r.c.at : r.c.at+h.packed]
	r.c.at += h.packed
	switch h.kind {
	case pageDictionary:
		data, err := unpack(r.codec, data, h.size)
		if err != nil {
			return err
		}
		if h.encoding != encodingPlain && h.encoding != encodingPlainDictionary {
			return errEncoding(h.encoding)
		}
		r.dict, err = newDictionary(r.leaf, data, h.values)
		return err
	case pageData:
		data, err := unpack(r.codec, data, h.size)
		if err != nil {
			return err
		}
		if r.leaf.maxRep > 0 {
			if r.rep, data, err = levels(data, h.repEncoding, r.leaf.maxRep); err != nil {
				return err
			}
		}
		if r.leaf.maxDef > 0 {
			if r.def, data, err = levels(data, h.defEncoding, r.leaf.maxDef); err != nil {
				return err
			}
		}
		return r.begin(data, &h)
	case pageDataV2:
		if h.repBytes+h.defBytes > len(data) || h.size < h.repBytes+h.defBytes {
			return errPage
		}
		r.rep, data = newHybrid(data[:h.repBytes], bitsFor(r.leaf.maxRep)), data[h.repBytes:]
		r.def, data = newHybrid(data[:h.defBytes], bitsFor(r.leaf.maxDef)), data[h.defBytes:]
		if !h.uncompressed {
			var err error
			if data, err = unpack(r.codec, data, h.size-h.repBytes-h.defBytes); err != nil {
				return err
			}
		}
		return r.begin(data, &h)
	}
	return nil // an index, or a kind from the future
}

// begin begins to read the values of a page.
func (r *reader) begin(data []byte, h *pageHeader) (err error) {
	r.values, err = newDecoder(r.leaf, h.encoding, data, h.values, r.dict)
	if err == nil {
		r.left = h.values
	}
	return err
}

// levels returns the levels with which a page of version 1 begins, and the rest of the page.
func levels(data []byte, encoding, most int) (hybrid, []byte, error) {
	if encoding != encodingRLE {
		return hybrid{}, nil, errEncoding(encoding)
	}
	if len(data) < 4 {
		return hybrid{}, nil, errPage
	}
	n := uint64(uint32(data[0]) | uint32(data[1])<<8 | uint32(data[2])<<16 | uint32(data[3])<<24)
	if n > uint64(len(data)-4) {
		return hybrid{}, nil, errPage
	}
	return newHybrid(data[4:4+n], bitsFor(most)), data[4+n:], nil
}

// Compression of pages.
const (
	codecNone   = 0
	codecSnappy = 1
	codecGzip   = 2
	codecZstd   = 6
	codecLZ4    = 7
)

// codecNames names compressions that are not supported. Brotli's decoder would make the program
// a fifth of a megabyte larger.
var codecNames = map[int]string{3: "LZO", 4: "Brotli", 5: "LZ4 with Hadoop's frames"}

var zstdDecoder = sync.OnceValues(func() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxPage))
})

// unpack decompresses a page to exactly the given size.
func unpack(codec int, packed []byte, size int) (data []byte, err error) {
	if codec != codecNone && size > 16<<20 {
		if err := memory.Need(int64(size), "a page of the Parquet file"); err != nil {
			return nil, err
		}
	}
	switch codec {
	case codecNone:
		data = packed
	case codecSnappy:
		n, err := snappy.DecodedLen(packed)
		if err != nil || n != size {
			return nil, errUnpack
		}
		data, err = snappy.Decode(nil, packed)
		if err != nil {
			return nil, errUnpack
		}
	case codecZstd:
		z, err := zstdDecoder()
		if err != nil {
			return nil, err
		}
		data, err = z.DecodeAll(packed, make([]byte, 0, min(size, 1<<16+16*len(packed))))
		if err != nil {
			return nil, errUnpack
		}
	case codecLZ4:
		if size > 1<<10+256*len(packed) { // more than LZ4 can achieve
			return nil, errUnpack
		}
		data = make([]byte, size)
		n, err := lz4.UncompressBlock(packed, data)
		if err != nil {
			return nil, errUnpack
		}
		data = data[:n]
	case codecGzip:
		z, err := gzip.NewReader(bytes.NewReader(packed))
		if err != nil {
			return nil, errUnpack
		}
		if data, err = io.ReadAll(io.LimitReader(z, int64(size)+1)); err != nil {
			return nil, errUnpack
		}
	default:
		name := codecNames[codec]
		if name == "" {
			name = fmt.Sprintf("number %d", codec)
		}
		return nil, fmt.Errorf("its compression, %s, is not supported. Write it with Zstandard or Snappy", name)
	}
	if len(data) != size {
		return nil, errUnpack
	}
	return data, nil
}

var errUnpack = errors.New("its compressed content is damaged")

// bitsFor returns the number of bits of a level.
func bitsFor(most int) int {
	n := 0
	for most>>n > 0 {
		n++
	}
	return n
}

func float32At(b uint32) float64 { return float64(math.Float32frombits(b)) }
