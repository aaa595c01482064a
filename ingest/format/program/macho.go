package program

import (
	"debug/elf"
	"debug/macho"
	"encoding/binary"
	"encoding/hex"
	"io"
	"strings"
)

// Marks at the start of a file: of a part for one processor, and of files with several parts,
// which have their directory in the other byte order.
const (
	machO64      = "\xcf\xfa\xed\xfe"
	machOParts   = "\xca\xfe\xba\xbe"
	machOParts64 = "\xca\xfe\xba\xbf"
)

// readMachO reads a Mach-O file, as macOS has them. Of a file with parts for several
// processors it reads the one with an id, or else the first that disasm can decode.
func (p *Program) readMachO(r io.ReaderAt, id string) error {
	parts, err := partsOf(r)
	if err != nil {
		return err
	}
	chosen := -1
	for i, at := range parts {
		f, err := openMachO(r, at)
		if err != nil {
			continue
		}
		if known := f.machine() == elf.EM_X86_64 || f.machine() == elf.EM_AARCH64; chosen < 0 && (known || len(parts) == 1) {
			chosen = i
		}
		if id != "" && len(f.uuid) > 0 && strings.HasPrefix(plainID(id), hex.EncodeToString(f.uuid)) {
			chosen = i
			break
		}
	}
	if chosen < 0 {
		return errNoProgram
	}
	f, err := openMachO(r, parts[chosen])
	if err != nil {
		return err
	}
	return f.fill(p)
}

// partsOf returns the offsets of the parts of a file.
func partsOf(r io.ReaderAt) (at []int64, err error) {
	head, err := readPart(r, 0, 8)
	if err != nil {
		return nil, errNoProgram
	}
	size := 20
	switch string(head[:4]) {
	case machO64:
		return []int64{0}, nil
	case machOParts:
	case machOParts64:
		size = 32
	default:
		return nil, errNoProgram
	}
	const most = 32
	n := min(most, binary.BigEndian.Uint32(head[4:]))
	all, err := readPart(r, 8, int64(n)*int64(size))
	if err != nil {
		return nil, errNoProgram // such as a Java class file
	}
	for ; len(all) > 0; all = all[size:] {
		if size == 32 {
			at = append(at, int64(binary.BigEndian.Uint64(all[8:])))
		} else {
			at = append(at, int64(binary.BigEndian.Uint32(all[8:])))
		}
	}
	return at, nil
}

// machOFile is the code for one processor while it is read. The package debug/macho keeps
// a copy of every name, for which a small file can demand gigabytes.
type machOFile struct {
	macho.FileHeader
	r        io.ReaderAt
	at       int64 // offset in the file
	segments []macho.Segment64
	sections []macho.Section64
	symtab   macho.SymtabCmd
	starts   [2]uint32 // offset and size of the list of functions
	uuid     []byte
	entry    uint64 // from the start of the code
}

func (f *machOFile) machine() elf.Machine {
	switch f.Cpu {
	case macho.CpuAmd64:
		return elf.EM_X86_64
	case macho.CpuArm64:
		return elf.EM_AARCH64
	}
	return elf.EM_NONE
}

// openMachO reads the load commands of the part at an offset.
func openMachO(r io.ReaderAt, at int64) (*machOFile, error) {
	const size = 32 // of the header
	f := &machOFile{r: r, at: at}
	head, err := readPart(r, at, size)
	if err != nil || string(head[:4]) != machO64 {
		return nil, errNoProgram
	}
	le := binary.LittleEndian
	_, _ = binary.Decode(head, le, &f.FileHeader)
	if f.Cmdsz > mostHeader {
		return nil, errNoProgram
	}
	all, err := readPart(r, at+size, int64(f.Cmdsz))
	if err != nil {
		return nil, errNoProgram
	}
	const segment, section = 72, 80
	const uuid, functionStarts, entry = 0x1b, 0x26, 0x80000028
	for len(all) >= 8 {
		n := le.Uint32(all[4:])
		if n < 8 || uint64(n) > uint64(len(all)) {
			break
		}
		c := all[:n]
		all = all[n:]
		switch kind := le.Uint32(c); {
		case kind == uint32(macho.LoadCmdSegment64) && n >= segment:
			var s macho.Segment64
			_, _ = binary.Decode(c, le, &s)
			f.segments = append(f.segments, s)
			for c = c[segment:]; len(c) >= section && s.Nsect > 0; c = c[section:] {
				var x macho.Section64
				_, _ = binary.Decode(c, le, &x)
				f.sections = append(f.sections, x)
				s.Nsect--
			}
		case kind == uint32(macho.LoadCmdSymtab) && n >= 24:
			_, _ = binary.Decode(c, le, &f.symtab)
		case kind == uuid && n >= 24:
			f.uuid = c[8:24]
		case kind == functionStarts && n >= 16:
			f.starts = [2]uint32{le.Uint32(c[8:]), le.Uint32(c[12:])}
		case kind == entry && n >= 16:
			f.entry = le.Uint64(c[8:])
		}
	}
	return f, nil
}

// Flags of macOS.
const (
	machOMoves = 0x200000   // of a file: it can be loaded anywhere
	machOCode  = 0x80000400 // of a section: only, or some, instructions
)

// fill reads what the load commands refer to.
func (f *machOFile) fill(p *Program) error {
	p.machine, p.order, p.BuildID = f.machine(), binary.LittleEndian, f.uuid
	p.Moves = f.Flags&machOMoves != 0 || f.Type == macho.TypeDylib || f.Type == macho.TypeBundle
	for i := range f.segments {
		s := &f.segments[i]
		if text(s.Name[:]) == "__TEXT" {
			p.base, p.entry = s.Addr, s.Addr+f.entry
		}
		const executable = 4
		if s.Memsz == 0 || text(s.Name[:]) == "__PAGEZERO" || text(s.Name[:]) == "__DWARF" {
			continue
		}
		off := uint64(f.at) + s.Offset
		p.segments = append(p.segments, segment{s.Addr, s.Memsz, off, s.Filesz, s.Prot&executable != 0, io.NewSectionReader(f.r, int64(off), int64(s.Filesz))})
	}
	for i := range f.sections {
		s := &f.sections[i]
		name := text(s.Name[:])
		p.addSection(section{strings.Replace(name, "__", ".", 1), s.Addr, s.Addr + s.Size, s.Flags&machOCode != 0})
		if d, ok := debugOf(name, "__", io.NewSectionReader(f.r, f.at+int64(s.Offset), int64(min(s.Size, mostFile)))); ok && s.Offset > 0 {
			for _, whole := range described { // names have at most 16 letters
				if len(name) == len(s.Name) && strings.HasPrefix(whole, d.name) {
					d.name = whole
				}
			}
			p.debug = append(p.debug, d)
		}
	}
	p.orderSections()
	f.listed(p)
	return f.functions(p)
}

// mostFile is larger than any file.
const mostFile = 1 << 62

// functions reads the symbol table. C's symbols begin with an underscore.
func (f *machOFile) functions(p *Program) error {
	const size = 16
	n := int64(f.symtab.Nsyms) * size
	if n > mostSymbols || f.symtab.Strsize > mostSymbols {
		return errSymbols
	}
	table, err := readPart(f.r, f.at+int64(f.symtab.Symoff), n)
	if err != nil || n == 0 {
		return nil // as if stripped
	}
	strings, err := readPart(f.r, f.at+int64(f.symtab.Stroff), int64(f.symtab.Strsize))
	if err != nil {
		return nil
	}
	names := newNames(strings)
	for ; len(table) >= size; table = table[size:] {
		const debugger, defined, inSection = 0xe0, 0x0e, 0x0e
		kind, number := table[4], int(table[5])
		if kind&debugger != 0 || kind&defined != inSection || number < 1 || number > len(f.sections) || f.sections[number-1].Flags&machOCode == 0 {
			continue
		}
		name := names.at(uint64(binary.LittleEndian.Uint32(table)))
		if len(name) > 1 && name[0] == '_' {
			name = name[1:]
		}
		if name != "" {
			p.funcs = append(p.funcs, symbol{Name: name, Value: binary.LittleEndian.Uint64(table[8:])})
		}
	}
	if names.left == 0 {
		return errSymbols
	}
	return nil
}

// listed reads the list of functions, which stripped programs keep: the distance of each to
// the one before, seven bits a byte, the lowest first.
func (f *machOFile) listed(p *Program) {
	if f.starts[1] == 0 || f.starts[1] > mostUnwind {
		return
	}
	b, err := readPart(f.r, f.at+int64(f.starts[0]), int64(f.starts[1]))
	if err != nil {
		return
	}
	at := p.base
	for len(b) > 0 {
		far, n := binary.Uvarint(b)
		if n <= 0 || far == 0 || at+far < at {
			break
		}
		at, b = at+far, b[n:]
		if k := len(p.extents); k > 0 {
			p.extents[k-1].high = at
		}
		p.extents = append(p.extents, extent{at, at + 1})
	}
	if k := len(p.extents); k > 0 {
		p.extents[k-1].high = max(at+1, p.endOfSection(at))
	}
}
