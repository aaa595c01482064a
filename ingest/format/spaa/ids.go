package spaa

import (
	"ashlar/ingest/model/column"
	"ashlar/ingest/model/recording"
)

// idTable holds all stack ids and their records. Ids may be referred to before their
// first record.
type idTable struct {
	slots   []uint32 // 1 + index in entries; open addressing
	entries []idEntry
	records []idRecord
	// owners maps an id that has several records, an event and an owner (a track, or one
	// of the wildcards below) to the first such record. The records of an id are added
	// when the id is first looked up this way.
	owners map[ownerKey]int32
	// recent caches answers of named. An answer is valid while the number of records is
	// unchanged.
	recent []lateAnswer
	// process gives the index of a track's process.
	process func(track int32) int32
}

type idEntry struct {
	word  uint64
	form  uint8
	mixed bool // its records stand for different calls
	owned bool // its records are in owners
	// first and last are the first and last record of the id, -1 if it has none. call is
	// the call of the first.
	first, last int32
	call        recording.CallID
}

// idRecord is the part of a stack record that resolving needs.
type idRecord struct {
	event, track int32
	call         recording.CallID
	context      recording.ContextID
	comm         uint32
	prev         int32 // previous record of the same id, -1 for the first
}

type ownerKey struct {
	id           uint32
	event, track int32
}

// lateAnswer is a query of named and its answer.
type lateAnswer struct {
	word         uint64
	event, track int32
	comm         uint32
	records      int32 // number of records at the time; 0 in an empty slot
	call         recording.CallID
	of           int32 // the event of the record that was found
	form         uint8
}

// Numbers of answers to cache, for few records and for many: small enough to stay in the
// CPU's cache.
const (
	lateFew  = 1 << 10
	lateMany = 1 << 14
)

// Wildcards for ownerKey.track. A process is firstProcess minus its index;
// a record without a track has recording.NoTrack, which is -1.
const (
	anyTrack     = -2
	firstProcess = -3
)

// mostScanned is the maximum number of records of one id to walk.
const mostScanned = 256

func (t *idTable) hash(word uint64, form uint8) uint64 {
	h := (word ^ uint64(form)<<56) * 0x9E3779B97F4A7C15
	return h ^ h>>32
}

// index returns the index of an id's entry, adding the entry if it is new.
func (t *idTable) index(word uint64, form uint8) uint32 {
	if 2*(len(t.entries)+1) > len(t.slots) {
		t.grow()
	}
	mask := uint64(len(t.slots) - 1)
	i := t.hash(word, form) & mask
	for ; t.slots[i] != 0; i = (i + 1) & mask {
		if e := &t.entries[t.slots[i]-1]; e.word == word && e.form == form {
			return t.slots[i] - 1
		}
	}
	t.entries = append(t.entries, idEntry{word: word, form: form, first: -1, last: -1})
	t.slots[i] = uint32(len(t.entries))
	return uint32(len(t.entries) - 1)
}

// lookup returns the index of an id's entry; ok is false if there is none.
func (t *idTable) lookup(r idRef) (index uint32, ok bool) {
	if len(t.slots) == 0 {
		return 0, false
	}
	mask := uint64(len(t.slots) - 1)
	for i := t.hash(r.word, r.form) & mask; t.slots[i] != 0; i = (i + 1) & mask {
		if e := &t.entries[t.slots[i]-1]; e.word == r.word && e.form == r.form {
			return t.slots[i] - 1, true
		}
	}
	return 0, false
}

func (t *idTable) grow() {
	t.slots = column.Fresh[uint32](max(1024, 2*len(t.slots)))
	mask := uint64(len(t.slots) - 1)
	for k := range t.entries {
		i := t.hash(t.entries[k].word, t.entries[k].form) & mask
		for t.slots[i] != 0 {
			i = (i + 1) & mask
		}
		t.slots[i] = uint32(k + 1)
	}
}

// add notes a record of an id and returns its number. other reports whether an earlier
// record of the id has other frames.
func (t *idTable) add(id uint32, r idRecord) (k int32, other bool) {
	// Touch only the entry and the new record: memory access dominates the cost.
	k = int32(len(t.records))
	e := &t.entries[id]
	r.prev = e.last
	t.records = append(t.records, r)
	e.last = k
	if e.first < 0 {
		e.first, e.call = k, r.call
		return k, false
	}
	other = r.call != e.call
	e.mixed = e.mixed || other
	if e.owned {
		t.own(id, k)
	}
	return k, other
}

// own adds a record to owners.
func (t *idTable) own(id uint32, k int32) {
	r := &t.records[k]
	t.ownKey(ownerKey{id, r.event, r.track}, k)
	t.ownKey(ownerKey{id, r.event, anyTrack}, k)
	if r.track >= 0 {
		t.ownKey(ownerKey{id, r.event, firstProcess - t.process(r.track)}, k)
	}
}

func (t *idTable) ownKey(key ownerKey, k int32) {
	if old, ok := t.owners[key]; !ok || k < old {
		t.owners[key] = k
	}
}

// ownAll adds all records of an id to owners.
func (t *idTable) ownAll(id uint32) {
	e := &t.entries[id]
	if e.owned {
		return
	}
	e.owned = true
	if t.owners == nil {
		t.owners = map[ownerKey]int32{}
	}
	for k := e.last; k >= 0; k = t.records[k].prev {
		t.own(id, k)
	}
}

// seeker is the thread and event of a record that refers to a stack by id.
type seeker struct {
	event          int32 // -1: any
	track, process int32 // NoTrack and -1: not known
	comm           uint32
}

// find returns the record of an id that best matches a seeker. While more records may
// follow (final is false), it returns -1 if one of them could match better.
func (t *idTable) find(id uint32, s seeker, final bool) int32 {
	e := &t.entries[id]
	if e.first < 0 {
		return -1
	}
	r := &t.records[e.first]
	right := s.event < 0 || r.event == s.event
	if right && !e.mixed && (r.track == s.track || r.track == recording.NoTrack || s.track == recording.NoTrack) {
		return e.first
	}
	if e.first == e.last {
		if final {
			return e.first
		}
		return -1
	}
	return t.among(id, s, final)
}

// named returns the call and event of the record that find returns with final false;
// found is false if there is none. The same queries recur, and memory access dominates
// the cost, so recent keeps most answers in one place.
func (t *idTable) named(word uint64, form uint8, s seeker) (call recording.CallID, event int32, found bool) {
	if n := len(t.recent); len(t.records) > n/2 && n < lateMany {
		t.recent = make([]lateAnswer, max(lateFew, 4*n))
	}
	if len(t.records) == 0 {
		return 0, 0, false
	}
	h := (word ^ uint64(form)<<56 ^ uint64(s.track)<<32 ^ uint64(s.event)<<20) * 0x9E3779B97F4A7C15
	late := &t.recent[h>>40&uint64(len(t.recent)-1)]
	if late.word != word || late.form != form || late.event != s.event || late.track != s.track || late.comm != s.comm || int(late.records) != len(t.records) {
		k := t.find(t.index(word, form), s, false)
		if k < 0 {
			return 0, 0, false
		}
		r := &t.records[k]
		*late = lateAnswer{word: word, form: form, event: s.event, track: s.track, comm: s.comm, records: int32(len(t.records)), call: r.call, of: r.event}
	}
	return late.call, late.of, true
}

// among is like find, for an id that has several records.
func (t *idTable) among(id uint32, s seeker, final bool) int32 {
	t.ownAll(id)
	e := &t.entries[id]
	r := &t.records[e.first]
	event := s.event
	if event < 0 {
		event = r.event
	}
	if k, ok := t.owners[ownerKey{id, event, s.track}]; ok {
		return t.sameComm(e, k, s)
	}
	if k, ok := t.owners[ownerKey{id, event, recording.NoTrack}]; ok {
		return k
	}
	if !final {
		return -1
	}
	if s.process >= 0 {
		if k, ok := t.owners[ownerKey{id, event, firstProcess - s.process}]; ok {
			return k
		}
	}
	if k, ok := t.owners[ownerKey{id, event, anyTrack}]; ok {
		return k
	}
	return e.first
}

// sameComm prefers, among the records of one event and thread, the one with the seeker's
// command name, which changes when a thread calls exec.
func (t *idTable) sameComm(e *idEntry, k int32, s seeker) int32 {
	if s.comm == 0 || !e.mixed {
		return k
	}
	first := &t.records[k]
	best := k
	n := 0
	for i := e.last; i >= k && n < mostScanned; i = t.records[i].prev {
		r := &t.records[i]
		if r.event == first.event && r.track == first.track && r.comm == s.comm {
			best = i
		}
		n++
	}
	return best
}
