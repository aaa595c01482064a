package perfdata

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ashlar/ingest/format/decode"
	"ashlar/ingest/input/source"
	"ashlar/ingest/model/recording"
)

// keepKallsyms stores a list of kernel symbols where perf keeps its copies.
func keepKallsyms(t *testing.T, id []byte, list string) {
	t.Helper()
	home := t.TempDir()
	t.Setenv("HOME", home)
	s := hex.EncodeToString(id)
	path := filepath.Join(home, ".debug", ".build-id", s[:2], s[2:], "kallsyms")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(list), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestKernelSymbols checks that kernel addresses are named from perf's copy of the symbols,
// even if the kernel was loaded elsewhere; addresses in modules only if it was not.
func TestKernelSymbols(t *testing.T) {
	id := bytes.Repeat([]byte{0xab, 0x12, 0x7f, 0x90}, 5)
	const begin, module = 0xffffffff81000000, 0xffffffffc0000000
	list := `ffffffff81000000 T _stext
ffffffff81000000 T _text
ffffffff81000100 t idle_cpu
ffffffff81000200 W weak_one
ffffffff81000200 T do_syscall_64
ffffffff81000280 d not_code
ffffffff81000300 T __enter
ffffffff81000300 T enter
ffffffff81000400 T memcpy
ffffffff81000400 T __memcpy
ffffffff81000400 T __pi_memcpy
0000000000000000 T hidden
what is this
ffffffffc0000000 t open_it	[my_mod]
ffffffffc0000040 t close_it	[my_mod]
ffffffffc0001000 t other	[other]
`
	keepKallsyms(t, id, list)
	for _, moved := range []uint64{0, 0x1e00000} {
		m := &made{}
		b := append(append(put32(nil, nobody), id...), 0, 0, 0, 0)
		m.records = append(m.records, timed{0, rec(recordBuildID, miscKernel, append(b, "[kernel.kallsyms]\x00"...))})
		m.mmap(1, nobody, begin+moved, 1<<24, begin+moved, "[kernel.kallsyms]_text")
		m.mmap(1, nobody, module, 0x1000, 0, "/lib/modules/6.1/extra/my-mod.ko.xz")
		var ips, want []string
		for i, x := range []struct {
			ip         uint64
			name, from string
		}{
			{begin, "_text", kernelModule}, {begin + 0x1ff, "idle_cpu", kernelModule}, {begin + 0x200, "do_syscall_64", kernelModule},
			{begin + 0x2ff, "do_syscall_64", kernelModule}, {begin + 0x300, "enter", kernelModule}, {begin + 0x410, "__pi_memcpy", kernelModule}, {module + 0x3f, "open_it", "[my_mod]"}, {module + 0x40, "close_it", "[my_mod]"},
		} {
			if x.from == kernelModule {
				x.ip += moved
			}
			m.sample(uint64(2+i), 11, miscKernel, 7, 7, 0, 1, []uint64{contextKernel, x.ip}, "")
			if x.from != kernelModule && moved != 0 {
				continue
			}
			ips, want = append(ips, fmt.Sprintf("%x", x.ip)), append(want, x.name+"@"+x.from)
		}
		r, err := decodeBytes(t, file(m.inOrder()), 0)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Join(told(r), "\n")
		for i, w := range want {
			if !strings.Contains(lines, ";"+w) {
				t.Errorf("moved by %#x, %s is not %s:\n%s", moved, ips[i], w, lines)
			}
		}
		if moved != 0 && strings.Contains(lines, "_it@") {
			t.Errorf("a module that may lie elsewhere has names:\n%s", lines)
		}
	}
}

// TestKallsymsBeside checks that a copy of /proc/kallsyms next to the recording names
// kernel addresses, even without a build id.
func TestKallsymsBeside(t *testing.T) {
	const begin = 0xffffffff81000000
	m := &made{}
	m.mmap(1, nobody, begin, 1<<24, begin, "[kernel.kallsyms]_text")
	m.sample(2, 11, miscKernel, 7, 7, 0, 1, []uint64{contextKernel, begin + 0x110}, "")
	path := filepath.Join(t.TempDir(), "server.data")
	for name, content := range map[string][]byte{path: file(m.inOrder()), path + ".kallsyms": []byte("ffffffff81000000 T _text\nffffffff81000100 t idle_cpu\n")} {
		if err := os.WriteFile(name, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	in, err := source.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	b := recording.NewBuilder()
	if err := Decode(context.Background(), in, b, decode.Options{}); err != nil {
		t.Fatal(err)
	}
	if lines := strings.Join(told(b.Finish()), "\n"); !strings.Contains(lines, ";idle_cpu@"+kernelModule) {
		t.Errorf("there is no idle_cpu:\n%s", lines)
	}
}

// inOrder returns the records one after another.
func (m *made) inOrder() (body []byte) {
	for _, x := range m.records {
		body = append(body, x.b...)
	}
	return body
}

// TestNoteID checks that noteID finds the kernel's build id among other notes, and survives
// damage.
func TestNoteID(t *testing.T) {
	note := func(kind uint32, owner string, text []byte) []byte {
		b := append(put32(nil, uint32(len(owner)+1), uint32(len(text)), kind), owner...)
		for b = append(b, 0); len(b)%4 != 0; {
			b = append(b, 0)
		}
		for b = append(b, text...); len(b)%4 != 0; {
			b = append(b, 0)
		}
		return b
	}
	id := []byte("twenty bytes it has!")
	all := slices.Concat(note(6, "Xen", []byte("linux")), note(3, "Xen", []byte("no")), note(3, "GNU", id), note(3, "GNU", []byte("second")))
	if got := noteID(all); !bytes.Equal(got, id) {
		t.Errorf("the build id is %q", got)
	}
	for i := range all[:40] {
		noteID(all[:i]) // must not panic
	}
	if got := noteID(append(put32(nil, 1<<31, 1<<31, 3), all...)); got != nil {
		t.Errorf("damaged notes have the build id %q", got)
	}
}

// TestDebugFolder checks that a stripped binary gets names from its separate debug file,
// but only if the build ids match.
func TestDebugFolder(t *testing.T) {
	dir := t.TempDir()
	exe, apart := filepath.Join(dir, "program"), filepath.Join(dir, ".debug", "program.debug")
	if err := os.WriteFile(filepath.Join(dir, "main.c"), []byte("int add(int a, int b) { return a + b; }\nint main(int n, char **v) { return add(n, 2); }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Dir(apart), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, line := range [][]string{
		{"gcc", "-O0", "-Wl,--build-id=sha1", "-o", exe, filepath.Join(dir, "main.c")},
		{"objcopy", "--only-keep-debug", exe, apart},
	} {
		if out, err := exec.Command(line[0], line[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v: %s", line, err, out)
		}
	}
	out, err := exec.Command("nm", exe).Output()
	if err != nil {
		t.Fatal(err)
	}
	var at uint64
	for _, l := range strings.Split(string(out), "\n") {
		if strings.HasSuffix(l, " T add") {
			fmt.Sscanf(l, "%x", &at)
		}
	}
	whole := (&decoder{ids: map[string][]byte{}}).open(&mapping{name: exe})
	if whole == nil || at == 0 {
		t.Fatalf("the program has no symbols, add is at %#x", at)
	}
	id := whole.BuildID
	if out, err := exec.Command("strip", "--strip-all", exe).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	page := at &^ 4095 // the code starts at this offset, in the file and in memory
	for _, other := range []bool{false, true} {
		m := mapping{start: 1 << 40, size: 1 << 12, offset: page, name: exe, id: bytes.Clone(id)}
		if other {
			m.id[0]++
		}
		d := &decoder{ids: map[string][]byte{}}
		name := ""
		if p := d.open(&m); p != nil {
			if pc, ok := p.AddressIn(at, m.offset); ok {
				name, _, _ = p.Lookup(pc)
			}
			p.Close()
		}
		if name != map[bool]string{false: "add"}[other] {
			t.Errorf("of another build %v: the function is called %q", other, name)
		}
	}
}

// TestKernelWithoutID checks that a build id of only zeros counts as none.
func TestKernelWithoutID(t *testing.T) {
	if k := (&decoder{ids: map[string][]byte{kernelModule: make([]byte, 20)}}).kernelSymbols(); k != nil {
		t.Errorf("there are %d symbols", len(k.list))
	}
}
