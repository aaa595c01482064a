// Package shell implements the content of the window: toolbar, menus, commands and status
// line around timelines and panels. It needs no window: it draws into layout contexts, so
// a picture rendered without a window looks the same.
package shell

import (
	"image"
	"strings"

	"gioui.org/io/event"
	"gioui.org/layout"
	"gioui.org/op"
	"gioui.org/text"
	gio "gioui.org/widget"

	"ashlar/app/core/session"
	"ashlar/app/window/palette"
	"ashlar/app/window/workspace"
	"ashlar/render/fonts"
	"ashlar/render/svg"
	"ashlar/render/theme"
	"ashlar/render/ui"
	"ashlar/render/units"
)

// Shell is everything in the window.
type Shell struct {
	workspace.Workspace
	// Picture renders a frame to a file, on any goroutine; nil if there is no window.
	Picture Picture
	// System is the theme that the system prefers, nil if that is not known.
	System *theme.Theme
	// Keep stores state between runs; nil if nothing is stored.
	Keep Keep
	// Shared reports whether the user lets other programs query the session and navigate
	// it.
	Shared bool
	// Shapes, if set, also records each frame as SVG.
	Shapes *svg.Canvas

	shaper  *text.Shaper
	labels  ui.Labels
	follows bool // the theme is the system's
	tips    ui.Sheet
	// noSearch reports whether the toolbar had no room for the search field in the last
	// frame.
	noSearch  bool
	fontsOf   int64 // version of the system fonts in use
	helpState helpPart
	reading   *manualPage // the manual page shown as help, nil for the list of keys
	typing    bool        // the keyboard focus is in a text field
	searching bool        // that field is the search
	again     bool        // a text field has closed, so another frame was requested
	chosen    []string    // commands chosen in the palette, newest first
	finder    palette.Finder
	unpick    func() // closes the desktop's file dialog; nil if none is open
	first     welcome
	drag      dropping

	openButton, helpButton, themeButton, modeButton, compareButtonClick, searchButton gio.Clickable
	// hint is the tooltip of the button that the pointer is over.
	hint hint
}

// New returns a shell with nothing open.
func New(th *theme.Theme) *Shell {
	s := &Shell{Workspace: workspace.NewDesk(th), shaper: ui.NewShaper()}
	s.Session = session.New(s.Wake)
	s.Callbacks = workspace.Callbacks{KeyOf: keyOf, SaveTable: s.saveTable, Recent: func() (all []string) {
		for _, r := range s.recents() {
			all = append(all, r.Path)
		}
		return all
	}}
	return s
}

// Close releases all resources.
func (s *Shell) Close() {
	if s.unpick != nil {
		s.unpick()
	}
	s.finder.Stop()
	s.CloseAll()
}

// Heights and widths of the parts, in dp.
const (
	toolbarHeight = 44
	statusHeight  = 24
)

// Layout lays out and draws a frame.
func (s *Shell) Layout(gtx layout.Context) {
	s.Release()
	s.Density = gtx.Metric.PxPerDp
	gtx.Metric.PxPerDp *= s.EffectiveScale()
	gtx.Metric.PxPerSp *= s.EffectiveScale()
	s.newFonts()
	s.NameLabels()
	u := &ui.UI{Context: gtx, Theme: s.Theme, Shaper: s.shaper, Labels: &s.labels, Faces: &s.Fonts, Tip: &s.tips, Focus: &s.Focus, Shapes: s.Shapes}
	size := gtx.Constraints.Max
	s.Size = size
	s.Bars = 0
	full := image.Rectangle{Max: size}
	event.Op(gtx.Ops, s)
	s.Tasks.Run()
	s.keep()
	if s.Paired, s.Queries = nil, nil; s.Keep != nil {
		s.Paired, s.Queries = s.Keep, s.Keep
	}
	s.Focus.Begin(s.Menu != nil || s.Help || s.Chooser != nil)
	s.hold(u)
	s.typing = u.Typing()
	s.searching = s.Pane != nil && s.Pane.Finder.Typing(u)
	s.keys(u)
	s.Completing = false
	u.Theme = s.Theme // a key may have changed the theme
	u.Fill(full, s.Theme.Background)
	u.Area(&s.openButton, nil) // the toolbar comes first in the focus order, though it is laid out last
	s.copyClip(u)
	s.layoutParts(u, full)
	s.layoutAbove(u, full)
	s.letGo(u)
	if s.again = s.typing && !u.StillTyping(); s.again {
		// The text field has closed. Other keys are requested only in the next frame;
		// without this request the first one pressed would be lost.
		u.Execute(op.InvalidateCmd{})
	}
	if !s.Note.Until.IsZero() && gtx.Now.Before(s.Note.Until) {
		s.WakeAt(s.Note.Until)
	}
}

// copyClip copies the text requested since the last frame.
func (s *Shell) copyClip(u *ui.UI) {
	if s.Clip == "" {
		return
	}
	what := s.Clip
	if n := strings.Count(what, "\n"); n > 1 {
		what = units.Plural(int64(n), "line")
	}
	s.CopyTo(u, what, s.Clip)
	s.Clip = ""
}

// layoutParts lays out the toolbar, the open recordings and the status line.
func (s *Shell) layoutParts(u *ui.UI, full image.Rectangle) {
	body := full
	bar, status := u.Px(toolbarHeight), u.Px(statusHeight)
	if s.View == workspace.Both {
		body.Min.Y += bar
		body.Max.Y -= status
	}
	if s.Pane == nil {
		u.Area(&s.first, nil)
		s.first.layout(s, u, body)
	} else {
		s.Draw(u, body)
	}
	if s.View == workspace.Both {
		u.Area(&s.openButton, nil)
		s.toolbar(u, image.Rect(0, 0, full.Max.X, bar))
		u.Area(&s.Note, nil)
		s.status(u, image.Rect(0, full.Max.Y-status, full.Max.X, full.Max.Y))
	}
	u.NoArea()
}

// layoutAbove lays out everything on top of the parts: lists, menus, help pages and
// dragged items.
func (s *Shell) layoutAbove(u *ui.UI, full image.Rectangle) {
	size := full.Max
	if s.View == workspace.Both && s.Pane != nil && s.Versus == nil {
		s.Pane.Finder.Fresh().List.Layout(&s.Host, &s.Pane.Finder, u)
	}
	if s.Menu != nil {
		if over, do := s.Menu.Layout(u, size); over {
			s.leaveMenu(do)
		}
	}
	switch {
	case s.Help && s.reading != nil:
		s.reading.layout(s, u, full)
	case s.Help:
		s.helpPage(u, full)
	}
	if c := s.Chooser; c != nil && c.Layout(u, size, func() bool { return s.Chooser == c }) {
		if s.Chooser == c && c.Left {
			s.Chooser = nil
		}
		s.Wake()
	}
	s.hint.layout(s, u)
	s.layoutDrag(u, full)
}

// leaveMenu closes the menu and runs do, the chosen item's action; nil if none was
// chosen.
func (s *Shell) leaveMenu(do func()) {
	s.Menu = nil
	if do != nil {
		do()
	}
	s.Wake()
}

// newFonts draws everything again when fonts were found for more characters.
func (s *Shell) newFonts() {
	v := fonts.System.Version()
	if v == s.fontsOf {
		return
	}
	s.fontsOf, s.shaper = v, ui.NewShaper()
	if s.Pane != nil {
		s.Pane.Palette = nil // all pictures depend on it
	}
}
