package source

import "io"

// Ahead copies the chunks of an input one after the other, as [Input.Copy] does: while one
// is used, what the next has beside it is read. A chunk is valid until the next one is
// copied.
type Ahead struct {
	In *Input

	last  []byte    // the last chunk
	end   int64     // where in the content it ended
	rooms [2][]byte // it is in the first; what is read goes to the second, behind a gap
	read  chan int  // how much of it there is; nil if nothing is read
}

// gap is room for the end of the last chunk, which the next begins with: the start of a
// record that was cut.
const gap = 64 << 10

// Copy gives a chunk as [Input.Next] returned it, and its offset.
func (a *Ahead) Copy(chunk []byte, offset int64) ([]byte, error) {
	if a.In.mapping == nil || a.In.InPlace {
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

// start begins to read the n bytes behind the last chunk.
func (a *Ahead) start(n int) {
	if len(a.rooms[1]) < gap+n {
		a.rooms[1] = make([]byte, gap+n)
	}
	a.read = make(chan int, 1)
	go func(file io.ReaderAt, to []byte, at int64, read chan<- int) {
		n, _ := file.ReadAt(to, at)
		read <- n // less than all is an error, which Copy meets again
	}(a.In.mapping.file, a.rooms[1][gap:][:n], a.end, a.read)
}
