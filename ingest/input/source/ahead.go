package source

import "io"

// An Ahead copies consecutive chunks of an input, as [Input.Copy] does. While one chunk
// is used, it reads the new part of the next. A chunk is valid until the next one is
// copied.
type Ahead struct {
	In *Input

	last  []byte    // the last chunk
	end   int64     // offset of its end in the content
	rooms [2][]byte // the first holds the last chunk; the next is read into the second, after a gap
	read  chan int  // receives the number of bytes read; nil if no read is running
}

// gap is the room for the rest of the last chunk, with which the next chunk begins: the
// start of an incomplete record.
const gap = 64 << 10

// Copy copies a chunk that [Input.Next] returned with this offset.
func (a *Ahead) Copy(chunk []byte, offset int64) ([]byte, error) {
	if a.In.mapping == nil || a.In.mapping.inMemory || a.In.InPlace {
		return chunk, nil
	}
	fresh := -1
	if a.read != nil {
		fresh, a.read = <-a.read, nil
	}
	var err error
	rest := int(a.end - offset)
	if rest >= 0 && rest <= min(gap, len(a.last)) && rest+fresh == len(chunk) {
		b := a.rooms[1][gap-rest:][:len(chunk)]
		copy(b, a.last[len(a.last)-rest:])
		a.rooms[0], a.rooms[1] = a.rooms[1], a.rooms[0]
		a.last = b
	} else {
		a.last, err = a.In.Copy(chunk, offset, &a.rooms[0])
	}
	a.end = offset + int64(len(chunk))
	if n := min(int64(a.In.chunkSize()), int64(len(a.In.mapped))-a.end); n > 0 && err == nil {
		a.start(int(n))
	}
	return a.last, err
}

// start begins to read the n bytes after the last chunk.
func (a *Ahead) start(n int) {
	if len(a.rooms[1]) < gap+n {
		a.rooms[1] = make([]byte, gap+n)
	}
	a.read = make(chan int, 1)
	go func(file io.ReaderAt, to []byte, at int64, read chan<- int) {
		n, _ := file.ReadAt(to, at)
		read <- n // a short read is an error, which Copy will meet again
	}(a.In.mapping.file, a.rooms[1][gap:][:n], a.end, a.read)
}
