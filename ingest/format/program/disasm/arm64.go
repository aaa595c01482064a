package disasm

import (
	"fmt"
	"strings"

	"golang.org/x/arch/arm64/arm64asm"
)

// arm64 returns the decoder of 64-bit ARM.
func arm64(syntax Syntax, symbol Symbolizer) func([]byte, uint64) Inst {
	return func(code []byte, at uint64) Inst {
		if len(code) < 4 {
			return bad(code, at)
		}
		x, err := arm64asm.Decode(code)
		if err != nil {
			return bad(code[:4], at)
		}
		in := Inst{Addr: at, Size: 4, Kind: armKind(&x)}
		relative, page := false, false
		for _, a := range x.Args {
			if rel, ok := a.(arm64asm.PCRel); ok {
				in.Target, relative = at+uint64(int64(rel)), true
				if page = x.Op == arm64asm.ADRP; page {
					in.Target = at&^0xfff + uint64(int64(rel))
				}
			}
		}
		if syntax == Go {
			in.Text = arm64asm.GoSyntax(x, at, symbol, nil)
		} else {
			in.Text = arm64asm.GNUSyntax(x)
			if i := strings.LastIndex(in.Text, ".+0x"); i >= 0 && relative {
				in.Text = named(fmt.Sprintf("%s%#x", in.Text[:i], in.Target), in.Target, symbol)
			}
		}
		if in.Kind == Plain || in.Kind == Return {
			in.Target = 0
		}
		return in
	}
}

// armKind returns the kind of an instruction.
func armKind(x *arm64asm.Inst) Kind {
	switch x.Op {
	case arm64asm.BL, arm64asm.BLR:
		return Call
	case arm64asm.B:
		if _, conditional := x.Args[0].(arm64asm.Cond); conditional {
			return Branch
		}
		return Jump
	case arm64asm.BR:
		return Jump
	case arm64asm.CBZ, arm64asm.CBNZ, arm64asm.TBZ, arm64asm.TBNZ:
		return Branch
	case arm64asm.RET, arm64asm.ERET:
		return Return
	}
	return Plain
}
