package store

import (
	"bytes"
	"context"
	"io"
	"os"
	"runtime"
	"time"

	"ashlar/ingest/input/source"
)

// grace is the time for which a file stays mapped after its recording becomes
// unreachable: see column.Shelf. Tests shorten it.
var grace = 10 * time.Second

// mapping is a mapped file. It is unmapped some time after it becomes unreachable.
type mapping struct{ data []byte }

// Open maps a stored recording and verifies its checksums. The file must not be written
// to while it is open, but it may be removed. The recording must be read under
// [source.Guard], because the file may be truncated or its disk may fail. Error texts
// continue after the file's name.
func Open(ctx context.Context, f *os.File) (*File, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	m := new(mapping)
	if m.data, err = mapFile(f, info.Size()); err != nil {
		return nil, err
	}
	rest, forget := grace, source.Mapped(f.Name(), m.data)
	var opened *File
	err = source.Guard(f.Name(), func() error {
		read, err := sections(m.data)
		if err == nil {
			err = read.verifySums(ctx)
		}
		if err == nil {
			opened, err = read.unpack(m)
		}
		return err
	})
	if err != nil {
		// Windows removes a file only when it is not mapped.
		forget()
		unmap(m.data)
		return nil, err
	}
	runtime.AddCleanup(m, func(data []byte) {
		time.AfterFunc(rest, func() {
			forget()
			unmap(data)
		})
	}, m.data)
	runtime.KeepAlive(m)
	return opened, nil
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
	defer source.Mapped(f.Name(), m)()
	var content []byte
	err = source.Guard(f.Name(), func() error {
		s, err := sections(m)
		if err == nil {
			content = bytes.Clone(s.Sections[name])
		}
		return err
	})
	return content, err
}
