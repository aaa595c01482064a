package sourcelines_test

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"ashlar/app/command/sourcelines"
)

// Programs that spend their time in hot, which other functions are inlined into.
const (
	hotC = `
static inline unsigned mix(unsigned h, unsigned i) { h ^= i; h *= 16777619u; return h ^ h >> 13; }
__attribute__((noinline)) unsigned hot(unsigned h) { for (unsigned i = 0; i < 250000000; i++) h = mix(h, i) + (h & 3 ? 1 : i / 7); return h; }
int main(int c, char **v) { return hot(c) & 1; }`
	hotCPP = `
#include <numeric>
#include <vector>
template <class T> struct ring { std::vector<T> v; T &at(unsigned i) { return v[i % v.size()]; } };
extern "C" __attribute__((noinline)) unsigned hot(ring<unsigned> &r) { unsigned h = 1; for (unsigned i = 0; i < 100000000; i++) { r.at(i) += h; h ^= r.at(h) + std::accumulate(&r.v[0], &r.v[2], 0u); } return h; }
int main() { ring<unsigned> r; r.v.resize(1021); return hot(r) & 1; }`
	hotRust = `
#[no_mangle] #[inline(never)]
pub extern "C" fn hot(v: &mut [u32; 1021]) -> u32 { let mut h = 1u32; for i in 0..150_000_000usize { let k = (h as usize + i) % 1021; v[k] = v[k].wrapping_add(h); h = v[k].rotate_left(3) ^ (i as u32); } h }
fn main() { let mut v = [7u32; 1021]; std::process::exit((hot(&mut v) & 1) as i32) }`
	hotGo = `package main

import "os"

//go:noinline
func hot(v []uint32) (h uint32) {
	for i := uint32(0); i < 200_000_000; i++ {
		k := (h + i) % uint32(len(v))
		v[k] += h
		h ^= v[k]>>3 + i
	}
	return h
}

func main() { os.Exit(int(hot(make([]uint32, 1021)) & 1)) }`
)

var annotated = regexp.MustCompile(`^ *([0-9]+) +: +([0-9a-f]+):`)

// TestInstructionsOfPerf compares the samples at each instruction with those of perf
// annotate.
func TestInstructionsOfPerf(t *testing.T) {
	if testing.Short() {
		t.Skip("it compiles and runs other programs: make check runs this test")
	}
	if err := exec.Command("perf", "record", "-o", os.DevNull, "true").Run(); err != nil {
		t.Skip("perf is not permitted to record here: ", err)
	}
	for _, c := range []struct{ name, file, text, build, function string }{
		{"C", "hot.c", hotC, "gcc -O2 -g -o hot hot.c", "hot"},
		{"C without inlining", "hot.c", hotC, "gcc -O0 -o hot hot.c", "mix"},
		{"C++", "hot.cc", hotCPP, "g++ -O2 -g -o hot hot.cc", "hot"},
		{"Rust", "hot.rs", hotRust, "rustc -O -g -o hot hot.rs", "hot"},
		{"Go", "hot.go", hotGo, "go build -o hot hot.go", "main.hot"},
		{"stripped, with dynamic symbols", "hot.c", hotC, "gcc -O2 -rdynamic -s -o hot hot.c", "hot"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			t.Setenv("GOFLAGS", "")
			if err := os.WriteFile(c.file, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			build := strings.Fields(c.build)
			if _, err := exec.LookPath(build[0]); err != nil {
				t.Skip(err)
			}
			if build[0] == "rustc" && exec.Command("rustc", "--version").Run() != nil {
				t.Skip("rustup has no toolchain here")
			}
			if out, err := exec.Command(build[0], build[1:]...).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			recording, err := filepath.Abs("hot.perf.data")
			if err != nil {
				t.Fatal(err)
			}
			if out, err := exec.Command("perf", "record", "-F", "2000", "-g", "-o", recording, "./hot").CombinedOutput(); err != nil && !strings.Contains(string(out), "samples)") {
				t.Fatalf("%v: %s", err, out)
			}
			out, err := exec.Command("perf", "annotate", "--stdio", "--show-nr-samples", "-i", recording, c.function).Output()
			if err != nil {
				t.Fatal(err)
			}
			want, got := map[uint64]int64{}, map[uint64]int64{}
			for line := range strings.Lines(string(out)) {
				if m := annotated.FindStringSubmatch(line); m != nil && m[1] != "0" {
					at, _ := strconv.ParseUint(m[2], 16, 64)
					want[at], _ = strconv.ParseInt(m[1], 10, 64)
				}
			}
			var s sourcelines.Source
			if refused := ask(t, &s, "source", recording, c.function, "--asm", "--json"); refused != "" {
				t.Fatal(refused)
			}
			sum := int64(0)
			for _, in := range s.Instructions {
				if in.Count > 0 {
					at, _ := strconv.ParseUint(strings.TrimPrefix(in.Address, "0x"), 16, 64)
					got[at] = in.Count
					sum += in.Count
				}
			}
			t.Logf("%d samples at %d instructions", sum, len(got))
			if sum < 20 || !maps.Equal(got, want) {
				t.Errorf("got %v\nwant %v", got, want)
			}
		})
	}
}
