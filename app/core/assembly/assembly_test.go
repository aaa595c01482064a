package assembly_test

import (
	"context"
	"crypto/sha256"
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ashlar/app/core/assembly"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
)

const busy = `
#include <stdlib.h>
static inline __attribute__((always_inline)) unsigned mix(unsigned h) { h ^= h >> 16; h *= 0x85ebca6b; return h ^ h >> 13; }
__attribute__((noinline)) unsigned spin(unsigned n) { unsigned h = 1; for (unsigned i = 0; i < n; i++) h = mix(h + i); return h; }
__attribute__((noinline)) unsigned twice(unsigned n) { return spin(n) + mix(spin(n + 1)); }
int main(int argc, char **argv) { return twice(argc * 1000) & 1; }
`

// compile compiles busy with gcc and returns the program's path, symbols and build id.
func compile(t *testing.T, flags ...string) (path string, symbols map[string]elf.Symbol, id string) {
	t.Helper()
	dir := t.TempDir()
	source := filepath.Join(dir, "busy.c")
	path = filepath.Join(dir, "busy")
	if err := os.WriteFile(source, []byte(busy), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("gcc", append(append([]string{"-O2", "-g", "-Wl,--build-id"}, flags...), "-o", path, source)...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	symbols = map[string]elf.Symbol{}
	for _, s := range all {
		symbols[s.Name] = s
	}
	if note := f.Section(".note.gnu.build-id"); note != nil {
		b, err := note.Data()
		if err != nil {
			t.Fatal(err)
		}
		id = fmt.Sprintf("%x", b[16:])
	}
	return path, symbols, id
}

// A layout is a way in which formats write addresses.
type layout struct {
	name  string
	frame func(f *recording.Frame, at, start uint64)
	maps  bool
}

const loaded = 0x7f1234560000 // the address at which the program was loaded

var layouts = []layout{
	{"mapped", func(f *recording.Frame, at, _ uint64) { f.Addr = loaded + at }, true},
	{"in the binary", func(f *recording.Frame, at, _ uint64) { f.Addr = at }, false},
	{"anywhere, with the offset in the function", func(f *recording.Frame, at, start uint64) { f.Addr, f.Offset = 0x55ee00000000+at, at-start }, false},
}

// recordingOf returns a recording with count samples at offsets in a function.
func recordingOf(path, id, function string, start uint64, count map[uint64]int64, l layout) *recording.Recording {
	b := recording.NewBuilder()
	b.Source().Format = "perf-data"
	b.AddEvent(recording.Event{Name: "cycles", Metrics: []recording.Metric{{Name: "samples"}}})
	var mapping uint16
	if l.maps {
		mapping = b.Mapping(recording.Mapping{Start: loaded, Limit: loaded + 0x10000, File: path, BuildID: id})
	}
	fn := b.Function(recording.Function{Name: function, Module: path})
	for offset, n := range count {
		f := recording.Frame{Func: fn, BuildID: id, Mapping: mapping}
		l.frame(&f, start+offset, start)
		b.AddStack(0, b.Stack([]recording.FrameID{b.Frame(f)}), recording.NoTrack, 0, []int64{n})
	}
	return b.Finish()
}

func list(t *testing.T, rec *recording.Recording, o assembly.Options) (*assembly.Listing, error) {
	t.Helper()
	w, err := analyze.Weigh(context.Background(), rec, analyze.Query{})
	if err != nil {
		t.Fatal(err)
	}
	return assembly.Of(context.Background(), rec, w, 0, o)
}

// starts returns the offsets of a function's instructions, from objdump.
func starts(t *testing.T, path, function string, start uint64) (offsets []uint64) {
	t.Helper()
	out, err := exec.Command("objdump", "-d", "--no-show-raw-insn", "--disassemble="+function, path).Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		var at uint64
		if _, err := fmt.Sscanf(strings.TrimSpace(line), "%x:\t", &at); err == nil && strings.Contains(line, ":\t") {
			offsets = append(offsets, at-start)
		}
	}
	return offsets
}

// TestSamplesAreAtTheirInstructions checks that samples belong to the sampled instructions and
// their source lines, for each layout of addresses.
func TestSamplesAreAtTheirInstructions(t *testing.T) {
	path, symbols, id := compile(t)
	start := symbols["spin"].Value
	offsets := starts(t, path, "spin", start)
	count := map[uint64]int64{}
	for i, o := range offsets {
		if i%2 == 0 && o > 0 {
			count[o] = int64(3*i + 1)
		}
	}
	for _, l := range layouts {
		t.Run(l.name, func(t *testing.T) {
			got, err := list(t, recordingOf(path, id, "spin", start, count, l), assembly.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if !got.Verified || got.Doubt != "" || len(got.Parts) != 1 || got.Parts[0].Name != "spin" {
				t.Errorf("%t %q %+v", got.Verified, got.Doubt, got.Parts)
			}
			if len(got.Insts) < len(offsets) {
				t.Fatalf("%d instructions, objdump has %d", len(got.Insts), len(offsets))
			}
			var inlined int
			for i := range offsets {
				in := &got.Insts[i]
				if got.Offset(i) != offsets[i] || in.Self != count[offsets[i]] || in.Count != min(in.Self, 1) {
					t.Errorf("instruction %d at +%#x has %d in %d, want +%#x with %d", i, got.Offset(i), in.Self, in.Count, offsets[i], count[offsets[i]])
				}
				if filepath.Base(in.File) != "busy.c" || in.Line != 3 && in.Line != 4 {
					t.Errorf("+%#x is at %s:%d", offsets[i], in.File, in.Line)
				}
				if slices.Contains(in.Inlined, "mix") {
					inlined++
				}
			}
			if inlined == 0 {
				t.Error("mix is inlined nowhere")
			}
		})
	}
}

// TestInlinedFunction checks that a function without code of its own, because it was always
// inlined, shows its callers' code.
func TestInlinedFunction(t *testing.T) {
	path, symbols, id := compile(t)
	b := recording.NewBuilder()
	b.Source().Format = "perf-data"
	b.AddEvent(recording.Event{Name: "cycles", Metrics: []recording.Metric{{Name: "samples"}}})
	mix := b.Function(recording.Function{Name: "mix", Module: path})
	for _, name := range []string{"spin", "twice"} {
		at := symbols[name].Value + starts(t, path, name, symbols[name].Value)[2]
		outer := b.Frame(recording.Frame{Func: b.Function(recording.Function{Name: name, Module: path}), Addr: at, BuildID: id})
		inner := b.Frame(recording.Frame{Func: mix, Addr: at, BuildID: id, Inlined: true, InlineDepth: 1})
		b.AddStack(0, b.Stack([]recording.FrameID{outer, inner}), recording.NoTrack, 0, []int64{5})
	}
	got, err := list(t, b.Finish(), assembly.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Parts) != 2 || got.Parts[0].Self != 5 || got.Parts[1].Self != 5 || got.Self != 10 {
		t.Errorf("%+v, self %d", got.Parts, got.Self)
	}
}

// TestVerified checks that a binary with another build id is not used, and that one without a
// build id to compare is marked.
// htlhash computes the hash as OpenTelemetry's conventions define it.
func htlhash(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	in := slices.Concat(b[:4096], b[len(b)-4096:], []byte{0, 0, 0, 0, 0, byte(len(b) >> 16), byte(len(b) >> 8), byte(len(b))})
	sum := sha256.Sum256(in)
	return fmt.Sprintf("%x", sum[:16])
}

func TestVerified(t *testing.T) {
	path, symbols, id := compile(t)
	other, _, _ := compile(t, "-O1")
	start := symbols["spin"].Value
	count := map[uint64]int64{starts(t, path, "spin", start)[3]: 7}
	in := layouts[1]
	if got, err := list(t, recordingOf(path, "", "spin", start, count, in), assembly.Options{}); err != nil || got.Verified || !strings.Contains(got.Doubt, "no build id") {
		t.Errorf("without a build id: %+v, %v", got, err)
	}
	wrong := strings.Repeat("ab", 20)
	if _, err := list(t, recordingOf(path, wrong, "spin", start, count, in), assembly.Options{}); err == nil || !strings.Contains(err.Error(), "not the recorded binary") {
		t.Errorf("with another build id: %v", err)
	}
	if _, err := list(t, recordingOf(path, id, "spin", start, count, in), assembly.Options{Exe: other}); err == nil || !strings.Contains(err.Error(), "not the recorded binary") {
		t.Errorf("with another program given: %v", err)
	}
	// A recorded htlhash is compared with the htlhash of the binary, not with its build id.
	hash := htlhash(t, path)
	got, err := list(t, recordingOf(path, recording.HTLHash+hash, "spin", start, count, in), assembly.Options{})
	if err != nil || !got.Verified || got.IDKind != "htlhash" || got.BuildID != id {
		t.Errorf("with its htlhash: %+v, %v", got, err)
	}
	if _, err := list(t, recordingOf(path, recording.HTLHash+hash, "spin", start, count, in), assembly.Options{Exe: other}); err == nil || !strings.Contains(err.Error(), "its htlhash is ") {
		t.Errorf("with another program given and an htlhash: %v", err)
	}
	// The recorded path is gone; the binary is beside the recording.
	gone := "/nowhere/" + filepath.Base(path)
	got, err = list(t, recordingOf(gone, id, "spin", start, count, in), assembly.Options{Beside: filepath.Dir(path)})
	if err != nil || !got.Verified || got.Binary != path || got.Self != 7 {
		t.Errorf("beside the recording: %+v, %v", got, err)
	}
	if _, err := list(t, recordingOf(gone, id, "spin", start, count, in), assembly.Options{}); err == nil || !strings.Contains(err.Error(), "is not on this machine") {
		t.Errorf("nowhere: %v", err)
	}
	// A stripped program has no symbols, but its unwind tables have the functions.
	stripped := filepath.Join(t.TempDir(), "busy")
	if out, err := exec.Command("strip", "--strip-all", "-o", stripped, path).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	got, err = list(t, recordingOf(path, id, "spin", start, count, in), assembly.Options{Exe: stripped})
	if err != nil || got.Self != 7 || got.Parts[0].Low != start || got.Parts[0].High != start+symbols["spin"].Size {
		t.Errorf("stripped: %+v, %v", got, err)
	}
}

// TestWithoutAddresses checks the error for a recording without addresses.
func TestWithoutAddresses(t *testing.T) {
	b := recording.NewBuilder()
	b.AddEvent(recording.Event{Name: "cycles", Metrics: []recording.Metric{{Name: "samples"}}})
	b.AddStack(0, b.Stack([]recording.FrameID{b.FunctionFrame(b.Function(recording.Function{Name: "f"}))}), recording.NoTrack, 0, []int64{1})
	if _, err := list(t, b.Finish(), assembly.Options{}); err == nil || !strings.Contains(err.Error(), "no instruction addresses") {
		t.Errorf("%v", err)
	}
}
