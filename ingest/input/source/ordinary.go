package source

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// Ordinary returns the path, without links, of a file that a recording names as a source
// file or a program. Such a name is untrusted, so a file that is not regular is an error.
// So is a file in /proc, /sys or /dev, where even files that look regular may block,
// never end or hold secrets. On Windows, files on another machine are errors too, because
// even a look would send the user's name and password hash there. Ordinary opens nothing.
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
			return "", errSystem
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

var (
	errNotRegular = errors.New("is not a regular file")
	errSystem     = errors.New("is a system file; files in /dev, /proc and /sys are not opened here")
)

// remote reports whether Windows would look for a path on another machine or a device:
// \\host\share, //host/share, \\.\pipe\x, \\?\UNC\host.
func remote(path string) bool {
	return len(path) > 1 && strings.ContainsRune(`\/`, rune(path[0])) && strings.ContainsRune(`\/`, rune(path[1]))
}
