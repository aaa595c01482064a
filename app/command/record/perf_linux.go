package record

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"ashlar/ingest/format/program"
	"ashlar/ingest/input/safetext"
)

// system is the root of the files that describe the system; tests replace it.
var system = "/"

// perf is a running perf record.
type perf struct {
	cmd     *exec.Cmd
	said    bytes.Buffer // its messages
	control *os.File     // commands to it
	done    chan struct{}
}

// runPerf records the command with perf. The command waits in a shell until perf is ready,
// and runs as a child of this process, so that its exit code and signals stay exact.
func runPerf(ctx context.Context, j *job) (outcome, error) {
	if err := j.perfWorks(); err != nil {
		return outcome{}, err
	}
	wait, release, err := os.Pipe()
	if err != nil {
		return outcome{}, err
	}
	defer release.Close()
	cmd := j.command("/bin/sh", append([]string{"-c", `read _ <&3 && exec "$@" 3<&-`, "sh"}, j.args...)...)
	cmd.ExtraFiles = []*os.File{wait}
	c, err := j.start(cmd)
	wait.Close()
	if err != nil {
		return outcome{}, err
	}
	defer c.stop()
	p, err := j.startPerf(cmd.Process.Pid)
	if err != nil {
		release.Close() // the shell ends without starting the command
		c.wait()
		return outcome{}, err
	}
	if _, err := io.WriteString(release, "\n"); err != nil {
		return outcome{}, err
	}
	release.Close()
	ctx, cancel := context.WithCancel(ctx)
	watched := make(chan struct{})
	go func() { defer close(watched); j.follow(ctx) }()
	out := c.wait()
	cancel()
	<-watched
	p.end()
	return out, nil
}

// attachPerf records a running process until it ends, the time is up, or the user presses
// Ctrl-C.
func attachPerf(ctx context.Context, j *job) error {
	if err := j.perfWorks(); err != nil {
		return err
	}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, passed...)
	defer signal.Stop(stop)
	p, err := j.startPerf(j.pid)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	watched := make(chan struct{})
	go func() { defer close(watched); j.follow(ctx) }()
	select {
	case <-p.done:
	case <-stop:
	case <-after(j.seconds):
	}
	cancel()
	<-watched
	p.end()
	return nil
}

// after returns a channel that receives after a number of seconds, never for 0.
func after(seconds float64) <-chan time.Time {
	if seconds == 0 {
		return nil
	}
	return time.After(time.Duration(seconds * float64(time.Second)))
}

// perfWorks returns an error that tells what to do if perf is missing or may not record.
func (j *job) perfWorks() error {
	if err := exec.Command("perf", "--version").Run(); err != nil {
		return fmt.Errorf("perf is not installed. Install it with: %s", installPerf())
	}
	level, text := paranoid()
	switch {
	case text == "" || level < 2:
	case level > 2:
		return fmt.Errorf("perf is not permitted to record: kernel.perf_event_paranoid is %s. Until the next reboot, allow it with: sudo sysctl kernel.perf_event_paranoid=1", text)
	default:
		j.note("the kernel is left out, because kernel.perf_event_paranoid is 2. To include it: sudo sysctl kernel.perf_event_paranoid=1")
	}
	return nil
}

// paranoid returns the kernel's limit on recording for this user, and as text; "" if there
// is none.
func paranoid() (level int, text string) {
	b, err := os.ReadFile(filepath.Join(system, "proc/sys/kernel/perf_event_paranoid"))
	text = strings.TrimSpace(string(b))
	if err != nil || privileged() {
		return 0, ""
	}
	level, err = strconv.Atoi(text)
	if err != nil {
		return 0, ""
	}
	return level, text
}

// privileged reports whether limits on recording do not apply.
func privileged() bool {
	const admin, perfmon = 1 << 21, 1 << 38
	b, err := os.ReadFile(filepath.Join(system, "proc/self/status"))
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(b), "CapEff:")
	line, _, _ := strings.Cut(rest, "\n")
	caps, _ := strconv.ParseUint(strings.TrimSpace(line), 16, 64)
	return caps&(admin|perfmon) != 0
}

// installPerf returns the command that installs perf on this system.
func installPerf() string {
	b, _ := os.ReadFile(filepath.Join(system, "etc/os-release"))
	var ids string
	for line := range strings.Lines(string(b)) {
		if key, v, _ := strings.Cut(strings.TrimSpace(line), "="); key == "ID" || key == "ID_LIKE" {
			ids += " " + strings.Trim(v, `"'`)
		}
	}
	for _, id := range strings.Fields(ids) {
		switch id {
		case "ubuntu":
			return "sudo apt install linux-tools-common linux-tools-$(uname -r)"
		case "debian":
			return "sudo apt install linux-perf"
		case "fedora", "rhel", "centos":
			return "sudo dnf install perf"
		case "arch":
			return "sudo pacman -S perf"
		case "suse", "opensuse":
			return "sudo zypper install perf"
		case "alpine":
			return "sudo apk add perf"
		}
	}
	return "the package perf, linux-perf or linux-tools of your system"
}

// perfFlags returns the flags of perf record, and a sentence about the stacks, "" if there
// is nothing to say.
func (j *job) perfFlags(pid int) (flags []string, about string) {
	how := j.stacks
	if how == "" {
		how, about = stacksOf(j.path)
	}
	rate := 999
	if how == "dwarf" {
		rate = 199
	}
	flags = []string{"record", "--call-graph", how, "-F", strconv.Itoa(cmp.Or(j.rate, rate)), "-o", j.file, "-p", strconv.Itoa(pid), "-D", "-1", "--control", "fd:3,4"}
	if j.event != "" {
		flags = append(flags, "-e", j.event)
	}
	return flags, about
}

// stacksOf returns how perf can follow callers in a program, by what its file has, and a
// sentence about it, "" for the usual.
func stacksOf(path string) (how, about string) {
	if by, _ := shebang(path); by != "" {
		if found, err := exec.LookPath(by); err == nil {
			path = found
		}
	}
	p, err := program.OpenCode(path)
	if err != nil {
		return "fp", ""
	}
	defer p.Close()
	with, of := p.FramePointers()
	name := safetext.Short(filepath.Base(path))
	switch {
	case p.IsGo() || of > 0 && 2*with >= of:
		return "fp", ""
	case p.Unwinds():
		return "dwarf", name + " keeps no frame pointers, so perf copies the stack (--stacks dwarf, 199 samples a second)"
	case branches():
		return "lbr", name + " has neither frame pointers nor unwind tables, so stacks come from the processor (--stacks lbr)"
	}
	return "fp", name + " has neither frame pointers nor unwind tables: callers will be missing"
}

// branches reports whether the processor records the last branches, as lbr needs.
func branches() bool {
	files, _ := filepath.Glob(filepath.Join(system, "sys/bus/event_source/devices/cpu*/caps/branches"))
	for _, f := range files {
		if b, err := os.ReadFile(f); err == nil {
			if n, err := strconv.Atoi(strings.TrimSpace(string(b))); err == nil && n > 0 {
				return true
			}
		}
	}
	return false
}

// startPerf starts perf on a process and waits until it records.
func (j *job) startPerf(pid int) (*perf, error) {
	flags, about := j.perfFlags(pid)
	if about != "" {
		j.note("%s", about)
	}
	commands, control, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer commands.Close()
	acks, ack, err := os.Pipe()
	if err != nil {
		control.Close()
		return nil, err
	}
	if j.force {
		_ = os.Remove(j.file) // perf would keep it as FILE.old
	}
	p := &perf{cmd: exec.Command("perf", flags...), control: control, done: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = &p.said, &p.said
	p.cmd.WaitDelay = time.Second // if a process of perf's keeps its output open
	p.cmd.ExtraFiles = []*os.File{commands, ack}
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C is for the command
	err = p.cmd.Start()
	ack.Close()
	if err != nil {
		control.Close()
		acks.Close()
		return nil, fmt.Errorf("perf cannot be started (%w)", cause(err))
	}
	go func() {
		_ = p.cmd.Wait()
		close(p.done)
	}()
	_, _ = io.WriteString(control, "enable\n")
	_ = acks.SetReadDeadline(time.Now().Add(time.Minute))
	if _, err := io.ReadFull(acks, make([]byte, 4)); err != nil {
		p.end()
		acks.Close()
		_ = os.Remove(j.file)
		return nil, p.failed()
	}
	_ = acks.SetReadDeadline(time.Time{})
	go func() { _, _ = io.Copy(io.Discard, acks); acks.Close() }()
	go p.flush()
	return p, nil
}

// flush makes perf write what it has twice a second: it does so after each command.
func (p *perf) flush() {
	defer p.control.Close()
	for !within(time.Second/2, p.done) {
		if _, err := io.WriteString(p.control, "enable\n"); err != nil {
			return
		}
	}
}

// end makes perf finish its file.
func (p *perf) end() {
	_ = p.cmd.Process.Signal(os.Interrupt)
	<-p.done
}

// failed returns the reason why perf did not record.
func (p *perf) failed() error {
	said := strings.TrimSpace(p.said.String())
	lower := strings.ToLower(said)
	switch {
	case strings.Contains(lower, "permission") || strings.Contains(lower, "not permitted") || strings.Contains(lower, "access to performance"):
		return errors.New("perf is not permitted to record here. In a container, start it with --cap-add PERFMON --security-opt seccomp=unconfined; for another user's process, record as root")
	case strings.Contains(lower, "unknown option") && strings.Contains(lower, "control"):
		return errors.New("perf is older than 5.10. Install a newer one with: " + installPerf())
	case said == "":
		return errors.New("perf ended without a message")
	}
	var lines []string
	for line := range strings.Lines(said) {
		if line = strings.TrimSpace(line); line != "" && len(lines) < 3 {
			lines = append(lines, strings.TrimSuffix(line, "."))
		}
	}
	return fmt.Errorf("perf cannot record: %s", safetext.Text(strings.Join(lines, "; ")))
}
