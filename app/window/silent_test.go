package window

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestSilentDisplay checks that a display server that accepts connections and never answers
// is found, and that one that answers, closes the connection or is absent is not.
func TestSilentDisplay(t *testing.T) {
	dir, err := os.MkdirTemp("", "silent") // t.TempDir's is too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	serve := func(name string, answer func(net.Conn)) string {
		l, err := net.Listen("unix", filepath.Join(dir, name))
		if err != nil {
			t.Skipf("no socket can be made here, so there is no silent server: %v", err)
		}
		t.Cleanup(func() { l.Close() })
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				go answer(c)
			}
		}()
		return filepath.Join(dir, name)
	}
	never := serve("never", func(net.Conn) {})
	for display, want := range map[string]bool{
		never:   true,
		"never": true,
		serve("answers", func(c net.Conn) {
			if _, err := c.Read(make([]byte, 12)); err == nil {
				c.Write([]byte{0})
			}
		}): false,
		serve("closes", func(c net.Conn) { c.Close() }): false,
		filepath.Join(dir, "absent"):                    false,
	} {
		env := map[string]string{"WAYLAND_DISPLAY": display, "XDG_RUNTIME_DIR": dir}
		if got := silentDisplay(func(k string) string { return env[k] }, 200*time.Millisecond); (got != "") != want {
			t.Errorf("%s: %q", display, got)
		}
	}
	if onDisplays {
		t.Setenv("DISPLAY", "")
		t.Setenv("WAYLAND_DISPLAY", never)
		if err := displayAnswers(200 * time.Millisecond); err == nil || !strings.Contains(err.Error(), "WAYLAND_DISPLAY="+never+" accepts connections but does not answer") {
			t.Error(err)
		}
	}
	for display, want := range map[string]string{
		":0": "unix /tmp/.X11-unix/X0", ":99.1": "unix /tmp/.X11-unix/X99", "unix:3": "unix /tmp/.X11-unix/X3", "localhost:10.0": "tcp localhost:6010",
		"[::1]:0": "tcp [::1]:6000", never + ":0": "unix " + never + ":0", "": " ", ":": " ", ":x": " ", ":-1": " ",
	} {
		if network, address := x11Address(display, nil); network+" "+address != want {
			t.Errorf("%q is reached at %s %s", display, network, address)
		}
	}
}

// TestGoneDisplays checks that a display server that has ended is found if no other display
// is named, and that any server that accepts connections counts as one that runs.
func TestGoneDisplays(t *testing.T) {
	dir, err := os.MkdirTemp("", "gone") // t.TempDir's is too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	runs, ended, absent := filepath.Join(dir, "runs"), filepath.Join(dir, "ended"), filepath.Join(dir, "absent")
	for _, name := range []string{runs, ended} {
		l, err := net.Listen("unix", name)
		if err != nil {
			t.Skipf("no socket can be made here, so there is no server: %v", err)
		}
		l.(*net.UnixListener).SetUnlinkOnClose(false)
		if name == ended {
			l.Close()
			continue
		}
		defer l.Close()
	}
	for _, c := range []struct{ wayland, x11, want string }{
		{runs, "", ""},
		{ended, "", "WAYLAND_DISPLAY=" + ended},
		{absent, "", "WAYLAND_DISPLAY=" + absent},
		{"", ended + ":0", "DISPLAY=" + ended + ":0"},
		{absent, runs, ""}, // of X11's names, this has no form that is known
		{ended, absent + ":0", "WAYLAND_DISPLAY=" + ended + " or DISPLAY=" + absent + ":0"},
		{"", ":59534", "DISPLAY=:59534"},
		{"", "", ""},
	} {
		env := map[string]string{"WAYLAND_DISPLAY": c.wayland, "DISPLAY": c.x11}
		if got := goneDisplays(func(k string) string { return env[k] }, time.Second); got != c.want {
			t.Errorf("%q and %q: %q, want %q", c.wayland, c.x11, got, c.want)
		}
	}
	if onDisplays {
		t.Setenv("WAYLAND_DISPLAY", "")
		t.Setenv("DISPLAY", ended+":0")
		if err := displayAnswers(time.Second); err == nil || !strings.Contains(err.Error(), "the display server at DISPLAY="+ended+":0 has ended") {
			t.Error(err)
		}
	}
}

// TestWhileAnswered checks that a window that waits for a silent display server ends, and
// that one that draws or ends by itself is not disturbed.
func TestWhileAnswered(t *testing.T) {
	silence, ended := errors.New("silence"), errors.New("ended")
	drawn := make(chan struct{})
	defer close(drawn)
	stuck := make(chan error)
	if err := whileAnswered(func() error { return <-stuck }, drawn, time.Millisecond, func() error { return silence }); err != silence {
		t.Errorf("stuck: %v", err)
	}
	if err := whileAnswered(func() error { return ended }, drawn, time.Hour, func() error { return silence }); err != ended {
		t.Errorf("ended: %v", err)
	}
	if err := whileAnswered(func() error { time.Sleep(50 * time.Millisecond); return ended }, drawn, time.Millisecond, func() error { return nil }); err != ended {
		t.Errorf("slow: %v", err)
	}
	shown := make(chan struct{})
	close(shown)
	if err := whileAnswered(func() error { time.Sleep(20 * time.Millisecond); return ended }, shown, time.Hour, func() error { return silence }); err != ended {
		t.Errorf("shown: %v", err)
	}
}
