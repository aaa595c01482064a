//go:build !linux && !darwin && !freebsd

package cache

import (
	"io/fs"
	"time"
)

// placeOf says nothing more than the file's path does.
func placeOf(info fs.FileInfo) (place string, changed time.Time) { return "", info.ModTime() }

// diskSpace is not known.
func diskSpace(string) (free, total int64, known bool) { return 0, 0, false }
