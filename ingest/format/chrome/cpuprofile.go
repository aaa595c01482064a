package chrome

import (
	"ashlar/ingest/format/v8"
	"ashlar/ingest/input/jsonscan"
)

// cpuFile collects a file that is a single CPU profile. Nodes, samples and times may come
// in any order, so samples and time deltas are kept until the end.
type cpuFile struct {
	*v8.Profile
	ids    []int64
	deltas []jsonscan.Micros
}

// cpuProfile adds an element of a file that is one CPU profile.
func (d *decoder) cpuProfile(it *item) {
	p := d.profile
	if p == nil {
		p = &cpuFile{Profile: d.sampled.profiles.New(d.trackOf(d.thread(threadKey{})))}
		d.profile = p
	}
	switch it.ph {
	case phNode:
		d.kind("nodes").Read++
		d.kind("nodes").Kept++
		p.Node(it.text())
	case phSampleID:
		p.ids = append(p.ids, it.ts.US)
	case phDelta:
		p.deltas = append(p.deltas, it.ts)
	case phStart:
		p.Start(it.ts)
	case phEnd:
		p.Finish(it.ts)
	}
}

// finishProfile adds the samples of a file that is one CPU profile.
func (d *decoder) finishProfile() {
	p := d.profile
	if p == nil {
		return
	}
	p.Samples(p.ids, p.deltas, 0)
	if len(p.ids) == 0 {
		p.CountHits()
	}
	d.profile = nil
}
