package shell

import (
	"strings"

	"ashlar/ingest"
	"ashlar/ingest/recording"
	"ashlar/render/units"
)

// selectionText says what is selected: Selected 12.40 ms · 3 threads.
func selectionText(sel recording.Scope) string {
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

// summary is the status line's first half: what the file is and what it holds.
func summary(rec *recording.Recording) string {
	var parts []string
	title := ingest.Title(rec.Source.Format)
	if rec.Source.Version != "" {
		title += " " + rec.Source.Version
	}
	if title != "" {
		parts = append(parts, title)
	}
	if rec.Source.Tool != "" {
		parts = append(parts, rec.Source.Tool)
	}
	c := &rec.Counts
	for _, n := range []struct {
		n    int64
		what string
	}{{c.Spans, "span"}, {c.Samples, "sample"}, {c.Stacks, "stack"}, {c.Windows, "window"}} {
		if n.n > 0 {
			parts = append(parts, units.Plural(n.n, n.what))
		}
	}
	if n := len(rec.Tracks); n > 1 {
		parts = append(parts, units.Plural(int64(n), "thread"))
	}
	if rec.HasTime && rec.Duration() > 0 {
		parts = append(parts, units.Duration(rec.Duration()))
	}
	return strings.Join(parts, " · ")
}
