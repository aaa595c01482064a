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
	System  float64 `json:"system_seconds"` // CPU time in the kernel
	// Peak is the peak memory in bytes, Own the peak without mapped files.
	Peak int64 `json:"peak_bytes"`
	Own  int64 `json:"own_bytes"`
	// Others is the share of the machine's CPU time that other programs used during the
	// run, except programs of low priority.
	Others float64 `json:"others"`
	// Value was measured by the program itself.
	Value float64 `json:"value,omitempty"`
	Text  string  `json:"-"` // standard output
}

// build compiles ashlar as in a release.
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

// forgetPeak frees the memory that this program used while making files, because a child
// process starts with its parent's peak.
func forgetPeak() {
	debug.FreeOSMemory()
	os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) // resets the peak, which would be too high otherwise
}

// patience limits a run, so that a hanging program does not block the next rows.
const patience = 20 * time.Minute

// execute runs a program to its end.
func execute(cmd *exec.Cmd) (run, error) { return executeWithin(patience, cmd) }

// executeWithin is like execute with a time limit.
func executeWithin(limit time.Duration, cmd *exec.Cmd) (run, error) {
	var out, complaints bytes.Buffer
	cmd.WaitDelay = 10 * time.Second // processes left behind may keep the output open
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
		for _, pid := range family(cmd.Process.Pid) { // a browser would keep running
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

// watch measures the memory at intervals until ended is closed, then sends the peak.
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

// load runs `ashlar info --json` on a recording, once for all rows; each run reads the
// file itself. It checks that everything written has been read.
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

// self runs this program again as a child process that takes a measurement.
func (b *bench) self(what string, args ...string) (run, error) {
	me, err := os.Executable()
	if err != nil {
		return run{}, err
	}
	b.quiet()
	return execute(exec.Command(me, append([]string{"-child", what}, args...)...))
}
