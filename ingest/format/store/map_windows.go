//go:build windows

package store

import (
	"os"
	"unsafe"

	"golang.org/x/sys/windows"
)

// copiedTo is the size in bytes up to which files are read into memory: Windows lets nobody
// remove a file that is mapped.
const copiedTo = 64 << 20

func mapFile(f *os.File, size int64) ([]byte, error) {
	if size <= 0 || size != int64(int(size)) {
		return nil, errCut
	}
	if size <= copiedTo {
		return inMemory(f, size)
	}
	h, err := windows.CreateFileMapping(windows.Handle(f.Fd()), nil, windows.PAGE_READONLY, 0, 0, nil)
	if err != nil {
		return inMemory(f, size)
	}
	addr, err := windows.MapViewOfFile(h, windows.FILE_MAP_READ, 0, 0, uintptr(size))
	windows.CloseHandle(h) // the view keeps the mapping
	if err != nil {
		return inMemory(f, size)
	}
	return unsafe.Slice((*byte)(*(*unsafe.Pointer)(unsafe.Pointer(&addr))), int(size)), nil
}

// unmap unmaps a file. For data that was read into memory it fails, and the garbage
// collector frees the data.
func unmap(data []byte) { _ = windows.UnmapViewOfFile(uintptr(unsafe.Pointer(unsafe.SliceData(data)))) }
