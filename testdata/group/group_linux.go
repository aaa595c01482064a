package group

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// New is like [Make], for the length of the test. It skips the test where that is not possible.
func New(t *testing.T, bytes int) (folder string) {
	t.Helper()
	folder, err := Make(int64(bytes))
	if err != nil {
		t.Skip("SKIPPED: ", err)
	}
	t.Cleanup(func() { os.Remove(folder) })
	return folder
}

// Make creates a control group below this process's own, with a memory limit in bytes. The
// caller removes its folder. See cgroups(7).
func Make(bytes int64) (folder string, err error) {
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return "", err
	}
	failed := errors.New("no control group with a limit of memory can be made here")
	for line := range strings.Lines(string(own)) {
		f := strings.SplitN(strings.TrimSpace(line), ":", 3)
		at, limit := "/sys/fs/cgroup/memory", "memory.limit_in_bytes"
		switch {
		case len(f) < 3 || f[1] != "" && f[1] != "memory":
			continue
		case f[1] == "":
			at, limit = "/sys/fs/cgroup", "memory.max"
		}
		folder := filepath.Join(at, f[2], fmt.Sprint("ashlar-", os.Getpid(), "-", bytes))
		err := os.Mkdir(folder, 0o755)
		if err == nil {
			if err = os.WriteFile(filepath.Join(folder, limit), fmt.Append(nil, bytes), 0); err == nil {
				return folder, nil
			}
			os.Remove(folder)
		}
		failed = errors.Join(failed, err)
	}
	return "", failed
}

// Join moves this process into a control group.
func Join(folder string) error {
	return os.WriteFile(filepath.Join(folder, "cgroup.procs"), fmt.Append(nil, os.Getpid()), 0)
}
