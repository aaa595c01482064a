package command

import (
	"encoding/binary"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// automaticTrace returns an automatic spall trace of one call. It contains an address and the
// path of a program that does not exist here.
func automaticTrace(addr uint64) []byte {
	le := binary.LittleEndian
	b := le.AppendUint64(nil, 0xABADF00D)
	b = le.AppendUint64(b, 3)
	b = le.AppendUint64(b, math.Float64bits(1))
	b = le.AppendUint64(b, 0) // base address
	const program = "/no/such/program"
	b = le.AppendUint16(b, uint16(len(program)))
	b = append(b, program...)
	events := append([]byte{0x0C, 5}, le.AppendUint64(nil, addr)...) // begin event, 5 ticks later
	events = append(events, 0, 0x40, 7)                              // no caller; end event
	b = le.AppendUint32(b, uint32(len(events)))
	b = le.AppendUint32(b, 1)
	b = le.AppendUint64(b, 100)
	b = le.AppendUint32(b, 1)
	return append(b, events...)
}

// TestExe checks that --exe sets the program to take function names from, for every command
// that reads a recording and for the window.
func TestExe(t *testing.T) {
	dir := t.TempDir()
	src, prog := filepath.Join(dir, "p.c"), filepath.Join(dir, "prog")
	text := "int _ZN3foo3barEi(int x) { return x + 1; }\nint main(void) { return _ZN3foo3barEi(4); }\n"
	if err := os.WriteFile(src, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("gcc", "-no-pie", "-o", prog, src).CombinedOutput(); err != nil {
		t.Fatalf("gcc cannot make a program: %v %s", err, out)
	}
	out, err := exec.Command("nm", prog).Output()
	if err != nil {
		t.Fatal("there is no nm, which comes with gcc: ", err)
	}
	var addr uint64
	for line := range strings.Lines(string(out)) {
		if f := strings.Fields(line); len(f) == 3 && f[2] == "_ZN3foo3barEi" {
			addr, _ = strconv.ParseUint(f[0], 16, 64)
		}
	}
	trace := filepath.Join(dir, "auto.spall")
	if err := os.WriteFile(trace, automaticTrace(addr), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := run("top", trace); !strings.Contains(r.stdout, "0x"+strconv.FormatUint(addr, 16)) {
		t.Errorf("without --exe:\n%s%s", r.stdout, r.stderr)
	}
	const name = "foo::bar(int)"
	converted := filepath.Join(dir, "out.folded")
	for _, args := range [][]string{{"top", trace}, {"top", trace, "--json"}, {"stats", trace, "--function", name}, {"diff", trace, trace, "--json"}} {
		if r := run(append(args, "--exe", prog)...); r.code != Done || args[0] != "diff" && !strings.Contains(r.stdout, name) {
			t.Errorf("%v: exit code %d\n%s%s", args, r.code, r.stdout, r.stderr)
		}
	}
	if r := run("info", trace, "--exe", prog); strings.Contains(r.stdout, "unresolved") {
		t.Errorf("info:\n%s", r.stdout)
	}
	if r := run("convert", trace, converted, "--exe", prog); r.code != Done {
		t.Errorf("convert: %s", r.stderr)
	} else if text, _ := os.ReadFile(converted); !strings.HasPrefix(string(text), "_ZN3foo3barEi ") {
		t.Errorf("convert wrote %q", text)
	}
	if r := run("top", trace, "--exe", filepath.Join(dir, "none")); r.code != Usage || !strings.Contains(r.stderr, "none: there is no such file") {
		t.Errorf("a program that is not there: exit code %d, %s", r.code, r.stderr)
	}
	var window WindowOptions
	var picture RenderOptions
	runner := Runner{
		Window: func(o WindowOptions) error { window = o; return nil },
		Render: func(o RenderOptions) error { picture = o; return nil },
	}
	if code := Main([]string{"--exe", prog, trace}, nil, os.Stderr, os.Stderr, runner); code != Done || window.Exe != prog {
		t.Errorf("the window: exit code %d, %+v", code, window)
	}
	if code := Main([]string{"render", trace, "-o", "x.png", "--exe", prog}, nil, os.Stderr, os.Stderr, runner); code != Done || picture.Exe != prog {
		t.Errorf("render: exit code %d, %+v", code, picture)
	}
}
