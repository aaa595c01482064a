package gpu

import (
	"context"

	"ashlar/ingest/model/devicememory"
	"ashlar/ingest/model/recording"
)

// Memory is the memory of a device that PyTorch's allocator manages for a process.
type Memory struct {
	Process int
	Device  string // such as "GPU 0"
	// Allocated is the memory in use, Reserved also includes memory that the allocator caches.
	Allocated, Reserved Peak
}

// Peak is a maximum, at the first moment at which it was reached.
type Peak struct {
	Bytes int64
	Time  int64
	Track int // recording.NoTrack if Bytes is 0
	// Operator is the innermost operator then, "" for none, and Step the index of the step,
	// -1 for none.
	Operator string
	Step     int
}

// MemoryOf returns the memory of devices by process, in the order of the threads that
// allocated it. Steps may be nil.
func MemoryOf(ctx context.Context, rec *recording.Recording, steps *Steps) ([]Memory, error) {
	var all []Memory
	for i, t := range rec.Tracks {
		for k := range t.Instants {
			if k%4096 == 0 && ctx.Err() != nil {
				return nil, ctx.Err()
			}
			in := &t.Instants[k]
			if in.Name != devicememory.Name || in.Args == 0 || rec.Args == nil {
				continue
			}
			e, ok := devicememory.Parse([]byte(rec.Args(in.Args)))
			if !ok {
				continue
			}
			n := 0
			for n < len(all) && (all[n].Process != t.Process || all[n].Device != e.Device) {
				n++
			}
			if n == len(all) {
				none := Peak{Track: recording.NoTrack, Step: -1}
				all = append(all, Memory{t.Process, e.Device, none, none})
			}
			all[n].Allocated.raise(e.Allocated, in.Time, i)
			all[n].Reserved.raise(e.Reserved, in.Time, i)
		}
	}
	calls := newInner(rec)
	for i := range all {
		m := &all[i]
		for _, p := range []*Peak{&m.Allocated, &m.Reserved} {
			if p.Track == recording.NoTrack {
				continue
			}
			for call := calls.at(p.Track, p.Time); call != recording.NoCall && p.Operator == ""; call = rec.Calls.Parent(call) {
				if table, name := groupOf(rec.Functions.At(int(rec.Func(call)))); table == operators {
					p.Operator = name
				}
			}
			if steps != nil {
				p.Step = steps.during(p.Time)
			}
		}
	}
	return all, nil
}

func (p *Peak) raise(bytes, at int64, track int) {
	if bytes > p.Bytes || bytes == p.Bytes && bytes > 0 && at < p.Time {
		p.Bytes, p.Time, p.Track = bytes, at, track
	}
}
