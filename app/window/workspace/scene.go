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

// scene is the content of the workspace: one recording (see [Pane]) or a comparison of
// two (see [Comparison]).
type scene interface {
	Draw(d *Workspace, u *ui.UI, r image.Rectangle)
	Spot(d *Workspace) Spot
	Scoped(d *Workspace) []scopebar.Group
	below() panel.Half
	// ResumeVisit continues a visit as far as possible. It reports whether there is a new
	// question to ask.
	ResumeVisit(d *Workspace) (changed bool, err error)
	restore(d *Workspace, st *view.State)
	pickState(st *view.State)
	// finish waits for the answers to the current questions. finishRest waits for the
	// answers to questions that follow from them.
	finish(d *Workspace) error
	finishRest(d *Workspace) error
	way() *trail
}

// trail holds the history of a scene and the address being visited.
type trail struct {
	History History
	visit   visit
}

func (t *trail) way() *trail { return t }

// scene returns the current scene, nil if nothing is open.
func (d *Workspace) scene() scene {
	switch {
	case d.Versus != nil:
		return d.Versus
	case d.Pane != nil:
		return d.Pane
	}
	return nil
}

// Draw lays out the open recordings in r.
func (d *Workspace) Draw(u *ui.UI, r image.Rectangle) { d.scene().Draw(d, u, r) }

// Finish waits until all recordings are read and everything shown is final; it is for
// pictures without a window. It selects and shows the ranges, one for each recording. If
// one of two recordings cannot be shown, the picture shows only the other and says so.
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
	// Functions of an address are found in the answer, and may lead to further questions.
	for changed := true; changed && err == nil; {
		if err = s.finish(d); err == nil {
			changed, err = s.ResumeVisit(d)
		}
	}
	if err != nil {
		return err
	}
	return s.finishRest(d)
}
