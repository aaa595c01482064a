package desk

import (
	"strings"

	"ashlar/ingest/recording"
	"ashlar/render/units"
)

// SelectionText says what is selected: Selected 12.40 ms · 3 threads.
func SelectionText(sel recording.Scope) string {
	var parts []string
	if sel.Ranged {
		parts = append(parts, units.Duration(sel.To-sel.From))
	}
	if n := len(sel.Tracks); n > 0 {
		parts = append(parts, units.Plural(int64(n), "thread"))
	}
	if sel.Calls != nil {
		const most = 48
		text := []rune(sel.Calls.Text)
		if len(text) > most {
			text = append(text[:most-1], '…')
		}
		parts = append(parts, string(text))
	}
	return "Selected " + strings.Join(parts, " · ")
}
