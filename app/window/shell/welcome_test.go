package shell

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ashlar/ingest"
	"ashlar/testdata/rounds"
)

// TestRecipesForGo runs the welcome page's recipe for Go on a small benchmark.
func TestRecipesForGo(t *testing.T) {
	rounds.Unraced(t)
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":    "module recipe\n\ngo 1.21\n",
		"a_test.go": "package recipe\n\nimport \"testing\"\n\nvar sink int\n\nfunc BenchmarkWork(b *testing.B) {\n\tfor i := 0; i < b.N; i++ {\n\t\tfor j := 0; j < 1000; j++ {\n\t\t\tsink += j * i\n\t\t}\n\t}\n}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, r := range Recipes {
		if r.Tool != "Go" {
			continue
		}
		cmd := exec.Command("sh", "-c", r.Lines[0])
		cmd.Dir = dir
		// The environment keeps GOFLAGS, with which the standard library is already
		// compiled.
		cmd.Env = append(os.Environ(), "GOWORK=off")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", r.Lines[0], err, out)
		}
		file, ok := strings.CutPrefix(r.Lines[1], "ashlar ")
		if !ok {
			t.Fatalf("the second line is %q", r.Lines[1])
		}
		rec, _, err := ingest.ReadAll(context.Background(), filepath.Join(dir, file), ingest.Options{})
		if err != nil || rec.Source.Format != "pprof" || rec.Counts.Stacks+rec.Counts.Samples == 0 {
			t.Errorf("what it wrote is read as %q with %+v: %v", rec.Source.Format, rec.Counts, err)
		}
		return
	}
	t.Error("there is no recipe for Go")
}

func TestRecipesCanBePasted(t *testing.T) {
	for _, r := range Recipes {
		if r.Tool == "" || r.Lines[0] == "" || r.Lines[1] == "" {
			t.Errorf("a recipe is not whole: %+v", r)
		}
		if got := r.clip(); r.Words == strings.Contains(got, r.Lines[0]) || !strings.Contains(got, r.Lines[1]) {
			t.Errorf("of %s is copied %q", r.Tool, got)
		}
	}
}
