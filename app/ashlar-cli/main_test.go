package main

import (
	"debug/elf"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// build compiles the program as for a release, but with inlining everywhere: the tests have
// compiled most of its packages so.
func build(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "ashlar-cli")
	if runtime.GOOS == "windows" {
		program += ".exe"
	}
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-tags=novulkan,nethttpomithttp2", "-gcflags=all=-dwarf=false", "-ldflags=-s -w", "-o", program, ".")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
	if msg, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, msg)
	}
	return program
}

func TestProgram(t *testing.T) {
	program := build(t)
	t.Run("Alone", func(t *testing.T) { alone(t, program) })
	t.Run("Commands", func(t *testing.T) { commands(t, program) })
}

// alone runs the program without libraries, other programs, a GPU or a home folder, and draws
// the README's picture.
func alone(t *testing.T, program string) {
	if runtime.GOOS == "linux" {
		f, err := elf.Open(program)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		libraries, err := f.ImportedLibraries()
		if err != nil || len(libraries) > 0 {
			t.Errorf("it needs the libraries %v: %v", libraries, err)
		}
		for _, p := range f.Progs {
			if p.Type == elf.PT_INTERP {
				t.Error("it needs a loader")
			}
		}
	}
	dir := t.TempDir()
	run := func(args ...string) string {
		cmd := exec.Command(program, args...)
		cmd.Dir, cmd.Env = dir, []string{"TMPDIR=" + dir}
		msg, err := cmd.CombinedOutput()
		if err != nil && args[0] != "--demo" {
			t.Errorf("%v: %v\n%s", args, err, msg)
		}
		return string(msg)
	}
	run("render", "--demo", "-o", "ashlar.png", "--size", "1280x800")
	f, err := os.Open(filepath.Join(dir, "ashlar.png"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	img, err := png.Decode(f)
	if err != nil || img.Bounds().Dx() != 1280 || img.Bounds().Dy() != 800 {
		t.Fatalf("the picture: %v", err)
	}
	colours := map[[3]uint32]bool{}
	for y := range 800 {
		for x := range 1280 {
			r, g, b, _ := img.At(x, y).RGBA()
			colours[[3]uint32{r, g, b}] = true
		}
	}
	if len(colours) < 500 {
		t.Errorf("the picture has %d colours: not those of a timeline, a flamegraph and text", len(colours))
	}
	t.Run("Container", func(t *testing.T) { container(t, program, filepath.Join(dir, "ashlar.png")) })
	piped := exec.Command(program, "top", "-")
	piped.Stdin = strings.NewReader("main;f 3\nmain;g 4\n")
	if out, err := piped.CombinedOutput(); err != nil || !strings.Contains(string(out), "total 7") {
		t.Errorf("of standard input top says %s, %v", out, err)
	}
	if out := run("top", "--demo", "-n", "3"); !strings.Contains(out, "backtrack") {
		t.Errorf("top says %s", out)
	}
	if out := run("--demo"); !strings.Contains(out, "no window") {
		t.Errorf("asked for a window it says %s", out)
	}
}
