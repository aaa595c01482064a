package serve

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"ashlar/app/core/resident"
)

// Bounds of the answers that are kept. What was answered faster than worthKeeping is as
// soon answered again.
const (
	mostKept     = 256
	mostKeptSize = 32 << 20
	worthKeeping = 2 * time.Millisecond
)

// answers has what took a while to answer, for whoever asks the same of files that are
// as they were: the same command of the same program prints the same.
type answers struct {
	mu  sync.Mutex
	all []*answered // the one asked for last first
}

type answered struct {
	dir   string
	args  []string
	files files
	code  int
	out   *tape
}

// files are those that an answer was made of, as they were before they were read.
type files map[string]fs.FileInfo

// note has a file among those of an answer.
func (f files) note(dir, path string) {
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	if f[path] == nil {
		f[path], _ = os.Stat(path) // nil is never the same
	}
}

// same says that all of them are as they were.
func (f files) same() bool {
	for path, was := range f {
		if now, err := os.Stat(path); err != nil || !resident.Same(was, now) {
			return false
		}
	}
	return true
}

// find is the answer to a command line that was asked in a folder before, nil for none.
func (a *answers) find(dir string, args []string) *answered {
	a.mu.Lock()
	i := slices.IndexFunc(a.all, func(x *answered) bool { return x.dir == dir && slices.Equal(x.args, args) })
	var x *answered
	if i >= 0 {
		x = a.all[i]
		copy(a.all[1:i+1], a.all[:i])
		a.all[0] = x
	}
	a.mu.Unlock()
	if x == nil || x.files.same() {
		return x
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.all = slices.DeleteFunc(a.all, func(y *answered) bool { return y == x })
	return nil
}

// keep keeps an answer, in place of those that were not asked for the longest.
func (a *answers) keep(x *answered) {
	if !x.files.same() || len(x.out.b) > mostKeptSize/4 {
		return // something was written while it was read
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.all = slices.DeleteFunc(a.all, func(y *answered) bool { return y.dir == x.dir && slices.Equal(y.args, x.args) })
	a.all = slices.Insert(a.all, 0, x)
	size := 0
	for i, y := range a.all {
		if size += len(y.out.b); size > mostKeptSize || i >= mostKept {
			clear(a.all[i:])
			a.all = a.all[:i]
			return
		}
	}
}
