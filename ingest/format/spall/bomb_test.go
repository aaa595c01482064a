package spall

import (
	"bytes"
	"compress/zlib"
	"debug/elf"
	"encoding/binary"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"ashlar/ingest/format/decode"
	"ashlar/ingest/input/source"
	"ashlar/ingest/model/recording"
)

// bomb writes a program with one function whose line tables claim to unpack to size bytes.
// old selects the older compression format.
func bomb(t *testing.T, old bool, size uint64) string {
	le := binary.LittleEndian
	var z bytes.Buffer
	w := zlib.NewWriter(&z)
	if _, err := w.Write(make([]byte, 1000)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	names := "\x00.debug_info\x00.zdebug_info\x00.symtab\x00.strtab\x00"
	at := func(s string) uint32 { return uint32(strings.Index(names, s+"\x00")) }
	packed := elf.Section64{Name: at(".debug_info"), Type: uint32(elf.SHT_PROGBITS), Flags: uint64(elf.SHF_COMPRESSED), Addralign: 1}
	data := le.AppendUint64(le.AppendUint64(le.AppendUint64(nil, uint64(elf.COMPRESS_ZLIB)), size), 1)
	if old {
		packed.Name, packed.Flags = at(".zdebug_info"), 0
		data = binary.BigEndian.AppendUint64([]byte("ZLIB"), size)
	}
	symbols := make([]byte, 24) // the first symbol is a placeholder
	symbols = append(le.AppendUint32(symbols, 1), byte(elf.STB_GLOBAL)<<4|byte(elf.STT_FUNC), 0, 3, 0)
	symbols = le.AppendUint64(le.AppendUint64(symbols, 0x1000), 16)
	sections := []elf.Section64{{}, packed, {Name: at(".symtab"), Type: uint32(elf.SHT_SYMTAB), Link: 3, Entsize: 24, Addralign: 8}, {Name: at(".strtab"), Type: uint32(elf.SHT_STRTAB), Addralign: 1}}
	head := elf.Header64{Type: uint16(elf.ET_EXEC), Machine: uint16(elf.EM_X86_64), Version: 1, Ehsize: 64, Shentsize: 64, Shnum: 4, Shstrndx: 3}
	copy(head.Ident[:], elf.ELFMAG+"\x02\x01\x01")
	body := new(bytes.Buffer)
	for i, b := range [][]byte{append(data, z.Bytes()...), symbols, []byte(names + "function\x00")} {
		sections[i+1].Off, sections[i+1].Size = uint64(64+body.Len()), uint64(len(b))
		body.Write(b)
	}
	le.PutUint32(body.Bytes()[sections[2].Off-64+24:], uint32(len(names)))
	head.Shoff = uint64(64 + body.Len())
	var out bytes.Buffer
	for _, part := range []any{head, body.Bytes(), sections} {
		if err := binary.Write(&out, le, part); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(path, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestBombs checks that a small program that claims to unpack to gigabytes still gives
// function names, without large allocations.
func TestBombs(t *testing.T) {
	for _, old := range []bool{false, true} {
		for _, size := range []uint64{4 << 30, 1 << 62, 1<<64 - 1} {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			path := bomb(t, old, size)
			p, err := openProgram(path, 0)
			if err != nil {
				t.Fatalf("old %v, %d bytes: %v", old, size, err)
			}
			f, ok := p.lookup(0x1004)
			p.Close()
			runtime.ReadMemStats(&after)
			if !ok || f.Name != "function" || p.Without == "" {
				t.Errorf("old %v, %d bytes: %+v, %v, without %q", old, size, f, ok, p.Without)
			}
			if got := after.TotalAlloc - before.TotalAlloc; got > 64<<20 {
				t.Errorf("old %v, %d bytes: %d MB were made", old, size, got>>20)
			}
			says(t, path, "the line table of "+path+" unpacks to more than 512 MB; functions have no files")
		}
	}
}

// TestDamagedLines checks the warning about unreadable line tables.
func TestDamagedLines(t *testing.T) {
	path := bomb(t, false, 1000) // 1000 zero bytes, which are not a line table
	says(t, path, "the line table of "+path+" cannot be read (")
}

// says fails the test unless a trace of the program has a minor warning that begins with
// want.
func says(t *testing.T, program, want string) {
	t.Helper()
	w := automatic(1, 0, program)
	w.openAuto(1, 7)
	w.u8(3<<2, 1)
	w.u64(0x1004)
	w.u8(0)
	w.close()
	b := recording.NewBuilder()
	if err := Format.Decode(t.Context(), source.FromBytes("x", w.b), b, decode.Options{}); err != nil {
		t.Fatal(err)
	}
	r := b.Finish()
	for _, x := range r.Warnings {
		if strings.HasPrefix(x.Text, want) && x.Minor && x.Code == "no-source-files" {
			return
		}
	}
	t.Errorf("%q is not in %+v", want, r.Warnings)
}
