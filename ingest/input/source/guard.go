package source

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"
)

// mapping is a mapped file. It is unmapped once, by close.
type mapping struct {
	name string // for errors, "" if whoever guards knows it
	data []byte
	undo func([]byte) error
	file *os.File // what is mapped, while it is read in order

	mu       sync.RWMutex // readers hold it while the program may close at any time
	closed   bool
	released int64 // content before this has been given back to the system
}

// live are the mappings that exist, to tell where in which a fault happened.
var live struct {
	sync.Mutex
	of map[*mapping]struct{}
}

func newMapping(f *os.File, data []byte, undo func([]byte) error) *mapping {
	m := &mapping{data: data, undo: undo, file: f}
	m.enter()
	return m
}

func (m *mapping) enter() {
	live.Lock()
	defer live.Unlock()
	if live.of == nil {
		live.of = map[*mapping]struct{}{}
	}
	live.of[m] = struct{}{}
}

func (m *mapping) leave() {
	live.Lock()
	defer live.Unlock()
	delete(live.of, m)
}

// Mapped has [Guard] know of a file that somebody else maps, until forget is called.
func Mapped(name string, data []byte) (forget func()) {
	m := &mapping{name: name, data: data}
	m.enter()
	return m.leave
}

// faults counts reads of mapped files that failed.
var faults atomic.Int64

// Faults is how often reading a mapped file has failed in this program. A recording that
// was opened before the last time may be in a file that is damaged.
func Faults() int64 { return faults.Load() }

func (m *mapping) close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return nil
	}
	m.closed = true
	m.read()
	m.leave()
	return m.undo(m.data)
}

// read says that the file has been read in order, or will not be.
func (m *mapping) read() {
	if m.file != os.Stdin {
		m.file.Close()
	}
}

// mappedOffset returns the mapped file that contains an address, and the offset in it.
func mappedOffset(addr uintptr) (name string, at int64, ok bool) {
	live.Lock()
	defer live.Unlock()
	for m := range live.of {
		base := uintptr(unsafe.Pointer(unsafe.SliceData(m.data)))
		// The system maps whole pages.
		if addr >= base && addr-base < uintptr(len(m.data)+1<<16) {
			return m.name, int64(addr - base), true
		}
	}
	return "", 0, false
}

// Guard runs f in the calling goroutine and turns the fault of reading a
// mapped file that has become shorter, or whose disk gives errors, into an error that
// names the file and the place. Any other panic goes on. Every goroutine that reads what an Input
// returned must do it under Guard or Protect.
func Guard(name string, f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		fault, ok := p.(interface {
			runtime.Error
			Addr() uintptr
		})
		if ok {
			if of, off, ok := mappedOffset(fault.Addr()); ok {
				faults.Add(1)
				err = shorter(cmp.Or(of, name), off, fault)
				return
			}
		}
		panic(p)
	}()
	return f()
}

// shorter is the error of a file that has no more than so many bytes any longer.
func shorter(path string, bytes int64, err error) error {
	return &Error{Path: path, What: fmt.Sprintf("the file was truncated while it was read (byte %d)", bytes), Err: err}
}

// Protect is Guard for whole goroutines of a decoder: any other panic, a
// mistake in this program, becomes an error too, with its Stack.
func Protect(name string, f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			stack := debug.Stack()
			err = &Bug{Path: name, Value: p, Stack: stack}
		}
	}()
	return Guard(name, f)
}

// Bug is the error that a mistake in a decoder becomes.
type Bug struct {
	Path  string
	Value any
	Stack []byte
}

func (b *Bug) Error() string {
	at := ""
	if s := b.place(); s != "" {
		at = " at " + s
	}
	return fmt.Sprintf("%s: reading failed because of a bug in Ashlar: %v%s", b.Path, b.Value, at)
}

// place is the file and line of the innermost frame after the panic that is
// not the runtime's.
func (b *Bug) place() string {
	lines := strings.Split(string(b.Stack), "\n")
	after := false
	for i := 0; i+1 < len(lines); i++ {
		switch {
		case strings.HasPrefix(lines[i], "panic("):
			after = true
		case after && strings.HasPrefix(lines[i+1], "\t") && !strings.HasPrefix(lines[i], "runtime.") && !strings.HasPrefix(lines[i], "panic("):
			if strings.Contains(lines[i+1], "/source/guard.go") {
				continue
			}
			at, _, _ := strings.Cut(strings.TrimSpace(lines[i+1]), " ")
			return filepath.Base(at)
		}
	}
	return ""
}
