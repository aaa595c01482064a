package program

import (
	"bytes"
	"compress/zlib"
	"debug/dwarf"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"slices"
	"sync"
)

// described lists the DWARF sections that File, FindUnits and Places read. The others
// (locations of variables, name indexes) are a third of the bytes to unpack.
var described = []string{"abbrev", "info", "line", "ranges", "str", "addr", "line_str", "rnglists", "str_offsets"}

// A debugSection has debug information; its name begins after ".debug_". If it is packed,
// its content may begin with "ZLIB", the size and a zlib stream.
type debugSection struct {
	name   string
	size   uint64 // unpacked
	packed bool
	data   func() ([]byte, error)
}

// readDWARF unpacks a program's debug information. It unpacks the sections in parallel
// because that takes most of the time of opening a program. info is the section with the
// compile units.
func (p *Program) readDWARF() (d *dwarf.Data, info []byte, err error) {
	found, errs := map[string][]byte{}, make([]error, len(described))
	var mu sync.Mutex
	var all sync.WaitGroup
	for i, name := range described {
		k := slices.IndexFunc(p.debug, func(s debugSection) bool { return s.name == name })
		if k < 0 {
			continue
		}
		all.Go(func() {
			var b []byte
			b, errs[i] = p.debug[k].unpack()
			mu.Lock()
			defer mu.Unlock()
			found[name] = b
		})
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, nil, err
	}
	info, p.addrs = found["info"], found["addr"]
	if p.object != nil { // relocations are not applied to info yet
		d, err = p.object.DWARF()
		return d, info, err
	}
	d, err = dwarf.New(found["abbrev"], nil, nil, info, found["line"], nil, found["ranges"], found["str"])
	for _, name := range described[5:] {
		if b := found[name]; b != nil && err == nil {
			err = d.AddSection(".debug_"+name, b)
		}
	}
	return d, info, err
}

// unpack reads a section.
func (s *debugSection) unpack() ([]byte, error) {
	b, err := s.data()
	if err != nil || !s.packed || !bytes.HasPrefix(b, []byte("ZLIB")) || len(b) < 12 {
		return b, err
	}
	r, err := zlib.NewReader(bytes.NewReader(b[12:]))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(r, int64(min(binary.BigEndian.Uint64(b[4:]), mostDWARF))))
}

// packedSize returns the size after unpacking of a section that may begin with "ZLIB".
func packedSize(r io.ReaderAt, size uint64) uint64 {
	var head [12]byte
	if _, err := r.ReadAt(head[:], 0); err == nil && string(head[:4]) == "ZLIB" {
		return binary.BigEndian.Uint64(head[4:])
	}
	return size
}

// unpacked returns the total uncompressed size of sections, in bytes.
func unpacked(all []debugSection) (size uint64) {
	for i := range all {
		size = sum(size, all[i].size)
	}
	return size
}

// sum adds sizes; a sum that is too large for 64 bits is the largest number.
func sum(a, b uint64) uint64 {
	if a+b < a {
		return math.MaxUint64
	}
	return a + b
}
