//go:build linux

package main

import (
	"bytes"
	"errors"
	"os/exec"
	"strings"
	"testing"

	"ashlar/testdata/e2e"
)

// TestAWindowThatCannotBeShown checks that the program ends with one line that gives the
// reason and what to do.
func TestAWindowThatCannotBeShown(t *testing.T) {
	t.Parallel()
	bin := e2e.Build(t, "./app/ashlar")
	d := e2e.StartDisplay(t)
	const otherwise = "ashlar render FILE -o view.png draws a picture and ashlar top FILE prints"
	for name, c := range map[string]struct {
		env  []string
		says []string
	}{
		"no display":         {[]string{"DISPLAY=", "WAYLAND_DISPLAY="}, []string{"there is no display (DISPLAY and WAYLAND_DISPLAY are not set)", "ssh -X"}},
		"no answer from X11": {[]string{"DISPLAY=:4321"}, []string{"answers at DISPLAY=:4321", "set DISPLAY or WAYLAND_DISPLAY"}},
		"no such host":       {[]string{"DISPLAY=nonsense"}, []string{"answers at DISPLAY=nonsense"}},
		"no answer at all":   {[]string{"DISPLAY=:4321", "WAYLAND_DISPLAY=nothing"}, []string{"answers at WAYLAND_DISPLAY=nothing or DISPLAY=:4321"}},
		"no EGL":             {[]string{"__EGL_VENDOR_LIBRARY_FILENAMES=/nothing.json"}, []string{"nothing can be drawn with OpenGL (egl", "try without __EGL_VENDOR_LIBRARY_FILENAMES=/nothing.json"}},
		"an OpenGL of old":   {[]string{"MESA_GL_VERSION_OVERRIDE=1.0", "MESA_GLES_VERSION_OVERRIDE=1.0"}, []string{"nothing can be drawn with OpenGL (", "try without MESA_GL_VERSION_OVERRIDE=1.0"}},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := d.Command(t, bin, "--demo")
			cmd.Env = append(cmd.Env, c.env...)
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			err := cmd.Run()
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != 1 {
				t.Errorf("it ends with %v, want exit code 1", err)
			}
			text := ""
			for line := range strings.Lines(stderr.String()) {
				if strings.HasPrefix(line, "ashlar: ") { // libraries print their own warnings
					text += line
				}
			}
			if strings.Count(text, "\n") != 1 || strings.Contains(stderr.String(), "goroutine") {
				t.Errorf("it says %q", stderr.String())
			}
			for _, want := range append(c.says, "no window can be shown: ", otherwise) {
				if !strings.Contains(text, want) {
					t.Errorf("it says %q, which lacks %q", text, want)
				}
			}
		})
	}
}

// TestEGLPlatformIsNotForWindows checks that the window ignores EGL_PLATFORM: Mesa crashes if
// it names a platform other than X11 there.
func TestEGLPlatformIsNotForWindows(t *testing.T) {
	t.Parallel()
	for _, platform := range []string{"wayland", "surfaceless"} {
		t.Run(platform, func(t *testing.T) {
			traced(t, e2e.StartDisplay(t), []string{"env", "EGL_PLATFORM=" + platform}, "--demo").until("the demo", read)
		})
	}
}
