package complete_test

import (
	"bytes"
	"io"
	"os/exec"
	"strings"
	"testing"

	"ashlar/app/command"
	_ "ashlar/app/command/picture" // registers the panels of render
)

func script(t *testing.T, shell string) string {
	t.Helper()
	var out bytes.Buffer
	if code := command.Main([]string{"completion", shell}, nil, &out, io.Discard, command.Runner{}); code != command.Done {
		t.Fatalf("completion %s gives %d", shell, code)
	}
	return out.String()
}

// TestBash checks completions in bash.
func TestBash(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("there is no bash: ", err)
	}
	text := script(t, "bash")
	for words, want := range map[string]string{
		"ashlar to": "top", "ashlar top --met": "--metric", "ashlar diff --fail": "--fail-if", "ashlar check-c": "check-claims", "ashlar --dem": "--demo",
		"ashlar render x --vie": "--view", "ashlar top complete_t": "complete_test.go", "ashlar top --nothing": "",
	} {
		fields := strings.Fields(words)
		cmd := exec.Command("bash", "--norc", "-c", text+"\nCOMP_WORDS=("+words+")\nCOMP_CWORD="+string(rune('0'+len(fields)-1))+"\n_ashlar\necho ${COMPREPLY[@]}")
		out, err := cmd.CombinedOutput()
		if got := strings.TrimSpace(string(out)); err != nil || got != want {
			t.Errorf("%s: %q, want %q (%v)", words, got, want, err)
		}
	}
}

// TestOthers checks that the scripts for zsh and fish contain top's flags and, if these shells
// are installed, that they have no syntax errors.
func TestOthers(t *testing.T) {
	for shell, flag := range map[string]string{"zsh": "--metric=[", "fish": "-l metric"} {
		text := script(t, shell)
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
	if code := command.Main([]string{"completion", "csh"}, nil, io.Discard, io.Discard, command.Runner{}); code != command.Usage {
		t.Errorf("an unknown shell gives %d", code)
	}
}
