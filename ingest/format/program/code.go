package program

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"
)

// A Function is the code from Low up to, but not including, High.
type Function struct {
	Name      string // its symbol, "" without one
	Low, High uint64
}

// mostCode limits the code of a function, in bytes.
const mostCode = 16 << 20

// Machine returns the processor that the program is for.
func (p *Program) Machine() elf.Machine { return p.file.Machine }

// HasCode reports whether the file holds code. Files with only debug information do not.
func (p *Program) HasCode() bool {
	return slices.ContainsFunc(p.loads, func(l elf.ProgHeader) bool { return l.Flags&elf.PF_X != 0 && l.Filesz > 0 })
}

// FunctionAt returns the function that contains an address, from its symbol or else from
// its entry in the unwind tables. A symbol without a size reaches to the next symbol.
func (p *Program) FunctionAt(pc uint64) (Function, bool) {
	i := sort.Search(len(p.funcs), func(i int) bool { return p.funcs[i].Value > pc })
	next := i
	if i--; i >= 0 {
		for i > 0 && p.funcs[i-1].Value == p.funcs[i].Value {
			i--
		}
		s := &p.funcs[i]
		f := Function{s.Name, s.Value, s.Value + s.Size}
		if s.Size == 0 {
			f.High = p.endOfCode(pc)
			if next < len(p.funcs) {
				f.High = min(f.High, p.funcs[next].Value)
			}
		}
		if pc < f.High {
			return f, true
		}
	}
	i = sort.Search(len(p.extents), func(i int) bool { return p.extents[i].low > pc }) - 1
	if i < 0 || pc >= p.extents[i].high {
		return Function{}, false
	}
	return Function{"", p.extents[i].low, p.extents[i].high}, true
}

// endOfCode returns the end of the section, or else of the segment, that contains pc.
func (p *Program) endOfCode(pc uint64) uint64 {
	for _, s := range p.file.Sections {
		if s.Flags&elf.SHF_EXECINSTR != 0 && pc >= s.Addr && pc-s.Addr < s.Size {
			return s.Addr + s.Size
		}
	}
	for _, l := range p.loads {
		if l.Flags&elf.PF_X != 0 && pc >= l.Vaddr && pc-l.Vaddr < l.Filesz {
			return l.Vaddr + l.Filesz
		}
	}
	return pc
}

// Executable reports whether code may lie at an address.
func (p *Program) Executable(pc uint64) bool { return pc < p.endOfCode(pc) }

// Functions calls visit for the functions with symbols, by address, and stops if it
// returns false. Several may begin at one address.
func (p *Program) Functions(visit func(name string, low uint64) bool) {
	for i := range p.funcs {
		if !visit(p.funcs[i].Name, p.funcs[i].Value) {
			return
		}
	}
}

// Code returns the instructions of a function. The file must still be open.
func (p *Program) Code(f Function) ([]byte, error) {
	if f.High <= f.Low {
		return nil, errors.New("the function has no instructions")
	}
	if f.High-f.Low > mostCode {
		return nil, fmt.Errorf("the function is larger than %d MB", mostCode>>20)
	}
	for _, l := range p.file.Progs {
		if l.Type == elf.PT_LOAD && f.Low >= l.Vaddr && f.Low-l.Vaddr < l.Filesz {
			b := make([]byte, min(f.High-f.Low, l.Filesz-(f.Low-l.Vaddr)))
			n, err := l.ReadAt(b, int64(f.Low-l.Vaddr))
			if err != nil && (!errors.Is(err, io.EOF) || n == 0) {
				return nil, errors.New("its instructions cannot be read")
			}
			return b[:n], nil
		}
	}
	return nil, errors.New("the file has no instructions at the function's address")
}

// Order returns the program's byte order.
func (p *Program) Order() binary.ByteOrder { return p.file.ByteOrder }
