//go:build linux

package e2e

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"image"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The size of a display, in pixels.
const (
	ScreenWidth  = 1280
	ScreenHeight = 800
)

// patience is how long anything may take that should happen at once. It is long,
// for machines that are slow or busy: only a failing test waits for it.
const patience = 60 * time.Second

// A Display is an X server that draws into memory.
type Display struct {
	t    testing.TB
	name string // as in the variable DISPLAY
	dir  string // with the frame buffer, and the home of what runs here
	log  locked // what the server complains of
	hand *hand  // nil before the mouse is moved
}

// StartDisplay starts an X server for the length of the test.
func StartDisplay(t testing.TB) *Display {
	t.Helper()
	server := need(t, "Xvfb", "xvfb")
	need(t, "xdotool", "xdotool")
	d := &Display{t: t, dir: t.TempDir()}
	for _, name := range homes {
		if err := os.Mkdir(filepath.Join(d.dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	ready, told, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer ready.Close()
	// The server finds a free number itself, and tells it once it can be used. A
	// key that is let go of late, on a busy machine, must not count twice (-r).
	cmd := exec.Command(server, "-displayfd", "3", "-fbdir", d.dir, "-nolisten", "tcp", "-noreset", "-r",
		"-screen", "0", fmt.Sprintf("%dx%dx24", ScreenWidth, ScreenHeight))
	cmd.Stderr = &d.log
	cmd.ExtraFiles = []*os.File{told}
	err = start(cmd)
	told.Close()
	if err != nil {
		t.Fatalf("starting Xvfb: %v", err)
	}
	t.Cleanup(func() {
		// It removes its socket and lock file when asked, but not when killed.
		_ = cmd.Process.Signal(os.Interrupt)
		late := time.AfterFunc(patience, func() { kill(cmd) })
		defer late.Stop()
		_ = cmd.Wait() // that it was ended by a signal is not a news
	})
	if err := ready.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	// It writes the line in parts, and gives up if nobody reads all of them.
	number, err := bufio.NewReader(ready).ReadString('\n')
	if err != nil {
		t.Fatalf("Xvfb did not start: %v\n%s", err, d.log.String())
	}
	d.name = ":" + strings.TrimSpace(number)
	return d
}

// env is the environment of programs on the display: it is the only one that
// they know, drawing is done in software, and settings are their own.
func (d *Display) env() []string {
	var env []string
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		switch name {
		case "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "XMODIFIERS", "EGL_PLATFORM":
		default:
			if !strings.HasPrefix(name, "XDG_") {
				env = append(env, v)
			}
		}
	}
	env = append(env, "DISPLAY="+d.name, "LIBGL_ALWAYS_SOFTWARE=1", "MESA_SHADER_CACHE_DIR="+Shaders(d.t))
	for _, name := range homes {
		env = append(env, name+"="+filepath.Join(d.dir, name))
	}
	return env
}

// Command is a program to be run on the display, besides the window: with the
// display's environment, and ended with the test at the latest.
func (d *Display) Command(t testing.TB, program string, args ...string) *exec.Cmd {
	ctx, cancel := context.WithTimeout(context.Background(), 2*patience)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = d.env()
	return cmd
}

// homes are the variables that say where programs keep their files.
var homes = []string{"XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR"}

// Path is a file in the home of what runs here, below one of the XDG folders.
func (d *Display) Path(home string, names ...string) string {
	return filepath.Join(append([]string{d.dir, home}, names...)...)
}

// xdotool runs xdotool and returns what it printed.
func (d *Display) xdotool(args ...string) (string, error) {
	cmd := exec.Command("xdotool", args...)
	cmd.Env = d.env()
	var out, complaints bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaints
	if err := start(cmd); err != nil {
		return "", err
	}
	late := time.AfterFunc(patience, func() { kill(cmd) })
	defer late.Stop()
	if err := cmd.Wait(); err != nil {
		return "", fmt.Errorf("xdotool %s: %w: %s", strings.Join(args, " "), err, bytes.TrimSpace(complaints.Bytes()))
	}
	return strings.TrimSpace(out.String()), nil
}

// do runs xdotool where failing fails the test.
func (d *Display) do(args ...string) {
	d.t.Helper()
	if _, err := d.xdotool(args...); err != nil {
		d.t.Fatal(err)
	}
}

// Screenshot returns what is on the screen. A program that is drawing may be
// caught in the middle of it.
func (d *Display) Screenshot() *image.RGBA {
	d.t.Helper()
	picture, err := d.screenshot()
	if err != nil {
		d.t.Fatal(err)
	}
	return picture
}

func (d *Display) screenshot() (*image.RGBA, error) {
	dump, err := os.ReadFile(filepath.Join(d.dir, "Xvfb_screen0"))
	if err != nil {
		return nil, fmt.Errorf("reading Xvfb's screen: %w\n%s", err, d.log.String())
	}
	return DecodeXWD(dump)
}

// Save writes what is on the screen to a PNG file.
func (d *Display) Save(path string) error {
	picture, err := d.screenshot()
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := png.Encode(&b, picture); err != nil {
		return err
	}
	return os.WriteFile(path, b.Bytes(), 0o644)
}

// Homes are the folders that programs on the display have for their files.
func (d *Display) Homes() []string {
	var dirs []string
	for _, name := range homes {
		dirs = append(dirs, filepath.Join(d.dir, name))
	}
	return dirs
}
