package perfscript

import (
	"bytes"
	"math"
)

// header is the first line of a sample. perf prints the fields that -F asks for, in this
// order:
//
//	comm pid/tid [cpu] misc time: period event: the rest
//
// If only one of pid and tid is printed, it is the tid, unless -F asked for the pid.
type header struct {
	comm             []byte
	pid, tid         int64
	hasPID, hasTID   bool
	cpu              int // -1 when not printed
	ns               int64
	hasTime          bool
	period           int64
	hasPeriod        bool
	event            []byte // nil when not printed
	rest             []byte
	side             []byte // PERF_RECORD_… of a line that is not a sample
	weak             bool   // only a comm was found, so the line could be any text
	periodOutOfRange bool
}

// maxTokens is the number of words examined per line. A comm has at most 15 bytes, so the
// fields after it begin well before that.
const maxTokens = 24

// token is the position of a word.
type token struct{ from, to int }

// parseHeader parses a trimmed line. A comm may contain anything, including spaces and
// numbers, so it ends at the first place after which the whole rest of the line can be
// parsed.
func parseHeader(l []byte, h *header) bool {
	var words [maxTokens]token
	n := tokens(l, words[:])
	word := func(i int) []byte { return l[words[i].from:words[i].to] }
	for i := range n {
		var pid, tid int64
		if _, isTime := seconds(word(i)); isTime {
			break // the thread comes before
		}
		slash, ok := ids(word(i), &pid, &tid)
		if !ok {
			continue
		}
		try := header{cpu: -1, pid: pid, tid: tid, hasPID: slash, hasTID: true}
		if !tail(l, words[:n], i+1, &try) {
			continue
		}
		try.comm = bytes.TrimSpace(l[:words[i].from])
		*h = try
		return true
	}
	// No thread was printed.
	for i := range n {
		try := header{cpu: -1}
		if !tail(l, words[:n], i, &try) || !try.hasTime && (try.event == nil || i > 1) {
			continue
		}
		try.comm = bytes.TrimSpace(l[:words[i].from])
		*h = try
		return true
	}
	if n > 0 && len(l) <= 32 {
		*h = header{cpu: -1, comm: l, weak: true}
		return true
	}
	return false
}

// tail parses the fields after the thread, from word i on. It returns false unless there
// is a time, a CPU or an event.
func tail(l []byte, words []token, i int, h *header) bool {
	word := func(i int) []byte {
		if i >= len(words) {
			return nil
		}
		return l[words[i].from:words[i].to]
	}
	if w := word(i); len(w) > 2 && w[0] == '[' && w[len(w)-1] == ']' {
		if n, ok := integer(w[1 : len(w)-1]); ok && n < math.MaxInt32 {
			h.cpu = int(n)
			i++
		}
	}
	if w := word(i); misc(w) {
		if ns, ok := seconds(word(i + 1)); ok {
			h.ns, h.hasTime = ns, true
			i += 2
		}
	}
	if ns, ok := seconds(word(i)); ok && !h.hasTime {
		h.ns, h.hasTime = ns, true
		i++
	}
	if w := word(i); digits(w) {
		next := word(i + 1)
		if next == nil && h.hasTime || len(next) > 1 && next[len(next)-1] == ':' {
			h.period, h.hasPeriod = integer(w)
			h.periodOutOfRange = !h.hasPeriod
			i++
		}
	}
	w := word(i)
	switch {
	case bytes.HasPrefix(w, []byte("PERF_RECORD_")):
		h.side = w
		i++
	case len(w) > 1 && w[len(w)-1] == ':':
		if _, isTime := seconds(w); isTime {
			return false
		}
		h.event = w[:len(w)-1]
		i++
	}
	if i < len(words) {
		h.rest = bytes.TrimSpace(l[words[i].from:])
	}
	return h.hasTime || h.event != nil || h.cpu >= 0 && h.rest == nil
}

// tokens finds the words of a line.
func tokens(l []byte, words []token) int {
	n := 0
	for i := 0; i < len(l) && n < len(words); {
		for i < len(l) && blank(l[i]) {
			i++
		}
		if i == len(l) {
			break
		}
		from := i
		for i < len(l) && !blank(l[i]) {
			i++
		}
		words[n] = token{from, i}
		n++
	}
	return n
}

// ids parses "tid" or "pid/tid". perf prints -1 for an unknown thread.
func ids(w []byte, pid, tid *int64) (slash, ok bool) {
	if i := bytes.IndexByte(w, '/'); i >= 0 {
		if *pid, ok = signed(w[:i]); !ok {
			return false, false
		}
		*tid, ok = signed(w[i+1:])
		return true, ok
	}
	*tid, ok = signed(w)
	return false, ok
}

func signed(w []byte) (int64, bool) {
	if len(w) > 1 && w[0] == '-' {
		n, ok := integer(w[1:])
		return -n, ok
	}
	return integer(w)
}

// integer reads decimal digits.
func integer(w []byte) (int64, bool) {
	if len(w) == 0 || len(w) > 19 {
		return 0, false
	}
	var n uint64
	for _, c := range w {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + uint64(c-'0')
	}
	return int64(n), n <= math.MaxInt64
}

func digits(w []byte) bool {
	for _, c := range w {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(w) > 0
}

// seconds reads a time like "203265.377019:" as nanoseconds.
func seconds(w []byte) (int64, bool) {
	if len(w) < 4 || w[len(w)-1] != ':' {
		return 0, false
	}
	w = w[:len(w)-1]
	dot := bytes.IndexByte(w, '.')
	if dot < 1 || dot > 11 || len(w)-dot-1 > 9 || dot == len(w)-1 {
		return 0, false
	}
	s, ok := integer(w[:dot])
	f, ok2 := integer(w[dot+1:])
	if !ok || !ok2 {
		return 0, false
	}
	if s > math.MaxInt64/1_000_000_000-1 {
		return math.MaxInt64, true // perf's times have 64 bits: this one is far from any other
	}
	for range 9 - (len(w) - dot - 1) {
		f *= 10
	}
	return s*1_000_000_000 + f, true
}

// misc reports whether w is output of -F misc: K or U for kernel or user, H
// or G for hypervisor or guest, and the like.
func misc(w []byte) bool {
	return len(w) > 0 && len(w) <= 8 && len(bytes.Trim(w, "KUHGMECSP!")) == 0
}
