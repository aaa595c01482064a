//go:build unix

package cache

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"ashlar/ingest/format/decode"
)

// TestStrangeEntries checks that a pipe, device or folder in place of an entry is not opened,
// and neither is a pipe in place of the recording.
func TestStrangeEntries(t *testing.T) {
	dir := t.TempDir()
	path, c := aFile(t, dir, 1), in(filepath.Join(dir, "cache"))
	first, _ := read(t, c, path)
	all, err := c.List()
	if err != nil || len(all) != 1 {
		t.Fatal(all, err)
	}
	name := all[0].name
	for what, put := range map[string]func() error{
		"a named pipe": func() error { return syscall.Mkfifo(name, 0o600) },
		"a device":     func() error { return os.Symlink("/dev/zero", name) },
		"a folder":     func() error { return os.MkdirAll(filepath.Join(name, "full"), 0o700) },
	} {
		if err := os.RemoveAll(name); err != nil {
			t.Fatal(err)
		}
		if err := put(); err != nil {
			t.Fatal(err)
		}
		rec, was := read(t, c, path)
		if was || rec.Counts != first.Counts {
			t.Errorf("%s is opened: %+v", what, rec.Counts)
		}
		then := "was deleted"
		if what == "a folder" {
			then = "cannot be deleted: " + name
		}
		if last := rec.Warnings[len(rec.Warnings)-1]; !strings.Contains(last.Text, then) {
			t.Errorf("%s: it says %q", what, last.Text)
		}
	}
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if rec, keep, remark := c.Look(pipe, decode.Options{}); rec != nil || keep != nil || remark != "" {
		t.Errorf("a named pipe is looked up: %v, %q", rec, remark)
	}
}
