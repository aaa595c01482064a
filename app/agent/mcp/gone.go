package mcp

import (
	"context"
	"io"
	"os"
	"time"
)

// patience is how long pending questions may take after the client has closed the input,
// if it cannot be detected that nobody reads the answers. A client that has only asked
// its last question still reads them; a killed client does not.
var patience = 2 * time.Minute

// untilGone ends the session of a client that has closed the input: as soon as nobody
// reads the output or, if that cannot be detected, after patience.
func untilGone(ctx context.Context, out io.Writer, end func()) {
	defer end()
	f, _ := out.(*os.File)
	var late <-chan time.Time
	if !detects(f) {
		late = time.After(patience)
	}
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
