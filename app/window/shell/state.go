package shell

import (
	"time"

	"ashlar/app/window/scopebar"
	"ashlar/app/window/workspace"
	"ashlar/ingest/model/recording"
	"ashlar/render/timeline"
)

// State describes a frame, for the frame log and tests.
type State struct {
	// View is the address of the view: everything the user chose. The other fields are
	// the result.
	View string `json:"view"`
	File string `json:"file"`
	// Events is the number of loaded spans, samples and stacks.
	Events int64 `json:"events"`
	Done   bool  `json:"done"`
	// From and To are the visible time, in picoseconds from the recording's start, and
	// Metric is the metric in use, even if the view does not name them.
	From   int64  `json:"from"`
	To     int64  `json:"to"`
	Metric string `json:"metric"`
	// Scope lists the texts of the scope bar's chips.
	Scope []string `json:"scope"`
	// Typed holds the text in the palette or the file opener while one is open.
	Typed string `json:"typed"`
	// Drop describes the effect of a drop: a line for each part of the window, beginning
	// with the part under the pointer, then the dragged files. Note is the temporary text
	// of the status line.
	Drop []string `json:"drop"`
	Note string   `json:"note"`
	// Found is the result text of the search line.
	Found string `json:"found"`
	// Threads lists the names of the visible threads, in display order.
	Threads []string `json:"threads"`
	// Near is the function whose callers and callees are shown. Rows is the number of
	// rows in the table.
	Near string `json:"near"`
	Rows int    `json:"rows"`
	// Scale is the scale of the interface.
	Scale float32 `json:"scale"`
	// Focus is the part of the window that shows the keyboard focus, or "text" while the
	// user types in a text field.
	Focus string `json:"focus"`
	// Compare describes both recordings of a comparison, nil without one.
	Compare *workspace.CompareState `json:"compare"`
	// Total is the total weight of the lower half, in the metric's unit.
	Total string `json:"total"`
}

// AtRest reports whether the next frame will look like the last one, unless the user
// acts, a file changes or a pending answer arrives.
func (s *Shell) AtRest() bool { return !s.again && s.Workspace.AtRest() }

// State returns the state of the current frame.
func (s *Shell) State() State {
	st := State{Focus: s.focused(), Drop: s.dropLines()}
	if s.Chooser != nil {
		st.Typed = s.Chooser.Hint + ": " + s.Chooser.Editor.Text()
	}
	if time.Now().Before(s.Note.Until) {
		st.Note = s.Note.Text
	}
	p := s.Pane
	if p == nil {
		return st
	}
	c := &p.Rec.Counts
	st.View, st.File, st.Events, st.Done = s.Address().String(), p.Doc.Name, c.Spans+c.Samples+c.Stacks, p.Rec.Done
	st.From, st.To, st.Metric = p.View.From-p.Rec.Start, p.View.To-p.Rec.Start, p.MetricOf().Name
	st.Scope, st.Found, st.Scale = scopebar.Texts(s.Scoped()), p.Finder.Info(), s.EffectiveScale()
	if p.Plan != nil {
		st.Threads = p.Plan.Names(timeline.TrackRow)
	}
	st.Near, st.Rows = p.Middle().Name, len(p.Table.Order.Rows)
	if a := p.Doc.Answer(); a != nil {
		st.Total = recording.Decimal{Mantissa: a.Tree.Nodes[0].Total, Scale: a.Metric().Decimals}.String()
	}
	if s.Versus != nil {
		st.Compare = s.Versus.Log()
	}
	return st
}

// focused names the area that shows the keyboard focus.
func (s *Shell) focused() string {
	switch {
	case s.typing:
		return "text"
	case !s.Focus.Shown:
		return ""
	}
	p := s.Pane
	if c := s.Versus; c != nil {
		switch {
		case s.Focus.In(&c.Heads):
			return "sides"
		case s.Focus.In(c.Deck.Tag()):
			return "tabs"
		case s.Focus.In(&c.Tab):
			return c.Deck.Title(c.Tab)
		case s.Focus.In(c.Details.Tag()):
			return "details"
		}
	}
	switch {
	case s.Focus.In(&s.openButton):
		return "toolbar"
	case s.Focus.In(&s.first):
		return "first page"
	case s.Focus.In(&s.Note):
		return "status"
	case p == nil:
	case s.Focus.In(p.Leads.Bar.Tag()):
		return "findings"
	case s.Focus.In(&p.Tracks):
		return "filter"
	case s.Focus.In(&p.Lanes):
		return "timeline"
	case s.Focus.In(p.Deck.Tag()):
		return "tabs"
	case s.Focus.In(&p.Tab):
		return p.TabTitle()
	case s.Focus.In(p.Details.Tag()):
		return "details"
	}
	return "?"
}
