package workspace

import (
	"cmp"
	"image"

	"ashlar/app/core/view"
	"ashlar/app/window/panel"
	"ashlar/app/window/scopebar"
	"ashlar/ingest/model/recording"
	"ashlar/render/ui"
)

// scene stands for one recording (see [Pane]), or two that are compared (see
// [Comparison]).
type scene interface {
	Draw(d *Workspace, u *ui.UI, r image.Rectangle)
	Spot(d *Workspace) Spot
	Scoped(d *Workspace) []scopebar.Group
	below() panel.Half
	// ResumeVisit goes on with a visit as far as it can; changed: something new is to be asked.
	ResumeVisit(d *Workspace) (changed bool, err error)
	restore(d *Workspace, st *view.State)
	pickState(st *view.State)
	// finish waits for the current questions, settled also for the questions that follow
	// from their answers.
	finish() error
	finishRest(d *Workspace) error
	way() *trail
}

// trail is how a scene came to be looked at as it is: the steps that were taken, and the
// address that is being gone to.
type trail struct {
	History History
	visit   visit
}

func (t *trail) way() *trail { return t }

// scene returns the one that is open, nil for none.
func (d *Workspace) scene() scene {
	switch {
	case d.Versus != nil:
		return d.Versus
	case d.Pane != nil:
		return d.Pane
	}
	return nil
}

// Draw lays out what is open in r.
func (d *Workspace) Draw(u *ui.UI, r image.Rectangle) { d.scene().Draw(d, u, r) }

// Finish waits until all recordings are read and everything shown is final: for
// pictures without a window. Ranges are selected and shown of each. Where one of
// two recordings cannot be shown the picture of the other says so.
func (d *Workspace) Finish(ranges ...recording.Range) error {
	var err error
	for _, p := range d.Shown() {
		err = cmp.Or(p.Doc.Wait(), err)
	}
	if c := d.Versus; c != nil {
		for _, p := range c.Panes {
			p.Rec = p.Doc.Recording()
		}
		c.LinkLimits()
	}
	for _, p := range d.Shown() {
		p.Update(d)
	}
	s := d.scene()
	_, aerr := s.ResumeVisit(d)
	err = cmp.Or(err, aerr)
	for i, p := range d.Shown() {
		if i < len(ranges) {
			err = cmp.Or(err, p.selectAndShow(ranges[i]))
		}
	}
	if c := d.Versus; c != nil && len(ranges) > 0 {
		c.LastLinked = c.LinkedState()
	}
	// Functions of an address are found in the answer, and may be asked about in turn.
	for changed := true; changed && err == nil; {
		if err = s.finish(); err == nil {
			changed, err = s.ResumeVisit(d)
		}
	}
	if err != nil {
		return err
	}
	return s.finishRest(d)
}
