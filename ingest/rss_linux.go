package ingest

import (
	"os"
	"strconv"
	"strings"
)

// peakRSS reads the process's high-water mark. getrusage could return the maximum of the
// program that started this one, if that is larger.
func peakRSS() int64 {
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, after, ok := strings.Cut(string(b), "VmHWM:")
	if !ok {
		return 0
	}
	fields := strings.Fields(after)
	if len(fields) == 0 {
		return 0
	}
	kb, err := strconv.ParseInt(fields[0], 10, 64)
	if err != nil {
		return 0
	}
	return kb << 10
}
