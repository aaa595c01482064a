package command

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"ashlar/app/core/resident"
	"ashlar/app/core/subcommand"
	"ashlar/ingest"
	"ashlar/testdata/samples"
)

// TestSchemas checks the --json output of every command against its schema in help json, on
// the recordings of the repository and all samples.
func TestSchemas(t *testing.T) {
	page := run("help", "json", "all")
	var schemas map[string]*jsonschema.Schema
	if err := json.Unmarshal([]byte(page.stdout), &schemas); err != nil {
		t.Fatalf("%v: %s", err, page.stderr)
	}
	resolved := map[string]*jsonschema.Resolved{}
	for name, s := range schemas {
		r, err := s.Resolve(nil)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		resolved[name] = r
	}
	for _, c := range commands() {
		if fs, _ := c.prepare(); (fs.Lookup("json") != nil) != (resolved[c.Name] != nil) {
			t.Errorf("%s has --json or a schema, and not both", c.Name)
		}
	}
	loaded := resident.New(ingest.ReadAll, 0)
	defer loaded.Close()
	asked := map[string]int{}
	hold := func(command string, args ...string) {
		t.Helper()
		var out bytes.Buffer
		Runner{}.Answer(subcommand.Invocation{Ctx: t.Context(), Args: append(args, "--json"), Stdout: &out, Stderr: io.Discard, Read: loaded.In("")})
		if !strings.HasPrefix(out.String(), "{") && !strings.HasPrefix(out.String(), "[") {
			return // the recording lacks the data
		}
		var v any
		if err := json.Unmarshal(out.Bytes(), &v); err != nil {
			t.Errorf("%v: %v", args, err)
			return
		}
		if err := resolved[command].Validate(v); err != nil {
			t.Errorf("%v is not as its schema says: %v", args, err)
		}
		asked[command]++
	}
	hold("check --rules", "check", "--rules")
	hold("cache", "cache")
	out := t.TempDir()
	for _, path := range recordings(t, 1<<20) {
		hold("overview", "overview", path)
		hold("findings", "findings", path)
		hold("findings", "findings", path, path)
		hold("info", "info", path)
		hold("top", "top", path, "-n", "40", "--sort", "average")
		hold("top", "top", path, "--tree", "-n", "20", "--search", "a", "--range", "..10ms")
		hold("top", "top", path, "--by", "thread", "--budget", "300")
		hold("top", "top", path, "--by", "line", "--hide-kernel", "-n", "9")
		hold("calls", "calls", path, "/./", "-n", "20")
		hold("path", "path", path, "-n", "9")
		hold("locks", "locks", path, "-n", "3")
		hold("calls", "calls", path, "/^.blocked/", "-n", "9")
		hold("stats", "stats", path, "--function", "/./")
		hold("diff", "diff", path, path, "--all", "-n", "20")
		hold("trend", "trend", path, path, "-n", "5")
		hold("source", "source", path, "/./")
		hold("check", "check", path)
		hold("convert", "convert", path, filepath.Join(out, "x.folded"), "--force")
		hold("marks", "marks", path)
	}
	lines, err := os.ReadFile("testdata/lines.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(lines)) {
		args := strings.Fields(strings.ReplaceAll(line, "$OUT", out))
		for i, a := range args {
			if path := filepath.Join("testdata", a); fileExists(path) {
				args[i] = path
			}
		}
		if resolved[args[0]] != nil {
			hold(args[0], args...)
		}
	}
	hold("calls", "calls", "testdata/small.ftrace", "/^.blocked/")
	report := filepath.Join(out, "report.md")
	if err := os.WriteFile(report, []byte("`ashlar top testdata/small.spaa # total = 1`\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	hold("check-claims", "check-claims", report)
	for name := range resolved {
		// marks and cache need a home folder, show needs a window; app/agent/mcp tests show.
		if asked[name] == 0 && name != "marks" && name != "cache" && name != "show" {
			t.Errorf("nothing of %s was held: add a line to testdata/lines.txt", name)
		}
	}
}

func fileExists(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.Mode().IsRegular()
}

// recordings returns the recordings of the repository, and the samples of at most the given
// size in bytes.
func recordings(t *testing.T, most int64) []string {
	t.Helper()
	files := []string{"testdata/small.spaa", "testdata/small.spall", "testdata/damaged.spaa", "testdata/diff-a.folded", "testdata/dtrace.spaa"}
	if !testing.Short() {
		files = append(files, samples.Small(most, samples.Files(t))...)
	}
	return files
}
