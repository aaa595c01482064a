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
	// View is the address of what is shown: all that a person chose. The rest is what
	// came of it.
	View string `json:"view"`
	File string `json:"file"`
	// Events is how many spans, samples and stacks have been loaded.
	Events int64 `json:"events"`
	Done   bool  `json:"done"`
	// From and To are the time that is seen, in picoseconds from the recording's
	// start, and Metric what is weighed by, also where a view says nothing of them.
	From   int64  `json:"from"`
	To     int64  `json:"to"`
	Metric string `json:"metric"`
	// Scope are the chips of the scope bar in words.
	Scope []string `json:"scope"`
	// Typed holds the text in the palette or the file opener while one is open.
	Typed string `json:"typed"`
	// Drop describes the effect of a drop, a line for each part of the window, the one
	// under the pointer first, then the dragged files. Note is the temporary text of the
	// status line.
	Drop []string `json:"drop"`
	Note string   `json:"note"`
	// Found is the result text of the search line.
	Found string `json:"found"`
	// Threads are the names of those shown, in their order.
	Threads []string `json:"threads"`
	// Near is the function whose callers and callees are shown. Rows counts the
	// table's.
	Near string `json:"near"`
	Rows int    `json:"rows"`
	// Scale says how large everything is.
	Scale float32 `json:"scale"`
	// Focus is the part of the window that shows that it has the keyboard, or "text"
	// while a text is typed.
	Focus string `json:"focus"`
	// Compare is about both recordings where two are compared, nil else.
	Compare *workspace.CompareState `json:"compare"`
	// Total is the weight of what the lower half shows, in the metric's unit.
	Total string `json:"total"`
}

// AtRest reports whether the next frame will look like the last one, unless somebody does
// something, a file changes, or an answer comes that is still being worked on.
func (s *Shell) AtRest() bool { return !s.again && s.Workspace.AtRest() }

// State describes what is shown.
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

// focused names the area that shows that it has the keyboard.
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
