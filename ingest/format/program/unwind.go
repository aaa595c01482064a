package program

import (
	"debug/elf"
	"sort"
)

// extent is the address range of a function.
type extent struct{ low, high uint64 }

// mostUnwind limits the unpacked size, in bytes, of the sections that hold unwind tables.
const mostUnwind = 256 << 20

// extents returns the address ranges of functions, sorted, from the unwind tables, which
// stripped programs keep. The search table (.eh_frame_hdr) has the start of each function
// and the position of its entry in .eh_frame; see the chapter on exception frames of the
// Linux Standard Base, core specification, part "Object Format". Tables with an unusual
// encoding are ignored.
func extents(f *elf.File) (all []extent) {
	const relativeToHere, unsigned4, relativeToTable = 0x1b, 0x03, 0x3b
	table, frames := f.Section(".eh_frame_hdr"), f.Section(".eh_frame")
	if table == nil || frames == nil || table.Size > mostUnwind || frames.Size > mostUnwind {
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
		// An entry: its length, the offset of its common part, the function's start
		// relative to this field, and the function's length.
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

// Begin returns the start of the function that contains an address, even if the function
// has no symbol.
func (p *Program) Begin(pc uint64) (start uint64, ok bool) {
	i := sort.Search(len(p.extents), func(i int) bool { return p.extents[i].low > pc }) - 1
	if i < 0 || pc >= p.extents[i].high {
		return 0, false
	}
	return p.extents[i].low, true
}
