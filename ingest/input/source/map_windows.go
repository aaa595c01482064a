//go:build windows

package source

import (
	"math"
	"os"
	"unsafe"

	"golang.org/x/sys/windows"
)

// mapFile maps a file for reading; it returns nil if that fails.
func mapFile(f *os.File, size int64) *mapping {
	if size > math.MaxInt {
		return nil
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

func (m *mapping) ahead(from, to, size int64) {}

type pipe struct{ *os.File }

func newPipe(f *os.File) *pipe { return &pipe{f} }

// waits reports whether a read of a file would wait; here none does.
func waits(*os.File) bool { return false }

func (p *pipe) interrupt() {}
