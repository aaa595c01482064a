package disasm_test

import (
	"debug/elf"
	"encoding/binary"
	"testing"

	"ashlar/ingest/format/program/disasm"
)

// FuzzDecode checks that any bytes are decoded completely, without gaps or overlap, in
// every syntax.
func FuzzDecode(f *testing.F) {
	f.Add([]byte{0x55, 0x48, 0x89, 0xe5, 0xc3})
	f.Add([]byte{0xc5, 0xfd, 0x6f, 0x06, 0xc4, 0xe2, 0x7d, 0x18, 0x05, 1, 2, 3, 4})
	f.Add([]byte{0x62, 0xf1, 0xfe, 0x28, 0x6f, 0x46, 0x01, 0x62, 0xf3, 0x7d, 0x20, 0x3f, 0xc9, 0x04})
	f.Add([]byte{0xc4, 0xe2, 0x71, 0x90, 0x04, 0x88, 0xc5})
	f.Add([]byte{0xfd, 0x7b, 0xbf, 0xa9, 0x00, 0x00, 0x00, 0x94, 0xc0, 0x03, 0x5f, 0xd6})
	f.Fuzz(func(t *testing.T, code []byte) {
		if len(code) > 1<<12 {
			return
		}
		for _, m := range []elf.Machine{elf.EM_X86_64, elf.EM_386, elf.EM_AARCH64} {
			for _, s := range []disasm.Syntax{disasm.GNU, disasm.Go, disasm.Intel} {
				d, err := disasm.New(m, binary.LittleEndian, s, func(at uint64) (string, uint64) { return "f", at &^ 7 })
				if err != nil {
					t.Fatal(err)
				}
				at := uint64(0x1000)
				for _, in := range d.Decode(code, 0x1000) {
					if in.Addr != at || in.Size <= 0 || in.Text == "" {
						t.Fatalf("%v %s: %+v at %#x", m, s, in, at)
					}
					at += uint64(in.Size)
				}
				if at != 0x1000+uint64(len(code)) {
					t.Fatalf("%v %s: %d of %d bytes", m, s, at-0x1000, len(code))
				}
			}
		}
	})
}

// TestOtherMachines checks that the error for an unsupported processor names it.
func TestOtherMachines(t *testing.T) {
	_, err := disasm.New(elf.EM_RISCV, binary.LittleEndian, disasm.GNU, nil)
	if err == nil || err.Error() != "instructions of riscv are not supported; x86 and arm64 are" {
		t.Error(err)
	}
	if _, err := disasm.ParseSyntax("masm"); err == nil || err.Error() != `unknown syntax "masm". Use gnu, go, intel` {
		t.Error(err)
	}
}
