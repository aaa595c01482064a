//go:build !linux

package window

import "context"

// watchSystem does nothing on systems without notifications of changes.
func watchSystem(context.Context, func()) {}
