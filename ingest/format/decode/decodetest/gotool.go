package decodetest

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
)

var goTools struct {
	sync.Mutex
	paths map[string]string
}

// GoTool returns the path of the program that `go tool NAME` runs. The go command
// searches for it at each start, which takes longer than most tools run, so tests start
// the program themselves. The go command compiles a tool when it is first used, so tests
// that need one are skipped with -short.
func GoTool(t testing.TB, name string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("the first use of go tool " + name + " compiles it: make check runs this test")
	}
	goTools.Lock()
	defer goTools.Unlock()
	if path := goTools.paths[name]; path != "" {
		return path
	}
	out, err := exec.Command("go", "tool", "-n", name).Output()
	if err != nil {
		t.Fatalf("go tool -n %s: %v", name, err)
	}
	if goTools.paths == nil {
		goTools.paths = map[string]string{}
	}
	goTools.paths[name] = strings.TrimSpace(string(out))
	return goTools.paths[name]
}

// GoBuild compiles a Go program of one file for a target, such as "darwin/arm64" or "" for
// this machine, and returns its path. The program has symbols and debug information,
// whatever flags the tests are compiled with. So its part of the standard library is compiled
// too, once for each target, for about ten seconds of processor time: tests that need one are
// skipped with -short.
func GoBuild(t testing.TB, source, target string, flags ...string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("it compiles the standard library with other flags: make check runs this test")
	}
	dir := t.TempDir()
	file, program := filepath.Join(dir, "main.go"), filepath.Join(dir, "program.exe")
	if err := os.WriteFile(file, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", append(append([]string{"build", "-o", program}, flags...), file)...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOFLAGS=")
	if system, processor, ok := strings.Cut(target, "/"); ok {
		cmd.Env = append(cmd.Env, "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+processor)
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}

// Row is a function in the output of `go tool pprof -top`, with its numbers as printed.
type Row struct{ Name, Flat, Cum string }

var topRow = regexp.MustCompile(`^\s*(-?[0-9.]+(?:e[+-]?\d+)?)\S*\s+\S+%\s+\S+%\s+(-?[0-9.]+(?:e[+-]?\d+)?)\S*\s+\S+%  (.*?)(?: \((?:partial-)?inline\))?$`)

// PprofTop returns all functions of a profile as listed by go tool pprof, for the given
// value and in the given unit. If that is the value's own unit, nothing is rounded.
// Functions of several binaries may share a name.
func PprofTop(t testing.TB, value, unit string, args ...string) (rows []Row) {
	t.Helper()
	cmd := exec.Command(GoTool(t, "pprof"), append([]string{"-top", "-symbolize=none", "-nodecount=10000000", "-nodefraction=0", "-edgefraction=0",
		"-sample_index=" + value, "-unit=" + unit}, args...)...)
	cmd.Env = append(os.Environ(), "PPROF_TMPDIR="+t.TempDir())
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go tool pprof: %v\n%s", err, stderr.Bytes())
	}
	_, table, found := strings.Cut(string(out), "flat%")
	if !found {
		t.Fatalf("go tool pprof printed no table:\n%s", out)
	}
	_, table, _ = strings.Cut(table, "\n")
	for l := range strings.Lines(table) {
		m := topRow.FindStringSubmatch(strings.TrimSuffix(l, "\n"))
		if m == nil {
			t.Fatalf("cannot read %q", l)
		}
		rows = append(rows, Row{m[3], m[1], m[2]})
	}
	return rows
}
