//go:build !linux && !windows

package window

import (
	"os/exec"
	"runtime"
	"strings"

	"ashlar/render/theme"
)

// systemTheme returns the theme that the system prefers. On macOS the setting
// AppleInterfaceStyle exists only in dark mode.
func systemTheme() *theme.Theme {
	if runtime.GOOS != "darwin" {
		return theme.Dark
	}
	out, err := exec.Command("defaults", "read", "-g", "AppleInterfaceStyle").Output()
	if err == nil && strings.Contains(string(out), "Dark") {
		return theme.Dark
	}
	return theme.Light
}
