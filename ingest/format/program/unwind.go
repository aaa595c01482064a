package program

import (
	"debug/elf"
	"sort"
)

// extent is where a function is.
type extent struct{ low, high uint64 }

// mostUnwind bounds the sections that say where functions are.
const mostUnwind = 256 << 20

// extents are where functions are by what unwinds their stacks, which programs keep also
// where their symbols were taken away; in order. The table for searching in it
// (.eh_frame_hdr) has the beginning of each function and where more is said of it; see
// the chapter on exception frames of the Linux Standard Base, core specification, part
// "Object Format". Tables that are encoded in other ways than the usual one are left alone.
func extents(f *elf.File) (all []extent) {
	const relativeToHere, unsigned4, relativeToTable = 0x1b, 0x03, 0x3b
	table, frames := f.Section(".eh_frame_hdr"), f.Section(".eh_frame")
	if table == nil || frames == nil || unpacked(f, func(s *elf.Section) bool { return s == table || s == frames }) > mostUnwind {
		return nil
	}
	b, err := table.Data()
	if err != nil || len(b) < 12 || b[0] != 1 || b[1] != relativeToHere || b[2] != unsigned4 || b[3] != relativeToTable {
		return nil
	}
	said, err := frames.Data()
	if err != nil {
		return nil
	}
	order := f.ByteOrder
	for n := order.Uint32(b[8:]); n > 0 && len(b) >= 20; n-- {
		at := func(i int) uint64 { return table.Addr + uint64(int64(int32(order.Uint32(b[i:])))) }
		low, entry := at(12), at(16)-frames.Addr
		b = b[8:]
		// An entry: its length, where what it shares with others lies, the function's
		// beginning, from here, and how long it is.
		if entry > uint64(len(said)) || uint64(len(said))-entry < 16 {
			continue
		}
		e := said[entry:]
		if frames.Addr+entry+8+uint64(int64(int32(order.Uint32(e[8:])))) == low {
			all = append(all, extent{low, low + uint64(order.Uint32(e[12:]))})
		}
	}
	sort.Slice(all, func(i, j int) bool { return all[i].low < all[j].low })
	return all
}

// Begin is where the function begins that an address is in, also of one without a symbol.
func (p *Program) Begin(pc uint64) (start uint64, ok bool) {
	i := sort.Search(len(p.extents), func(i int) bool { return p.extents[i].low > pc }) - 1
	if i < 0 || pc >= p.extents[i].high {
		return 0, false
	}
	return p.extents[i].low, true
}
