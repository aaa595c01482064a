package session

import (
	"ashlar/ingest/model/funcname"
	"ashlar/ingest/model/recording"
)

// LabelsOf finds the labels of all functions and threads of recordings.
func LabelsOf(recs []*recording.Recording) *funcname.Labels {
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
