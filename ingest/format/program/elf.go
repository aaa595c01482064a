package program

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"io"
	"math"
	"strings"
)

// readELF reads an ELF file.
func (p *Program) readELF(r io.ReaderAt) error {
	if !boundedNames(r) {
		return errNoProgram
	}
	f, err := elf.NewFile(r)
	if err != nil {
		return errNoProgram
	}
	p.Moves, p.BuildID = f.Type == elf.ET_DYN, buildID(f)
	p.machine, p.order, p.entry, p.elf = f.Machine, f.ByteOrder, f.Entry, true
	if f.Type == elf.ET_REL {
		p.object = f
	}
	p.base = math.MaxUint64
	for _, l := range f.Progs {
		if l.Type == elf.PT_LOAD {
			p.segments = append(p.segments, segment{l.Vaddr, l.Memsz, l.Off, l.Filesz, l.Flags&elf.PF_X != 0, l})
			p.base = min(p.base, l.Vaddr)
		}
	}
	if len(p.segments) == 0 {
		p.base = 0
	}
	var symbols uint64
	for _, s := range f.Sections {
		p.addSection(section{s.Name, s.Addr, s.Addr + s.Size, s.Flags&elf.SHF_EXECINSTR != 0})
		switch s.Type {
		case elf.SHT_SYMTAB, elf.SHT_DYNSYM, elf.SHT_STRTAB:
			symbols = sum(symbols, s.Size)
		}
		if d, ok := debugOfELF(s); ok {
			p.debug = append(p.debug, d)
		}
	}
	p.orderSections()
	if symbols > mostSymbols {
		return errSymbols
	}
	// The package elf copies every name; many symbols with one long name would take gigabytes.
	for _, kind := range []elf.SectionType{elf.SHT_SYMTAB, elf.SHT_DYNSYM} {
		if err := p.elfSymbols(f, f.SectionByType(kind)); err != nil {
			return err
		}
	}
	p.extents = extents(f)
	if s := f.Section(".gnu_debuglink"); s != nil && s.Size <= mostLink {
		if b, err := s.Data(); err == nil {
			p.readLink(b)
		}
	}
	return nil
}

// elfSymbols adds the functions of a symbol table.
func (p *Program) elfSymbols(f *elf.File, table *elf.Section) error {
	if table == nil || table.Link == 0 || uint64(table.Link) >= uint64(len(f.Sections)) {
		return nil
	}
	all, err := table.Data()
	if err != nil {
		return nil
	}
	strings, err := f.Sections[table.Link].Data()
	if err != nil {
		return nil
	}
	names := newNames(strings)
	size := elf.Sym64Size
	if f.Class == elf.ELFCLASS32 {
		size = elf.Sym32Size
	}
	for all = all[min(len(all), size):]; len(all) >= size; all = all[size:] { // the first is empty
		s := symbol{Name: names.at(uint64(p.order.Uint32(all)))}
		var info byte
		var in uint16
		if f.Class == elf.ELFCLASS32 {
			s.Value, s.Size, info, in = uint64(p.order.Uint32(all[4:])), uint64(p.order.Uint32(all[8:])), all[12], p.order.Uint16(all[14:])
		} else {
			s.Value, s.Size, info, in = p.order.Uint64(all[8:]), p.order.Uint64(all[16:]), all[4], p.order.Uint16(all[6:])
		}
		if elf.ST_TYPE(info) == elf.STT_FUNC && elf.SectionIndex(in) != elf.SHN_UNDEF && s.Name != "" {
			p.funcs = append(p.funcs, s)
		}
	}
	if names.left == 0 {
		return errSymbols
	}
	return nil
}

// boundedNames reports whether the names of a file's sections have a bounded size. Package
// elf unpacks their table and copies each name.
func boundedNames(r io.ReaderAt) bool {
	head, err := readPart(r, 0, 64)
	if err != nil {
		head, err = readPart(r, 0, 52) // of 32 bits
		head = append(head, make([]byte, 12)...)
	}
	if err != nil {
		return false
	}
	var order binary.ByteOrder = binary.LittleEndian
	if head[elf.EI_DATA] == byte(elf.ELFDATA2MSB) {
		order = binary.BigEndian
	}
	// Offsets in the header of the file (width to counts) and of a section (flags, offset).
	width, at, counts, flags, offset := 8, 0x28, 0x3a, 8, 24
	if head[elf.EI_CLASS] == byte(elf.ELFCLASS32) {
		width, at, counts, flags, offset = 4, 0x20, 0x2e, 8, 16
	}
	word := func(b []byte) uint64 {
		if width == 4 {
			return uint64(order.Uint32(b))
		}
		return order.Uint64(b)
	}
	start := word(head[at:])
	each, number, table := uint64(order.Uint16(head[counts:])), uint64(order.Uint16(head[counts+2:])), uint64(order.Uint16(head[counts+4:]))
	if start == 0 {
		return true
	}
	section := func(i uint64) []byte {
		const largest = 64
		b, err := readPart(r, int64(start+i*each), int64(offset+3*width)) // up to sh_link
		if err != nil || each < uint64(len(b)) || each > largest {
			return nil
		}
		return b
	}
	if number == 0 || table == uint64(elf.SHN_XINDEX) {
		first := section(0)
		if first == nil {
			return false
		}
		if number == 0 {
			number = word(first[offset+width:])
		}
		if table == uint64(elf.SHN_XINDEX) {
			table = uint64(order.Uint32(first[offset+2*width:]))
		}
	}
	if table == 0 {
		return true
	}
	s := section(table)
	const most = 64 << 20
	if s == nil || word(s[flags:])&uint64(elf.SHF_COMPRESSED) != 0 || word(s[offset+width:]) > most {
		return false
	}
	names, err := readPart(r, int64(word(s[offset:])), int64(word(s[offset+width:])))
	if err != nil {
		return false
	}
	longest := 0
	for name := range bytes.SplitSeq(names, []byte{0}) {
		longest = max(longest, len(name))
	}
	return number < mostSymbols && number*uint64(longest) <= mostSymbols
}

// debugOfELF returns a section with debug information.
func debugOfELF(s *elf.Section) (d debugSection, ok bool) {
	name, old := strings.CutPrefix(s.Name, ".zdebug_")
	if !old {
		if name, ok = strings.CutPrefix(s.Name, ".debug_"); !ok {
			return d, false
		}
	}
	if s.Type == elf.SHT_NOBITS {
		return d, false
	}
	d = debugSection{name, s.Size, old, s.Data}
	if old && s.ReaderAt != nil {
		d.size = packedSize(s, s.Size)
	}
	return d, true
}

// buildID returns the build id from the note that linkers write, nil if there is none.
func buildID(f *elf.File) []byte {
	const most, kind, owner = 4096, 3, "GNU\x00"
	s := f.Section(".note.gnu.build-id")
	if s == nil || s.Type == elf.SHT_NOBITS || s.FileSize > most {
		return nil
	}
	b, err := s.Data()
	if err != nil || len(b) < 16 || f.ByteOrder.Uint32(b[8:]) != kind || string(b[12:16]) != owner {
		return nil
	}
	n := f.ByteOrder.Uint32(b[4:])
	if uint64(n) > uint64(len(b)-16) {
		return nil
	}
	return b[16 : 16+n]
}
