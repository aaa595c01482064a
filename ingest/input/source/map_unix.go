//go:build unix

package source

import (
	"io"
	"math"
	"os"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// mapFile maps a file for reading; it returns nil if that fails, as on some file systems.
func mapFile(f *os.File, size int64) *mapping {
	if size > math.MaxInt {
		return nil
	}
	data, err := unix.Mmap(int(f.Fd()), 0, int(size), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil
	}
	// This is only advice to the system: the file is read in order, once.
	_ = unix.Madvise(data, unix.MADV_SEQUENTIAL)
	return newMapping(f, data, unix.Munmap)
}

// keepBehind is how many bytes of a mapped file before the read position stay in memory.
const keepBehind = 32 << 20

// ahead is called before content from..to is read in chunks. It releases pages far before
// from, so that a large file does not count as memory used by this program. The pages are
// loaded again if they are read again.
func (m *mapping) ahead(from, to, _ int64) {
	if to-m.released < 2*keepBehind {
		return
	}
	upTo := (to - keepBehind) &^ (1<<16 - 1)
	m.mu.RLock()
	defer m.mu.RUnlock()
	if m.closed || upTo <= m.released || upTo > from {
		return
	}
	_ = unix.Madvise(m.data[m.released:upTo], unix.MADV_DONTNEED)
	m.released = upTo
}

// random ends reading ahead.
func (m *mapping) random() { _ = unix.Madvise(m.data, unix.MADV_RANDOM) }

// pipe reads a file and can interrupt a Read that waits for input.
type pipe struct {
	f       *os.File
	stopped atomic.Bool
	poll    bool
}

// newPipe returns a pipe that reads f. Files without content that look regular may block
// as pipes do: /proc/kmsg, trace_pipe of tracefs.
func newPipe(f *os.File) *pipe {
	info, err := f.Stat()
	return &pipe{f: f, poll: err == nil && (!info.Mode().IsRegular() || info.Size() == 0)}
}

// waits reports whether a read of a file would wait. Ordinary files never do.
func waits(f *os.File) bool {
	fds := []unix.PollFd{{Fd: int32(f.Fd()), Events: unix.POLLIN}}
	n, err := unix.Poll(fds, 0)
	return n == 0 && err == nil
}

func (p *pipe) Read(b []byte) (int, error) {
	for p.poll {
		if p.stopped.Load() {
			return 0, io.ErrClosedPipe
		}
		fds := []unix.PollFd{{Fd: int32(p.f.Fd()), Events: unix.POLLIN}}
		n, err := unix.Poll(fds, 100)
		if n > 0 {
			break
		}
		if err != nil && err != unix.EINTR {
			p.poll = false
		}
	}
	return p.f.Read(b)
}

func (p *pipe) interrupt() { p.stopped.Store(true) }
