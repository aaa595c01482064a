//go:build unix && !solaris && !illumos && !aix

package filelock

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Try locks an open file unless another program holds its lock.
func Try(f *os.File) (held bool, err error) {
	switch err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); {
	case errors.Is(err, unix.EWOULDBLOCK) || errors.Is(err, unix.EINTR):
		return false, nil
	case errors.Is(err, unix.ENOLCK):
		return false, fmt.Errorf("%w: %w", errors.ErrUnsupported, err)
	default:
		return err == nil, err
	}
}
