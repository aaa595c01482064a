// Package install registers Ashlar with the desktop and removes it again, for the current
// user (User) or for a whole system (Prefix). It does no more than a package manager
// does: Remove undoes every file and setting.
package install

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Line reports one thing that was done or checked.
type Line struct {
	// OK is false if something is missing or wrong.
	OK   bool
	Text string
}

func ok(format string, args ...any) Line    { return Line{true, fmt.Sprintf(format, args...)} }
func lacks(format string, args ...any) Line { return Line{false, fmt.Sprintf(format, args...)} }

// Program returns the path of the running program, for the desktop to start. It fails for
// a temporary program (go run).
func Program() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("the program's own file cannot be found: %w", err)
	}
	if strings.Contains(filepath.ToSlash(path), "/go-build") {
		return "", errors.New(path + " is a temporary file; run make build first and install the built program")
	}
	return path, nil
}
