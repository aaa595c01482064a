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
	"time"

	"github.com/klauspost/compress/zstd"

	"ashlar/ingest/input/memory"
	"ashlar/ingest/input/safetext"
)

// largeRest is how long a rest is that there may be no room for again.
const largeRest = 16 << 20

// defaultChunk is how many bytes a chunk has when nothing else is said.
const defaultChunk = 4 << 20

// Input is the content of one recording, decompressed.
type Input struct {
	// Path is as the user gave it ("-" for standard input), Name its last
	// element.
	Path, Name string
	// Bytes is the size of the file on disk, -1 when it is not known.
	Bytes int64
	// Compression is "none", "gzip", "zstd" or "zip", or several of them joined
	// by "+", the outer one first.
	Compression string
	// ChunkSize is how many fresh bytes Next returns at most; tests make it
	// small. 0 means defaultChunk.
	ChunkSize int
	// InPlace has Copy and Ahead leave chunks of a mapped file where they are: copies are
	// memory that the system cannot take back, as it can pages of a file. It is set where
	// memory is scarce; decoders queue less then.
	InPlace bool
	// Private is set for a file opened under [Limits]: errors must not quote it.
	Private bool

	mapped  []byte   // everything, when it is in memory
	mapping *mapping // what mapped belongs to, nil when it is ordinary memory
	stream  *stream  // otherwise
	layers  *layers  // what stream reads through, nil when it reads as it is
	likely  int64    // how many bytes the content seems to have; 0 if nothing tells
	head    []byte   // what Head has read of the stream and Next has not returned
	headErr error    // what ended the stream while Head was reading
	off     int64    // content offset of the end of the last chunk
	last    []byte   // the last chunk of a stream

	silent   func() bool  // see OnSilence
	consumed func() int64 // bytes of the file on disk that were read; nil: off
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

// Mapped returns the whole content when it is in memory (mapped) without
// having been read, else nil. It stays valid until Close. Reading it can fault
// when the file is made shorter meanwhile: see Guard.
func (in *Input) Mapped() []byte { return in.mapped }

func (in *Input) chunkSize() int {
	if in.ChunkSize > 0 {
		return in.ChunkSize
	}
	return defaultChunk
}

// Next returns the next chunk of content. It begins with the last rest bytes
// of the chunk before (what the decoder could not use yet: the start of a
// record that was cut), followed by up to ChunkSize fresh bytes, and offset is
// where in the content it begins. At the end err is io.EOF and the chunk is
// just the rest; so it is when reading fails, with the error. Chunks stay
// valid until Close, also when other goroutines use them; they must not be
// written to.
//
// A chunk of a pipe is shorter than ChunkSize when no more has come for a
// while.
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
			}
		}
		return in.mapped[from:to], from, err
	}
	from := in.off - int64(rest)
	keep := in.last[len(in.last)-rest:]
	if rest > largeRest {
		// It is copied, with as much again behind it, while that is read ahead.
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

// Copy gives a chunk, or a part of one, for a decoder that looks at all of it: that of a
// mapped file is read into room, which takes less than what it takes the system to map its
// pages one by one (a quarter, on a virtual machine). It is valid until room is used again.
// What is in memory anyway, and what is very long, is returned as it is. offset is where
// in the content it begins.
//
// Where the file has become shorter, what is still there is returned with the error. It may
// be called from several goroutines, each with a room of its own.
func (in *Input) Copy(chunk []byte, offset int64, room *[]byte) ([]byte, error) {
	if in.mapping == nil || in.InPlace || len(chunk) > largeRest {
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
	case errors.Is(err, os.ErrClosed): // since the end was reached
		return chunk, nil
	case err == io.EOF:
		return b[:n], shorter(in.Path, offset+int64(n), err)
	}
	return b[:n], &Error{Path: in.Path, What: fmt.Sprintf("could not be read past byte %d: %v", offset+int64(n), reason(err)), Err: err}
}

// OnSilence has Next call f while it waits for a pipe that has given nothing for
// a while, again and again until f returns true. So a decoder that reads and
// builds in one goroutine can show what has come so far.
func (in *Input) OnSilence(f func() bool) { in.silent = f }

// Head returns the first n bytes of the content without consuming them, fewer
// when there are no more; whole reports whether that is everything. It must be
// called before Next. Of a pipe that has fallen silent it returns what came.
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

// All returns the rest of the content in one piece, for decoders that cannot
// do with chunks. Mapped content is not copied. It fails when there are more
// than limit bytes, or more than memory has room for.
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
	// Where its size is known each chunk is copied to its place while the next is
	// unpacked. What does not fit is kept apart.
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
		// All of it is needed once more, in one piece.
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
	return &Error{Path: in.Path, What: fmt.Sprintf("has more than %d MB of content, too much for this format, which is not read in parts", limit>>20)}
}

// failure says what a stream's error means for this input.
func (in *Input) failure(err error) error {
	var told *Error
	switch {
	case err == nil || err == io.EOF || errors.As(err, &told):
		return err
	case in.stopped.Load():
		return context.Canceled
	case errors.Is(err, zstd.ErrWindowSizeExceeded):
		return &Error{Path: in.Path, What: fmt.Sprintf("the zstd data needs a window of more than %d MB (zstd --long=30 or 31); decompress it with `zstd -d --long=31` first, or compress it without --long", maxWindow>>20), Err: err}
	case in.Compression != "none":
		return &Error{Path: in.Path, What: fmt.Sprintf("the %s data is damaged or truncated after %s of content (%v)", in.Compression, safetext.Plural(in.stream.total(), "byte"), err), Err: err}
	}
	return &Error{Path: in.Path, What: fmt.Sprintf("could not be read past byte %d: %v", in.stream.total(), reason(err)), Err: err}
}

// Text copies n bytes of mapped content at an offset. It may be called from
// any goroutine at any time, also after Close, when it returns "", as it does
// for what is outside the content or can no longer be read.
func (in *Input) Text(offset int64, n int) (s string) {
	in.Look(offset, n, func(b []byte) { s = string(b) })
	return s
}

// Look is Text without a copy: f sees the bytes where they are and must not keep
// them. It reports false if Text returns "", perhaps after f has seen a part.
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

// Consumed is how many bytes of the file on disk have been read so far. It may
// be called from any goroutine.
func (in *Input) Consumed() int64 { return in.progress.Load() }

// Stop makes Next fail from now on, also one that is waiting for a pipe. It
// may be called from any goroutine.
func (in *Input) Stop() {
	in.stopped.Store(true)
	if in.stream != nil {
		in.stream.stop()
	}
}

// Close unmaps the file, or closes what was opened and waits until nothing
// reads it any more. Nothing that came from Next, Head, All or Mapped may be
// used afterwards. It may be called more than once.
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
