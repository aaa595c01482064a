package record

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// hook makes node write its profile when a signal ends it. It leaves programs alone that
// handle the signal.
//
//go:embed hook.js
var hook []byte

// grace is how long node has to write its profile after Ctrl-C.
const grace = 2 * time.Second

// runNode records a script with node's own profiler.
func runNode(_ context.Context, j *job) (outcome, error) {
	dir, err := j.folder()
	if err != nil {
		return outcome{}, err
	}
	script := filepath.Join(dir, "hook.js")
	if err := os.WriteFile(script, hook, 0o600); err != nil {
		return outcome{}, err
	}
	args := []string{"--cpu-prof", "--cpu-prof-dir=" + dir, "--require", script}
	if j.rate > 0 {
		args = append(args, fmt.Sprintf("--cpu-prof-interval=%d", max(1, 1_000_000/j.rate)))
	}
	c, err := j.start(j.command(j.path, append(args, j.args[1:]...)...))
	if err != nil {
		return outcome{}, err
	}
	defer c.stop()
	go c.endBusy(dir)
	out := c.wait()
	select {
	case s := <-c.interrupted:
		// By the hook after the signal, or by endBusy.
		if n, ok := s.(syscall.Signal); ok && (out.code == 128+int(n) || out.signal == os.Kill) {
			out = outcome{128 + int(n), s}
		}
	default:
	}
	return out, j.keepProfiles(dir, c.cmd.Process.Pid)
}

// endBusy ends a node that does not react to Ctrl-C because its script is busy. Without the
// hook, Ctrl-C would have ended it at once.
func (c *child) endBusy(dir string) {
	select {
	case <-c.done:
		return
	case s := <-c.interrupted:
		c.interrupted <- s // for runNode
		own := filepath.Join(dir, fmt.Sprintf("handled-%v", s))
		if _, err := os.Stat(own); err == nil || within(grace, c.done) {
			return
		}
		_ = c.cmd.Process.Kill()
	}
}

// keepProfiles moves the profiles that node has written to their places: the main thread's
// to the job's file, those of workers and child processes beside it.
func (j *job) keepProfiles(dir string, pid int) error {
	files, _ := filepath.Glob(filepath.Join(dir, "*.cpuprofile"))
	if len(files) == 0 {
		j.note("node wrote no profile: it was killed, or busy when Ctrl-C came")
		return nil
	}
	// CPU.20260102.030405.PID.THREAD.NUMBER.cpuprofile
	own := fmt.Sprintf(".%d.0.", pid)
	slices.SortFunc(files, func(a, b string) int {
		switch x, y := strings.Contains(a, own), strings.Contains(b, own); {
		case x && !y:
			return -1
		case y && !x:
			return 1
		}
		return strings.Compare(a, b)
	})
	var all error
	for i, f := range files {
		to := j.file
		if i > 0 {
			stem, ext := strings.TrimSuffix(to, ".cpuprofile"), ".cpuprofile"
			to = unused(fmt.Sprintf("%s.thread%d", stem, i), ext)
		}
		all = errors.Join(all, j.keep(f, to))
	}
	if n := len(files) - 1; n > 0 {
		j.note("%d more of its threads and processes: %s", n, strings.TrimSuffix(j.file, ".cpuprofile")+".thread1.cpuprofile …")
	}
	return all
}
