package instance

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/windows"
)

const noFollow = 0

// folder returns a folder in the user's local application data, which others cannot
// enter.
func folder() (string, error) {
	base, err := os.UserCacheDir() // %LocalAppData%
	if err != nil {
		return "", err
	}
	dir := filepath.Join(base, "Ashlar", "run")
	return dir, os.MkdirAll(dir, 0o700)
}

func mine(fs.FileInfo) bool { return true }

// isSocket reports whether a file may be a socket: anything but a folder. Sockets on
// Windows are reparse points, for which Go reports various modes.
func isSocket(i fs.FileInfo) bool { return !i.IsDir() }

func isRefused(err error) bool { return errors.Is(err, windows.WSAECONNREFUSED) }

func address(path string) (short string, done func(), err error) { return path, func() {}, nil }
