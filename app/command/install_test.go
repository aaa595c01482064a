//go:build linux

package command

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ashlar/testdata/rounds"
)

func TestInstallMisuse(t *testing.T) {
	for line, want := range map[string]string{
		"install x":                   "takes no arguments",
		"uninstall x":                 "takes no arguments",
		"install --destdir /d":        "--destdir needs --prefix",
		"install --check --prefix /p": "leave out --prefix",
	} {
		r := run(strings.Fields(line)...)
		r.sentence(t, Usage, want)
	}
	// The test binary is temporary and must not be installed.
	t.Setenv("HOME", t.TempDir())
	r := run("install")
	r.sentence(t, Problem, "is a temporary file", "make build")
}

// TestInstallCommand installs a copy of this binary from a permanent folder.
func TestInstallCommand(t *testing.T) {
	rounds.Unraced(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	program := filepath.Join(home, "ashlar")
	if err := os.WriteFile(program, b, 0o755); err != nil {
		t.Fatal(err)
	}
	do := func(args ...string) (int, string) {
		t.Helper()
		cmd := exec.Command(program)
		cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "XDG_DATA_DIRS=" + home, helperArgs + "=" + strings.Join(args, "\n")}
		out, err := cmd.CombinedOutput()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		return cmd.ProcessState.ExitCode(), string(out)
	}
	if code, out := do("install", "--check"); code != Problem || !strings.Contains(out, "-- nothing is installed in "+home) {
		t.Errorf("before installing, the check exits with %d: %s", code, out)
	}
	if code, out := do("install"); code != Done || !strings.Contains(out, "files in "+home) {
		t.Errorf("installing exits with %d: %s", code, out)
	}
	entry, err := os.ReadFile(filepath.Join(home, ".local/share/applications/dev.ashlar.Ashlar.desktop"))
	if err != nil || !strings.Contains(string(entry), "Exec="+program+" --from-desktop -- %F\n") {
		t.Errorf("the desktop entry is %q (%v)", entry, err)
	}
	if code, out := do("install", "--check"); code != Done || strings.Contains(out, "-- ") {
		t.Errorf("after installing, the check exits with %d: %s", code, out)
	}
	if code, out := do("uninstall"); code != Done {
		t.Errorf("uninstalling exits with %d: %s", code, out)
	}
	left, err := os.ReadDir(home)
	if err != nil || len(left) != 1 {
		t.Errorf("uninstalling leaves %v (%v)", left, err)
	}
}
