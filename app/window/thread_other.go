//go:build !linux

package window

import "time"

// threadTime returns 0: thread CPU times are not available here.
func threadTime() time.Duration { return 0 }
