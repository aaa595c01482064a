package store

import (
	"errors"

	"golang.org/x/sys/unix"
)

const arenas = true

// extend makes the file larger and maps the new part. It allocates the disk blocks now,
// because on a full disk the first write to the mapping would otherwise end the program.
func (e *extents) extend() ([]byte, error) {
	fd := int(e.f.Fd())
	var s unix.Statfs_t
	if err := unix.Fstatfs(fd, &s); err != nil {
		return nil, err
	}
	if int64(s.Bavail)*int64(s.Bsize) < leastFree+extentLen {
		return nil, errors.New("the disk is full")
	}
	if err := unix.Fallocate(fd, 0, e.size, extentLen); err != nil {
		return nil, err
	}
	x, err := unix.Mmap(fd, e.size, extentLen, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, err
	}
	// Columns take turns in the file, so reading ahead, on some disks by megabytes, would fill
	// memory with others.
	_ = unix.Madvise(x, unix.MADV_RANDOM)
	// Start writing the previous extent to disk, so that its memory can be reclaimed.
	if n := len(e.all); n > 0 {
		_ = unix.SyncFileRange(fd, e.size-extentLen, extentLen, unix.SYNC_FILE_RANGE_WRITE)
	}
	e.all, e.size = append(e.all, x), e.size+extentLen
	return x, nil
}
