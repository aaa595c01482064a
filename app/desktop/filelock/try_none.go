//go:build !windows && !(unix && !solaris && !illumos && !aix)

package filelock

import (
	"errors"
	"os"
)

// Try always fails: this system has no file locks.
func Try(*os.File) (held bool, err error) { return false, errors.ErrUnsupported }
