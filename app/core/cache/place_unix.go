//go:build linux || darwin || freebsd

package cache

import (
	"fmt"
	"io/fs"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// placeOf identifies a file and returns the time of the last change to it, its name or
// its mode. Programs cannot set that time.
func placeOf(info fs.FileInfo) (place string, changed time.Time) {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return "", info.ModTime()
	}
	changed = changedAt(s)
	return fmt.Sprint(s.Dev, " ", s.Ino, " ", changed.UnixNano()), changed
}

func diskSpace(dir string) (free, total int64, known bool) {
	var s unix.Statfs_t
	if unix.Statfs(dir, &s) != nil {
		return 0, 0, false
	}
	return int64(s.Bavail) * int64(s.Bsize), int64(s.Blocks) * int64(s.Bsize), true
}
