//go:build linux || darwin

package outfile

import "golang.org/x/sys/unix"

// free returns the bytes that the user may still write to the disk with the given folder,
// -1 if that is unknown.
func free(dir string) int64 {
	var s unix.Statfs_t
	if unix.Statfs(dir, &s) != nil {
		return -1
	}
	return int64(s.Bavail) * int64(s.Bsize)
}
