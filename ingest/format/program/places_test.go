package program

import (
	"bufio"
	"bytes"
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// nested is a program with functions inlined over several levels, and a function with a
// part in another section.
const nested = `
#include <stdlib.h>
#define INLINE static inline __attribute__((always_inline))
volatile int sink;
INLINE int leaf(int x) {
	sink = x;
	return x * 3 + sink;
}
INLINE int middle(int x) {
	if (x & 1)
		return leaf(x) + 1;
	return leaf(leaf(x + 1));
}
INLINE int outer(int x) {
	int s = 0;
	for (int i = 0; i < x; i++) {
		s += middle(i);
		s ^= leaf(s);
	}
	return s;
}
__attribute__((noinline)) int plain(int x) { return sink + x; }
__attribute__((noinline)) int cold(int x) {
	if (__builtin_expect(x > 1000, 0)) {
		sink = outer(x);
		abort();
	}
	return leaf(x);
}
int main(int argc, char **argv) {
	return outer(argc) + plain(middle(argc)) + cold(argc);
}
`

// TestPlacesAgainstAddr2line checks that each address has the functions and lines that
// addr2line prints.
func TestPlacesAgainstAddr2line(t *testing.T) {
	for _, flags := range []string{"-O2 -gdwarf-4", "-O2 -gdwarf-5", "-O1 -gdwarf-5 -gz=zlib", "-O2 -gdwarf-5 -ffunction-sections", "-O3 -gdwarf-4 -static-pie"} {
		t.Run(flags, func(t *testing.T) {
			dir := t.TempDir()
			source, path := filepath.Join(dir, "nested.c"), filepath.Join(dir, "nested")
			if err := os.WriteFile(source, []byte(nested), 0o600); err != nil {
				t.Fatal(err)
			}
			args := append(strings.Fields(flags), "-o", path, source)
			if out, err := exec.Command("gcc", args...).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			compared, deepest := compare(t, path, "main", "plain", "cold", "cold.cold")
			if compared < 100 || deepest < 3 {
				t.Errorf("%d addresses compared, at most %d functions at one", compared, deepest)
			}
		})
	}
}

// TestSplitUnits checks functions and lines of programs whose entries are in files of their
// own, against what addr2line prints for the same program without.
func TestSplitUnits(t *testing.T) {
	for _, flags := range []string{"-O2", "-O2 -ffunction-sections", "-O1 -gz=zlib"} {
		t.Run(flags, func(t *testing.T) {
			dir := t.TempDir()
			source, object := filepath.Join(dir, "nested.c"), filepath.Join(dir, "nested.o")
			whole, path := filepath.Join(dir, "whole"), filepath.Join(dir, "nested")
			if err := os.WriteFile(source, []byte(nested), 0o600); err != nil {
				t.Fatal(err)
			}
			args := append(strings.Fields(flags), "-gdwarf-5")
			for _, args := range [][]string{
				slices.Concat(args, []string{"-o", whole, source}),
				slices.Concat(args, []string{"-gsplit-dwarf", "-c", "-o", object, source}),
				slices.Concat(args, []string{"-o", path, object}),
			} {
				cmd := exec.Command("gcc", args...)
				cmd.Dir = dir
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
			}
			names := []string{"main", "plain", "cold", "cold.cold"}
			compared, deepest := compareWith(t, path, whole, names...)
			if compared < 100 || deepest < 3 {
				t.Errorf("%d addresses compared, at most %d functions at one", compared, deepest)
			}
			// The file lies beside the program, in another folder than the compiler's.
			moved := t.TempDir()
			for _, name := range []string{"nested", "nested.dwo"} {
				if err := os.Rename(filepath.Join(dir, name), filepath.Join(moved, name)); err != nil {
					t.Fatal(err)
				}
			}
			if _, deepest := compareWith(t, filepath.Join(moved, "nested"), whole, names...); deepest < 3 {
				t.Errorf("at most %d functions at an address", deepest)
			}
			// One of another compilation is not used.
			unit, err := os.ReadFile(filepath.Join(moved, "nested.dwo"))
			if err != nil {
				t.Fatal(err)
			}
			for i, part := range []string{"without", "of another compilation"} {
				if i == 0 {
					err = os.Remove(filepath.Join(moved, "nested.dwo"))
				} else if f, e := elf.NewFile(bytes.NewReader(unit)); e != nil {
					t.Fatal(e)
				} else if s := f.Section(".debug_info.dwo"); s.Flags&elf.SHF_COMPRESSED == 0 {
					unit[s.Offset+12] ^= 1 // its id
					err = os.WriteFile(filepath.Join(moved, "nested.dwo"), unit, 0o600)
				}
				if err != nil {
					t.Fatal(err)
				}
				p, err := Open(filepath.Join(moved, "nested"))
				if err != nil {
					t.Fatal(err)
				}
				p.FindUnits()
				p.Close()
				for _, f := range p.funcs {
					if f.Name != "main" {
						continue
					}
					for at := f.Value; at < f.Value+f.Size; at++ {
						if places := p.Places(at); len(places) != 1 || filepath.Base(places[0].File) != "nested.c" {
							t.Fatalf("%s: %#x is at %+v", part, at, places)
						}
					}
				}
			}
		})
	}
}

// compare compares all addresses of the named functions with addr2line. It returns their
// number and the largest number of functions at one address.
func compare(t *testing.T, path string, names ...string) (compared, deepest int) {
	t.Helper()
	return compareWith(t, path, path, names...)
}

// compareWith compares a program with what addr2line prints for another with the same code.
func compareWith(t *testing.T, path, other string, names ...string) (compared, deepest int) {
	t.Helper()
	p, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	p.FindUnits()
	p.Close()
	var asked []uint64
	for _, f := range p.funcs {
		for _, name := range names {
			if f.Name == name {
				for at := f.Value; at < f.Value+f.Size; at++ {
					asked = append(asked, at)
				}
			}
		}
	}
	want := told(t, other, asked)
	for i, at := range asked {
		places := p.Places(at)
		var got []string
		for k, place := range places {
			name := place.Name
			if k == len(places)-1 {
				name, _, _ = p.Lookup(at)
				name = strings.TrimSuffix(name, ".cold")
			}
			got = append(got, fmt.Sprintf("%s %s:%d", name, filepath.Base(place.File), place.Line))
		}
		if g, w := strings.Join(got, ", "), strings.Join(want[i], ", "); g != w {
			t.Fatalf("%#x\n got %s\nwant %s", at, g, w)
		}
		deepest = max(deepest, len(got))
	}
	return len(asked), deepest
}

// told returns the output of addr2line for addresses.
func told(t *testing.T, path string, asked []uint64) [][]string {
	t.Helper()
	var in strings.Builder
	for _, at := range asked {
		fmt.Fprintf(&in, "%#x\n", at)
	}
	cmd := exec.Command("addr2line", "-a", "-i", "-f", "-e", path)
	cmd.Stdin = strings.NewReader(in.String())
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var all [][]string
	for s := bufio.NewScanner(strings.NewReader(string(out))); s.Scan(); {
		if strings.HasPrefix(s.Text(), "0x") {
			all = append(all, nil)
			continue
		}
		name := s.Text()
		s.Scan()
		where, _, _ := strings.Cut(filepath.Base(s.Text()), " (discriminator")
		all[len(all)-1] = append(all[len(all)-1], name+" "+where)
	}
	if len(all) != len(asked) {
		t.Fatalf("%d answers to %d", len(all), len(asked))
	}
	return all
}

// TestBeginOfStripped checks that functions of a stripped program start where its symbols
// were.
func TestBeginOfStripped(t *testing.T) {
	dir := t.TempDir()
	source, whole, stripped := filepath.Join(dir, "nested.c"), filepath.Join(dir, "whole"), filepath.Join(dir, "stripped")
	if err := os.WriteFile(source, []byte(nested), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"gcc", "-O2", "-o", whole, source}, {"strip", "--strip-all", "-o", stripped, whole}} {
		if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
	if _, err := Open(stripped); err == nil || err.Error() != "has no symbols" {
		t.Errorf("opened as one with symbols: %v", err)
	}
	with, err := Open(whole)
	if err != nil {
		t.Fatal(err)
	}
	defer with.Close()
	p, err := OpenStripped(stripped)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	found := 0
	for _, f := range with.funcs {
		switch f.Name {
		case "main", "plain", "cold", "cold.cold":
			found++
			for at := f.Value; at < f.Value+f.Size; at++ {
				if start, ok := p.Begin(at); !ok || start != f.Value {
					t.Fatalf("%#x of %s, which begins at %#x: %#x, %t", at, f.Name, f.Value, start, ok)
				}
			}
			if start, ok := p.Begin(f.Value + f.Size); ok && start == f.Value {
				t.Errorf("%s goes on behind its end", f.Name)
			}
		}
	}
	if found < 3 {
		t.Errorf("%d functions were found", found)
	}
}
