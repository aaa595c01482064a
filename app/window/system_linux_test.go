package window

import (
	"bufio"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"

	"ashlar/app/window/shell"
	"ashlar/render/theme"
)

// portal is a settings portal with values that the test sets.
type portal struct {
	mu     sync.Mutex
	values map[string]uint32
}

func (p *portal) set(values map[string]uint32) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.values = values
}

func (p *portal) Read(space, key string) (dbus.Variant, *dbus.Error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	v, ok := p.values[key]
	if space != appearance || !ok {
		return dbus.Variant{}, dbus.MakeFailedError(dbus.ErrMsgUnknownInterface)
	}
	return dbus.MakeVariant(dbus.MakeVariant(v)), nil
}

// bus starts a message bus for this test.
func bus(t *testing.T) *dbus.Conn {
	t.Helper()
	c := exec.Command("dbus-daemon", "--session", "--nofork", "--print-address")
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatalf("no message bus (on Debian install dbus-daemon): %v", err)
	}
	t.Cleanup(func() {
		c.Process.Kill()
		c.Wait()
	})
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", strings.TrimSpace(address))
	conn, err := dbus.ConnectSessionBus()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

func TestTheSystemsThemeIsFollowed(t *testing.T) {
	conn := bus(t)
	p := &portal{values: map[string]uint32{"color-scheme": 2}}
	if err := conn.Export(p, "/org/freedesktop/portal/desktop", "org.freedesktop.portal.Settings"); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.RequestName("org.freedesktop.portal.Desktop", 0); err != nil {
		t.Fatal(err)
	}
	if got := systemTheme(); got != theme.Light {
		t.Fatalf("the portal prefers light, the theme is %s", got.Name)
	}
	s := shell.New(theme.Dark)
	s.Follow(systemTheme())
	s.SetTheme("system")
	woken := make(chan struct{}, 16)
	f := followSystem(func() { woken <- struct{}{} })
	defer f.stop()
	for _, x := range []struct {
		values map[string]uint32
		want   *theme.Theme
	}{
		{map[string]uint32{"color-scheme": 1}, theme.Dark},
		{map[string]uint32{"color-scheme": 2, "contrast": 1}, theme.Contrast},
		{map[string]uint32{"color-scheme": 2, "contrast": 0}, theme.Light},
	} {
		p.set(x.values)
		deadline := time.After(20 * time.Second)
		for s.Theme != x.want {
			// Repeat the signal, because the follower may not listen yet.
			if err := conn.Emit("/org/freedesktop/portal/desktop", "org.freedesktop.portal.Settings.SettingChanged", appearance, "color-scheme", dbus.MakeVariant(uint32(0))); err != nil {
				t.Fatal(err)
			}
			select {
			case <-woken:
				f.forward(s)
			case <-time.After(50 * time.Millisecond):
			case <-deadline:
				t.Fatalf("the system's theme became %s, the window's is %s", x.want.Name, s.Theme.Name)
			}
		}
	}
	s.SetTheme("dark")
	p.set(map[string]uint32{"color-scheme": 2})
	f.ask()
	f.forward(s)
	if s.Theme != theme.Dark {
		t.Error("a theme that was chosen gave way to the system's")
	}
}
