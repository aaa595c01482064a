package cli

import (
	"context"
	"slices"

	"ashlar/ingest/compare"
	"ashlar/ingest/extract"
	"ashlar/ingest/recording"
)

// partial reports whether only a part of the recording is wanted.
func (o *convertOptions) partial() bool {
	return o.part.IsSet() || len(o.threads) > 0 || o.calls.isSet() || o.Transforms != nil
}

// partOf takes the part out of a recording.
func (o *convertOptions) partOf(ctx context.Context, rec *recording.Recording, r *conversion) (*recording.Recording, error) {
	if err := o.Check(rec); err != nil {
		return nil, err
	}
	var in recording.Scope
	if o.part.IsSet() {
		in = recording.Between(rec.Start, rec.End)
		if rec.HasTime {
			var err error
			if in, err = o.part.In(rec); err != nil {
				return nil, misfit(rec, err)
			}
		}
	}
	for _, name := range o.threads {
		tracks, err := compare.FindTracks(rec, name)
		if err != nil {
			return nil, err
		}
		in.Tracks = append(in.Tracks, tracks...)
	}
	slices.Sort(in.Tracks)
	in.Tracks = slices.Compact(in.Tracks)
	in.Async, in.Idle = recording.In, recording.In // what is written has all
	in, err := o.calls.in(ctx, rec, in)
	if err != nil {
		return nil, err
	}
	part, notes, err := extract.Recording(ctx, rec, in, o.Transforms)
	r.Notes = notes
	return part, err
}
