package folded

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"strings"

	"ashlar/ingest/model/recording"
)

// call interns a stack and returns its leaf.
func (d *decoder) call(stack []byte) recording.CallID {
	// Frames shared with the previous line need no lookup.
	same := commonPrefix(d.prev, stack)
	n := len(d.ends)
	for n > 0 && (d.ends[n-1] > same || (d.ends[n-1] < len(stack) && stack[d.ends[n-1]] != ';')) {
		n--
	}
	parent, at := recording.NoCall, 0
	if n > 0 {
		parent, at = d.calls[n-1], d.ends[n-1]+1
	}
	d.prev, d.ends, d.calls = stack, d.ends[:n], d.calls[:n]
	for at <= len(stack) {
		end := bytes.IndexByte(stack[at:], ';')
		if end < 0 {
			end = len(stack)
		} else {
			end += at
		}
		f, ok := d.frames[string(stack[at:end])]
		if !ok {
			f = d.frame(string(stack[at:end]))
		}
		parent = d.b.Call(parent, f)
		d.ends = append(d.ends, end)
		d.calls = append(d.calls, parent)
		at = end + 1
	}
	return parent
}

// commonPrefix returns the length in bytes of the common prefix of a and b.
func commonPrefix(a, b []byte) int {
	n := min(len(a), len(b))
	i := 0
	for ; i+8 <= n; i += 8 {
		if x := binary.LittleEndian.Uint64(a[i:]) ^ binary.LittleEndian.Uint64(b[i:]); x != 0 {
			return i + bits.TrailingZeros64(x)/8
		}
	}
	for i < n && a[i] == b[i] {
		i++
	}
	return i
}

// frame adds the frame for a text that has not occurred before. raw is the text between two
// semicolons of a stack.
func (d *decoder) frame(raw string) recording.FrameID {
	name, kind, inlined := annotation(raw)
	module, name := splitModule(name)
	fn := recording.Function{Name: name, Module: module, Kind: kind, Unresolved: unresolved(name)}
	if name == "" {
		fn.Name, fn.Unresolved = "[unnamed]", true
	}
	id := d.b.Frame(recording.Frame{Func: d.b.Function(fn), Kind: kind, Inlined: inlined})
	d.frames[raw] = id
	return id
}

// annotation removes the suffixes that stackcollapse-perf.pl --all adds to names and
// flamegraph.pl uses for colours: _[k] kernel, _[i] inlined, _[j] compiled just in time.
// Other brackets, like the _[w] of a waker, stay.
func annotation(s string) (name string, kind recording.Kind, inlined bool) {
	if len(s) < 5 || s[len(s)-1] != ']' || s[len(s)-4:len(s)-2] != "_[" {
		return s, recording.KindUnknown, false
	}
	name = s[:len(s)-4]
	switch s[len(s)-2] {
	case 'k':
		return name, recording.KindKernel, false
	case 'j':
		return name, recording.KindManaged, false
	case 'i':
		return name, recording.KindUnknown, true
	}
	return s, recording.KindUnknown, false
}

// splitModule splits DTrace's "module`function". It does not split names with more than
// one backtick, or with characters before it that never occur in module names:
// Microsoft's C++ writes `anonymous namespace', other languages use backticks as quotes.
// Nor does it split names with a digit after the backtick, which is the number of type
// parameters of a .NET class (List`1), except for addresses (0x…).
func splitModule(s string) (module, name string) {
	i := strings.IndexByte(s, '`')
	if i <= 0 || i == len(s)-1 || strings.IndexByte(s[i+1:], '`') >= 0 || strings.ContainsAny(s[:i], " :'\"(<") {
		return "", s
	}
	if c := s[i+1]; c >= '0' && c <= '9' && !strings.HasPrefix(s[i+1:], "0x") {
		return "", s
	}
	return s[:i], s[i+1:]
}

// unresolved reports whether a name is only an address or "[unknown]".
func unresolved(name string) bool {
	if name == "[unknown]" {
		return true
	}
	hex, ok := strings.CutPrefix(name, "0x")
	return ok && hex != "" && strings.Trim(hex, "0123456789abcdefABCDEF") == ""
}
