//go:build !linux && !windows && !(darwin && cgo)

package native

import "gioui.org/io/event"

// system ignores drops: this platform does not deliver them, or support for it has not
// been written.
type system struct{}

func (*system) before()                      {}
func (*system) window(*Desktop, event.Event) {}
func (*system) turn()                        {}
