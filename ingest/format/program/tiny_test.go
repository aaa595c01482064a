package program

import (
	"bytes"
	"debug/elf"
	"debug/macho"
	"debug/pe"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"
)

var le = binary.LittleEndian

// pack writes values one after the other.
func pack(t testing.TB, order binary.ByteOrder, all ...any) []byte {
	t.Helper()
	var b bytes.Buffer
	for _, x := range all {
		if s, ok := x.(string); ok {
			x = []byte(s)
		}
		if err := binary.Write(&b, order, x); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

func fixed(b []byte, size int) []byte { return append(b, make([]byte, size-len(b))...) }

var guid = []byte("\x33\x22\x11\x00\x55\x44\x77\x66\x88\x99\xaa\xbb\xcc\xdd\xee\xff")

// tinyPE returns a program for Windows with two functions of 16 and 32 bytes, the second in two
// pieces, and a PDB file that it names.
func tinyPE(t testing.TB, machine uint16) []byte {
	const image, text, rdata = 0x140000000, 0x1000, 0x2000
	var table []byte
	unwind := pack(t, le, uint32(1), uint32(1), uint32(0x21)) // the third continues another function
	switch machine {
	case pe.IMAGE_FILE_MACHINE_AMD64:
		table = pack(t, le, []uint32{text, text + 16, rdata + 0x100, text + 16, text + 40, rdata + 0x104, text + 40, text + 48, rdata + 0x108})
	case pe.IMAGE_FILE_MACHINE_ARM64:
		unwind = pack(t, le, uint32(32/4))
		table = pack(t, le, []uint32{text, 1 | 16/4<<2, text + 16, rdata + 0x100})
	}
	debug := pack(t, le, uint32(0), uint32(0), uint16(0), uint16(0), uint32(2), uint32(30), uint32(rdata+0x40), uint32(0x440))
	content := fixed(debug, 0x40)
	content = fixed(append(content, pack(t, le, "RSDS", guid, uint32(3), "a.pdb\x00")...), 0x80)
	content = fixed(append(content, table...), 0x100)
	content = fixed(append(content, unwind...), 0x200)
	o := pe.OptionalHeader64{Magic: 0x20b, ImageBase: image, AddressOfEntryPoint: text, SizeOfImage: 0x3000, DllCharacteristics: 0x40, NumberOfRvaAndSizes: 16}
	o.DataDirectory[pe.IMAGE_DIRECTORY_ENTRY_DEBUG] = pe.DataDirectory{VirtualAddress: rdata, Size: uint32(len(debug))}
	o.DataDirectory[pe.IMAGE_DIRECTORY_ENTRY_EXCEPTION] = pe.DataDirectory{VirtualAddress: rdata + 0x80, Size: uint32(len(table))}
	sections := []pe.SectionHeader32{
		{VirtualSize: 48, VirtualAddress: text, SizeOfRawData: 0x200, PointerToRawData: 0x200, Characteristics: pe.IMAGE_SCN_CNT_CODE | pe.IMAGE_SCN_MEM_EXECUTE},
		{VirtualSize: 0x200, VirtualAddress: rdata, SizeOfRawData: 0x200, PointerToRawData: 0x400, Characteristics: pe.IMAGE_SCN_CNT_INITIALIZED_DATA},
	}
	copy(sections[0].Name[:], ".text")
	copy(sections[1].Name[:], "/4") // in the string table
	h := pe.FileHeader{Machine: machine, NumberOfSections: 2, TimeDateStamp: 0x5EC8C6A5, SizeOfOptionalHeader: uint16(binary.Size(o)), PointerToSymbolTable: 0x600, NumberOfSymbols: 3}
	head := fixed(append(fixed([]byte("MZ"), 0x3c), 0x40, 0, 0, 0), 0x40)
	head = fixed(append(head, pack(t, le, "PE\x00\x00", h, o, sections)...), 0x200)
	code := fixed(bytes.Repeat([]byte{0xc3}, 48), 0x200)
	symbols := pack(t, le,
		"first\x00\x00\x00", uint32(0), int16(1), uint16(0x20), uint8(2), uint8(0),
		uint32(0), uint32(12), uint32(16), int16(1), uint16(0x20), uint8(2), uint8(0),
		"constant", uint32(0), int16(2), uint16(0), uint8(2), uint8(0),
		uint32(29), ".rdata$\x00a_long_function\x00")
	return slices.Concat(head, code, content, symbols)
}

// tinyMachO returns a program for macOS with three functions, of which the symbol table has two.
func tinyMachO(t testing.TB, cpu macho.Cpu, uuid []byte) []byte {
	const base, text = 0x100000000, 0x400
	name := func(s string) (b [16]byte) { copy(b[:], s); return b }
	segment := macho.Segment64{Cmd: macho.LoadCmdSegment64, Len: 72 + 80, Name: name("__TEXT"), Addr: base, Memsz: 0x1000, Filesz: 0x800, Prot: 5, Nsect: 1}
	section := macho.Section64{Name: name("__text"), Seg: name("__TEXT"), Addr: base + text, Size: 48, Offset: text, Flags: 0x80000400}
	strings := "\x00_first\x00__ZN5outer6secondEi\x00"
	commands := pack(t, le, segment, section,
		macho.SymtabCmd{Cmd: macho.LoadCmdSymtab, Len: 24, Symoff: 0x600, Nsyms: 3, Stroff: 0x640, Strsize: uint32(len(strings))},
		uint32(0x1b), uint32(24), uuid, uint32(0x26), uint32(16), uint32(0x700), uint32(8))
	head := pack(t, le, macho.FileHeader{Magic: macho.Magic64, Cpu: cpu, Type: macho.TypeExec, Ncmd: 4, Cmdsz: uint32(len(commands)), Flags: 0x200000}, uint32(0), commands)
	symbols := pack(t, le,
		macho.Nlist64{Name: 1, Type: 0x0f, Sect: 1, Value: base + text},
		macho.Nlist64{Name: 8, Type: 0x0e, Sect: 1, Value: base + text + 16},
		macho.Nlist64{Name: 1, Type: 0x24, Sect: 1, Value: base + text + 8}) // for debuggers
	out := fixed(head, text)
	out = fixed(append(out, bytes.Repeat([]byte{0x1f, 0x20, 0x03, 0xd5}, 12)...), 0x600)
	out = fixed(append(out, symbols...), 0x640)
	out = fixed(append(out, strings...), 0x700)
	return append(out, 0x80, 0x08, 16, 16, 0, 0, 0, 0) // 0x400, 16, 16
}

// fat returns a file with parts for several processors.
func fat(t testing.TB, parts ...[]byte) []byte {
	head, body := pack(t, binary.BigEndian, uint32(macho.MagicFat), uint32(len(parts))), []byte(nil)
	for i, p := range parts {
		body = append(body, make([]byte, -len(body)&0xfff)...)
		head = append(head, pack(t, binary.BigEndian, []uint32{uint32(i), 0, uint32(0x1000 + len(body)), uint32(len(p)), 12})...)
		body = append(body, p...)
	}
	return append(fixed(head, 0x1000), body...)
}

func opened(t *testing.T, content []byte, id string) *Program {
	t.Helper()
	p, err := OpenSlice(written(t, content), id)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// functionsAt returns the functions that contain addresses.
func functionsAt(p *Program, at ...uint64) string {
	var all []string
	for _, pc := range at {
		f, ok := p.FunctionAt(pc)
		if !ok {
			f = Function{Name: "none"}
		}
		all = append(all, fmt.Sprintf("%s %x-%x", f.Name, f.Low, f.High))
	}
	return strings.Join(all, ", ")
}

// TestPEFunctions checks functions of PE files by symbols and by the exception table.
func TestPEFunctions(t *testing.T) {
	for machine, want := range map[uint16]elf.Machine{pe.IMAGE_FILE_MACHINE_AMD64: elf.EM_X86_64, pe.IMAGE_FILE_MACHINE_ARM64: elf.EM_AARCH64} {
		whole := tinyPE(t, machine)
		p := opened(t, whole, "")
		if p.Machine() != want || !p.Moves || !p.Whole() || !p.HasCode() || p.HasLines() {
			t.Errorf("%v, moves %t, code %t", p.Machine(), p.Moves, p.HasCode())
		}
		const at = 0x140001000
		if got, want := functionsAt(p, at, at+47, at+48), "first 140001000-140001010, a_long_function 140001010-140001030, none 0-0"; got != want {
			t.Errorf("%v: %s\nwant %s", p.Machine(), got, want)
		}
		copy(whole[0x40+4+8:], make([]byte, 8)) // without symbols
		p = opened(t, whole, "")
		if got, want := functionsAt(p, at+15, at+47, at+48), " 140001000-140001010,  140001010-140001030, none 0-0"; got != want || !p.Stripped() {
			t.Errorf("%v: %s\nwant %s", p.Machine(), got, want)
		}
		if a, ok := p.Address(0x210); !ok || a != at+16 {
			t.Errorf("file offset 0x210 is at %#x", a)
		}
		if a, ok := p.Relative(0x1010); !ok || a != at+16 {
			t.Errorf("offset 0x1010 is at %#x", a)
		}
	}
}

// TestMachOFunctions checks functions of Mach-O files by symbols and by the list of functions,
// and that the part for the recorded processor is read.
func TestMachOFunctions(t *testing.T) {
	x86, arm := bytes.Repeat([]byte{0xab}, 16), bytes.Repeat([]byte{0xcd}, 16)
	other := tinyMachO(t, macho.CpuPpc, guid)
	whole := fat(t, other, tinyMachO(t, macho.CpuAmd64, x86), tinyMachO(t, macho.CpuArm64, arm))
	for _, c := range []struct {
		content []byte
		id      string
		want    elf.Machine
	}{
		{tinyMachO(t, macho.CpuArm64, arm), "", elf.EM_AARCH64},
		{whole, "", elf.EM_X86_64},
		{whole, strings.Repeat("CD", 4) + "-" + strings.Repeat("CD", 12), elf.EM_AARCH64},
		{whole, strings.Repeat("ab", 16), elf.EM_X86_64},
		{whole, strings.Repeat("CD", 16) + "0", elf.EM_AARCH64}, // as Breakpad writes it
	} {
		p := opened(t, c.content, c.id)
		if p.Machine() != c.want || !p.Moves || p.Whole() || !p.HasCode() {
			t.Errorf("%q: %v, moves %t, code %t", c.id, p.Machine(), p.Moves, p.HasCode())
		}
		const at = 0x100000400
		if got, want := functionsAt(p, at, at+8, at+31, at+32, at+48), "first 100000400-100000410, first 100000400-100000410, _ZN5outer6secondEi 100000410-100000420,  100000420-100000430, none 0-0"; got != want {
			t.Errorf("%q: %s\nwant %s", c.id, got, want)
		}
		if code, err := p.Code(Function{"", at, at + 48}); err != nil || len(code) != 48 || code[0] != 0x1f {
			t.Errorf("% x, %v", code, err)
		}
		if c.id != "" {
			if own, _, same := p.Compare(c.id); !same {
				t.Errorf("%s is compared as %s", c.id, own)
			}
		}
	}
	if _, err := OpenCode(written(t, []byte("\xca\xfe\xba\xbe\x00\x00\x00\x34\x00\x10"))); err != errNoProgram {
		t.Errorf("a Java class: %v", err)
	}
}

// TestCompare checks the forms in which recordings give the id of a binary.
func TestCompare(t *testing.T) {
	windows := opened(t, tinyPE(t, pe.IMAGE_FILE_MACHINE_AMD64), "")
	const printed = "00112233-4455-6677-8899-aabbccddeeff"
	plain := strings.ReplaceAll(printed, "-", "")
	linux := &Program{BuildID: append(bytes.Clone(guid), 1, 2, 3, 4)}
	linux.elf = true
	zeros := &Program{BuildID: append(bytes.Clone(guid), 1, 2, 0, 0)}
	zeros.elf = true
	for _, c := range []struct {
		p              *Program
		id, own, form  string
		same, compares bool
	}{
		{windows, "{" + strings.ToUpper(printed) + "}", plain, "build id", true, true},
		{windows, fmt.Sprintf("%x", guid), plain, "build id", true, true},
		{windows, plain + "3", plain + "3", "build id", true, true},
		{windows, plain + "4", plain + "3", "build id", false, true},
		{windows, "5EC8C6A53000", "5ec8c6a53000", "time stamp and size", true, true},
		{windows, "5EC8C6A54000", "5ec8c6a53000", "time stamp and size", false, true},
		{linux, fmt.Sprintf("%x01020304", guid), fmt.Sprintf("%x01020304", guid), "build id", true, true},
		{linux, plain + "0", plain + "0", "build id", true, true}, // of Breakpad, which takes it for a GUID
		{linux, plain, fmt.Sprintf("%x01020304", guid), "build id", false, true},
		{zeros, fmt.Sprintf("%x0102", guid), fmt.Sprintf("%x01020000", guid), "build id", true, true}, // as perf cuts it
		{&Program{}, plain, "", "build id", false, true},
		{windows, `C:\a.exe2024-01-02`, "", "", false, false},
	} {
		if IsID(c.id) != c.compares {
			t.Errorf("%s: an id: %t", c.id, IsID(c.id))
		}
		if own, form, same := c.p.Compare(c.id); c.compares && (own != c.own || form != c.form || same != c.same) {
			t.Errorf("%s: %s, %s, %t; want %s, %s, %t", c.id, own, form, same, c.own, c.form, c.same)
		}
	}
}
