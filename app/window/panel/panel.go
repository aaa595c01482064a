// Package panel defines the interface of the panels in the lower half of the window: a
// [Host], which is the window, and a [Side], which is a recording and its view. Each panel
// has a package below this one and a row in the window's registry, which provides tabs,
// commands and the names in addresses.
package panel

import (
	"image"

	"gioui.org/io/event"
	"gioui.org/io/key"

	"ashlar/app/core/tables"
	"ashlar/ingest/model/recording"
	"ashlar/render/ui"
)

// Panel is a view in the lower half. S is the type of what it shows, such as a [Side].
type Panel[S any] interface {
	// Layout draws the panel in r and handles its events since the last frame.
	Layout(h *Host, of S, u *ui.UI, r image.Rectangle)
}

// Optional methods of a panel.
type (
	// Asker adds the panel's own requests to a question.
	Asker[S, Q any] interface{ Ask(of S, q *Q) }
	// Pointed handles pointer events before a frame is drawn.
	Pointed[S any] interface {
		Events(h *Host, of S, u *ui.UI)
	}
	// Keyed handles a key while the lower half has the keyboard focus. It returns false
	// to leave the key to the commands. row is the height of a row, in pixels.
	Keyed[S any] interface {
		Key(of S, k key.Event, row int) bool
	}
	// Tipped draws a tooltip over everything else.
	Tipped[S any] interface {
		Tooltip(h *Host, of S, u *ui.UI)
	}
	// Scrolled returns the scroll position, in pixels; nil if there is none now.
	Scrolled[S any] interface{ Scroll(of S) *int }
	// Movable scrolls the panel up by a number of pixels if the pointer is on it, and
	// reports whether the pointer is on it.
	Movable[S any] interface{ ScrollBy(of S, px int) bool }
	// Hovered returns the function under the pointer.
	Hovered[S any] interface {
		Hover(of S) (f recording.FuncID, ok bool)
	}
	// Tabled returns a function that makes a table of the panel's contents, nil if there
	// is nothing yet. The function is called in the background, because it may take long.
	Tabled[S any] interface {
		Table(of S) func() *tables.Grid
	}
	// Holdable reports whether the pointer is pressed on the panel.
	Holdable interface{ Held() bool }
	// Menued opens the menu of the selected item, if the panel shows it.
	Menued[S any] interface {
		Menu(h *Host, of S, u *ui.UI) bool
	}
	// Areas returns the areas in which a press gives the lower half the keyboard focus.
	Areas interface{ Areas() []event.Tag }
)

// Row is a panel in a registry.
type Row[S any] struct {
	// Name identifies the panel in addresses and commands; it never changes.
	Name string
	// Title is the text of the tab, Doc describes the panel in one line.
	Title, Doc string
	// OwnCommands is true if the palette has other commands for the panel than one with
	// its Title.
	OwnCommands bool
	// Rare reports whether the tab is visible only while its panel is shown; nil for
	// permanent tabs.
	Rare func(of S) bool
	// NoData reports whether the recording can never have anything for the panel, whose tab
	// is then faint; nil for no.
	NoData func(of S) bool
	New    func() Panel[S]
}

// Find returns the first panel of type P.
func Find[P, S any](all []Panel[S]) (found P) {
	for _, x := range all {
		if p, ok := x.(P); ok {
			return p
		}
	}
	return found
}
