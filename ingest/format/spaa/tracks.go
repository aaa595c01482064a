package spaa

import (
	"math"
	"strconv"

	"ashlar/ingest/model/recording"
	format "ashlar/spaa"
)

// trackState is a track and the data its name is chosen from.
type trackState struct {
	tb       *recording.TrackBuilder
	key      owner
	index    int32
	process  int32
	declared bool // has a thread record
	named    bool // the thread record has a name
	comms    []commCount
}

// commCount is the number of a track's records with the same command name.
type commCount struct {
	comm uint32
	n    int64
}

// maxComms limits the names counted per track; a thread's name changes when it executes
// another program.
const maxComms = 16

// noThread is the name of the track for samples that name no thread.
const noThread = "no thread"

const recentTracks = 64

// track returns the state of an owner's track, adding the track if it is new. If only the
// tid is known, the process is that of the thread with this tid, or 0 if there is none.
func (m *merger) track(o owner) *trackState {
	o.comm = 0
	slot := &m.recent[(uint64(o.tid)*0x9E3779B97F4A7C15)>>58]
	if r := *slot; r != nil && r.key == o && o.hasPID {
		return r
	}
	if !o.hasPID && o.hasTID {
		o.pid = m.byTID[o.tid]
	}
	o.hasPID = true
	ts := m.tracks[o]
	if ts == nil {
		k := recording.TrackKey{Kind: recording.ThreadTrack, PID: o.pid, TID: o.tid}
		if !o.hasTID {
			k.Name = noThread
		} else if _, ok := m.byTID[o.tid]; !ok {
			m.byTID[o.tid] = o.pid
		}
		ts = &trackState{tb: m.b.Track(k), key: o, process: int32(m.b.Process(o.pid))}
		ts.index = int32(ts.tb.Index())
		m.tracks[o] = ts
		for int(ts.index) >= len(m.byIndex) {
			m.byIndex = append(m.byIndex, nil)
		}
		m.byIndex[ts.index] = ts
	}
	*slot = ts
	return ts
}

func (m *merger) thread(mi *mirror, t *threadRec, line int64) {
	ts := m.track(owner{pid: t.pid, tid: t.tid, hasPID: true, hasTID: true})
	if ts.declared {
		m.warn(warnDuplicateThread, line, strconv.FormatInt(t.tid, 10))
		m.leaveOut(int(format.KindThread), line)
		return
	}
	ts.declared = true
	m.byTID[t.tid] = t.pid
	if t.comm != 0 {
		ts.named = true
		m.rename(ts, m.names.text[mi.name(t.comm)])
	}
	m.keep(format.KindThread)
}

// seen counts a record of a track that has a command name.
func (m *merger) seen(ts *trackState, comm uint32) {
	if len(ts.comms) == 0 && !ts.named && ts.key.hasTID {
		m.rename(ts, m.names.text[comm])
	}
	ts.comms = addComm(ts.comms, commCount{comm, 1}, maxComms)
}

// rename names a track, and its process when this is its main thread or when
// it has no name yet.
func (m *merger) rename(ts *trackState, name string) {
	ts.tb.SetName(name)
	p := m.b.ProcessInfo(int(ts.process))
	if p.Name == "" || ts.key.tid == ts.key.pid {
		p.Name = name
	}
}

// finishNames gives each track without a named thread record the most frequent command
// name of its records. A process gets the name of its main thread, else the most frequent
// name of all its threads.
func (m *merger) finishNames() {
	main := map[int32]bool{}
	counts := map[int32][]commCount{}
	for _, ts := range m.byIndex {
		if ts == nil || !ts.key.hasTID {
			continue
		}
		if !ts.named && len(ts.comms) > 0 {
			ts.tb.SetName(m.names.text[mostFrequent(ts.comms)])
		}
		if ts.key.tid == ts.key.pid && (ts.named || len(ts.comms) > 0) {
			main[ts.process] = true
			m.b.ProcessInfo(int(ts.process)).Name = ts.tb.Name()
		}
		for _, c := range ts.comms {
			counts[ts.process] = addComm(counts[ts.process], c, math.MaxInt)
		}
	}
	for _, ts := range m.byIndex {
		if ts != nil && !main[ts.process] && len(counts[ts.process]) > 0 {
			m.b.ProcessInfo(int(ts.process)).Name = m.names.text[mostFrequent(counts[ts.process])]
			main[ts.process] = true
		}
	}
}

// addComm adds to a count, or adds it if there are fewer than most.
func addComm(cs []commCount, c commCount, most int) []commCount {
	for i := range cs {
		if cs[i].comm == c.comm {
			cs[i].n += c.n
			return cs
		}
	}
	if len(cs) < most {
		cs = append(cs, c)
	}
	return cs
}

// mostFrequent returns the name with the highest count, the first of several.
func mostFrequent(cs []commCount) uint32 {
	best := cs[0]
	for _, c := range cs[1:] {
		if c.n > best.n {
			best = c
		}
	}
	return best.comm
}
