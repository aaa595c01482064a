package program

import (
	"bytes"
	"debug/elf"
	"debug/macho"
	"debug/pe"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"ashlar/testdata/rounds"
)

// TestSharedNames checks that a file whose many symbols or sections share one long name does
// not take memory for a copy of each: that would be 15 to 30 GB here.
func TestSharedNames(t *testing.T) {
	rounds.Unraced(t)
	const count, long = 20_000, 1 << 20
	name := strings.Repeat("n", long) + "\x00"
	elfFile := func(sections int) []byte {
		head := elf.Header64{Type: uint16(elf.ET_EXEC), Machine: uint16(elf.EM_X86_64), Version: 1, Ehsize: 64, Shentsize: 64, Shoff: 64, Shnum: uint16(sections), Shstrndx: 1}
		copy(head.Ident[:], elf.ELFMAG+"\x02\x01\x01")
		at := uint64(64 + 64*sections)
		headers := make([]elf.Section64, sections)
		headers[1] = elf.Section64{Name: long, Type: uint32(elf.SHT_STRTAB), Off: at, Size: uint64(len(name))}
		var symbols []byte
		if sections == 3 {
			symbols = bytes.Repeat(pack(t, le, elf.Sym64{Info: byte(elf.STT_FUNC), Shndx: 1, Value: 16, Size: 16}), count)
			headers[2] = elf.Section64{Name: long, Type: uint32(elf.SHT_SYMTAB), Link: 1, Entsize: 24, Off: at + uint64(len(name)), Size: uint64(len(symbols))}
		}
		return slices.Concat(pack(t, le, head, headers), []byte(name), symbols)
	}
	windows := tinyPE(t, pe.IMAGE_FILE_MACHINE_AMD64)
	le.PutUint32(windows[0x40+4+12:], count)
	windows = slices.Concat(windows[:0x600], bytes.Repeat(pack(t, le, uint32(0), uint32(4), uint32(0), int16(1), uint16(0x20), uint8(2), uint8(0)), count), pack(t, le, uint32(len(name)+4)), []byte(name))
	mac := tinyMachO(t, macho.CpuArm64, guid)
	at := bytes.Index(mac, pack(t, le, uint32(macho.LoadCmdSymtab), uint32(24)))
	mac = append(mac, name...)
	copy(mac[at:], pack(t, le, macho.SymtabCmd{Cmd: macho.LoadCmdSymtab, Len: 24, Symoff: uint32(len(mac)), Nsyms: count, Stroff: uint32(len(mac) - len(name)), Strsize: uint32(len(name))}))
	mac = append(mac, bytes.Repeat(pack(t, le, macho.Nlist64{Type: 0x0f, Sect: 1, Value: 0x100000400}), count)...)
	// Many load commands name the same table.
	again := tinyMachO(t, macho.CpuArm64, guid)
	command := bytes.Clone(mac[at : at+24])
	again = slices.Concat(again[:32], bytes.Repeat(command, 20_000), mac[32+20_000*24:])
	le.PutUint32(again[20:], 20_000*24)
	for what, content := range map[string][]byte{"ELF symbols": elfFile(3), "ELF sections": elfFile(20_000), "PE symbols": windows, "Mach-O symbols": mac, "Mach-O load commands": again,
		"Mach-O parts": fat(t, slices.Repeat([][]byte{mac}, 40)...)} {
		path := written(t, content)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		p, err := OpenStripped(path)
		if err == nil {
			p.FindUnits()
			p.Close()
		}
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; got > uint64(8*len(content)+16<<20) {
			t.Errorf("%s: %d MB were allocated for a file of %d KB (%v)", what, got>>20, len(content)>>10, err)
		}
	}
}

// FuzzForeign checks that any file for Windows or macOS is rejected or gives functions within
// bounds.
func FuzzForeign(f *testing.F) {
	for _, m := range []uint16{pe.IMAGE_FILE_MACHINE_AMD64, pe.IMAGE_FILE_MACHINE_ARM64, pe.IMAGE_FILE_MACHINE_I386} {
		f.Add(tinyPE(f, m))
	}
	mac := tinyMachO(f, macho.CpuArm64, guid)
	f.Add(mac)
	f.Add(fat(f, mac, tinyMachO(f, macho.CpuAmd64, guid)))
	path := filepath.Join(f.TempDir(), "program")
	f.Fuzz(func(t *testing.T, content []byte) {
		if len(content) > 1<<16 || bytes.HasPrefix(content, []byte(elf.ELFMAG)) {
			return
		}
		bounded(t, path, content)
	})
}

// bounded checks that a program gives functions and code within bounds.
func bounded(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := OpenStripped(path)
	if err != nil {
		return
	}
	defer p.Close()
	p.FindUnits()
	p.Compare("00112233445566778899aabbccddeeff1")
	p.LinkedFiles()
	at := []uint64{p.base, p.entry}
	p.Functions(func(_ string, low uint64) bool {
		at = append(at, low)
		return len(at) < 100
	})
	for _, x := range p.extents[:min(100, len(p.extents))] {
		at = append(at, x.low)
	}
	for _, low := range at {
		if fn, ok := p.FunctionAt(low); ok {
			if low < fn.Low || low >= fn.High {
				t.Fatalf("%#x is not in %+v", low, fn)
			}
			if code, err := p.Code(fn); err == nil && uint64(len(code)) > min(fn.High-fn.Low, uint64(len(content))) {
				t.Fatalf("%d bytes of code in a file of %d", len(code), len(content))
			}
		}
		p.Lookup(low)
		p.Places(low)
	}
}
