// Package shell is the content of the window: the toolbar, the menus, the commands
// and the status line around timelines and panels. It
// knows no window: frames come as layout contexts, so that a picture without a
// window shows exactly the same.
package shell

import (
	"image"
	"strings"

	"gioui.org/io/event"
	"gioui.org/layout"
	"gioui.org/op"
	"gioui.org/text"
	gio "gioui.org/widget"

	"ashlar/app/panel"
	"ashlar/app/panel/functions"
	"ashlar/app/session"
	"ashlar/app/timeline"
	"ashlar/app/view"
	"ashlar/ingest/decode"
	"ashlar/ingest/recording"
	"ashlar/render/fonts"
	"ashlar/render/svg"
	"ashlar/render/theme"
	"ashlar/render/ui"
	"ashlar/render/units"
	"ashlar/render/widget"
)

// View says which parts are shown.
type View string

// Views.
const (
	Both  View = "both"
	Upper View = "timeline"
	Flame View = "flame"
	Lower View = "lower" // what the chosen tab shows
)

// above and below tell whether the timeline is shown, and what is below it.
func (v View) above() bool { return v == Both || v == Upper }
func (v View) below() bool { return v != Upper }

// Shell is everything in the window.
type Shell struct {
	panel.Host
	View View
	// Picture draws into a file, on any goroutine; nil where there is no window.
	Picture Picture
	// Scale makes everything larger than the display asks for; 0 is 1.
	Scale float32
	// System is the theme that the system prefers, nil where that is not known.
	System *theme.Theme
	// Keep remembers things from one run to the next; nil where nothing is kept.
	Keep Keep
	// FollowFiles follows every file that is opened.
	FollowFiles bool
	// Hold has files that are opened wait with most of their reading until it is
	// closed: see [ingest.Options.Hold].
	Hold <-chan struct{}
	// Shapes, if set, is where frames are written down too.
	Shapes *svg.Canvas

	shaper  *text.Shaper
	follows bool // the theme is the system's
	tips    ui.Sheet
	// noSearch tells that the toolbar had no room for the search in the last frame.
	noSearch bool
	fontsOf  int64       // the version of the system's fonts that is drawn with
	pane     *pane       // the one with the focus
	versus   *comparison // where two recordings are compared, else nil
	session  *session.Session
	// gone are panes whose recordings are to be let go of with the next frame: what
	// reads events may remember their fields, and with them all of them.
	gone      []*pane
	helpState helpPart
	typing    bool     // in a text field
	chosen    []string // commands of the palette, newest first
	exe       string   // of the file that is being opened; see OpenWith
	unpick    func()   // takes the desktop's dialog away; nil when none is open
	first     welcome
	prefs     Prefs // as they were last kept
	drag      dropping
	size      image.Point // of the last frame
	density   float32     // its pixels a dp, before Scale

	openButton, helpButton, themeButton, modeButton, compareButtonClick, searchButton gio.Clickable
	// hint is the tooltip of the button that the pointer is over.
	hint hint
}

// New returns a shell with nothing open.
func New(th *theme.Theme) *Shell {
	s := &Shell{Host: panel.Host{Theme: th, Mode: theme.ByFunction, HiddenColumns: uint32(functions.HiddenColumns)}, View: Both, shaper: ui.NewShaper()}
	s.session = session.New(s.Wake)
	return s
}

// OpenWith is Open with a program to take names from where the file has none.
func (s *Shell) OpenWith(path, exe string) {
	s.exe = exe
	s.Open(path)
	s.exe = ""
}

// OpenPartWith is OpenWith for a part of a file.
func (s *Shell) OpenPartWith(path, exe string, part recording.Part) {
	s.exe = exe
	s.OpenPart(path, part)
	s.exe = ""
}

// Open shows a file in place of what is shown, or what an address names.
func (s *Shell) Open(path string) {
	if !view.Is(path) {
		s.openFile(path)
	} else if v, err := view.Parse(path); err != nil {
		s.Say(err.Error())
	} else {
		s.Visit(v)
	}
}

func (s *Shell) openFile(path string) { s.OpenPart(path, recording.Part{}) }

// OpenPart shows a part of a file in place of what is shown.
func (s *Shell) OpenPart(path string, part recording.Part) {
	s.show(session.OpenWith(path, session.Options{Decode: decode.Options{Exe: s.exe}, Part: part, Hold: s.Hold}, s.Wake))
	s.pane.Path, s.pane.exe, s.pane.Part = path, s.exe, part
	if s.FollowFiles && s.pane.Doc.CanFollow() {
		s.pane.follow()
	}
}

// OpenDemo shows the built-in recording.
func (s *Shell) OpenDemo() {
	s.show(session.Demo(s.Wake))
	s.pane.Demo = true
}

func (s *Shell) show(d *session.Side) {
	s.leave()
	if s.versus == nil && s.pane != nil {
		s.gone = append(s.gone, s.pane)
	}
	s.session.Show(d)
	s.pane, s.versus = s.newPane(d), nil
	s.Menu = nil
	s.title()
	s.Wake()
}

// newPane is a pane that looks as people like it.
func (s *Shell) newPane(d *session.Side) *pane {
	p := newPane(d)
	p.Acts = panel.Acts{
		FunctionItems: func(f recording.Function) []widget.Item { return p.functionItems(s, f) },
		CommandItem:   func() widget.Item { return s.commandItem(panelLower) },
		TableItems:    s.tableItems,
		Show:          p.Show,
	}
	p.Timeline.Does = timeline.Acts{
		Items:     func() []widget.Item { return []widget.Item{s.commandItem(panelTimeline)} },
		MarkItems: func(m *view.Mark) []widget.Item { return p.noted.Items(&s.Host, m) },
		GoToMark:  func(m view.Mark) { p.noted.GoTo(&s.Host, m) },
		KeyOf:     keyOf,
	}
	p.table.Hidden = functions.ColumnSet(s.HiddenColumns)
	p.prefer(s.prefs)
	return p
}

// Choose sets the event and metric by name once they are known; empty names
// leave the default.
func (s *Shell) Choose(event, metric string) {
	if c := s.versus; c != nil {
		c.Options.Event, c.Options.Metric = event, metric
		return
	}
	if s.pane != nil {
		s.pane.wantEvent, s.pane.wantMetric = event, metric
	}
}

// Doc is the open recording, nil when there is none.
func (s *Shell) Doc() *session.Side {
	if s.pane == nil {
		return nil
	}
	return s.pane.Doc
}

// Close lets go of everything.
func (s *Shell) Close() {
	if s.unpick != nil {
		s.unpick()
	}
	s.leave()
	s.session.Close()
	s.pane, s.versus = nil, nil
}

// Heights and widths of the parts, in dp.
const (
	toolbarHeight = 44
	statusHeight  = 24
	tabsHeight    = 34
	sideWidth     = 300
)

// Layout lays out and draws a frame.
func (s *Shell) Layout(gtx layout.Context) {
	for _, p := range s.gone {
		p.stop()
		*p = pane{}
	}
	s.gone = nil
	s.density = gtx.Metric.PxPerDp
	gtx.Metric.PxPerDp *= s.scale()
	gtx.Metric.PxPerSp *= s.scale()
	s.newFonts()
	u := &ui.UI{Context: gtx, Theme: s.Theme, Shaper: s.shaper, Faces: &s.Fonts, Tip: &s.tips, Focus: &s.Focus, Shapes: s.Shapes}
	size := gtx.Constraints.Max
	s.size = size
	s.Bars = 0
	full := image.Rectangle{Max: size}
	event.Op(gtx.Ops, s)
	s.Tasks.Run()
	s.keep()
	if s.Paired = nil; s.Keep != nil {
		s.Paired = s.Keep
	}
	s.Focus.Begin(s.Menu != nil || s.Help || s.Chooser != nil)
	s.typing = u.Typing()
	s.keys(u)
	u.Theme = s.Theme // which a key may have changed: pictures made now are kept
	u.Fill(full, s.Theme.Background)
	u.Area(&s.openButton, nil) // the toolbar comes first, though it is laid out last
	if s.Clip != "" {
		what := s.Clip
		if n := strings.Count(what, "\n"); n > 1 {
			what = units.Plural(int64(n), "line")
		}
		s.CopyTo(u, what, s.Clip)
		s.Clip = ""
	}

	body := full
	bar, status := u.Px(toolbarHeight), u.Px(statusHeight)
	if s.View == Both {
		body.Min.Y += bar
		body.Max.Y -= status
	}
	if s.pane == nil {
		u.Area(&s.first, nil)
		s.first.layout(s, u, body)
	} else if s.versus != nil {
		s.versus.layout(s, u, body)
	} else {
		s.pane.layout(s, u, body)
	}
	if s.View == Both {
		u.Area(&s.openButton, nil)
		s.toolbar(u, image.Rect(0, 0, size.X, bar))
		u.Area(&s.Note, nil)
		s.status(u, image.Rect(0, size.Y-status, size.X, size.Y))
	}
	u.NoArea()
	if s.View == Both && s.pane != nil && s.versus == nil {
		s.pane.finder.Fresh().List.Layout(&s.Host, &s.pane.finder, u)
	}
	if s.Menu != nil {
		if over, do := s.Menu.Layout(u, size); over {
			s.leaveMenu(do)
		}
	}
	if s.Help {
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
	if s.typing && !u.StillTyping() {
		// The field is gone. Keys that mean something now are only asked for with
		// the next frame: the first of them would be lost.
		u.Execute(op.InvalidateCmd{})
	}
	if !s.Note.Until.IsZero() && gtx.Now.Before(s.Note.Until) {
		gtx.Execute(opInvalidateAt(s.Note.Until))
	}
}

// leaveMenu closes the menu and does what was chosen of it, if anything was.
func (s *Shell) leaveMenu(do func()) {
	s.Menu = nil
	if do != nil {
		do()
	}
	s.Wake()
}

// newFonts draws everything anew when fonts were found for more characters.
func (s *Shell) newFonts() {
	v := fonts.System.Version()
	if v == s.fontsOf {
		return
	}
	s.fontsOf, s.shaper = v, ui.NewShaper()
	if s.pane != nil {
		s.pane.Palette = nil // which all pictures depend on
	}
}
