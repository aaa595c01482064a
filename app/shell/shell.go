// Package shell is the content of the window: the toolbar, the pane with
// timeline, flamegraph, table and details, the menus and the status line. It
// knows no window: frames come as layout contexts, so that a picture without a
// window shows exactly the same.
package shell

import (
	"context"
	"image"
	"strings"
	"time"

	"gioui.org/io/event"
	"gioui.org/layout"
	"gioui.org/op"
	"gioui.org/text"
	gio "gioui.org/widget"

	"ashlar/app/dialog"
	"ashlar/app/session"
	"ashlar/app/sourcefile"
	"ashlar/app/view"
	"ashlar/ingest/decode"
	"ashlar/ingest/recording"
	"ashlar/render/fonts"
	"ashlar/render/raster"
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
	Both     View = "both"
	Timeline View = "timeline"
	Flame    View = "flame"
	Lower    View = "lower" // what the chosen tab shows
)

// above and below tell whether the timeline is shown, and what is below it.
func (v View) above() bool { return v == Both || v == Timeline }
func (v View) below() bool { return v != Timeline }

// Shell is everything in the window.
type Shell struct {
	Theme *theme.Theme
	Mode  theme.Mode
	View  View
	// Scale makes everything larger than the display asks for; 0 is 1.
	Scale float32
	// System is the theme that the system prefers, nil where that is not known.
	System *theme.Theme
	// Do carries out what only a window can: nil where there is none.
	Do Actions
	// Keep remembers things from one run to the next; nil where nothing is kept.
	Keep Keep
	// FollowFiles follows every file that is opened.
	FollowFiles bool
	// Hold has files that are opened wait with most of their reading until it is
	// closed: see [ingest.Options.Hold].
	Hold <-chan struct{}
	// Roots say where source files are.
	Roots []sourcefile.Root
	// Shapes, if set, is where frames are written down too.
	Shapes *svg.Canvas
	// Bars counts what the last frame drew.
	Bars int

	shaper  *text.Shaper
	follows bool // the theme is the system's
	fonts   raster.Faces
	tips    ui.Sheet
	// noSearch tells that the toolbar had no room for the search in the last frame.
	noSearch bool
	fontsOf  int64       // the version of the system's fonts that is drawn with
	pane     *pane       // the one with the focus
	versus   *comparison // where two recordings are compared, else nil
	// gone are panes whose recordings are to be let go of with the next frame: what
	// reads events may remember their fields, and with them all of them.
	gone      []*pane
	menu      *widget.Menu
	help      bool
	helpState helpPart
	chooser   *widget.Chooser
	note      note
	typing    bool   // in a text field
	exe       string // of the file that is being opened; see OpenWith
	clip      string // a text for the clipboard
	tasks     tasks
	unpick    func() // takes the desktop's dialog away; nil when none is open
	first     welcome
	focus     ui.Focus
	prefs     Prefs // as they were last kept
	// hiddenColumns are those of the table that the next file does not show.
	hiddenColumns columnSet
	drag          dropping
	size          image.Point // of the last frame
	density       float32     // its pixels a dp, before Scale

	openButton, helpButton, themeButton, modeButton, compareButtonClick gio.Clickable
	// hint is the tooltip of the button that the pointer is over.
	hint hint
}

// Actions are what a shell asks of its window.
type Actions struct {
	// Close ends the program, Fullscreen toggles.
	Close, Fullscreen func()
	// Title sets the window's title.
	Title func(string)
	// Edit opens a source file at a line.
	Edit func(path string, line int) error
	// Picture draws into a file, on any goroutine.
	Picture Picture
	// Wake asks for another frame, from any goroutine.
	Wake func()
	// Pick asks for files with the desktop's dialog; called from a goroutine of
	// its own.
	Pick func(context.Context, dialog.Request) ([]string, error)
}

// note is a short message in the status line.
type note struct {
	text  string
	until time.Time
}

// New returns a shell with nothing open.
func New(th *theme.Theme) *Shell {
	return &Shell{Theme: th, Mode: theme.ByFunction, View: Both, shaper: ui.NewShaper(), hiddenColumns: hiddenColumns}
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
	s.show(session.OpenHeld(path, decode.Options{Exe: s.exe}, part, s.Hold, s.wake))
	s.pane.path, s.pane.exe, s.pane.part = path, s.exe, part
	if s.FollowFiles && s.pane.doc.CanFollow() {
		s.pane.follow()
	}
}

// OpenDemo shows the built-in recording.
func (s *Shell) OpenDemo() {
	s.show(session.Demo(s.wake))
	s.pane.demo = true
}

func (s *Shell) show(d *session.Side) {
	if c := s.versus; c != nil {
		go c.close()
	} else if s.pane != nil {
		s.leave()
		old := s.pane.doc
		go old.Close() // waits for goroutines: not on the window's
		s.gone = append(s.gone, s.pane)
	}
	s.pane, s.versus = s.newPane(d), nil
	s.menu = nil
	s.title()
	s.wake()
}

// newPane is a pane that looks as people like it.
func (s *Shell) newPane(d *session.Side) *pane {
	p := newPane(d)
	p.table.hidden = s.hiddenColumns
	p.prefer(s.prefs)
	return p
}

// Choose sets the event and metric by name once they are known; empty names
// leave the default.
func (s *Shell) Choose(event, metric string) {
	if c := s.versus; c != nil {
		c.options.Event, c.options.Metric = event, metric
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
	return s.pane.doc
}

func (s *Shell) wake() {
	if s.Do.Wake != nil {
		s.Do.Wake()
	}
}

// Close lets go of everything.
func (s *Shell) Close() {
	if s.unpick != nil {
		s.unpick()
	}
	if c := s.versus; c != nil {
		c.close()
	} else if s.pane != nil {
		s.leave()
		s.pane.doc.Close()
	}
	s.pane, s.versus = nil, nil
}

// Say shows a message in the status line for some seconds.
func (s *Shell) Say(text string) {
	s.note = note{text, time.Now().Add(6 * time.Second)}
	s.wake()
}

// Heights and widths of the parts, in dp.
const (
	toolbarHeight = 44
	statusHeight  = 24
	tabsHeight    = 34
	sideWidth     = 300
	overviewTop   = 6
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
	u := &ui.UI{Context: gtx, Theme: s.Theme, Shaper: s.shaper, Faces: &s.fonts, Tip: &s.tips, Focus: &s.focus, Shapes: s.Shapes}
	size := gtx.Constraints.Max
	s.size = size
	s.Bars = 0
	full := image.Rectangle{Max: size}
	event.Op(gtx.Ops, s)
	s.tasks.run(s)
	s.keep()
	s.focus.Begin(s.menu != nil || s.help || s.chooser != nil)
	s.typing = u.Typing()
	s.keys(u)
	u.Theme = s.Theme // which a key may have changed: pictures made now are kept
	u.Fill(full, s.Theme.Background)
	u.Area(&s.openButton, nil) // the toolbar comes first, though it is laid out last
	if s.clip != "" {
		what := s.clip
		if n := strings.Count(what, "\n"); n > 1 {
			what = units.Plural(int64(n), "line")
		}
		s.copyTo(u, what, s.clip)
		s.clip = ""
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
		u.Area(&s.note, nil)
		s.status(u, image.Rect(0, size.Y-status, size.X, size.Y))
	}
	u.NoArea()
	if s.View == Both && s.pane != nil && s.versus == nil {
		s.pane.search.list.layout(s, s.pane, u)
	}
	if s.menu != nil {
		if over, do := s.menu.Layout(u, size); over {
			s.leaveMenu(do)
		}
	}
	if s.help {
		s.helpPage(u, full)
	}
	if c := s.chooser; c != nil && c.Layout(u, size, func() bool { return s.chooser == c }) {
		if s.chooser == c && c.Left {
			s.chooser = nil
		}
		s.wake()
	}
	s.hint.layout(s, u)
	s.layoutDrag(u, full)
	if s.typing && !u.StillTyping() {
		// The field is gone. Keys that mean something now are only asked for with
		// the next frame: the first of them would be lost.
		u.Execute(op.InvalidateCmd{})
	}
	if !s.note.until.IsZero() && gtx.Now.Before(s.note.until) {
		gtx.Execute(opInvalidateAt(s.note.until))
	}
}

// leaveMenu closes the menu and does what was chosen of it, if anything was.
func (s *Shell) leaveMenu(do func()) {
	s.menu = nil
	if do != nil {
		do()
	}
	s.wake()
}

// newFonts draws everything anew when fonts were found for more characters.
func (s *Shell) newFonts() {
	v := fonts.System.Version()
	if v == s.fontsOf {
		return
	}
	s.fontsOf, s.shaper = v, ui.NewShaper()
	if s.pane != nil {
		s.pane.palette = nil // which all pictures depend on
	}
}
