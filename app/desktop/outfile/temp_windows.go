package outfile

import (
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/windows"
)

// createTemp creates a file, which must not exist. Unlike files that package os opens, it
// can be renamed while it is open, so that it is locked until it has its name.
func createTemp(path string) (*os.File, error) {
	failed := func(err error) error { return &fs.PathError{Op: "open", Path: path, Err: err} }
	full, err := filepath.Abs(path)
	if err != nil {
		return nil, failed(err)
	}
	name, err := windows.UTF16PtrFromString(full)
	if err != nil {
		return nil, failed(err)
	}
	const share = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE
	h, err := windows.CreateFile(name, windows.GENERIC_READ|windows.GENERIC_WRITE, share, nil, windows.CREATE_NEW, windows.FILE_ATTRIBUTE_NORMAL, 0)
	if err != nil {
		return nil, failed(err)
	}
	return os.NewFile(uintptr(h), path), nil
}
