package command

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// completion returns the script that completes command lines in a shell.
func completion(t *testing.T, shell string) string {
	t.Helper()
	r := run("completion", shell)
	if r.code != Done {
		t.Fatalf("completion %s: exit code %d", shell, r.code)
	}
	return r.stdout
}

// TestCompletionInBash checks completions in bash.
func TestCompletionInBash(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("there is no bash: ", err)
	}
	text, dir := completion(t, "bash"), t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "recording.folded"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for words, want := range map[string]string{
		"ashlar to": "top", "ashlar top --met": "--metric", "ashlar diff --fail": "--fail-if", "ashlar check-c": "check-claims", "ashlar --dem": "--demo",
		"ashlar render x --vie": "--view", "ashlar top rec": "recording.folded", "ashlar top --nothing": "",
	} {
		fields := strings.Fields(words)
		cmd := exec.Command("bash", "--norc", "-c", text+"\nCOMP_WORDS=("+words+")\nCOMP_CWORD="+string(rune('0'+len(fields)-1))+"\n_ashlar\necho ${COMPREPLY[@]}")
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if got := strings.TrimSpace(string(out)); err != nil || got != want {
			t.Errorf("%s: %q, want %q (%v)", words, got, want, err)
		}
	}
}

// TestOtherCompletions checks that the scripts for zsh and fish contain top's flags and, if these shells
// are installed, that they have no syntax errors.
func TestOtherCompletions(t *testing.T) {
	for shell, flag := range map[string]string{"zsh": "--metric=[", "fish": "-l metric"} {
		text := completion(t, shell)
		if !strings.Contains(text, flag) || !strings.Contains(text, "check-claims") {
			t.Errorf("%s: %q is not in it", shell, flag)
		}
		if path, err := exec.LookPath(shell); err == nil {
			cmd := exec.Command(path, "-n")
			cmd.Stdin = strings.NewReader(text)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%s: %v\n%s", shell, err, out)
			}
		}
	}
	if r := run("completion", "csh"); r.code != Usage {
		t.Errorf("an unknown shell gives %d", r.code)
	}
}
