//go:build linux

package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// display is an X server that draws into memory.
type display struct {
	cmd  *exec.Cmd
	name string
}

func startDisplay() (*display, error) {
	server, err := exec.LookPath("Xvfb")
	if err != nil {
		return nil, errors.New("the X server Xvfb is missing: install the package xvfb")
	}
	ready, told, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer ready.Close()
	d := &display{cmd: exec.Command(server, "-displayfd", "3", "-nolisten", "tcp", "-noreset", "-screen", "0", "1280x800x24")}
	d.cmd.ExtraFiles = []*os.File{told}
	d.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	err = d.cmd.Start()
	told.Close()
	if err != nil {
		return nil, err
	}
	number, err := bufio.NewReader(ready).ReadString('\n')
	if err != nil {
		d.stop()
		return nil, fmt.Errorf("the X server Xvfb did not start: %w", err)
	}
	d.name = ":" + strings.TrimSpace(number)
	return d, nil
}

func (d *display) stop() {
	_ = d.cmd.Process.Signal(os.Interrupt)
	_ = d.cmd.Wait() // a signal ended it, as intended
}

// window is a running ashlar.
type window struct {
	cmd *exec.Cmd
	log string
}

// open starts ashlar on the display. Recordings are cached below home, or not at all if
// home is "".
func (b *bench) open(d *display, path, home string) (*window, error) {
	w := &window{log: filepath.Join(b.temp, "frames")}
	_ = os.Remove(w.log) // log of the previous window, if any
	w.cmd = exec.Command(b.program, "--frame-log", w.log, path)
	if home == "" {
		home = filepath.Join(b.temp, "home") // fresh settings: the user's are neither read nor changed
		w.cmd.Args = append(w.cmd.Args, "--no-cache")
	}
	var env []string
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); name != "EGL_PLATFORM" && name != "WAYLAND_DISPLAY" {
			env = append(env, v)
		}
	}
	w.cmd.Env = append(append(env, "DISPLAY="+d.name, "LIBGL_ALWAYS_SOFTWARE=1", "MESA_SHADER_CACHE_DIR="+filepath.Join(b.temp, "mesa")), inHome(home)...)
	w.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return w, w.cmd.Start()
}

func (w *window) kill() {
	_ = w.cmd.Process.Kill()
	_ = w.cmd.Wait()
}

// drawn is a line of the frame log.
type drawn struct {
	At     float64 `json:"at_ms"`
	Events int64   `json:"events"`
	Done   bool    `json:"done"`
}

func (w *window) frames() []drawn {
	text, err := os.ReadFile(w.log)
	if err != nil {
		return nil
	}
	var all []drawn
	for line := range strings.Lines(string(text)) {
		var f drawn
		if json.Unmarshal([]byte(line), &f) == nil {
			all = append(all, f)
		}
	}
	return all
}

// done waits until a whole recording is on the screen.
func (w *window) done() ([]drawn, error) {
	for end := time.Now().Add(5 * time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if f := w.frames(); len(f) > 0 && f[len(f)-1].Done {
			return f, nil
		}
	}
	return nil, errors.New("the window never showed the whole recording")
}

// pictures holds when a window showed parts of a recording while reading it, in ms since
// the program started.
type pictures struct {
	Window float64 `json:"window_ms"` // the window appears
	First  float64 `json:"first_ms"`  // the first part of the recording appears
	Gap    float64 `json:"gap_ms"`    // the longest time between pictures until everything is shown
	All    float64 `json:"all_ms"`    // everything is shown
}

// best returns the better of p and q in each field.
func (p pictures) best(q pictures) pictures {
	return pictures{min(p.Window, q.Window), min(p.First, q.First), min(p.Gap, q.Gap), min(p.All, q.All)}
}

// mostPictures is the maximum number of times that a recording is opened in a window,
// because it has to be read to the end each time.
const mostPictures = 3

// pictures opens a recording in windows: see open.
func (b *bench) pictures(d *display, f *file, home string) (best pictures, err error) {
	for i := range min(b.runs, mostPictures) {
		b.quiet()
		w, err := b.open(d, f.path, home)
		if err != nil {
			return best, err
		}
		frames, err := w.done()
		w.kill()
		if err != nil {
			return best, err
		}
		p := seen(frames)
		if i > 0 {
			p = best.best(p)
		}
		best = p
	}
	return best, nil
}

// seen returns when each thing first appeared in the frames of a window.
func seen(frames []drawn) pictures {
	p := pictures{Window: frames[0].At, All: frames[len(frames)-1].At}
	shown := 0.
	for _, f := range frames {
		switch {
		case f.Events == 0 && !f.Done:
		case p.First == 0:
			p.First = f.At
		default:
			p.Gap = max(p.Gap, f.At-shown)
		}
		shown = f.At
	}
	return p
}

// screen returns a display that lasts as long as the program and on which a window has
// been opened before: Mesa caches the shaders that it compiles for a processor in the
// user's cache, and the very first window takes 0.2 to 0.4 s longer.
func (b *bench) screen() (*display, error) {
	if b.display != nil {
		return b.display, nil
	}
	d, err := startDisplay()
	if err != nil {
		return nil, err
	}
	b.display = d
	w, err := b.open(d, "--demo", "")
	if err != nil {
		return nil, err
	}
	defer w.kill()
	_, err = w.done()
	return d, err
}

// idle measures the frames and the CPU time of a window without input.
func (b *bench) idle() ([]result, error) {
	d, err := b.screen()
	if err != nil {
		return nil, err
	}
	f, err := b.get(spall1)
	if err != nil {
		return nil, err
	}
	w, err := b.open(d, f.path, "")
	if err != nil {
		return nil, err
	}
	defer w.kill()
	if _, err := w.done(); err != nil {
		return nil, err
	}
	time.Sleep(8 * time.Second) // the last note in the status line goes after 6 s
	const long = 10 * time.Second
	frames, cpu := len(w.frames()), cpuOf(w.cmd.Process.Pid)
	time.Sleep(long)
	n, share := len(w.frames())-frames, (cpuOf(w.cmd.Process.Pid)-cpu).Seconds()/long.Seconds()*100
	return []result{{
		What: "idle window, 10 s", Target: "no frames, 0.5 % of a core", Value: share, Pass: n == 0 && share <= .5,
		Measured: fmt.Sprintf("%d frames, %.2f %% of a core", n, share),
	}}, nil
}

// cpuOf returns the CPU time that a process's threads have used.
func cpuOf(pid int) time.Duration {
	var sum time.Duration
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	for _, t := range tasks {
		if b, err := os.ReadFile(t); err == nil {
			first, _, _ := strings.Cut(string(b), " ")
			if ns, err := strconv.ParseInt(first, 10, 64); err == nil {
				sum += time.Duration(ns)
			}
		}
	}
	return sum
}
