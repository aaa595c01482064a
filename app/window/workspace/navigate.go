package workspace

import (
	"slices"

	"ashlar/app/core/view"
)

// Navigate applies a State for another program, as one step of the history. If it opens
// another file, undo leads back.
func (d *Workspace) Navigate(st *view.State) {
	if d.Pane == nil || !d.isOpen(st) {
		back := d.wayBack()
		d.Visit(st)
		d.back = back
		return
	}
	d.scene().way().History.keep(d.scene().Spot(d), d.ViewState)
	to := *st
	to.Marks = slices.Clone(d.Pane.Marks) // keep the user's marks
	d.restore(&to)
	d.GoTo(st)
}

// isOpen reports whether the files of a State are open, with the same options.
func (d *Workspace) isOpen(st *view.State) bool {
	now := &view.State{Files: []string{d.Pane.file()}}
	d.Pane.opened(now)
	if c := d.Versus; c != nil {
		now.Files = c.files()
	}
	return slices.Equal(now.Files, st.Files) && now.Exe == st.Exe && now.Part == st.Part && slices.Equal(now.Only, st.Only)
}

// SelectionCommand returns the arguments of the command for the selection: for the item
// in the details if there is one, else for everything selected; nil if nothing is open or
// the recording is still being read.
func (d *Workspace) SelectionCommand() []string {
	p := d.Pane
	switch c := d.Versus; {
	case p == nil || !p.Rec.Done:
		return nil
	case c != nil:
		return absoluteCommand(c.diffCommand().words, c.Panes[:]...)
	}
	cs := p.detailCommands(d)
	words := cs[0].words
	if words[1] == "render" { // render only draws a picture
		words = p.stacks().words
	}
	return absoluteCommand(words, p)
}

// absoluteCommand returns a command about panes' recordings that works in any folder.
func absoluteCommand(words []string, ps ...*Pane) []string {
	words = slices.Clone(words)
	for _, p := range ps {
		if i := slices.Index(words, p.Rec.Source.Path); i >= 0 && !p.Demo {
			words[i] = p.file()
		}
	}
	return words
}
