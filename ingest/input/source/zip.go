package source

import (
	"archive/zip"
	"fmt"
	"io"
	"os"
	"path"
	"strings"

	"github.com/klauspost/compress/flate"
)

const zipMagic = "PK\x03\x04"

// openZip makes the Input read the one file in a zip archive. The file is unpacked as it
// is read, so an archive that unpacks to far more than its size takes no more memory than
// any other stream.
func (in *Input) openZip(f *os.File, size int64, release func()) error {
	z, err := zip.NewReader(f, size)
	if err != nil {
		return &Error{Path: in.Path, What: fmt.Sprintf("looks like a zip archive but cannot be unpacked: %v", err), Err: err}
	}
	count := &counter{}
	z.RegisterDecompressor(zip.Store, func(r io.Reader) io.ReadCloser {
		count.r = r
		return io.NopCloser(count)
	})
	z.RegisterDecompressor(zip.Deflate, func(r io.Reader) io.ReadCloser {
		count.r = r
		return flate.NewReader(count)
	})
	entry, err := only(z.File)
	if err != nil {
		return &Error{Path: in.Path, What: err.Error(), Err: err}
	}
	r, err := entry.Open()
	if err != nil {
		return &Error{Path: in.Path, What: fmt.Sprintf("is a zip archive, but its file %q cannot be unpacked: %v", path.Base(entry.Name), err), Err: err}
	}
	in.openStream(r, func() {}, func() {
		r.Close()
		release()
	})
	in.Compression = "zip"
	in.consumed = count.n.Load
	return nil
}

// only returns the one file of an archive, not counting files that operating systems add.
func only(files []*zip.File) (*zip.File, error) {
	var found []*zip.File
	for _, f := range files {
		name := path.Base(f.Name)
		if f.FileInfo().IsDir() || strings.HasPrefix(f.Name, "__MACOSX/") || strings.HasPrefix(name, ".") {
			continue
		}
		found = append(found, f)
	}
	const encrypted = 1
	switch {
	case len(found) == 0:
		return nil, fmt.Errorf("is an empty zip archive")
	case len(found) > 1:
		return nil, fmt.Errorf("is a zip archive of %d files (%q, %q …); unpack it and open one of them", len(found), path.Base(found[0].Name), path.Base(found[1].Name))
	case found[0].Flags&encrypted != 0:
		return nil, fmt.Errorf("is a zip archive with a password; unpack it and open the recording in it")
	}
	return found[0], nil
}
