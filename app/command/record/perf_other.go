//go:build !linux

package record

import (
	"context"
	"errors"
	"time"
)

func runPerf(context.Context, *job) (outcome, error) { return outcome{}, errors.New(elsewhere) }

func attachPerf(context.Context, *job) error { return errors.New(elsewhere) }

// after returns a channel that receives after a number of seconds, never for 0.
func after(seconds float64) <-chan time.Time {
	if seconds == 0 {
		return nil
	}
	return time.After(time.Duration(seconds * float64(time.Second)))
}

func (*job) perfWorks() error { return errors.New(elsewhere) }
