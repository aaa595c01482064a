//go:build solaris || illumos || aix

package store

import (
	"os"

	"golang.org/x/sys/unix"
)

func flock(*os.File) error { return unix.ENOTSUP }
