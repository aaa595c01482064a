package ingest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"ashlar/ingest/fetch"
	"ashlar/ingest/fetch/ssh"
	"ashlar/ingest/format/parquet"
	"ashlar/ingest/format/store"
	"ashlar/ingest/input/safetext"
	"ashlar/ingest/input/source"
	"ashlar/ingest/model/recording"
)

// OpenSource opens the content of a file, "-" or a URL, as named by the user, without
// waiting longer than ctx: opening a named pipe blocks until something writes to it, and
// a server may be slow. Access forbidden by the limits of ctx (see [source.Limits]) is an
// error.
func OpenSource(ctx context.Context, path string) (*source.Input, error) {
	if err := Allowed(ctx, path); err != nil {
		return nil, err
	}
	in, err := openSource(ctx, path)
	if in != nil {
		_, in.Private = source.LimitsOf(ctx)
	}
	return in, err
}

func openSource(ctx context.Context, path string) (*source.Input, error) {
	type result struct {
		in  *source.Input
		err error
	}
	c := make(chan result, 1)
	go func() {
		var r result
		if fetch.IsURL(path) {
			r.in, r.err = fetch.Open(ctx, path)
		} else if file, ok := store.Second(path); ok {
			r.in, r.err = store.OpenSecond(file)
		} else {
			r.in, r.err = openFile(path)
		}
		c <- r
	}()
	select {
	case r := <-c:
		return r.in, r.err
	case <-ctx.Done():
		go func() {
			if r := <-c; r.in != nil {
				r.in.Close()
			}
		}()
		return nil, ctx.Err()
	}
}

// openFile opens a file, or the recording of a data set by its folder.
func openFile(path string) (*source.Input, error) {
	file, err := inDataSet(path)
	if err != nil {
		return nil, err
	}
	in, err := source.Open(file)
	if _, name, ok := parquet.Partition(file); ok && err == nil {
		in.Name = name
	}
	return in, err
}

// NameOf returns the name of a file as people know it. The file of a data set that stands
// for a recording has the recording's name.
func NameOf(path string) string {
	if _, name, ok := parquet.Partition(path); ok {
		return name
	}
	return filepath.Base(path)
}

// inDataSet returns the file that stands for the recording of a data set, given its folder;
// other paths as they are.
func inDataSet(path string) (string, error) {
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return path, nil
	}
	files := parquet.Recordings(path)
	switch len(files) {
	case 0:
		return path, nil
	case 1:
		return files[0], nil
	}
	const most = 10
	var names []string
	for _, f := range files[:min(most, len(files))] {
		names = append(names, filepath.Base(filepath.Dir(f)))
	}
	if len(files) > most {
		names = append(names, "…")
	}
	return "", &source.Error{Path: path, What: fmt.Sprintf("is a data set of %d recordings. Open one of the folders in %s: %s", len(files), safetext.Short(filepath.Join(path, "recordings")), safetext.Short(strings.Join(names, ", ")))}
}

// there makes another machine read a recording, or a part of it.
func there(ctx context.Context, path string, part recording.Part, exe string) (*source.Input, error) {
	if exe != "" {
		return nil, &source.Error{Path: path, What: "is read on the remote machine, with the programs there; leave out --exe"}
	}
	return ssh.Open(ctx, path, part)
}
