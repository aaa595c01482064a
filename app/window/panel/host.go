package panel

import (
	"context"
	"io"
	"strings"
	"sync"
	"time"

	"gioui.org/io/clipboard"

	"ashlar/app/core/settings"
	"ashlar/app/core/sourcefile"
	"ashlar/app/desktop/dialog"
	"ashlar/ingest/input/safetext"
	"ashlar/ingest/query/compare/match"
	"ashlar/render/raster"
	"ashlar/render/theme"
	"ashlar/render/ui"
	"ashlar/render/widget"
)

// Host holds the state and the functions of the window that its parts may use.
type Host struct {
	Theme *theme.Theme
	Mode  theme.Mode
	// Do holds the actions that need a window; its fields are nil without one.
	Do Actions
	// Roots are the folders of source files.
	Roots []sourcefile.Root
	// Bars is the number of bars drawn in the last frame.
	Bars int

	Fonts   raster.Faces
	Menu    *widget.Menu
	Help    bool
	Chooser *widget.Chooser
	Note    note
	Clip    string // a text for the clipboard
	Tasks   tasks
	wakes   time.Time // see WakeAt
	Focus   ui.Focus
	// HiddenColumns is the set of table columns hidden in newly opened files.
	HiddenColumns uint32
	// Paired stores the functions that the user has paired, and Queries SQL queries; nil if
	// nothing is stored.
	Paired  pairKeeper
	Queries QueryKeeper
	// Completing is set in each frame in which a text field uses Tab and Escape itself.
	Completing bool
}

// QueryKeeper stores SQL queries.
type QueryKeeper interface {
	// Queries returns the saved queries and those run last, newest first.
	Queries() (saved []settings.Query, ran []string)
	// SaveQuery saves a query under its name; an empty query is removed.
	SaveQuery(settings.Query) error
	// RanQuery remembers that a query was run.
	RanQuery(sql string)
}

// pairKeeper stores pairs of functions made by hand.
type pairKeeper interface {
	Pairs() []match.Pair
	SetPair(p match.Pair, on bool)
}

// Actions are functions of the window for its shell, which does not know the window's
// type.
type Actions struct {
	// Close ends the program, Fullscreen toggles full screen.
	Close, Fullscreen func()
	// Title sets the window's title.
	Title func(string)
	// Edit opens a source file at a line.
	Edit func(path string, line int) error
	// Wake asks for another frame, from any goroutine.
	Wake func()
	// Pick asks for files with the desktop's dialog; call it in a goroutine of its own.
	Pick func(context.Context, dialog.Request) ([]string, error)
	// Permit remembers a root of source files that the user has permitted.
	Permit func(sourcefile.Root)
	// Other opens a file in a window of its own.
	Other func(path string) error
}

// note is a short message in the status line.
type note struct {
	Text  string
	Until time.Time
}

// tasks holds functions from other goroutines, to be called between two frames.
type tasks struct {
	mu   sync.Mutex
	todo []func()
}

// Later runs f on the window's goroutine, soon. It may be called from any
// goroutine.
func (h *Host) Later(f func()) {
	h.Tasks.mu.Lock()
	h.Tasks.todo = append(h.Tasks.todo, f)
	h.Tasks.mu.Unlock()
	h.Wake()
}

// Run calls the pending functions.
func (t *tasks) Run() {
	t.mu.Lock()
	todo := t.todo
	t.todo = nil
	t.mu.Unlock()
	for _, f := range todo {
		f()
	}
}

func (h *Host) Wake() {
	if h.Do.Wake != nil {
		h.Do.Wake()
	}
}

// WakeAt requests a frame at the given time. It uses a timer of its own: if a window cannot be
// shown, Gio would wait for its timer for ever instead of reporting the error.
func (h *Host) WakeAt(t time.Time) {
	if h.Do.Wake != nil && !t.Equal(h.wakes) {
		h.wakes = t
		time.AfterFunc(time.Until(t), h.Do.Wake)
	}
}

// Say shows a message in the status line for some seconds.
func (h *Host) Say(text string) {
	h.Note = note{text, time.Now().Add(6 * time.Second)}
	h.Wake()
}

// CopyTo puts a text on the clipboard and reports that in the status line.
func (h *Host) CopyTo(u *ui.UI, what, text string) {
	u.Execute(clipboard.WriteCmd{Type: "application/text", Data: io.NopCloser(strings.NewReader(safetext.Lines(text)))})
	h.Say("Copied " + what)
}

// CopyLater puts a text on the clipboard with the next frame.
func (h *Host) CopyLater(text string) {
	h.Clip = text
	h.Wake()
}

// OpenChooser shows a chooser and closes menus and help.
func (h *Host) OpenChooser(c *widget.Chooser) {
	h.Chooser = c
	h.Help, h.Menu = false, nil
	h.Wake()
}
