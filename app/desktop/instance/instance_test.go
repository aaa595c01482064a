//go:build linux

package instance

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// helper is the environment variable that makes the test binary run as another program. Its
// value is the mode.
const helper = "ASHLAR_INSTANCE_TEST"

func TestMain(m *testing.M) {
	switch mode := os.Getenv(helper); mode {
	case "":
		os.Exit(m.Run())
	case "connect": // connect to any socket, whoever owns it
		c, err := net.Dial("unix", os.Args[1])
		if err != nil {
			fmt.Println(err)
			return
		}
		said := message{Ashlar: protocol, Request: Request{Files: []string{"/x"}, Reuse: true}}
		if len(os.Args) > 2 {
			said = message{Ashlar: protocol, Session: []byte(`{"show":{}}`)}
		}
		_ = send(c, said)
		m, err := receive(c)
		fmt.Println(m.Answer, err)
	default:
		p, err := Open()
		if err != nil {
			fmt.Println(err)
			return
		}
		l, answer, err := p.Start(context.Background(), Request{Files: []string{"/x"}, Reuse: mode == "reuse"})
		if l != nil {
			l.Serve(func(context.Context, Request) Answer { return Taken })
		}
		fmt.Println(answer, err)
		_, _ = os.Stdin.Read(make([]byte, 1)) // wait until the test closes the input
		if l != nil {
			l.Close()
		}
	}
}

// program is another process.
type program struct {
	cmd  *exec.Cmd
	said string
	stop func()
}

func start(t *testing.T, mode string) *program {
	t.Helper()
	p := &program{cmd: exec.Command(os.Args[0])}
	p.cmd.Env = append(os.Environ(), helper+"="+mode)
	p.cmd.Stderr = os.Stderr
	in, err := p.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var once sync.Once
	p.stop = func() { once.Do(func() { in.Close(); _ = p.cmd.Wait() }) }
	t.Cleanup(p.stop)
	line, _ := bufio.NewReader(out).ReadString('\n')
	p.said = strings.TrimSpace(line)
	return p
}

// place gives the test its own runtime folder.
func place(t *testing.T) *Place {
	t.Helper()
	dir, err := os.MkdirTemp("", "ashlar-run-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	t.Setenv("XDG_RUNTIME_DIR", dir)
	t.Setenv("DISPLAY", ":7")
	t.Setenv("WAYLAND_DISPLAY", "")
	p, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	if p.dir != filepath.Join(dir, "ashlar") {
		t.Fatalf("the folder is %s, not in %s", p.dir, dir)
	}
	return p
}

// begin is Start with the usual error checks and cleanup.
func begin(t *testing.T, p *Place, r Request) (*Listener, Answer) {
	t.Helper()
	l, answer, err := p.Start(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	if l != nil {
		t.Cleanup(l.Close)
	}
	return l, answer
}

var (
	plain = Request{Files: []string{"/a"}}
	reuse = Request{Files: []string{"/a b/ü\n.spaa", "/c"}, Reuse: true}
)

func TestHandingOver(t *testing.T) {
	p := place(t)
	l, answer := begin(t, p, reuse)
	if l == nil || answer != Own {
		t.Fatalf("the first start is told %q", answer)
	}
	var got []Request
	var mu sync.Mutex
	l.Serve(func(_ context.Context, r Request) Answer {
		mu.Lock()
		defer mu.Unlock()
		got = append(got, r)
		if r.Reuse || r.Compare {
			return Taken
		}
		return Own
	})
	compare := Request{Files: []string{"/c"}, Compare: true}
	for _, c := range []struct {
		r    Request
		want Answer
	}{{plain, Own}, {reuse, Taken}, {compare, Taken}} {
		other, answer := begin(t, p, c.r)
		if answer != c.want || (other != nil) != (answer == Own) {
			t.Errorf("%+v is answered with %q", c.r, answer)
		}
		if other != nil {
			other.Close()
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if len(got) != 3 || !slices.Equal(got[1].Files, reuse.Files) || !got[2].Compare || got[2].Reuse {
		t.Errorf("the running program was asked %+v", got)
	}
	l.Close()
	if entries := p.sockets(p.display); len(entries) != 0 {
		t.Errorf("after closing there are %v", entries)
	}
}

func TestStaleSocket(t *testing.T) {
	p := place(t)
	dead := start(t, "own")
	if !strings.HasPrefix(dead.said, "own") || len(p.sockets(p.display)) != 1 {
		t.Fatalf("the other program says %q, and there are %v", dead.said, p.sockets(p.display))
	}
	stale := p.sockets(p.display)[0]
	if err := dead.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	dead.stop()
	if _, err := os.Lstat(stale); err != nil {
		t.Fatalf("a killed program should leave its socket: %v", err)
	}
	l, answer := begin(t, p, reuse)
	if answer != Own || l == nil {
		t.Errorf("beside a stale socket a start is told %q", answer)
	}
	if _, err := os.Lstat(stale); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the stale socket is still there (%v)", err)
	}
	if n := len(p.sockets(p.display)); n != 1 {
		t.Errorf("there are %d sockets, want that of this start", n)
	}
}

func TestTwoStartsAtOnce(t *testing.T) {
	place(t)
	const n = 8
	said := make([]string, n)
	var wg sync.WaitGroup
	programs := make([]*program, n)
	for i := range n {
		wg.Go(func() {
			programs[i] = start(t, "reuse")
			said[i] = programs[i].said
		})
	}
	wg.Wait()
	slices.Sort(said)
	want := append([]string{"own <nil>"}, slices.Repeat([]string{"taken <nil>"}, n-1)...)
	if !slices.Equal(said, want) {
		t.Errorf("%d starts at once were told %q", n, said)
	}
}

// TestHangingProgram checks that a program that never answers does not keep others from
// starting.
func TestHangingProgram(t *testing.T) {
	p := place(t)
	hung, _ := begin(t, p, plain)
	l, answer := begin(t, p, plain)
	if answer != Own || l == nil || l == hung {
		t.Errorf("beside a program that hangs a start is told %q", answer)
	}
	if len(p.sockets(p.display)) != 2 {
		t.Errorf("a socket that is only slow was removed: %v", p.sockets(p.display))
	}
}

// TestSocketIsReady checks that a socket accepts connections from the moment it is visible.
// Otherwise another program would remove it as dead.
func TestSocketIsReady(t *testing.T) {
	p := place(t)
	ended := make(chan struct{})
	refused := make(chan error, 1)
	go func() {
		defer close(refused)
		for {
			select {
			case <-ended:
				return
			default:
			}
			for _, path := range p.sockets(server) {
				c, err := net.Dial("unix", path)
				if died(err) && !errors.Is(err, os.ErrNotExist) {
					if _, there := os.Stat(path); there == nil {
						refused <- err
						return
					}
				}
				if err == nil {
					c.Close()
				}
			}
		}
	}()
	for range 3000 {
		l, err := p.listen(server)
		if err != nil {
			t.Fatal(err)
		}
		_ = os.Remove(l.path) // first: once closed, it refuses connections
		l.Close()
	}
	close(ended)
	if err := <-refused; err != nil {
		t.Error(err)
	}
}

// TestHeldLock checks that a start that hangs with the lock does not keep others from starting.
func TestHeldLock(t *testing.T) {
	p := place(t)
	release, err := p.lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	if l, answer := begin(t, p, plain); answer != Own || l == nil {
		t.Errorf("beside a start that hangs another is told %q", answer)
	}
}

func TestLastUsedIsAsked(t *testing.T) {
	p := place(t)
	var asked []string
	var mu sync.Mutex
	run := func(name string) *Listener {
		l, _ := begin(t, p, plain)
		l.Serve(func(_ context.Context, r Request) Answer {
			if !r.Reuse {
				return Own
			}
			mu.Lock()
			defer mu.Unlock()
			asked = append(asked, name)
			return Taken
		})
		return l
	}
	a := run("a")
	time.Sleep(10 * time.Millisecond) // file times have limited resolution
	b := run("b")
	begin(t, p, reuse)
	time.Sleep(10 * time.Millisecond)
	a.Used()
	begin(t, p, reuse)
	a.Close()
	begin(t, p, reuse)
	b.Close()
	if got := strings.Join(asked, ""); got != "bab" {
		t.Errorf("asked were %q, want b, then a, which was used last, then b, which was left", got)
	}
}

func TestOtherDisplaysAreLeftAlone(t *testing.T) {
	p := place(t)
	l, _ := begin(t, p, plain)
	l.Serve(func(context.Context, Request) Answer { return Taken })
	t.Setenv("DISPLAY", ":8")
	q, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	if _, answer := begin(t, q, reuse); answer != Own {
		t.Errorf("a program on another display answers %q", answer)
	}
}

func TestLongPath(t *testing.T) {
	place(t)
	dir := filepath.Join(t.TempDir(), strings.Repeat("long", 30))
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_RUNTIME_DIR", dir)
	p, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	l, _ := begin(t, p, plain)
	l.Serve(func(context.Context, Request) Answer { return Taken })
	if filepath.Dir(l.path) != filepath.Join(dir, "ashlar") {
		t.Errorf("the socket is %s", l.path)
	}
	if _, answer := begin(t, p, reuse); answer != Taken {
		t.Errorf("by a path of %d bytes the answer is %q", len(l.path), answer)
	}
	l.Close()
	if _, err := os.Lstat(l.path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the socket is left: %v", err)
	}
}

func TestNonsenseIsNotAnswered(t *testing.T) {
	p := place(t)
	l, _ := begin(t, p, plain)
	l.Serve(func(_ context.Context, r Request) Answer { return Taken })
	for _, line := range []string{
		"hello\n", "{}\n", "\n", `{"ashlar":1,"files":["relative"],"reuse":true}` + "\n", `{"ashlar":99,"files":["/x"],"reuse":true}` + "\n", `{"ashlar":1,"files":`,
	} {
		c, err := net.Dial("unix", l.path)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = c.Write([]byte(line))
		_ = c.(*net.UnixConn).CloseWrite()
		if m, err := receive(c); err == nil {
			t.Errorf("%q is answered with %q", line, m.Answer)
		}
		c.Close()
	}
	if _, answer := begin(t, p, reuse); answer != Taken {
		t.Errorf("after nonsense, sense is answered with %q", answer)
	}
}

// TestFolders checks that untrusted folders are not used.
func TestFolders(t *testing.T) {
	tmp := t.TempDir()
	fallback := filepath.Join(tmp, fmt.Sprintf("ashlar-%d", os.Getuid()))
	open := func(runtime string) (*Place, error) {
		t.Setenv("TMPDIR", tmp)
		t.Setenv("XDG_RUNTIME_DIR", runtime)
		return Open()
	}
	loose := filepath.Join(tmp, "loose")
	if err := os.Mkdir(loose, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, runtime := range []string{"", "relative", filepath.Join(tmp, "missing"), loose} {
		p, err := open(runtime)
		if err != nil || p.dir != fallback {
			t.Errorf("with XDG_RUNTIME_DIR=%q the folder is %v, %v", runtime, p, err)
		}
	}
	if i, err := os.Stat(fallback); err != nil || i.Mode().Perm() != 0o700 {
		t.Errorf("the folder in %s is %v, %v", tmp, i, err)
	}
	refused := func(what, word string) {
		t.Helper()
		if p, err := open(""); err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("%s gives %v, %v", what, p, err)
		}
	}
	if err := os.Chmod(fallback, 0o755); err != nil {
		t.Fatal(err)
	}
	refused("a folder that is open to others", "open to others")
	_ = os.RemoveAll(fallback)
	if err := os.Symlink(loose, fallback); err != nil {
		t.Fatal(err)
	}
	refused("a symbolic link", "not a folder")
	_ = os.Remove(fallback)
	if os.Getuid() != 0 {
		t.Log("that a folder of somebody else is refused can only be tested as root")
		return
	}
	if err := os.Mkdir(fallback, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(fallback, 12345, 12345); err != nil {
		t.Fatal(err)
	}
	refused("a folder of somebody else", "another user")
}

func asRoot(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can act as somebody else")
	}
}

// TestSocketOfSomebodyElse puts another user's socket into the folder.
func TestSocketOfSomebodyElse(t *testing.T) {
	asRoot(t)
	p := place(t)
	path := filepath.Join(p.dir, p.display+"-stranger"+ending)
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := os.Chown(path, 12345, 12345); err != nil {
		t.Fatal(err)
	}
	asked := make(chan net.Conn, 1)
	go func() {
		if c, err := l.Accept(); err == nil {
			asked <- c
		}
	}()
	if _, answer := begin(t, p, reuse); answer != Own {
		t.Errorf("the answer is %q", answer)
	}
	select {
	case <-asked:
		t.Error("the stranger's socket was connected to")
	default:
	}
	if _, err := os.Lstat(path); err != nil {
		t.Errorf("the stranger's socket was touched: %v", err)
	}
}

// TestStrangerAsks lets another user connect, in a folder open to all: only this user gets
// answers.
func TestStrangerAsks(t *testing.T) {
	asRoot(t)
	p := place(t)
	l, _ := begin(t, p, plain)
	called := make(chan bool, 2)
	l.Session = func(_ context.Context, c net.Conn, _ json.RawMessage) {
		called <- true
		_ = send(c, message{Ashlar: protocol, Answer: Taken})
	}
	l.Serve(func(context.Context, Request) Answer { called <- true; return Taken })
	for _, dir := range []string{filepath.Dir(p.dir), p.dir} {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(l.path, 0o777); err != nil {
		t.Fatal(err)
	}
	// Copy the test binary, because other users cannot enter its folder.
	b, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(filepath.Dir(p.dir), "program")
	if err := os.WriteFile(bin, b, 0o755); err != nil {
		t.Fatal(err)
	}
	say := func(uid uint32, more ...string) string {
		cmd := exec.Command(bin, append([]string{l.path}, more...)...)
		cmd.Dir = "/"
		cmd.Env = []string{helper + "=connect"}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatal(err, string(out))
		}
		return strings.TrimSpace(string(out))
	}
	for _, asks := range [][]string{nil, {"session"}} {
		if got := say(12345, asks...); strings.Contains(got, string(Taken)) || len(called) != 0 {
			t.Errorf("a stranger who asks %v is answered with %q", asks, got)
		}
		if got := say(0, asks...); got != "taken <nil>" {
			t.Errorf("the person who asks %v is answered with %q", asks, got)
		}
		<-called
	}
}

// TestShownElsewhere checks that a program that opens its own window learns which recording
// the most recently used window shows, if that is an absolute path.
func TestShownElsewhere(t *testing.T) {
	p := place(t)
	first, _ := begin(t, p, plain)
	shows := "/runs/a.spall"
	first.Shows = func() string { return shows }
	first.Serve(func(context.Context, Request) Answer { return Own })
	if first.Elsewhere != "" {
		t.Errorf("the first learns of %q", first.Elsewhere)
	}
	for _, want := range []string{"/runs/a.spall", "", ""} {
		l, answer, err := p.Start(t.Context(), plain)
		if err != nil || answer != Own || l.Elsewhere != want {
			t.Errorf("the next is told %q and learns of %q (%v), want %q", answer, l.Elsewhere, err, want)
		}
		l.Close()
		if shows != "" {
			shows = "relative" // would refer to another file here
		}
		if want == "" {
			shows = ""
		}
	}
}
