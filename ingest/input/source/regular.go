package source

import (
	"errors"
	"io/fs"
	"os"
	"runtime"
	"syscall"
)

// OpenRegular opens a regular file that Ashlar looks for itself, such as its settings. Any
// other kind of file is an error: opening a named pipe would wait for a writer, and a
// device may never end. A named pipe that takes the file's place meanwhile does not block.
func OpenRegular(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	notRegular := &fs.PathError{Op: "open", Path: path, Err: errors.New("not a regular file")}
	if !info.Mode().IsRegular() {
		return nil, notRegular
	}
	flags := os.O_RDONLY
	if runtime.GOOS != "windows" {
		flags |= syscall.O_NONBLOCK
	}
	f, err := os.OpenFile(path, flags, 0)
	if err != nil {
		return nil, err
	}
	if info, err = f.Stat(); err == nil && !info.Mode().IsRegular() {
		err = notRegular
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
