//go:build linux

package serve_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"ashlar/app/agent/serve"
	"ashlar/app/command"
	"ashlar/app/command/picture"
	"ashlar/testdata/samples"
)

// runner runs commands with a renderer that draws on the CPU.
var runner = command.Runner{Render: picture.Render}

// helper is the environment variable that makes the test binary run as ashlar.
const helper = "ASHLAR_SERVE_TEST"

func TestMain(m *testing.M) {
	if os.Getenv(helper) == "" {
		os.Exit(m.Run())
	}
	os.Exit(command.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr, runner))
}

// room gives the test its own runtime folder.
func room(t *testing.T) (dir string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "ashlar-serve-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	t.Setenv("XDG_RUNTIME_DIR", dir)
	return dir
}

// socket waits for a server and returns the path of its socket.
func socket(t *testing.T, dir string) string {
	t.Helper()
	for range 6000 {
		if found, _ := filepath.Glob(filepath.Join(dir, "ashlar", "serve-*.sock")); len(found) == 1 {
			return found[0]
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("there is no server")
	return ""
}

// elsewhere starts a server in another process, with another working directory.
func elsewhere(t *testing.T) {
	t.Helper()
	dir := room(t)
	cmd := exec.Command(os.Args[0], "serve")
	cmd.Env, cmd.Dir = append(os.Environ(), helper+"=1"), "/"
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Error(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("the server ends with %v", err)
		}
		if left, _ := filepath.Glob(filepath.Join(dir, "ashlar", "*.sock")); len(left) > 0 {
			t.Errorf("it leaves %v", left)
		}
	})
	socket(t, dir)
}

// inside starts a server in this process.
func inside(t *testing.T) (path string, end func()) {
	t.Helper()
	dir := room(t)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan int)
	go func() {
		done <- command.Main([]string{"serve"}, nil, io.Discard, io.Discard, command.Runner{Context: ctx})
	}()
	path = socket(t, dir)
	var once sync.Once
	end = func() {
		once.Do(func() {
			cancel()
			if code := <-done; code != command.Done {
				t.Errorf("the server ends with %d", code)
			}
		})
	}
	t.Cleanup(end)
	return path, end
}

type outcome struct {
	code     int
	out, err string
}

// readIn matches loading times, which vary between runs.
var readIn = regexp.MustCompile(`(?m)^  read +in .*$|(?s)"load": ?\{.*?\}`)

func (o outcome) String() string {
	return fmt.Sprintf("%d\n%s%s", o.code, readIn.ReplaceAllString(o.out, "read"), o.err)
}

func typed(args ...string) outcome {
	var out, err bytes.Buffer
	code := command.Main(args, nil, &out, &err, runner)
	return outcome{code, out.String(), err.String()}
}

func asked(t *testing.T, args ...string) (outcome, bool) {
	t.Helper()
	var out, errs bytes.Buffer
	code, ok, err := serve.Ask(t.Context(), args, &out, &errs, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	return outcome{code, out.String(), errs.String()}, ok
}

// copies copies files of package command's tests to a new folder and makes it the working
// directory.
func copies(t *testing.T, names ...string) {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		b, err := os.ReadFile(filepath.Join("../../command/testdata", name))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), b, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
}

// TestSessionSaysTheSame checks that a server in another folder gives the same output and exit
// code as the command itself, and declines commands that it must not answer.
func TestSessionSaysTheSame(t *testing.T) {
	copies(t, "small.spaa", "small.spall", "diff-a.folded", "diff-b.folded")
	if err := os.WriteFile("src.c", []byte("int main() {}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("lines.spaa", []byte(withLines), 0o644); err != nil {
		t.Fatal(err)
	}
	elsewhere(t)
	abs, err := filepath.Abs("small.spaa")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"top small.spaa", "top small.spaa --json --budget 300", "top --metric samples -n 2 small.spaa", "top small.spaa --tree --hide-kernel", "top " + abs,
		"top ./small.spaa --by thread", "top small.spaa -n -3", "top small.spaa --metric none", "top small.spaa --nothing", "top small.spaa --range 90s..91s",
		"overview small.spall", "findings small.spaa --json", "findings diff-a.folded diff-b.folded --json", "info small.spall", "info small.spaa --json",
		"calls small.spall /./", "stats small.spaa --function grind", "path small.spall", "diff diff-a.folded diff-b.folded", "diff diff-a.folded diff-b.folded --fail-if total>0%",
		"source lines.spaa main", "source lines.spaa main --json", "top --demo -n 3",
	} {
		args := strings.Fields(line)
		want := typed(args...)
		got, ok := asked(t, args...)
		if !ok {
			t.Errorf("%s: it is not answered", line)
		} else if got.String() != want.String() {
			t.Errorf("%s\nsays in a session\n%s\nand else\n%s", line, got, want)
		}
		if got := typed(append([]string{args[0], "--session"}, args[1:]...)...); got.String() != want.String() {
			t.Errorf("%s --session\nsays\n%s\nand else\n%s", line, got, want)
		}
	}
	// Commands that the client must run itself.
	for _, line := range []string{
		"top none.spaa", "top src.c", "top -", "check small.spaa", "convert small.spaa x.folded", "install", "serve", "top http://127.0.0.1:1/x",
	} {
		if got, ok := asked(t, strings.Fields(line)...); ok {
			t.Errorf("%s is answered with %s", line, got)
		}
	}
	for _, line := range []string{"top none.spaa", "diff --a diff-*.folded --b diff-b.folded", "top small.spaa --exe none"} {
		want := typed(strings.Fields(line)...)
		if got := typed(append(strings.Fields(line), "--session")...); got.String() != want.String() {
			t.Errorf("%s --session\nsays\n%s\nand else\n%s", line, got, want)
		}
	}
}

// TestSessionDraws checks that a session's pictures equal the command's byte for byte, also
// for addresses and files with relative paths, and that only the client writes files.
func TestSessionDraws(t *testing.T) {
	copies(t, "small.spaa", "small.spall", "diff-a.folded", "diff-b.folded")
	elsewhere(t)
	if got := typed("bundle", "diff-a.folded", "diff-b.folded", "-o", "both.ashlar"); got.code != command.Done {
		t.Fatal(got)
	}
	for i, line := range []string{
		"small.spaa --theme light", "small.spall --view timeline", "small.spall --view calls --function a", "diff-a.folded diff-b.folded --view diff",
		"ashlar:1?file=small.spaa&tab=functions", "both.ashlar", "small.spaa --view none", "small.spall --range 90s..91s", "ashlar:1?file=none.spaa", "ashlar:1?file=small.spaa small.spall", "--demo --view flame",
	} {
		if testing.Short() && i%4 != 0 {
			continue
		}
		for _, ext := range []string{".svg", ".png"}[:1+i%2] {
			args := append([]string{"render", "--size", "320x240"}, strings.Fields(line)...)
			want := typed(append(args, "-o", "here"+ext)...)
			var out, errs, picture bytes.Buffer
			code, ok, err := serve.Ask(t.Context(), append(args, "-o", "none"+ext), &out, &errs, &picture)
			if got := (outcome{code, out.String(), errs.String()}); err != nil || !ok || got != want {
				t.Errorf("%s: answered %v, %v\n%s\nand else\n%s", line, ok, err, got, want)
			}
			if _, err := os.Lstat("none" + ext); err == nil {
				t.Errorf("%s: the session writes a file", line)
			}
			got := typed(append(args, "--session", "-o", "there"+ext)...)
			a, aerr := os.ReadFile("here" + ext)
			b, berr := os.ReadFile("there" + ext)
			if got != want || !bytes.Equal(a, b) || !bytes.Equal(a, picture.Bytes()) || (aerr == nil) != (want.code == command.Done) || (berr == nil) != (aerr == nil) {
				t.Errorf("%s: %s, and else %s; the pictures have %d, %d and %d bytes", line, got, want, len(a), len(b), picture.Len())
			}
			os.Remove("here" + ext)
			os.Remove("there" + ext)
		}
	}
	if got := typed("render", "small.spaa", "--session", "-o", "small.spaa.svg", "--size", "100x100"); got.code != command.Done {
		t.Error(got)
	}
}

// withLines is a recording that refers to the source file src.c.
const withLines = `{"type":"header","format":"spaa","version":"1.0","frame_order":"leaf_to_root","source_tool":"perf","stack_id_mode":"local","events":[{"name":"cycles","kind":"hardware","sampling":{"mode":"event","primary_metric":"samples"}}]}
{"type":"dso","id":1,"name":"app","is_kernel":false}
{"type":"frame","id":1,"func":"main","dso":1,"srcline":"src.c:1"}
{"type":"stack","id":"s1","frames":[1],"context":{"event":"cycles"},"weights":[{"metric":"samples","value":7}]}
`

// TestReportsAskTheSession runs report and check-claims with --session.
func TestReportsAskTheSession(t *testing.T) {
	copies(t, "small.spaa")
	elsewhere(t)
	want := typed("report", "small.spaa", "-o", "-")
	if got := typed("report", "small.spaa", "-o", "-", "--session"); got != want || want.code != command.Done {
		t.Errorf("%s\nis not\n%s", got, want)
	}
	if err := os.WriteFile("r.md", []byte(want.out), 0o644); err != nil {
		t.Fatal(err)
	}
	want = typed("check-claims", "r.md")
	if got := typed("check-claims", "--session", "r.md"); got != want || want.code != command.Done {
		t.Errorf("%s\nis not\n%s", got, want)
	}
}

// TestSessionOfSamples compares a session's answers with the command's on every sample.
func TestSessionOfSamples(t *testing.T) {
	samples.Need(t)
	elsewhere(t)
	files := samples.Files(t)
	t.Chdir(samples.Path(t, ""))
	answers := 0
	for i, path := range files {
		if testing.Short() && i%16 != 0 {
			continue
		}
		path = samples.Name(path)
		for _, line := range [][]string{{"overview", path, "--json"}, {"top", path, "-n", "5"}, {"info", path}} {
			got, ok := asked(t, line...)
			if !ok {
				continue // unreadable
			}
			answers++
			if want := typed(line...); got.String() != want.String() {
				t.Errorf("%v\nsays in a session\n%.2000s\nand else\n%.2000s", line, got, want)
			}
		}
	}
	if answers < 12 {
		t.Errorf("there were only %d answers", answers)
	}
}

// TestOneServer checks that a second server is refused while one runs, and that the socket of
// a dead server is replaced.
func TestOneServer(t *testing.T) {
	path, end := inside(t)
	if got := typed("serve"); got.code != command.Problem || !strings.Contains(got.err, "already running") {
		t.Errorf("a second server: %s", got)
	}
	if i, err := os.Lstat(path); err != nil || i.Mode().Perm() != 0o600 {
		t.Errorf("the socket: %v, %v", i, err)
	}
	if i, err := os.Stat(filepath.Dir(path)); err != nil || i.Mode().Perm() != 0o700 {
		t.Errorf("its folder: %v, %v", i, err)
	}
	end()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	l.Close()
	if got := typed("serve", "--idle", "1ms"); got.code != command.Done {
		t.Errorf("after one that died: %s", got)
	}
	if _, err := os.Lstat(path); err == nil {
		t.Error("the socket of the one that died is there still")
	}
}

// open returns the number of open files of this process.
func open(t *testing.T) int {
	t.Helper()
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(all)
}

// TestClientsThatLie checks that clients that send nothing, too much or invalid messages, or
// that disconnect early, neither disturb other clients nor leak goroutines or files.
func TestClientsThatLie(t *testing.T) {
	copies(t, "small.spaa")
	goroutines, files := runtime.NumGoroutine(), open(t)
	path, end := inside(t)
	dial := func() net.Conn {
		c, err := net.Dial("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	question := func(version, args string) string {
		return fmt.Sprintf(`{"ashlar":1,"session":{"version":%q,"dir":"/","args":%s}}`+"\n", version, args)
	}
	want := typed("top", "small.spaa")
	check := func(after string) {
		t.Helper()
		if got := typed("top", "small.spaa", "--session"); got != want {
			t.Errorf("after %s: %s", after, got)
		}
	}
	var silent []net.Conn
	for range 200 { // too many: the server closes most of them immediately
		silent = append(silent, dial())
	}
	check("a flood")
	for _, c := range silent {
		c.Close()
	}
	for what, text := range map[string]string{
		"nonsense": "hello\n", "nothing": "\n", "half a message": `{"ashlar":1,"session":{`, "a question of another version": question("x", `["top","small.spaa"]`),
		"no question": `{"ashlar":1,"session":null}` + "\n", "a question that is a list": `{"ashlar":1,"session":[]}` + "\n",
		"a message that is too long": question(strings.Repeat("x", 5<<20), `[]`), "a wrong protocol": `{"ashlar":9,"session":{}}` + "\n",
	} {
		c := dial()
		_ = c.SetDeadline(time.Now().Add(10 * time.Second))
		_, _ = io.WriteString(c, text) // an error is fine: the server may close the connection early
		_ = c.(*net.UnixConn).CloseWrite()
		if b, _ := io.ReadAll(c); bytes.Contains(b, []byte("begun")) {
			t.Errorf("%s is answered with %s", what, b)
		}
		c.Close()
		check(what)
	}
	for range 50 { // disconnect before or during the answer
		ctx, cancel := context.WithCancel(t.Context())
		go cancel()
		_, _, _ = serve.Ask(ctx, []string{"top", "small.spaa"}, io.Discard, io.Discard, io.Discard)
	}
	check("clients that left")
	end()
	for range 3000 {
		if runtime.NumGoroutine() <= goroutines && open(t) <= files {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	b := make([]byte, 1<<20)
	t.Errorf("%d goroutines and %d files, before there were %d and %d\n%s", runtime.NumGoroutine(), open(t), goroutines, files, b[:runtime.Stack(b, true)])
}

// BenchmarkSession measures a session's answer to a repeated question ("again") and to a new
// one ("new"), and the same command without a session ("without").
func BenchmarkSession(b *testing.B) {
	path := os.Getenv("ASHLAR_BENCH_FILE")
	if path == "" {
		path = "../../command/testdata/small.spaa"
	}
	dir := b.TempDir()
	b.Setenv("XDG_RUNTIME_DIR", dir)
	if err := os.Chmod(dir, 0o700); err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go command.Main([]string{"serve", path}, nil, io.Discard, io.Discard, command.Runner{Context: ctx})
	for range 600 {
		if found, _ := filepath.Glob(filepath.Join(dir, "ashlar", "serve-*.sock")); len(found) == 1 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	for what, how := range map[string]string{"again": "--session", "new": "--session", "without": "--json"} {
		b.Run(what, func(b *testing.B) {
			// Load the recording.
			_ = command.Main([]string{"top", path, "-n", "10", how, "--json"}, nil, io.Discard, io.Discard, command.Runner{})
			for rows := 10; b.Loop(); {
				if what == "new" {
					rows++ // a repeated question would get the stored answer
				}
				if code := command.Main([]string{"top", path, "-n", fmt.Sprint(rows), "--json", how}, nil, io.Discard, io.Discard, command.Runner{}); code != command.Done {
					b.Fatal(code)
				}
			}
		})
	}
}

// TestPanicEndsOneAnswer checks that a panic in one answer does not end the session; the
// client then runs the command itself.
func TestPanicEndsOneAnswer(t *testing.T) {
	dir := room(t)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan int)
	go func() {
		done <- command.Main([]string{"serve"}, nil, io.Discard, io.Discard, command.Runner{Context: ctx, Render: func(command.RenderOptions) error { panic("drawing") }})
	}()
	t.Cleanup(func() {
		cancel()
		if code := <-done; code != command.Done {
			t.Errorf("the server ends with %d", code)
		}
	})
	path := socket(t, dir)
	file := filepath.Join(dir, "a.folded")
	if err := os.WriteFile(file, []byte("a;b 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ask := func(args ...string) {
		t.Helper()
		var errs bytes.Buffer
		if code := command.Main(args, nil, io.Discard, &errs, runner); code != command.Done {
			t.Errorf("%s: %d, %s", args[0], code, errs.String())
		}
	}
	ask("render", file, "-o", filepath.Join(dir, "a.png"), "--session")
	ask("top", file, "--session")
	c, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
}
