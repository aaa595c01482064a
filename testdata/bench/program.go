//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"syscall"
	"time"
)

// run is one run of a program.
type run struct {
	Seconds float64 `json:"seconds"` // from start to exit
	CPU     float64 `json:"cpu_seconds"`
	System  float64 `json:"system_seconds"` // of CPU
	// Peak is the most memory it held, Own the most that was not of mapped
	// files; in bytes.
	Peak int64 `json:"peak_bytes"`
	Own  int64 `json:"own_bytes"`
	// Others is the share of the machine that other programs had meanwhile,
	// not counting those of low priority.
	Others float64 `json:"others"`
	// Value was measured by the program itself.
	Value float64 `json:"value,omitempty"`
	Text  string  `json:"-"` // what it printed
}

// build compiles ashlar as it is released.
func (b *bench) build() error {
	b.program = filepath.Join(b.temp, "ashlar")
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-tags", "novulkan", "-o", b.program, "./app/ashlar")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("building ashlar (bench runs in the root of the tree): %v\n%s", err, out)
	}
	return nil
}

// repeat runs a program several times, the quickest first.
func (b *bench) repeat(program string, args ...string) ([]run, error) {
	var all []run
	for range b.runs {
		b.quiet()
		r, err := execute(exec.Command(program, args...))
		if err != nil {
			return nil, err
		}
		all = append(all, r)
		if r.Seconds < all[0].Seconds {
			last := len(all) - 1
			all[0], all[last] = all[last], all[0]
		}
	}
	return all, nil
}

// forgetPeak lets go of what this program held while it made files: a child begins
// with its parent's peak.
func forgetPeak() {
	debug.FreeOSMemory()
	os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) // else peaks are too high
}

// patience limits a run, so that a hanging program does not block the next rows.
const patience = 20 * time.Minute

// execute runs a program to its end.
func execute(cmd *exec.Cmd) (run, error) { return executeWithin(patience, cmd) }

// executeWithin is execute for what may take so long.
func executeWithin(limit time.Duration, cmd *exec.Cmd) (run, error) {
	var out, complaints bytes.Buffer
	cmd.WaitDelay = 10 * time.Second // what it leaves behind may hold its output
	cmd.Stdout, cmd.Stderr = &out, &complaints
	forgetPeak()
	before, began := now(), time.Now()
	if err := cmd.Start(); err != nil {
		return run{}, err
	}
	ended := make(chan struct{})
	own := make(chan int64)
	status := fmt.Sprintf("/proc/%d/status", cmd.Process.Pid)
	go watch(10*time.Millisecond, ended, own, func() int64 { return kilobytes(status, "RssAnon") })
	late := time.AfterFunc(limit, func() {
		for _, pid := range family(cmd.Process.Pid) { // a browser would go on by itself
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	})
	err := cmd.Wait()
	if !late.Stop() {
		err = fmt.Errorf("ended after %s", limit)
	}
	r := run{Seconds: time.Since(began).Seconds(), Text: out.String()}
	close(ended)
	r.Own = <-own
	state := cmd.ProcessState
	r.System = state.SystemTime().Seconds()
	r.CPU = state.UserTime().Seconds() + r.System
	r.Others = before.others(r.CPU)
	if u, ok := state.SysUsage().(*syscall.Rusage); ok {
		r.Peak = u.Maxrss << 10
	}
	if err != nil {
		return r, fmt.Errorf("%s: %w: %s", strings.Join(cmd.Args, " "), err, bytes.TrimSpace(complaints.Bytes()))
	}
	return r, nil
}

// watch sends the most memory that was held, as it is measured every so often until
// something has ended.
func watch(every time.Duration, ended <-chan struct{}, most chan<- int64, held func() int64) {
	var peak int64
	for {
		select {
		case <-ended:
			most <- peak
			return
		case <-time.After(every):
			peak = max(peak, held())
		}
	}
}

// load runs `ashlar info --json` on a recording, once for all rows, and reads the file
// itself each time. It checks that all that was written was read.
func (b *bench) load(f *file) ([]run, error) {
	if all := b.loads[f.path]; all != nil {
		return all, nil
	}
	if err := f.warm(); err != nil {
		return nil, err
	}
	all, err := b.repeat(b.program, "info", "--json", "--no-cache", f.path)
	if err != nil {
		return nil, err
	}
	var info struct {
		Counts struct{ Spans, Samples, Stacks int64 }
		Load   struct{ Seconds float64 }
	}
	for i := range all {
		if err := json.Unmarshal([]byte(all[i].Text), &info); err != nil {
			return nil, err
		}
		all[i].Value = info.Load.Seconds
	}
	if c, s := info.Counts, f.summary; s.Kind != "" && (c.Spans != s.Spans || c.Samples != s.Samples && s.Kind == "spaa") {
		return nil, fmt.Errorf("%s: read %d spans and %d samples, not %d and %d", f.path, c.Spans, c.Samples, s.Spans, s.Samples)
	}
	b.loads[f.path] = all
	return all, nil
}

// self runs this program's own other half, in a process of its own.
func (b *bench) self(what string, args ...string) (run, error) {
	me, err := os.Executable()
	if err != nil {
		return run{}, err
	}
	b.quiet()
	return execute(exec.Command(me, append([]string{"-child", what}, args...)...))
}
