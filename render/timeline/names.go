package timeline

import (
	"fmt"
	"strings"

	"ashlar/ingest/model/recording"
	"ashlar/render/units"
)

// Names are made when rows are drawn, because there may be a million rows.

// Name returns the name of a row.
func (p *Plan) Name(r *Row) string {
	switch r.Kind {
	case ProcessRow:
		if r.Index < 0 {
			return "Pinned"
		}
		if name := p.rec.Processes[r.Index].Title(); name != "" {
			return name
		}
		return "Process"
	case TrackRow:
		return TrackName(p.rec.Tracks[r.Index])
	case CounterRow:
		return p.rec.Counters[r.Index].Label()
	case GroupRow:
		return p.Group(r).Name
	}
	return "Windows"
}

// Names returns the names of all rows of a kind.
func (p *Plan) Names(k RowKind) (names []string) {
	for i := range p.Rows {
		if r := &p.Rows[i]; r.Kind == k {
			names = append(names, p.Name(r))
		}
	}
	return names
}

// note returns the text beside a row's name: an id that distinguishes it from rows of the
// same name, and how much the row contains.
func (p *Plan) note(r *Row) string {
	var id, much string
	switch r.Kind {
	case ProcessRow:
		if r.Index >= 0 && p.rec.Processes[r.Index].PID != 0 {
			id = recording.IDText(p.rec.Processes[r.Index].PID)
		}
	case TrackRow:
		switch t := p.rec.Tracks[r.Index]; {
		case t.Kind == recording.AsyncTrack:
			id = "async"
		case t.Name != "" && t.TID != 0:
			if id = recording.IDText(t.TID); isNumbered(t.Name, id) {
				id = ""
			}
		}
		if share, of := busy(p.rec, p.cpu, r.Index); of != "" {
			much = percent(share, of)
		} else if r.Samples != nil {
			much = units.Plural(int64(r.Samples.Len()), "sample")
		}
	case CounterRow:
		c := p.rec.Counters[r.Index]
		lo, hi := c.Extent(0, c.Len())
		much = units.QuantityRange(lo, hi, c.Unit)
	case GroupRow:
		return p.GroupNote(p.Group(r))
	case WindowRow:
		much = units.Count(int64(len(p.rec.Windows[r.Index].Windows)))
	}
	if id != "" && much != "" {
		return id + " · " + much
	}
	return id + much
}

// isNumbered reports whether a name is an abbreviation with an id, such as P1 or CPU 12. Other
// names, such as worker-1 or main.func1, may end with another number that equals the id.
func isNumbered(name, id string) bool {
	short, ok := strings.CutSuffix(name, id)
	short = strings.TrimSuffix(short, " ")
	return ok && len(short) <= 3 && strings.Trim(short, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
}

// sampled returns the event name of a row's samples if the row also has spans.
func (p *Plan) sampled(r *Row) string {
	if r.Depths == 0 || r.Spans == 0 {
		return ""
	}
	return p.rec.Events[r.Samples.Event].Title()
}

// busy returns how busy a track is, as a share of the recording, and a word for the
// measure. It measures the time blocked if only that is recorded, else the time in
// running states, else the CPU time, else the time that outermost spans cover. The word
// is "" if none of these is known.
func busy(rec *recording.Recording, cpu *recording.OnCPU, ti int) (share float64, of string) {
	t, whole := rec.Tracks[ti], float64(rec.Duration())
	switch {
	case whole <= 0:
		return 0, ""
	case t.States.Len() > 0 && onlyBlocked(t):
		share, of = float64(t.InState[recording.Blocked])/whole, "blocked"
	case t.States.Len() > 0:
		share, of = float64(onProcessor(t))/whole, "busy"
	case cpu != nil && ti < len(cpu.Outer) && cpu.Outer[ti] != recording.Missing && t.Kind == recording.ThreadTrack:
		share, of = float64(cpu.Outer[ti])/whole, "on CPU"
	case len(t.Lanes) > 0:
		share, of = covered(rec, t)/whole, "busy"
	}
	return min(1, share), of
}

// onProcessor returns the time that a thread ran, according to its states.
func onProcessor(t *recording.Track) int64 {
	return t.InState[recording.Running] + t.InState[recording.Collecting]
}

// onlyBlocked reports whether a thread has no running, system call or runnable states.
// Some programs record only what a thread is blocked on.
func onlyBlocked(t *recording.Track) bool {
	return onProcessor(t)+t.InState[recording.InSystemCall]+t.InState[recording.Runnable] == 0
}

// percent formats a share for display, followed by a word that says what was measured.
func percent(share float64, word string) string {
	if share > 0 && share < .01 {
		return "<1 % " + word
	}
	return fmt.Sprintf("%.0f %% %s", share*100, word)
}
