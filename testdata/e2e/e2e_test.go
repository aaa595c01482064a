//go:build linux

package e2e_test

import (
	"encoding/binary"
	"image"
	"image/color"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ashlar/testdata/e2e"
)

func TestMain(m *testing.M) { os.Exit(e2e.Main(m)) }

var (
	red   = color.RGBA{200, 0, 0, 255}
	green = color.RGBA{0, 200, 0, 255}
	white = color.RGBA{255, 255, 255, 255}
	black = color.RGBA{0, 0, 0, 255}
)

func startProbe(t *testing.T, args ...string) *e2e.Window {
	t.Helper()
	w := e2e.StartDisplay(t).Start(t, e2e.Build(t, "./testdata/e2e/probe"), args...)
	w.WaitFor("a red window", isAt(image.Pt(5, 5), red))
	return w
}

func isAt(at image.Point, c color.RGBA) func(*image.RGBA) bool {
	return func(p *image.RGBA) bool { return p.RGBAAt(at.X, at.Y) == c }
}

func TestKeysGetThrough(t *testing.T) {
	w := startProbe(t)
	if title := w.Title(); title != "probe" {
		t.Errorf("the title is %q", title)
	}
	w.Key("g")
	w.WaitFor("a green window", isAt(image.Pt(5, 5), green))
	w.Key("ctrl+f")
	w.WaitFor("a yellow window", isAt(image.Pt(5, 5), color.RGBA{200, 200, 0, 255}))
	w.Type("gb")
	w.WaitFor("a blue window", isAt(image.Pt(5, 5), color.RGBA{0, 0, 200, 255}))
	w.Key("q")
	if status := w.WaitExit(); status != 3 {
		t.Errorf("the status is %d, not 3", status)
	}
}

func TestMouseGetsThrough(t *testing.T) {
	w := startProbe(t)
	w.Click(e2e.Left, image.Pt(100, 50))
	w.WaitFor("a white mark", isAt(image.Pt(100, 50), white))
	from, to := image.Pt(300, 200), image.Pt(420, 280)
	w.Drag(e2e.Left, from, to, "shift")
	w.WaitFor("a dragged black mark", func(p *image.RGBA) bool { return isAt(from, black)(p) && isAt(to, black)(p) })
	// The Shift key of the drag has been released.
	w.Click(e2e.Left, from)
	w.WaitFor("a white mark again", isAt(from, white))
	w.Wheel(-3, image.Pt(200, 100))
	w.WaitFor("a lighter red", isAt(image.Pt(5, 5), color.RGBA{230, 30, 30, 255}))
	w.Wheel(1, image.Pt(200, 100))
	w.WaitFor("a darker red", isAt(image.Pt(5, 5), color.RGBA{220, 20, 20, 255}))
}

func TestScreenIsTheWindow(t *testing.T) {
	w := startProbe(t)
	p := w.WaitStill()
	if size := p.Bounds().Size(); size != image.Pt(e2e.ScreenWidth, e2e.ScreenHeight) {
		t.Errorf("the screen is %v", size)
	}
	if in, out := p.RGBAAt(639, 479), p.RGBAAt(640, 480); in != red || out == red {
		t.Errorf("the window's last pixel is %v, the next is %v", in, out)
	}
	w.Resize(800, 600)
	w.WaitFor("a larger window", isAt(image.Pt(799, 599), red))
}

func TestFrameLogIsRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "frames")
	type frame struct{ Frame, Width int }
	log := e2e.OpenLog[frame](path)
	if lines := log.Read(t); len(lines) != 0 {
		t.Errorf("a log that is not there has %d lines", len(lines))
	}
	w := startProbe(t, "--frame-log", path)
	before := len(log.Read(t))
	w.Key("g")
	if !isAt(image.Pt(5, 5), green)(w.Screenshot()) {
		t.Error("a key is not handled when pressing it has returned")
	}
	if len(log.Read(t)) <= before {
		t.Error("no frame in the log is of the key")
	}
	// The key s makes the probe slow to answer, but each input function still waits for it.
	for range 5 {
		w.Key("s", "r")
		w.Click(e2e.Left, image.Pt(100, 50))
		w.Key("g")
		if p := w.Screenshot(); !isAt(image.Pt(5, 5), green)(p) || !isAt(image.Pt(100, 50), white)(p) {
			t.Error("input is not handled when giving it has returned")
		}
	}
	for i, f := range log.Read(t) {
		if f.Frame != i+1 || f.Width != 640 {
			t.Errorf("line %d of the log is %+v", i+1, f)
		}
	}
}

// No process may be left when its test has ended.
func TestProcessesAreCleanedUp(t *testing.T) {
	t.Run("windows", func(t *testing.T) {
		d := e2e.StartDisplay(t)
		d.Start(t, e2e.Build(t, "./testdata/e2e/probe"))
	})
	children := childProcesses(t)
	if len(children) > 0 {
		t.Errorf("these still run: %v", children)
	}
}

// childProcesses returns the command lines of this process's children.
func childProcesses(t *testing.T) []string {
	t.Helper()
	lists, err := filepath.Glob("/proc/self/task/*/children")
	if err != nil || len(lists) == 0 {
		t.Fatalf("there is no list of child processes: %v", err)
	}
	var found []string
	for _, list := range lists {
		b, err := os.ReadFile(list)
		if err != nil {
			continue // a thread that has ended
		}
		for _, pid := range strings.Fields(string(b)) {
			line, _ := os.ReadFile("/proc/" + pid + "/cmdline")
			found = append(found, pid+" "+strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return found
}

// failing stands in for *testing.T and keeps the message of a failure.
type failing struct {
	testing.TB
	message string
}

func (f *failing) Helper() {}
func (f *failing) Fatalf(format string, args ...any) {
	f.message = format
	for _, a := range args {
		if s, ok := a.(string); ok {
			f.message = strings.Replace(f.message, "%s", s, 1)
		}
	}
	panic(f)
}

func TestMissingProgramsFail(t *testing.T) {
	empty := t.TempDir()
	for program, pkg := range map[string]string{"Xvfb": "xvfb", "xdotool": "xdotool"} {
		dir := t.TempDir()
		for _, other := range []string{"Xvfb", "xdotool"} {
			if other != program {
				if err := os.WriteFile(filepath.Join(dir, other), []byte("#!/bin/sh\n"), 0o755); err != nil {
					t.Fatal(err)
				}
			}
		}
		t.Setenv("PATH", dir+":"+empty)
		f := &failing{TB: t}
		func() {
			defer func() {
				if r := recover(); r != nil && r != f {
					panic(r)
				}
			}()
			e2e.StartDisplay(f)
		}()
		if !strings.Contains(f.message, program) || !strings.Contains(f.message, "package "+pkg) {
			t.Errorf("without %s the test says %q", program, f.message)
		}
	}
}

func TestDecodeXWDRefusesDamage(t *testing.T) {
	field := func(b []byte, i int, v uint32) { binary.BigEndian.PutUint32(b[4*i:], v) }
	good := make([]byte, 100+12+2*8)
	for i, v := range map[int]uint32{0: 100, 1: 7, 2: 2, 4: 2, 5: 2, 11: 32, 12: 8, 14: 0xff0000, 15: 0xff00, 16: 0xff, 19: 1} {
		field(good, i, v)
	}
	copy(good[112+12:], []byte{3, 2, 1, 0}) // the lower right pixel, in the order blue, green, red
	p, err := e2e.DecodeXWD(good)
	if err != nil || p.RGBAAt(1, 1) != (color.RGBA{1, 2, 3, 255}) || p.RGBAAt(0, 1) != black {
		t.Fatalf("a good dump is read as %v, %v", p, err)
	}
	for n := range good {
		if _, err := e2e.DecodeXWD(good[:n]); err == nil {
			t.Errorf("a dump cut at byte %d is read", n)
		}
	}
}
