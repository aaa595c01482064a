package ingest

import (
	"context"

	"ashlar/ingest/fetch"
	"ashlar/ingest/fetch/ssh"
	"ashlar/ingest/format/store"
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
			r.in, r.err = source.Open(path)
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

// there makes another machine read a recording, or a part of it.
func there(ctx context.Context, path string, part recording.Part, exe string) (*source.Input, error) {
	if exe != "" {
		return nil, &source.Error{Path: path, What: "is read on the remote machine, with the programs there; leave out --exe"}
	}
	return ssh.Open(ctx, path, part)
}
