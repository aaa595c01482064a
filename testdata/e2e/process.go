//go:build linux

package e2e

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// starts receives functions that start processes. Processes get a signal when the thread
// that started them ends, so that they end even if this program is killed. Therefore one
// goroutine starts all of them, on a thread that lasts as long as the program.
var starts = sync.OnceValue(func() chan<- func() {
	work := make(chan func())
	go func() {
		runtime.LockOSThread()
		for start := range work {
			start()
		}
	}()
	return work
})

// start starts a process in a group of its own; it ends with this process at the latest.
func start(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	result := make(chan error)
	starts() <- func() { result <- cmd.Start() }
	return <-result
}

// kill kills a process and its process group.
func kill(cmd *exec.Cmd) {
	// An error is fine: the group may be gone already.
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
}

// need fails the test if a program is missing, and names the package that contains it.
func need(t testing.TB, program, pkg string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		t.Fatalf("%s is missing: install the package %s (make test does it on Debian and Ubuntu).", program, pkg)
	}
	return path
}

var builds struct {
	sync.Mutex
	dir   string
	paths map[string]string
}

// atOnce is the number of windows open at the same time. They mostly wait for input and
// pictures, which takes no CPU.
const atOnce = 6

// Main runs the tests, more of them at the same time than there are processors, and
// removes what Build made.
func Main(m *testing.M) int {
	flag.Parse()
	if f := flag.Lookup("test.parallel"); f.Value.String() == f.DefValue {
		f.Value.Set(strconv.Itoa(max(atOnce, runtime.GOMAXPROCS(0))))
	}
	defer func() {
		builds.Lock()
		defer builds.Unlock()
		if builds.dir != "" {
			os.RemoveAll(builds.dir)
		}
	}()
	return m.Run()
}

// Build compiles a main package of this module, given as a path from its root such as
// ./app/ashlar, and returns the binary's path. It compiles once for all tests, without
// the race detector, which would slow the program down too much.
func Build(t testing.TB, pkg string) string {
	t.Helper()
	builds.Lock()
	defer builds.Unlock()
	if path := builds.paths[pkg]; path != "" {
		return path
	}
	path := filepath.Join(shared(t), filepath.Base(pkg))
	cmd := exec.Command("go", "build", "-race=false", "-buildvcs=false", "-tags", "novulkan,nethttpomithttp2", "-o", path, pkg)
	cmd.Dir = moduleRoot(t)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("building %s: %v\n%s", pkg, err, out)
	}
	builds.paths[pkg] = path
	return path
}

// shared returns a folder for all tests. The caller must hold the lock of builds.
func shared(t testing.TB) string {
	t.Helper()
	if builds.dir == "" {
		dir, err := os.MkdirTemp("", "ashlar-e2e-")
		if err != nil {
			t.Fatal(err)
		}
		builds.dir, builds.paths = dir, make(map[string]string)
	}
	return builds.dir
}

// Shaders returns the folder in which Mesa caches compiled shaders, for all tests:
// compiling them takes a third of the time until a window appears.
func Shaders(t testing.TB) string {
	t.Helper()
	builds.Lock()
	defer builds.Unlock()
	return filepath.Join(shared(t), "shaders")
}

func moduleRoot(t testing.TB) string {
	t.Helper()
	out, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		t.Fatal(fmt.Errorf("asking go where the module is: %w", err))
	}
	return filepath.Dir(strings.TrimSpace(string(out)))
}
