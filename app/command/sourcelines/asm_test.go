package sourcelines_test

import (
	"bytes"
	"fmt"
	"maps"
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
	"runtime"
	"runtime/pprof"
	"sort"
	"strings"
	"sync"
	"time"
)

var kept [][]byte

//go:noinline
func grow(n int) {
	for i := range n {
		if i%3 == 0 {
			kept = append(kept, make([]byte, 1024*(i%7)))
		} else {
			kept = append(kept, []byte(strings.Repeat("x", i)))
		}
	}
}

//go:noinline
func contend(mu *sync.Mutex, n int) {
	for i := range n {
		mu.Lock()
		time.Sleep(time.Millisecond)
		if i%2 == 0 {
			mu.Unlock()
			continue
		}
		mu.Unlock()
	}
}

// profiles writes profiles of memory and of locks.
func profiles(memory, locks string) {
	runtime.MemProfileRate = 1
	grow(300)
	runtime.SetMutexProfileFraction(1)
	var mu sync.Mutex
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() { contend(&mu, 1+2*i); contend(&mu, 3) })
	}
	all.Wait()
	runtime.GC()
	for name, file := range map[string]string{"allocs": memory, "mutex": locks} {
		f, err := os.Create(file)
		if err != nil {
			panic(err)
		}
		if err := pprof.Lookup(name).WriteTo(f, 0); err != nil {
			panic(err)
		}
	}
}

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
	if len(os.Args) > 2 {
		profiles(os.Args[1], os.Args[2])
		return
	}
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

// compareWithPprof compares the cost of each instruction of functions with that of go tool
// pprof.
func compareWithPprof(t *testing.T, pprof, program, profile, metric, functions string) {
	t.Helper()
	out, err := exec.Command(pprof, "-sample_index="+metric, "-disasm="+functions, program, profile).CombinedOutput()
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
		if refused := ask(t, &s, "source", profile, name, "--asm", "--json", "--metric", metric); refused != "" {
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
}

// run runs a program to its end.
func run(t *testing.T, program string, args ...string) {
	t.Helper()
	if out, err := exec.Command(program, args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// TestInstructionsOfOtherProfiles compares allocations and contentions at each instruction with
// those of go tool pprof: they are at calls, and their functions have lines of inlined ones.
func TestInstructionsOfOtherProfiles(t *testing.T) {
	pprof := decodetest.GoTool(t, "pprof")
	dir := t.TempDir()
	memory, locks := filepath.Join(dir, "memory.pprof"), filepath.Join(dir, "locks.pprof")
	program := decodetest.GoBuild(t, spinning, "")
	run(t, program, memory, locks)
	compareWithPprof(t, pprof, program, memory, "alloc_objects", "main.grow|strings|main.profiles")
	compareWithPprof(t, pprof, program, locks, "contentions", "main.contend|Mutex")
}

// TestInstructionsOfGo compares the samples at each instruction with those of go tool pprof.
func TestInstructionsOfGo(t *testing.T) {
	pprof := decodetest.GoTool(t, "pprof")
	profile := filepath.Join(t.TempDir(), "cpu.pprof")
	program := decodetest.GoBuild(t, spinning, "")
	run(t, program, profile)
	compareWithPprof(t, pprof, program, profile, "samples", "main.mix|sort")
	text := func(args ...string) string {
		var out, remarks bytes.Buffer
		if code := command.Main(append([]string{"source", profile, "main.mix", "--asm"}, args...), nil, &out, &remarks, command.Runner{}); code != command.Done {
			t.Fatalf("%v: %s", args, remarks.String())
		}
		return out.String()
	}
	line := fmt.Sprintf("main.go:%d ", 1+strings.Count(spinning[:strings.Index(spinning, "h *= ")], "\n"))
	for syntax, want := range map[string]string{"gnu": "imul $0x1000193,", "go": "IMULL $0x1000193, ", "intel": "imul e"} {
		if s := text("-n", "0", "--syntax", syntax); !strings.Contains(s, want) || !strings.Contains(s, line) {
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
