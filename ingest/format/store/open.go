package store

import (
	"bytes"
	"io"
	"os"
	"runtime"
	"time"
)

// grace is how long a file stays mapped once nobody has its recording any more: see
// column.Shelf. Tests do not wait as long.
var grace = 10 * time.Second

// mapping is a file that is mapped; it goes with the last that refers to it.
type mapping struct{ data []byte }

// Open maps a stored recording. Nobody may write to the file as long as it is open, nor
// make it shorter; it may be removed. The error goes on from the name of the file.
func Open(f *os.File) (*File, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	m := new(mapping)
	if m.data, err = mapFile(f, info.Size()); err != nil {
		return nil, err
	}
	rest := grace
	runtime.AddCleanup(m, func(data []byte) { time.AfterFunc(rest, func() { unmap(data) }) }, m.data)
	opened, err := Read(m.data, m)
	runtime.KeepAlive(m)
	return opened, err
}

// inMemory reads a file that cannot be mapped.
func inMemory(f *os.File, size int64) ([]byte, error) {
	data := make([]byte, size)
	_, err := f.ReadAt(data, 0)
	if err == io.EOF {
		err = errCut
	}
	return data, err
}

// Section reads one section of a stored recording, without the recording.
func Section(f *os.File, name string) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	m, err := mapFile(f, info.Size())
	if err != nil {
		return nil, err
	}
	defer unmap(m)
	s, err := sections(m)
	if err != nil {
		return nil, err
	}
	return bytes.Clone(s.Sections[name]), nil
}
