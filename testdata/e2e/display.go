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

// patience is the time limit for everything that should happen immediately. It is long
// because machines may be slow or busy; only a failing test waits that long.
const patience = 60 * time.Second

// A Display is an X server that draws into memory.
type Display struct {
	t    testing.TB
	name string // as in the variable DISPLAY
	dir  string // holds the frame buffer, and the home of the programs run here
	log  locked // errors of the server
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
	// The server chooses a free number itself and reports it when it is ready. -r turns
	// off auto-repeat: on a busy machine a key released late must not count twice.
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
		// The server removes its socket and lock file when asked to end, but not when
		// killed.
		_ = cmd.Process.Signal(os.Interrupt)
		late := time.AfterFunc(patience, func() { kill(cmd) })
		defer late.Stop()
		_ = cmd.Wait() // a signal ended it, as intended
	})
	if err := ready.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	// The server writes the line in parts, and gives up unless all of them are read.
	number, err := bufio.NewReader(ready).ReadString('\n')
	if err != nil {
		t.Fatalf("Xvfb did not start: %v\n%s", err, d.log.String())
	}
	d.name = ":" + strings.TrimSpace(number)
	return d
}

// env returns the environment of programs on the display: they see no other display, draw
// in software, and have their own settings.
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

// Command returns a command to run on the display next to the window. It has the
// display's environment, and ends with the test at the latest.
func (d *Display) Command(t testing.TB, program string, args ...string) *exec.Cmd {
	ctx, cancel := context.WithTimeout(context.Background(), 2*patience)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = d.env()
	return cmd
}

// homes lists the environment variables for the folders in which programs keep files.
var homes = []string{"XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR"}

// Path returns the path of a file below one of the XDG folders of the programs run here.
func (d *Display) Path(home string, names ...string) string {
	return filepath.Join(append([]string{d.dir, home}, names...)...)
}

// xdotool runs xdotool and returns its output.
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

// do runs xdotool and fails the test on an error.
func (d *Display) do(args ...string) {
	d.t.Helper()
	if _, err := d.xdotool(args...); err != nil {
		d.t.Fatal(err)
	}
}

// Screenshot returns the contents of the screen. It may catch a program in the middle of
// drawing.
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

// Save writes the contents of the screen to a PNG file.
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

// Homes returns the folders in which programs on the display keep their files.
func (d *Display) Homes() []string {
	var dirs []string
	for _, name := range homes {
		dirs = append(dirs, filepath.Join(d.dir, name))
	}
	return dirs
}
