// Package dialog opens the desktop's file dialogs.
package dialog

import "errors"

// Request describes a file dialog.
type Request struct {
	Title string
	// Folder is where choosing begins, absolute; "" leaves it to the desktop.
	Folder string
	// Multiple lets several files be chosen.
	Multiple bool
	// Parent is the window the dialog belongs to, as the portals name it
	// ("x11:1a00004"); "" for none.
	Parent string
}

// ErrNone is returned where the desktop has no dialog to offer.
var ErrNone = errors.New("this desktop has no file dialog")
