package store

import (
	"os"

	"golang.org/x/sys/windows"
)

// lock waits until nobody else holds the lock of a file. The system lets go of
// it when the program stops, however it does.
func lock(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK, 0, 1, 0, new(windows.Overlapped)); err != nil {
		f.Close()
		return nil, err
	}
	return func() { f.Close() }, nil
}
