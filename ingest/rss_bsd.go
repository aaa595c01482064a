//go:build unix && !linux && !aix && !solaris

package ingest

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// peakRSS uses getrusage, which returns bytes on macOS and kilobytes elsewhere.
func peakRSS() int64 {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	n := int64(u.Maxrss)
	if runtime.GOOS != "darwin" && runtime.GOOS != "ios" {
		n <<= 10
	}
	return n
}
