package window

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// patience is the interval at which the display server is checked until the window has drawn its
// first frame, and the time that it has to answer. The libraries would wait for ever.
const patience = 10 * time.Second

// whileAnswered returns run's result, or an error if check finds before the first frame is
// drawn that the display server does not answer. Then run is still waiting for it.
func whileAnswered(run func() error, drawn <-chan struct{}, every time.Duration, check func() error) error {
	done := make(chan error, 1)
	go func() { done <- run() }()
	silent := make(chan error, 1)
	go func() {
		for {
			select {
			case <-drawn:
				return
			case <-time.After(every):
			}
			if err := check(); err != nil {
				silent <- err
				return
			}
		}
	}()
	select {
	case err := <-done:
		return err
	case err := <-silent:
		return err
	}
}

// displayAnswers returns an error if a display server accepts connections and does not
// answer within limit, or if none accepts connections any more: where a server dies while
// the window is being made, the graphics library can wait for ever.
func displayAnswers(limit time.Duration) error {
	if !onDisplays {
		return nil
	}
	name := silentDisplay(os.Getenv, limit)
	if name == "" {
		if names := goneDisplays(os.Getenv, limit); names != "" {
			return fmt.Errorf("no window can be shown: the display server at %s has ended; start it again, or set DISPLAY or WAYLAND_DISPLAY to another one; %s", names, windowless)
		}
		return nil
	}
	return fmt.Errorf("no window can be shown: the display server at %s accepts connections but does not answer; restart it, or set DISPLAY or WAYLAND_DISPLAY to another one; %s", name, windowless)
}

// silentDisplay returns the first variable whose display server accepts a connection and
// does not answer within limit, with its value; "" if there is none.
func silentDisplay(env func(string) string, limit time.Duration) string {
	for _, d := range []struct {
		name  string
		reach func(string, func(string) string) (network, address string)
		hello string
	}{
		// Any answer counts. To wl_display.sync, it is an event; to the start of a
		// connection without authorisation, at least a refusal.
		{"WAYLAND_DISPLAY", waylandAddress, "\x01\x00\x00\x00\x00\x00\x0c\x00\x02\x00\x00\x00"},
		{"DISPLAY", x11Address, "l\x00\x0b\x00\x00\x00\x00\x00\x00\x00\x00\x00"},
	} {
		value := env(d.name)
		if value == "" {
			continue
		}
		network, address := d.reach(value, env)
		if network != "" && silent(network, address, d.hello, limit) {
			return d.name + "=" + value
		}
	}
	return ""
}

// goneDisplays returns the variables that name a display server, with their values, if no
// server accepts connections at any of them; "" if one does or may do so.
func goneDisplays(env func(string) string, limit time.Duration) string {
	var names []string
	for _, name := range []string{"WAYLAND_DISPLAY", "DISPLAY"} {
		value := env(name)
		if value == "" {
			continue
		}
		names = append(names, name+"="+value)
		places := [][2]string{{"unix", ""}}
		if name == "WAYLAND_DISPLAY" {
			_, places[0][1] = waylandAddress(value, env)
		} else {
			network, address := x11Address(value, env)
			places[0] = [2]string{network, address}
			if n, ok := strings.CutPrefix(address, "/tmp/.X11-unix/X"); ok { // the libraries also try these
				port, _ := strconv.Atoi(n)
				places = append(places, [2]string{"unix", "@" + address}, [2]string{"tcp", net.JoinHostPort("localhost", strconv.Itoa(6000+port))})
			}
		}
		for _, p := range places {
			if p[0] == "" {
				return ""
			}
			c, err := net.DialTimeout(p[0], p[1], limit)
			if err == nil {
				c.Close()
				return ""
			}
			if !errors.Is(err, syscall.ECONNREFUSED) && !errors.Is(err, fs.ErrNotExist) {
				return ""
			}
		}
	}
	return strings.Join(names, " or ")
}

// silent reports whether a server accepts a connection and does not answer within limit.
func silent(network, address, hello string, limit time.Duration) bool {
	c, err := net.DialTimeout(network, address, limit)
	if err != nil {
		return os.IsTimeout(err)
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(limit)); err != nil {
		return false
	}
	if _, err := c.Write([]byte(hello)); err != nil {
		return os.IsTimeout(err)
	}
	_, err = c.Read(make([]byte, 1))
	return os.IsTimeout(err)
}

func waylandAddress(display string, env func(string) string) (network, address string) {
	if !filepath.IsAbs(display) {
		display = filepath.Join(env("XDG_RUNTIME_DIR"), display)
	}
	return "unix", display
}

// x11Address returns the address of a display named as HOST:NUMBER.SCREEN; no network if
// it has another form.
func x11Address(display string, _ func(string) string) (network, address string) {
	host, number, ok := cutLast(display, ":")
	number, _, _ = strings.Cut(number, ".")
	var n int
	if _, err := fmt.Sscanf(number, "%d", &n); err != nil || !ok || n < 0 || n > 59535 {
		return "", ""
	}
	if host == "" || host == "unix" {
		return "unix", fmt.Sprintf("/tmp/.X11-unix/X%d", n)
	}
	if strings.ContainsRune(host, '/') {
		return "unix", display // as on macOS
	}
	return "tcp", net.JoinHostPort(strings.Trim(host, "[]"), fmt.Sprint(6000+n))
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}
