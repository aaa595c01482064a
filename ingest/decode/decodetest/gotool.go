package decodetest

import (
	"os/exec"
	"strings"
	"sync"
	"testing"
)

var goTools struct {
	sync.Mutex
	paths map[string]string
}

// GoTool is the program that `go tool NAME` runs. The go command looks for it at each
// start, and most tools are done before it has found them: tests start them themselves.
func GoTool(t testing.TB, name string) string {
	t.Helper()
	goTools.Lock()
	defer goTools.Unlock()
	if path := goTools.paths[name]; path != "" {
		return path
	}
	out, err := exec.Command("go", "tool", "-n", name).Output()
	if err != nil {
		t.Fatalf("go tool -n %s: %v", name, err)
	}
	if goTools.paths == nil {
		goTools.paths = map[string]string{}
	}
	goTools.paths[name] = strings.TrimSpace(string(out))
	return goTools.paths[name]
}
