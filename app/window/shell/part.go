package shell

import (
	"fmt"
	"slices"
	"strings"

	"ashlar/ingest/model/recording"
	"ashlar/render/units"
	"ashlar/render/widget"
)

// askPart asks which part of the file to open, for files that do not fit in memory.
func (s *Shell) askPart() {
	p := s.Pane
	path := p.Rec.Source.Path
	if s.Versus != nil {
		s.Say("Close the comparison first: only a single file can be opened in part")
		return
	}
	if p.Demo || path == "-" || path == "" {
		s.Say("Only files can be opened in part")
		return
	}
	part := p.Part
	part.Threads = slices.Clone(part.Threads)
	s.OpenChooser(widget.NewChooser("Time range such as 1.2s..1.5s, or a thread", "", func(text string) []widget.Line {
		var ls []widget.Line
		add := func(title string, part recording.Part) {
			ls = append(ls, widget.Line{Title: title, Detail: part.String(), Take: func() {
				s.Chooser = nil
				s.OpenPart(path, part)
			}})
		}
		if r, err := recording.ParseRange(text); err == nil {
			only := part
			only.Range = r
			add("Open "+r.String(), only)
		} else if text == "" && p.Scope.Ranged {
			only := part
			only.Range = recording.Offsets(max(0, p.Scope.From-p.Rec.Start), p.Scope.To-p.Rec.Start)
			add("Open the selected "+units.Duration(p.Scope.To-p.Scope.From), only)
		}
		if text == "" && p.Part.IsSet() {
			add("Open whole file", recording.Part{})
		}
		for _, t := range p.Rec.Tracks {
			name := t.Title()
			if t.Kind != recording.ThreadTrack || !strings.Contains(strings.ToLower(name), strings.ToLower(text)) || len(ls) > 200 {
				continue
			}
			only := part
			only.Threads = []string{fmt.Sprint(t.TID)}
			add("Open only "+name, only)
		}
		return ls
	}))
}
