package perfdata

import (
	"bytes"

	"ashlar/ingest/model/recording"
)

// Kinds of records: the kernel's, and from 64 on perf's own.
const (
	recordMmap        = 1
	recordLost        = 2
	recordComm        = 3
	recordExit        = 4
	recordFork        = 7
	recordSample      = 9
	recordMmap2       = 10
	recordLostSamples = 13
	recordAttr        = 64
	recordTracing     = 66
	recordBuildID     = 67
	recordRound       = 68
	recordAuxtrace    = 71
	recordUpdate      = 78
	recordFeature     = 80
	recordCompressed  = 81
	recordCompressed2 = 83
	firstOfPerf       = 64
)

// update reads an update of an event in pipe output; kind 2 is its name.
func (d *decoder) update(b []byte) {
	if len(b) < 16 || le.Uint64(b) != 2 {
		return
	}
	a := d.byID[le.Uint64(b[8:])]
	name, _, _ := bytes.Cut(b[16:], []byte{0})
	if a != nil && len(name) > 0 {
		a.name = string(name)
		d.named(a)
	}
}

// Bits of misc.
const (
	misccpu     = 7
	miscKernel  = 1
	miscUser    = 2
	miscData    = 1 << 13 // in mapping records
	miscExec    = 1 << 13 // in comm records
	miscBuildID = 1 << 14 // in mapping records
)

// take1 processes a record.
func (d *decoder) take1(it *item) {
	b := it.body
	if it.kind == recordSample {
		d.samples.Read++
		if !d.sample(it) {
			d.samples.Leave("")
			d.b.Warn("sample-short", "", "A sample has no event or is too short for its event and was left out")
			return
		}
		d.samples.Kept++
		return
	}
	d.records.Read++
	d.records.Kept++
	switch {
	case it.kind == recordComm && len(b) >= 8:
		name, _, _ := bytes.Cut(b[8:], []byte{0})
		d.comm(int32(le.Uint32(b)), int32(le.Uint32(b[4:])), string(name), it.misc&miscExec != 0)
	case it.kind == recordFork && len(b) >= 16:
		d.fork(int32(le.Uint32(b)), int32(le.Uint32(b[4:])), int32(le.Uint32(b[8:])), int32(le.Uint32(b[12:])))
	case it.kind == recordMmap && len(b) >= 32:
		name, _, _ := bytes.Cut(b[32:], []byte{0})
		d.mmap(it.misc, int32(le.Uint32(b)), mapping{start: le.Uint64(b[8:]), size: le.Uint64(b[16:]), offset: le.Uint64(b[24:]), name: string(name), data: it.misc&miscData != 0})
	case it.kind == recordMmap2 && len(b) >= 64:
		name, _, _ := bytes.Cut(b[64:], []byte{0})
		m := mapping{start: le.Uint64(b[8:]), size: le.Uint64(b[16:]), offset: le.Uint64(b[24:]), name: string(name), data: it.misc&miscData != 0}
		if it.misc&miscBuildID != 0 {
			m.id = bytes.Clone(b[36 : 36+min(int(b[32]), 20)])
		}
		d.mmap(it.misc, int32(le.Uint32(b)), m)
	case it.kind == recordLost && len(b) >= 16:
		recording.Add(&d.lost, int64(min(le.Uint64(b[8:]), 1<<62)))
	case it.kind == recordLostSamples && len(b) >= 8:
		recording.Add(&d.lost, int64(min(le.Uint64(b), 1<<62)))
	}
}
