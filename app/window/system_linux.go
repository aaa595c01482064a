package window

import (
	"context"
	"os"
	"strings"
	"time"

	"github.com/godbus/dbus/v5"

	"ashlar/render/theme"
)

// systemTheme returns the theme that the desktop prefers: from the settings portal
// (org.freedesktop.appearance contrast: 1 is high; color-scheme: 1 is dark, 2 is light),
// else from the GTK theme's name, else dark. It takes a tenth of a second at most.
func systemTheme() *theme.Theme {
	if scheme, contrast, ok := portalLook(100 * time.Millisecond); ok && scheme+contrast != 0 {
		switch {
		case contrast == 1:
			return theme.Contrast
		case scheme == 2:
			return theme.Light
		}
		return theme.Dark
	}
	if t := os.Getenv("GTK_THEME"); t != "" && !strings.Contains(strings.ToLower(t), "dark") {
		return theme.Light
	}
	return theme.Dark
}

// watchSystem calls changed whenever the settings portal reports a change of appearance,
// until ctx ends.
func watchSystem(ctx context.Context, changed func()) {
	if os.Getenv("DBUS_SESSION_BUS_ADDRESS") == "" && os.Getenv("XDG_RUNTIME_DIR") == "" {
		return
	}
	conn, err := dbus.ConnectSessionBus(dbus.WithContext(ctx))
	if err != nil {
		return
	}
	defer conn.Close()
	if conn.AddMatchSignal(dbus.WithMatchInterface("org.freedesktop.portal.Settings"), dbus.WithMatchMember("SettingChanged")) != nil {
		return
	}
	signals := make(chan *dbus.Signal, 16)
	conn.Signal(signals)
	for {
		select {
		case <-ctx.Done():
			return
		case s, ok := <-signals:
			if !ok {
				return
			}
			if len(s.Body) > 0 && s.Body[0] == appearance {
				changed()
			}
		}
	}
}

const appearance = "org.freedesktop.appearance"

// portalLook queries the settings portal; ok is false if there is none or it is slow.
func portalLook(within time.Duration) (scheme, contrast uint32, ok bool) {
	if os.Getenv("DBUS_SESSION_BUS_ADDRESS") == "" && os.Getenv("XDG_RUNTIME_DIR") == "" {
		return 0, 0, false
	}
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	found := make(chan [2]uint32, 1)
	go func() {
		defer close(found)
		conn, err := dbus.ConnectSessionBus(dbus.WithContext(ctx))
		if err != nil {
			return
		}
		defer conn.Close()
		scheme, ok := portalNumber(ctx, conn, "color-scheme")
		if ok {
			contrast, _ := portalNumber(ctx, conn, "contrast") // older portals have only the color-scheme
			found <- [2]uint32{scheme, contrast}
		}
	}()
	select {
	case n, ok := <-found:
		return n[0], n[1], ok
	case <-ctx.Done():
		return 0, 0, false
	}
}

func portalNumber(ctx context.Context, conn *dbus.Conn, key string) (uint32, bool) {
	var v dbus.Variant
	obj := conn.Object("org.freedesktop.portal.Desktop", "/org/freedesktop/portal/desktop")
	if err := obj.CallWithContext(ctx, "org.freedesktop.portal.Settings.Read", 0, appearance, key).Store(&v); err != nil {
		return 0, false
	}
	// The older Read wraps the value twice.
	for {
		inner, nested := v.Value().(dbus.Variant)
		if !nested {
			break
		}
		v = inner
	}
	n, isNumber := v.Value().(uint32)
	return n, isNumber
}
