package decode

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"
)

// TestVarint compares Varint with encoding/binary, with random bytes after the number.
func TestVarint(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 100_000 {
		want := rng.Uint64() >> rng.IntN(64)
		b := binary.AppendUvarint(nil, want)
		size := len(b)
		for len(b) < 8 {
			b = append(b, byte(rng.Uint32()))
		}
		v, n := Varint(binary.LittleEndian.Uint64(b))
		if size > 8 {
			size, want = 9, want&(1<<56-1)
		}
		if v != want || n != size {
			t.Fatalf("%x is %x of %d bytes, want %x of %d", b, v, n, want, size)
		}
	}
}
