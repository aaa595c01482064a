// Package filelock locks open files against other programs. A lock lasts while the file is
// open: the system releases it when the program ends, however it ends.
package filelock

import (
	"context"
	"os"
	"time"
)

// Wait locks an open file as soon as nobody else holds its lock; it fails when ctx ends.
// If the file system has no locks the error is [errors.ErrUnsupported].
func Wait(ctx context.Context, f *os.File) error {
	for {
		if held, err := Try(f); held || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(5 * time.Millisecond):
		}
	}
}
