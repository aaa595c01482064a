//go:build unix

package mcp

import (
	"os"

	"golang.org/x/sys/unix"
)

// detects reports whether unread works for f. Regular files need no reader.
func detects(f *os.File) bool { return f != nil }

// unread reports whether f is a pipe or socket whose reader is gone.
func unread(f *os.File) bool {
	if f == nil {
		return false
	}
	c, err := f.SyscallConn()
	if err != nil {
		return false
	}
	gone := false
	err = c.Control(func(fd uintptr) { // unlike f.Fd, this may run while f is being closed
		fds := []unix.PollFd{{Fd: int32(fd)}}
		n, err := unix.Poll(fds, 0)
		gone = err == nil && n > 0 && fds[0].Revents&(unix.POLLERR|unix.POLLHUP) != 0
	})
	return err == nil && gone
}
