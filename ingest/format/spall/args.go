package spall

import (
	"strings"
	"sync"

	"ashlar/ingest/input/source"
)

// argStore holds the text of arguments. A reference is offset<<16 | length. The offset is
// into the mapped content if there is one, else into the stored text; there it begins at
// 1 << 20 so that no reference is 0.
type argStore struct {
	in *source.Input

	mu     sync.RWMutex
	blocks [][]byte
	recent [1 << 10]uint64 // references by a hash of the text
}

const argBlock = 1 << 20

// ref returns a reference to the arguments b, which are at offset off in the content.
func (a *argStore) ref(b []byte, off int64) uint64 {
	if a.in.Mapped() != nil {
		return uint64(off)<<16 | uint64(len(b))
	}
	slot := &a.recent[hashName(b)%uint64(len(a.recent))]
	if *slot != 0 && int(*slot&0xffff) == len(b) && string(a.stored(*slot)) == string(b) {
		return *slot
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	n := len(a.blocks)
	if n == 0 || len(a.blocks[n-1])+len(b) > argBlock {
		a.blocks = append(a.blocks, make([]byte, 0, argBlock))
		n++
	}
	last := &a.blocks[n-1]
	*slot = uint64(n*argBlock+len(*last))<<16 | uint64(len(b))
	*last = append(*last, b...)
	return *slot
}

// stored returns the stored text of a reference, which never changes.
func (a *argStore) stored(ref uint64) []byte {
	a.mu.RLock()
	defer a.mu.RUnlock()
	off, n := ref>>16, ref&0xffff
	k := off/argBlock - 1
	if k >= uint64(len(a.blocks)) || off%argBlock+n > uint64(len(a.blocks[k])) {
		return nil
	}
	return a.blocks[k][off%argBlock:][:n]
}

// argsOf implements Format.Args. References need no data besides the file.
func argsOf(in *source.Input, _ []byte) (text func(uint64) string, cpu func(uint64) (int64, bool)) {
	return (&argStore{in: in}).text, nil
}

// text implements Recording.Args.
func (a *argStore) text(ref uint64) string {
	if ref == 0 {
		return ""
	}
	if a.in.Mapped() != nil {
		return strings.ToValidUTF8(a.in.Text(int64(ref>>16), int(ref&0xffff)), "\uFFFD")
	}
	return strings.ToValidUTF8(string(a.stored(ref)), "\uFFFD")
}
