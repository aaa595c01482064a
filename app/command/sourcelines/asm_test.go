package sourcelines_test

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"ashlar/app/command"
	"ashlar/app/command/sourcelines"
	"ashlar/ingest/format/decode/decodetest"
)

// spinning is the source of a program that records its own CPU profile.
const spinning = `package main

import (
	"fmt"
	"os"
	"runtime/pprof"
	"sort"
	"strings"
)

//go:noinline
func mix(b []byte) (h uint32) {
	for _, c := range b {
		h ^= uint32(c)
		h *= 16777619
		h ^= h >> 13
	}
	return h
}

func main() {
	f, err := os.Create(os.Args[1])
	if err != nil {
		panic(err)
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		panic(err)
	}
	b, words, sum := make([]byte, 1<<14), strings.Fields(strings.Repeat("the quick brown fox ", 200)), uint32(0)
	for range 4000 { // about a second, of processor time: a clock would end it early on a busy machine
		sum += mix(b)
		copied := append([]string(nil), words...)
		sort.Strings(copied)
	}
	pprof.StopCPUProfile()
	fmt.Println(sum)
}
`

var disassembled = regexp.MustCompile(` *(\S+) +(\S+) +([0-9a-f]+): `)

// TestInstructionsOfGo compares the samples at each instruction with those of go tool pprof.
func TestInstructionsOfGo(t *testing.T) {
	pprof := decodetest.GoTool(t, "pprof")
	dir := t.TempDir()
	source, program, profile := filepath.Join(dir, "main.go"), filepath.Join(dir, "spinning"), filepath.Join(dir, "cpu.pprof")
	if err := os.WriteFile(source, []byte(spinning), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"go", "build", "-o", program, source}, {program, profile}} {
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOFLAGS=")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
	out, err := exec.Command(pprof, "-sample_index=samples", "-disasm=main.mix|sort", program, profile).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	want, wantTotal := map[string]int64{}, map[string]int64{}
	routines := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		if _, name, ok := strings.Cut(strings.TrimSpace(line), "ROUTINE ======================== "); ok {
			routines[name] = true
		}
		m := disassembled.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		for i, in := range []map[string]int64{want, wantTotal} {
			if n, err := strconv.ParseInt(m[i+1], 10, 64); err == nil {
				in["0x"+m[3]] = n
			}
		}
	}
	if len(routines) == 0 || len(want) == 0 {
		t.Fatalf("go tool pprof names no instruction:\n%s", out)
	}
	got, gotTotal := map[string]int64{}, map[string]int64{}
	for name := range routines {
		var s sourcelines.Source
		if refused := ask(t, &s, "source", profile, name, "--asm", "--json", "--metric", "samples"); refused != "" {
			t.Fatalf("%s: %s", name, refused)
		}
		if s.Assembly == nil || s.Assembly.Binary != program || s.Assembly.Skid == "" {
			t.Fatalf("%s: %+v", name, s.Assembly)
		}
		for _, in := range s.Instructions {
			if n, _ := in.Self.Int64(); n > 0 {
				got[in.Address] = n
			}
			if n, _ := in.Total.Int64(); n > 0 {
				gotTotal[in.Address] = n
			}
		}
	}
	if !maps.Equal(got, want) {
		t.Errorf("self: got %v\nwant %v", got, want)
	}
	if !maps.Equal(gotTotal, wantTotal) {
		t.Errorf("total: got %v\nwant %v", gotTotal, wantTotal)
	}
	text := func(args ...string) string {
		var out, remarks bytes.Buffer
		if code := command.Main(append([]string{"source", profile, "main.mix", "--asm"}, args...), nil, &out, &remarks, command.Runner{}); code != command.Done {
			t.Fatalf("%v: %s", args, remarks.String())
		}
		return out.String()
	}
	for syntax, want := range map[string]string{"gnu": "imul $0x1000193,", "go": "IMULL $0x1000193, ", "intel": "imul e"} {
		if s := text("-n", "0", "--syntax", syntax); !strings.Contains(s, want) || !strings.Contains(s, "main.go:15") {
			t.Errorf("%s has no %q:\n%s", syntax, want, s)
		}
	}
	if s := text("--budget", "250"); len(s) > 1000 || !strings.Contains(s, "left out") || !strings.Contains(s, "+0x") {
		t.Errorf("within a budget: %s", s)
	}
	var s sourcelines.Source
	t.Setenv("DEBUGINFOD_URLS", " ")
	for args, want := range map[string]string{"--syntax masm": "unknown syntax", "--exe " + profile: "is not an ELF, PE or Mach-O executable",
		"--debuginfod ftp://a": "is not an http or https URL", "--debuginfod env": "$DEBUGINFOD_URLS is empty"} {
		words := append([]string{"source", profile, "main.mix", "--asm", "--json"}, strings.Fields(args)...)
		if refused := ask(t, &s, words...); !strings.Contains(refused, want) {
			t.Errorf("%s: %s", args, fmt.Sprint(refused))
		}
	}
}
