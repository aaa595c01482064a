package encode

import "strings"

// NamesThread reports whether a label or attribute has a thread's id or name, by its key.
// Recordings get a track from it, whose other properties may be made up.
func NamesThread(key string) bool {
	switch strings.NewReplacer(" ", "_", "-", "_", ".", "_").Replace(strings.ToLower(strings.TrimPrefix(key, "x_pprof_"))) {
	case "tid", "thread_id", "os_thread_id", "thread", "thread_name":
		return true
	}
	return false
}
