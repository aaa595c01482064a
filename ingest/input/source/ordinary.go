package source

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// Ordinary is where the file is that a recording names as a source or a
// program: its path without links. Such a name is untrusted, so what is no
// regular file is an error, as is what only looks like one (below /proc, /sys
// and /dev, where reading may wait for good, never end or tell secrets), and on
// Windows what is on another machine, to which even a look would send the
// person's name and the hash of their password. Nothing is opened.
func Ordinary(path string) (real string, err error) {
	if runtime.GOOS == "windows" && remote(path) {
		return "", fmt.Errorf("%s is on another machine; files named by recordings are not opened there", path)
	}
	if real, err = filepath.EvalSymlinks(path); err == nil {
		real, err = filepath.Abs(real)
	}
	if err != nil {
		return "", err
	}
	for _, of := range []string{"/proc/", "/sys/", "/dev/"} {
		if runtime.GOOS != "windows" && strings.HasPrefix(real, of) {
			return "", fmt.Errorf("%s is a system file, not a source file", path)
		}
	}
	info, err := os.Stat(real)
	switch {
	case err != nil:
		return "", err
	case !info.Mode().IsRegular():
		return "", errNotRegular
	}
	return real, nil
}

var errNotRegular = errors.New("is not a regular file")

// remote reports whether Windows would take a path to another machine, or to a
// device: \\host\share, //host/share, \\.\pipe\x, \\?\UNC\host.
func remote(path string) bool {
	return len(path) > 1 && strings.ContainsRune(`\/`, rune(path[0])) && strings.ContainsRune(`\/`, rune(path[1]))
}
