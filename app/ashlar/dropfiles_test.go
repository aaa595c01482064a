//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// strangeName has every kind of character that file lists must encode.
const strangeName = "ein Lauf ü 日本 100% #1?\n zweite Zeile.spaa"

// recordings writes n recordings and returns their paths; the first has the
// strange name.
func recordings(t *testing.T, n int) []string {
	t.Helper()
	dir := t.TempDir()
	paths := make([]string, n)
	for i := range paths {
		name := fmt.Sprintf("run %d.spaa", i+1)
		if i == 0 {
			name = strangeName
		}
		paths[i] = filepath.Join(dir, name)
		if err := os.WriteFile(paths[i], []byte(tiny), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return paths
}

// compares returns the condition that files a and b are compared and have been read.
func compares(a, b string) func(frame) bool {
	return func(f frame) bool {
		return f.Compare != nil && f.Drop == nil &&
			f.Compare.Sides[0].File == filepath.Base(a) && f.Compare.Sides[0].Done && f.Compare.Sides[1].File == filepath.Base(b) && f.Compare.Sides[1].Done
	}
}
