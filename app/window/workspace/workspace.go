// Package workspace manages the open recordings of the window, one or two under
// comparison, each with a timeline and panels. It keeps the view as an address, its undo
// history and its command line, and reloads files that change. Toolbar, menus and keys
// belong to the shell.
package workspace

import (
	"image"
	"strings"
	"time"

	"gioui.org/op"

	"ashlar/app/core/bundle"
	"ashlar/app/core/session"
	"ashlar/app/core/view"
	"ashlar/app/window/panel"
	"ashlar/app/window/panel/functions"
	"ashlar/app/window/scopebar"
	"ashlar/app/window/timeline"
	"ashlar/ingest"
	"ashlar/ingest/format/decode"
	"ashlar/ingest/model/funcname"
	"ashlar/ingest/model/recording"
	"ashlar/render/theme"
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

// Desk has what is open in the window: one recording, or two that are compared,
// and how they are looked at.
type Workspace struct {
	panel.Host
	View View
	// Scale makes everything larger than the display asks for; 0 is 1.
	Scale float32
	// FollowFiles follows every file that is opened.
	FollowFiles bool
	// Hold has files that are opened wait with most of their reading until it is
	// closed: see [ingest.Options.Hold].
	Hold <-chan struct{}
	// Cache has recordings that were read before.
	Cache ingest.Cache
	// Scratch: see [ingest.Options.Scratch].
	Scratch string
	// Read, if set, reads files while one waits: for pictures of what was read elsewhere.
	Read session.Reader
	// Callbacks has the acts that only the window around it can do.
	Callbacks Callbacks

	Pane    *Pane       // the one with the focus
	Versus  *Comparison // where two recordings are compared, else nil
	Session *session.Session
	// gone are panes whose recordings are to be let go of with the next frame: what
	// reads events may remember their fields, and with them all of them.
	gone      []*Pane
	places    session.Async[goal, place]
	asked     int // for places
	moved     session.Async[sought, located]
	labels    session.Async[labelsKey, *funcname.Labels]
	opened    int         // how often something was
	back      *view.State // the previously open recordings, if a program opened the current ones
	Preferred Prefs       // as they were last kept
	Size      image.Point // of the last frame
	Density   float32     // its pixels a dp, before Scale
}

// Callbacks lead from a desk to the window around it, which it does not know.
type Callbacks struct {
	// KeyOf is the key of a command, "" if it has none.
	KeyOf func(command string) string
	// SaveTable asks where the table that is shown goes, and writes it there.
	SaveTable func()
	// Recent are the files that were opened last.
	Recent func() []string
}

// NewDesk returns a desk with nothing open.
func NewDesk(th *theme.Theme) Workspace {
	return Workspace{Host: panel.Host{Theme: th, Mode: theme.ByFunction, HiddenColumns: uint32(functions.HiddenColumns)}, View: Both}
}

// Heights and widths of the parts, in dp.
const (
	tabsHeight = 34
	lowerHead  = tabsHeight + scopebar.Height
	sideWidth  = 300
)

// Above reports whether the timeline is shown.
func (v View) Above() bool { return v == Both || v == Upper }

// below reports whether what is below the timeline is shown.
func (v View) below() bool { return v != Upper }

// Open shows a file in place of what is shown, or what an address names; of a bundle its
// first view.
func (d *Workspace) Open(path string) { d.OpenWith(path, "") }

// OpenWith is Open with a program to take names from where the file has none.
func (d *Workspace) OpenWith(path, exe string) {
	if views := bundle.Views(path, path); len(views) > 0 {
		path = views[0]
	}
	if !view.IsAddress(path) {
		d.OpenPartWith(path, exe, recording.Part{})
	} else if v, err := view.Parse(path); err != nil {
		d.Say(err.Error())
	} else {
		d.visitMoved(v)
	}
}

// OpenPart shows a part of a file in place of what is shown.
func (d *Workspace) OpenPart(path string, part recording.Part) { d.OpenPartWith(path, "", part) }

// OpenPartWith is OpenWith for a part of a file.
func (d *Workspace) OpenPartWith(path, exe string, part recording.Part) {
	d.show(d.load(path, exe, part))
}

// Reopen opens anew what is shown, because a file in which it lies could not be read.
func (d *Workspace) Reopen(why error) {
	shown := d.Shown()
	for i, p := range shown {
		if i == 0 {
			d.OpenPartWith(p.Path, p.exe, p.Part)
		} else {
			d.OpenBeside(p.Path)
		}
	}
	if len(shown) > 0 {
		d.Say("Reopened the recording: " + why.Error())
	}
}

// OpenDemo shows the built-in recording.
func (d *Workspace) OpenDemo() { d.OpenPart(view.Demo, recording.Part{}) }

// load begins to read a file, or the built-in recording: [view.Demo].
func (d *Workspace) load(path, exe string, part recording.Part) *Pane {
	if path == view.Demo {
		p := d.NewPane(session.Demo(d.Wake))
		p.Demo = true
		return p
	}
	p := d.NewPane(session.OpenWith(path, session.Options{Decode: decode.Options{Exe: exe}, Part: part, Hold: d.Hold, Cache: d.Cache, Scratch: d.Scratch, Read: d.Read}, d.Wake))
	p.Path, p.exe, p.Part = path, exe, part
	if d.FollowFiles && p.Doc.CanFollow() {
		p.follow()
	}
	return p
}

func (d *Workspace) show(p *Pane) {
	d.leave()
	d.back = nil
	d.opened++
	if d.Versus == nil && d.Pane != nil {
		d.gone = append(d.gone, d.Pane)
	}
	d.Session.Show(p.Doc)
	d.Pane, d.Versus = p, nil
	d.Menu = nil
	d.title()
	d.Wake()
}

// NewPane is a pane that looks as people like it.
func (d *Workspace) NewPane(side *session.Side) *Pane {
	p := newPane(side)
	p.Actions = panel.SideActions{
		FunctionItems: func(f recording.Function) []widget.Item { return p.FunctionItems(d, f) },
		CommandItem:   func() widget.Item { return d.commandItem(OfLower) },
		TableItems:    d.tableItems,
		WhySlow:       d.WhySlow, CompareTypical: d.CompareTypical,
		Show: p.Show,
	}
	p.Timeline.Callbacks = timeline.Callbacks{
		Items:     func() []widget.Item { return []widget.Item{d.commandItem(OfTimeline)} },
		MarkItems: func(m *view.Mark) []widget.Item { return p.MarkList.Items(&d.Host, m) },
		GoToMark:  func(m view.Mark) { p.MarkList.GoTo(&d.Host, m) },
		KeyOf:     d.Callbacks.KeyOf,
	}
	p.Prefer(d.Preferred.Look.State())
	p.Table.Hidden = functions.ColumnSet(d.HiddenColumns)
	return p
}

// Choose sets the event and metric by name once they are known; empty names
// leave the default.
func (d *Workspace) Choose(event, metric string) {
	if c := d.Versus; c != nil {
		c.Options.Event, c.Options.Metric = event, metric
		return
	}
	if d.Pane != nil {
		d.Pane.wantEvent, d.Pane.wantMetric = event, metric
	}
}

// Doc is the open recording, nil when there is none.
func (d *Workspace) Doc() *session.Side {
	if d.Pane == nil {
		return nil
	}
	return d.Pane.Doc
}

// OneLine shows what would break a line.
func OneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, s)
}

func opInvalidateAt(t time.Time) op.InvalidateCmd { return op.InvalidateCmd{At: t} }

// Release lets go of the panes that are no longer shown, before a frame.
func (d *Workspace) Release() {
	for _, p := range d.gone {
		p.stop()
		*p = Pane{}
	}
	d.gone = nil
}

// CloseAll lets go of everything.
func (d *Workspace) CloseAll() {
	d.leave()
	d.Session.Close()
	d.Pane, d.Versus = nil, nil
	d.places.Stop()
	d.moved.Stop()
}
