// Package program symbolizes addresses with the recorded programs and libraries on this
// machine, and recognises kernel functions by name.
package program

import (
	"debug/dwarf"
	"debug/elf"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sort"

	"ashlar/ingest/input/source"
)

// A Program is an ELF file: function names from its symbol table and, if it has line
// tables, source files.
type Program struct {
	// Moves reports whether the program can be loaded at any address.
	Moves bool
	// BuildID is the program's build id, nil if it has none.
	BuildID []byte
	// Without is the reason why the program's line tables were not read, else "".
	Without string
	// LeftOut is set if Places left something out because there was too much to read.
	LeftOut bool

	funcs   []elf.Symbol
	extents []extent
	loads   []elf.ProgHeader
	lines   *dwarf.Data
	info    []byte // section with the compile units, until FindUnits
	units   *units
	file    *elf.File
	closer  *os.File
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
func OpenCode(path string) (*Program, error) {
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
	f, err := elf.NewFile(file)
	if err != nil {
		file.Close()
		return nil, errors.New("is not an ELF executable")
	}
	p := &Program{Moves: f.Type == elf.ET_DYN, BuildID: buildID(f), file: f, closer: file}
	for _, l := range f.Progs {
		if l.Type == elf.PT_LOAD {
			p.loads = append(p.loads, l.ProgHeader)
		}
	}
	if unpacked(f, isSymbols) > mostSymbols {
		file.Close()
		return nil, fmt.Errorf("has more than %d MB of symbols", mostSymbols>>20)
	}
	static, _ := f.Symbols()
	dynamic, _ := f.DynamicSymbols()
	for _, s := range append(static, dynamic...) {
		if elf.ST_TYPE(s.Info) == elf.STT_FUNC && s.Section != elf.SHN_UNDEF && s.Name != "" {
			p.funcs = append(p.funcs, s)
		}
	}
	p.extents = extents(f)
	slices.SortStableFunc(p.funcs, func(a, b elf.Symbol) int {
		switch {
		case a.Value < b.Value:
			return -1
		case a.Value > b.Value:
			return 1
		}
		return 0
	})
	return p, nil
}

// ReadLines reads the line tables of a program opened with OpenCode.
func (p *Program) ReadLines() {
	switch size := unpacked(p.file, isDWARF); {
	case size > mostDWARF:
		p.Without = fmt.Sprintf("unpacks to more than %d MB", mostDWARF>>20)
	case size > 0:
		var err error
		if p.lines, p.info, err = readDWARF(p.file); err != nil {
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

func isSymbols(s *elf.Section) bool {
	return s.Type == elf.SHT_SYMTAB || s.Type == elf.SHT_DYNSYM || s.Type == elf.SHT_STRTAB
}

// Close closes the file. Lookup and Places may still be called, File not.
func (p *Program) Close() { p.closer.Close() }

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

// Address converts a file offset to the address it has if the file is loaded at the
// address it was linked for.
func (p *Program) Address(offset uint64) (uint64, bool) {
	for _, l := range p.loads {
		if offset >= l.Off && offset-l.Off < l.Filesz {
			return offset - l.Off + l.Vaddr, true
		}
	}
	return 0, false
}

// AddressIn is like Address, for an offset in a part of the file that was mapped from
// offset mapped on. A file with only debug information has no file offsets for code; then
// the offset is taken relative to its only executable segment.
func (p *Program) AddressIn(offset, mapped uint64) (uint64, bool) {
	if at, ok := p.Address(offset); ok {
		return at, true
	}
	const page = 4096
	for _, l := range p.loads {
		if l.Flags&elf.PF_X != 0 && l.Filesz == 0 && offset >= mapped {
			at := l.Vaddr&^(page-1) + offset - mapped
			return at, at < l.Vaddr+l.Memsz
		}
	}
	return 0, false
}

// Lookup returns the name and start of the function that contains an address.
func (p *Program) Lookup(pc uint64) (name string, start uint64, ok bool) {
	i := sort.Search(len(p.funcs), func(i int) bool { return p.funcs[i].Value > pc }) - 1
	// Of several symbols at an address, the first is from the full symbol table.
	for i > 0 && p.funcs[i-1].Value == p.funcs[i].Value {
		i--
	}
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
