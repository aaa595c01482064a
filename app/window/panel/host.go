package panel

import (
	"context"
	"io"
	"strings"
	"sync"
	"time"

	"gioui.org/io/clipboard"

	"ashlar/app/core/sourcefile"
	"ashlar/app/desktop/dialog"
	"ashlar/ingest/query/compare/match"
	"ashlar/render/raster"
	"ashlar/render/theme"
	"ashlar/render/ui"
	"ashlar/render/widget"
)

// Host has everything that parts of the window may use of it.
type Host struct {
	Theme *theme.Theme
	Mode  theme.Mode
	// Do carries out what only a window can: nil if there is none.
	Do Actions
	// Roots say where source files are.
	Roots []sourcefile.Root
	// Bars counts what the last frame drew.
	Bars int

	Fonts   raster.Faces
	Menu    *widget.Menu
	Help    bool
	Chooser *widget.Chooser
	Note    note
	Clip    string // a text for the clipboard
	Tasks   tasks
	Focus   ui.Focus
	// HiddenColumns are those of the table that the next file does not show.
	HiddenColumns uint32
	// Paired remembers which functions a person has paired; nil if nothing is kept.
	Paired pairKeeper
}

// pairKeeper remembers pairs of functions that were made by hand.
type pairKeeper interface {
	Pairs() []match.Pair
	SetPair(p match.Pair, on bool)
}

// Actions lead from a shell to its window, which it does not know.
type Actions struct {
	// Close ends the program, Fullscreen toggles.
	Close, Fullscreen func()
	// Title sets the window's title.
	Title func(string)
	// Edit opens a source file at a line.
	Edit func(path string, line int) error
	// Wake asks for another frame, from any goroutine.
	Wake func()
	// Pick asks for files with the desktop's dialog; called from a goroutine of
	// its own.
	Pick func(context.Context, dialog.Request) ([]string, error)
}

// note is a short message in the status line.
type note struct {
	Text  string
	Until time.Time
}

// tasks were left by other goroutines, to be done between two frames.
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

// Run does what was left for now.
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

// Say shows a message in the status line for some seconds.
func (h *Host) Say(text string) {
	h.Note = note{text, time.Now().Add(6 * time.Second)}
	h.Wake()
}

// CopyTo puts a text on the clipboard and says so.
func (h *Host) CopyTo(u *ui.UI, what, text string) {
	u.Execute(clipboard.WriteCmd{Type: "application/text", Data: io.NopCloser(strings.NewReader(text))})
	h.Say("Copied " + what)
}

// CopyLater puts a text on the clipboard with the next frame.
func (h *Host) CopyLater(text string) {
	h.Clip = text
	h.Wake()
}

// OpenChooser shows a chooser in place of other things that are open.
func (h *Host) OpenChooser(c *widget.Chooser) {
	h.Chooser = c
	h.Help, h.Menu = false, nil
	h.Wake()
}
