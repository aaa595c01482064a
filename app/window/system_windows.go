package window

import (
	"golang.org/x/sys/windows/registry"

	"ashlar/render/theme"
)

// systemTheme returns the theme that Windows prefers for programs.
func systemTheme() *theme.Theme {
	k, err := registry.OpenKey(registry.CURRENT_USER, `Software\Microsoft\Windows\CurrentVersion\Themes\Personalize`, registry.QUERY_VALUE)
	if err != nil {
		return theme.Dark
	}
	defer k.Close()
	if v, _, err := k.GetIntegerValue("AppsUseLightTheme"); err == nil && v == 1 {
		return theme.Light
	}
	return theme.Dark
}
