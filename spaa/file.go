package spaa

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// maxZstdWindow bounds the memory that a zstd frame may ask for.
const maxZstdWindow = 128 << 20

// FileReader is a [Reader] of a file that must be closed.
type FileReader struct {
	*Reader
	closers []func() error
}

// Open opens a SPAA file. It detects zstd and gzip by the first bytes and decompresses
// them.
func Open(path string) (*FileReader, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	text, closeText, err := Decompress(f)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), f.Close())
	}
	return &FileReader{NewReader(text), []func() error{closeText, f.Close}}, nil
}

// Close closes the file.
func (f *FileReader) Close() error { return closeAll(f.closers) }

func closeAll(closers []func() error) error {
	var errs []error
	for _, c := range closers {
		errs = append(errs, c())
	}
	return errors.Join(errs...)
}

// Decompress returns the text of r: the decompressed bytes if the first bytes are those
// of zstd or gzip, otherwise r's own bytes. closer frees the decompressor but does not
// close r.
func Decompress(r io.Reader) (text io.Reader, closer func() error, err error) {
	br := bufio.NewReaderSize(r, 64<<10)
	head, err := br.Peek(4)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, nil, fmt.Errorf("reading the first bytes failed: %w", err)
	}
	switch {
	case bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		z, err := zstd.NewReader(br, zstd.WithDecoderMaxWindow(maxZstdWindow), zstd.WithDecoderConcurrency(1))
		if err != nil {
			return nil, nil, err
		}
		return z, func() error { z.Close(); return nil }, nil
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		z, err := gzip.NewReader(br)
		if err != nil {
			return nil, nil, fmt.Errorf("the gzip header is damaged: %w", err)
		}
		return z, z.Close, nil
	}
	return br, func() error { return nil }, nil
}

// FileWriter is a [Writer] whose output may be compressed.
type FileWriter struct {
	*Writer
	closers []func() error
}

// NewFileWriter returns a Writer to w that compresses by name's extension: zstd
// for ".zst" and ".zstd", gzip for ".gz", nothing for others. The bytes depend
// on the records and the extension only. Close does not close w.
func NewFileWriter(w io.Writer, name string) (*FileWriter, error) {
	lower := strings.ToLower(name)
	switch {
	case strings.HasSuffix(lower, ".zst"), strings.HasSuffix(lower, ".zstd"):
		z, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
		if err != nil {
			return nil, err
		}
		return &FileWriter{NewWriter(z), []func() error{z.Close}}, nil
	case strings.HasSuffix(lower, ".gz"):
		z := gzip.NewWriter(w)
		return &FileWriter{NewWriter(z), []func() error{z.Close}}, nil
	}
	return &FileWriter{NewWriter(w), nil}, nil
}

// Create creates or truncates the named file and returns a Writer to it, which
// compresses by the name's extension as [NewFileWriter] does.
func Create(name string) (*FileWriter, error) {
	f, err := os.Create(name)
	if err != nil {
		return nil, err
	}
	fw, err := NewFileWriter(f, name)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	fw.closers = append(fw.closers, f.Close)
	return fw, nil
}

// Close finishes the SPAA text, as [Writer.Close] does, then the compression, and closes
// the file if [Create] opened it.
func (f *FileWriter) Close() error {
	return errors.Join(f.Writer.Close(), closeAll(f.closers))
}
