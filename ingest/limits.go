package ingest

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"ashlar/ingest/fetch"
	"ashlar/ingest/format/store"
	"ashlar/ingest/input/memory"
	"ashlar/ingest/input/safetext"
	"ashlar/ingest/input/source"
	"ashlar/ingest/query/join"
)

// Allowed returns an error if the limits of ctx forbid opening a recording. It does not
// open the file.
func Allowed(ctx context.Context, path string) error {
	l, limited := source.LimitsOf(ctx)
	if limited && join.IsName(path) {
		for _, p := range join.Split(path) {
			if strings.ContainsAny(filepath.Dir(p), "*?[") {
				return &source.Error{Path: p, What: "names folders by a pattern. Name the folder"} // a pattern could match any number
			}
		}
		files, err := join.Files(path)
		for _, f := range files {
			if err = Allowed(ctx, f); err != nil {
				return err
			}
		}
		return err
	}
	switch {
	case !limited:
		return nil
	case fetch.IsURL(path) && l.Network:
		return nil
	case fetch.IsURL(path):
		return &source.Error{Path: safetext.URL(path), What: "is on another machine. Open it with --allow-network"}
	case path == "-":
		return &source.Error{Path: path, What: "is not a regular file; only regular files are opened here"}
	}
	if file, ok := store.Second(path); ok {
		path = file
	}
	path, err := inDataSet(path)
	if err != nil {
		return err
	}
	return source.Regular(path)
}

// unquoted replaces an error that may quote the input's content, if the user did not type
// the input's name: a file that is not a recording may hold secrets.
func unquoted(in *source.Input, err error) error {
	var short *memory.Short
	var cannot unread
	switch {
	case in == nil || !in.Private || err == nil:
		return err
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded), errors.As(err, &short), errors.As(err, &cannot):
		return err
	}
	return &source.Error{Path: in.Path, What: "has an unknown format", Err: err}
}
