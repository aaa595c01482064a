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

// sought is an address whose files are being searched for. If something else is opened
// meanwhile, that is shown instead.
type sought struct {
	address string
	opened  int
}

// located is the address with the paths where its files were found, and notes about them.
type located struct {
	at    *view.State
	notes []string
}

// visitMoved opens an address. A file that is not at its path is searched for by its
// content, in the background, because folders may be large and remote. Files that exist
// are checked while they are read.
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
			return located{at: v}, nil // opening it reports the error
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
