package store

import (
	"errors"
	"os"
	"runtime"
	"sync"
	"time"
)

// Arena is memory that is in a file without a name, for the columns of recordings that
// are larger than memory: the system keeps of it what is looked at. The file goes with
// the program, or some seconds after nobody can reach the Arena any more.
type Arena struct {
	mu   sync.Mutex
	file *extents
	room []byte // what is left of the last extent
	full bool
}

// extents are the parts of the file that are mapped.
type extents struct {
	f    *os.File
	all  [][]byte
	size int64
}

// extentLen is by how much the file grows.
const extentLen = 64 << 20

// leastFree is how much of a disk is left to others.
const leastFree = 1 << 30

// ErrNoArena is the error of systems where files cannot be used like memory.
var ErrNoArena = errors.New("columns cannot lie in files on this system")

// NewArena makes one with its file in a folder, which is made if there is none.
func NewArena(folder string) (*Arena, error) {
	if !arenas {
		return nil, ErrNoArena
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(folder, "larger-than-memory-*")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		f.Close()
		return nil, err
	}
	a := &Arena{file: &extents{f: f}}
	rest := grace
	runtime.AddCleanup(a, func(e *extents) { time.AfterFunc(rest, e.close) }, a.file)
	return a, nil
}

func (e *extents) close() {
	for _, x := range e.all {
		unmap(x)
	}
	e.f.Close()
}

// Take gives n bytes that are zero, at a multiple of 8, for as long as the Arena can be
// reached; nil if the disk is full. It may be called from any goroutine.
func (a *Arena) Take(n int) []byte {
	a.mu.Lock()
	defer a.mu.Unlock()
	n = (n + 7) &^ 7
	if n > extentLen {
		return nil
	}
	if len(a.room) < n {
		if a.full {
			return nil
		}
		x, err := a.file.extend()
		if err != nil {
			a.full = true
			return nil
		}
		a.room = x
	}
	b := a.room[:n:n]
	a.room = a.room[n:]
	return b
}

// Bytes is how large the file is.
func (a *Arena) Bytes() int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.file.size
}
