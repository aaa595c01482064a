package program

import (
	"io"
	"sort"
	"strings"
)

// names is a table of strings that end with a zero byte. Several symbols may share the end
// of a long string; names neither copies it nor searches it for each of them.
type names struct {
	all  string
	left int // bytes that may still be searched
}

func newNames(table []byte) *names { return &names{string(table), mostSymbols} }

// at returns the string at an offset, "" if there is none.
func (n *names) at(offset uint64) string {
	if offset >= uint64(len(n.all)) {
		return ""
	}
	s := n.all[offset:]
	s = s[:min(len(s), n.left)]
	if end := strings.IndexByte(s, 0); end >= 0 {
		s = s[:end]
	}
	n.left -= len(s)
	return s
}

// measure gives functions without a size the code up to the next function or, where the
// unwind tables know it, their end.
func (p *Program) measure() {
	next := ^uint64(0)
	for i := len(p.funcs) - 1; i >= 0; i-- {
		f := &p.funcs[i]
		if i+1 < len(p.funcs) && p.funcs[i+1].Value > f.Value {
			next = p.funcs[i+1].Value
		}
		f.Size = max(f.Value, min(next, p.endOfSection(f.Value))) - f.Value
		k := sort.Search(len(p.extents), func(k int) bool { return p.extents[k].low >= f.Value })
		if k < len(p.extents) && p.extents[k].low == f.Value {
			f.Size = min(f.Size, p.extents[k].high-f.Value)
		}
	}
}

const mostLink = 4096 // bytes

// readLink reads the name of the file with debug information: it ends with a zero, and its
// checksum follows at a multiple of four bytes.
func (p *Program) readLink(b []byte) {
	name := text(b)
	if at := (len(name) + 4) &^ 3; len(b) >= at+4 {
		p.link, p.linkSum = name, p.order.Uint32(b[at:])
	}
}

// debugOf returns a section of a PE or Mach-O file with debug information. lead is the
// beginning of its name in that format: "." or "__".
func debugOf(name, lead string, r *io.SectionReader) (d debugSection, ok bool) {
	if name, ok = strings.CutPrefix(name, lead); !ok {
		return d, false
	}
	d.size = uint64(r.Size())
	d.data = func() ([]byte, error) { return readPart(r, 0, r.Size()) }
	if d.name, ok = strings.CutPrefix(name, "debug_"); ok {
		return d, true
	}
	if d.name, d.packed = strings.CutPrefix(name, "zdebug_"); d.packed {
		d.size = packedSize(r, d.size)
	}
	return d, d.packed
}
