package ingest

import (
	"os"
	"strconv"
	"strings"
)

// available is how much memory the system, or the group of processes that this
// one is in, can give without swapping.
func available() (int64, bool) {
	n, known := meminfo()
	most, ok := number("/sys/fs/cgroup/memory.max")
	used, ok2 := number("/sys/fs/cgroup/memory.current")
	if ok && ok2 {
		// What is kept of files can be given up.
		if left := most - used + cached(); !known || left < n {
			n, known = left, true
		}
	}
	return n, known
}

func meminfo() (int64, bool) {
	b, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0, false
	}
	_, after, ok := strings.Cut(string(b), "MemAvailable:")
	if !ok {
		return 0, false
	}
	after, _, _ = strings.Cut(after, "kB")
	kb, err := strconv.ParseInt(strings.TrimSpace(after), 10, 64)
	return kb << 10, err == nil
}

// number reads a file that holds one number.
func number(path string) (int64, bool) {
	b, err := os.ReadFile(path)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64)
	return n, err == nil
}

// cached is what the group's memory holds of files.
func cached() int64 {
	b, err := os.ReadFile("/sys/fs/cgroup/memory.stat")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, "file "); ok {
			n, _ := strconv.ParseInt(strings.TrimSpace(rest), 10, 64)
			return n
		}
	}
	return 0
}
