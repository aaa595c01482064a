package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestThreadOfSeveral checks that --thread lists the matching threads if a name matches
// several, and only then.
func TestThreadOfSeveral(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.json")
	if err := os.WriteFile(path, []byte(`[{"ph":"M","pid":1,"tid":1,"name":"thread_name","args":{"name":"pool"}},{"ph":"M","pid":1,"tid":2,"name":"thread_name","args":{"name":"pool"}},
{"ph":"M","pid":1,"tid":3,"name":"thread_name","args":{"name":"main"}},{"ph":"X","pid":1,"tid":1,"ts":1,"dur":2,"name":"a"},{"ph":"X","pid":1,"tid":2,"ts":1,"dur":2,"name":"a"},{"ph":"X","pid":1,"tid":3,"ts":1,"dur":2,"name":"a"}]`), 0o644); err != nil {
		t.Fatal(err)
	}
	for thread, said := range map[string]string{"pool": "--thread pool: ambiguous, 2 threads match: pool 1, pool 2", "nosuch": "--thread nosuch: no thread with this id or name; ashlar top FILE --by thread lists threads", "main": "", "2": ""} {
		code := Done
		if thread == "nosuch" {
			code = Usage
		}
		if r := run("top", path, "--thread", thread); r.code != code || (r.stdout == "") != (code != Done) || !strings.Contains(r.stderr, said) || said == "" && r.stderr != "" {
			t.Errorf("--thread %s: exit %d, %q is said, want %q", thread, r.code, r.stderr, said)
		}
	}
}
