package program

import (
	"debug/dwarf"
	"debug/elf"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"

	"ashlar/ingest/input/source"
)

// entries are the debug entries of a program or of a split unit.
type entries struct {
	*dwarf.Data
	names map[dwarf.Offset]string
	// A split unit has its own list of ranges, relative to base, and its addresses in a table
	// of the program.
	split         bool
	root          dwarf.Offset // its first entry
	base          uint64
	ranges, addrs []byte
	order         binary.ByteOrder
	width         int // of an address
	info          []byte
}

// Sizes of the headers that precede the tables of a split unit (DWARF 5, 7.26 and 7.28).
const (
	stringsHeader = 8
	rangesHeader  = 12
)

// openSplit returns the entries of a unit that the compiler put in a file of its own (.dwo),
// or that dwp then collected with others in one file (.dwp). It returns nil if this is
// not such a unit, or its file is not found. Only DWARF 5 is supported.
func (p *Program) openSplit(u *unit) *entries {
	name, _ := u.entry.Val(dwarf.AttrDwoName).(string)
	if u.id == 0 || name == "" {
		return nil
	}
	dir, _ := u.entry.Val(dwarf.AttrCompDir).(string)
	beside := filepath.Dir(p.path)
	paths := []string{p.path + ".dwp", strings.TrimSuffix(p.path, ".debug") + ".dwp"}
	if filepath.IsAbs(name) {
		paths = append(paths, name)
	} else {
		paths = append(paths, filepath.Join(dir, name), filepath.Join(beside, name))
	}
	for _, path := range append(paths, filepath.Join(beside, filepath.Base(name))) {
		if e := p.splitIn(path, u); e != nil {
			return e
		}
	}
	return nil
}

// splitIn opens a unit in a file, nil if the file does not have it.
func (p *Program) splitIn(path string, u *unit) *entries {
	real, err := source.Ordinary(path)
	if err != nil {
		return nil
	}
	file, err := os.Open(real)
	if err != nil {
		return nil
	}
	defer file.Close()
	if !boundedNames(file) {
		return nil
	}
	f, err := elf.NewFile(file)
	if err != nil || f.ByteOrder != p.order {
		return nil
	}
	part, ok := map[uint32][2]uint32(nil), true
	if index := f.Section(".debug_cu_index"); index != nil {
		if index.Size > mostUnwind {
			return nil
		}
		b, err := index.Data()
		if err != nil {
			return nil
		}
		if part, ok = inPackage(p.order, b, u.id); !ok {
			return nil
		}
	}
	read := func(name string, kind uint32) []byte {
		s := f.Section(".debug_" + name + ".dwo")
		if s == nil || s.Size > mostDWARF {
			return nil
		}
		if part == nil || kind == 0 {
			b, _ := s.Data()
			return b
		}
		at := part[kind]
		if s.Flags&elf.SHF_COMPRESSED == 0 {
			b, _ := readPart(s, int64(at[0]), int64(at[1]))
			return b
		}
		b, err := s.Data()
		if err != nil || uint64(at[0])+uint64(at[1]) > uint64(len(b)) {
			return nil
		}
		return b[at[0] : at[0]+at[1]]
	}
	const info, abbrev, strOffsets, rngLists = 1, 3, 6, 8 // numbers of sections in the index
	e := &entries{names: map[dwarf.Offset]string{}, split: true, order: p.order, width: 8, info: read("info", info)}
	if f.Class == elf.ELFCLASS32 {
		e.width = 4
	}
	size, header, id := unitHeader(p.order, e.info)
	if size == 0 || id != u.id || header > size {
		return nil
	}
	e.root = dwarf.Offset(header)
	d, err := dwarf.New(read("abbrev", abbrev), nil, nil, e.info, nil, nil, nil, read("str", 0))
	if err != nil {
		return nil
	}
	// The positions in the tables count from behind their headers.
	after := func(b []byte, header int) []byte { return b[min(len(b), header):] }
	base, _ := u.entry.Val(dwarf.AttrAddrBase).(int64)
	e.addrs = after(p.addrs, int(max(0, min(base, int64(len(p.addrs))))))
	e.ranges = after(read("rnglists", rngLists), rangesHeader)
	e.base, _ = u.entry.Val(dwarf.AttrLowpc).(uint64)
	for name, b := range map[string][]byte{"addr": e.addrs, "rnglists": e.ranges, "str_offsets": after(read("str_offsets", strOffsets), stringsHeader)} {
		if d.AddSection(".debug_"+name, b) != nil {
			return nil
		}
	}
	e.Data = d
	return e
}

// inPackage returns the parts of the sections, by their numbers, that belong to a unit of a
// .dwp file (DWARF 5, 7.3.5.3).
func inPackage(order binary.ByteOrder, b []byte, id uint64) (map[uint32][2]uint32, bool) {
	const header = 16
	if len(b) < header || order.Uint16(b) != 5 {
		return nil, false
	}
	columns, units, slots := uint64(order.Uint32(b[4:])), uint64(order.Uint32(b[8:])), uint64(order.Uint32(b[12:]))
	if columns > 16 || header+12*slots+4*columns+8*columns*units > uint64(len(b)) {
		return nil, false
	}
	ids, rows := b[header:], b[header+8*slots:]
	kinds := rows[4*slots:]
	offsets := kinds[4*columns:]
	sizes := offsets[4*columns*units:]
	for i := range slots {
		row := uint64(order.Uint32(rows[4*i:]))
		if order.Uint64(ids[8*i:]) != id || row == 0 || row > units {
			continue
		}
		part := map[uint32][2]uint32{}
		for k := range columns {
			at := 4 * ((row-1)*columns + k)
			part[order.Uint32(kinds[4*k:])] = [2]uint32{order.Uint32(offsets[at:]), order.Uint32(sizes[at:])}
		}
		return part, true
	}
	return nil, false
}

// list returns the ranges at an offset of a list (DWARF 5, 7.25).
func (e *entries) list(at uint64) (all [][2]uint64) {
	if at > uint64(len(e.ranges)) {
		return nil
	}
	b, base := e.ranges[at:], e.base
	number := func() uint64 {
		v, n := binary.Uvarint(b)
		if n <= 0 {
			b = nil
			return 0
		}
		b = b[n:]
		return v
	}
	address := func(from []byte) uint64 {
		switch {
		case len(from) < e.width:
			b = nil
			return 0
		case e.width == 4:
			return uint64(e.order.Uint32(from))
		}
		return e.order.Uint64(from)
	}
	indexed := func() uint64 {
		i := number()
		return address(e.addrs[min(i, uint64(len(e.addrs)/e.width))*uint64(e.width):])
	}
	plain := func() uint64 {
		v := address(b)
		b = b[min(len(b), e.width):]
		return v
	}
	const baseX, startX, startLengthX, offsets, baseAddress, startEnd, startLength = 1, 2, 3, 4, 5, 6, 7
	for len(b) > 0 {
		kind := b[0]
		b = b[1:]
		var low, high uint64
		switch kind {
		case baseX:
			base = indexed()
		case startX:
			low, high = indexed(), indexed()
		case startLengthX:
			low = indexed()
			high = low + number()
		case offsets:
			low = base + number()
			high = base + number()
		case baseAddress:
			base = plain()
		case startEnd:
			low, high = plain(), plain()
		case startLength:
			low = plain()
			high = low + number()
		default: // the end
			return all
		}
		if low < high {
			all = append(all, [2]uint64{low, high})
		}
	}
	return all
}

// rangesOf returns the addresses of an entry.
func (e *entries) rangesOf(x *dwarf.Entry) [][2]uint64 {
	if f := x.AttrField(dwarf.AttrRanges); e.split && f != nil && f.Class == dwarf.ClassRngList {
		at, _ := f.Val.(uint64)
		return e.list(at)
	}
	all, err := e.Data.Ranges(x)
	if err != nil {
		return nil
	}
	return all
}
