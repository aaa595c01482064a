package spall

import (
	"debug/dwarf"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"slices"
	"sort"
	"strings"

	"ashlar/ingest/recording"
	"ashlar/ingest/source"
)

// program finds functions by address in an ELF executable: names from its
// symbol table, files from its line tables where it has them.
type program struct {
	module string
	slide  uint64 // runtime address - address in the file
	funcs  []elf.Symbol
	lines  *dwarf.Data
	closer *os.File
	// without says why there are no lines though the program has some, "" else.
	without string
}

// openProgram reads the symbols of the executable at path, which was loaded at
// base when it was recorded.
func openProgram(path string, base uint64) (*program, error) {
	real, err := source.Ordinary(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errors.New("is not here")
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
	p := &program{module: path, closer: file}
	if f.Type == elf.ET_DYN {
		p.slide = base
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
	if len(p.funcs) == 0 {
		file.Close()
		return nil, errors.New("has no symbols")
	}
	slices.SortStableFunc(p.funcs, func(a, b elf.Symbol) int {
		switch {
		case a.Value < b.Value:
			return -1
		case a.Value > b.Value:
			return 1
		}
		return 0
	})
	switch size := unpacked(f, isDWARF); {
	case size > mostDWARF:
		p.without = fmt.Sprintf("unpacks to more than %d MB", mostDWARF>>20)
	case size > 0:
		if p.lines, err = f.DWARF(); err != nil {
			p.without = fmt.Sprintf("cannot be read (%v)", err)
		}
	}
	return p, nil
}

// Bounds of what is read of a program, which may unpack to far more than it
// holds: above that there are no symbols, or no files beside them.
const (
	mostSymbols = 512 << 20
	mostDWARF   = 512 << 20
)

func isDWARF(s *elf.Section) bool {
	return strings.HasPrefix(s.Name, ".debug_") || strings.HasPrefix(s.Name, ".zdebug_")
}

func isSymbols(s *elf.Section) bool {
	return s.Type == elf.SHT_SYMTAB || s.Type == elf.SHT_DYNSYM || s.Type == elf.SHT_STRTAB
}

// unpacked is how many bytes some sections of a program have once they are
// unpacked.
func unpacked(f *elf.File, of func(*elf.Section) bool) (sum uint64) {
	for _, s := range f.Sections {
		if !of(s) || s.Type == elf.SHT_NOBITS {
			continue
		}
		size := s.Size
		// The older way to compress has the size in the section.
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

func (p *program) close() { p.closer.Close() }

// lookup finds the function that an address lies in.
func (p *program) lookup(addr uint64) (recording.Function, bool) {
	pc := addr - p.slide
	i := sort.Search(len(p.funcs), func(i int) bool { return p.funcs[i].Value > pc }) - 1
	// The first of several symbols at an address is the one of the full table.
	for i > 0 && p.funcs[i-1].Value == p.funcs[i].Value {
		i--
	}
	if i < 0 {
		return recording.Function{}, false
	}
	s := &p.funcs[i]
	if s.Size > 0 && pc >= s.Value+s.Size || s.Size == 0 && pc != s.Value {
		return recording.Function{}, false
	}
	return recording.Function{
		Name:   s.Name,
		Module: p.module,
		File:   p.file(s.Value),
		Kind:   recording.KindUser,
	}, true
}

// file returns the source file of the code at pc, "" when it is not known.
func (p *program) file(pc uint64) string {
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

// symbols says how addresses of an automatic trace become functions: with the
// executable that the user names, or else the one that was recorded. why is a
// sentence for the warning when there is none.
func symbols(h header, exe string) (p *program, why string) {
	path := exe
	if path == "" {
		path = h.path
	}
	if path == "" {
		return nil, "the trace has addresses only and does not name its program; name it with --exe"
	}
	p, err := openProgram(path, h.base)
	if err != nil {
		return nil, fmt.Sprintf("the trace has addresses only, and its program %s %v; name it with --exe", path, err)
	}
	return p, ""
}
