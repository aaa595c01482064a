//go:build linux

package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"image"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// A Window is the window of a running program on a Display.
type Window struct {
	*Display
	cmd    *exec.Cmd
	id     string // id used by xdotool
	exited chan struct{}
	stderr locked
	// answers is set if the window answers the questions of handled.
	answers bool
}

// locked is a buffer that a process writes to while a test reads it.
type locked struct {
	sync.Mutex
	b bytes.Buffer
}

func (l *locked) Write(p []byte) (int, error) {
	l.Lock()
	defer l.Unlock()
	return l.b.Write(p)
}

func (l *locked) String() string {
	l.Lock()
	defer l.Unlock()
	return l.b.String()
}

// Start runs a program on the display, waits for its window, and gives the window the
// keyboard. The program is killed at the end of the test unless it has ended by then. If
// its arguments include --frame-log FILE, to which it writes a line for each frame, all
// input functions return only after the window has handled the input.
func (d *Display) Start(t testing.TB, program string, args ...string) *Window {
	t.Helper()
	w := &Window{Display: d, exited: make(chan struct{}), answers: hasFrameLog(args)}
	w.cmd = exec.Command(program, args...)
	w.cmd.Env = d.env()
	w.launch(t)
	w.wait("a window of "+filepath.Base(program), func() bool {
		w.id = d.shown()
		return w.id != ""
	})
	w.focus()
	w.handled()
	return w
}

// launch starts the program, to be killed at the end of the test.
func (w *Window) launch(t testing.TB) {
	t.Helper()
	w.cmd.Stdout, w.cmd.Stderr = &w.stderr, &w.stderr
	if err := start(w.cmd); err != nil {
		t.Fatalf("starting %s: %v", w.cmd.Path, err)
	}
	go func() {
		_ = w.cmd.Wait() // the state shows how it ended
		close(w.exited)
	}()
	t.Cleanup(func() {
		if t.Failed() {
			w.keepPicture(t)
			t.Logf("%s printed:\n%s", filepath.Base(w.cmd.Path), w.Output())
		}
		kill(w.cmd)
		<-w.exited
	})
}

func (w *Window) keepPicture(t testing.TB) {
	if err := os.MkdirAll("failed", 0o755); err != nil {
		t.Log(err)
		return
	}
	path := filepath.Join("failed", strings.ReplaceAll(t.Name(), "/", "-")+".png")
	if err := w.Save(path); err != nil {
		t.Log(err)
		return
	}
	if full, err := filepath.Abs(path); err == nil {
		t.Logf("what was on the screen: %s", full)
	}
}

// Output returns what the program has printed so far.
func (w *Window) Output() string { return w.stderr.String() }

// wait waits until holds returns true, and fails the test if that takes too long.
func (w *Window) wait(what string, holds func() bool) {
	w.t.Helper()
	for deadline := time.Now().Add(patience); !holds(); time.Sleep(20 * time.Millisecond) {
		select {
		case <-w.exited:
			w.t.Fatalf("the program ended (%v) while waiting for %s", w.cmd.ProcessState, what)
		default:
		}
		if time.Now().After(deadline) {
			w.t.Fatalf("waited %v in vain for %s", patience, what)
		}
	}
}

// WaitFor waits until the screen looks as expected, and returns the screenshot. what
// names the expectation in the error message.
func (w *Window) WaitFor(what string, looks func(*image.RGBA) bool) *image.RGBA {
	w.t.Helper()
	var picture *image.RGBA
	w.wait(what, func() bool {
		picture = w.Display.Screenshot()
		return looks(picture)
	})
	return picture
}

// WaitStill waits until the screen has not changed for a quarter of a second, and returns
// the screenshot.
func (w *Window) WaitStill() *image.RGBA {
	w.t.Helper()
	var last *image.RGBA
	var since time.Time
	return w.WaitFor("the picture to stand still", func(p *image.RGBA) bool {
		if last == nil || !bytes.Equal(last.Pix, p.Pix) {
			last, since = p, time.Now()
		}
		return time.Since(since) > 250*time.Millisecond
	})
}

// WaitExit waits for the program to end by itself and returns its exit status.
func (w *Window) WaitExit() int {
	w.t.Helper()
	select {
	case <-w.exited:
	case <-time.After(patience):
		w.t.Fatalf("waited %v in vain for the program to end", patience)
	}
	return w.cmd.ProcessState.ExitCode()
}

// Title returns the window's title.
func (w *Window) Title() string {
	w.t.Helper()
	title, err := w.xdotool("getwindowname", w.id)
	if err != nil {
		w.t.Fatal(err)
	}
	return title
}

// A Log is a file of JSON lines, such as a frame log, each decoded into a T.
type Log[T any] struct {
	path string
	at   int64 // offset up to which the file has been read
	all  []T
}

// OpenLog returns a log that can be read while it is written.
func OpenLog[T any](path string) *Log[T] { return &Log[T]{path: path} }

// Path returns the path of the log's file.
func (l *Log[T]) Path() string { return l.path }

// Read returns all lines of a log. The file may still be growing: an incomplete last line
// is left out, and a missing file counts as empty.
func (l *Log[T]) Read(t testing.TB) []T {
	t.Helper()
	f, err := os.Open(l.path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.NewSectionReader(f, l.at, math.MaxInt64-l.at))
	if err != nil {
		t.Fatal(err)
	}
	b = b[:bytes.LastIndexByte(b, '\n')+1]
	for line := range bytes.Lines(b) {
		var entry T
		if err := json.Unmarshal(line, &entry); err != nil {
			t.Fatalf("%s, line %d: %v", l.path, len(l.all)+1, err)
		}
		l.all = append(l.all, entry)
	}
	l.at += int64(len(b))
	return l.all
}
