//go:build !linux

package window

import "context"

// watchSystem does nothing where only asking tells what has changed.
func watchSystem(context.Context, func()) {}
