package program

import (
	"cmp"
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
func (p *Program) Machine() elf.Machine { return p.machine }

// HasCode reports whether the file holds code. Files with only debug information do not.
func (p *Program) HasCode() bool {
	return slices.ContainsFunc(p.segments, func(l segment) bool { return l.code && l.filesz > 0 })
}

// FunctionAt returns the function that contains an address, from its symbol or else from
// its entry in the unwind tables. A symbol without a size reaches to the next symbol.
func (p *Program) FunctionAt(pc uint64) (Function, bool) {
	next := sort.Search(len(p.funcs), func(i int) bool { return p.funcs[i].Value > pc })
	if i := p.firstAt(next - 1); i >= 0 {
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
	i := sort.Search(len(p.extents), func(i int) bool { return p.extents[i].low > pc }) - 1
	if i < 0 || pc >= p.extents[i].high {
		return Function{}, false
	}
	return Function{"", p.extents[i].low, p.extents[i].high}, true
}

// firstAt returns the first of the symbols with the address of symbol i, which may be -1. In
// ELF files it is from the full symbol table.
func (p *Program) firstAt(i int) int {
	if i < 0 {
		return i
	}
	return sort.Search(i, func(k int) bool { return p.funcs[k].Value == p.funcs[i].Value })
}

// endOfCode returns the end of the section, or else of the segment, that contains pc.
func (p *Program) endOfCode(pc uint64) uint64 {
	if end := p.endOfSection(pc); end > 0 {
		return end
	}
	for i := range p.segments {
		if l := &p.segments[i]; l.code && pc >= l.addr && pc-l.addr < l.filesz {
			return l.addr + l.filesz
		}
	}
	return pc
}

// endOfSection returns the end of the section with code that contains pc, 0 if there is none.
func (p *Program) endOfSection(pc uint64) uint64 {
	i := sort.Search(len(p.code), func(i int) bool { return p.code[i].low > pc }) - 1
	if i < 0 || pc >= p.code[i].high {
		return 0
	}
	return p.code[i].high
}

// addSection adds a section.
func (p *Program) addSection(s section) {
	p.sections = append(p.sections, s)
	if s.code {
		p.code = append(p.code, s)
	}
}

// orderSections prepares for endOfSection.
func (p *Program) orderSections() {
	slices.SortFunc(p.code, func(a, b section) int { return cmp.Or(cmp.Compare(a.low, b.low), cmp.Compare(a.high, b.high)) })
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
	for i := range p.segments {
		if l := &p.segments[i]; f.Low >= l.addr && f.Low-l.addr < l.filesz {
			b := make([]byte, min(f.High-f.Low, l.filesz-(f.Low-l.addr)))
			n, err := l.ReadAt(b, int64(f.Low-l.addr))
			if err != nil && (!errors.Is(err, io.EOF) || n == 0) {
				return nil, errors.New("its instructions cannot be read")
			}
			return b[:n], nil
		}
	}
	return nil, errors.New("the file has no instructions at the function's address")
}

// Order returns the program's byte order.
func (p *Program) Order() binary.ByteOrder { return p.order }
