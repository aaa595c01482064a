//go:build unix

package command

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestNoPermission reads a file without read permission. Permissions do not stop root, so root
// runs the command as another user, in a separate process.
func TestNoPermission(t *testing.T) {
	dir := openDir(t)
	path := filepath.Join(dir, "secret.spaa")
	if err := os.WriteFile(path, []byte("{}"), 0o000); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrPermission) {
		r := run("info", path)
		r.sentence(t, Problem, path, "permission denied; make it readable")
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	f.Close()

	const nobody = 65534
	cmd := exec.Command(copyOfTest(t, dir))
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), helperArgs+"=info\n"+path)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody, NoSetGroups: true}}
	var r ran
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("the other user's process did not start: %v", err)
	}
	r.code, r.stdout, r.stderr = cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()
	r.sentence(t, Problem, path, "permission denied; make it readable")
}

// openDir returns a temporary folder that all users may enter.
func openDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for d := dir; strings.HasPrefix(d, os.TempDir()) && d != os.TempDir(); d = filepath.Dir(d) {
		if err := os.Chmod(d, 0o755); err != nil {
			break // not ours
		}
	}
	return dir
}

// copyOfTest copies the test binary to a place where another user can run it.
func copyOfTest(t *testing.T, dir string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	in, err := os.Open(self)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	path := filepath.Join(dir, "cli.test")
	out, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.Copy(out, in)
	if err := errors.Join(err, out.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}
