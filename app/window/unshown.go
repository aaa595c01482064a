package window

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"gioui.org/app"
	"gioui.org/io/event"
)

// unshown explains why no window can be shown and what to do about it; nil if err is nil.
// If opened is true, a window had opened, so drawing failed or the display has gone.
func unshown(err error, opened bool) error {
	if err == nil {
		return nil
	}
	if !onDisplays {
		// Windows ends its sentences with a full stop.
		return fmt.Errorf("no window can be shown: %s; %s", strings.TrimRight(err.Error(), "."), windowless)
	}
	why, help := displayTrouble(err, os.Getenv)
	if opened {
		if text := err.Error(); strings.HasPrefix(text, "wayland: ") || strings.HasPrefix(text, "x11: ") {
			return fmt.Errorf("the connection to the display was lost: %w", err)
		}
		why, help = drawingTrouble(err, os.Getenv)
	}
	return fmt.Errorf("no window can be shown: %s; %s%s", why, help, windowless)
}

const windowless = "without a window, ashlar render FILE -o view.png draws a picture and ashlar top FILE prints costs"

// onDisplays reports whether windows need X11 or Wayland.
const onDisplays = runtime.GOOS != "windows" && runtime.GOOS != "darwin"

// displayTrouble explains what is wrong with the display, and suggests a remedy.
func displayTrouble(err error, env func(string) string) (why, help string) {
	var names []string
	for _, name := range []string{"WAYLAND_DISPLAY", "DISPLAY"} {
		if v := env(name); v != "" {
			names = append(names, name+"="+v)
		}
	}
	if len(names) == 0 {
		return "there is no display (DISPLAY and WAYLAND_DISPLAY are not set)", "over ssh, use ssh -X; "
	}
	return "no display server answers at " + strings.Join(names, " or ") + " (" + err.Error() + ")", "set DISPLAY or WAYLAND_DISPLAY to a running display; "
}

// drawingTrouble explains why drawing fails, and suggests a remedy.
func drawingTrouble(err error, env func(string) string) (why, help string) {
	why = "nothing can be drawn with OpenGL (" + err.Error() + ")"
	for _, name := range []string{"__EGL_VENDOR_LIBRARY_FILENAMES", "__EGL_VENDOR_LIBRARY_DIRS", "LIBGL_DRIVERS_PATH", "GBM_BACKENDS_PATH", "MESA_LOADER_DRIVER_OVERRIDE", "MESA_GL_VERSION_OVERRIDE", "MESA_GLES_VERSION_OVERRIDE"} {
		if v := env(name); v != "" {
			return why, "try without " + name + "=" + v + "; "
		}
	}
	if env("LIBGL_ALWAYS_SOFTWARE") == "" {
		return why, "try LIBGL_ALWAYS_SOFTWARE=1 to draw without a graphics card; "
	}
	return why, "its drivers may be missing (on Debian, libegl-mesa0 and libgl1-mesa-dri); "
}

// tried calls f and returns a panic as an error: Gio panics if the graphics driver lacks
// a feature.
func tried(f func()) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r)
		}
	}()
	f()
	return nil
}

// firstEvent returns the next event of a window that has not drawn yet. If Gio cannot make
// the window on Windows, it reports why from another thread, and panics unless that comes
// first; then firstEvent asks again.
func firstEvent(event func() event.Event) (e event.Event) {
	for wait := time.Millisecond; ; wait *= 4 {
		err := tried(func() { e = event() })
		if err == nil {
			return e
		}
		if wait > time.Second {
			return app.DestroyEvent{Err: err}
		}
		time.Sleep(wait)
	}
}

// anyDisplay reports whether there may be a display. Check this first, because the
// libraries print their own errors if there is none.
func anyDisplay() bool {
	if !onDisplays || os.Getenv("DISPLAY") != "" || os.Getenv("WAYLAND_DISPLAY") != "" || os.Getenv("WAYLAND_SOCKET") != "" {
		return true
	}
	_, err := os.Stat(filepath.Join(os.Getenv("XDG_RUNTIME_DIR"), "wayland-0")) // Wayland's default
	return err == nil
}
