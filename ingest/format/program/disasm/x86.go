package disasm

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/arch/x86/x86asm"
)

// x86 returns the decoder of x86 in a mode of 32 or 64 bits.
func x86(mode int, syntax Syntax, symbol Symbolizer) func([]byte, uint64) Inst {
	return func(code []byte, at uint64) Inst {
		if in, ok := decodeVEX(code, at, mode, syntax, symbol); ok {
			return in
		}
		x, err := x86asm.Decode(code, mode)
		if err != nil || x.Op == 0 {
			return decodeMore(code, at, mode, syntax, symbol)
		}
		in := Inst{Addr: at, Size: x.Len, Kind: x86Kind(x.Op)}
		var relative bool
		if in.Target, relative = x86Target(&x, at); in.Kind == Plain && !relative {
			in.Target = 0
		}
		switch syntax {
		case Go:
			in.Text = x86asm.GoSyntax(x, at, x86asm.SymLookup(symbol))
			return in
		case Intel:
			in.Text = x86asm.IntelSyntax(x, at, nil)
		default:
			in.Text = gnuText(&x, x86asm.GNUSyntax(x, at, nil))
		}
		if relative {
			in.Text = named(in.Text, in.Target, symbol)
		} else if to, ok := ripTarget(&x, at); ok {
			in.Text = named(fmt.Sprintf("%s # %#x", in.Text, to), to, symbol)
		}
		return in
	}
}

// x86Kind returns the kind of an instruction.
func x86Kind(op x86asm.Op) Kind {
	switch op {
	case x86asm.CALL, x86asm.LCALL:
		return Call
	case x86asm.JMP, x86asm.LJMP:
		return Jump
	case x86asm.RET, x86asm.LRET, x86asm.IRET, x86asm.IRETD, x86asm.IRETQ, x86asm.SYSRET:
		return Return
	case x86asm.LOOP, x86asm.LOOPE, x86asm.LOOPNE, x86asm.XBEGIN:
		return Branch
	}
	if strings.HasPrefix(op.String(), "J") {
		return Branch
	}
	return Plain
}

// x86Target returns the target of a relative call or jump.
func x86Target(x *x86asm.Inst, at uint64) (uint64, bool) {
	if rel, ok := x.Args[0].(x86asm.Rel); ok {
		to := at + uint64(x.Len) + uint64(int64(rel))
		if x.Mode == 32 {
			to = uint64(uint32(to))
		}
		return to, true
	}
	return 0, false
}

// ripTarget returns the address of an operand that is relative to the instruction.
func ripTarget(x *x86asm.Inst, at uint64) (uint64, bool) {
	for _, a := range x.Args {
		if m, ok := a.(x86asm.Mem); ok && m.Base == x86asm.RIP {
			return at + uint64(x.Len) + uint64(m.Disp), true
		}
	}
	return 0, false
}

// gnuNames maps mnemonics of package x86asm to those of current binutils.
var gnuNames = map[string]string{
	"movsxd": "movslq", "cdqe": "cltq", "callq": "call", "retq": "ret", "jmpq": "jmp", "leaveq": "leave",
	"pushq": "push", "popq": "pop", "retw": "ret", "iretq": "iretq",
	"pushfq": "pushf", "popfq": "popf", "icebp": "int1",
}

// withoutZero removes the register of zeros, which binutils does not write. It is shared
// because making it takes longer than decoding an instruction.
var withoutZero = strings.NewReplacer(",%riz)", ")", ",%riz,1)", ")")

// gnuText changes a text to the form of current binutils: no size after mnemonics that have
// only one, immediates without a sign, and scales of 1.
func gnuText(x *x86asm.Inst, text string) string {
	prefix := ""
	for {
		first, rest, _ := strings.Cut(text, " ")
		if !gnuPrefixes[first] || rest == "" {
			break
		}
		switch {
		case first == "data32":
			first = "data16"
		case first == "ds":
			first = "notrack"
		case first == "rep" && x.Op == x86asm.RET:
			first = "repz"
		}
		prefix, text = prefix+first+" ", rest
	}
	op, rest, _ := strings.Cut(text, " ")
	if name, ok := gnuNames[op]; ok {
		op = name
	}
	switch imm, wide := x.Args[1].(x86asm.Imm); {
	case x.Op == x86asm.NOP && x.Opcode>>24 == 0x90 && prefix == "data16 ":
		return "xchg %ax,%ax"
	case x.Op == x86asm.MOV && wide && x.DataSize == 64 && x.Opcode>>24&0xf8 == 0xb8:
		op = "movabs"
		rest = fmt.Sprintf("$%#x,", uint64(imm)) + rest[strings.LastIndexByte(rest, ',')+1:]
	case x.Op == x86asm.PUSH && rest[0] == '$':
		if imm, ok := x.Args[0].(x86asm.Imm); ok {
			rest = fmt.Sprintf("$%#x", uint64(int64(int32(imm)))&(1<<x.Mode-1))
		}
	case x.Op == x86asm.CALL && x.Opcode>>24 == 0xe8 && slices.ContainsFunc(x.Prefix[:], wide64):
		prefix += "rex.W " // filler of a call that the linker may replace: it has no effect
	case x.Op == x86asm.NOP && strings.HasPrefix(rest, "%cs:"):
		prefix, rest = prefix+"cs ", rest[4:]
	}
	rest = withoutZero.Replace(rest)
	rest = scaled(absolute(x, unsigned(x, rest)))
	switch rest {
	case "%st":
		rest = "%st(0)"
	case "%st,%st":
		rest = "%st(0),%st"
	}
	if x.MemBytes == 2 && strings.HasPrefix(op, "fi") && !strings.HasSuffix(op, "s") {
		op += "s" // an integer of 16 bits
	}
	return strings.TrimSpace(prefix + op + " " + rest)
}

// wide64 reports whether a prefix makes operands 64 bits wide.
func wide64(p x86asm.Prefix) bool { return p.IsREX() && p&x86asm.PrefixREXW != 0 }

// gnuPrefixes are prefixes that are written before a mnemonic.
var gnuPrefixes = map[string]bool{"data16": true, "data32": true, "lock": true, "rep": true, "repz": true, "repn": true, "repnz": true, "addr32": true, "bnd": true, "ds": true}

// unsigned writes a negative immediate without its sign, in the size of the operands.
func unsigned(x *x86asm.Inst, rest string) string {
	before, after, ok := strings.Cut(rest, "$-0x")
	if !ok {
		return rest
	}
	digits, after, found := strings.Cut(after, ",")
	n, err := strconv.ParseUint(digits, 16, 64)
	if err != nil {
		return rest
	}
	rest = fmt.Sprintf("%s$%#x", before, -n&(1<<x86Size(x)-1))
	if found {
		rest += "," + after
	}
	return rest
}

// absolute writes the address of an operand without registers in full.
func absolute(x *x86asm.Inst, rest string) string {
	for _, a := range x.Args {
		m, ok := a.(x86asm.Mem)
		if !ok || m.Base != 0 || m.Index != 0 {
			continue
		}
		if m.Segment == 0 {
			if m.Disp == 0 && strings.HasPrefix(rest, ",") {
				rest = "0x0" + rest
			} else if m.Disp == 0 && (rest == "" || strings.HasSuffix(rest, ",") || strings.HasSuffix(rest, "*")) {
				rest += "0x0"
			}
			continue
		}
		seg := "%" + strings.ToLower(m.Segment.String()) + ":"
		before, after, ok := strings.Cut(rest, seg)
		if !ok {
			continue
		}
		_, after, found := strings.Cut(after, ",")
		disp := uint64(m.Disp)
		if x.Mode == 32 {
			disp = uint64(uint32(disp))
		}
		if rest = fmt.Sprintf("%s%s%#x", before, seg, disp); found {
			rest += "," + after
		}
	}
	return rest
}

// scaled adds the scale of 1 to an operand with two registers.
func scaled(rest string) string {
	open := strings.IndexByte(rest, '(')
	end := strings.IndexByte(rest, ')')
	if open < 0 || end < open || strings.Count(rest[open:end], ",") != 1 || strings.Contains(rest[open:end], ",%st") {
		return rest
	}
	if base := rest[open:]; !strings.HasPrefix(base, "(%r") && !strings.HasPrefix(base, "(%e") {
		return rest
	}
	if last := rest[end-1]; last >= '0' && last <= '9' && rest[end-2] == ',' {
		return rest
	}
	return rest[:end] + ",1" + rest[end:]
}

// x86Size returns the operand size in bits that determines how an immediate is written.
func x86Size(x *x86asm.Inst) int {
	if x.Op == x86asm.PUSH {
		return x.Mode
	}
	if x.MemBytes > 0 && x.MemBytes <= 8 {
		return 8 * x.MemBytes
	}
	if r, ok := x.Args[0].(x86asm.Reg); ok && r >= x86asm.AL && r <= x86asm.R15B {
		return 8
	}
	return max(x.DataSize, 8)
}
