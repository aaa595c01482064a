package source

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// maxWindow limits the window of a zstd stream, in bytes. The default of `zstd` is 8 MB;
// `zstd --long` makes windows of up to 2 GB.
const maxWindow = 512 << 20

// stdin is the name of "-" in messages.
const stdin = "standard input"

// Error is a problem with a file. Its text starts with the path: "x.json: there is no
// such file", or "x.json is empty" if What begins with a verb.
type Error struct {
	Path, What string
	Err        error
}

func (e *Error) Error() string {
	path := e.Path
	if path == "-" {
		path = stdin
	}
	for _, verb := range []string{"is ", "has ", "looks "} {
		if strings.HasPrefix(e.What, verb) {
			return path + " " + e.What
		}
	}
	return path + ": " + e.What
}

func (e *Error) Unwrap() error { return e.Err }

// Open opens the recording at path, or standard input for "-". Regular files are mapped.
// gzip and zstd, recognised by content, are decompressed, even one inside the other, and
// so is a zip archive with one file. Streams (pipes, compressed files) are read ahead
// once Head or Next is called.
func Open(path string) (*Input, error) {
	f, name := os.Stdin, stdin
	if path != "-" {
		var err error
		name = filepath.Base(path)
		if info, serr := os.Stat(path); serr == nil {
			if err := readable(path, info.Mode()); err != nil {
				return nil, err
			}
		}
		if f, err = os.Open(path); err != nil {
			return nil, &Error{Path: path, What: reason(err), Err: err}
		}
	}
	in, err := open(f, path, name)
	if err != nil && path != "-" {
		f.Close()
	}
	return in, err
}

// readable returns an error for file types that cannot hold a recording.
func readable(path string, mode fs.FileMode) error {
	switch {
	case mode.IsDir():
		return &Error{Path: path, What: "is a folder. Open a file in it"}
	case mode&fs.ModeDevice != 0 && path == "-":
		return &Error{Path: path, What: "is a terminal or another device. Pipe a recording into Ashlar"}
	case mode&fs.ModeDevice != 0:
		return &Error{Path: path, What: "is a device, not a recording"}
	case mode&fs.ModeSocket != 0 && path != "-":
		return &Error{Path: path, What: "is a socket, not a recording"}
	}
	return nil
}

// reason returns in a few words why a file could not be opened or read.
func reason(err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "there is no such file"
	case errors.Is(err, fs.ErrPermission):
		return "permission denied; make it readable"
	}
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return fmt.Sprintf("it cannot be read (%v)", err)
}

func open(f *os.File, path, name string) (*Input, error) {
	in := &Input{Path: path, Name: name, Bytes: -1, Compression: "none"}
	info, err := f.Stat()
	if err != nil {
		return nil, &Error{Path: path, What: reason(err), Err: err}
	}
	if err := readable(path, info.Mode()); err != nil {
		return nil, err
	}
	if info.Mode().IsRegular() && info.Size() == 0 && path != "-" && waits(f) {
		return nil, &Error{Path: path, What: "has delivered no content yet. Save its content to a file, or pipe it into Ashlar"}
	}
	if info.Mode().IsRegular() && info.Size() > 0 {
		in.Bytes = info.Size()
		var magic [4]byte
		n, err := f.ReadAt(magic[:], 0)
		if err != nil && err != io.EOF {
			return nil, &Error{Path: path, What: reason(err), Err: err}
		}
		at, err := f.Seek(0, io.SeekCurrent) // part of standard input may have been read
		if string(magic[:n]) == zipMagic && err == nil && at == 0 {
			if err := in.openZip(f, info.Size(), func() {
				if path != "-" {
					f.Close()
				}
			}); err != nil {
				return nil, err
			}
			return in, in.layers.open()
		}
		if compression(magic[:n]) == "" && err == nil && at == 0 {
			if m := mapFile(f, info.Size()); m != nil {
				in.mapping, in.mapped = m, m.data
				// A recording in use keeps its Input; the mapping is closed with the
				// Input at the latest.
				runtime.AddCleanup(in, func(m *mapping) { m.close() }, m)
				return in, nil
			}
		}
	}
	pipe := newPipe(f)
	in.openStream(pipe, pipe.interrupt, func() {
		if path != "-" {
			f.Close()
		}
	})
	if in.Bytes >= 0 {
		in.likely = unpackedSize(f, in.Bytes)
		// Determine the compression now: a file does not block, while reading the first
		// bytes of a pipe may take forever.
		return in, in.layers.open()
	}
	return in, nil
}

// unpackedSize returns the uncompressed size that a gzip file of the given size claims, 0
// if it claims none or an impossible one. The file ends with the size of its last member,
// in 32 bits (RFC 1952, 2.3.1), and a byte of deflate data stands for at most 1032 bytes.
func unpackedSize(f *os.File, size int64) int64 {
	var magic, last [4]byte
	if _, err := f.ReadAt(magic[:], 0); err != nil || compression(magic[:]) != "gzip" {
		return 0
	}
	if _, err := f.ReadAt(last[:], size-4); err != nil {
		return 0
	}
	if n := int64(binary.LittleEndian.Uint32(last[:])); n <= 1032*size {
		return n
	}
	return 0
}

// FromStream returns an Input for the data that r returns, decompressed. Close calls
// interrupt, which must make a waiting Read return, and closes r.
func FromStream(path, name string, r io.ReadCloser, interrupt func()) *Input {
	in := &Input{Path: path, Name: name, Bytes: -1, Compression: "none"}
	in.openStream(r, interrupt, func() { r.Close() })
	return in
}

// compression names the compression that content begins with, "" for none.
// The magic numbers are those of RFC 1952 and RFC 8878 (where 50..5F 2A 4D 18
// begin skippable frames).
func compression(b []byte) string {
	switch {
	case len(b) >= 2 && b[0] == 0x1f && b[1] == 0x8b:
		return "gzip"
	case len(b) >= 4 && b[0] == 0x28 && b[1] == 0xb5 && b[2] == 0x2f && b[3] == 0xfd:
		return "zstd"
	case len(b) >= 4 && b[0]&0xf0 == 0x50 && b[1] == 0x2a && b[2] == 0x4d && b[3] == 0x18:
		return "zstd"
	}
	return ""
}

// counter counts the bytes that were read from a file.
type counter struct {
	r io.Reader
	n atomic.Int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n.Add(int64(n))
	return n, err
}

// openStream makes the Input read r, through up to two layers of compression.
func (in *Input) openStream(r io.Reader, interrupt, release func()) {
	count := &counter{r: r}
	layers := &layers{r: bufio.NewReaderSize(count, oneRead), in: in}
	in.consumed = count.n.Load
	in.layers = layers
	in.stream = newStream(layers, func() {
		layers.close()
		release()
	})
	in.stream.interrupt = interrupt
}

// layers decompresses a stream; the first Read finds out the compression.
type layers struct {
	r      *bufio.Reader
	in     *Input
	opened bool
	err    error
	zs     []*zstd.Decoder
}

func (l *layers) open() error {
	if l.opened {
		return l.err
	}
	l.opened = true
	for depth := range 3 {
		magic, err := l.r.Peek(4)
		if err != nil && err != io.EOF && len(magic) == 0 {
			l.err = l.in.failure(err)
			break
		}
		kind := compression(magic)
		if kind == "" {
			break
		}
		if depth == 2 {
			l.err = &Error{Path: l.in.Path, What: "is compressed more than twice; decompress it first"}
			break
		}
		if l.err = l.add(kind); l.err != nil {
			break
		}
	}
	return l.err
}

func (l *layers) add(kind string) error {
	var r io.Reader
	var err error
	if kind == "gzip" {
		r, err = gzip.NewReader(l.r)
	} else {
		var d *zstd.Decoder
		d, err = zstd.NewReader(l.r, zstd.WithDecoderConcurrency(min(4, runtime.GOMAXPROCS(0))), zstd.WithDecoderMaxWindow(maxWindow))
		if err == nil {
			l.zs = append(l.zs, d)
			r = d
		}
	}
	if err != nil {
		return &Error{Path: l.in.Path, What: fmt.Sprintf("looks like %s but cannot be decompressed: %v", kind, err), Err: err}
	}
	if l.in.Compression == "none" {
		l.in.Compression = kind
	} else {
		l.in.Compression += "+" + kind
	}
	l.r = bufio.NewReaderSize(r, oneRead)
	return nil
}

func (l *layers) Read(p []byte) (int, error) {
	if err := l.open(); err != nil {
		return 0, err
	}
	return l.r.Read(p)
}

func (l *layers) close() {
	for i := len(l.zs) - 1; i >= 0; i-- {
		l.zs[i].Close()
	}
}
