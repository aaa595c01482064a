package program

import (
	"bytes"
	"cmp"
	"compress/zlib"
	"debug/dwarf"
	"debug/elf"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"strings"
	"sync"
)

// described lists the DWARF sections that File, FindUnits and Places read. The others
// (locations of variables, name indexes) are a third of the bytes to unpack.
var described = []string{"abbrev", "info", "line", "ranges", "str", "addr", "line_str", "rnglists", "str_offsets"}

// readDWARF unpacks a program's debug information. It unpacks the sections in parallel
// because that takes most of the time of opening a program. info is the section with the
// compile units.
func readDWARF(f *elf.File) (d *dwarf.Data, info []byte, err error) {
	found, errs := map[string][]byte{}, make([]error, len(described))
	var mu sync.Mutex
	var all sync.WaitGroup
	for i, name := range described {
		s := cmp.Or(f.Section(".debug_"+name), f.Section(".zdebug_"+name))
		if s == nil || s.Type == elf.SHT_NOBITS {
			continue
		}
		all.Go(func() {
			var b []byte
			b, errs[i] = unpack(s)
			mu.Lock()
			defer mu.Unlock()
			found[name] = b
		})
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, nil, err
	}
	info = found["info"]
	if f.Type == elf.ET_REL { // relocations are not applied to info yet
		d, err = f.DWARF()
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

// unpack reads a section. In the older compression format the size follows "ZLIB";
// package elf handles the newer one.
func unpack(s *elf.Section) ([]byte, error) {
	b, err := s.Data()
	if err != nil || !strings.HasPrefix(s.Name, ".z") || !bytes.HasPrefix(b, []byte("ZLIB")) || len(b) < 12 {
		return b, err
	}
	r, err := zlib.NewReader(bytes.NewReader(b[12:]))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(r, int64(min(binary.BigEndian.Uint64(b[4:]), mostDWARF))))
}

func isDWARF(s *elf.Section) bool {
	return strings.HasPrefix(s.Name, ".debug_") || strings.HasPrefix(s.Name, ".zdebug_")
}

// unpacked returns the total uncompressed size, in bytes, of the sections for which of
// returns true.
func unpacked(f *elf.File, of func(*elf.Section) bool) (sum uint64) {
	for _, s := range f.Sections {
		if !of(s) || s.Type == elf.SHT_NOBITS {
			continue
		}
		size := s.Size
		// The older compression format stores the size in the section.
		var head [12]byte
		if strings.HasPrefix(s.Name, ".z") && s.ReaderAt != nil {
			if _, err := s.ReadAt(head[:], 0); err == nil && string(head[:4]) == "ZLIB" {
				size = binary.BigEndian.Uint64(head[4:])
			}
		}
		if sum += size; sum < size {
			return math.MaxUint64
		}
	}
	return sum
}
