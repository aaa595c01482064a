package fetch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ashlar/ingest/input/safetext"
	"ashlar/ingest/input/source"
)

// Debuginfod downloads binaries and their debug information by build id from a server that
// speaks the protocol of elfutils' debuginfod, and keeps them in a folder.
type Debuginfod struct {
	Server string // URL
	Dir    string // for the files, "" if there is none
	// Progress, if set, is called with a file's URL and the bytes received so far.
	Progress func(url string, bytes int64)
}

// Kinds of files.
const (
	Executable = "executable"
	DebugInfo  = "debuginfo"
)

// Limits of a download, and of all files together. They are variables for tests.
var (
	mostDownload int64 = 2 << 30
	mostKept     int64 = 4 << 30
	toDownload         = 15 * time.Minute
)

// Get returns the path of the file of a kind with a build id (in hexadecimal), which it
// downloads if it is not in the folder. Its errors are like those of [Open].
func (d *Debuginfod) Get(ctx context.Context, id, kind string) (path string, err error) {
	if id = strings.ToLower(id); len(id) < 8 || len(id) > 128 || strings.Trim(id, "0123456789abcdef") != "" {
		return "", fmt.Errorf("a server cannot have the build id %q", safetext.Short(id))
	}
	if d.Dir == "" {
		return "", errors.New("there is no cache folder to download to")
	}
	url := strings.TrimRight(d.Server, "/") + "/buildid/" + id + "/" + kind
	path = filepath.Join(d.Dir, id, kind)
	if st, err := os.Stat(path); err == nil && st.Mode().IsRegular() {
		now := time.Now()
		_ = os.Chtimes(path, now, now) // the oldest is deleted first
		return path, nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", err
	}
	file, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return "", err
	}
	defer os.Remove(file.Name())
	defer file.Close()
	whole, cancel := context.WithTimeout(ctx, toDownload)
	defer cancel()
	w := &watched{d: d, url: url, file: file, late: time.AfterFunc(toContinue, cancel)}
	err = Download(whole, url, w)
	w.late.Stop()
	switch {
	case w.over:
		return "", &source.Error{Path: safetext.URL(url), What: fmt.Sprintf("is larger than %d MB", mostDownload>>20)}
	case ctx.Err() != nil:
		return "", ctx.Err()
	case whole.Err() != nil:
		return "", &source.Error{Path: safetext.URL(url), What: "the server is too slow, or stopped answering", Err: whole.Err()}
	case err != nil:
		return "", err
	}
	if err := errors.Join(file.Close(), os.Rename(file.Name(), path)); err != nil {
		return "", err
	}
	d.tidy(path)
	return path, nil
}

// watched writes a download to a file and watches its size and pauses.
type watched struct {
	d    *Debuginfod
	url  string
	file *os.File
	size int64
	over bool
	late *time.Timer
}

func (w *watched) Write(b []byte) (int, error) {
	if w.size+int64(len(b)) > mostDownload {
		w.over = true
		return 0, errors.New("too large")
	}
	w.late.Reset(toContinue)
	n, err := w.file.Write(b)
	w.size += int64(n)
	if w.d.Progress != nil {
		w.d.Progress(safetext.URL(w.url), w.size)
	}
	return n, err
}

// tidy deletes the files that were used longest ago while all are too large, but not the one
// at path.
func (d *Debuginfod) tidy(path string) {
	type kept struct {
		path string
		size int64
		used time.Time
	}
	var all []kept
	var sum int64
	_ = filepath.WalkDir(d.Dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return nil
		}
		if st, err := e.Info(); err == nil {
			all, sum = append(all, kept{p, st.Size(), st.ModTime()}), sum+st.Size()
		}
		return nil
	})
	slices.SortFunc(all, func(a, b kept) int { return cmp.Or(a.used.Compare(b.used), strings.Compare(a.path, b.path)) })
	for _, f := range all {
		if sum > mostKept && f.path != path && os.Remove(f.path) == nil {
			sum -= f.size
			_ = os.Remove(filepath.Dir(f.path)) // if it is empty
		}
	}
}
