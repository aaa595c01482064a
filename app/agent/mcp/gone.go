package mcp

import (
	"context"
	"io"
	"os"
	"time"
)

// patience is how long questions may still take once the client has closed its end of
// the input: one that asks and waits reads the answers, and one that was killed cannot.
var patience = 2 * time.Minute

// untilGone ends the session of a client that has closed the input: at once when nobody
// reads the output any more, and after some time where that cannot be seen.
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
