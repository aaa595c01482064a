package disasm_test

import (
	"bufio"
	"bytes"
	"debug/elf"
	"fmt"
	"hash/fnv"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"ashlar/ingest/format/decode/decodetest"
	"ashlar/ingest/format/program/disasm"
)

// mixed is a program with loops, floating point, calls, a switch and strings.
const mixed = `
#include <math.h>
#include <stdint.h>
#include <string.h>
double norm(const double *a, int n) { double s = 0; for (int i = 0; i < n; i++) s += a[i] * a[i]; return sqrt(s); }
float scale(float *a, int n, float k) { float m = 0; for (int i = 0; i < n; i++) { a[i] = a[i] * k + 1; m = fmaxf(m, a[i]); } return m; }
uint32_t mix(const uint8_t *p, size_t n) { uint32_t h = 7; for (size_t i = 0; i < n; i++) { h ^= p[i]; h *= 0x85ebca6b; h ^= h >> 13; } return h; }
int64_t sum(const int16_t *p, int n) { int64_t s = 0; for (int i = 0; i < n; i++) s += p[i]; return s; }
int pick(int k) { switch (k) { case 0: return 3; case 1: return -5; case 2: return k << 4; case 3: return k / 7; case 4: return k % 9; default: return 1; } }
unsigned long long bits(unsigned long long x) { return __builtin_popcountll(x) + __builtin_ctzll(x | 1) + (x >> 3) % 1000003; }
int lower(char *s) { int n = 0; for (; *s; s++) if (*s >= 'A' && *s <= 'Z') { *s += 32; n++; } return n; }
int main(int argc, char **argv) { double a[8] = {1, 2, 3}; float f[8] = {1, 2}; char b[40]; memset(b, argc, sizeof b); strcpy(b, argv[0]);
	return norm(a, 8) + scale(f, 8, 3) + mix((uint8_t *)b, 40) + sum((int16_t *)b, 20) + pick(argc) + bits(argc) + lower(b); }
`

// told is the code of a function as printed by objdump.
type told struct {
	name string
	at   []uint64
	text []string
}

var instruction = regexp.MustCompile(`^ *([0-9a-f]+):\t(.*)$`)

// objdump returns the functions of a file.
func objdump(t *testing.T, path string, args ...string) (all []told) {
	t.Helper()
	out, err := exec.Command("objdump", append(args, "-d", "-w", "--no-show-raw-insn", path)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	s := bufio.NewScanner(bytes.NewReader(out))
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		line := s.Text()
		if strings.HasSuffix(line, ">:") {
			all = append(all, told{name: line})
		} else if m := instruction.FindStringSubmatch(line); m != nil && len(all) > 0 {
			f := &all[len(all)-1]
			at, _ := strconv.ParseUint(m[1], 16, 64)
			f.at, f.text = append(f.at, at), append(f.text, m[2])
		}
	}
	return all
}

var (
	symbol  = regexp.MustCompile(` *<[^>]*(>[^>]*)*>$`)
	comment = regexp.MustCompile(` *# .*$`)
	target  = regexp.MustCompile(`^((?:bnd |notrack |data16 |rex.W )*(?:call|jmp|j[a-z]+|loop[a-z]*|xbegin)[a-z]*(?:,p[nt])?) ([0-9a-f]+)$`)
	zero    = regexp.MustCompile(`([ ,:*]|^)0x0\(`)
)

// normal removes spelling differences between objdump and this package: spaces, symbols of
// targets, and displacements of 0.
func normal(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	s = comment.ReplaceAllString(s, "")
	s = symbol.ReplaceAllString(s, "")
	s = target.ReplaceAllString(s, "$1 0x$2")
	s = zero.ReplaceAllString(s, "$1(")
	s = strings.ReplaceAll(s, ", ", ",")
	return strings.TrimSpace(s)
}

// difference counts the differences of a kind, with an example.
type difference struct {
	count   int
	example string
}

// compare compares functions of a file with objdump: those whose name has a hash that each
// divides. It returns the numbers of functions and instructions, and the differences by mnemonic.
func compare(t *testing.T, path string, each uint32) (functions, instructions int, kinds map[string]*difference) {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	d, err := disasm.New(f.Machine, f.ByteOrder, disasm.GNU, nil)
	if err != nil {
		t.Fatal(err)
	}
	kinds = map[string]*difference{}
	for _, fn := range objdump(t, path) {
		h := fnv.New32()
		fmt.Fprint(h, fn.name)
		if len(fn.at) == 0 || h.Sum32()%each != 0 {
			continue
		}
		functions++
		code := codeAt(f, fn.at[0], fn.at[len(fn.at)-1]-fn.at[0]+15)
		got := d.Decode(code, fn.at[0])
		byAddress := map[uint64]string{}
		for _, in := range got {
			byAddress[in.Addr] = in.Text
		}
		for i, at := range fn.at {
			want := normal(fn.text[i])
			have, ok := byAddress[at]
			instructions++
			if have = normal(have); have == want {
				continue
			}
			if !ok {
				have = "(no instruction begins here)"
			}
			op, _, _ := strings.Cut(want, " ")
			if kinds[op] == nil {
				kinds[op] = &difference{example: fmt.Sprintf("%#x % x\n\tobjdump %s\n\t    got %s", at, codeAt(f, at, 8), want, have)}
			}
			kinds[op].count++
		}
	}
	return functions, instructions, kinds
}

func codeAt(f *elf.File, at, n uint64) []byte {
	for _, s := range f.Sections {
		if s.Flags&elf.SHF_EXECINSTR != 0 && s.Type != elf.SHT_NOBITS && at >= s.Addr && at-s.Addr < s.Size {
			b := make([]byte, min(n, s.Size-(at-s.Addr)))
			_, _ = s.ReadAt(b, int64(at-s.Addr))
			return b
		}
	}
	return nil
}

// report logs the differences and returns their number.
func report(t *testing.T, kinds map[string]*difference) (n int) {
	var ops []string
	for op, k := range kinds {
		ops = append(ops, op)
		n += k.count
	}
	slices.SortFunc(ops, func(a, b string) int { return kinds[b].count - kinds[a].count })
	for _, op := range ops[:min(len(ops), 60)] {
		t.Logf("%6d %s: %s", kinds[op].count, op, kinds[op].example)
	}
	return n
}

func compiled(t *testing.T, flags string) string {
	t.Helper()
	dir := t.TempDir()
	source, path := filepath.Join(dir, "mixed.c"), filepath.Join(dir, "mixed")
	if err := os.WriteFile(source, []byte(mixed), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("gcc", append(strings.Fields(flags), "-o", path, source, "-lm")...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return path
}

// TestTextIsObjdumps checks that every instruction of compiled programs has the same text
// as in objdump.
func TestTextIsObjdumps(t *testing.T) {
	for _, flags := range []string{"-O0", "-O2", "-O3 -march=x86-64-v2", "-O3 -march=x86-64-v3 -ffast-math", "-O3 -march=x86-64-v4 -ffast-math -mprefer-vector-width=512"} {
		t.Run(flags, func(t *testing.T) {
			functions, instructions, kinds := compare(t, compiled(t, flags), 1)
			if n := report(t, kinds); n > 0 || functions < 10 || instructions < 300 {
				t.Errorf("%d differences in %d instructions of %d functions", n, instructions, functions)
			}
		})
	}
}

// TestRareTextIsObjdumps does the same for instructions that compilers seldom emit.
func TestRareTextIsObjdumps(t *testing.T) {
	dir := t.TempDir()
	source, path := filepath.Join(dir, "rare.s"), filepath.Join(dir, "rare.o")
	text := ".globl f\n.type f,@function\nf:\n"
	for _, in := range []string{"fucomi %st(0),%st", "fucomi %st(1),%st", "fcomi %st(0),%st", "fcmovnb %st(0),%st", "fcmovb %st(2),%st", "fld %st(0)", "pushf", "popf", "int1", "int3",
		"filds (%rax)", "fildl (%rax)", "fildll (%rax)", "fists 8(%rbp)", "fistps (%rax)", "fistpl (%rax)", "fiadds (%rax)", "fiaddl (%rax)", "fimuls -0x6c(%rdi,%rax,4)",
		"fisubs (%rax)", "fisubrs (%rax)", "fisubrl (%rax)", "fidivs (%rax)", "fidivrs (%rax)", "ficoms (%rax)", "ficomps (%rax)", "flds (%rax)", "fldl (%rax)", "fsts (%rax)", ".byte 0x66, 0x66, 0x48, 0xe8, 1, 0, 0, 0", "call f", "ret"} {
		text += "\t" + in + "\n"
	}
	for _, op := range strings.Fields("vfmaddsubps vfmaddsubpd vfmsubaddps vfmsubaddpd vfmaddps vfmaddpd vfmaddss vfmaddsd vfmsubps vfmsubpd vfmsubss vfmsubsd vfnmaddps vfnmaddpd vfnmaddss vfnmaddsd vfnmsubps vfnmsubpd vfnmsubss vfnmsubsd") {
		text += "\t" + op + " %xmm1,%xmm2,%xmm3,%xmm4\n\t" + op + " (%rax,%rcx,4),%xmm2,%xmm13,%xmm4\n\t" + op + " %xmm9,8(%rip),%xmm3,%xmm14\n"
		if strings.HasSuffix(op, "ps") || strings.HasSuffix(op, "pd") {
			text += "\t" + op + " %ymm1,%ymm2,%ymm3,%ymm4\n\t" + op + " %ymm1,(%rdi),%ymm3,%ymm4\n"
		}
	}
	if err := os.WriteFile(source, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("gcc", "-c", "-o", path, source).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	_, instructions, kinds := compare(t, path, 1)
	if n := report(t, kinds); n > 0 || instructions != 32+20*3+12*2 {
		t.Errorf("%d differences in %d instructions", n, instructions)
	}
}

// TestTextOfFiles does the same for the files named in ASHLAR_OBJDUMP, separated by colons,
// and one of ASHLAR_EACH functions in each file. It allows one difference in 1000
// instructions.
func TestTextOfFiles(t *testing.T) {
	files := os.Getenv("ASHLAR_OBJDUMP")
	if files == "" {
		files = filepath.Join(decodetest.GoRoot(t), "bin", "go")
	}
	each, _ := strconv.Atoi(os.Getenv("ASHLAR_EACH"))
	if each == 0 {
		each = 20
	}
	for _, path := range strings.Split(files, ":") {
		functions, instructions, kinds := compare(t, path, uint32(each))
		n := report(t, kinds)
		t.Logf("%s: %d functions, %d instructions, %d differences", path, functions, instructions, n)
		if n*1000 > instructions {
			t.Errorf("%s: %d differences in %d instructions", path, n, instructions)
		}
	}
}
