// Package source reads the bytes of a recording in chunks, from a mapped file or from a
// stream (a pipe or a decompressor).
package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/klauspost/compress/zstd"

	"ashlar/ingest/input/memory"
	"ashlar/ingest/input/safetext"
)

// largeRest is the minimum length, in bytes, of a rest that may not fit into memory a
// second time.
const largeRest = 16 << 20

// defaultChunk is the chunk size in bytes if ChunkSize is 0.
const defaultChunk = 4 << 20

// Input is the content of one recording, decompressed.
type Input struct {
	// Path is as the user gave it ("-" for standard input), Name its last
	// element.
	Path, Name string
	// Bytes is the size of the file on disk, -1 if unknown.
	Bytes int64
	// Compression is "none", "gzip", "zstd" or "zip", or several of them joined
	// by "+", the outer one first.
	Compression string
	// ChunkSize is the maximum number of new bytes that Next returns; tests make it
	// small. 0 means defaultChunk.
	ChunkSize int
	// InPlace makes Copy and Ahead return chunks of a mapped file without copying them:
	// the system cannot reclaim the memory of copies, as it can pages of a file. It is
	// set if memory is scarce; decoders then queue less.
	InPlace bool
	// Private is set for a file opened under [Limits]: errors must not quote its content.
	Private bool

	mapped  []byte   // the whole content, if it is in memory
	mapping *mapping // the mapping of mapped, nil if that is ordinary memory
	stream  *stream  // used if mapped is nil
	layers  *layers  // decompression that stream reads through, nil for none
	likely  int64    // likely size of the content in bytes, 0 if unknown
	head    []byte   // bytes that Head has read from stream and Next has not returned
	headErr error    // error that ended the stream while Head was reading
	off     int64    // content offset of the end of the last chunk
	last    []byte   // the last chunk of a stream

	silent   func() bool  // see OnSilence
	consumed func() int64 // returns the bytes read of the file on disk; nil: they are not counted
	progress atomic.Int64
	stopped  atomic.Bool
}

// FromBytes returns an Input of content that is in memory.
func FromBytes(name string, content []byte) *Input {
	if content == nil {
		content = []byte{}
	}
	return &Input{Path: name, Name: name, Bytes: int64(len(content)), Compression: "none", mapped: content}
}

// FromReader returns an Input of a stream. Close does not close r.
func FromReader(name string, r io.Reader) *Input {
	return &Input{Path: name, Name: name, Bytes: -1, Compression: "none", stream: newStream(r, nil)}
}

// Mapped returns the whole content if it is in memory or mapped, else nil. It stays valid
// until Close. Reading it can fault if the file is made shorter meanwhile: see Guard.
func (in *Input) Mapped() []byte { return in.mapped }

// Random tells the system that content is no longer read in order, but here and there, as the
// arguments of records are: then it should not read more than it is asked for.
func (in *Input) Random() {
	if m := in.mapping; m != nil && !m.inMemory {
		m.mu.RLock()
		defer m.mu.RUnlock()
		if !m.closed {
			m.random()
		}
	}
}

func (in *Input) chunkSize() int {
	if in.ChunkSize > 0 {
		return in.ChunkSize
	}
	return defaultChunk
}

// Next returns the next chunk of content. It begins with the last rest bytes of the
// previous chunk (which the decoder could not use yet, such as the start of an incomplete
// record), followed by up to ChunkSize fresh bytes. offset is the offset of the chunk in
// the content. At the end, err is io.EOF and the chunk is only the rest; if reading
// fails, it is also only the rest, with the error. Chunks stay valid until Close, also in
// other goroutines; they must not be written to.
//
// A chunk of a pipe is shorter than ChunkSize if no more data has arrived for a while.
func (in *Input) Next(rest int) (chunk []byte, offset int64, err error) {
	size := in.chunkSize()
	if in.stream == nil {
		from := in.off - int64(rest)
		to := min(in.off+int64(size), int64(len(in.mapped)))
		if to == in.off {
			err = io.EOF
		}
		if in.stopped.Load() {
			to, err = in.off, context.Canceled
		}
		in.off = to
		in.progress.Store(to)
		if in.mapping != nil {
			in.mapping.ahead(from, to, int64(size))
			if err != nil {
				in.mapping.read()
				in.Random()
			}
		}
		return in.mapped[from:to], from, err
	}
	from := in.off - int64(rest)
	keep := in.last[len(in.last)-rest:]
	if rest > largeRest {
		// The rest is copied, with as much again after it, while the next data is read
		// ahead.
		if short := memory.Need(5*int64(rest), "one record of the file"); short != nil {
			in.last = keep
			return keep, from, short
		}
	}
	switch {
	case len(in.head) > 0:
		n := min(size, len(in.head))
		in.last = append(append(make([]byte, 0, rest+n), keep...), in.head[:n]...)
		in.head = in.head[n:]
		in.off += int64(n)
	case in.headErr != nil:
		in.last, err = keep, in.headErr
	default:
		b, serr := in.stream.take(keep, size, patience, 0, in.silent)
		in.last = b
		in.off += int64(len(b) - rest)
		err = in.failure(serr)
	}
	if in.consumed != nil {
		in.progress.Store(in.consumed())
	} else {
		in.progress.Store(in.off)
	}
	return in.last, from, err
}

// Copy copies a chunk, or part of one, for a decoder that reads all of it. It reads data
// of a mapped file into room, which is faster than letting the system map the pages one
// by one (a quarter of the time on a virtual machine). The copy is valid until room is
// used again. Data that is in memory anyway, and very long data, is returned as it is.
// offset is the offset of chunk in the content.
//
// If the file has become shorter, Copy returns the remaining bytes with the error. It may
// be called from several goroutines, each with its own room.
func (in *Input) Copy(chunk []byte, offset int64, room *[]byte) ([]byte, error) {
	if in.mapping == nil || in.mapping.inMemory || in.InPlace || len(chunk) > largeRest {
		return chunk, nil
	}
	if cap(*room) < len(chunk) {
		*room = make([]byte, len(chunk)+len(chunk)/8)
	}
	b := (*room)[:len(chunk)]
	n, err := in.mapping.file.ReadAt(b, offset)
	switch {
	case n == len(b):
		return b, nil
	case errors.Is(err, os.ErrClosed): // happens after the end was reached
		return chunk, nil
	case err == io.EOF:
		return b[:n], shorter(in.Path, offset+int64(n), err)
	}
	return b[:n], &Error{Path: in.Path, What: fmt.Sprintf("could not be read past byte %d: %v", offset+int64(n), reason(err)), Err: err}
}

// OnSilence makes Next call f while it waits for a silent pipe, repeatedly until f
// returns true. This lets a decoder that reads and builds in one goroutine show the data
// read so far.
func (in *Input) OnSilence(f func() bool) { in.silent = f }

// Head returns the first n bytes of the content without consuming them, or fewer if there
// are no more; whole reports whether that is everything. It must be called before Next.
// For a pipe that has fallen silent it returns the bytes that have arrived.
func (in *Input) Head(n int) (head []byte, whole bool, err error) {
	if in.stream == nil {
		return in.mapped[:min(n, len(in.mapped))], len(in.mapped) <= n, nil
	}
	const enough, silence = 512, time.Second
	for len(in.head) < n && in.headErr == nil {
		giveUp := time.Duration(0)
		if len(in.head) >= enough {
			giveUp = silence
		}
		b, serr := in.stream.take(nil, n-len(in.head), patience, giveUp, nil)
		in.head = append(in.head, b...)
		in.headErr = in.failure(serr)
		if len(b) == 0 && in.headErr == nil {
			break
		}
	}
	if in.headErr != nil && in.headErr != io.EOF && len(in.head) == 0 {
		return nil, false, in.headErr
	}
	return in.head[:min(n, len(in.head))], in.headErr == io.EOF && len(in.head) <= n, nil
}

// All returns the rest of the content in one piece, for decoders that cannot work in
// chunks. Mapped content is not copied. All fails if there are more than limit bytes, or
// more than fit in memory.
func (in *Input) All(limit int64) ([]byte, error) {
	if in.stream == nil {
		rest := in.mapped[in.off:]
		if int64(len(rest)) > limit {
			return nil, in.tooLarge(limit)
		}
		in.off = int64(len(in.mapped))
		in.progress.Store(in.off)
		return rest, nil
	}
	// If the size is known, each chunk is copied to its place while the next one is
	// decompressed. Chunks that do not fit are kept separately.
	var all []byte
	if l := in.likely; l > 0 && l <= limit && memory.Need(l, "the content of the file") == nil {
		all = make([]byte, 0, l)
	}
	var chunks [][]byte
	var n int64
	for {
		c, _, err := in.Next(0)
		if len(chunks) == 0 && len(c) <= cap(all)-len(all) {
			all = append(all, c...)
		} else if len(c) > 0 {
			chunks = append(chunks, c)
		}
		if n += int64(len(c)); n > limit {
			return nil, in.tooLarge(limit)
		}
		// All chunks are copied once more, into one piece.
		if len(chunks) > 0 && len(chunks)%16 == 0 && err == nil {
			if short := memory.Need(n, "the content of the file"); short != nil {
				return nil, short
			}
		}
		if err == nil {
			continue
		}
		if err == io.EOF {
			err = nil
		}
		if len(chunks) == 0 && all != nil {
			return all, err
		}
		if len(chunks) == 1 && len(all) == 0 {
			return chunks[0], err
		}
		if short := memory.Need(n, "the content of the file"); short != nil {
			return nil, short
		}
		chunks = append([][]byte{all}, chunks...)
		all = make([]byte, 0, n)
		for _, c := range chunks {
			all = append(all, c...)
		}
		return all, err
	}
}

func (in *Input) tooLarge(limit int64) error {
	return &Error{Path: in.Path, What: fmt.Sprintf("has more than %d MB of content, the limit for this format, which cannot be read in parts", limit>>20)}
}

// failure converts a stream's error to an error of this input.
func (in *Input) failure(err error) error {
	var told *Error
	switch {
	case err == nil || err == io.EOF || errors.As(err, &told):
		return err
	case in.stopped.Load():
		return context.Canceled
	case errors.Is(err, zstd.ErrWindowSizeExceeded):
		return &Error{Path: in.Path, What: fmt.Sprintf("the zstd data needs a window of more than %d MB (zstd --long=30 or 31); decompress it with `zstd -d --long=31` first, or compress it without --long", maxWindow>>20), Err: err}
	case errors.Is(err, syscall.EIO):
		return &Error{Path: in.Path, What: fmt.Sprintf("the disk cannot read the file after %s of content (input/output error)", safetext.Plural(in.stream.total(), "byte")), Err: err}
	case in.Compression != "none":
		return &Error{Path: in.Path, What: fmt.Sprintf("the %s data is damaged or truncated after %s of content (%v)", in.Compression, safetext.Plural(in.stream.total(), "byte"), err), Err: err}
	}
	return &Error{Path: in.Path, What: fmt.Sprintf("could not be read past byte %d: %v", in.stream.total(), reason(err)), Err: err}
}

// Text returns a copy of n bytes of mapped content at an offset. It returns "" if they
// are outside the content, can no longer be read, or the Input is closed. It may be
// called from any goroutine at any time.
func (in *Input) Text(offset int64, n int) (s string) {
	in.Look(offset, n, func(b []byte) { s = string(b) })
	return s
}

// Look is like Text, without a copy: f gets the bytes in place and must not keep them. It
// returns false if Text would return ""; f may then have seen part of the bytes.
func (in *Input) Look(offset int64, n int, f func([]byte)) bool {
	if offset < 0 || n < 0 || offset+int64(n) > int64(len(in.mapped)) {
		return false
	}
	b := in.mapped[offset : offset+int64(n)]
	if in.mapping == nil {
		f(b)
		return true
	}
	in.mapping.mu.RLock()
	defer in.mapping.mu.RUnlock()
	if in.mapping.closed {
		return false
	}
	return Guard(in.Path, func() error { f(b); return nil }) == nil
}

// Consumed returns how many bytes of the file on disk have been read so far. It may be
// called from any goroutine.
func (in *Input) Consumed() int64 { return in.progress.Load() }

// Stop makes Next fail from now on, including a call that is waiting for a pipe. It may
// be called from any goroutine.
func (in *Input) Stop() {
	in.stopped.Store(true)
	if in.stream != nil {
		in.stream.stop()
	}
}

// Close unmaps the file, or closes it and waits until nothing reads it any more. Nothing
// returned by Next, Head, All or Mapped may be used afterwards. Close may be called more
// than once.
func (in *Input) Close() error {
	in.Stop()
	if in.mapping != nil {
		return in.mapping.close()
	}
	if in.stream != nil {
		in.stream.wait()
	}
	return nil
}
