package assembly_test

import (
	"bytes"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"ashlar/app/core/assembly"
)

// TestSeparateDebugFile checks source lines and symbols from a separate file that the program
// names: beside it and in .debug, with and without build id, and with compressed sections.
func TestSeparateDebugFile(t *testing.T) {
	for _, c := range []struct {
		name         string
		strip, flags []string
		symbols      bool // are in the program
	}{
		{"lines", []string{"--strip-debug"}, nil, true},
		{"all", []string{"--strip-all"}, nil, false},
		{"without build id", []string{"--strip-all"}, []string{"-Wl,--build-id=none"}, false},
		{"compressed", []string{"--strip-all"}, []string{"-gz=zlib"}, false},
		{"compressed in the old form", []string{"--strip-debug"}, []string{"-gz=zlib-gnu"}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			path, symbols, id := compile(t, c.flags...)
			start := symbols["spin"].Value
			debug := filepath.Join(filepath.Dir(path), "of busy.dbg")
			for _, args := range [][]string{
				{"objcopy", "--only-keep-debug", path, debug},
				append([]string{"strip"}, append(c.strip, path)...),
				{"objcopy", "--add-gnu-debuglink=" + debug, path},
			} {
				if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
					t.Fatalf("%v: %v\n%s", args, err, out)
				}
			}
			check := func(lines bool) {
				t.Helper()
				rec := recordingOf(path, id, "spin", start, map[uint64]int64{0: 1}, layouts[1])
				l, err := list(t, rec, assembly.Options{})
				if err != nil {
					t.Fatal(err)
				}
				with := 0
				for i := range l.Insts {
					if in := &l.Insts[i]; filepath.Base(in.File) == "busy.c" && in.Line >= 3 {
						with++
					}
				}
				if (with > 0) != lines || (l.Parts[0].Name == "spin") != (lines || c.symbols) {
					t.Errorf("%d of %d instructions have a line; parts %+v", with, len(l.Insts), l.Parts)
				}
			}
			check(true)
			if err := os.Mkdir(filepath.Join(filepath.Dir(path), ".debug"), 0o700); err != nil {
				t.Fatal(err)
			}
			moved := filepath.Join(filepath.Dir(path), ".debug", "of busy.dbg")
			if err := os.Rename(debug, moved); err != nil {
				t.Fatal(err)
			}
			check(true)
			// A file of another compilation is not used.
			content, err := os.ReadFile(moved)
			if err != nil {
				t.Fatal(err)
			}
			if raw, _ := hex.DecodeString(id); id != "" {
				note := bytes.Index(content, []byte("GNU\x00"+string(raw)))
				if note < 0 {
					t.Fatal("no build id")
				}
				content[note+4] ^= 1
			}
			if err := os.WriteFile(moved, append(content, 0), 0o600); err != nil {
				t.Fatal(err)
			}
			check(false)
		})
	}
}
