//go:build !linux && !windows && !(darwin && cgo)

package native

import "gioui.org/io/event"

// system ignores drops: this platform cannot deliver them, or nobody has tried.
type system struct{}

func (*system) before()                      {}
func (*system) window(*Desktop, event.Event) {}
func (*system) turn()                        {}
