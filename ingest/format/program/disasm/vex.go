package disasm

import (
	"encoding/binary"
	"fmt"
	"strings"
)

// vex is an instruction with a VEX or EVEX prefix that is being decoded.
type vex struct {
	code []byte
	at   uint64
	pos  int // position of the next byte
	mode int
	// Fields of the prefix. r, x, b and v extend the fields reg, index, rm and vvvv.
	evex         bool
	pp, opmap    int
	w, length    int // length is 0, 1 or 2 for 16, 32 and 64 bytes
	r, x, b, v   int
	mask         int
	zero, spread bool // zeroing of masked elements; broadcast, or rounding of registers
	opcode       byte
	modrm        byte
	mem          memory
	seg          string
	address32    bool
	imm          byte
}

// memory is an operand in memory.
type memory struct {
	base, index int // numbers of registers, -1 for none
	scale       int
	disp        int64
	relative    bool // base is the next instruction
	vectors     bool // index is a vector
}

// decodeVEX decodes an instruction with a VEX or EVEX prefix; ok is false if there is no
// such prefix. Package x86asm does not know these instructions.
func decodeVEX(code []byte, at uint64, mode int, syntax Syntax, symbol Symbolizer) (Inst, bool) {
	d := &vex{code: code, at: at, mode: mode}
	if !d.prefix() {
		return Inst{}, false
	}
	return d.decode(vexOps(), syntax, symbol), true
}

// decodeMore decodes an instruction of moreTable.
func decodeMore(code []byte, at uint64, mode int, syntax Syntax, symbol Symbolizer) Inst {
	d := &vex{code: code, at: at, mode: mode}
	for ; d.pos < min(len(code), 4); d.pos++ {
		i := strings.IndexByte("\x66\xf3\xf2", code[d.pos])
		if i < 0 {
			break
		}
		d.pp = i + 1
	}
	if d.pos < len(code) && mode == 64 && code[d.pos]&0xf0 == 0x40 {
		c := d.next()
		d.w, d.r, d.x, d.b = int(c>>3)&1, int(c>>2)&1<<3, int(c>>1)&1<<3, int(c)&1<<3
	}
	if d.next() != 0x0f {
		return bad(code[:1], at)
	}
	d.opmap = 1
	switch d.opcode = d.next(); d.opcode {
	case 0x38:
		d.opmap, d.opcode = 2, d.next()
	case 0x3a:
		d.opmap, d.opcode = 3, d.next()
	}
	if d.opmap == 1 && d.pp == 2 && d.opcode == 0x1e && d.pos < len(code) && code[d.pos]&^1 == 0xfa {
		text := "endbr64"
		if d.next() == 0xfb {
			text = "endbr32"
		}
		return Inst{Addr: at, Size: d.pos, Text: text}
	}
	return d.decode(moreOps(), syntax, symbol)
}

// decode decodes the rest of an instruction after its opcode.
func (d *vex) decode(table map[int][]vexOp, syntax Syntax, symbol Symbolizer) (in Inst) {
	op, ok := d.operation(table[d.opmap<<12|d.pp<<8|int(d.opcode)])
	if !ok || d.pos > len(d.code) || d.pos > 15 {
		return bad(d.code[:1], d.at)
	}
	in = Inst{Addr: d.at, Size: d.pos}
	in.Text = d.text(op, syntax)
	if d.mem.relative && d.modrm>>6 != 3 && syntax != Go {
		to := d.at + uint64(d.pos) + uint64(d.mem.disp)
		in.Text = named(fmt.Sprintf("%s # %#x", in.Text, to), to, symbol)
	}
	return in
}

// next returns the next byte, 0 beyond the end, which decodeVEX notices by pos.
func (d *vex) next() byte {
	d.pos++
	if d.pos > len(d.code) {
		return 0
	}
	return d.code[d.pos-1]
}

// prefix reads the prefixes; false if none of them is VEX or EVEX.
func (d *vex) prefix() bool {
	for ; d.pos < min(len(d.code), 4); d.pos++ {
		switch c := d.code[d.pos]; c {
		case 0x64:
			d.seg = "fs"
		case 0x65:
			d.seg = "gs"
		case 0x2e, 0x36, 0x3e, 0x26:
		case 0x67:
			d.address32 = true
		case 0xc5, 0xc4, 0x62:
			// In 32-bit mode these are other instructions if a memory operand follows.
			if d.pos+3 >= len(d.code) || d.mode == 32 && d.code[d.pos+1]>>6 != 3 {
				return false
			}
			d.pos++
			d.fields(c)
			return true
		default:
			return false
		}
	}
	return false
}

// fields reads the fields of a VEX or EVEX prefix, whose first byte is kind. Most are
// stored inverted.
func (d *vex) fields(kind byte) {
	bit := func(b byte, n int) int { return int(b>>n) & 1 }
	p := d.next()
	d.r = bit(^p, 7) << 3
	if kind == 0xc5 {
		d.opmap = 1
		d.last(p, 2)
		d.opcode = d.next()
		return
	}
	d.x, d.b = bit(^p, 6)<<3, bit(^p, 5)<<3
	d.opmap = int(p & 0x1f)
	q := d.next()
	d.w = bit(q, 7)
	if d.last(q, 2); kind == 0x62 {
		d.evex, d.opmap = true, int(p&7)
		d.r |= bit(^p, 4) << 4
		s := d.next()
		d.mask, d.zero, d.spread = int(s&7), s&0x80 != 0, s&0x10 != 0
		d.length = int(s>>5) & 3
		d.v |= bit(^s, 3) << 4
	}
	d.opcode = d.next()
}

// last reads vvvv, L and pp from the low bits of a byte.
func (d *vex) last(p byte, at int) {
	d.pp, d.length, d.v = int(p&3), int(p>>at)&1, int(^p>>3)&15
}

// operation reads the operands and finds the entry of the instruction.
func (d *vex) operation(entries []vexOp) (*vexOp, bool) {
	if d.opcode == 0x77 && d.opmap == 1 && d.pp == 0 {
		for i := range entries {
			if int(entries[i].l) == d.length {
				return &entries[i], true
			}
		}
	}
	d.readModRM()
	var found *vexOp
	for i := range entries {
		if d.matches(&entries[i]) {
			found = &entries[i]
			break
		}
	}
	if found == nil {
		return nil, false
	}
	if strings.ContainsAny(found.operands, "IL") {
		d.imm = d.next()
	}
	if d.evex && d.mem.disp != 0 && d.modrm>>6 == 1 {
		d.mem.disp *= d.unit(found)
	}
	return found, true
}

func (d *vex) matches(op *vexOp) bool {
	is := func(want int8, have int) bool { return want < 0 || int(want) == have }
	number := func(b bool) int {
		if b {
			return 1
		}
		return 0
	}
	return is(op.reg, int(d.modrm>>3)&7) && is(op.w, d.w) && is(op.l, min(d.length, 1)) && is(op.register, number(d.modrm>>6 == 3)) && is(op.evex, number(d.evex))
}

// readModRM reads the operand that is a register or in memory.
func (d *vex) readModRM() {
	d.modrm = d.next()
	mod, rm := d.modrm>>6, int(d.modrm&7)
	if mod == 3 {
		return
	}
	d.mem = memory{base: rm | d.b, index: -1}
	if rm == 4 {
		sib := d.next()
		d.mem.scale = 1 << (sib >> 6)
		d.mem.index = int(sib>>3)&7 | d.x
		d.mem.base = int(sib&7) | d.b
		d.mem.vectors = d.opmap == 2 && d.opcode >= 0x90 && d.opcode <= 0x93
		if d.mem.vectors && d.evex {
			d.mem.index |= d.v & 16
		}
		if d.mem.index == 4 && !d.mem.vectors {
			d.mem.index = -1
		}
		if sib&7 == 5 && mod == 0 {
			d.mem.base = -1
			d.mem.disp = d.disp32()
		}
	} else if rm == 5 && mod == 0 {
		d.mem.base, d.mem.relative = -1, d.mode == 64
		d.mem.disp = d.disp32()
	}
	switch mod {
	case 1:
		d.mem.disp = int64(int8(d.next()))
	case 2:
		d.mem.disp = d.disp32()
	}
}

func (d *vex) disp32() int64 {
	d.pos += 4
	if d.pos > len(d.code) {
		return 0
	}
	return int64(int32(binary.LittleEndian.Uint32(d.code[d.pos-4:])))
}

// unit returns the factor, in bytes, by which EVEX scales a short displacement.
func (d *vex) unit(op *vexOp) int64 {
	i := strings.IndexAny(op.operands, "MG")
	return int64(d.bytes(op.operands[i+1]))
}

// bytes returns the size of an operand in memory.
func (d *vex) bytes(size byte) int {
	whole := 16 << min(d.length, 2)
	if d.spread && strings.IndexByte("vhf", size) >= 0 {
		return 4 << d.w
	}
	switch size {
	case 'x':
		return 16
	case 'h':
		return whole / 2
	case 'f':
		return whole / 4
	case 'e':
		return whole / 8
	case 'q':
		return 8
	case 'd', 'l':
		return 4
	case 'w':
		return 2
	case 'b':
		return 1
	case 'y', '~':
		return 4 << d.w
	}
	return whole
}
