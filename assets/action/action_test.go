// Package action tests the GitHub action that compares two recordings.
package action

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"ashlar/app/command"
)

// TestMain runs as the program that the action calls if ASHLAR_ACTION_TEST is set.
func TestMain(m *testing.M) {
	if os.Getenv("ASHLAR_ACTION_TEST") != "" {
		os.Exit(command.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr, command.Runner{}))
	}
	os.Exit(m.Run())
}

type action struct {
	Name, Description string
	Inputs            map[string]struct {
		Description, Default string
		Required             bool
	}
	Outputs map[string]struct{ Description, Value string }
	Runs    struct {
		Using string
		Steps []step
	}
}

type step struct {
	ID, If, Shell, Run string
	Env                map[string]string
}

var expression = regexp.MustCompile(`\$\{\{\s*([\w.-]+)\s*\}\}`)

func read(t *testing.T) (a action) {
	t.Helper()
	text, err := os.ReadFile("action.yml")
	if err != nil {
		t.Fatal(err)
	}
	d := yaml.NewDecoder(bytes.NewReader(text))
	if err := d.Decode(&a); err != nil {
		t.Fatal(err)
	}
	return a
}

// TestForm checks that the action is composite, that each step names its shell, that no script
// contains an expression (its value would be executed), and that every expression refers to
// something that exists.
func TestForm(t *testing.T) {
	a := read(t)
	if a.Name == "" || a.Description == "" || a.Runs.Using != "composite" || len(a.Runs.Steps) == 0 {
		t.Fatalf("it is %+v", a)
	}
	known := map[string]bool{"github.token": true, "github.repository": true, "github.event.pull_request.number": true}
	for name, in := range a.Inputs {
		if known["inputs."+name] = true; in.Description == "" {
			t.Errorf("the input %s has no description", name)
		}
	}
	used := map[string]bool{}
	for _, s := range a.Runs.Steps {
		if s.Shell != "bash" || s.Run == "" || strings.Contains(s.Run, "${{") {
			t.Errorf("the step %+v", s)
		}
		for _, m := range regexp.MustCompile(`echo "(\w+)=`).FindAllStringSubmatch(s.Run, -1) {
			known["steps."+s.ID+".outputs."+m[1]] = true
		}
		for _, v := range s.Env {
			for _, m := range expression.FindAllStringSubmatch(v, -1) {
				if used[m[1]] = true; !known[m[1]] {
					t.Errorf("there is no %s", m[1])
				}
			}
		}
		for _, m := range regexp.MustCompile(`(?:inputs|steps|github)\.[\w.-]+`).FindAllString(s.If, -1) {
			if used[m] = true; !known[m] {
				t.Errorf("there is no %s", m)
			}
		}
	}
	for name := range a.Inputs {
		if !used["inputs."+name] {
			t.Errorf("the input %s is used nowhere", name)
		}
	}
	for name, out := range a.Outputs {
		if m := expression.FindStringSubmatch(out.Value); m == nil || !known[m[1]] {
			t.Errorf("the output %s is %s", name, out.Value)
		}
	}
}

// workflow runs the action as a workflow does.
type workflow struct {
	t       *testing.T
	dir     string
	inputs  map[string]string
	outputs map[string]string // by steps.ID.outputs.NAME
}

func (w *workflow) value(name string) string {
	switch {
	case strings.HasPrefix(name, "inputs."):
		if v, ok := w.inputs[name[len("inputs."):]]; ok {
			return v
		}
		return expression.ReplaceAllString(read(w.t).Inputs[name[len("inputs."):]].Default, "token")
	case name == "github.repository":
		return "owner/name"
	case name == "github.event.pull_request.number":
		return "7"
	}
	return w.outputs[name]
}

// holds evaluates the conditions used in the action: comparisons joined by &&.
func (w *workflow) holds(condition string) bool {
	for _, part := range strings.Split(condition, "&&") {
		name, want, compared := strings.Cut(strings.TrimSpace(part), "==")
		v := w.value(strings.TrimSpace(name))
		if compared && v != strings.Trim(strings.TrimSpace(want), "'") || !compared && condition != "" && v == "" {
			return false
		}
	}
	return true
}

// run runs all steps. It returns the exit code of the failing step, 0 for none, and the
// output.
func (w *workflow) run() (code int, said string) {
	w.t.Helper()
	w.outputs = map[string]string{}
	for _, s := range read(w.t).Runs.Steps {
		if s.If != "" && !w.holds(s.If) {
			continue
		}
		out := filepath.Join(w.dir, "output")
		cmd := exec.Command("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", s.Run)
		cmd.Dir = w.dir
		cmd.Env = []string{"PATH=" + filepath.Join(w.dir, "bin") + ":" + os.Getenv("PATH"), "RUNNER_TEMP=" + w.dir, "GITHUB_OUTPUT=" + out, "GITHUB_STEP_SUMMARY=" + filepath.Join(w.dir, "summary"), "HOME=" + w.dir}
		for k, v := range s.Env {
			cmd.Env = append(cmd.Env, k+"="+expression.ReplaceAllStringFunc(v, func(e string) string { return w.value(expression.FindStringSubmatch(e)[1]) }))
		}
		msg, err := cmd.CombinedOutput()
		said += string(msg)
		if b, err := os.ReadFile(out); err == nil {
			for line := range strings.Lines(string(b)) {
				k, v, _ := strings.Cut(strings.TrimSpace(line), "=")
				w.outputs["steps."+s.ID+".outputs."+k] = v
			}
		}
		if err != nil {
			return cmd.ProcessState.ExitCode(), said
		}
	}
	return 0, said
}

func (w *workflow) file(name string) string {
	b, _ := os.ReadFile(filepath.Join(w.dir, name))
	return string(b)
}

// TestRun compares two small recordings, posts a comment, updates it, and fails on a
// condition.
func TestRun(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("NOT RUN: there is no bash, which the action is written for")
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	write("bin/ashlar-cli", fmt.Sprintf("#!/bin/sh\nASHLAR_ACTION_TEST=1 exec '%s' \"$@\"\n", exe), 0o755)
	// A fake gh that logs its calls and stores the comment's id. The last comment is by somebody
	// else, although it starts with the marker.
	write("bin/gh", `#!/bin/sh
echo "$*" >>"$HOME/asked"
case $* in
*--paginate*)
	case $* in *'.user.login == env.ME'*) ;; *) cat "$HOME/comments" 2>/dev/null; echo 66; exit ;; esac
	[ "$ME" = "$(cat "$HOME/me" 2>/dev/null || echo 'github-actions[bot]')" ] && cat "$HOME/comments" 2>/dev/null
	true ;;
"api user "*) cat "$HOME/me" 2>/dev/null ;;
*) echo 42 >"$HOME/comments" ;;
esac
`, 0o755)
	write("a file.folded", "main;parse 1000\nmain;$(touch injected) 500\n", 0o644)
	write("b;touch injected.folded", "main;parse 1500\nmain;$(touch injected) 500\n", 0o644)
	w := &workflow{t: t, dir: dir, inputs: map[string]string{"baseline": "a file.folded", "changed": "b;touch injected.folded", "redact": "true", "min-confidence": "0.5"}}
	code, said := w.run()
	if code != 0 || !strings.Contains(w.file("summary"), "`parse`") || !strings.HasPrefix(w.file("ashlar-diff.md"), "<!-- ashlar diff -->") {
		t.Errorf("exit code %d: %s\n%s", code, said, w.file("summary"))
	}
	if asked := w.file("asked"); !strings.Contains(asked, "--method POST repos/owner/name/issues/7/comments") || !strings.Contains(asked, "body=@") {
		t.Errorf("it asked for %s", asked)
	}
	w.inputs["fail-if"] = "total>90%\nself(parse)>10%"
	if code, said = w.run(); code != 3 || !strings.Contains(said, "::error::") {
		t.Errorf("exit code %d: %s", code, said)
	}
	if asked := w.file("asked"); !strings.Contains(asked, "--method PATCH repos/owner/name/issues/comments/42") || strings.Count(asked, "POST") != 1 {
		t.Errorf("it asked for %s", asked)
	}
	write("me", "person", 0o644) // the owner of the token
	if _, said = w.run(); strings.Count(w.file("asked"), "--method PATCH repos/owner/name/issues/comments/42") != 2 || strings.Contains(w.file("asked"), "comments/66") {
		t.Errorf("with a person's token it asked for %s: %s", w.file("asked"), said)
	}
	w.inputs["changed"] = "none.folded"
	if code, said = w.run(); code != 1 || !strings.Contains(said, "none.folded") {
		t.Errorf("exit code %d: %s", code, said)
	}
	w.inputs["program"] = "no-such-program"
	if code, said = w.run(); code != 1 || !strings.Contains(said, "::error::no-such-program") {
		t.Errorf("exit code %d: %s", code, said)
	}
	if _, err := os.Stat(filepath.Join(dir, "injected")); err == nil {
		t.Error("a name was run")
	}
}
