//go:build !linux

package window

import "context"

// watchSystem does nothing where only asking says what has changed.
func watchSystem(context.Context, func()) {}
