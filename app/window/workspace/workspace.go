// Package workspace manages the open recordings of the window, one or two under
// comparison, each with a timeline and panels. It keeps the view as an address, its undo
// history and its command line, and reloads files that change. Toolbar, menus and keys
// belong to the shell.
package workspace

import (
	"context"
	"image"
	"strings"

	"ashlar/app/core/bundle"
	"ashlar/app/core/session"
	"ashlar/app/core/view"
	"ashlar/app/window/panel"
	"ashlar/app/window/panel/functions"
	"ashlar/app/window/panel/trend"
	"ashlar/app/window/scopebar"
	"ashlar/app/window/timeline"
	"ashlar/ingest"
	"ashlar/ingest/format/decode"
	"ashlar/ingest/model/funcname"
	"ashlar/ingest/model/recording"
	"ashlar/render/theme"
	"ashlar/render/widget"
)

// View names the visible parts of the window.
type View string

// Views.
const (
	Both  View = "both"
	Upper View = "timeline"
	Flame View = "flame"
	Lower View = "lower" // the content of the current tab
)

// Workspace is the content of the window: one recording, or two being compared, and their
// views.
type Workspace struct {
	panel.Host
	View View
	// Scale is the scale of the interface relative to the display's own; 0 means 1.
	Scale float32
	// Leads shows the findings of recordings that are opened without an address, unless
	// the user hides them with NoFindings.
	Leads, NoFindings bool
	// Columns are the widths of the columns of names and of details.
	Columns panel.Columns
	borders borders
	// FollowFiles follows every file that is opened.
	FollowFiles bool
	// Hold makes opened files wait with most of their reading until the channel is
	// closed: see [ingest.Options.Hold].
	Hold <-chan struct{}
	// Elsewhere is the path of the recording in the window that was used last when this one
	// opened, "" for none. The window offers to compare with it.
	Elsewhere string
	// Cache holds recordings that were read before.
	Cache ingest.Cache
	// Scratch: see [ingest.Options.Scratch].
	Scratch string
	// Read, if set, reads files synchronously: for pictures of recordings that were read
	// elsewhere.
	Read session.Reader
	// Callbacks holds the actions that only the window can perform.
	Callbacks Callbacks

	Pane    *Pane       // the one with the focus
	Versus  *Comparison // the comparison of two recordings, else nil
	Session *session.Session
	// gone holds panes whose recordings are released at the next frame. Event handlers
	// may hold pointers to their fields, which keep the whole panes alive.
	gone      []*Pane
	places    session.Async[goal, place]
	asked     int // number of requests to go to a function
	moved     session.Async[sought, located]
	labels    session.Async[labelsKey, *funcname.Labels]
	trends    trend.Store
	opened    int         // number of times a file was opened
	back      *backStep   // the recordings that were open before
	Preferred Prefs       // as last stored
	Size      image.Point // size of the last frame
	Density   float32     // pixels per dp in the last frame, before Scale
}

// Callbacks connects a workspace to the window around it, whose type it does not know.
type Callbacks struct {
	// KeyOf returns the key of a command, "" if it has none.
	KeyOf func(command string) string
	// SaveTable asks the user for a file and writes the current table to it.
	SaveTable func()
	// Recent returns the files most recently opened in the window.
	Recent func() []string
}

// NewDesk returns a workspace with nothing open.
func NewDesk(th *theme.Theme) Workspace {
	return Workspace{Host: panel.Host{Theme: th, Mode: theme.ByFunction, HiddenColumns: uint32(functions.HiddenColumns)}, View: Both}
}

// Heights and widths of the parts, in dp.
const (
	tabsHeight = 34
	lowerHead  = tabsHeight + scopebar.Height
)

// Above reports whether the timeline is shown.
func (v View) Above() bool { return v == Both || v == Upper }

// below reports whether the part below the timeline is shown.
func (v View) below() bool { return v != Upper }

// Open opens a file or an address in place of the open recordings. Of a bundle, it opens
// the first view.
func (d *Workspace) Open(path string) { d.OpenWith(path, "") }

// OpenWith is like Open, with a program to read symbol names from if the file has none.
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

// OpenPart opens a part of a file in place of the open recordings.
func (d *Workspace) OpenPart(path string, part recording.Part) { d.OpenPartWith(path, "", part) }

// OpenPartWith is like OpenWith, for a part of a file.
func (d *Workspace) OpenPartWith(path, exe string, part recording.Part) {
	d.show(d.load(path, exe, part))
}

// Reopen reopens the current recordings after a file could not be read.
func (d *Workspace) Reopen(why error) {
	shown := d.Shown()
	for i, p := range shown {
		if i == 0 {
			d.OpenPartWith(p.Path, p.Exe, p.Part)
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
	p := d.NewPane(d.side(path, exe, part))
	if path == view.Demo {
		p.Demo = true
		return p
	}
	p.Path, p.Exe, p.Part = path, exe, part
	if d.FollowFiles && p.Doc.CanFollow() {
		p.follow()
	}
	return p
}

// side begins to read a file.
func (d *Workspace) side(path, exe string, part recording.Part) *session.Side {
	if path == view.Demo {
		return session.Demo(d.Wake)
	}
	return session.OpenWith(path, session.Options{Decode: decode.Options{Exe: exe}, Part: part, Hold: d.Hold, Cache: d.Cache, Scratch: d.Scratch, Read: d.Read}, d.Wake)
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

// NewPane returns a pane with the user's preferred settings.
func (d *Workspace) NewPane(side *session.Side) *Pane {
	p := newPane(side)
	p.Actions = panel.SideActions{
		Say:           d.Say,
		FunctionItems: func(f recording.Function) []widget.Item { return p.FunctionItems(d, f) },
		CommandItem:   func() widget.Item { return d.commandItem(OfLower) },
		TableItems:    d.tableItems,
		WhySlow:       d.WhySlow, CompareTypical: d.CompareTypical,
		Show: p.Show, GoToTrack: p.GoToTrack, Runs: p.runFiles,
		ReadRun: func(ctx context.Context, file string) (*recording.Recording, error) {
			return d.readRun(ctx, file, p.Exe)
		},
		CompareRuns: d.CompareRuns,
	}
	panel.Find[*trend.Panel](p.Deck.All).Store = &d.trends
	p.Timeline.Callbacks = timeline.Callbacks{
		Items:     func() []widget.Item { return []widget.Item{d.commandItem(OfTimeline)} },
		MarkItems: func(m *view.Mark) []widget.Item { return p.MarkList.Items(&d.Host, m) },
		GoToMark:  func(m view.Mark) { p.MarkList.GoTo(&d.Host, m) },
		KeyOf:     d.Callbacks.KeyOf,
	}
	p.Leads.shown = d.Leads && !d.NoFindings
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

// Doc returns the open recording, nil if there is none.
func (d *Workspace) Doc() *session.Side {
	if d.Pane == nil {
		return nil
	}
	return d.Pane.Doc
}

// OneLine replaces control characters, such as line breaks, by spaces.
func OneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, s)
}

// Release releases the panes that are no longer shown, before a frame.
func (d *Workspace) Release() {
	for _, p := range d.gone {
		p.stop()
		*p = Pane{}
	}
	d.gone = nil
}

// CloseAll releases everything.
func (d *Workspace) CloseAll() {
	d.leave()
	d.Session.Close()
	d.Pane, d.Versus = nil, nil
	d.places.Stop()
	d.moved.Stop()
	d.trends.Stop()
}
