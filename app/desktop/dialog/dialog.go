// Package dialog opens the desktop's file dialogs.
package dialog

import "errors"

// Request describes a file dialog.
type Request struct {
	Title string
	// Folder is the initial folder, absolute; "" leaves the choice to the desktop.
	Folder string
	// Multiple lets several files be chosen.
	Multiple bool
	// Parent is the dialog's parent window, in the portals' notation ("x11:1a00004"); ""
	// for none.
	Parent string
}

// ErrNone is returned if the desktop has no file dialog.
var ErrNone = errors.New("this desktop has no file dialog")
