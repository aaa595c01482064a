package column

import "golang.org/x/sys/unix"

// advise ignores errors: a kernel may have no large pages.
func advise(addr, size uintptr) {
	_, _, _ = unix.Syscall(unix.SYS_MADVISE, addr, size, unix.MADV_HUGEPAGE)
}
