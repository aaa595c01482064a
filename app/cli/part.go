package cli

import (
	"context"
	"slices"

	"ashlar/ingest/compare"
	"ashlar/ingest/extract"
	"ashlar/ingest/recording"
)

// partial tells whether only a part of the recording is wanted.
func (o *convertOptions) partial() bool {
	return o.part.IsSet() || len(o.threads) > 0 || o.Transforms != nil
}

// partOf takes the part out of a recording.
func (o *convertOptions) partOf(ctx context.Context, rec *recording.Recording, r *conversion) (*recording.Recording, error) {
	sel := extract.Selection{Transforms: o.Transforms}
	if err := o.Check(rec); err != nil {
		return nil, err
	}
	if o.part.IsSet() {
		sel.Ranged, sel.From, sel.To = true, rec.Start, rec.End
		if o.part.HasFrom {
			sel.From = min(rec.Start+o.part.From, rec.End)
		}
		if o.part.HasTo {
			sel.To = min(rec.Start+o.part.To, rec.End)
		}
	}
	for _, name := range o.threads {
		tracks, err := compare.FindTracks(rec, name)
		if err != nil {
			return nil, err
		}
		sel.Tracks = append(sel.Tracks, tracks...)
	}
	slices.Sort(sel.Tracks)
	sel.Tracks = slices.Compact(sel.Tracks)
	part, notes, err := extract.Recording(ctx, rec, sel)
	r.Notes = notes
	return part, err
}
