//go:build unix

package settings

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"ashlar/app/core/view"
	"ashlar/testdata/rounds"
)

// TestStrangeFiles puts pipes, folders, devices, links and huge files in place of the settings
// and marks. Reading them must end, and changes must not touch them.
func TestStrangeFiles(t *testing.T) {
	rounds.Unraced(t)
	for what, put := range map[string]func(path string) error{
		"a named pipe":      func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"a folder":          func(path string) error { return os.Mkdir(path, 0o700) },
		"an endless device": func(path string) error { return os.Symlink("/dev/zero", path) },
		"a link to itself":  func(path string) error { return os.Symlink(path, path) },
		"3 GB of zeros": func(path string) error {
			f, err := os.Create(path)
			if err != nil {
				return err
			}
			defer f.Close()
			return f.Truncate(3 << 30)
		},
	} {
		dir := t.TempDir()
		s := In(dir, dir)
		if err := os.Mkdir(filepath.Join(dir, "marks"), 0o700); err != nil {
			t.Fatal(err)
		}
		marks := filepath.Join(dir, "marks", key+".json")
		for _, path := range []string{filepath.Join(dir, "settings.json"), marks} {
			if err := put(path); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := s.Settings(); err == nil {
			t.Errorf("%s is read as settings", what)
		}
		was, err := os.Lstat(marks)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.ChangeMarks(key, "", func(m []view.Mark) []view.Mark { return m }); err == nil {
			t.Errorf("%s is changed as marks", what)
		}
		if now, err := os.Lstat(marks); err != nil || !os.SameFile(was, now) || now.Size() != was.Size() {
			t.Errorf("%s was replaced: %v", what, err)
		}
	}
}
