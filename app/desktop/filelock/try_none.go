//go:build !windows && !(unix && !solaris && !illumos && !aix)

package filelock

import (
	"errors"
	"os"
)

// Try fails: there are no locks.
func Try(*os.File) (held bool, err error) { return false, errors.ErrUnsupported }
