package command

import (
	"strings"
	"testing"
)

// TestFirstBadPair checks that of several malformed pairs always the same one is named.
func TestFirstBadPair(t *testing.T) {
	path := written(t, "a.folded", "main;work 5\n")
	for range 20 {
		if r := run("diff", path, path, "--pair", "x", "--no-pair", "y"); !strings.Contains(r.stderr, `--pair "x"`) {
			t.Fatal(r.stderr)
		}
	}
}
