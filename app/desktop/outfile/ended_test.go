//go:build unix

package outfile

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// childFile is the environment variable that makes the test binary run as [child].
const childFile = "ASHLAR_OUTFILE_TEST"

func TestMain(m *testing.M) {
	if path := os.Getenv(childFile); path != "" {
		child(path)
	}
	os.Exit(m.Run())
}

// child writes half a file, reports it, and waits to be ended.
func child(path string) {
	f, err := Create(path, replace)
	if err == nil {
		_, err = f.WriteString("half")
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("half")
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(1)
}

// half starts a child and waits until it has written half a file.
func half(t *testing.T, path string) (cmd *exec.Cmd, said *bytes.Buffer) {
	t.Helper()
	cmd, said = exec.Command(os.Args[0]), new(bytes.Buffer)
	cmd.Env, cmd.Stderr = append(os.Environ(), childFile+"="+path), said
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "half\n" {
		t.Fatalf("the program says %q (%v)", line, err)
	}
	return cmd, said
}

// TestSignals checks that a signal that ends the program leaves the old file in place and
// prints a message.
func TestSignals(t *testing.T) {
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		dir := t.TempDir()
		path := filepath.Join(dir, "out.spaa")
		if err := os.WriteFile(path, []byte("before"), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd, said := half(t, path)
		if err := cmd.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		if code := cmd.ProcessState.ExitCode(); code != 1 || !strings.Contains(said.String(), "out.spaa: interrupted, not written") {
			t.Errorf("%v: exit code %d, %q", sig, code, said)
		}
		if names(t, dir) != "out.spaa" || content(t, path) != "before" {
			t.Errorf("%v leaves %s, with %q", sig, names(t, dir), content(t, path))
		}
	}
}

// TestSweep checks that the next program removes the unfinished file of a killed one, but
// neither files being written by others nor files with similar names.
func TestSweep(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a [folder]*")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	killed, _ := half(t, filepath.Join(dir, "killed.spaa"))
	if err := killed.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = killed.Wait()
	if left := names(t, dir); !strings.HasSuffix(left, "-killed.spaa.tmp") {
		t.Fatalf("killed, it leaves %q", left)
	}
	running, _ := half(t, filepath.Join(dir, "running.spaa"))
	for _, name := range []string{".ashlar-mine.tmp", "notes.tmp"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := Write(filepath.Join(dir, "next.txt"), Options{}, func(io.Writer) error { return nil }); err != nil {
		t.Fatal(err)
	}
	left := names(t, dir)
	if strings.Contains(left, "killed") || !strings.Contains(left, "-running.spaa.tmp") || !strings.Contains(left, ".ashlar-mine.tmp") || !strings.Contains(left, "notes.tmp") {
		t.Errorf("there is %s", left)
	}
	_ = running.Process.Kill()
}

// small is the environment variable with a folder on a disk of 64 KB, mounted for the test's
// child process only.
const small = "ASHLAR_OUTFILE_SMALL"

// TestFullDisk checks that a full disk leaves the old file in place.
func TestFullDisk(t *testing.T) {
	if dir := os.Getenv(small); dir != "" {
		onSmallDisk(t, dir)
		return
	}
	cmd := exec.Command("unshare", "--user", "--map-root-user", "--mount", "sh", "-c",
		`mount -t tmpfs -o size=64k none "$1" && exec "$0" -test.run '^TestFullDisk$' -test.v`, os.Args[0], t.TempDir())
	cmd.Env = append(os.Environ(), small+"="+cmd.Args[len(cmd.Args)-1])
	out, err := cmd.CombinedOutput()
	switch {
	case bytes.Contains(out, []byte("--- PASS: TestFullDisk")):
	case bytes.Contains(out, []byte("--- FAIL")):
		t.Fatalf("%s", out)
	default:
		t.Skipf("no disk can be mounted here, so a full one was not tried: %v: %s", err, out)
	}
}

func onSmallDisk(t *testing.T, dir string) {
	path := filepath.Join(dir, "out.json")
	if err := os.WriteFile(path, []byte("before"), 0o600); err != nil {
		t.Fatal(err)
	}
	err := Write(path, replace, func(w io.Writer) error {
		for range 100 {
			if _, err := w.Write(make([]byte, 4096)); err != nil {
				return err
			}
		}
		return nil
	})
	if !errors.Is(err, syscall.ENOSPC) || !strings.HasPrefix(err.Error(), path+" cannot be written (no space left on device). Make room on that disk, or write to another one") {
		t.Errorf("on a full disk: %v", err)
	}
	if names(t, dir) != "out.json" || content(t, path) != "before" {
		t.Errorf("a full disk leaves %s, with %q", names(t, dir), content(t, path))
	}
}
