package shell

import "ashlar/ingest/recording"

// State is what is shown, for the frame log and tests.
type State struct {
	File     string
	Events   int64
	Done     bool
	From, To int64 // the view, in picoseconds from the recording's start
	Selected [2]int64
	Metric   string
}

// State describes what is shown.
func (s *Shell) State() State {
	p := s.pane
	if p == nil {
		return State{}
	}
	c := &p.rec.Counts
	st := State{File: p.doc.Name, Events: c.Spans + c.Samples + c.Stacks, Done: p.rec.Done,
		From: p.view.From - p.rec.Start, To: p.view.To - p.rec.Start, Metric: p.metricOf().Name}
	if p.sel.ranged {
		st.Selected = [2]int64{p.sel.from - p.rec.Start, p.sel.to - p.rec.Start}
	}
	return st
}

// Settle waits until the recording is read and everything shown is final: for
// pictures without a window. part says, once the recording is known, which
// range to select and show, in picoseconds from the recording's start.
func (s *Shell) Settle(part func(*recording.Recording) (from, to int64, ranged bool)) error {
	p := s.pane
	if err := p.doc.Wait(); err != nil {
		return err
	}
	p.update(s)
	if from, to, ranged := part(p.rec); ranged && p.rec.HasTime {
		p.selectRange(p.rec.Start+from, p.rec.Start+to)
		p.fit(p.sel.from, p.sel.to)
	}
	return p.doc.Settle(p.question())
}
