package decode

import "math/bits"

// Varint reads the number that eight bytes begin with, the first of them lowest: seven bits
// a byte, the eighth of all but the last one set, as protobuf and others write numbers. It
// says how many bytes the number takes, which is 9 where it goes on behind them: v has what
// is before. It branches on nothing, since nobody can foretell lengths.
func Varint(x uint64) (v uint64, n int) {
	stop := ^x & 0x8080808080808080
	n = bits.TrailingZeros64(stop)>>3 + 1
	x &= stop ^ (stop - 1)
	x = x&0x007f007f007f007f | x&0x7f007f007f007f00>>1
	x = x&0x00003fff00003fff | x&0x3fff00003fff0000>>2
	return x&0x000000000fffffff | x&0x0fffffff00000000>>4, n
}
