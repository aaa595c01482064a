//go:build !linux && !windows && !(darwin && cgo)

package native

import "gioui.org/io/event"

// system takes no drops: there is no way to, or none that was tried.
type system struct{}

func (*system) before()                      {}
func (*system) window(*Desktop, event.Event) {}
func (*system) turn()                        {}
