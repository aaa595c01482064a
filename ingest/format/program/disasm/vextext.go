package disasm

import (
	"fmt"
	"strings"
)

// text formats an instruction.
func (d *vex) text(op *vexOp, syntax Syntax) string {
	name := d.name(op)
	var args []string
	for s := op.operands; len(s) >= 1; {
		kind := s[0]
		if kind == 'I' {
			s = s[1:]
			if !strings.ContainsAny(op.name, "*!") || name == d.plain(op) {
				args = append(args, d.immediate(syntax))
			}
			continue
		}
		arg := d.operand(kind, s[1], syntax)
		if len(args) == 0 && d.mask != 0 {
			arg = d.masked(arg, syntax)
		} else if kind == 'M' && d.evex && d.spread && d.modrm>>6 != 3 {
			arg += fmt.Sprintf("{1to%d}", d.elements(s[1]))
		}
		args = append(args, arg)
		s = s[2:]
	}
	if syntax == Intel {
		return strings.TrimSpace(name + " " + strings.Join(args, ", "))
	}
	for i, k := 0, len(args)-1; i < k; i, k = i+1, k-1 {
		args[i], args[k] = args[k], args[i]
	}
	if syntax == Go {
		return strings.TrimSpace(strings.ToUpper(name) + " " + strings.Join(args, ", "))
	}
	if strings.HasPrefix(op.name, "vcvtsi2s") && d.modrm>>6 != 3 {
		name += string("lq"[d.w])
	}
	if d.modrm>>6 != 3 && strings.HasPrefix(op.operands, "RhMv") {
		name += string("xyz"[min(d.length, 2)])
	}
	return strings.TrimSpace(name + " " + strings.Join(args, ","))
}

// elements returns how many elements a broadcast fills.
func (d *vex) elements(size byte) int {
	whole := 16 << min(d.length, 2)
	if size == 'h' {
		whole /= 2
	}
	return whole / (4 << d.w)
}

func (d *vex) masked(arg string, syntax Syntax) string {
	if syntax == Go {
		return fmt.Sprintf("%s, K%d", arg, d.mask)
	}
	percent := "%"
	if syntax == Intel {
		percent = ""
	}
	arg += fmt.Sprintf("{%sk%d}", percent, d.mask)
	if d.zero {
		arg += "{z}"
	}
	return arg
}

// plain returns the mnemonic without a comparison.
func (d *vex) plain(op *vexOp) string {
	by := func(a, b string) string {
		if d.w == 1 {
			return b
		}
		return a
	}
	return strings.NewReplacer("@", by("d", "q"), "%", by("b", "w"), "~", by("s", "d"), "*", "", "!", "").Replace(op.name)
}

// name returns the mnemonic, with the comparison in the immediate byte.
func (d *vex) name(op *vexOp) string {
	name := d.plain(op)
	if i := strings.IndexByte(op.name, '*'); i >= 0 && int(d.imm) < len(predicates) {
		return name[:i] + predicates[d.imm] + name[i:]
	}
	if i := strings.IndexByte(op.name, '!'); i >= 0 && d.imm < 8 && comparisons[d.imm] != "-" {
		return name[:i] + comparisons[d.imm] + name[i:]
	}
	return name
}

func (d *vex) immediate(syntax Syntax) string {
	if syntax == Intel {
		return fmt.Sprintf("%#x", d.imm)
	}
	return fmt.Sprintf("$%#x", d.imm)
}

// operand formats an operand of a kind and size; see vexTable.
func (d *vex) operand(kind, size byte, syntax Syntax) string {
	switch kind {
	case 'R':
		return d.register(int(d.modrm>>3)&7|d.r, size, syntax)
	case 'H':
		return d.register(d.v, size, syntax)
	case 'L':
		return d.register(int(d.imm>>4), size, syntax)
	}
	if kind == 'M' && d.modrm>>6 == 3 {
		rm := int(d.modrm&7) | d.b
		if d.evex {
			rm |= d.x << 1
		}
		return d.register(rm, size, syntax)
	}
	return d.memory(size, syntax)
}

// Names of general registers.
var (
	names64 = strings.Fields("rax rcx rdx rbx rsp rbp rsi rdi r8 r9 r10 r11 r12 r13 r14 r15")
	names32 = strings.Fields("eax ecx edx ebx esp ebp esi edi r8d r9d r10d r11d r12d r13d r14d r15d")
	namesGo = strings.Fields("AX CX DX BX SP BP SI DI R8 R9 R10 R11 R12 R13 R14 R15")
)

// register formats a register.
func (d *vex) register(n int, size byte, syntax Syntax) string {
	var s string
	switch {
	case size == 'k':
		s = fmt.Sprintf("k%d", n&7)
	case size == 'y' || size == 'l':
		return d.general(n, size == 'y' && d.w == 1, syntax)
	default:
		length := d.length
		switch size {
		case 'h':
			length = max(0, length-1)
		case 'f':
			length = max(0, length-2)
		case 'v':
		default:
			length = 0
		}
		s = fmt.Sprintf("%cmm%d", "xyz"[min(length, 2)], n)
		if syntax == Go {
			s = strings.Replace(s, "mm", "", 1)
		}
	}
	switch syntax {
	case Go:
		return strings.ToUpper(s)
	case Intel:
		return s
	}
	return "%" + s
}

func (d *vex) general(n int, wide bool, syntax Syntax) string {
	switch n &= 15; {
	case syntax == Go:
		return namesGo[n]
	case wide && syntax == Intel:
		return names64[n]
	case wide:
		return "%" + names64[n]
	case syntax == Intel:
		return names32[n]
	}
	return "%" + names32[n]
}

// memory formats an operand in memory.
func (d *vex) memory(size byte, syntax Syntax) string {
	m := &d.mem
	wide := d.mode == 64 && !d.address32
	base, index := "", ""
	switch {
	case m.relative && syntax == Go:
		base = "IP"
	case m.relative && syntax == Intel:
		base = "rip"
	case m.relative:
		base = "%rip"
	case m.base >= 0:
		base = d.general(m.base, wide, syntax)
	}
	if m.vectors {
		index = d.register(m.index, 'v', syntax)
	} else if m.index >= 0 {
		index = d.general(m.index, wide, syntax)
	}
	if syntax == Intel {
		return d.intelMemory(base, index, size)
	}
	disp := ""
	if m.disp != 0 {
		disp = signed(m.disp)
	}
	seg := ""
	if d.seg != "" {
		seg = "%" + d.seg + ":"
	}
	switch {
	case syntax == Go && index != "":
		return fmt.Sprintf("%s(%s)(%s*%d)", disp, base, index, m.scale)
	case index != "":
		return fmt.Sprintf("%s%s(%s,%s,%d)", seg, disp, base, index, m.scale)
	case base != "":
		return fmt.Sprintf("%s%s(%s)", seg, disp, base)
	}
	return seg + fmt.Sprintf("%#x", uint32(m.disp))
}

func (d *vex) intelMemory(base, index string, size byte) string {
	m := &d.mem
	var parts []string
	if base != "" {
		parts = append(parts, base)
	}
	if index != "" {
		parts = append(parts, fmt.Sprintf("%s*%d", index, m.scale))
	}
	s := strings.Join(parts, "+")
	switch {
	case s == "":
		s = fmt.Sprintf("%#x", uint32(m.disp))
	case m.disp > 0:
		s += "+" + signed(m.disp)
	case m.disp < 0:
		s += signed(m.disp)
	}
	if d.seg != "" {
		s = d.seg + ":" + s
	}
	width := map[int]string{1: "byte", 2: "word", 4: "dword", 8: "qword", 16: "xmmword", 32: "ymmword", 64: "zmmword"}[d.bytes(size)]
	return width + " ptr [" + s + "]"
}

// signed formats a displacement: "0x10" or "-0x10".
func signed(n int64) string {
	if n < 0 {
		return fmt.Sprintf("-%#x", -n)
	}
	return fmt.Sprintf("%#x", n)
}
