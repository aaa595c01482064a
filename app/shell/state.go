package shell

import (
	"time"

	"ashlar/app/desk"
	"ashlar/app/scopebar"
	"ashlar/ingest/recording"
	"ashlar/render/timeline"
)

// State describes a frame, for the frame log and tests.
type State struct {
	File string `json:"file"`
	// Events is how many spans, samples and stacks have been loaded.
	Events int64 `json:"events"`
	Done   bool  `json:"done"`
	// From and To are the view and Selected the selected range, in picoseconds
	// from the recording's start.
	From     int64    `json:"from"`
	To       int64    `json:"to"`
	Selected [2]int64 `json:"selected"`
	Metric   string   `json:"metric"`

	Tab        string   `json:"tab"`
	Transforms []string `json:"transforms"`
	// Scope are the chips of the scope bar in words.
	Scope []string `json:"scope"`
	// Picked is the name of the function whose details are shown, Search what
	// is looked for and Found what the search line says of it.
	Picked string `json:"picked"`
	// Typed holds the text in the palette or the file opener while one is open.
	Typed string `json:"typed"`
	// Marks are the notes of the marks.
	Marks []string `json:"marks"`
	// Drop says what letting go would do, a line for each part of the window, the
	// one under the pointer first, then what is held; Note has what the status
	// line says for a while.
	Drop []string `json:"drop"`
	Note string   `json:"note"`
	// PickedAt is where the bar that is picked begins, as From.
	PickedAt int64  `json:"picked_at"`
	Search   string `json:"search"`
	Found    string `json:"found"`
	// Threads are the names of those shown, in their order; Pinned, Chosen and
	// Hidden count those that are.
	Threads []string `json:"threads"`
	Pinned  int      `json:"pinned"`
	Chosen  int      `json:"chosen"`
	Hidden  int      `json:"hidden"`
	Zoom    int      `json:"zoom"` // how deep the flamegraph is zoomed
	// Near is the function whose callers and callees are shown. Rows counts the
	// table's, which are of Grouped; Sorted says by what and Shape its columns
	// with the widths that were chosen.
	Near    string   `json:"near"`
	Rows    int      `json:"rows"`
	Grouped string   `json:"grouped"`
	Sorted  string   `json:"sorted"`
	Shape   []string `json:"shape"`
	// Colour says what colours tell, Up that the flamegraph's root is at the
	// bottom, and Scale how large everything is.
	Colour string  `json:"colour"`
	Up     bool    `json:"up"`
	Scale  float32 `json:"scale"`
	// Folded counts the threads that are folded, Scroll is how far rows are
	// scrolled, Focus the part of the window that shows that it has the keyboard,
	// or "text" while a text is typed.
	Folded int    `json:"folded"`
	Scroll int    `json:"scroll"`
	Focus  string `json:"focus"`
	// Compare is about both recordings where two are compared, nil else.
	Compare *desk.CompareState `json:"compare"`
	// Total is the weight of what the lower half shows, in the metric's unit.
	Total string `json:"total"`
}

// State describes what is shown.
func (s *Shell) State() State {
	st := State{}
	if s.Chooser != nil {
		st.Typed = s.Chooser.Hint + ": " + s.Chooser.Editor.Text()
	}
	st.Focus = s.focused()
	st.Drop = s.dropLines()
	if time.Now().Before(s.Note.Until) {
		st.Note = s.Note.Text
	}
	p := s.Pane
	if p == nil {
		return st
	}
	c := &p.Rec.Counts
	st = State{Typed: st.Typed, Focus: st.Focus, Drop: st.Drop, Note: st.Note, Scroll: p.View.Scroll, File: p.Doc.Name, Events: c.Spans + c.Samples + c.Stacks, Done: p.Rec.Done,
		From: p.View.From - p.Rec.Start, To: p.View.To - p.Rec.Start, Metric: p.MetricOf().Name}
	if p.Scope.Ranged {
		st.Selected = [2]int64{p.Scope.From - p.Rec.Start, p.Scope.To - p.Rec.Start}
	}
	st.Tab, st.Search, st.Found = p.TabTitle(), p.Find, p.Finder.Info()
	st.Scope = scopebar.Texts(s.Scoped())
	for _, t := range p.Transforms {
		st.Transforms = append(st.Transforms, t.String())
	}
	for _, m := range p.Marks {
		st.Marks = append(st.Marks, m.Text)
	}
	if f, ok := p.PickedFunction(); ok {
		st.Picked, st.PickedAt = f.Name, p.Pick.Hit.Start-p.Rec.Start
	}
	if p.Plan != nil {
		for i := range p.Plan.Rows {
			if r := &p.Plan.Rows[i]; r.Kind == timeline.TrackRow {
				st.Threads = append(st.Threads, r.Name)
				if r.Collapsed {
					st.Folded++
				}
			}
		}
	}
	st.Pinned, st.Chosen, st.Hidden, st.Zoom = len(p.Pinned), len(p.Scope.Tracks), len(p.Hidden), len(p.Zoom)
	st.Near, st.Rows, st.Grouped = p.Middle().Name, len(p.Table.Order.Rows), string(p.Table.Group)
	st.Sorted, st.Shape = p.Table.InWords()
	st.Colour, st.Up, st.Scale = string(s.Mode), p.Up, s.EffectiveScale()
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
