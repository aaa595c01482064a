// Package record implements "ashlar record": it runs a command under the profiler that
// suits it and shows the recording.
package record

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"ashlar/app/core/subcommand"
	"ashlar/app/desktop/outfile"
	"ashlar/ingest/input/safetext"
	"ashlar/render/units"
)

// Command is the record command.
var Command = subcommand.Command{
	Name: "record", Args: "[flags] [--] COMMAND…", Line: "run a command under a profiler and show the recording",
	Text: `
The profiler depends on COMMAND; ashlar record drives those that are installed:
  C, C++, Rust, Go, others   perf, on Linux
  node SCRIPT                node --cpu-prof
  java CLASS|-jar FILE       Java Flight Recorder, part of the JDK
  go test PACKAGE            go test -cpuprofile
  --url HOST:PORT            the pprof address of a running Go program
"ashlar record --check" tells which of them work here, and how to install the
others.

COMMAND runs as it would without ashlar: with the same input, output, signals
and exit code. Ctrl-C ends COMMAND; what was recorded until then is kept. The
window opens with the recording, and follows it while it grows if the profiler
writes as it records (perf, Go traces). Without a display, ashlar record prints
the file's name and what to type next.

Stacks. perf follows callers by frame pointers if the program keeps them (Go
does; C, C++ and Rust with -fno-omit-frame-pointer or
-C force-frame-pointers=yes). Otherwise it copies the stack and uses the unwind
tables (dwarf), which makes large files, so it then samples less often. A
program with neither needs lbr, which Intel processors record. --stacks sets
it. For source lines, compile with -g.

Permissions. If perf_event_paranoid is above 2, Linux lets only root record;
2 leaves out the kernel. Until the next reboot, allow it with:
  sudo sysctl kernel.perf_event_paranoid=1`,
	Examples: [][2]string{
		{"ashlar record ./server --port 8080", "C, C++, Rust or Go: until it ends or Ctrl-C"},
		{"ashlar record --pid 4242 --seconds 10", "a running program"},
		{"ashlar record --url localhost:6060 --seconds 10", "a running Go program that imports net/http/pprof"},
		{"ashlar record --url localhost:6060/debug/pprof/trace", "its execution trace: what goroutines wait for"},
		{"ashlar record go test ./parser -bench Parse", "a Go benchmark"},
		{"ashlar record node server.js", "JavaScript"},
		{"ashlar record java -jar app.jar", "Java, Kotlin, Scala"},
		{"ashlar record -o before.perf.data -- make check", "a name for the file; compare two with ashlar diff"},
	},
	Setup: setup,
}

type options struct {
	out, url, with, stacks, event string
	pid, rate                     int
	seconds                       float64
	force, noWindow, check        bool
}

func setup(fs *pflag.FlagSet) func(*subcommand.Program, []string) error {
	var o options
	fs.SetInterspersed(false) // what follows COMMAND belongs to it
	fs.StringVarP(&o.out, "output", "o", "", "write the recording to `FILE` (default: named after COMMAND, in the working directory)")
	fs.BoolVar(&o.force, "force", false, "replace an existing file")
	fs.IntVar(&o.pid, "pid", 0, "record the running process `PID`, until it ends or Ctrl-C")
	fs.StringVar(&o.url, "url", "", "record the Go program at this pprof `ADDRESS`; with COMMAND, start that first")
	fs.Float64Var(&o.seconds, "seconds", 0, "record for `N` seconds (default: until COMMAND or the process ends; 10 for --url)")
	fs.StringVar(&o.with, "with", "", "use this `PROFILER`: perf, node, java or gotest (default: by COMMAND)")
	fs.StringVar(&o.stacks, "stacks", "", "`HOW` perf follows callers: fp, dwarf or lbr (default: what the program allows)")
	fs.StringVar(&o.event, "event", "", "the `EVENT` that perf samples, as in perf list (default: cycles, or time in virtual machines)")
	fs.IntVar(&o.rate, "rate", 0, "take `N` samples a second (default: 999; 199 with dwarf)")
	fs.BoolVar(&o.noWindow, "no-window", false, "print the file's name instead of opening a window")
	fs.BoolVar(&o.check, "check", false, "list the profilers that work here, and how to install the others")
	return func(p *subcommand.Program, args []string) error {
		if err := o.valid(args); err != nil {
			return err
		}
		if o.check {
			return check(p.Stdout)
		}
		return (&job{options: o, p: p, args: args}).run()
	}
}

func (o *options) valid(args []string) error {
	switch {
	case o.check && len(args) > 0:
		return subcommand.Misuse("--check records nothing; leave out %s", args[0])
	case o.check:
		return nil
	case o.pid < 0 || o.rate < 0 || o.seconds < 0:
		return subcommand.Misuse("--pid, --rate and --seconds take positive numbers")
	case o.pid > 0 && (len(args) > 0 || o.url != ""):
		return subcommand.Misuse("--pid records a running process; leave out the command and --url")
	case o.pid == 0 && o.url == "" && len(args) == 0:
		return subcommand.Misuse("name the command to record, as in ashlar record ./server --port 8080")
	case o.with != "" && profilers[o.with] == nil:
		return subcommand.Misuse("unknown profiler %q; use perf, node, java or gotest", o.with)
	case o.stacks != "" && o.stacks != "fp" && o.stacks != "dwarf" && o.stacks != "lbr":
		return subcommand.Misuse("unknown stacks %q; use fp, dwarf or lbr", o.stacks)
	case o.seconds > 0 && len(args) > 0 && o.url == "":
		return subcommand.Misuse("--seconds is for --pid and --url; a command is recorded until it ends")
	}
	return nil
}

// job is one recording.
type job struct {
	options
	p    *subcommand.Program
	args []string // the command
	file string   // where the recording goes
	temp string   // folder of temporary files, "" if there is none yet
	// path and name are the program to run and its name for the user.
	path, name string
	shown      bool // the window is open
	child      *child
}

// A profiler records the job's command, or the running process of --pid if the job has no
// command. It returns how the command ended, or an error if it was not run.
type profiler struct {
	ext string
	// run starts the command and records it.
	run func(ctx context.Context, j *job) (outcome, error)
	// attach records the process of --pid; nil if the profiler cannot.
	attach func(ctx context.Context, j *job) error
}

// profilers are the values of --with.
var profilers map[string]*profiler

func init() {
	profilers = map[string]*profiler{
		"perf":   {".perf.data", runPerf, attachPerf},
		"node":   {".cpuprofile", runNode, nil},
		"java":   {".jfr", runJava, attachJava},
		"gotest": {".pprof", runGoTest, nil},
	}
}

func (j *job) run() error {
	ctx, stop := context.WithCancel(j.p.Ctx)
	defer stop()
	defer j.clean()
	switch {
	case j.url != "":
		return j.fetch(ctx)
	case j.pid > 0:
		return j.attach(ctx)
	}
	kind, err := j.resolve()
	if err != nil {
		return err
	}
	with := profilers[cmp.Or(j.with, kind)]
	if err := j.choose(with.ext); err != nil {
		return err
	}
	out, err := with.run(ctx, j)
	if err != nil {
		return err
	}
	return j.finish(out)
}

func (j *job) attach(ctx context.Context) error {
	path, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", j.pid))
	if err != nil && !alive(j.pid) {
		return fmt.Errorf("there is no process %d", j.pid)
	}
	j.path, j.name = path, filepath.Base(path)
	if path == "" {
		j.name = fmt.Sprintf("pid%d", j.pid)
	}
	with := profilers[cmp.Or(j.with, kindOf(path))]
	if with.attach == nil {
		with = profilers["perf"]
		j.note("perf cannot name JavaScript functions of a program that is already running; start the program with ashlar record node SCRIPT")
	}
	if err := j.choose(with.ext); err != nil {
		return err
	}
	if err := with.attach(ctx, j); err != nil {
		return err
	}
	return j.show()
}

// finish shows the recording and passes on how the command ended.
func (j *job) finish(out outcome) error {
	if err := j.show(); err != nil {
		j.note("%v", err) // the command's exit code counts
	}
	j.clean()
	if out.signal != nil {
		endBy(out.signal)
	}
	if out.code == 0 {
		return nil
	}
	return &subcommand.Exit{Code: out.code}
}

// clean removes the temporary files.
func (j *job) clean() {
	if j.temp != "" {
		_ = os.RemoveAll(j.temp)
		j.temp = ""
	}
}

// folder returns the job's folder for temporary files.
func (j *job) folder() (string, error) {
	if j.temp == "" {
		dir, err := os.MkdirTemp("", "ashlar-record-")
		if err != nil {
			return "", err
		}
		j.temp = dir
	}
	return j.temp, nil
}

func (j *job) note(format string, args ...any) {
	fmt.Fprintf(j.p.Stderr, "ashlar: %s\n", safetext.Text(fmt.Sprintf(format, args...)))
}

// choose sets the file of the recording.
func (j *job) choose(ext string) error {
	if j.file = j.out; j.file == "" {
		j.file = unused(safeName(j.name), ext)
	}
	if err := outfile.Unused(j.file, outfile.Options{Replace: j.force}); err != nil {
		return err
	}
	st, err := os.Stat(filepath.Dir(j.file))
	if err != nil || !st.IsDir() {
		return fmt.Errorf("%s is not a folder", filepath.Dir(j.file))
	}
	return nil
}

// unused returns a name for a file that does not exist yet.
func unused(name, ext string) string {
	file := name + ext
	for n := 2; ; n++ {
		if _, err := os.Lstat(file); err != nil {
			return file
		}
		file = fmt.Sprintf("%s-%d%s", name, n, ext)
	}
}

func safeName(name string) string {
	name = strings.Map(func(r rune) rune {
		if strings.ContainsRune(`/\:*?"<>|`, r) || r < ' ' {
			return '-'
		}
		return r
	}, name)
	return cmp.Or(strings.Trim(name, ".- "), "recording")
}

// keep moves a finished file to the job's file.
func (j *job) keep(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	return outfile.Write(to, outfile.Options{Replace: true}, func(w io.Writer) error {
		_, err := io.Copy(w, in)
		return err
	})
}

// show says where the recording is and opens it.
func (j *job) show() error {
	st, err := os.Stat(j.file)
	if err != nil || st.Size() == 0 {
		return errors.New("nothing was recorded")
	}
	j.note("%s recorded (%s)", j.file, units.Bytes(st.Size()))
	if j.shown {
		return nil
	}
	if j.windowless() || !j.open(false) {
		j.note("next: %s", safetext.Command("ashlar", "overview", j.file))
	}
	return nil
}

// windowless reports whether no window can open.
func (j *job) windowless() bool { return j.noWindow || !j.p.Windowed || !display() }

// executable returns this program's path; tests replace it.
var executable = os.Executable

// open opens the recording in a window of another process, so that this one can end with
// the command.
func (j *job) open(follow bool) bool {
	program, err := executable()
	if err != nil {
		return false
	}
	args := []string{"--", j.file}
	if follow {
		args = append([]string{"--follow"}, args...)
	}
	cmd := exec.Command(program, args...)
	cmd.SysProcAttr = apart()
	if err := cmd.Start(); err != nil {
		return false
	}
	go func() { _ = cmd.Wait() }()
	j.shown = true
	return true
}

// follow opens the window once the growing file has samples.
func (j *job) follow(ctx context.Context) {
	const first = 1 << 14 // a file without samples is smaller
	if j.windowless() {
		return
	}
	for !j.shown {
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Second):
		}
		if st, err := os.Stat(j.file); err == nil && st.Size() >= first {
			j.open(true)
			return
		}
	}
}
