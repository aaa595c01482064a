package mcp

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"ashlar/app/verb"
	"ashlar/ingest"
	"ashlar/ingest/fetch"
	"ashlar/ingest/recording"
)

// Bounds of what is held: recordings, and the bytes of their files.
const (
	mostHeld      = 8
	mostHeldBytes = 1 << 30
)

// held are recordings that were read, the last one first, so that the next question
// about one is answered at once.
type held struct {
	mu   sync.Mutex
	all  []one
	from verb.Reader
}

type one struct {
	key   string
	bytes int64
	rec   *recording.Recording
	stats ingest.Stats
}

// read is a [verb.Reader]. A file that has changed is read anew; what a server handed
// out once stays.
func (h *held) read(ctx context.Context, path string, o ingest.Options) (*recording.Recording, ingest.Stats, error) {
	key, size := path, int64(0)
	if !fetch.IsURL(path) {
		abs, err := filepath.Abs(path)
		st, serr := os.Stat(path)
		if err != nil || serr != nil || !st.Mode().IsRegular() {
			return h.from(ctx, path, o)
		}
		size = st.Size()
		key = fmt.Sprintf("%s %d %d", abs, size, st.ModTime().UnixNano())
	}
	key += fmt.Sprintf(" %q %+v", o.Exe, o.Part)
	h.mu.Lock()
	defer h.mu.Unlock()
	for i, x := range h.all {
		if x.key == key {
			copy(h.all[1:i+1], h.all[:i])
			h.all[0] = x
			return x.rec, x.stats, nil
		}
	}
	sum := size
	for i, x := range h.all {
		if sum += x.bytes; i+1 >= mostHeld || sum > mostHeldBytes {
			clear(h.all[i:])
			h.all = h.all[:i]
			break
		}
	}
	rec, stats, err := h.from(ctx, path, o)
	if err == nil && ctx.Err() == nil {
		h.all = append([]one{{key, size, rec, stats}}, h.all...)
	}
	return rec, stats, err
}
