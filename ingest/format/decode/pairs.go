package decode

import (
	"encoding/binary"
	"sync"
)

// Pairs stores pairs of references: to the arguments of a begin and of its end. Its
// methods may be called from any goroutine, but Add from one only. The zero value is
// empty.
type Pairs struct {
	mu   sync.RWMutex
	runs [][][2]uint64 // runs of equal length, so that pairs never move
}

const pairRun = 4096

// Add keeps a pair and returns its number, counted from 0.
func (p *Pairs) Add(begin, end uint64) uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.runs) - 1
	if n < 0 || len(p.runs[n]) == pairRun {
		p.runs = append(p.runs, make([][2]uint64, 0, pairRun))
		n++
	}
	p.runs[n] = append(p.runs[n], [2]uint64{begin, end})
	return uint64(n*pairRun + len(p.runs[n]) - 1)
}

// At returns the pair with a number.
func (p *Pairs) At(number uint64) (begin, end uint64, ok bool) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	run, i := number/pairRun, number%pairRun
	if run >= uint64(len(p.runs)) || i >= uint64(len(p.runs[run])) {
		return 0, 0, false
	}
	x := p.runs[run][i]
	return x[0], x[1], true
}

// Pack appends the pairs to a state. They must be its last part (see [Pairs.Unpack]).
func (p *Pairs) Pack(to []byte) []byte {
	p.mu.RLock()
	defer p.mu.RUnlock()
	for _, run := range p.runs {
		for _, x := range run {
			to = binary.AppendUvarint(binary.AppendUvarint(to, x[0]), x[1]-x[0])
		}
	}
	return to
}

// Unpack adds the pairs that Pack wrote.
func (p *Pairs) Unpack(from []byte) {
	for len(from) > 0 {
		begin, n := binary.Uvarint(from)
		far, m := binary.Uvarint(from[max(n, 0):])
		if n <= 0 || m <= 0 {
			return
		}
		p.Add(begin, begin+far)
		from = from[n+m:]
	}
}

// JoinObjects returns one JSON object with the members of two, the arguments of a begin
// and of its end. Either may be "".
func JoinObjects(begin, end string) string {
	switch {
	case len(begin) <= len("{}"):
		return end
	case len(end) <= len("{}"):
		return begin
	}
	return begin[:len(begin)-1] + "," + end[1:]
}
