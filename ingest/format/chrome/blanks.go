package chrome

import (
	"bytes"

	"ashlar/ingest/input/jsonscan"
)

// mostBlanks is the number of bytes in a row of white space within an element. No
// writer indents that far, but a small compressed file can hold gigabytes.
const mostBlanks = 4 << 20

// zeros returns the number of zeros that b begins with. A file that was allocated but not
// written has gigabytes of them.
func zeros(b []byte) (n int) {
	for len(b)-n >= len(blank) && bytes.Equal(b[n:n+len(blank)], blank[:]) {
		n += len(blank)
	}
	for n < len(b) && b[n] == 0 {
		n++
	}
	return n
}

var blank [4096]byte

// waits reports whether the element at p is cut off at the end of b and more input may
// complete it. st is the result of scanning it.
func (s *scanner) waits(b []byte, p int, st jsonscan.Status) bool {
	return st == jsonscan.More && !s.final && len(b)-p <= maxEvent && blanksIn(b[p:]) == 0
}

// blanksIn returns the end of the first mostBlanks bytes of white space in a row, or 0.
func blanksIn(b []byte) int {
	for end := mostBlanks; end <= len(b); {
		p := end
		for p > end-mostBlanks && b[p-1] <= ' ' {
			p--
		}
		if p == end-mostBlanks {
			return end
		}
		end = p + mostBlanks
	}
	return 0
}
