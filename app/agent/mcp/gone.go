package mcp

import (
	"context"
	"io"
	"os"
	"time"
)

// patience is the time that open questions still get once the client has closed the
// input. A client that only stopped asking still reads the answers; a killed one does
// not.
var patience = 2 * time.Minute

// untilGone ends the session of a client that has closed the input: as soon as nobody
// reads the output or, if that cannot be detected, after patience.
func untilGone(ctx context.Context, out io.Writer, end func()) {
	defer end()
	f, _ := out.(*os.File)
	late := time.After(patience)
	for !unread(f) {
		select {
		case <-ctx.Done():
			return
		case <-late:
			return
		case <-time.After(100 * time.Millisecond):
		}
	}
}
