//go:build unix

package mcp

import (
	"os"

	"golang.org/x/sys/unix"
)

// unread reports whether f is a pipe or socket whose reader is gone.
func unread(f *os.File) bool {
	if f == nil {
		return false
	}
	fds := []unix.PollFd{{Fd: int32(f.Fd())}}
	n, err := unix.Poll(fds, 0)
	return err == nil && n > 0 && fds[0].Revents&(unix.POLLERR|unix.POLLHUP) != 0
}
