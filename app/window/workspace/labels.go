package workspace

import (
	"context"

	"ashlar/ingest/model/funcname"
	"ashlar/ingest/model/recording"
)

// labelsKey changes when names are added to what is open.
type labelsKey struct {
	generation, functions, tracks [2]int
}

// mostAtOnce is how many functions get labels within a frame; those of more are found in
// the background, once the recording is read: labels change once.
const mostAtOnce = 5000

// NameLabels writes functions and threads of what is open by labels that tell them from each
// other, and draws everything anew when there are new ones.
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
	l, _, ok := d.labels.Ask(k, wake, func(context.Context) (*funcname.Labels, error) { return labelsOf(recs), nil })
	if !ok || !d.Fonts.SetLabels(l) {
		return
	}
	for _, p := range d.Shown() {
		p.Palette = nil // which all pictures depend on
	}
}

// labelsOf finds the labels of all functions and threads of recordings.
func labelsOf(recs []*recording.Recording) *funcname.Labels {
	return funcname.NewLabels(func(yield func(string) bool) {
		for _, rec := range recs {
			for i := range rec.Functions.Len() {
				if !yield(rec.Functions.At(i).Name) {
					return
				}
			}
		}
	}, func(yield func(string) bool) {
		for _, rec := range recs {
			for _, t := range rec.Tracks {
				if t.Name != "" && !yield(t.Name) {
					return
				}
			}
		}
	})
}
