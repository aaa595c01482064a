// Package durations stores the durations of spans by function, so that comparisons of
// stored recordings need not read all spans.
package durations

import (
	"math"
	"math/bits"

	"ashlar/ingest/model/column"
)

// Table stores the durations of spans by function: their sums and a random sample, so
// that comparisons need not visit every span of the recording. Each span has a random
// number (its dice), and a sample consists of the spans with the lowest numbers. Parts
// are disjoint, so the sample of several functions is the lowest numbers of their
// samples.
type Table struct {
	// Parts has two entries per function: at 2*id the spans nested in another span of the
	// function, at 2*id+1 the others. The last entry has the outermost spans of all
	// tracks, whatever their function.
	Parts []Part
	// Draws holds the samples of all parts, one part after the other.
	Draws []Draw
}

// Part sums up spans: Total is their duration and Self their duration without their
// children, in picoseconds; Total2 and Self2 are the sums of the squares.
type Part struct {
	Spans                      int64
	Total, Total2, Self, Self2 Wide
	Drawn                      int // number of entries of Table.Draws
}

// Draw is a span that was drawn by chance. Times are in picoseconds.
type Draw struct {
	Dice        uint32
	Total, Self float32
}

// Wide is a sum of non-negative numbers. It is exact up to 2^128-1, where it stops.
type Wide struct{ High, Low uint64 }

// Add adds a number.
func (w *Wide) Add(v uint64) {
	var carry uint64
	w.Low, carry = bits.Add64(w.Low, v, 0)
	if w.High, carry = bits.Add64(w.High, 0, carry); carry != 0 {
		*w = Wide{math.MaxUint64, math.MaxUint64}
	}
}

// AddSquare adds the square of a number.
func (w *Wide) AddSquare(v uint64) {
	high, low := bits.Mul64(v, v)
	w.AddWide(Wide{high, low})
}

// AddWide adds another sum.
func (w *Wide) AddWide(o Wide) {
	var carry uint64
	w.Low, carry = bits.Add64(w.Low, o.Low, 0)
	if w.High, carry = bits.Add64(w.High, o.High, carry); carry != 0 {
		*w = Wide{math.MaxUint64, math.MaxUint64}
	}
}

// Float returns the sum as a floating-point number.
func (w Wide) Float() float64 { return float64(w.High)*(1<<64) + float64(w.Low) }

// Pack implements [column.Packer].
func (d *Table) Pack(a *column.Archive) {
	column.Pack(a, &d.Parts)
	drawn := 0
	for i := range d.Parts {
		p := &d.Parts[i]
		column.Must(p.Drawn >= 0 && int64(p.Drawn) <= p.Spans && drawn <= math.MaxInt32, "a count of drawn spans is larger than the number of spans")
		drawn += p.Drawn
	}
	column.PackChunk(a, &d.Draws, drawn)
}

// Verify checks that the parts are for this number of functions, which the archive does
// not know.
func (d *Table) Verify(functions int) {
	column.Must(d == nil || len(d.Parts) == 2*functions+1, "the number of durations does not match the functions")
}
