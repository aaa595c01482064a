package record_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"ashlar/app/command"
	"ashlar/app/command/record"
)

// answer is what a run of ashlar record printed, and how it ended.
type answer struct {
	code         int
	out, remarks string
	signals      []os.Signal // that would end the program
	opened       []string    // arguments of the windows
}

// output is a buffer to which the command and ashlar record can write at once, as to a
// terminal.
type output struct {
	mu sync.Mutex
	b  strings.Builder
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

// place is an empty working directory with fake programs in PATH.
type place struct {
	*testing.T
	dir, bin, log string
}

func newPlace(t *testing.T) *place {
	p := &place{T: t, dir: t.TempDir(), bin: t.TempDir()}
	p.log = filepath.Join(p.bin, "windows")
	t.Chdir(p.dir)
	t.Setenv("PATH", p.bin+":/usr/bin:/bin")
	t.Setenv("TMPDIR", t.TempDir())
	t.Setenv("DISPLAY", ":none")
	p.fake("window", `echo "$*" >> `+p.log)
	return p
}

// fake writes a program for the shell.
func (p *place) fake(name, script string) {
	p.Helper()
	if err := os.WriteFile(filepath.Join(p.bin, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		p.Fatal(err)
	}
}

// run runs ashlar record. With window, a window can be opened.
func (p *place) run(stdin string, window bool, args ...string) (a answer) {
	p.Helper()
	record.Replace(p.T, filepath.Join(p.bin, "window"), func(s os.Signal) { a.signals = append(a.signals, s) })
	var out, remarks output
	var r command.Runner
	if window {
		r.Window = func(command.WindowOptions) error { return nil }
	}
	a.code = command.Main(append([]string{"record"}, args...), strings.NewReader(stdin), &out, &remarks, r)
	a.out, a.remarks = out.String(), remarks.String()
	if left, _ := filepath.Glob(filepath.Join(os.Getenv("TMPDIR"), "*")); len(left) > 0 {
		p.Errorf("%v leaves %v", args, left)
	}
	for end := time.Now().Add(5 * time.Second); window && time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if b, err := os.ReadFile(p.log); err == nil && strings.HasSuffix(string(b), "\n") { // not only created
			a.opened = strings.Split(strings.TrimSpace(string(b)), "\n")
			break
		}
	}
	_ = os.Remove(p.log)
	return a
}

func (p *place) read(name string) string {
	p.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		p.Error(err)
	}
	return string(b)
}

// fakePerf records its arguments, and that of each command, until SIGINT.
const fakePerf = `
[ "$1" = --version ] && { echo perf version 6.1; exit 0; }
args="$*"
while [ $# -gt 0 ]; do [ "$1" = -o ] && file=$2; shift; done
trap 'echo "finished" >> "$file"; exit 0' INT
read command <&3 || exit 1
echo "$args" > "$file"
head -c 20000 /dev/zero >> "$file"
printf 'ack\n\0' >&4
while read command <&3; do echo "$command" >> "$file"; done`

// TestPerf checks that perf gets the right flags, and that the command's input, output and
// exit code stay its own.
func TestPerf(t *testing.T) {
	p := newPlace(t)
	p.fake("perf", fakePerf)
	p.fake("upper", `tr a-z A-Z; exit 7`)
	a := p.run("hello\n", false, "upper")
	if a.code != 7 || a.out != "HELLO\n" || !strings.Contains(a.remarks, "upper.perf.data recorded") || !strings.Contains(a.remarks, "next: ashlar overview upper.perf.data") {
		t.Errorf("%+v", a)
	}
	got := p.read("upper.perf.data")
	if !strings.HasPrefix(got, "record --call-graph ") || !strings.Contains(got, "-o upper.perf.data -p ") || !strings.HasSuffix(got, "finished\n") {
		t.Errorf("perf was run with %.200q", got)
	}
	if a = p.run("", false, "--event", "cycles:pp", "--rate", "50", "--stacks", "fp", "--", "upper", "-o", "x"); a.code != 7 {
		t.Errorf("%+v", a)
	}
	if got := p.read("upper-2.perf.data"); !strings.Contains(got, "--call-graph fp -F 50 ") || !strings.Contains(got, "-e cycles:pp") {
		t.Errorf("perf was run with %.200q", got)
	}
	if a = p.run("", false, "-o", "upper.perf.data", "upper"); a.code != 1 || !strings.Contains(a.remarks, "--force replaces it") {
		t.Errorf("an existing file: %+v", a)
	}
	p.fake("options", `echo "$*"`)
	if a = p.run("", false, "options", "--help", "-o", "x"); a.code != 0 || a.out != "--help -o x\n" {
		t.Errorf("flags of the command: %+v", a)
	}
	// The window follows the file while it grows, and opens only once.
	p.fake("slow", "sleep 2.5")
	a = p.run("", true, "slow")
	if a.code != 0 || fmt.Sprint(a.opened) != "[--follow -- slow.perf.data]" || strings.Contains(a.remarks, "next:") {
		t.Errorf("with a window: %+v", a)
	}
	if a = p.run("", true, "--force", "-o", "slow.perf.data", "upper"); fmt.Sprint(a.opened) != "[-- slow.perf.data]" {
		t.Errorf("a short command: %+v", a)
	}
	if a = p.run("", false, "sh", "-c", "kill -TERM $$"); a.code != 128+15 || fmt.Sprint(a.signals) != "[terminated]" {
		t.Errorf("a command that a signal ends: %+v", a)
	}
}

// TestInterrupt checks that Ctrl-C ends the command as it likes, and keeps the recording.
func TestInterrupt(t *testing.T) {
	p := newPlace(t)
	p.fake("perf", fakePerf)
	p.fake("server", `trap 'echo bye; exit 9' INT; touch ready; while :; do sleep .05; done`)
	go func() {
		for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
			if _, err := os.Stat("ready"); err == nil {
				_ = unix.Kill(os.Getpid(), unix.SIGINT)
				return
			}
		}
	}()
	if a := p.run("", false, "server"); a.code != 9 || a.out != "bye\n" || len(a.signals) > 0 {
		t.Errorf("%+v", a)
	}
	if got := p.read("server.perf.data"); !strings.HasSuffix(got, "finished\n") {
		t.Errorf("the recording is %.200q", got)
	}
}

// TestPerfCannot checks that the command does not run if perf cannot record it, and the
// reasons given.
func TestPerfCannot(t *testing.T) {
	p := newPlace(t)
	p.fake("work", "touch ran")
	system := t.TempDir()
	record.ReplaceSystem(t, system)
	write := func(name, text string) {
		path := filepath.Join(system, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cannot := func(what, want string) {
		t.Helper()
		if a := p.run("", false, "work"); a.code != 1 || !strings.Contains(a.remarks, want) {
			t.Errorf("%s: %+v", what, a)
		}
		if _, err := os.Stat("ran"); err == nil {
			t.Errorf("%s: the command ran", what)
		}
	}
	p.fake("perf", "exit 2") // as Ubuntu's without the package for the kernel
	for id, want := range map[string]string{"ID=ubuntu\nID_LIKE=debian": "linux-tools-$(uname -r)", "ID=debian": "apt install linux-perf", "ID=\"rhel\"": "dnf install perf", "ID=x": "the package perf"} {
		write("etc/os-release", id+"\n")
		cannot(id, want)
	}
	p.fake("perf", `[ "$1" = --version ] || { echo 'Error: No permission to enable cycles event.' >&2; exit 255; }`)
	cannot("a container", "--cap-add PERFMON")
	p.fake("perf", `[ "$1" = --version ] || { echo ' Error: unknown option 'control >&2; exit 129; }`)
	cannot("an old perf", "older than 5.10")
	p.fake("perf", `[ "$1" = --version ] || { echo 'event syntax error: nonsense' >&2; exit 129; }`)
	cannot("an unknown event", "perf cannot record: event syntax error: nonsense")
	write("proc/sys/kernel/perf_event_paranoid", "4\n")
	write("proc/self/status", "Name:\tx\nCapEff:\t0000000000000000\n")
	cannot("Debian's default", "kernel.perf_event_paranoid is 4. Until the next reboot, allow it with: sudo sysctl kernel.perf_event_paranoid=1")
	p.fake("perf", fakePerf)
	write("proc/self/status", "Name:\tx\nCapEff:\t000001ffffffffff\n")
	if a := p.run("", false, "work"); a.code != 0 {
		t.Errorf("root may record: %+v", a)
	}
	write("proc/self/status", "Name:\tx\nCapEff:\t0000000000000000\n")
	write("proc/sys/kernel/perf_event_paranoid", "2\n")
	if a := p.run("", false, "work"); a.code != 0 || !strings.Contains(a.remarks, "the kernel is left out") {
		t.Errorf("without the kernel: %+v", a)
	}
}

// TestStacks checks that the way to follow callers suits compiled programs.
func TestStacks(t *testing.T) {
	dir := t.TempDir()
	source := filepath.Join(dir, "a.c")
	if err := os.WriteFile(source, []byte(`
int leaf(int x) { for (int i = 0; i < x; i++) x ^= i * 7; return x; }
__attribute__((noinline)) int middle(int x) { return leaf(x) * 3 + leaf(x + 1); }
__attribute__((noinline)) int upper(int x) { return middle(x) + middle(x * 5) + 1; }
int main(int c, char **v) { return upper(c) & 1; }
`), 0o600); err != nil {
		t.Fatal(err)
	}
	build := func(flags string) string {
		path := filepath.Join(dir, strings.ReplaceAll(flags, " ", ""))
		if out, err := exec.Command("gcc", append(strings.Fields(flags), "-o", path, source)...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return path
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		build("-O2 -fomit-frame-pointer"):       "dwarf",
		build("-O2 -fno-omit-frame-pointer"):    "fp",
		build("-O2 -fno-omit-frame-pointer -s"): "fp",
		build("-O2 -fomit-frame-pointer -s"):    "dwarf",
		self:                                    "fp", // Go
		source:                                  "fp", // not a program
	} {
		if how, about := record.StacksOf(path); how != want || (how == "dwarf") != (about != "") {
			t.Errorf("%s: %s %q, want %s", filepath.Base(path), how, about, want)
		}
	}
	// Without both, what the processor has decides.
	bare := filepath.Join(dir, "bare")
	if out, err := exec.Command("objcopy", "--remove-section", ".eh_frame", "--remove-section", ".eh_frame_hdr", build("-O2 -fomit-frame-pointer -s"), bare).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	system := t.TempDir()
	record.ReplaceSystem(t, system)
	if how, about := record.StacksOf(bare); how != "fp" || !strings.Contains(about, "callers will be missing") {
		t.Errorf("without lbr: %s %q", how, about)
	}
	caps := filepath.Join(system, "sys/bus/event_source/devices/cpu_core/caps")
	if err := os.MkdirAll(caps, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(caps, "branches"), []byte("32\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if how, _ := record.StacksOf(bare); how != "lbr" {
		t.Errorf("with lbr: %s", how)
	}
}

// TestNodeAndJava checks the flags of both, where their recordings go, and a script that
// names node as its interpreter.
func TestNodeAndJava(t *testing.T) {
	p := newPlace(t)
	p.fake("node", `echo "$*"
for a; do case $a in --cpu-prof-dir=*) dir=${a#*=};; esac; done
echo main > $dir/CPU.20260102.030405.$$.0.001.cpuprofile
echo worker > $dir/CPU.20260102.030405.$$.1.002.cpuprofile
exit 4`)
	a := p.run("", true, "node", "app.js", "--port=1")
	if a.code != 4 || !strings.HasPrefix(a.out, "--cpu-prof --cpu-prof-dir=") || !strings.HasSuffix(a.out, "hook.js app.js --port=1\n") || fmt.Sprint(a.opened) != "[-- app.cpuprofile]" {
		t.Errorf("%+v", a)
	}
	if main, worker := p.read("app.cpuprofile"), p.read("app.thread1.cpuprofile"); main != "main\n" || worker != "worker\n" {
		t.Errorf("the files have %q and %q", main, worker)
	}
	p.fake("tool", "") // replaced by a script of node
	if err := os.WriteFile(filepath.Join(p.bin, "tool"), []byte("#!/usr/bin/env node\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if a := p.run("", false, "tool", "run"); a.code != 4 || !strings.HasSuffix(a.out, "hook.js "+p.bin+"/tool run\n") {
		t.Errorf("a script: %+v", a)
	}
	p.fake("java", `echo "$*"
file=${1##*filename=}
echo jfr > $file; exit 5`)
	a = p.run("", true, "java", "-cp", "lib", "com.App")
	if a.code != 5 || !strings.Contains(a.out, "-Xlog:jfr+startup=off -cp lib com.App\n") || p.read("com.App.jfr") != "jfr\n" || fmt.Sprint(a.opened) != "[-- com.App.jfr]" {
		t.Errorf("%+v", a)
	}
	p.fake("java", "exit 1")
	if a = p.run("", false, "java", "-jar", "a.jar"); a.code != 1 || !strings.Contains(a.remarks, "java wrote no recording") {
		t.Errorf("without a recording: %+v", a)
	}
}

// TestGoTest checks the flags of go test and that its test binary stays beside the profile.
func TestGoTest(t *testing.T) {
	p := newPlace(t)
	p.fake("go", `echo "$*"
echo profile > ${2#-cpuprofile=}; echo binary > ${3#-o=}parser.test; exit 1`)
	a := p.run("", false, "go", "test", "./parser", "-bench", "Parse")
	if a.code != 1 || !strings.HasSuffix(a.out, "/ ./parser -bench Parse\n") || p.read("parser.pprof") != "profile\n" || p.read("parser.test") != "binary\n" {
		t.Errorf("%+v", a)
	}
	for args, want := range map[string]string{
		"go test ./...":             "one package at a time",
		"go test -cpuprofile=x ./a": "leave out -cpuprofile=x",
		"go run . -x":               "build first: go build -o prog . -x",
		"--with gotest go build":    "is for go test PACKAGE",
	} {
		if a := p.run("", false, strings.Fields(args)...); a.code != command.Usage || !strings.Contains(a.remarks, want) {
			t.Errorf("%s: %+v", args, a)
		}
	}
}

// TestSilentURL checks that a recording of a server that accepts the request and sends nothing,
// or nothing more, ends by itself and leaves no file; a trace that has begun is kept.
func TestSilentURL(t *testing.T) {
	p := newPlace(t)
	done := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/debug/pprof/profile" {
			fmt.Fprint(w, "part")
			w.(http.Flusher).Flush()
		}
		<-done
	}))
	defer s.Close()
	defer close(done)
	record.ReplacePatience(t, 100*time.Millisecond)
	for kind, code := range map[string]int{"profile": 1, "allocs": 1, "trace": 0} {
		a := p.run("", false, "--url", s.URL+"/debug/pprof/"+kind, "--seconds", "0.1", "-o", kind)
		_, err := os.Stat(kind)
		if a.code != code || !strings.Contains(a.remarks, "the server sent nothing for ") || (err == nil) != (code == 0) {
			t.Errorf("%s: %+v, %v", kind, a, err)
		}
	}
}

// TestLoginPage checks that an answer that is no recording is said to be none, and kept.
func TestLoginPage(t *testing.T) {
	p := newPlace(t)
	const page = "<!DOCTYPE html>\n<html><head><title>Sign in</title></head>\n<body><form action=\"/login\">\n<p>Room 12\n<p>Floor 3\n</form></body></html>\n"
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, page) }))
	defer s.Close()
	for _, kind := range []string{"profile", "heap", "trace"} {
		a := p.run("", true, "--url", s.URL+"/debug/pprof/"+kind, "--seconds", "1", "-o", kind)
		if a.code != 1 || len(a.opened) > 0 || !strings.Contains(a.remarks, "is no recording, which is kept in "+kind) || strings.Contains(a.remarks, "recorded (") || p.read(kind) != page {
			t.Errorf("%s: %+v", kind, a)
		}
	}
}

// TestURL checks recordings from a pprof address, without and with a command.
func TestURL(t *testing.T) {
	const profile = "main;work 1\n"
	p := newPlace(t)
	var asked []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.String())
		if r.URL.Path == "/debug/pprof/heap" {
			http.Error(w, "no heap here", http.StatusTeapot)
			return
		}
		fmt.Fprint(w, profile)
	}))
	defer s.Close()
	host := strings.TrimPrefix(s.URL, "http://")
	if a := p.run("", true, "--url", host); a.code != 0 || len(a.opened) != 1 || p.read(strings.ReplaceAll(host, ":", "-")+".pprof") != profile {
		t.Errorf("%+v", a)
	}
	if a := p.run("", false, "--url", s.URL+"/debug/pprof/trace", "--seconds", "2.5", "-o", "t.trace"); a.code != 0 {
		t.Errorf("%+v", a)
	}
	if a := p.run("", false, "--url", s.URL+"/debug/pprof/heap", "-o", "x"); a.code != 1 || !strings.Contains(a.remarks, "418") {
		t.Errorf("an error: %+v", a)
	}
	if _, err := os.Stat("x"); err == nil {
		t.Error("a failed recording leaves its file")
	}
	p.fake("server", "sleep .5; exit 3")
	if a := p.run("", false, "--url", host, "--seconds", "1", "--", "server"); a.code != 3 || p.read("server.pprof") != profile {
		t.Errorf("with a command: %+v", a)
	}
	if want := "[/debug/pprof/profile?seconds=10 /debug/pprof/trace?seconds=2.5 /debug/pprof/heap /debug/pprof/profile?seconds=1]"; fmt.Sprint(asked) != want {
		t.Errorf("asked %v, want %s", asked, want)
	}
}

// TestMisuse checks the messages about the command line.
func TestMisuse(t *testing.T) {
	p := newPlace(t)
	for args, want := range map[string]string{
		"":                       "name the command to record, as in ashlar record ./server",
		"--check ls":             "--check records nothing",
		"--pid 1 ls":             "--pid records a running process",
		"--with vtune ls":        `unknown profiler "vtune"`,
		"--stacks all ls":        `unknown stacks "all"`,
		"--seconds 1 ls":         "a command is recorded until it ends",
		"no-such-program":        "there is no such program",
		"--url ftp://x":          "is not an address like localhost:6060",
		"--seconds -1 --url a:1": "take positive numbers",
	} {
		if a := p.run("", false, strings.Fields(args)...); a.code != command.Usage || !strings.Contains(a.remarks, want) {
			t.Errorf("%q: %+v", args, a)
		}
	}
	if a := p.run("", false, "--pid", "999999999"); a.code != 1 || !strings.Contains(a.remarks, "there is no process 999999999") {
		t.Errorf("no process: %+v", a)
	}
	p.fake("perf", fakePerf)
	if a := p.run("", false, "--check"); a.code != 0 || !strings.Contains(a.out, "perf     works for all programs ("+p.bin+"/perf)") {
		t.Errorf("check: %+v", a)
	}
}
