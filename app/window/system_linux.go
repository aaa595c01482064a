package window

import (
	"context"
	"os"
	"strings"
	"time"

	"github.com/godbus/dbus/v5"

	"ashlar/render/theme"
)

// SystemTheme is the theme the desktop prefers: what the settings portal says
// (org.freedesktop.appearance color-scheme: 1 is dark, 2 is light), else what
// the GTK theme's name says, else dark. It takes a tenth of a second at most.
func SystemTheme() *theme.Theme {
	if scheme, ok := portalScheme(100 * time.Millisecond); ok && scheme != 0 {
		if scheme == 2 {
			return theme.Light
		}
		return theme.Dark
	}
	if t := os.Getenv("GTK_THEME"); t != "" && !strings.Contains(strings.ToLower(t), "dark") {
		return theme.Light
	}
	return theme.Dark
}

func portalScheme(within time.Duration) (scheme uint32, ok bool) {
	if os.Getenv("DBUS_SESSION_BUS_ADDRESS") == "" && os.Getenv("XDG_RUNTIME_DIR") == "" {
		return 0, false
	}
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	found := make(chan uint32, 1)
	go func() {
		conn, err := dbus.ConnectSessionBus(dbus.WithContext(ctx))
		if err != nil {
			return
		}
		defer conn.Close()
		var v dbus.Variant
		obj := conn.Object("org.freedesktop.portal.Desktop", "/org/freedesktop/portal/desktop")
		err = obj.CallWithContext(ctx, "org.freedesktop.portal.Settings.Read", 0, "org.freedesktop.appearance", "color-scheme").Store(&v)
		if err != nil {
			return
		}
		// The older Read wraps the value twice.
		for {
			inner, nested := v.Value().(dbus.Variant)
			if !nested {
				break
			}
			v = inner
		}
		if n, isNumber := v.Value().(uint32); isNumber {
			found <- n
		}
	}()
	select {
	case n := <-found:
		return n, true
	case <-ctx.Done():
		return 0, false
	}
}
