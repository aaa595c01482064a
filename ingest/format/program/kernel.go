package program

import (
	"path"
	"strings"

	"ashlar/ingest/model/recording"
)

// IsKernel reports whether a binary is the kernel or a kernel module, judging by the
// names that perf, DTrace and similar tools use.
func IsKernel(name string) bool {
	if strings.HasPrefix(name, "[kernel") || strings.HasPrefix(name, "[guest.kernel") {
		return true
	}
	base := path.Base(name)
	if base == "mach_kernel" || strings.HasPrefix(base, "vmlinux") || strings.HasPrefix(base, "bpf_prog_") {
		return true
	}
	for _, ext := range []string{".gz", ".xz", ".zst"} {
		base = strings.TrimSuffix(base, ext)
	}
	return strings.HasSuffix(base, ".ko")
}

// KindOf returns the kind of code in a binary, judging by the binary's name.
func KindOf(name string) recording.Kind {
	switch {
	case name == "":
		return recording.KindUnknown
	case IsKernel(name):
		return recording.KindKernel
	}
	return recording.KindUser
}
