package program

import (
	"bytes"
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// tiny compiles a program of a few hundred bytes of code.
func tiny(t testing.TB) []byte {
	t.Helper()
	dir := t.TempDir()
	source, path := filepath.Join(dir, "tiny.c"), filepath.Join(dir, "tiny")
	if err := os.WriteFile(source, []byte("int f(int x) { return x * 3; }\nint _start(void) { return f(4) + f(5); }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("gcc", "-O1", "-g", "-nostdlib", "-static", "-fno-inline", "-Wl,--build-id", "-o", path, source).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func written(t testing.TB, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestCode compares the code of functions with the bytes of their section.
func TestCode(t *testing.T) {
	content := tiny(t)
	p, err := OpenCode(written(t, content))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	f, err := elf.NewFile(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	symbols, _ := f.Symbols()
	text := f.Section(".text")
	all, _ := text.Data()
	found := 0
	for _, s := range symbols {
		if elf.ST_TYPE(s.Info) != elf.STT_FUNC {
			continue
		}
		found++
		for at := s.Value; at < s.Value+s.Size; at++ {
			if fn, ok := p.FunctionAt(at); !ok || fn != (Function{s.Name, s.Value, s.Value + s.Size}) {
				t.Fatalf("%#x is in %+v, %t", at, fn, ok)
			}
		}
		code, err := p.Code(Function{s.Name, s.Value, s.Value + s.Size})
		if want := all[s.Value-text.Addr:][:s.Size]; err != nil || !bytes.Equal(code, want) {
			t.Errorf("%s: % x, want % x, %v", s.Name, code, want, err)
		}
	}
	if found != 2 || !p.HasCode() {
		t.Errorf("%d functions, code %t", found, p.HasCode())
	}
	if _, err := p.Code(Function{"", 0, 8}); err == nil {
		t.Error("there is code at address 0")
	}
}

// FuzzProgram checks that any file is rejected or gives functions within bounds.
func FuzzProgram(f *testing.F) {
	whole := tiny(f)
	f.Add(whole)
	f.Add(whole[:200])
	f.Add(bytes.Replace(whole, []byte{0, 0, 0, 0, 0, 0, 0, 0}, []byte{255, 255, 255, 255, 255, 255, 255, 127}, 9))
	path := filepath.Join(f.TempDir(), "program")
	f.Fuzz(func(t *testing.T, content []byte) {
		if len(content) > 1<<16 {
			return
		}
		bounded(t, path, content)
	})
}
