package store

import (
	"errors"
	"os"
	"runtime"
	"sync"
	"time"
)

// An Arena is memory backed by an unnamed file, for the columns of recordings larger than
// memory: the system keeps only the used parts in memory. The file goes away when the
// program ends, or some seconds after the Arena becomes unreachable.
type Arena struct {
	mu   sync.Mutex
	file *extents
	room []byte // the unused part of the last extent
	full bool
}

// extents are the parts of the file that are mapped.
type extents struct {
	f    *os.File
	all  [][]byte
	size int64
}

// extentLen is the number of bytes by which the file grows.
const extentLen = 64 << 20

// leastFree is the number of bytes of disk space that must remain free.
const leastFree = 1 << 30

// ErrNoArena is the error on systems that have no Arena.
var ErrNoArena = errors.New("this system cannot keep a recording on disk instead of in memory")

// NewArena returns an Arena whose file is in a folder, which it creates if necessary.
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

// Take returns n zero bytes, aligned to 8, that are valid while the Arena is reachable;
// nil if the disk is full. It may be called from any goroutine.
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

// Bytes returns the size of the file.
func (a *Arena) Bytes() int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.file.size
}
