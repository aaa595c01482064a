package program

import (
	"bytes"
	"debug/elf"
	"debug/pe"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// Limits on what a header may ask for.
const (
	mostSections = 4096
	mostHeader   = 1 << 20 // bytes of optional header or load commands
)

// peFile is a PE file while it is read.
type peFile struct {
	io.ReaderAt
	pe.FileHeader
	image       uint64 // address of the image, if it is loaded where it was linked for
	size        uint32 // of the image in memory
	moves       bool
	entry       uint32
	directories []pe.DataDirectory
	sections    []pe.SectionHeader32
	names       []byte // string table
}

// readPE reads a PE file, as Windows has them: see "PE Format" in Microsoft's documentation.
// The package debug/pe also reads relocations, and keeps a copy of every name, for which a
// small file can demand gigabytes.
func (p *Program) readPE(r io.ReaderAt) error {
	f, err := openPE(r)
	if err != nil {
		return errNoProgram
	}
	p.order, p.Moves, p.base, p.entry = binary.LittleEndian, f.moves, f.image, f.image+uint64(f.entry)
	switch f.Machine {
	case pe.IMAGE_FILE_MACHINE_AMD64:
		p.machine = elf.EM_X86_64
	case pe.IMAGE_FILE_MACHINE_ARM64:
		p.machine = elf.EM_AARCH64
	case pe.IMAGE_FILE_MACHINE_I386:
		p.machine = elf.EM_386
	case pe.IMAGE_FILE_MACHINE_ARMNT:
		p.machine = elf.EM_ARM
	}
	p.codeID = fmt.Sprintf("%08x%x", f.TimeDateStamp, f.size)
	var symbols []byte
	if at, n := int64(f.PointerToSymbolTable), pe.COFFSymbolSize*int64(f.NumberOfSymbols); at > 0 && n > 0 {
		if n > mostSymbols {
			return errSymbols
		}
		var size [4]byte
		if _, err := r.ReadAt(size[:], at+n); err == nil {
			f.names, _ = readPart(r, at+n, min(mostSymbols, int64(binary.LittleEndian.Uint32(size[:]))))
		}
		symbols, _ = readPart(r, at, n)
	}
	for i := range f.sections {
		s := &f.sections[i]
		name := f.sectionName(s)
		low := f.image + uint64(s.VirtualAddress)
		stored := uint64(s.SizeOfRawData)
		if s.VirtualSize > 0 {
			stored = min(stored, uint64(s.VirtualSize))
		}
		code := s.Characteristics&(pe.IMAGE_SCN_MEM_EXECUTE|pe.IMAGE_SCN_CNT_CODE) != 0
		size := uint64(max(s.VirtualSize, s.SizeOfRawData))
		p.addSection(section{name, low, low + size, code})
		content := io.NewSectionReader(r, int64(s.PointerToRawData), int64(stored))
		p.segments = append(p.segments, segment{low, size, uint64(s.PointerToRawData), stored, code, content})
		if name == ".gnu_debuglink" && stored <= mostLink {
			if b, err := readPart(content, 0, int64(stored)); err == nil {
				p.readLink(b)
			}
		}
		if d, ok := debugOf(name, ".", content); ok {
			p.debug = append(p.debug, d)
		}
	}
	p.orderSections()
	if err := f.symbols(p, symbols); err != nil {
		return err
	}
	p.extents = f.extents(p.machine)
	p.BuildID, p.age = f.pdb()
	return nil
}

// openPE reads the headers.
func openPE(r io.ReaderAt) (*peFile, error) {
	f := &peFile{ReaderAt: r}
	head, err := readPart(r, 0, 64)
	if err != nil {
		return nil, err
	}
	at := int64(binary.LittleEndian.Uint32(head[0x3c:]))
	const mark, header = 4, 20
	if head, err = readPart(r, at, mark+header); err != nil || string(head[:mark]) != "PE\x00\x00" {
		return nil, errNoProgram
	}
	_, _ = binary.Decode(head[mark:], binary.LittleEndian, &f.FileHeader)
	at += mark + header
	optional, err := readPart(r, at, int64(f.SizeOfOptionalHeader))
	if err != nil || len(optional) < 2 || f.NumberOfSections > mostSections {
		return nil, errNoProgram
	}
	const moves = 0x40 // of DllCharacteristics
	var count uint32
	// decode decodes the header, which may lack some or all of the data directories.
	decode := func(o any) bool {
		const directories = 16 * 8
		size := binary.Size(o)
		_, err := binary.Decode(slices.Concat(optional, make([]byte, directories)), binary.LittleEndian, o)
		return err == nil && len(optional) >= size-directories
	}
	var o pe.OptionalHeader64
	var o32 pe.OptionalHeader32
	switch magic := binary.LittleEndian.Uint16(optional); {
	case magic == 0x20b && decode(&o):
		f.image, f.size, f.entry, f.moves, count, f.directories = o.ImageBase, o.SizeOfImage, o.AddressOfEntryPoint, o.DllCharacteristics&moves != 0, o.NumberOfRvaAndSizes, o.DataDirectory[:]
	case magic == 0x10b && decode(&o32):
		f.image, f.size, f.entry, f.moves, count, f.directories = uint64(o32.ImageBase), o32.SizeOfImage, o32.AddressOfEntryPoint, o32.DllCharacteristics&moves != 0, o32.NumberOfRvaAndSizes, o32.DataDirectory[:]
	default:
		return nil, errNoProgram
	}
	f.directories = f.directories[:min(uint32(len(f.directories)), count)]
	at += int64(len(optional))
	f.sections = make([]pe.SectionHeader32, f.NumberOfSections)
	raw, err := readPart(r, at, int64(binary.Size(f.sections)))
	if err != nil {
		return nil, errNoProgram
	}
	_, _ = binary.Decode(raw, binary.LittleEndian, f.sections)
	return f, nil
}

// readPart reads n bytes at an offset. It does not allocate more than the file has.
func readPart(r io.ReaderAt, at, n int64) ([]byte, error) {
	const chunk = 1 << 20
	if at < 0 || n < 0 {
		return nil, errNoProgram
	}
	if n <= chunk {
		b := make([]byte, n)
		_, err := r.ReadAt(b, at)
		if err == io.EOF && n == 0 {
			err = nil
		}
		return b, err
	}
	var last [1]byte
	if _, err := r.ReadAt(last[:], at+n-1); err != nil {
		return nil, err
	}
	b := make([]byte, n)
	_, err := r.ReadAt(b, at)
	return b, err
}

// sectionName returns a section's name. A long one stands in the string table: "/4".
func (f *peFile) sectionName(s *pe.SectionHeader32) string {
	name := text(s.Name[:])
	if rest, long := strings.CutPrefix(name, "/"); long {
		if at, err := strconv.ParseUint(rest, 10, 32); err == nil && at >= 4 && at < uint64(len(f.names)) {
			return text(f.names[at:min(uint64(len(f.names)), at+mostSectionName)])
		}
	}
	return name
}

const mostSectionName = 256

// text returns bytes up to the first zero.
func text(b []byte) string {
	if end := bytes.IndexByte(b, 0); end >= 0 {
		b = b[:end]
	}
	return string(b)
}

// symbols adds the functions of the symbol table.
func (f *peFile) symbols(p *Program, table []byte) error {
	names := newNames(f.names)
	const external, static, function = 2, 3, 0x20
	for len(table) >= pe.COFFSymbolSize {
		s := table[:pe.COFFSymbolSize]
		auxiliary := int(s[17])
		table = table[min(len(table), pe.COFFSymbolSize*(1+auxiliary)):]
		number := int(int16(binary.LittleEndian.Uint16(s[12:])))
		if number < 1 || number > len(f.sections) {
			continue
		}
		in := &f.sections[number-1]
		class, kind := s[16], binary.LittleEndian.Uint16(s[14:])
		if !p.sections[number-1].code || class != external && class != static || class == static && auxiliary > 0 && kind != function {
			continue
		}
		var name string
		if binary.LittleEndian.Uint32(s) == 0 {
			name = names.at(uint64(binary.LittleEndian.Uint32(s[4:])))
		} else {
			name = text(s[:8])
		}
		if p.machine == elf.EM_386 {
			name = strings.TrimPrefix(name, "_")
		}
		if name != "" && name[0] != '.' {
			p.funcs = append(p.funcs, symbol{Name: name, Value: f.image + uint64(in.VirtualAddress) + uint64(binary.LittleEndian.Uint32(s[8:]))})
		}
	}
	if names.left == 0 {
		return errSymbols
	}
	return nil
}

// in returns n bytes at an offset from the start of the image.
func (f *peFile) in(at, n uint32) []byte {
	for i := range f.sections {
		s := &f.sections[i]
		if at >= s.VirtualAddress && at-s.VirtualAddress < s.SizeOfRawData {
			n = min(n, s.SizeOfRawData-(at-s.VirtualAddress))
			b, err := readPart(f, int64(s.PointerToRawData)+int64(at-s.VirtualAddress), int64(n))
			if err != nil {
				return nil
			}
			return b
		}
	}
	return nil
}

// directory returns the content of an entry of the optional header's directory.
func (f *peFile) directory(i int) []byte {
	if i >= len(f.directories) || f.directories[i].Size > mostUnwind {
		return nil
	}
	return f.in(f.directories[i].VirtualAddress, f.directories[i].Size)
}

// pdb returns the GUID of the PDB file, in the order in which it is printed, and its age.
func (f *peFile) pdb() (guid []byte, age uint32) {
	const entry, codeView, most = 28, 2, 64
	all := f.directory(pe.IMAGE_DIRECTORY_ENTRY_DEBUG)
	for range most {
		if len(all) < entry {
			break
		}
		at, kind := binary.LittleEndian.Uint32(all[20:]), binary.LittleEndian.Uint32(all[12:])
		all = all[entry:]
		if kind != codeView {
			continue
		}
		if b := f.in(at, 24); len(b) == 24 && string(b[:4]) == "RSDS" {
			return GUID(b[4:20]), binary.LittleEndian.Uint32(b[20:])
		}
	}
	return nil, 0
}

// GUID returns the bytes of a GUID in the order in which they are printed. Windows keeps the
// first three fields with the low byte first.
func GUID(b []byte) []byte {
	out := slices.Clone(b)
	slices.Reverse(out[:4])
	slices.Reverse(out[4:6])
	slices.Reverse(out[6:8])
	return out
}

// extents returns the address ranges of functions from the exception table: for x86-64 the
// start, the end and the unwind information; for arm64 the start, and the length in the same
// word as flags or at the start of the unwind information.
func (f *peFile) extents(machine elf.Machine) (all []extent) {
	table := f.directory(pe.IMAGE_DIRECTORY_ENTRY_EXCEPTION)
	word := func(i int) uint32 { return binary.LittleEndian.Uint32(table[i:]) }
	unwind, size := f.reach(), 12
	if machine == elf.EM_AARCH64 {
		size = 8
	} else if machine != elf.EM_X86_64 {
		return nil
	}
	for ; len(table) >= size; table = table[size:] {
		low, high := word(0), uint32(0)
		chained := false
		switch {
		case machine == elf.EM_X86_64:
			const chain = 4 << 3 // of the flags: this continues another function
			high = word(4)
			chained = unwind.byte(word(8))&chain != 0
		case word(4)&3 != 0:
			high = low + word(4)>>2&0x7ff*4
		default:
			high = low + unwind.word(word(4))&0x3ffff*4
		}
		if low == 0 || high <= low {
			continue
		}
		x := extent{f.image + uint64(low), f.image + uint64(high)}
		if n := len(all); chained && n > 0 && all[n-1].high == x.low {
			all[n-1].high = x.high
			continue
		}
		all = append(all, x)
	}
	sort.Slice(all, func(i, j int) bool { return all[i].low < all[j].low })
	return all
}

// reach gives access to the sections with unwind information, which is mostly in one.
type reach struct {
	f    *peFile
	low  uint32
	data []byte
	left int // sections that may still be read
}

func (f *peFile) reach() *reach { return &reach{f: f, left: 8} }

func (r *reach) at(at uint32, n int) []byte {
	if off := int64(at) - int64(r.low); off < 0 || off+int64(n) > int64(len(r.data)) {
		if r.left == 0 {
			return nil
		}
		r.left--
		r.data = nil
		for i := range r.f.sections {
			if s := &r.f.sections[i]; at >= s.VirtualAddress && at-s.VirtualAddress < s.SizeOfRawData && s.SizeOfRawData <= mostUnwind {
				r.low, r.data = s.VirtualAddress, r.f.in(s.VirtualAddress, s.SizeOfRawData)
				break
			}
		}
	}
	off := int64(at) - int64(r.low)
	if off < 0 || off+int64(n) > int64(len(r.data)) {
		return nil
	}
	return r.data[off : off+int64(n)]
}

func (r *reach) byte(at uint32) byte {
	if b := r.at(at, 1); b != nil {
		return b[0]
	}
	return 0
}

func (r *reach) word(at uint32) uint32 {
	if b := r.at(at, 4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}
