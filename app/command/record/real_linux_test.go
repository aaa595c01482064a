package record_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ashlar/ingest"
)

// TestRealProfilers records with the profilers that are installed, and reads the result.
func TestRealProfilers(t *testing.T) {
	if testing.Short() {
		t.Skip("it compiles and runs other programs: make check runs this test")
	}
	const native = `
__attribute__((noinline)) unsigned mix(unsigned h) { for (int i = 0; i < 300000000; i++) { h ^= i; h *= 16777619u; } return h; }
int main(int c, char **v) { return (mix(c) & 1) + 3; }`
	const script = `function mix(h) { for (let i = 0; i < 3e8; i++) { h ^= i; h = Math.imul(h, 16777619) } return h }
process.exitCode = 3 + (mix(1) & 0)`
	const class = `public class Work { static int mix(int h) { for (int i = 0; i < 1000000; i++) { h ^= i; h *= 16777619; } return h; }
public static void main(String[] a) { int h = 1; for (int i = 0; i < 2000; i++) h = mix(h); System.exit(3 + (h & 0)); } }`
	for _, c := range []struct {
		needs, file, text, build, run, recording, function string
	}{
		{"perf", "work.c", native, "gcc -O2 -g -o work work.c", "./work", "work.perf.data", "mix"},
		{"node", "work.js", script, "", "node work.js", "work.cpuprofile", "mix"},
		{"javac", "Work.java", class, "javac Work.java", "java Work", "Work.jfr", "mix"},
	} {
		t.Run(c.needs, func(t *testing.T) {
			if _, err := exec.LookPath(c.needs); err != nil {
				t.Skip(err)
			}
			if err := exec.Command("perf", "record", "-o", os.DevNull, "true").Run(); err != nil && c.needs == "perf" {
				t.Skip("perf is not permitted to record here: ", err)
			}
			p := newPlace(t)
			if err := os.WriteFile(c.file, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			if words := strings.Fields(c.build); len(words) > 0 {
				if out, err := exec.Command(words[0], words[1:]...).CombinedOutput(); err != nil {
					t.Fatalf("%v: %s", err, out)
				}
			}
			a := p.run("", false, strings.Fields(c.run)...)
			if a.code < 3 || a.code > 4 || a.out != "" {
				t.Errorf("%+v", a)
			}
			rec, _, err := ingest.ReadAll(t.Context(), filepath.Join(p.dir, c.recording), ingest.Options{})
			if err != nil {
				t.Fatal(err)
			}
			found := false
			for i := range rec.Functions.Len() {
				found = found || strings.HasSuffix(rec.Functions.Ref(i).Name, c.function)
			}
			if !found {
				t.Errorf("the recording has no function %s", c.function)
			}
		})
	}
}
