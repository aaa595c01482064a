// Package program symbolizes addresses with the recorded programs and libraries on this
// machine, and recognises kernel functions by name.
package program

import (
	"cmp"
	"debug/dwarf"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"sort"

	"ashlar/ingest/input/source"
)

// A Program is an ELF, PE or Mach-O file: function names from its symbol table and, if it
// has line tables, source files.
type Program struct {
	// Moves reports whether the program can be loaded at any address.
	Moves bool
	// BuildID is the program's build id, nil if it has none: of ELF the linker's, of Mach-O
	// the UUID, of PE the GUID of its PDB file in the order in which it is printed.
	BuildID []byte
	// Without is the reason why the program's line tables were not read, else "".
	Without string
	// LeftOut is set if Places left something out because there was too much to read.
	LeftOut bool

	container
	path   string
	addrs  []byte // section with addresses, for split units
	lines  *dwarf.Data
	info   []byte // section with the compile units, until FindUnits
	units  *units
	closer *os.File
}

// A container is the contents of a program file, in a form common to ELF, PE and Mach-O.
type container struct {
	machine  elf.Machine
	order    binary.ByteOrder
	base     uint64 // lowest address of the program, if it is loaded where it was linked for
	entry    uint64
	funcs    []symbol
	elf      bool
	extents  []extent
	segments []segment
	sections []section
	code     []section // those with code, by address
	debug    []debugSection
	object   *elf.File // an ELF object file, nil for others
	link     string    // name of the file with debug information, and its checksum
	linkSum  uint32
	// codeID is the time stamp and size of a PE file, age how often its PDB file was written.
	codeID string
	age    uint32
}

// A symbol is a function in the symbol table. Size is 0 if the file does not have it.
type symbol struct {
	Name        string
	Value, Size uint64
}

// A segment is a part of the file that is loaded at an address.
type segment struct {
	addr, size  uint64 // in memory
	off, filesz uint64
	code        bool
	io.ReaderAt // reads from off on
}

// A section is a range of addresses with a name.
type section struct {
	name      string
	low, high uint64
	code      bool
}

// Open reads the symbols of the file at path. A file without symbols is an error. Error
// texts continue a sentence that begins with the file's name.
func Open(path string) (*Program, error) {
	p, err := OpenStripped(path)
	if err == nil && p.Stripped() {
		p.Close()
		return nil, errors.New("has no symbols")
	}
	return p, err
}

// Stripped reports whether a program has no symbols.
func (p *Program) Stripped() bool { return len(p.funcs) == 0 }

// HasLines reports whether a program has line tables.
func (p *Program) HasLines() bool {
	return slices.ContainsFunc(p.debug, func(s debugSection) bool { return s.name == "line" })
}

// OpenStripped is like Open but accepts a file without symbols. Begin may still find
// functions in it.
func OpenStripped(path string) (*Program, error) {
	p, err := OpenCode(path)
	if err == nil {
		p.ReadLines()
	}
	return p, err
}

// OpenCode is like OpenStripped but leaves the line tables to ReadLines, because unpacking
// them takes most of the time.
func OpenCode(path string) (*Program, error) { return OpenSlice(path, "") }

// OpenSlice is like OpenCode. Of a file with code for several processors it opens the part
// with an id, or else the first for which instructions can be decoded.
func OpenSlice(path, id string) (*Program, error) {
	real, err := source.Ordinary(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errors.New("is not on this machine")
	}
	if err != nil {
		return nil, errors.New("is not a file")
	}
	file, err := os.Open(real)
	if err != nil {
		return nil, errors.New("cannot be read")
	}
	p := &Program{closer: file, path: path}
	if err := p.read(file, id); err != nil {
		file.Close()
		return nil, err
	}
	slices.SortStableFunc(p.funcs, func(a, b symbol) int { return cmp.Compare(a.Value, b.Value) })
	if !p.elf { // the symbol table has no sizes
		p.measure()
	}
	return p, nil
}

// read reads a file in any of the formats.
func (p *Program) read(r io.ReaderAt, id string) error {
	var head [4]byte
	if _, err := r.ReadAt(head[:], 0); err == nil {
		switch {
		case string(head[:]) == elf.ELFMAG:
			err = p.readELF(r)
		case string(head[:2]) == "MZ":
			err = p.readPE(r)
		case string(head[:]) == machO64, string(head[:]) == machOParts, string(head[:]) == machOParts64:
			err = p.readMachO(r, id)
		default:
			return errNoProgram
		}
		return err
	}
	return errNoProgram
}

var (
	errNoProgram = errors.New("is not an ELF, PE or Mach-O executable")
	errSymbols   = fmt.Errorf("has more than %d MB of symbols", mostSymbols>>20)
)

// ReadLines reads the line tables of a program opened with OpenCode.
func (p *Program) ReadLines() {
	switch size := unpacked(p.debug); {
	case size > mostDWARF:
		p.Without = fmt.Sprintf("unpacks to more than %d MB", mostDWARF>>20)
	case size > 0:
		var err error
		if p.lines, p.info, err = p.readDWARF(); err != nil {
			p.Without = fmt.Sprintf("cannot be read (%v)", err)
		}
	}
}

// Limits on unpacked sizes in bytes, because a file may unpack to far more than its size.
// Beyond mostSymbols a program is rejected, beyond mostDWARF it has no source files.
const (
	mostSymbols = 512 << 20
	mostDWARF   = 512 << 20
)

// Close closes the file. Lookup and Places may still be called, File not.
func (p *Program) Close() { p.closer.Close() }

// Address converts a file offset to the address it has if the file is loaded at the
// address it was linked for.
func (p *Program) Address(offset uint64) (uint64, bool) {
	for i := range p.segments {
		if l := &p.segments[i]; offset >= l.off && offset-l.off < l.filesz {
			return offset - l.off + l.addr, true
		}
	}
	return 0, false
}

// Relative converts an offset from the start of the program in memory to an address.
func (p *Program) Relative(offset uint64) (uint64, bool) {
	at := p.base + offset
	return at, p.Executable(at)
}

// Whole reports whether a system loads the file as one piece, so that profiles name one
// mapping for all of it: Windows does.
func (p *Program) Whole() bool { return p.codeID != "" }

// AddressIn is like Address, for an offset in a part of the file that was mapped from
// offset mapped on. A file with only debug information has no file offsets for code; then
// the offset is taken relative to its only executable segment.
func (p *Program) AddressIn(offset, mapped uint64) (uint64, bool) {
	if at, ok := p.Address(offset); ok {
		return at, true
	}
	const page = 4096
	for i := range p.segments {
		if l := &p.segments[i]; l.code && l.filesz == 0 && offset >= mapped {
			at := l.addr&^(page-1) + offset - mapped
			return at, at < l.addr+l.size
		}
	}
	return 0, false
}

// Lookup returns the name and start of the function that contains an address.
func (p *Program) Lookup(pc uint64) (name string, start uint64, ok bool) {
	i := p.firstAt(sort.Search(len(p.funcs), func(i int) bool { return p.funcs[i].Value > pc }) - 1)
	if i < 0 {
		return "", 0, false
	}
	s := &p.funcs[i]
	if s.Size > 0 && pc >= s.Value+s.Size || s.Size == 0 && pc != s.Value {
		return "", 0, false
	}
	return s.Name, s.Value, true
}

// File returns the source file of the code at pc, "" when it is not known.
func (p *Program) File(pc uint64) string {
	if p.lines == nil {
		return ""
	}
	unit, err := p.lines.Reader().SeekPC(pc)
	if err != nil {
		return ""
	}
	lines, err := p.lines.LineReader(unit)
	if err != nil || lines == nil {
		return ""
	}
	var e dwarf.LineEntry
	if lines.SeekPC(pc, &e) != nil || e.File == nil {
		return ""
	}
	return e.File.Name
}
