package workspace

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"

	"ashlar/app/core/locate"
	"ashlar/app/core/view"
)

// sought is an address whose files are looked for; what is opened meanwhile is shown
// instead.
type sought struct {
	address string
	opened  int
}

// located is the address with the files where they are, and sentences on that.
type located struct {
	at    *view.State
	notes []string
}

// visitMoved opens what an address names. Where a file is not where it says, it is looked
// for by what it holds: not in the frame, since folders may be large and far away. Files
// that are there are looked into while they are read.
func (d *Workspace) visitMoved(v *view.State) {
	if v.Contents == nil || !slices.ContainsFunc(v.Files, missing) {
		d.Visit(v)
		return
	}
	var near []string
	if d.Callbacks.Recent != nil {
		near = d.Callbacks.Recent()
	}
	k := sought{v.String(), d.opened}
	arrive := func() {
		if l, of, ok := d.moved.Last(); ok && of == k && d.opened == k.opened {
			if len(l.notes) > 0 {
				d.Say(strings.Join(l.notes, " · "))
			}
			d.Visit(l.at)
		}
	}
	wake := func() { d.Later(arrive) }
	if d.Do.Wake == nil {
		wake = nil
	} else {
		d.Say("Looking for the file of the address…")
	}
	d.moved.Ask(k, wake, func(context.Context) (located, error) {
		at := *v
		at.Files = slices.Clone(v.Files)
		notes, err := locate.Files(&at, "", near)
		if err != nil {
			return located{at: v}, nil // opening it says so
		}
		return located{&at, notes}, nil
	})
	if wake == nil {
		arrive()
	}
}

func missing(path string) bool {
	_, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist)
}
