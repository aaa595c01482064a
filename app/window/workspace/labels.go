package workspace

import (
	"context"

	"ashlar/app/core/session"
	"ashlar/ingest/model/funcname"
	"ashlar/ingest/model/recording"
)

// labelsKey changes when the open recordings get new names.
type labelsKey struct {
	generation, functions, tracks [2]int
}

// mostAtOnce is the maximum number of functions labelled during a frame. For more, the
// labels are computed in the background once the recording is complete, so that they
// change only once.
const mostAtOnce = 5000

// NameLabels sets short labels that distinguish the functions and threads of the open
// recordings, and redraws everything if they have changed.
func (d *Workspace) NameLabels() {
	var k labelsKey
	var recs []*recording.Recording
	many := false
	for i, p := range d.Shown() {
		rec := p.Rec
		if rec == nil {
			return
		}
		k.generation[i], k.functions[i], k.tracks[i] = p.Generation, rec.Functions.Len(), len(rec.Tracks)
		if k.functions[i] > mostAtOnce {
			if many = true; !rec.Done && p.Doc.Err() == nil {
				return
			}
		}
		recs = append(recs, rec)
	}
	if len(recs) == 0 {
		return
	}
	var wake func()
	if many {
		wake = d.Do.Wake
	}
	l, _, ok := d.labels.Ask(k, wake, func(context.Context) (*funcname.Labels, error) { return session.LabelsOf(recs), nil })
	if !ok || !d.Fonts.SetLabels(l) {
		return
	}
	for _, p := range d.Shown() {
		p.PaletteOf = -1 // makes colours create a new palette, on which all pictures depend
	}
}
