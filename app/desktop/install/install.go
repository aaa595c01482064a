// Package install registers Ashlar with the desktop and removes it again, for the current
// user (User) or for a whole system (Prefix). It does what a package manager does and no
// more: Remove undoes every file and setting.
package install

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Line tells of one thing that was done or looked at.
type Line struct {
	// OK is false if something is missing or not as it should be.
	OK   bool
	Text string
}

func ok(format string, args ...any) Line    { return Line{true, fmt.Sprintf(format, args...)} }
func lacks(format string, args ...any) Line { return Line{false, fmt.Sprintf(format, args...)} }

// Program is the path of the running program, as the desktop should start it.
// A program that is about to vanish (go run) is an error.
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
