package timeline

import (
	"runtime"
	"sync"
	"weak"

	"ashlar/ingest/model/lanes"
	"ashlar/ingest/model/recording"
)

// cover returns a lane of the times in which any of a track's outermost spans ran; nil if
// there are none. For most tracks that is the first lane.
func cover(rec *recording.Recording, t *recording.Track) *lanes.Lane {
	switch len(t.Lanes) {
	case 0:
		return nil
	case 1:
		return &t.Lanes[0]
	}
	key := weak.Make(t)
	if l, ok := covers.Load(key); ok {
		return l.(*lanes.Lane)
	}
	l := &t.Lanes[0]
	if outer := t.Outermost(&rec.Calls); len(outer) > 1 {
		union := lanes.New(nil, false)
		for start, end := range lanes.Union(outer) {
			union.Append(start, end, outer[0].Call(0), 0, false)
		}
		l = &union
	}
	if _, known := covers.LoadOrStore(key, l); !known {
		runtime.AddCleanup(t, func(key weak.Pointer[recording.Track]) { covers.Delete(key) }, key)
	}
	return l
}

// covers caches the results of cover, by weak.Pointer[recording.Track].
var covers sync.Map
