package shell

import (
	"fmt"
	"slices"
	"strings"

	"ashlar/app/cli"
	"ashlar/ingest/recording"
	"ashlar/render/units"
	"ashlar/render/widget"
)

// extent is the time that the whole view shows: the recording's, or that of the
// part that was opened.
func (p *Side) extent() (from, to int64) {
	if from, to = p.limits(); !p.part.HasFrom && !p.part.HasTo {
		return from, to
	}
	if p.part.HasFrom {
		from = min(to, p.rec.Start+p.part.From)
	}
	if p.part.HasTo && p.rec.Start+p.part.To < to {
		to = max(from, p.rec.Start+p.part.To)
	}
	if from >= to { // nothing of the part has been read yet
		return p.limits()
	}
	return from, to
}

// selectPart selects the time that was opened, so that answers are about exactly
// that: what reaches into it was read whole.
func (p *Side) selectPart() {
	if from, to := p.extent(); (p.part.HasFrom || p.part.HasTo) && p.rec.HasTime && from < to && p.Scope.IsWhole() {
		p.selectRange(from, to)
	}
}

// askPart lets the person choose what is opened of the file, which matters for
// one that does not fit in memory.
func (s *Shell) askPart() {
	p := s.pane
	path := p.rec.Source.Path
	if s.versus != nil {
		s.Say("A part can be opened of one file at a time")
		return
	}
	if p.demo || path == "-" || path == "" {
		s.Say("Only a part of a file can be opened")
		return
	}
	part := p.part
	part.Threads = slices.Clone(part.Threads)
	s.choose(widget.NewChooser("A time to open, like 1.2s..1.5s, or a thread", "", func(text string) []widget.Line {
		var ls []widget.Line
		add := func(title string, part recording.Part) {
			ls = append(ls, widget.Line{Title: title, Detail: part.String(), Take: func() {
				s.chooser = nil
				s.OpenPart(path, part)
			}})
		}
		if r, err := cli.ParseRange(text); err == nil {
			only := part
			only.From, only.To, only.HasFrom, only.HasTo = r.From, r.To, r.HasFrom, r.HasTo
			add("Open "+r.String(), only)
		} else if text == "" && p.Scope.Ranged {
			only := part
			only.From, only.To, only.HasFrom, only.HasTo = max(0, p.Scope.From-p.rec.Start), p.Scope.To-p.rec.Start, true, true
			add("Open the selected "+units.Duration(p.Scope.To-p.Scope.From), only)
		}
		if text == "" && p.part.IsSet() {
			add("Open all of it", recording.Part{})
		}
		for _, t := range p.rec.Tracks {
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
