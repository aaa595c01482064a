package inflate

import (
	"compress/gzip"
	"hash/crc32"
	"io"
)

// NewGzip unpacks gzip data, all of its members. It reads the header of the first; what
// is none is [gzip.ErrHeader].
func NewGzip(src io.Reader) (*Reader, error) {
	r := New(src)
	r.gzip = true
	return r, r.member()
}

// Flags of a member's header (RFC 1952, 2.3.1).
const (
	hasCheck   = 1 << 1
	hasExtra   = 1 << 2
	hasName    = 1 << 3
	hasComment = 1 << 4
)

// member reads the header of a member. There is [io.EOF] in place of it where the data
// ends.
func (r *Reader) member() error {
	sum := uint32(0)
	failed := error(nil)
	next := func() byte {
		b, err := r.byte()
		if failed == nil {
			failed = err
		}
		sum = crc32.Update(sum, crc32.IEEETable, []byte{b})
		return b
	}
	text := func() {
		for next() != 0 && failed == nil {
		}
	}
	magic := [2]byte{next()}
	if failed == io.ErrUnexpectedEOF {
		return io.EOF
	}
	magic[1] = next()
	method, flags := next(), next()
	if failed == nil && (magic != [2]byte{0x1f, 0x8b} || method != 8) {
		return gzip.ErrHeader
	}
	for range 6 { // time, and what made it
		next()
	}
	if flags&hasExtra != 0 {
		n := int(next())
		for n |= int(next()) << 8; n > 0 && failed == nil; n-- {
			next()
		}
	}
	if flags&hasName != 0 {
		text()
	}
	if flags&hasComment != 0 {
		text()
	}
	if want := sum & 0xffff; flags&hasCheck != 0 {
		if got := uint32(next()); got|uint32(next())<<8 != want && failed == nil {
			return gzip.ErrHeader
		}
	}
	r.state, r.last, r.begin = atBlock, false, r.to
	r.sum, r.size = 0, 0
	return failed
}

// behind checks what stands behind a member's data, and goes on to the next member.
func (r *Reader) behind() error {
	if !r.gzip {
		return io.EOF
	}
	r.take(r.count & 7)
	var end [2]uint32
	for i := range 8 {
		b, err := r.byte()
		if err != nil {
			return err
		}
		end[i/4] |= uint32(b) << (i % 4 * 8)
	}
	if end != [2]uint32{r.sum, r.size} {
		return gzip.ErrChecksum
	}
	return r.member()
}

// byte reads a byte, which begins with the next bit.
func (r *Reader) byte() (byte, error) {
	for r.need(8) != nil {
		if err := r.fill(); err != nil {
			return 0, err
		}
	}
	return byte(r.take(8)), nil
}
