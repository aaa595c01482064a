// Package window runs the shell in a desktop window.
package window

import (
	"errors"
	"fmt"
	"image"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"gioui.org/app"
	"gioui.org/io/event"
	"gioui.org/io/system"
	"gioui.org/layout"
	"gioui.org/op"
	"gioui.org/unit"

	"ashlar/app/core/session"
	"ashlar/app/core/settings"
	"ashlar/app/core/sourcefile"
	"ashlar/app/core/subcommand"
	"ashlar/app/desktop/dialog"
	"ashlar/app/desktop/drop"
	"ashlar/app/desktop/drop/native"
	"ashlar/app/desktop/editor"
	"ashlar/app/desktop/instance"
	"ashlar/app/desktop/outfile"
	"ashlar/app/window/drawing"
	"ashlar/app/window/headless"
	"ashlar/app/window/panel"
	"ashlar/app/window/shell"
	"ashlar/assets/desktop"
	"ashlar/ingest/model/recording"
	"ashlar/render/fonts"
)

// Options configures the window and what it opens.
type Options struct {
	Files []string
	Demo  bool
	// Desktop is set if the desktop started the program, for example on a double click.
	Desktop bool
	// FrameLog is a file to which a JSON line is written for each frame; "" for none.
	FrameLog      string
	Event, Metric string
	Exe           string         // the program to read symbol names from if the file has none
	Part          recording.Part // the part of the files to open
	// Others receives requests from programs that start later; nil if they cannot find
	// this window.
	Others *instance.Listener
	// Run runs a command line for programs that the user lets query the session.
	Run func(subcommand.Invocation) int
	// Store is the settings store; nil stores nothing. AskedTheme reports whether the
	// shell's theme was requested explicitly and overrides the stored one.
	Store      *settings.Store
	AskedTheme bool
}

func init() {
	// Desktops find a window's icon by this name.
	app.ID = desktop.ID
}

// Run opens the window and returns when it is closed. It must be called from
// a goroutine other than main's, with app.Main running there.
func Run(s *shell.Shell, o Options) error {
	if !anyDisplay() {
		return unshown(errors.New("there is no display"), false)
	}
	// Gio passes EGL the display of its window. With EGL_PLATFORM set, EGL would take it
	// for a display of that platform and crash.
	os.Unsetenv("EGL_PLATFORM")
	w := new(app.Window)
	w.Option(app.Title("Ashlar"), app.Size(unit.Dp(1280), unit.Dp(800)), app.MinSize(unit.Dp(leastWidth), unit.Dp(leastHeight)))
	log, err := newFrameLog(o.FrameLog, o.Files)
	if err != nil {
		return err
	}
	defer log.close()
	stop := make(chan struct{})
	defer close(stop)
	r := &running{s: s, w: w, log: log, waker: newWaker(w.Invalidate, stop), drawn: make(chan struct{})}
	session.OnFault(r.waker.wake)
	r.follow = followSystem(r.waker.wake)
	defer r.follow.stop()
	if r.keep = newKeeper(o.Store, r.waker.wake); r.keep != nil {
		defer r.keep.close()
		w.Option(r.keep.size()...)
		s.Keep = r.keep
		s.Prefer(r.keep.prefs(o.AskedTheme))
		s.Roots = append(s.Roots, r.keep.roots()...)
	}
	s.Do, s.Picture, s.Hold, s.Leads = r.actions(), picture, r.drawn, true
	open(s, o)
	defer s.Close()
	fonts.System.Start(r.waker.wake)
	r.shared = newShare(s)
	if o.Others != nil && o.Run != nil {
		o.Others.Session = r.shared.server(o.Run).Session
	}
	if o.Others != nil {
		o.Others.Shows = r.shows
		s.Elsewhere = elsewhere(o)
	}
	r.inbox = newInbox(o.Others, r.waker.wake)
	defer r.inbox.close()
	r.drops = drop.NewTarget(r.waker.wake)
	r.desk = native.New(r.drops, w.Run)
	return whileAnswered(r.run, r.drawn, patience, func() error { return displayAnswers(patience) })
}

// open opens the files that the window starts with.
func open(s *shell.Shell, o Options) {
	switch {
	case len(o.Files) > 0 && o.Part.IsSet():
		s.OpenPartWith(o.Files[0], o.Exe, o.Part)
	case len(o.Files) > 2 || o.Desktop && len(o.Files) == 2 || slices.ContainsFunc(o.Files, shell.IsFolder):
		s.OpenSeveral(o.Files)
	case len(o.Files) > 0:
		s.OpenWith(o.Files[0], o.Exe)
		if len(o.Files) > 1 {
			s.OpenBeside(o.Files[1])
		}
	case o.Demo:
		s.OpenDemo()
	}
	s.Choose(o.Event, o.Metric)
}

// elsewhere returns the recording in another window that this one offers to compare with,
// "" for none.
func elsewhere(o Options) string {
	for _, f := range o.Files {
		if abs, err := filepath.Abs(f); err == nil && abs == o.Others.Elsewhere {
			return ""
		}
	}
	return o.Others.Elsewhere
}

// running is the state of an open window.
type running struct {
	s      *shell.Shell
	w      *app.Window
	log    *frameLog
	waker  *waker
	follow *follower
	keep   *keeper // nil if nothing is kept
	shared *share
	inbox  *inbox
	drops  *drop.Target
	desk   *native.Desktop

	config     app.Config
	fullscreen bool
	// title is the new title, if any. Setting options during a frame requests another
	// frame, which can be missed on Wayland, so the title is set after the frame.
	title  string
	frames int
	drawn  chan struct{} // closed after the first frame
	// shown is the path of the only recording shown, for other programs.
	shown atomic.Pointer[string]
	// faulted is the time when a recording was last reopened, and faults the number of
	// times in short succession; see layout.
	faulted time.Time
	faults  int
	ops     op.Ops
}

// actions are the shell's requests to the desktop.
func (r *running) actions() panel.Actions {
	return panel.Actions{
		Wake:  r.waker.wake,
		Pick:  dialog.Open,
		Other: otherWindow,
		Permit: func(root sourcefile.Root) {
			if r.keep != nil {
				r.keep.permit(root)
			}
		},
		Edit:  editor.Open,
		Title: func(t string) { r.title = t },
		Close: func() { r.w.Perform(system.ActionClose) },
		Fullscreen: func() {
			r.fullscreen = !r.fullscreen
			mode := app.Windowed
			if r.fullscreen {
				mode = app.Fullscreen
			}
			r.w.Option(mode.Option())
		},
	}
}

// run handles the window's events until it is closed.
func (r *running) run() error {
	// The frame log measures the CPU time of this thread, so that decoding on other
	// threads does not count.
	runtime.LockOSThread()
	for {
		var e event.Event
		if r.frames == 0 {
			e = firstEvent(r.w.Event)
		} else {
			e = r.w.Event()
		}
		r.desk.Window(e)
		switch e := e.(type) {
		case app.DestroyEvent:
			return unshown(e.Err, r.frames > 0)
		case app.ConfigEvent:
			r.config = e.Config
			r.inbox.focused(e.Config.Focused)
			r.follow.focused(e.Config.Focused)
		case app.FrameEvent:
			if err := r.frame(e); err != nil {
				return err
			}
		}
	}
}

// frame handles the input since the last frame and draws the next one.
func (r *running) frame(e app.FrameEvent) error {
	r.frames++
	if r.frames == 1 {
		r.follow.first(r.s)
		awaitFirst(r.s)
	}
	r.log.begin()
	r.waker.frame()
	r.receive()
	gtx := app.NewContext(&r.ops, e)
	if r.keep != nil {
		r.keep.sized(r.config, e.Metric)
		for _, n := range r.keep.news() {
			r.s.Say(n)
		}
	}
	if err := r.layout(gtx); err != nil {
		return err
	}
	r.shared.frame()
	r.show()
	r.log.laidOut()
	if r.frames > 1 {
		e.Frame(gtx.Ops)
	} else if err := tried(func() { e.Frame(gtx.Ops) }); err != nil {
		return unshown(err, true)
	} else {
		close(r.drawn)
		r.s.Hold = nil
	}
	if r.title != "" {
		r.w.Option(app.Title(r.title))
		r.title = ""
	}
	r.log.end(r.s, e.Size, r.waker.due)
	return nil
}

// show tells other programs what the window shows.
func (r *running) show() {
	path := r.s.OnlyFile()
	if was := r.shown.Load(); was == nil || *was != path {
		r.shown.Store(&path)
	}
}

// shows returns the absolute path of the only recording shown, "" for none.
func (r *running) shows() string {
	if path := r.shown.Load(); path != nil && *path != "" {
		if abs, err := filepath.Abs(*path); err == nil {
			return abs
		}
	}
	return ""
}

// otherWindow opens a file in a window of its own, as a program of its own.
func otherWindow(path string) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(program, "--from-desktop", "--", path)
	if err := cmd.Start(); err != nil {
		return err
	}
	go cmd.Wait()
	return nil
}

// A recording that could not be read is reopened at most mostFaults times in a row, if
// the faults are less than betweenFaults apart. More than one fault may come from the
// same failure, because background work still reads the old file.
const (
	mostFaults    = 3
	betweenFaults = 5 * time.Second
)

// layout lays out a frame. If the recording's file was truncated or its disk fails, the
// frame is empty and the recording is reopened.
func (r *running) layout(gtx layout.Context) error {
	whole := session.Guarded(func() { r.s.Layout(gtx) })
	err := session.TakeFault()
	if err == nil {
		return nil
	}
	if !whole {
		r.ops.Reset()
	}
	if time.Since(r.faulted) > betweenFaults {
		r.faults = 0
	}
	if r.faults++; r.faults > mostFaults || !session.Guarded(func() { r.s.Reopen(err) }) {
		return fmt.Errorf("the recording can no longer be read: %w", err)
	}
	r.faulted = time.Now()
	r.waker.wake()
	return nil
}

// receive handles input from other programs and the desktop.
func (r *running) receive() {
	if r.inbox.open(r.s) {
		r.w.Perform(system.ActionRaise)
	}
	r.follow.forward(r.s)
	r.desk.Turn()
	over, dropped := r.drops.Next()
	r.s.DragOver(over)
	for _, d := range dropped {
		r.s.Dropped(d)
	}
}

// awaitFirst waits briefly, before anything is visible, for the first part of a recording
// that is being opened. The first frame takes longest, because it compiles the shaders,
// and would otherwise be empty.
func awaitFirst(s *shell.Shell) {
	if d := s.Doc(); d != nil {
		select {
		case <-d.Begun():
		case <-time.After(30 * time.Millisecond):
		}
	}
}

// picture draws a still shell into a PNG or SVG file.
func picture(still *shell.Shell, path string, size image.Point, scale float32) error {
	o := outfile.Options{Replace: true, Not: still.Address().Files}
	switch {
	case drawing.IsSVG(path):
		return drawing.WriteSVG(path, o, drawing.SVG(still, size.X, size.Y, scale), still.OpenName(), nil)
	case !strings.EqualFold(filepath.Ext(path), ".png"):
		return fmt.Errorf("%s: unknown picture format. End the name in .png or .svg", path)
	}
	img, err := headless.DrawBeside(still, size.X, size.Y, scale)
	if err != nil {
		return err
	}
	return drawing.WritePNG(path, o, img, nil)
}

// Main runs f beside the desktop's event loop, which must be on the main thread on some
// systems, and exits with f's result.
func Main(f func() int) {
	go func() { os.Exit(f()) }()
	// macOS passes files as events, not on the command line.
	app.Events(func(e event.Event) bool {
		if e, ok := e.(app.URLEvent); ok && e.URL.Scheme == "file" && e.URL.Path != "" {
			select {
			case fromDesktop <- e.URL.Path:
			default: // hundreds of files at once; the window shows only a few
			}
		}
		return true
	})
}

// fromDesktop receives the files that the desktop asks to open.
var fromDesktop = make(chan string, 256)
