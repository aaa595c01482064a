package group

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// New creates a control group below this process's own, with a memory limit in bytes, for the
// length of the test. It skips the test where that is not possible. See cgroups(7).
func New(t *testing.T, bytes int) (folder string) {
	t.Helper()
	own, _ := os.ReadFile("/proc/self/cgroup")
	var errs []error
	for line := range strings.Lines(string(own)) {
		f := strings.SplitN(strings.TrimSpace(line), ":", 3)
		at, limit := "/sys/fs/cgroup/memory", "memory.limit_in_bytes"
		switch {
		case len(f) < 3 || f[1] != "" && f[1] != "memory":
			continue
		case f[1] == "":
			at, limit = "/sys/fs/cgroup", "memory.max"
		}
		folder = filepath.Join(at, f[2], fmt.Sprint("ashlar-test-", os.Getpid(), "-", bytes))
		err := os.Mkdir(folder, 0o755)
		if err == nil {
			t.Cleanup(func() { os.Remove(folder) })
			if err = os.WriteFile(filepath.Join(folder, limit), fmt.Append(nil, bytes), 0); err == nil {
				return folder
			}
		}
		errs = append(errs, err)
	}
	t.Skip("SKIPPED: no control group with a limit can be made here: ", errs)
	return ""
}

// Join moves this process into a control group.
func Join(folder string) error {
	return os.WriteFile(filepath.Join(folder, "cgroup.procs"), fmt.Append(nil, os.Getpid()), 0)
}
