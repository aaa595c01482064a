//go:build !linux

package window

import "context"

// watchSystem does nothing if only asking says what has changed.
func watchSystem(context.Context, func()) {}
