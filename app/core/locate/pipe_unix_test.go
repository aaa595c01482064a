//go:build unix

package locate

import (
	"path/filepath"
	"reflect"
	"syscall"
	"testing"

	"ashlar/app/core/view"
)

// TestPipes checks that named pipes in a folder or in an address's path are not opened,
// because that would block.
func TestPipes(t *testing.T) {
	dir := t.TempDir()
	at := put(t, dir, map[string]string{"run.folded": "main;f 3\n"})["run.folded"]
	pipe := filepath.Join(dir, "pipe.folded")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	files, skipped, err := Runs([]string{dir})
	if err != nil || !reflect.DeepEqual(files, []string{at}) || !reflect.DeepEqual(skipped, []string{pipe}) {
		t.Errorf("the folder has %q, without %q, %v", files, skipped, err)
	}
	v := addressed(t, at)
	v.Files[0] = filepath.Join(pipe, "gone.folded")
	if _, err := Files(v, "", []string{filepath.Join(pipe, "other.folded")}); err == nil {
		t.Errorf("found %q", v.Files)
	}
	v = &view.State{Files: []string{pipe}}
	if _, err := Files(v, "", nil); err != nil || v.Files[0] != pipe {
		t.Errorf("a pipe as the file itself: %q, %v", v.Files, err)
	}
}
