package shell

import (
	"strings"

	"gioui.org/io/key"

	"ashlar/ingest"
	"ashlar/ingest/analyze"
	"ashlar/ingest/recording"
	"ashlar/render/units"
)

const (
	shiftKey = key.ModShift
	ctrlKey  = key.ModCtrl
)

// basisText says what the lower half answers for, and from which records.
func basisText(rec *recording.Recording, a *analyze.Weights) string {
	switch {
	case a == nil:
		return ""
	case a.Pairs > 0:
		b := *a
		b.Pairs = 0
		return basisText(rec, &b) + ", " + units.Plural(a.Pairs, "pair") + " joined"
	case a.Ranged && a.Basis == analyze.Windows:
		return units.Duration(a.To-a.From) + " from " + units.Plural(int64(a.WindowCount), "window")
	case a.Ranged:
		return "selected " + units.Duration(a.To-a.From) + ", from " + string(a.Basis)
	}
	return "whole recording, from " + string(a.Basis)
}

// selectionText says what is selected: Selected 12.40 ms · 3 threads.
func selectionText(sel recording.Scope) string {
	var parts []string
	if sel.Ranged {
		parts = append(parts, units.Duration(sel.To-sel.From))
	}
	if n := len(sel.Tracks); n > 0 {
		parts = append(parts, units.Plural(int64(n), "thread"))
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
