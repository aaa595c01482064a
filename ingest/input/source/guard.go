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
	name string // for errors; "" if the caller of Guard knows it
	data []byte
	undo func([]byte) error
	file *os.File // the mapped file, while it is read in order
	// inMemory is set if data is a copy of the file, which is closed.
	inMemory bool

	mu       sync.RWMutex // held by readers that may run while the program closes the file
	closed   bool
	released int64 // content before this offset was given back to the system
}

// live are the existing mappings, to find the one in which a fault happened.
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

// Mapped tells [Guard] about a file that the caller has mapped, until forget is called.
func Mapped(name string, data []byte) (forget func()) {
	m := &mapping{name: name, data: data}
	m.enter()
	return m.leave
}

// faults counts reads of mapped files that failed.
var faults atomic.Int64

// Faults returns how often reading a mapped file has failed in this program. After a
// failure, the file of any recording opened before it may be damaged.
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

// read closes the file, which is needed only for reading in order. The mapping stays.
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

// Guard runs f in the calling goroutine. If a mapped file has become shorter or its disk
// has errors, reading it faults, and Guard turns the fault into an error that names the
// file and the offset. Any other panic goes on. Every goroutine that reads data returned
// by an Input must do so under Guard or Protect.
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

// shorter returns the error for a file that cannot be read from this byte on: it ends
// there now, or its disk has an error.
func shorter(path string, bytes int64, err error) error {
	if info, gone := os.Stat(path); gone == nil && info.Mode().IsRegular() && info.Size() > bytes {
		return &Error{Path: path, What: fmt.Sprintf("the disk cannot read the file from byte %d on (input/output error)", bytes), Err: err}
	}
	return &Error{Path: path, What: fmt.Sprintf("the file was truncated while it was read (byte %d)", bytes), Err: err}
}

// Protect is like Guard, for whole goroutines of a decoder. It also turns any other
// panic, which is a bug in this program, into a [Bug] with its stack.
func Protect(name string, f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			stack := debug.Stack()
			err = &Bug{Path: name, Value: p, Stack: stack}
		}
	}()
	return Guard(name, f)
}

// A Bug is the error for a panic in a decoder.
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

// place returns the file and line of the innermost frame outside the runtime when the
// panic happened.
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
