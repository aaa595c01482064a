package decodetest

import (
	"os/exec"
	"strings"
	"testing"
)

// GoRoot returns the root of the Go installation that the tests run with. runtime.GOROOT
// does not know it in tests built with -trimpath.
func GoRoot(t testing.TB) string {
	t.Helper()
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}
