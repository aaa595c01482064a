//go:build unix

package store

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// lock waits until nobody else holds the lock of a file. The system lets go of
// it when the program stops, however it does.
func lock(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		err = flock(f)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	// Some network file systems have no locks: then there is none.
	if err != nil && !errors.Is(err, unix.ENOTSUP) && !errors.Is(err, unix.ENOLCK) && !errors.Is(err, unix.ENOSYS) {
		f.Close()
		return nil, err
	}
	return func() { f.Close() }, nil
}
