package chrome

import (
	"runtime"
	"sync"

	"ashlar/ingest/input/source"
)

// How several scanners work on one file.
//
// A byte's place in the file's structure is known only after all bytes before it have
// been read. But nearly all files have one event per line. So a chunk is cut into parts
// at lines that begin with a brace, and all parts are scanned at the same time as if an
// event began there. Then the parts are checked in order: a part is valid if the scanner
// of the preceding part stopped at exactly that brace, at the assumed place in the
// structure. If not, for example because the brace is inside a string of several lines,
// the rest of the chunk is scanned again by one scanner. So the result is the same as
// with one scanner.

// ahead scans a file with several scanners.
type ahead struct {
	path string
	free <-chan *batch
	// main scans the first part of each chunk, where its position is certain. Its number
	// is 0.
	main    *scanner
	others  []numbered
	made    int // number of scanners made so far
	refused int // number of times a part was invalid
}

// numbered is a scanner and its number. Each scanner has its own ids for names, so
// batches carry the number.
type numbered struct {
	*scanner
	number int
}

// mostRefused is the number of invalid parts after which scanning ahead stops: the file
// does not consist of lines.
const mostRefused = 8

// mostScanners is the maximum number of scanners. One builder cannot keep up even with
// this many.
const mostScanners = 8

// usualEvent is the size of an event with some arguments, in bytes.
const usualEvent = 256

// leastPart is the minimum size of a part, in bytes, that is worth a scanner.
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

// parts returns the number of scanners.
func (a *ahead) parts() int { return 1 + len(a.others) }

// batch returns an empty batch for scanner number, with room for the events of size
// bytes.
func (a *ahead) batch(number, size int) *batch {
	select {
	case bt := <-a.free:
		bt.events, bt.worker = bt.events[:0], number
		return bt
	default:
		return &batch{worker: number, events: make([]event, 0, size/usualEvent)}
	}
}

// part is a part of a chunk that is scanned before its place in the structure is known.
type part struct {
	from int // offset in the chunk
	used int // number of bytes scanned
	out  *batch
	err  error
}

// scan is like scanner.scan, but returns one batch for each part.
func (a *ahead) scan(b []byte, base int64, final bool) (used int, out []*batch, err error) {
	parts := a.cut(b)
	supposed := position{mode: inEvents, wrapped: a.main.wrapped, bare: a.main.bare, comma: true, reread: a.main.reread}
	if a.main.mode == atStart { // the first chunk shows the file's structure
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
	// A fault here must not leave the other scanners running.
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

// at reports whether two positions inside the list of events are equal. It ignores fields
// that matter only outside the list or during a search after damage.
func (x *position) at(y *position) bool {
	return x.mode == y.mode && x.wrapped == y.wrapped && x.comma == y.comma && x.lost == y.lost && x.reread == y.reread
}

// refuse discards the work of the scanners from part k on. It replaces the scanners too,
// because they may have interned invalid names.
func (a *ahead) refuse(k int) {
	if a.refused++; a.refused == mostRefused {
		a.others = nil
		return
	}
	for ; k < len(a.others); k++ {
		a.others[k] = a.another()
	}
}

// cut returns the parts of a chunk after the first one, at most one for each other
// scanner. The chunk is divided evenly, and each part begins at the next line that begins
// with a brace.
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
