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

// Panel is a view in the lower half, of something of type S: a [Side].
type Panel[S any] interface {
	// Layout draws it in r and takes what was done on it since the last frame.
	Layout(h *Host, of S, u *ui.UI, r image.Rectangle)
}

// What a panel may do besides.
type (
	// Asker adds to a question what only this panel wants to know.
	Asker[S, Q any] interface{ Ask(of S, q *Q) }
	// Pointed takes what the pointer did, before anything of a frame is drawn.
	Pointed[S any] interface {
		Events(h *Host, of S, u *ui.UI)
	}
	// Keyed takes a key while the lower half has the keyboard, or leaves it to the
	// commands; row is the height of a row, in pixels.
	Keyed[S any] interface {
		Key(of S, k key.Event, row int) bool
	}
	// Tipped draws a tooltip over everything else.
	Tipped[S any] interface {
		Tooltip(h *Host, of S, u *ui.UI)
	}
	// Scrolled has a place that it is scrolled to, in pixels; nil if it has none
	// now.
	Scrolled[S any] interface{ Scroll(of S) *int }
	// Movable is moved up by some pixels where the pointer is on it, which it says.
	Movable[S any] interface{ ScrollBy(of S, px int) bool }
	// Hovered tells which function is under the pointer.
	Hovered[S any] interface {
		Hover(of S) (f recording.FuncID, ok bool)
	}
	// Tabled gives what it shows as a table. That may be long: the function it
	// returns is called beside the window, and nil if there is nothing yet.
	Tabled[S any] interface {
		Table(of S) func() *tables.Grid
	}
	// Holdable reports whether the pointer is down on it.
	Holdable interface{ Held() bool }
	// Menued opens the menu of the selected item, if the panel shows it.
	Menued[S any] interface {
		Menu(h *Host, of S, u *ui.UI) bool
	}
	// Areas are where a press of the pointer gives the lower half the keyboard.
	Areas interface{ Areas() []event.Tag }
)

// Row is a panel in a registry.
type Row[S any] struct {
	// Name stands for it in addresses and commands; it never changes.
	Name string
	// Title is in its tab, Doc says in a line what it is for.
	Title, Doc string
	// Command stands for it in the palette; "" if it has commands of its own.
	Command string
	// Rare reports whether the tab is visible only while its panel is shown; nil for
	// permanent tabs.
	Rare func(of S) bool
	New  func() Panel[S]
}

// Find is the panel of a kind among others.
func Find[P, S any](all []Panel[S]) (found P) {
	for _, x := range all {
		if p, ok := x.(P); ok {
			return p
		}
	}
	return found
}
