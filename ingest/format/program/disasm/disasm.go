// Package disasm decodes machine code into instructions and their text.
package disasm

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
)

// Syntax is the form in which instructions are written.
type Syntax string

// Syntaxes. GNU is objdump's: AT&T for x86, the manufacturer's for ARM.
const (
	GNU   Syntax = "gnu"
	Go    Syntax = "go"
	Intel Syntax = "intel" // x86 only; for ARM the same as GNU
)

// Syntaxes lists all syntaxes, the default first.
func Syntaxes() []string { return []string{string(GNU), string(Go), string(Intel)} }

// ParseSyntax returns the syntax with a name; "" is the default.
func ParseSyntax(name string) (Syntax, error) {
	if name == "" {
		return GNU, nil
	}
	if !slices.Contains(Syntaxes(), name) {
		return "", fmt.Errorf("unknown syntax %q. Use %s", name, strings.Join(Syntaxes(), ", "))
	}
	return Syntax(name), nil
}

// Kind tells where execution continues after an instruction.
type Kind uint8

const (
	Plain  Kind = iota // at the next instruction
	Call               // at the next instruction, after a call
	Jump               // at the target
	Branch             // at the target or at the next instruction
	Return             // in the caller
)

// An Inst is an instruction.
type Inst struct {
	Addr uint64
	Size int // in bytes
	Text string
	Kind Kind
	// Target is the address that a call or jump continues at, 0 if it is computed at run
	// time.
	Target uint64
	// Bad marks bytes that are not a known instruction.
	Bad bool
}

// A Symbolizer returns the name and start of the symbol that contains an address; "" if there
// is none.
type Symbolizer func(addr uint64) (name string, start uint64)

// Decoder decodes the instructions of a processor.
type Decoder struct {
	decode func(code []byte, at uint64) Inst
	align  int
}

// New returns a decoder for a processor. The error is a sentence.
func New(machine elf.Machine, order binary.ByteOrder, syntax Syntax, symbol Symbolizer) (*Decoder, error) {
	if symbol == nil {
		symbol = func(uint64) (string, uint64) { return "", 0 }
	}
	switch {
	case machine == elf.EM_X86_64:
		return &Decoder{x86(64, syntax, symbol), 1}, nil
	case machine == elf.EM_386:
		return &Decoder{x86(32, syntax, symbol), 1}, nil
	case machine == elf.EM_AARCH64 && order == binary.LittleEndian:
		return &Decoder{arm64(syntax, symbol), 4}, nil
	}
	return nil, fmt.Errorf("instructions of %s are not supported; x86 and arm64 are", Machine(machine))
}

// Machine returns the usual name of a processor.
func Machine(m elf.Machine) string {
	switch m {
	case elf.EM_X86_64:
		return "x86-64"
	case elf.EM_386:
		return "x86"
	case elf.EM_AARCH64:
		return "arm64"
	}
	return strings.ToLower(strings.TrimPrefix(m.String(), "EM_"))
}

// Decode decodes code that begins at an address. Bytes that are not an instruction become
// an Inst of their own.
func (d *Decoder) Decode(code []byte, at uint64) []Inst {
	all := make([]Inst, 0, len(code)/4+1)
	for len(code) > 0 {
		in := d.decode(code, at)
		if in.Size <= 0 || in.Size > len(code) {
			in = bad(code[:min(len(code), d.align)], at)
		}
		all = append(all, in)
		code, at = code[in.Size:], at+uint64(in.Size)
	}
	return all
}

// bad returns bytes that are not an instruction.
func bad(b []byte, at uint64) Inst {
	return Inst{Addr: at, Size: len(b), Text: fmt.Sprintf("(bad) % x", b), Bad: true}
}

// named appends the name of a target to a text: "call 0x401136 <main+0x10>".
func named(text string, target uint64, symbol Symbolizer) string {
	name, start := symbol(target)
	switch {
	case name == "":
		return text
	case target == start:
		return text + " <" + name + ">"
	}
	return fmt.Sprintf("%s <%s+%#x>", text, name, target-start)
}
