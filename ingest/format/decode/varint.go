package decode

import "math/bits"

// Varint decodes a variable-length integer from the eight bytes of x, first byte lowest:
// seven bits a byte, the top bit set on all but the last, as in protobuf. n is the number
// of bytes used; it is 9 if the integer continues after them, and v then holds the part
// so far. Varint has no branches, because lengths are unpredictable.
func Varint(x uint64) (v uint64, n int) {
	stop := ^x & 0x8080808080808080
	n = bits.TrailingZeros64(stop)>>3 + 1
	x &= stop ^ (stop - 1)
	x = x&0x007f007f007f007f | x&0x7f007f007f007f00>>1
	x = x&0x00003fff00003fff | x&0x3fff00003fff0000>>2
	return x&0x000000000fffffff | x&0x0fffffff00000000>>4, n
}
