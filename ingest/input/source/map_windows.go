//go:build windows

package source

import (
	"io"
	"math"
	"os"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// copiedTo is the size in bytes up to which files are copied into memory instead of mapped:
// Windows lets nobody overwrite or remove a file that is mapped.
const copiedTo = 512 << 20

// mapFile maps a file for reading, or copies it into memory; it returns nil if that fails.
func mapFile(f *os.File, size int64) *mapping {
	if size > math.MaxInt {
		return nil
	}
	if size <= copiedTo {
		if m := copyFile(f, int(size)); m != nil {
			return m
		}
	}
	h, err := windows.CreateFileMapping(windows.Handle(f.Fd()), nil, windows.PAGE_READONLY, 0, 0, nil)
	if err != nil {
		return nil
	}
	addr, err := windows.MapViewOfFile(h, windows.FILE_MAP_READ, 0, 0, uintptr(size))
	windows.CloseHandle(h) // the view keeps the mapping
	if err != nil {
		return nil
	}
	data := unsafe.Slice((*byte)(*(*unsafe.Pointer)(unsafe.Pointer(&addr))), int(size))
	return newMapping(f, data, func([]byte) error { return windows.UnmapViewOfFile(addr) })
}

// copyFile copies a file into memory that the garbage collector does not count; it returns
// nil if that fails.
func copyFile(f *os.File, size int) *mapping {
	addr, err := windows.VirtualAlloc(0, uintptr(size), windows.MEM_RESERVE|windows.MEM_COMMIT, windows.PAGE_READWRITE)
	if err != nil {
		return nil
	}
	free := func([]byte) error { return windows.VirtualFree(addr, 0, windows.MEM_RELEASE) }
	data := unsafe.Slice((*byte)(*(*unsafe.Pointer)(unsafe.Pointer(&addr))), size)
	if n, _ := f.ReadAt(data, 0); n < size {
		_ = free(nil)
		return nil
	}
	m := newMapping(f, data, free)
	m.inMemory = true
	m.read()
	return m
}

func (m *mapping) ahead(from, to, size int64) {}

func (m *mapping) random() {}

// pipe reads a file and can interrupt a Read that waits for a pipe. Windows completes such
// a Read only when something arrives, so pipe first asks how much has arrived.
type pipe struct {
	f       *os.File
	stopped atomic.Bool
	poll    bool
}

func newPipe(f *os.File) *pipe {
	kind, err := windows.GetFileType(windows.Handle(f.Fd()))
	return &pipe{f: f, poll: err == nil && kind == windows.FILE_TYPE_PIPE}
}

var peekNamedPipe = windows.NewLazySystemDLL("kernel32.dll").NewProc("PeekNamedPipe")

func (p *pipe) Read(b []byte) (int, error) {
	for wait := time.Millisecond; p.poll; wait = min(2*wait, 50*time.Millisecond) {
		if p.stopped.Load() {
			return 0, io.ErrClosedPipe
		}
		var arrived uint32
		// It fails once the writer has closed the pipe; then Read returns the end.
		ok, _, _ := peekNamedPipe.Call(p.f.Fd(), 0, 0, 0, uintptr(unsafe.Pointer(&arrived)), 0)
		if ok == 0 || arrived > 0 {
			break
		}
		time.Sleep(wait)
	}
	return p.f.Read(b)
}

func (p *pipe) interrupt() { p.stopped.Store(true) }

// waits reports whether a read of a file would wait; regular files never do here.
func waits(*os.File) bool { return false }
