//go:build unix

package instance

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFolderThatCannotBeMade checks that the error says what the folder is for, and why it
// cannot be made.
func TestFolderThatCannotBeMade(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "absent")
	_, err := makePrivate(filepath.Join(dir, "ashlar"))
	if err == nil || !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	if want := "the folder " + dir + "/ashlar, where windows and sessions find each other, cannot be made ("; !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "mkdir") {
		t.Errorf("%v", err)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := makePrivate(filepath.Join(dir, "ashlar")); err != nil {
		t.Error(err)
	}
}
