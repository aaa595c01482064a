//go:build linux

package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"image"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// A Window is a running program's, on a Display.
type Window struct {
	*Display
	cmd    *exec.Cmd
	id     string // as xdotool knows it
	exited chan struct{}
	stderr locked
}

// A Button is a mouse button, as X numbers them.
type Button int

// Buttons; the last four are the wheel's.
const (
	Left      Button = 1
	Middle    Button = 2
	Right     Button = 3
	WheelUp   Button = 4
	WheelDown Button = 5
)

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

// Start runs a program on the display, waits for its window to be there, and
// gives it the keyboard. The program is killed at the end of the test, unless it
// has ended by then.
func (d *Display) Start(t testing.TB, program string, args ...string) *Window {
	t.Helper()
	w := &Window{Display: d, exited: make(chan struct{})}
	w.cmd = exec.Command(program, args...)
	w.cmd.Env = d.env()
	w.launch(t)
	w.wait("a window of "+filepath.Base(program), func() bool {
		// Windows that can be seen have a class; the root window has none.
		found, err := d.xdotool("search", "--onlyvisible", "--maxdepth", "1", "--class", ".")
		w.id, _, _ = strings.Cut(found, "\n")
		return err == nil && w.id != ""
	})
	d.do("windowfocus", w.id)
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
		_ = w.cmd.Wait() // the state says how it ended
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

// wait waits until a condition holds, and fails the test if it never does.
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

// WaitFor waits until the screen looks as it should, and returns what it looks
// like then. What is waited for is named for the message when it never does.
func (w *Window) WaitFor(what string, looks func(*image.RGBA) bool) *image.RGBA {
	w.t.Helper()
	var picture *image.RGBA
	w.wait(what, func() bool {
		picture = w.Screenshot()
		return looks(picture)
	})
	return picture
}

// WaitStill waits until the screen has not changed for a quarter of a second,
// and returns what is on it.
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

// Key presses and releases keys one after another. A key is named as X names it,
// with modifiers before it: "w", "Escape", "plus", "ctrl+f".
func (w *Window) Key(keys ...string) {
	w.t.Helper()
	w.do(append([]string{"key", "--clearmodifiers"}, keys...)...)
}

// Type types a text.
func (w *Window) Type(text string) {
	w.t.Helper()
	w.do("type", "--clearmodifiers", "--delay", "20", text)
}

// Move moves the pointer.
func (w *Window) Move(to image.Point) {
	w.t.Helper()
	w.do(moveTo(to)...)
}

func moveTo(to image.Point) []string {
	return []string{"mousemove", strconv.Itoa(to.X), strconv.Itoa(to.Y)}
}

// Click moves the pointer and presses a button, with modifier keys held ("shift",
// "ctrl", "alt"). For the wheel, a click is a notch.
func (w *Window) Click(b Button, at image.Point, modifiers ...string) {
	w.t.Helper()
	w.clicks(1, b, at, modifiers)
}

// DoubleClick clicks twice in quick succession.
func (w *Window) DoubleClick(b Button, at image.Point) {
	w.t.Helper()
	w.clicks(2, b, at, nil)
}

// Wheel turns the wheel by some notches, up where they are positive.
func (w *Window) Wheel(notches int, at image.Point, modifiers ...string) {
	w.t.Helper()
	if notches < 0 {
		w.clicks(-notches, WheelDown, at, modifiers)
	} else {
		w.clicks(notches, WheelUp, at, modifiers)
	}
}

func (w *Window) clicks(n int, b Button, at image.Point, modifiers []string) {
	w.t.Helper()
	args := append(moveTo(at), held("keydown", modifiers)...)
	args = append(args, "click", "--repeat", strconv.Itoa(n), "--delay", "40", strconv.Itoa(int(b)))
	w.do(append(args, held("keyup", modifiers)...)...)
}

// Drag presses a button at one point, moves the pointer to another by way of
// points between, and lets go there.
func (w *Window) Drag(b Button, from, to image.Point, modifiers ...string) {
	w.t.Helper()
	const steps = 8
	args := append(moveTo(from), held("keydown", modifiers)...)
	args = append(args, "mousedown", strconv.Itoa(int(b)))
	for i := 1; i <= steps; i++ {
		args = append(args, moveTo(from.Add(to.Sub(from).Mul(i).Div(steps)))...)
		args = append(args, "sleep", "0.02")
	}
	args = append(args, "mouseup", strconv.Itoa(int(b)))
	w.do(append(args, held("keyup", modifiers)...)...)
}

func held(command string, modifiers []string) []string {
	if len(modifiers) == 0 {
		return nil
	}
	return append([]string{command}, modifiers...)
}

// Resize makes the window another size, in pixels.
func (w *Window) Resize(width, height int) {
	w.t.Helper()
	w.do("windowsize", w.id, strconv.Itoa(width), strconv.Itoa(height))
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

// ReadLog reads a file of JSON lines, such as a frame log, into a T for each. It
// may still be written to: a last line that is not whole is left out, and a file
// that is not there yet has none.
func ReadLog[T any](t testing.TB, path string) []T {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	var log []T
	b = b[:bytes.LastIndexByte(b, '\n')+1]
	lines := bufio.NewScanner(bytes.NewReader(b))
	for lines.Scan() {
		var entry T
		if err := json.Unmarshal(lines.Bytes(), &entry); err != nil {
			t.Fatalf("%s, line %d: %v", path, len(log)+1, err)
		}
		log = append(log, entry)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return log
}
