package chrome

import (
	"runtime"
	"sync"

	"ashlar/ingest/input/source"
)

// How several scanners work on one file.
//
// Where in the file's structure a byte is only shows by reading all before it. But
// nearly all files have a line for each event. So a chunk is cut into parts at
// lines that begin with a brace, and each part is scanned at the same time as if
// an event began there. Then the parts are taken in order: one holds if the
// scanner of what is before it has come to exactly that brace, and to the place
// that was supposed. Where it does not, as inside a string of many lines, the rest
// of the chunk is scanned again, in order. So the outcome is that of one scanner.

// ahead scans chunks by several scanners.
type ahead struct {
	path string
	free <-chan *batch
	// main is the scanner whose place is the true one; it has number 0.
	main    *scanner
	others  []numbered
	made    int // how many scanners there have been
	refused int // how often a part did not hold
}

// numbered is a scanner with the number of its ids.
type numbered struct {
	*scanner
	number int
}

// mostRefused is how many parts may not hold before no more are tried: the file
// is not one of lines.
const mostRefused = 8

// mostScanners is more than one builder keeps up with.
const mostScanners = 8

// usualEvent is how many bytes an event with some arguments has.
const usualEvent = 256

// leastPart is how short a part of a chunk may be that is worth a scanner.
const leastPart = 64

func newAhead(path string, workers int, free <-chan *batch) *ahead {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	a := &ahead{path: path, free: free, main: newScanner(), made: 1}
	for range min(workers, mostScanners) - 1 {
		a.others = append(a.others, a.another())
	}
	return a
}

func (a *ahead) another() numbered {
	a.made++
	return numbered{newScanner(), a.made - 1}
}

// parts is how many scanners there are.
func (a *ahead) parts() int { return 1 + len(a.others) }

// batch is the batch for the events in this number of bytes.
func (a *ahead) batch(number, size int) *batch {
	select {
	case bt := <-a.free:
		bt.events, bt.worker = bt.events[:0], number
		return bt
	default:
		return &batch{worker: number, events: make([]event, 0, size/usualEvent)}
	}
}

// part is a part of a chunk that is scanned before it is known what it is.
type part struct {
	from int // in the chunk
	used int // of the part
	out  *batch
	err  error
}

// scan is scanner.scan, with a batch for each part.
func (a *ahead) scan(b []byte, base int64, final bool) (used int, out []*batch, err error) {
	parts := a.cut(b)
	supposed := position{mode: inEvents, wrapped: a.main.wrapped, bare: a.main.bare, comma: true, reread: a.main.reread}
	if a.main.mode == atStart { // the first chunk says
		parts = nil
	}
	var wait sync.WaitGroup
	for k := range parts {
		p, s := &parts[k], a.others[k]
		s.position = supposed
		end := len(b)
		if k+1 < len(parts) {
			end = parts[k+1].from
		}
		p.out = a.batch(s.number, end-p.from)
		wait.Go(func() {
			p.err = source.Protect(a.path, func() error {
				p.used = s.scan(b[p.from:end], base+int64(p.from), final && end == len(b), p.out)
				return nil
			})
		})
	}
	end := len(b)
	if len(parts) > 0 {
		end = parts[0].from
	}
	first := a.batch(0, end)
	// A fault here must not leave the others behind.
	err = source.Guard(a.path, func() error {
		used = a.main.scan(b[:end], base, final && end == len(b), first)
		return nil
	})
	wait.Wait()
	if err != nil {
		return 0, nil, err
	}
	out = append(out, first)
	for k := range parts {
		p := &parts[k]
		if p.err != nil {
			return 0, nil, p.err
		}
		if used != p.from || !a.main.at(&supposed) {
			a.refuse(k)
			break
		}
		used += p.used
		a.main.position = a.others[k].position
		out = append(out, p.out)
	}
	if last := len(parts); len(out) <= last && used < len(b) {
		rest := a.batch(0, len(b)-used)
		used += a.main.scan(b[used:], base+int64(used), final, rest)
		out = append(out, rest)
	}
	return used, out, nil
}

// at reports whether a position among the events, if none is lost, is another
// one.
func (x *position) at(y *position) bool {
	return x.mode == y.mode && x.wrapped == y.wrapped && x.comma == y.comma && x.lost == y.lost && x.reread == y.reread
}

// refuse gives up what scanners have made of parts from number k on. Their names
// may be none, so that they are not used again.
func (a *ahead) refuse(k int) {
	if a.refused++; a.refused == mostRefused {
		a.others = nil
		return
	}
	for ; k < len(a.others); k++ {
		a.others[k] = a.another()
	}
}

// cut chooses where a chunk is divided: at the first line from each border on
// that begins with a brace.
func (a *ahead) cut(b []byte) []part {
	n := a.parts()
	var parts []part
	last := 0
	for k := 1; k < n; k++ {
		from := len(b) * k / n
		if from < last+leastPart {
			continue
		}
		to := len(b) * (k + 1) / n
		if q := lineStart(b, from, to-1); q > 0 {
			parts = append(parts, part{from: q})
			last = q
		}
	}
	return parts
}
