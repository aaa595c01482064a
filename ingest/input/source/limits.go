package source

import (
	"context"
	"errors"
	"io/fs"
	"strings"
)

// Limits restrict which files are opened under a name that the user did not type, such as
// one in a report. Only regular files outside /proc, /sys and /dev are opened, and errors
// about them do not quote their content.
type Limits struct {
	// Network allows URLs and files on other machines.
	Network bool
}

type limitsKey struct{}

// WithLimits returns a context in which all recordings are opened under limits.
func WithLimits(ctx context.Context, l Limits) context.Context {
	return context.WithValue(ctx, limitsKey{}, l)
}

// LimitsOf returns the limits of a context; limited is false if it has none.
func LimitsOf(ctx context.Context) (l Limits, limited bool) {
	l, limited = ctx.Value(limitsKey{}).(Limits)
	return l, limited
}

// Regular returns an error if a path may not be opened under [Limits].
func Regular(path string) error {
	_, err := Ordinary(path)
	var named *fs.PathError
	what := ""
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errNotRegular):
		what = "is not a regular file; only regular files are opened here"
	case errors.As(err, &named):
		what = reason(err)
	default:
		what = strings.TrimPrefix(err.Error(), path+": ")
	}
	return &Error{Path: path, What: what, Err: err}
}
