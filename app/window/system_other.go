//go:build !linux && !windows

package window

import (
	"os/exec"
	"runtime"
	"strings"

	"ashlar/render/theme"
)

// systemTheme is the theme the system prefers. macOS has the setting
// AppleInterfaceStyle only while it is dark.
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
