package decodetest

import (
	"os/exec"
	"strings"
	"testing"
)

// GoRoot is the folder of the Go that tests run with. What a test was built with has lost
// it where paths were taken out (-trimpath).
func GoRoot(t testing.TB) string {
	t.Helper()
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}
