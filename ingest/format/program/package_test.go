package program

import (
	"bytes"
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// packaged collects .dwo files in one, as dwp does: see DWARF 5, 7.3.5.
func packaged(t *testing.T, units ...string) []byte {
	t.Helper()
	kinds := []uint32{1, 3, 6, 8}
	names := []string{"info", "abbrev", "str_offsets", "rnglists"}
	content := make([][]byte, len(names))
	var texts []byte
	var ids []uint64
	var offsets, sizes []uint32
	for _, path := range units {
		f, err := elf.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		section := func(name string) []byte {
			s := f.Section(".debug_" + name + ".dwo")
			if s == nil {
				return nil
			}
			b, err := s.Data()
			if err != nil {
				t.Fatal(err)
			}
			return b
		}
		for i, name := range names {
			b := section(name)
			if name == "info" {
				ids = append(ids, le.Uint64(b[12:]))
			}
			if name == "str_offsets" {
				for at := 8; at < len(b); at += 4 {
					le.PutUint32(b[at:], le.Uint32(b[at:])+uint32(len(texts)))
				}
			}
			offsets, sizes = append(offsets, uint32(len(content[i]))), append(sizes, uint32(len(b)))
			content[i] = append(content[i], b...)
		}
		texts = append(texts, section("str")...)
	}
	// A hash table twice as large as needed, with all units at its end.
	slots := 2 * len(units)
	table, rows := make([]uint64, slots), make([]uint32, slots)
	for i, id := range ids {
		table[len(units)+i], rows[len(units)+i] = id, uint32(i+1)
	}
	index := pack(t, le, uint16(5), uint16(0), uint32(len(kinds)), uint32(len(units)), uint32(slots), table, rows, kinds, offsets, sizes)
	names, content = append(names, "str", "cu_index"), append(content, texts, index)
	strings, body := "\x00.shstrtab\x00", make([]byte, 64)
	headers := []elf.Section64{{}}
	for i, b := range content {
		name := ".debug_" + names[i]
		if names[i] != "cu_index" {
			name += ".dwo"
		}
		headers = append(headers, elf.Section64{Name: uint32(len(strings)), Type: uint32(elf.SHT_PROGBITS), Off: uint64(len(body)), Size: uint64(len(b)), Addralign: 1})
		strings, body = strings+name+"\x00", append(body, b...)
	}
	headers = append(headers, elf.Section64{Name: 1, Type: uint32(elf.SHT_STRTAB), Off: uint64(len(body)), Size: uint64(len(strings)), Addralign: 1})
	body = append(body, strings...)
	head := elf.Header64{Type: uint16(elf.ET_REL), Machine: uint16(elf.EM_X86_64), Version: 1, Ehsize: 64, Shentsize: 64, Shoff: uint64(len(body)), Shnum: uint16(len(headers)), Shstrndx: uint16(len(headers) - 1)}
	copy(head.Ident[:], elf.ELFMAG+"\x02\x01\x01")
	copy(body, pack(t, le, head))
	return append(body, pack(t, le, headers)...)
}

// TestPackagedUnits checks functions and lines of a program whose units were collected in a
// .dwp file, against what addr2line prints for the same program without.
func TestPackagedUnits(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	other := "static inline int twice(int x) { return x * 2; }\nint help(int x) { return twice(x) + 1; }\n"
	for name, text := range map[string]string{"nested.c": nested, "help.c": other} {
		if err := os.WriteFile(in(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{
		{"-O2", "-gdwarf-5", "-c", "nested.c", "-o", "w1.o"}, {"-O2", "-gdwarf-5", "-c", "help.c", "-o", "w2.o"}, {"-o", "whole", "w2.o", "w1.o"},
		{"-O2", "-gdwarf-5", "-gsplit-dwarf", "-c", "nested.c"}, {"-O2", "-gdwarf-5", "-gsplit-dwarf", "-c", "help.c"}, {"-o", "split", "help.o", "nested.o"},
	} {
		cmd := exec.Command("gcc", args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
	all := packaged(t, in("help.dwo"), in("nested.dwo"))
	if err := os.WriteFile(in("split.dwp"), all, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"help.dwo", "nested.dwo"} {
		if err := os.Remove(in(name)); err != nil {
			t.Fatal(err)
		}
	}
	if compared, deepest := compareWith(t, in("split"), in("whole"), "main", "plain", "cold", "cold.cold", "help"); compared < 100 || deepest < 3 {
		t.Errorf("%d addresses compared, at most %d functions at one", compared, deepest)
	}
	// Damage in the index only takes away the inlined functions.
	at := bytes.Index(all, []byte("\x05\x00\x00\x00\x04\x00\x00\x00\x02\x00\x00\x00\x04\x00\x00\x00"))
	if at < 0 {
		t.Fatal("no index")
	}
	for i := range 120 {
		damaged := bytes.Clone(all)
		damaged[at+i] ^= 0xff
		if err := os.WriteFile(in("split.dwp"), damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		p, err := Open(in("split"))
		if err != nil {
			t.Fatal(err)
		}
		p.FindUnits()
		for _, f := range p.funcs {
			if places := p.Places(f.Value); f.Name == "main" && len(places) == 0 {
				t.Fatalf("byte %d: main has no line", i)
			}
		}
		p.Close()
	}
}
