//go:build !linux

package window

import "time"

// threadTime is not known here: the log's processor times are 0.
func threadTime() time.Duration { return 0 }
