package session

import (
	"ashlar/ingest"
	"ashlar/ingest/model/recording"
)

// Of returns a side with a recording that is already in memory.
func Of(name string, rec *recording.Recording, notify func()) *Side {
	d := newSide(name, notify)
	d.open(func(ingest.Options) *ingest.Load { return ingest.Loaded(rec, ingest.Stats{}, nil) })
	return d
}
