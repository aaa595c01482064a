package synth

import "math/rand/v2"

// Streams of the generator's random numbers: each use has its own, so that a change in
// one does not affect the others.
const (
	streamSpread uint64 = 1 + iota
	streamNames
	streamTree
	streamStacks
	streamShuffle
	streamThreads // and up: one per thread
)

const (
	spreadSize = 1 << 12
	// spreadSigma is the standard deviation of the logarithm (base 2) of a
	// duration, in 1/16.
	spreadSigma = 26
)

// newSpread tabulates lognormal factors, in 1/256, with median 1. It uses only integers:
// floating point may differ in the last digit between processors, which would give
// different files. The sum of twelve uniform numbers is nearly normal, and the power of
// two is interpolated linearly.
func newSpread(seed uint64) *[spreadSize]int64 {
	rng := rand.NewPCG(seed, streamSpread)
	var table [spreadSize]int64
	for i := range table {
		sum := int64(-6 * 65535)
		for range 12 {
			sum += int64(rng.Uint64() >> 48)
		}
		x := sum * spreadSigma >> 4 // the logarithm, in 1/65536
		whole, rest := x>>16, x&0xffff
		v := (65536 + rest) << 8 // in 1/65536 of 1/256
		if whole >= 0 {
			v <<= whole
		} else {
			v >>= -whole
		}
		table[i] = max(v>>16, 1)
	}
	return &table
}

// pick returns a number in [0, n), with a bias towards 0, from 32 random bits: most
// programs use a few of their paths most of the time.
func pick(bits uint64, n int) int {
	a, b := bits&0xffff, bits>>16&0xffff
	return int(a * b * uint64(n) >> 32)
}

// below returns a number in [0, n) from 32 random bits.
func below(bits uint64, n int) int {
	return int((bits & 0xffffffff) * uint64(n) >> 32)
}
