package serve

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"ashlar/app/core/resident"
	"ashlar/ingest/query/join"
)

// Limits on the stored answers. Answers that took less than worthKeeping are not stored:
// computing them again is fast enough.
const (
	mostKept     = 256
	mostKeptSize = 32 << 20
	worthKeeping = 2 * time.Millisecond
)

// answers stores slow answers for reuse. As long as the files are unchanged, a command's
// output is, too.
type answers struct {
	mu  sync.Mutex
	all []*answered // most recently used first
}

type answered struct {
	dir   string
	args  []string
	files files
	code  int
	out   *tape
}

// files are the files that an answer depends on, with their state before they were read.
type files map[string]fs.FileInfo

// note adds a file that the answer depends on.
func (f files) note(dir, path string) {
	files, err := join.Files(join.Each(path, func(path string) string {
		if !filepath.IsAbs(path) {
			return filepath.Join(dir, path)
		}
		return path
	}))
	if err != nil || join.IsName(path) && strings.ContainsAny(path, "*?[") {
		files = []string{path} // there may be other files next time
	}
	for _, path := range files {
		if f[path] == nil {
			f[path], _ = os.Stat(path) // nil never counts as unchanged
		}
	}
}

// same reports whether all files are unchanged.
func (f files) same() bool {
	for path, was := range f {
		if now, err := os.Stat(path); err != nil || !resident.Same(was, now) {
			return false
		}
	}
	return true
}

// find returns the stored answer to a command line typed in dir, nil if there is none.
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

// keep stores an answer and drops the least recently used ones.
func (a *answers) keep(x *answered) {
	if !x.files.same() || len(x.out.b) > mostKeptSize/4 {
		return // a file changed during reading
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
