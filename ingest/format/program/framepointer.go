package program

import (
	"bytes"
	"debug/elf"
)

// mostPrologues is the maximum number of functions that FramePointers reads.
const mostPrologues = 5000

// FramePointers counts the functions that keep a frame pointer, and those that could:
// profilers follow callers by it without unwind tables. Both are 0 on processors other
// than x86-64 and arm64.
func (p *Program) FramePointers() (with, of int) {
	machine := p.Machine()
	if machine != elf.EM_X86_64 && machine != elf.EM_AARCH64 {
		return 0, 0
	}
	count := func(low, size uint64) {
		code, err := p.Code(Function{Low: low, High: low + min(size, 64)})
		if err != nil {
			return
		}
		if machine == elf.EM_X86_64 {
			of++
			// push %rbp; mov %rsp,%rbp, possibly after the check of the stack's size.
			if bytes.Contains(code, []byte{0x55, 0x48, 0x89, 0xe5}) {
				with++
			}
			return
		}
		saves, keeps := false, false
		for ; len(code) >= 4; code = code[4:] {
			in := p.order.Uint32(code)
			saves = saves || in&0xfe407fff == 0xa8007bfd // stp x29, x30, [sp, …]
			keeps = keeps || in&0xffc003ff == 0x910003fd // add x29, sp, …
		}
		if saves { // other functions call nothing
			of++
			if keeps {
				with++
			}
		}
	}
	step := max(1, (len(p.funcs)+len(p.extents))/mostPrologues)
	for i := 0; i < len(p.funcs); i += step {
		if f := &p.funcs[i]; f.Size > 0 && f.Name != "_start" {
			count(f.Value, f.Size)
		}
	}
	if text := p.section(".text"); len(p.funcs) == 0 && text != nil {
		for i := 0; i < len(p.extents); i += step {
			e := p.extents[i]
			if e.low >= text.low && e.low < text.high && e.low != p.entry { // not the table of imports
				count(e.low, e.high-e.low)
			}
		}
	}
	return with, of
}

// Unwinds reports whether the program has tables to follow callers without frame pointers.
func (p *Program) Unwinds() bool {
	return p.section(".eh_frame") != nil || p.section(".debug_frame") != nil
}

// IsGo reports whether the program was compiled by the Go compiler.
func (p *Program) IsGo() bool {
	return p.section(".gopclntab") != nil || p.section(".data.rel.ro.gopclntab") != nil
}

// section returns the section with a name, nil if there is none.
func (p *Program) section(name string) *section {
	for i := range p.sections {
		if p.sections[i].name == name {
			return &p.sections[i]
		}
	}
	return nil
}
