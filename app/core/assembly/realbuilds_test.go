package assembly_test

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ashlar/app/core/assembly"
)

const guarded = `
#include <stdlib.h>
#ifdef CHECKED
#define AT(a, n, i) ((i) < (n) ? (a)[i] : (abort(), 0))
#else
#define AT(a, n, i) ((a)[i])
#endif
__attribute__((noinline)) unsigned lookup(const unsigned *table, unsigned n, const unsigned *keys, unsigned m) {
	unsigned h = 0;
	for (unsigned i = 0; i < m; i++)
		h = h * 31 + AT(table, n, keys[i]);
	return h;
}
int main(int argc, char **argv) { static unsigned t[64], k[64]; return lookup(t, 64, k, argc) & 1; }
`

var jumping = regexp.MustCompile(`^\s*([0-9a-f]+):\s+(\S+)\s+([0-9a-f]+) <lookup\+0x`)

// TestCheckBetweenRealBuilds compares two builds of one C program, of which one checks the
// bounds in its only loop. The number of added instructions follows from what objdump prints.
func TestCheckBetweenRealBuilds(t *testing.T) {
	var of [2]*assembly.Listing
	var loops [2]int // instructions in the loop
	for i, flags := range [][]string{nil, {"-DCHECKED"}} {
		dir := t.TempDir()
		source, path := filepath.Join(dir, "guarded.c"), filepath.Join(dir, "guarded")
		if err := os.WriteFile(source, []byte(guarded), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command("gcc", slices.Concat([]string{"-O2", "-g", "-Wl,--build-id"}, flags, []string{"-o", path, source})...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		out, err := exec.Command("objdump", "-d", "--no-show-raw-insn", "--disassemble=lookup", path).Output()
		if err != nil {
			t.Fatal(err)
		}
		var all []uint64
		var first, last uint64 // of the loop: the jump back
		for s := bufio.NewScanner(bytes.NewReader(out)); s.Scan(); {
			var at, to uint64
			if _, err := fmt.Sscanf(strings.TrimSpace(s.Text()), "%x:\t", &at); err != nil || !strings.Contains(s.Text(), ":\t") {
				continue
			}
			all = append(all, at)
			if m := jumping.FindStringSubmatch(s.Text()); m != nil && strings.HasPrefix(m[2], "j") {
				if fmt.Sscanf(m[3], "%x", &to); to < at {
					first, last = to, at
				}
			}
		}
		if first == 0 {
			t.Fatalf("no loop in\n%s", out)
		}
		// Each instruction of the loop has 100 samples, so the checked one has more.
		count := map[uint64]int64{}
		for _, at := range all {
			if at >= first && at <= last {
				loops[i]++
				count[at-all[0]] = 100
			}
		}
		rec := recordingOf(path, "", "lookup", all[0], count, layouts[1])
		if of[i], err = list(t, rec, assembly.Options{}); err != nil {
			t.Fatal(err)
		}
	}
	al := assembly.Align(of[0], of[1])
	c := al.HotLoop()
	if c == nil || al.Doubt != "" {
		t.Fatalf("%+v, %q", c, al.Doubt)
	}
	if len(c.Added)-len(c.Removed) != loops[1]-loops[0] || loops[1] <= loops[0] {
		t.Errorf("%d added, %d removed; the loop had %d instructions and has %d", len(c.Added), len(c.Removed), loops[0], loops[1])
	}
	if c.Exits != 1 || c.SelfA != int64(100*loops[0]) || c.SelfB != int64(100*loops[1]) {
		t.Errorf("%+v", c)
	}
	compares := slices.ContainsFunc(c.Added, func(i int) bool { return strings.HasPrefix(al.B.Insts[i].Text, "cmp ") })
	said := al.Sentence(false)
	if !compares || !strings.Contains(said, "(1 branch out of the loop)") || !strings.Contains(said, ": self +") {
		t.Errorf("a comparison was added: %t; %q", compares, said)
	}
}
