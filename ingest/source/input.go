// Package source gives decoders the bytes of a recording: a mapped file, or a
// stream (a pipe, or what comes out of a decompressor), both in chunks.
package source

import (
	"io"
	"sync/atomic"
)

// DefaultChunk is how many bytes a chunk has when nothing else is said.
const DefaultChunk = 4 << 20

// Input is the content of one recording, decompressed.
type Input struct {
	// Path is as the user gave it ("-" for standard input), Name its last
	// element.
	Path, Name string
	// Bytes is the size of the file on disk, -1 when it is not known.
	Bytes int64
	// Compression is "none", "gzip" or "zstd".
	Compression string
	// ChunkSize is how many fresh bytes Next returns at most; tests make it
	// small. 0 means DefaultChunk.
	ChunkSize int

	mapped []byte    // everything, when the file is mapped as it is
	r      io.Reader // otherwise
	off    int64     // content offset of the end of the last chunk
	last   []byte    // the last chunk
	eof    bool

	consumed func() int64 // bytes of the file on disk that were read; nil: off
	progress atomic.Int64
	closers  []func() error
}

// FromBytes returns an Input of content that is in memory.
func FromBytes(name string, content []byte) *Input {
	return &Input{Path: name, Name: name, Bytes: int64(len(content)), Compression: "none", mapped: content}
}

// FromReader returns an Input of a stream.
func FromReader(name string, r io.Reader) *Input {
	return &Input{Path: name, Name: name, Bytes: -1, Compression: "none", r: r}
}

// Mapped returns the whole content when it lies in memory (mapped) without
// having been read, else nil. It stays valid until Close.
func (in *Input) Mapped() []byte { return in.mapped }

// Next returns the next chunk of content. It begins with the last rest bytes
// of the chunk before (what the decoder could not use yet: the start of a
// record that was cut), followed by up to ChunkSize fresh bytes, and offset is
// where in the content it begins. At the end err is io.EOF and the chunk is
// just the rest. Chunks stay valid until Close, also when other goroutines use
// them; they must not be written to.
func (in *Input) Next(rest int) (chunk []byte, offset int64, err error) {
	size := in.ChunkSize
	if size <= 0 {
		size = DefaultChunk
	}
	if in.mapped != nil || in.r == nil {
		from := in.off - int64(rest)
		to := min(in.off+int64(size), int64(len(in.mapped)))
		if to == in.off {
			err = io.EOF
		}
		in.off = to
		in.progress.Store(to)
		return in.mapped[from:to], from, err
	}
	if in.eof {
		return in.last[len(in.last)-rest:], in.off - int64(rest), io.EOF
	}
	buf := make([]byte, rest+size)
	copy(buf, in.last[len(in.last)-rest:])
	n, err := io.ReadFull(in.r, buf[rest:])
	if err == io.ErrUnexpectedEOF {
		err = nil
		in.eof = true
	}
	if err != nil {
		in.eof = true
	}
	from := in.off - int64(rest)
	in.off += int64(n)
	in.last = buf[:rest+n]
	if in.consumed != nil {
		in.progress.Store(in.consumed())
	} else {
		in.progress.Store(in.off)
	}
	return in.last, from, err
}

// Consumed is how many bytes of the file on disk have been read so far. It may
// be called from any goroutine.
func (in *Input) Consumed() int64 { return in.progress.Load() }

// Close unmaps the file and closes what was opened.
func (in *Input) Close() error {
	var first error
	for i := len(in.closers) - 1; i >= 0; i-- {
		if err := in.closers[i](); err != nil && first == nil {
			first = err
		}
	}
	in.closers = nil
	return first
}
