package recording

import (
	"slices"

	"ashlar/ingest/model/lanes"
	"ashlar/ingest/model/pairmap"
)

// TrackKey identifies a track of a recording. Name is only part of the key
// for tracks that have no thread id, like async lanes.
type TrackKey struct {
	Kind     TrackKind
	PID, TID int64
	Name     string
}

// Track returns the builder of a track, adding the track when it is new.
func (b *Builder) Track(k TrackKey) *TrackBuilder {
	process := b.Process(k.PID)
	if i := b.tracks.find(k, process); i >= 0 {
		return b.again(i)
	}
	if len(b.room) == 0 {
		b.room = make([]Track, trackRoom)
	}
	t := b.trackBuilder(len(b.order), &b.room[0])
	b.room = b.room[1:]
	*t.track = Track{Kind: k.Kind, PID: k.PID, TID: k.TID, Name: k.Name, Process: process, States: lanes.NewStates(b.shelf)}
	b.tracks.add(k, process, len(b.order))
	b.order, b.over = append(b.order, t), append(b.over, nil)
	b.alive.Add(int(t.index))
	t.thread()
	return t
}

// trackRoom is the number of tracks allocated together, which takes less memory for many.
const trackRoom = 64

func (b *Builder) trackBuilder(i int, of *Track) (t *TrackBuilder) {
	if n := len(b.spare); n > 0 {
		t, b.spare = b.spare[n-1], b.spare[:n-1]
	} else {
		t = new(TrackBuilder)
	}
	*t = TrackBuilder{b: b, index: int32(i), track: of}
	return t
}

// Over is Break for a track that is finished. It saves memory, because there may be a
// million threads that have ended. The builder must not be used afterwards: if a decoder
// has more for the track, Track returns a new builder.
func (t *TrackBuilder) Over(at int64) {
	t.Break(at)
	b := t.b
	if t.loose != nil || len(t.samples) > 0 || b.part != nil || !t.track.States.Settled() || !slices.IsSortedFunc(t.track.Instants, byTime) ||
		slices.ContainsFunc(t.lanes, func(l lanes.Lane) bool { return !l.Settled() }) {
		return // work remains for the end of reading
	}
	if t.any {
		b.Cover(t.last, t.last)
	}
	if b.spanned = b.spanned || len(t.lanes) > 0; len(t.lanes) > 0 {
		t.own()
		t.track.Lanes = slices.Clip(t.lanes)
	}
	b.order[t.index], b.over[t.index] = nil, t.track
	b.alive.Remove(int(t.index))
	b.spare = append(b.spare, t)
}

// again returns a builder for an existing track.
func (b *Builder) again(i int) *TrackBuilder {
	if b.order[i] == nil {
		t := b.trackBuilder(i, b.over[i])
		t.cached, t.shared = t.track, true
		for k := range t.track.Lanes {
			l := t.track.Lanes[k].Copy()
			t.lanes = append(t.lanes, l)
			t.any, t.last = true, max(t.last, l.LastEnd())
			t.spans += int64(l.Len())
			t.late += int64(l.UnfinishedCount())
		}
		b.order[i], b.over[i] = t, nil
		b.alive.Add(i)
	}
	return b.order[i]
}

// live visits the builders of unfinished tracks.
func (b *Builder) live(yield func(*TrackBuilder) bool) {
	for i := range b.alive.From(0) {
		if !yield(b.order[i]) {
			return
		}
	}
}

// trackTable finds tracks by their keys: most are threads identified by small numbers.
type trackTable struct {
	threads pairmap.Table // (process and kind, TID) to 1 + index
	others  map[TrackKey]int
}

// pair returns the key of a thread in threads; ok is false if its numbers are too large.
func (k *TrackKey) pair(process int) (a, b uint32, ok bool) {
	const most = 1 << 24
	return uint32(process)<<8 | uint32(k.Kind), uint32(k.TID), k.Name == "" && process < most && k.TID == int64(uint32(k.TID))
}

// find returns the index of a track, -1 if there is none.
func (x *trackTable) find(k TrackKey, process int) int {
	if a, b, ok := k.pair(process); ok {
		return int(x.threads.Get(a, b)) - 1
	}
	if i, ok := x.others[k]; ok {
		return i
	}
	return -1
}

func (x *trackTable) add(k TrackKey, process, place int) {
	if a, b, ok := k.pair(process); ok {
		x.threads.Put(a, b, uint32(place+1))
		return
	}
	if x.others == nil {
		x.others = map[TrackKey]int{}
	}
	x.others[k] = place
}
