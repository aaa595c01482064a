package program

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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

// compare compares all addresses of the named functions with addr2line. It returns their
// number and the largest number of functions at one address.
func compare(t *testing.T, path string, names ...string) (compared, deepest int) {
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
	want := told(t, path, asked)
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
