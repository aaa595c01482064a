//go:build unix

package store

import (
	"os"

	"golang.org/x/sys/unix"
)

func mapFile(f *os.File, size int64) ([]byte, error) {
	if size <= 0 || size != int64(int(size)) {
		return nil, errCut
	}
	data, err := unix.Mmap(int(f.Fd()), 0, int(size), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return inMemory(f, size)
	}
	return data, nil
}

// unmap unmaps a file. For data that was read into memory it fails, and the garbage
// collector frees the data.
func unmap(data []byte) { _ = unix.Munmap(data) }
