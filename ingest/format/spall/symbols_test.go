package spall

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"ashlar/ingest/format/decode"
	"ashlar/ingest/input/source"
	"ashlar/ingest/model/recording"
)

// TestSymbols compares the resolved addresses with nm.
func TestSymbols(t *testing.T) {
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("there is no gcc")
	}
	nm, err := exec.LookPath("nm")
	if err != nil {
		t.Skip("there is no nm")
	}
	dir := t.TempDir()
	src := filepath.Join(dir, "prog.c")
	text := "int inner(int x) { return x * 3; }\nint _ZN3foo3barEi(int x) { return inner(x) + 1; }\nint main(void) { return _ZN3foo3barEi(4); }\n"
	if err := os.WriteFile(src, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, flags := range []string{"-pie -fPIE", "-no-pie"} {
		prog := filepath.Join(dir, "prog")
		args := append(strings.Fields(flags), "-g", "-O0", "-o", prog, src)
		if out, err := exec.Command(gcc, args...).CombinedOutput(); err != nil {
			t.Skipf("gcc cannot make a program: %s", out)
		}
		out, err := exec.Command(nm, prog).Output()
		if err != nil {
			t.Fatal(err)
		}
		addrs := map[string]uint64{}
		for _, line := range strings.Split(string(out), "\n") {
			if f := strings.Fields(line); len(f) == 3 {
				addrs[f[2]], _ = strconv.ParseUint(f[0], 16, 64)
			}
		}
		base := uint64(0)
		if flags != "-no-pie" {
			base = 0x55a902aea000
		}
		for _, recorded := range []bool{true, false} {
			recordedPath, exe := prog, ""
			if !recorded {
				recordedPath, exe = "/no/such/program", prog
			}
			w := automatic(1, base, recordedPath)
			w.openAuto(5, 100)
			last := uint64(0) // addresses are stored as differences
			for _, a := range []uint64{addrs["main"], addrs["_ZN3foo3barEi"], addrs["inner"] + 2, 1 << 40} {
				w.u8(3<<2, 1)
				w.u64((a + base) ^ last)
				w.u8(0)
				last = a + base
			}
			w.close()
			in := source.FromBytes("x", w.b)
			b := recording.NewBuilder()
			if err := Format.Decode(t.Context(), in, b, decode.Options{Exe: exe}); err != nil {
				t.Fatal(err)
			}
			r := b.Finish()
			want := "main;foo::bar(int);inner;0x" + strconv.FormatUint(1<<40+base, 16)
			if got := path(r, recording.CallID(r.Calls.Len()-1)); got != want {
				t.Errorf("%s: got %s, want %s", flags, got, want)
			}
			f := r.Functions.At(0)
			if f.Module != prog || f.File != src || f.Unresolved {
				t.Errorf("%s: %+v", flags, f)
			}
			if !r.Functions.At(3).Unresolved || warnings(r)["unresolved"] != 1 {
				t.Errorf("%s: %v", flags, r.Warnings)
			}
		}
	}
}

func TestNoSymbols(t *testing.T) {
	notELF := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(notELF, []byte("not a program"), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"/no/such/program": "the trace has only addresses, and its program /no/such/program is not on this machine; set it with --exe",
		"":                 "the trace has only addresses and does not name its program; set it with --exe",
		notELF:             "the trace has only addresses, and its program " + notELF + " is not an ELF, PE or Mach-O executable; set it with --exe",
		os.TempDir():       "the trace has only addresses, and its program " + os.TempDir() + " is not a file; set it with --exe",
	} {
		w := automatic(1, 0x1000, path)
		w.openAuto(1, 7)
		w.u8(0, 1, 0x42, 0)
		w.u8(0x40, 1)
		w.close()
		r := read(t, w.b)
		if r.FuncName(1) != "0x42" || len(r.Warnings) != 1 || r.Warnings[0].Text != want {
			t.Errorf("%s: %s %v", path, r.FuncName(1), r.Warnings)
		}
	}
}
